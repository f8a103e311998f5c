"""The id of the query that a batch belongs to: it is made once and survives restarts."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from truckee.errors.options import IllegalOptionError
from truckee.options.text import Options
from truckee.storage import open_storage


def recorded_query_id(options: Mapping[str, str]) -> str:
    """Return the id in the `metadata` file of the checkpoint that a query's options name."""
    location = Options(options).get("checkpointLocation")
    if location is not None:
        try:
            found = msgspec.json.decode(open_storage(location).read("metadata"))
        except (FileNotFoundError, msgspec.DecodeError):
            found = None
        if isinstance(found, dict) and isinstance(found.get("id"), str):
            query_id: str = found["id"]
            return query_id
    raise IllegalOptionError(
        option="checkpointLocation",
        value=location or "",
        needs="the checkpoint of the query, which says what its id is",
    )

"""Row tracking: the names of the columns that hold the ids of rows that were moved."""

from __future__ import annotations

from uuid import uuid4

from msgspec.structs import replace

from truckee.protocol.actions import Metadata
from truckee.protocol.properties import TableProperties

_ROW_ID_KEY = TableProperties.materialized_row_id_column_name.key
_COMMIT_VERSION_KEY = TableProperties.materialized_row_commit_version_column_name.key


def with_row_tracking(metadata: Metadata) -> Metadata:
    """Return the metadata with names for these columns, if row tracking is on and needs them."""
    properties = TableProperties.from_configuration(metadata.configuration)
    if not properties.enable_row_tracking:
        return metadata
    names = {
        _ROW_ID_KEY: f"_row-id-col-{uuid4()}",
        _COMMIT_VERSION_KEY: f"_row-commit-version-col-{uuid4()}",
    }
    return replace(metadata, configuration={**names, **metadata.configuration})

r"""The `commitInfo` of a commit: who wrote it, how, and what it counted.

Parameters are JSON values, but lists and objects among them are *strings that contain JSON*:
`"predicate":"[\"(id = 1)\"]"`. All metrics are strings. Spark writes both in this way.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import msgspec

from truckee.protocol.actions import CommitInfo

_NULL = msgspec.Raw(b"null")
"""A parameter that is written as null; None would leave it out."""


@cache
def engine_info() -> str:
    """Return the name of this engine, as `truckee/<version>`."""
    try:
        return f"truckee/{version('truckee')}"
    except PackageNotFoundError:
        return "truckee/unknown"


def commit_info(
    operation: str,
    *,
    timestamp_ms: int,
    txn_id: str,
    isolation_level: str,
    is_blind_append: bool,
    read_version: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    metrics: Mapping[str, object] | None = None,
    user_metadata: str | None = None,
    in_commit_timestamp_ms: int | None = None,
) -> CommitInfo:
    """Return the commitInfo action; parameters and metrics that are None are left out."""
    return CommitInfo(
        in_commit_timestamp=in_commit_timestamp_ms,
        timestamp=timestamp_ms,
        operation=operation,
        operation_parameters=_parameters(parameters or {}),
        read_version=read_version,
        isolation_level=isolation_level,
        is_blind_append=is_blind_append,
        operation_metrics=_metrics(metrics or {}),
        user_metadata=user_metadata,
        engine_info=engine_info(),
        txn_id=txn_id,
    )


def _parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _parameter(value) for name, value in parameters.items() if value is not None}


def _parameter(value: Any) -> Any:
    if isinstance(value, str | bool | int | float | msgspec.Raw):
        return value
    return msgspec.json.encode(value).decode()


def _metrics(metrics: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in metrics.items() if value is not None}

"""What identifies a row while rows are compared: keys that users name, or ids of row tracking."""

from __future__ import annotations

from collections.abc import Sequence

from truckee.errors.diff import KeysNotUniqueError, RowIdsNotUniqueError

ROW_ID = "__truckee_row_id"
"""The column of the id that row tracking gives a row."""


def not_unique_error(
    identity: Sequence[str], *, where: str, example: str, count: int
) -> KeysNotUniqueError:
    """Return the error for rows that share what should identify each; `example` is JSON."""
    if tuple(identity) != (ROW_ID,):
        return KeysNotUniqueError(keys=tuple(identity), where=where, example=example, count=count)
    shown = example.replace(ROW_ID, "row_id")
    return RowIdsNotUniqueError(keys=("row_id",), where=where, example=shown, count=count)

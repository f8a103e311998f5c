"""What identifies a row while rows are compared: keys that users name, or ids of row tracking."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from truckee.errors.diff import KeysNotUniqueError, RowIdsNotUniqueError
from truckee.protocol.schema import PrimitiveType, StructField

_LONG = PrimitiveType("long")

ROW_ID = "__truckee_row_id"
"""The column of the id that row tracking gives a row."""
ROW_VERSION = "__truckee_row_version"
"""The column of the version in which a row last changed."""
ID_FIELDS = (StructField(ROW_ID, _LONG), StructField(ROW_VERSION, _LONG))

BASE_ROW_ID = "__truckee_base_row_id"
DEFAULT_ROW_VERSION = "__truckee_default_row_version"
"""Two constants of a file, which give an id and a version to rows that have none in the file."""
CONSTANT_FIELDS = (StructField(BASE_ROW_ID, _LONG), StructField(DEFAULT_ROW_VERSION, _LONG))


class HeldIds(Struct, frozen=True):
    """The names of the columns that store the id of moved rows and, if it is read, their version.

    The id of any other row is the base id of its file plus its position there.
    """

    row_id: str
    row_version: str | None = None


def not_unique_error(
    identity: Sequence[str], *, where: str, example: str, count: int
) -> KeysNotUniqueError:
    """Return the error for rows that share what should identify each; `example` is JSON."""
    if tuple(identity) != (ROW_ID,):
        return KeysNotUniqueError(keys=tuple(identity), where=where, example=example, count=count)
    shown = example.replace(ROW_ID, "row_id")
    return RowIdsNotUniqueError(keys=("row_id",), where=where, example=shown, count=count)

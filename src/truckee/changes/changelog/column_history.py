"""The columns of a range of versions, each followed through renames, drops and wider types.

A column is the same one as long as it has the same physical name; without column mapping, the same
name. An *era* is a run of versions with one schema. Rows are read with the schema of their era, and
then shown with the columns of all eras, or with those of the last one:

    version 0 (id, a)   2: a renamed to b   4: b dropped   5: b added   7: id widened

    follow     id, b           b is the one of version 5, null before
    superset   id, b, b__v3    b__v3 is the column that was named a and then b, up to version 3
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import Struct
from msgspec.structs import replace

from truckee.changes.columns import FEED_FIELDS
from truckee.changes.read_schema import ReadSchema
from truckee.protocol.column_metadata import CHAR_VARCHAR_KEY, PHYSICAL_NAME_KEY
from truckee.protocol.schema import (
    VOID,
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
)
from truckee.protocol.schema_compatibility import is_wider

_KEPT_METADATA = ("comment", CHAR_VARCHAR_KEY)
_RESERVED = {field.name.casefold() for field in FEED_FIELDS}


class FollowedColumn(Struct, frozen=True):
    """One column through all eras: its name and type for all of them, and what it was in each.

    `in_era` has the column's own field by the index of the era, for eras that have the column.
    `last_version` is the last version that had it, None if the last era has it.
    """

    field: StructField
    in_era: Mapping[int, StructField]
    last_version: int | None


class ColumnHistory(Struct, frozen=True):
    """The columns of all eras, those of the last one first."""

    eras: tuple[ReadSchema, ...]
    columns: tuple[FollowedColumn, ...]

    @property
    def schema(self) -> StructType:
        """All columns, each with the widest of its types."""
        return StructType(tuple(column.field for column in self.columns))

    @property
    def current(self) -> tuple[FollowedColumn, ...]:
        """The columns of the last era."""
        return tuple(column for column in self.columns if column.last_version is None)


@dataclass
class _Thread:
    """A column while the eras are processed."""

    type: DataType
    in_era: dict[int, StructField] = field(default_factory=dict)

    @property
    def last_era(self) -> int:
        return max(self.in_era)

    @property
    def last_field(self) -> StructField:
        return self.in_era[self.last_era]


def column_history(eras: Sequence[ReadSchema]) -> ColumnHistory:
    """Return the columns of eras, in order of their versions.

    If a column was replaced by one of the same name with a type of another kind, the two are
    different columns.
    """
    threads: list[_Thread] = []
    by_key: dict[str, _Thread] = {}
    for place, era in enumerate(eras):
        if place and _is_unmapped(eras[place - 1], era):
            # The columns continue under their names.
            before = place - 1
            alive = [thread for thread in threads if before in thread.in_era]
            by_key = {thread.in_era[before].name: thread for thread in alive}
        mode = era.configuration.column_mapping_mode
        for own in era.schema.fields:
            key, data_type = field_key(own, mode), keyed_type(own.type, mode)
            known = by_key.get(key)
            merged = None if known is None else wider_type(known.type, data_type)
            if known is None or merged is None or place in known.in_era:
                known = by_key[key] = _Thread(data_type)
                threads.append(known)
            else:
                known.type = merged
            known.in_era[place] = own
    return ColumnHistory(tuple(eras), _named(threads, eras))


def field_key(own: StructField, mode: str) -> str:
    """Return the key that identifies a column in an era with a column mapping mode."""
    return own.name if mode == "none" else own.physical_name


def _is_unmapped(before: ReadSchema, after: ReadSchema) -> bool:
    """Return whether column mapping was removed between two eras."""
    modes = [era.configuration.column_mapping_mode for era in (before, after)]
    return modes[0] != "none" and modes[1] == "none"


def wider_type(old: DataType, new: DataType) -> DataType | None:
    """Return a type that can hold the values of both, None if there is none.

    Structs have the fields of both, those of the newer one first.
    """
    match old, new:
        case StructType(), StructType():
            return _wider_struct(old, new)
        case ArrayType(), ArrayType():
            element = wider_type(old.element_type, new.element_type)
            return None if element is None else ArrayType(element)
        case MapType(), MapType():
            key = wider_type(old.key_type, new.key_type)
            value = wider_type(old.value_type, new.value_type)
            return None if key is None or value is None else MapType(key, value)
    if old in (new, VOID) or is_wider(old, new):
        return new
    return old if new == VOID or is_wider(new, old) else None


def _wider_struct(old: StructType, new: StructType) -> StructType | None:
    before = {own.physical_name: own for own in old.fields}
    fields: list[StructField] = []
    for own in new.fields:
        known = before.pop(own.physical_name, None)
        merged = own.type if known is None else wider_type(known.type, own.type)
        if merged is None:
            return None
        fields.append(replace(own, type=merged))
    names = {own.name.casefold() for own in fields}
    for own in before.values():
        name = own.name
        while name.casefold() in names:
            name = f"{name}__old"
        names.add(name.casefold())
        fields.append(replace(own, name=name))
    return StructType(tuple(fields))


def keyed_type(data_type: DataType, mode: str) -> DataType:
    """Return a type in which the physical name of each field is its key.

    Null is allowed everywhere, and fields have no other metadata.
    """
    match data_type:
        case StructType(fields):
            return StructType(
                tuple(
                    StructField(
                        own.name,
                        keyed_type(own.type, mode),
                        True,
                        {PHYSICAL_NAME_KEY: field_key(own, mode)},
                    )
                    for own in fields
                )
            )
        case ArrayType(element_type):
            return ArrayType(keyed_type(element_type, mode))
        case MapType(key_type, value_type):
            return MapType(keyed_type(key_type, mode), keyed_type(value_type, mode))
        case _:
            return data_type


def _named(threads: Sequence[_Thread], eras: Sequence[ReadSchema]) -> tuple[FollowedColumn, ...]:
    last = len(eras) - 1
    order = {own.name: place for place, own in enumerate(eras[last].schema.fields)}
    alive = [thread for thread in threads if thread.last_era == last]
    alive.sort(key=lambda thread: order[thread.last_field.name])
    dead = [thread for thread in threads if thread.last_era != last]
    dead.sort(key=lambda thread: thread.last_era, reverse=True)
    taken = _RESERVED | {thread.last_field.name.casefold() for thread in alive}
    columns = [_column(thread, thread.last_field.name, None) for thread in alive]
    for thread in dead:
        version = eras[thread.last_era + 1].version - 1
        name = thread.last_field.name
        if name.casefold() in taken:
            name = f"{name}__v{version}"
        while name.casefold() in taken:
            name = f"{name}_"
        taken.add(name.casefold())
        columns.append(_column(thread, name, version))
    return tuple(columns)


def _column(thread: _Thread, name: str, last_version: int | None) -> FollowedColumn:
    shown = {k: v for k, v in thread.last_field.metadata.items() if k in _KEPT_METADATA}
    return FollowedColumn(StructField(name, thread.type, True, shown), thread.in_era, last_version)

"""The columns of a diff, and how to find them in the files of either side.

A column is the same one in two versions if it has the same physical name; without column mapping,
or if mapping was removed in between, the same name. If its type was widened in between, or restored
to a narrower one, the diff has the wider type.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from truckee.changes.read_schema import nullable_everywhere
from truckee.changes.row_identity import (
    BASE_ROW_ID,
    CONSTANT_FIELDS,
    DEFAULT_ROW_VERSION,
    HeldIds,
)
from truckee.errors.diff import DiffSchemaError
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import AddFile
from truckee.protocol.column_metadata import TYPE_CHANGES_KEY
from truckee.protocol.schema import (
    VOID,
    ArrayType,
    DataType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    UserDefinedType,
    type_text,
)
from truckee.protocol.schema_compatibility import is_wider
from truckee.protocol.table_configuration import TableConfiguration


class SideColumns(Struct, frozen=True):
    """How to find the columns of a diff in the files of one version.

    `schema` has the columns of the diff; with row ids also the column in which files store them,
    that of `ids`, and the two constants that give an id to other rows, as partition columns.
    """

    schema: StructType
    partition_columns: tuple[str, ...]
    mapping_mode: str
    ids: HeldIds | None = None

    def of(self, table: TableConfiguration) -> TableConfiguration:
        """Return the table's configuration for a reader of these files."""
        return table.read_as(self.schema, self.partition_columns, self.mapping_mode)

    @property
    def partition_fields(self) -> tuple[StructField, ...]:
        """The table's partition columns."""
        fields = (self.schema.field(name) for name in self.partition_columns)
        return tuple(f for f in fields if f is not None and f.name not in _CONSTANTS)


_CONSTANTS = (BASE_ROW_ID, DEFAULT_ROW_VERSION)


def diff_schema(newest: Snapshot, other: Snapshot) -> StructType:
    """Return the columns of a diff: those of the newest version, null allowed everywhere.

    Raises `DiffSchemaError` if the other version has a column with a type of another kind.
    """
    merged = _Merge(newest, other).struct(newest.schema, other.schema, ())
    schema = nullable_everywhere(merged)
    assert isinstance(schema, StructType)
    return schema


class _Merge:
    """Two schemas of one table as one."""

    def __init__(self, newest: Snapshot, other: Snapshot) -> None:
        self._newest, self._other = newest, other
        self._by_place = _mode(newest) != "none"
        self._others_by_place = self._by_place and _mode(other) != "none"

    def struct(self, ours: StructType, theirs: StructType, path: tuple[str, ...]) -> StructType:
        known = {_identity(field, self._others_by_place): field for field in theirs.fields}
        fields = []
        for field in ours.fields:
            same = known.get(_identity(field, self._by_place))
            fields.append(field if same is None else self._field(field, same, path))
        return StructType(tuple(fields))

    def _field(self, ours: StructField, theirs: StructField, path: tuple[str, ...]) -> StructField:
        merged = self._type(ours.type, theirs.type, (*path, ours.name))
        if merged == ours.type:
            return ours
        changes = theirs.metadata.get(TYPE_CHANGES_KEY)
        metadata = (
            ours.metadata if changes is None else {**ours.metadata, TYPE_CHANGES_KEY: changes}
        )
        return replace(ours, type=merged, metadata=metadata)

    def _type(self, ours: DataType, theirs: DataType, path: tuple[str, ...]) -> DataType:
        match ours, theirs:
            case StructType(), StructType():
                return self.struct(ours, theirs, path)
            case ArrayType(), ArrayType():
                element = self._type(ours.element_type, theirs.element_type, (*path, "element"))
                return replace(ours, element_type=element)
            case MapType(), MapType():
                key = self._type(ours.key_type, theirs.key_type, (*path, "key"))
                value = self._type(ours.value_type, theirs.value_type, (*path, "value"))
                return replace(ours, key_type=key, value_type=value)
            case UserDefinedType(), _:
                return ours
        if ours == theirs or theirs == VOID or is_wider(theirs, ours):
            return ours
        if ours == VOID or is_wider(ours, theirs):
            return theirs
        raise DiffSchemaError(
            column=".".join(path),
            type=type_text(theirs),
            version=self._other.version,
            wanted=type_text(ours),
            wanted_version=self._newest.version,
        )


def side_columns(
    schema: StructType, newest: Snapshot, at: Snapshot, *, row_ids: bool
) -> SideColumns:
    """Return how to find the columns of a diff in the files of a version."""
    mode, mapped = _mode(newest), schema
    if mode == "none" and _mode(at) != "none":
        # Column mapping was removed since, but the files of this version still use its names.
        mode, mapped = _mode(at), _mapped_as(schema, at.schema)
    by_place = mode != "none"
    known = {_identity(field, by_place): field.name for field in mapped.fields}
    fields = (at.schema.field(name) for name in at.partition_columns)
    places = (_identity(f, by_place and _mode(at) != "none") for f in fields if f is not None)
    partitions = tuple(known[place] for place in places if place in known)
    if not row_ids:
        return SideColumns(mapped, partitions, mode)
    row_id = at.properties.materialized_row_id_column_name
    assert row_id is not None
    hidden = StructField(row_id, PrimitiveType("long")), *CONSTANT_FIELDS
    return SideColumns(
        StructType((*mapped.fields, *hidden)), (*partitions, *_CONSTANTS), mode, HeldIds(row_id)
    )


def with_held_row_ids(file: AddFile) -> dict[str, str]:
    """Return the two constants of a file, as texts of partition values."""
    version = file.default_row_commit_version or 0
    return {BASE_ROW_ID: str(file.base_row_id), DEFAULT_ROW_VERSION: str(version)}


def _mapped_as(schema: DataType, mapped: DataType) -> StructType:
    """Return a schema with the column mapping that another has for columns of the same names."""
    result = _mapped_type(schema, mapped)
    assert isinstance(result, StructType)
    return result


def _mapped_type(ours: DataType, theirs: DataType) -> DataType:
    match ours, theirs:
        case StructType(), StructType():
            fields = []
            for field in ours.fields:
                same = theirs.field(field.name)
                if same is not None:
                    inner = _mapped_type(field.type, same.type)
                    field = replace(field, type=inner, metadata=same.metadata)
                fields.append(field)
            return StructType(tuple(fields))
        case ArrayType(), ArrayType():
            return replace(ours, element_type=_mapped_type(ours.element_type, theirs.element_type))
        case MapType(), MapType():
            return replace(
                ours,
                key_type=_mapped_type(ours.key_type, theirs.key_type),
                value_type=_mapped_type(ours.value_type, theirs.value_type),
            )
        case _:
            return ours


def _mode(snapshot: Snapshot) -> str:
    return snapshot.properties.column_mapping_mode


def _identity(field: StructField, by_place: bool) -> str:
    return field.physical_name if by_place else field.name.casefold()

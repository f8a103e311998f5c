"""Parquet files that others wrote, as files of a table: partition values and statistics.

Footers of other writers are less reliable than ours. Some ignore NaN in a column's greatest value,
some count days in an old calendar, some order values differently. Bounds are used only if they are
certainly valid for Spark; without bounds, a reader just opens the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any
from urllib.parse import unquote

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct

from truckee.care.table_root import TableRoot
from truckee.errors.commands.create import (
    ConversionError,
    PartitionCountError,
    PartitionValueError,
)
from truckee.errors.protocol import InvalidPartitionValueError
from truckee.protocol.actions import AddFile
from truckee.protocol.json_text import NOT_JSON
from truckee.protocol.partition_values import counted
from truckee.protocol.partition_values import format as format_value
from truckee.protocol.paths import HIVE_DEFAULT_PARTITION, encode_path
from truckee.protocol.properties import TableProperties
from truckee.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    PrimitiveType,
    StructType,
    nested_fields,
    type_text,
)
from truckee.protocol.stats import encode_stats, has_bounds, stats_columns
from truckee.scan.footer_statistics import Bounds, Footer, FooterColumn, file_stats
from truckee.storage.base import FileInfo, Storage

_READERS = 16
_VARIANT = PrimitiveType("variant")
_SINK_LOG = "_spark_metadata"
_SINK_BATCH = re.compile(r"(\d+)(\.compact)?")
_OLD_CALENDAR_KEY = b"org.apache.spark.legacyDateTime"
_VALUE_TYPES: dict[str, tuple[type, ...]] = {
    "byte": (int,),
    "short": (int,),
    "integer": (int,),
    "long": (int,),
    "float": (float,),
    "double": (float,),
    "string": (str,),
    "date": (date,),
    "timestamp": (datetime,),
    "timestamp_ntz": (datetime,),
}


def visible_files(storage: Storage) -> list[FileInfo]:
    """Return the files of a folder that Spark would read, in order of their paths.

    If a stream wrote them, that are the files in the log of its sink: the folder may also have
    files of attempts that failed.
    """
    found = sorted(file for file in storage.list_tree("") if _is_visible(file.path))
    committed = _sink_files(storage)
    if committed is None:
        return found
    for path in committed - {file.path for file in found}:
        raise ConversionError(
            path=storage.root,
            reason=f"the log of a streaming sink in {_SINK_LOG} names {path}, which is not there",
            hint=f"if the files were moved here, and all of them are wanted, delete {_SINK_LOG}",
        )
    return [file for file in found if file.path in committed]


def _sink_files(storage: Storage) -> set[str] | None:
    """Return the files that Spark's streaming file sink has committed, None if it wrote none.

    Each batch has a file, named by its number: a line with a version, then a line of JSON for each
    data file. `9.compact` has those of all batches up to 9.
    """
    batches: dict[int, str] = {}
    last_compact = -1
    for file in storage.list_from(f"{_SINK_LOG}/"):
        name = _SINK_BATCH.fullmatch(file.path.rpartition("/")[2])
        if name is None:
            continue
        number, is_compact = int(name[1]), name[2] is not None
        if is_compact or number not in batches:
            batches[number] = file.path
        if is_compact:
            last_compact = max(last_compact, number)
    if not batches:
        return None
    root = TableRoot(storage)
    wanted = [path for number, path in batches.items() if number >= last_compact]
    entries = [entry for path in wanted for entry in _sink_entries(storage, path)]
    return {root.relative(entry.path) or entry.path for entry in entries}


class _SinkEntry(Struct):
    path: str


def _sink_entries(storage: Storage, path: str) -> list[_SinkEntry]:
    try:
        _, _, lines = storage.read(path).partition(b"\n")
        return msgspec.json.Decoder(_SinkEntry).decode_lines(lines)
    except NOT_JSON as error:
        raise ConversionError(
            path=path,
            reason=f"it is not a log of a streaming sink ({error})",
            hint=f"if all files of the folder are wanted, delete {_SINK_LOG}",
        ) from error


def _is_visible(path: str) -> bool:
    """Return whether no part of a path is hidden; `_c=1` is a partition, and not hidden."""
    return not any(
        part.startswith(".") or (part.startswith("_") and "=" not in part)
        for part in path.split("/")
    )


def folder_partition_names(files: Iterable[FileInfo]) -> tuple[str, ...]:
    """Return the partition columns that the folders of files name; all must name the same."""
    found: dict[tuple[str, ...], str] = {}
    for file in files:
        names = tuple(name for name, _ in _folders(file.path))
        found.setdefault(names, file.path)
    if len(found) > 1:
        (one, one_path), (other, other_path) = list(found.items())[:2]
        raise ConversionError(
            path=one_path,
            reason=f"it lies in partition folders of [{', '.join(one)}], but {other_path} in "
            f"those of [{', '.join(other)}]",
            hint="move the files so that all are partitioned by the same columns",
        )
    return next(iter(found), ())


def _folders(path: str) -> list[tuple[str, str]]:
    parts = [part.partition("=") for part in path.split("/")[:-1]]
    return [(unquote(name), unquote(value)) for name, mark, value in parts if mark]


def converted_files(
    storage: Storage,
    files: Sequence[FileInfo],
    schema: StructType,
    partition_schema: StructType,
    properties: TableProperties,
    *,
    collect_stats: bool,
    session_zone: str,
) -> list[AddFile]:
    """Return the files as files of a table with this schema."""
    columns = [
        FooterColumn(chain.path, chain.field.type, 0, 0)
        for chain in stats_columns(schema, partition_schema.names, properties)
    ]
    checks_variants = _has_variants(schema) and not properties.enable_variant_shredding

    def converted(file: FileInfo) -> AddFile:
        if checks_variants:
            _refuse_shredded(storage, file, schema)
        values = _partition_values(file, partition_schema, session_zone)
        stats = _stats(storage, file, columns, properties) if collect_stats else None
        return AddFile(
            path=encode_path(file.path),
            partition_values=values,
            size=file.size,
            modification_time=file.modified_ms,
            data_change=True,
            stats=stats,
        )

    with ThreadPoolExecutor(_READERS) as readers:
        return list(readers.map(converted, files))


def _partition_values(
    file: FileInfo, partition_schema: StructType, session_zone: str
) -> dict[str, str | None]:
    texts = {name.casefold(): value for name, value in _folders(file.path)}
    values: dict[str, str | None] = {}
    for field in partition_schema.fields:
        text = texts.get(field.name.casefold())
        if text is None:
            raise PartitionCountError(
                path=file.path,
                reason=f"it lies in no folder of partition column {field.name}",
                hint="name the columns of the folders, in their order, in the partition schema",
            )
        values[field.name] = _partition_value(file, text, field.type, session_zone)
    return values


def _partition_value(
    file: FileInfo, text: str, data_type: DataType, session_zone: str
) -> str | None:
    if text == HIVE_DEFAULT_PARTITION:
        return None
    try:
        return format_value(counted(text, data_type, session_zone), data_type)
    except InvalidPartitionValueError as error:
        raise PartitionValueError(
            path=file.path,
            reason=f"the partition value {text!r} is not of type {type_text(data_type)}",
            hint="give another type in the partition schema, such as string",
        ) from error


def _has_variants(schema: StructType) -> bool:
    return any(chain.field.type == _VARIANT for chain in nested_fields(schema))


def _refuse_shredded(storage: Storage, file: FileInfo, schema: StructType) -> None:
    """Raise if a file has variants in several columns, which few tables may have."""
    stored = pa.struct(list(_footer(storage, file).schema.to_arrow_schema()))
    if _is_shredded(stored, schema):
        raise ConversionError(
            path=file.path,
            reason="its variants are shredded into columns, and the table would not allow that",
            hint="give new tables of the session the property delta.enableVariantShredding, or "
            "write its rows to a new table",
        )


def _is_shredded(stored: pa.DataType, known: DataType) -> bool:
    """Return whether a column of a file, or one inside it, is a shredded variant."""
    if isinstance(stored, pa.BaseExtensionType):
        stored = stored.storage_type
    match known:
        case StructType() if pa.types.is_struct(stored):
            held = ((field, known.field(field.name)) for field in stored)
            return any(own is not None and _is_shredded(f.type, own.type) for f, own in held)
        case ArrayType(element_type) if pa.types.is_list(stored):
            return _is_shredded(stored.value_type, element_type)
        case MapType(_, value_type) if pa.types.is_map(stored):
            return _is_shredded(stored.item_type, value_type)
        case _:
            is_group = known == _VARIANT and pa.types.is_struct(stored)
            return is_group and stored.get_field_index("typed_value") >= 0


def _footer(storage: Storage, file: FileInfo) -> pq.FileMetaData:
    try:
        with storage.open_input(file.path) as opened:
            return pq.read_metadata(opened)
    except (pa.ArrowInvalid, OSError) as error:
        raise ConversionError(
            path=file.path,
            reason=f"it is not a Parquet file ({error})",
            hint="remove it from the folder, or hide it with a name that starts with _",
        ) from error


def _stats(
    storage: Storage, file: FileInfo, columns: Sequence[FooterColumn], properties: TableProperties
) -> str:
    metadata = _footer(storage, file)
    positions = {metadata.schema.column(index).path: index for index in range(metadata.num_columns)}
    has_old_dates = _OLD_CALENDAR_KEY in (metadata.metadata or {})
    bounds = {
        column.path: _bounds(metadata, positions.get(".".join(column.path)), column, has_old_dates)
        for column in columns
    }
    stats = file_stats(
        Footer(metadata.num_rows, bounds),
        columns,
        prefix_length=properties.data_skipping_string_prefix_length,
        tight_bounds=None,
    )
    return encode_stats(stats)


def _bounds(
    metadata: pq.FileMetaData, position: int | None, column: FooterColumn, has_old_dates: bool
) -> Bounds:
    if position is None or metadata.schema.column(position).max_repetition_level > 0:
        return Bounds(None, None, None)
    groups = (metadata.row_group(index) for index in range(metadata.num_row_groups))
    parts = [group.column(position).statistics for group in groups if group.num_rows]
    if any(part is None or not part.has_null_count for part in parts):
        return Bounds(None, None, None)
    nulls = sum(part.null_count for part in parts)
    held = [part for part in parts if part.has_min_max or part.num_values > 0]
    name = getattr(column.type, "name", "")
    if (
        not held
        or not has_bounds(column.type)
        or not all(part.has_min_max for part in held)
        or (has_old_dates and name in ("date", "timestamp", "timestamp_ntz"))
    ):
        return Bounds(None, None, nulls)
    least = _least_or_greatest([_value(part, "min", column.type) for part in held], min)
    greatest = _least_or_greatest([_value(part, "max", column.type) for part in held], max)
    # These writers do not say whether there is NaN, which Spark treats as the greatest value.
    return Bounds(least, None if name in ("float", "double") else greatest, nulls)


def _least_or_greatest(values: list[Any], choose: Any) -> Any:
    return None if None in values else choose(values)


def _value(part: pq.Statistics, which: str, data_type: DataType) -> Any:
    """Return a bound if its Python type fits the table's type, else None."""
    try:
        value = getattr(part, which)
    except (ValueError, OverflowError, pa.ArrowException):
        return None  # a date that Python cannot hold
    name = getattr(data_type, "name", "")
    if name.startswith("decimal"):
        return value if isinstance(value, Decimal) else None
    if isinstance(value, bool) or type(value) not in _VALUE_TYPES.get(name, ()):
        return None
    if isinstance(value, datetime):
        is_utc = name == "timestamp"
        if is_utc != (value.tzinfo is not None):
            return None
        return value.astimezone(timezone.utc) if is_utc else value
    if isinstance(value, float) and value != value:
        return None
    return value

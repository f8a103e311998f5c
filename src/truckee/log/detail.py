"""The result of `DESCRIBE DETAIL`, from a snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from truckee.errors.base import utc_text
from truckee.log.snapshot import Snapshot
from truckee.protocol.features import supported_features
from truckee.protocol.json_text import NOT_JSON
from truckee.protocol.schema import leaf_columns
from truckee.protocol.table_configuration import CLUSTERING_DOMAIN


class TableDetail(Struct, frozen=True, kw_only=True):
    """A table at one version: its identity, its size, and its protocol."""

    format: str
    id: str
    name: str | None
    description: str | None
    location: str
    version: int
    created_at_ms: int | None
    last_modified_ms: int
    partition_columns: tuple[str, ...]
    clustering_columns: tuple[str, ...]
    num_files: int
    size_in_bytes: int
    properties: Mapping[str, str]
    min_reader_version: int
    min_writer_version: int
    table_features: tuple[str, ...]

    def _repr_html_(self) -> str:
        """Return the details as HTML for a notebook: a line for each."""
        css = "text-align:left;vertical-align:top;padding:2px 12px 2px 0;overflow-wrap:anywhere"
        cell = f'style="{css}"'
        lines = "".join(
            f"<tr><td {cell}>{escape(name)}</td><td {cell}>{escape(_text(value))}</td></tr>"
            for name, value in _with_times(asdict(self))
        )
        return f'<table style="margin:4px 0"><tbody>{lines}</tbody></table>'


def _with_times(values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield names and values, milliseconds as times in UTC under a name without their unit."""
    for name, value in values.items():
        if name.endswith("_ms"):
            yield name.removesuffix("_ms"), utc_text(value) if isinstance(value, int) else None
        else:
            yield name, value


def _text(value: object) -> str:
    match value:
        case None:
            return ""
        case Mapping():
            return ", ".join(f"{key}={item}" for key, item in value.items())
        case tuple():
            return ", ".join(value)
    return str(value)


def table_detail(snapshot: Snapshot) -> TableDetail:
    """Return the details of a snapshot; counts all of its files."""
    metadata, protocol = snapshot.metadata, snapshot.protocol
    return TableDetail(
        format="delta",  # the table's format; its data files are Parquet
        id=metadata.id,
        name=metadata.name,
        description=metadata.description,
        location=snapshot.storage.root,
        version=snapshot.version,
        created_at_ms=metadata.created_time,
        last_modified_ms=snapshot.timestamp_ms,
        partition_columns=snapshot.partition_columns,
        clustering_columns=clustering_names(snapshot),
        num_files=snapshot.num_files,
        size_in_bytes=snapshot.size_in_bytes,
        properties=metadata.configuration,
        min_reader_version=protocol.min_reader_version,
        min_writer_version=protocol.min_writer_version,
        table_features=tuple(sorted(supported_features(protocol))),
    )


class _Clustering(Struct, rename="camel"):
    clustering_columns: list[list[str]] = []


def clustering_names(snapshot: Snapshot) -> tuple[str, ...]:
    """Return the logical names of the clustering columns, nested ones with dots.

    The domain that stores them uses physical names. Content of another form counts as no
    clustering, because it only affects the layout of new files.
    """
    domain = snapshot.domain_metadata.get(CLUSTERING_DOMAIN)
    if domain is None:
        return ()
    try:
        clustering = msgspec.json.decode(domain.configuration, type=_Clustering)
    except NOT_JSON:
        return ()
    logical = {chain.physical_path: ".".join(chain.path) for chain in leaf_columns(snapshot.schema)}
    return tuple(logical.get(tuple(path), ".".join(path)) for path in clustering.clustering_columns)

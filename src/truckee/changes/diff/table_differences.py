"""What differs between two versions besides their rows: columns, properties, protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from truckee.log.snapshot import Snapshot
from truckee.protocol.schema import StructField, nested_fields, type_text


class Difference(Struct, frozen=True):
    """Something that differs between two versions; None if one does not have it."""

    kind: str
    name: str
    before: str | None
    after: str | None


def table_differences(before: Snapshot, after: Snapshot) -> list[Difference]:
    """Return what differs, columns first, in the order of the second version."""
    return [
        *_columns(before, after),
        *_of("partitioning", {"": _listed(before)}, {"": _listed(after)}),
        *_of("property", _properties(before), _properties(after)),
        *_of("protocol", _protocol(before), _protocol(after)),
    ]


def _columns(before: Snapshot, after: Snapshot) -> Iterator[Difference]:
    """Yield columns that were added, dropped or changed, identified by their physical name."""
    by_place = all(at.properties.column_mapping_mode != "none" for at in (before, after))
    old, new = (_by_identity(at, by_place) for at in (before, after))
    for place, (name, text) in new.items():
        known = old.get(place)
        if known is None:
            yield Difference("column", name, None, text)
        elif known != (name, text):
            was, now = (f"{n} {t}" if known[0] != name else t for n, t in (known, (name, text)))
            yield Difference("column", name, was, now)
    for place, (name, text) in old.items():
        if place not in new:
            yield Difference("column", name, text, None)


def _by_identity(at: Snapshot, by_place: bool) -> dict[tuple[str, ...], tuple[str, str]]:
    return {
        chain.physical_path if by_place else chain.path: (
            ".".join(chain.path),
            _described(chain.field),
        )
        for chain in nested_fields(at.schema)
    }


def _described(field: StructField) -> str:
    comment = field.metadata.get("comment")
    told = "" if field.nullable else " not null"
    return f"{type_text(field.type)}{told}" + (f", {comment}" if comment else "")


def _of(kind: str, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Difference]:
    for name in dict.fromkeys((*new, *old)):
        if old.get(name) != new.get(name):
            yield Difference(kind, name, old.get(name), new.get(name))


def _listed(at: Snapshot) -> str:
    return ", ".join(at.partition_columns) or "none"


def _properties(at: Snapshot) -> Mapping[str, str]:
    return dict(sorted(at.metadata.configuration.items()))


def _protocol(at: Snapshot) -> Mapping[str, str]:
    protocol = at.protocol
    features = {*(protocol.reader_features or ()), *(protocol.writer_features or ())}
    return {
        "reader version": str(protocol.min_reader_version),
        "writer version": str(protocol.min_writer_version),
        **dict.fromkeys(sorted(features), "on"),
    }

"""Generators of actions, and of histories of a table."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import strategies as st

from staging import metadata, remove, vector
from truckee.protocol.actions import (
    Action,
    AddCDCFile,
    AddFile,
    CheckpointMetadata,
    CommitInfo,
    DomainMetadata,
    Format,
    Metadata,
    Protocol,
    RemoveFile,
    SetTransaction,
    Sidecar,
)
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.protocol.json_text import LAST_MOMENT_MS

texts = st.text(max_size=8)
longs = st.integers(-(1 << 63), (1 << 63) - 1)
moments = st.integers(0, LAST_MOMENT_MS)
sizes = st.integers(0, (1 << 63) - 1)
string_maps = st.dictionaries(texts, texts | st.none(), max_size=3)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | longs | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)


def optional(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


descriptors = st.builds(
    DeletionVectorDescriptor,
    storage_type=st.sampled_from("uip"),
    path_or_inline_dv=texts,
    offset=optional(st.integers(0, 1 << 30)),
    size_in_bytes=st.integers(0, 1 << 30),
    cardinality=sizes,
)
adds = st.builds(
    AddFile,
    path=texts,
    partition_values=string_maps,
    size=sizes,
    modification_time=longs,
    data_change=st.booleans(),
    stats=optional(texts),
    tags=optional(string_maps),
    deletion_vector=optional(descriptors),
    base_row_id=optional(sizes),
    default_row_commit_version=optional(sizes),
    clustering_provider=optional(texts),
)
removes = st.builds(
    RemoveFile,
    path=texts,
    deletion_timestamp=optional(longs),
    data_change=st.booleans(),
    extended_file_metadata=optional(st.booleans()),
    partition_values=optional(string_maps),
    size=optional(sizes),
    stats=optional(texts),
    tags=optional(string_maps),
    deletion_vector=optional(descriptors),
    base_row_id=optional(sizes),
    default_row_commit_version=optional(sizes),
)
features = optional(st.lists(texts, max_size=3).map(tuple))
actions: st.SearchStrategy[Action] = st.one_of(
    adds,
    removes,
    st.builds(
        AddCDCFile,
        path=texts,
        partition_values=string_maps,
        size=sizes,
        data_change=st.booleans(),
        tags=optional(string_maps),
    ),
    st.builds(
        Metadata,
        id=texts,
        name=optional(texts),
        description=optional(texts),
        format=st.builds(Format, provider=texts, options=st.dictionaries(texts, texts, max_size=2)),
        schema_string=texts,
        partition_columns=st.lists(texts, max_size=3),
        configuration=st.dictionaries(texts, texts, max_size=3),
        created_time=optional(longs),
    ),
    st.builds(
        Protocol,
        min_reader_version=st.integers(0, 9),
        min_writer_version=st.integers(0, 9),
        reader_features=features,
        writer_features=features,
    ),
    st.builds(SetTransaction, app_id=texts, version=longs, last_updated=optional(longs)),
    st.builds(DomainMetadata, domain=texts, configuration=texts, removed=st.booleans()),
    st.builds(CheckpointMetadata, version=sizes, tags=optional(string_maps)),
    st.builds(
        Sidecar,
        path=texts,
        size_in_bytes=sizes,
        modification_time=longs,
        tags=optional(string_maps),
    ),
    st.builds(
        CommitInfo,
        in_commit_timestamp=optional(moments),
        timestamp=optional(longs),
        user_id=json_values,
        operation=optional(texts),
        operation_parameters=optional(st.dictionaries(texts, json_values, max_size=3)),
        job=json_values,
        read_version=optional(longs),
        isolation_level=optional(texts),
        is_blind_append=optional(st.booleans()),
        operation_metrics=optional(st.dictionaries(texts, texts, max_size=3)),
        user_metadata=optional(texts),
        tags=optional(st.dictionaries(texts, json_values, max_size=3)),
        engine_info=optional(texts),
        txn_id=optional(texts),
    ),
)

FOREVER_MS = 9_000_000_000_000_000


@st.composite
def histories(draw: st.DrawFn, *, properties: dict[str, str], most: int = 8) -> list[list[Action]]:
    """Draw the commits of a table after its first one, each a list of actions.

    Files come, go, come back and change their deletion vectors; paths need escaping here and
    there; applications, domains and metadata change along.
    """
    live: dict[str, AddFile] = {}
    commits: list[list[Action]] = []
    for version in range(1, draw(st.integers(1, most)) + 1):
        commit: list[Action] = []
        for path in draw(st.lists(st.sampled_from(_PATHS), unique=True, max_size=4)):
            commit += _change(draw, live, path, version)
        if draw(st.booleans()):
            app_id = draw(st.sampled_from(["app", "other"]))
            commit.append(SetTransaction(app_id=app_id, version=version, last_updated=version))
        if draw(st.booleans()):
            removed = draw(st.booleans())
            domain = draw(st.sampled_from(["first", "second"]))
            commit.append(DomainMetadata(domain=domain, configuration="{}", removed=removed))
        if draw(st.integers(0, 4)) == 0:
            named = {**properties, "note": str(version)}
            commit.append(metadata("id long", "p string", partitioned_by=("p",), properties=named))
        commits.append(draw(st.permutations(commit)))
    return commits


_PATHS = ["a", "b", "c", "p=x/d%20e", "p=%2525/f"]


def _change(draw: st.DrawFn, live: dict[str, AddFile], path: str, version: int) -> list[Action]:
    old = live.pop(path, None)
    kind = draw(st.sampled_from(["new", "gone", "vector"]))
    if old is None:
        live[path] = _new_file(draw, path)
        return [live[path]]
    gone = msgspec.structs.replace(remove(old), deletion_timestamp=FOREVER_MS)
    if kind == "gone":
        return [gone]
    marked = vector(f"v{version}", version)
    live[path] = msgspec.structs.replace(
        old, deletion_vector=marked, stats='{"numRecords":100,"tightBounds":false}'
    )
    return [gone, live[path]]


def _new_file(draw: st.DrawFn, path: str) -> AddFile:
    return AddFile(
        path=path,
        partition_values={"p": draw(st.sampled_from(["x", "%25", None]))},
        size=draw(st.integers(0, 1000)),
        modification_time=draw(st.integers(0, 1 << 40)),
        data_change=True,
        stats=draw(
            st.sampled_from(
                [
                    None,
                    '{"numRecords":100}',
                    '{"numRecords":3,"minValues":{"id":1},"maxValues":{"id":9},'
                    '"nullCount":{"id":0},"tightBounds":true}',
                ]
            )
        ),
        tags=draw(st.none() | st.just({"k": "v", "n": None})),
        base_row_id=draw(st.none() | st.integers(0, 1000)),
    )

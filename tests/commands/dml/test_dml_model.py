"""Histories of commands, table care too, against a plain-Python model, on every sort of table.

After each command, its answer and its metrics are compared; after each history, the rows, the feed
of every version, the law that the feed turns one snapshot into the next, and what deltalake reads.
Sessions are set as users set theirs, which must change nothing.
`TRUCKEE_DML_EXAMPLES` asks for more than one history for each sort of table, and for all sorts.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from care_model import Restore, Vacuum
from dml_model import (
    Append,
    Command,
    Delete,
    Merge,
    Model,
    Rewrite,
    Row,
    Sql,
    Update,
    applied,
    counted,
    frame,
    in_order,
    null_safe,
)
from dml_tables import FEED, KEEPS_SOURCE, VECTORS, Table, create_table
from session_settings import set_as
from truckee.commands.dml import marked_files
from truckee.spark.dml import row_bitmaps
from writing import rust_rows

pytestmark = [pytest.mark.property, pytest.mark.slow]

EXAMPLES = int(os.environ.get("TRUCKEE_DML_EXAMPLES", "1"))
ALWAYS = Sql("true", lambda _: True)
IDS = st.integers(0, 9)
NUMBERS = st.one_of(st.none(), st.integers(-3, 12))
PARTS = st.sampled_from([0, 1, None])


SESSIONS: tuple[Mapping[str, str], ...] = (
    {},
    {"spark.sql.caseSensitive": "true", "spark.sql.ansi.enabled": "false"},
    {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"},
    {"spark.sql.parquet.enableVectorizedReader": "false", "spark.sql.adaptive.enabled": "false"},
    # Every row of a file is in a task, a batch and a file of its own, or nearly.
    {
        "spark.sql.files.maxPartitionBytes": "100",
        "spark.sql.files.openCostInBytes": "1",
        "spark.sql.parquet.columnarReaderBatchSize": "2",
        "spark.sql.files.maxRecordsPerFile": "2",
    },
    {"spark.sql.autoBroadcastJoinThreshold": "-1", "spark.sql.session.timeZone": "Asia/Kolkata"},
)


def conditions() -> st.SearchStrategy[Sql]:
    return st.one_of(
        st.builds(_remainder, st.integers(2, 4), st.integers(0, 3)),
        st.builds(_above, st.integers(-2, 9)),
        st.builds(_not_above, st.integers(-2, 9)),
        st.just(Sql("{}.v is null", lambda row: row[1] is None)),
        st.builds(_of_partition, st.integers(0, 1)),
        st.builds(_both, st.integers(0, 9), st.integers(0, 1)),
        st.just(ALWAYS),
    )


def _remainder(by: int, rest: int) -> Sql:
    return Sql(f"{{}}.id % {by} = {rest}", null_safe(lambda i: i % by == rest, 0))


def _above(bound: int) -> Sql:
    return Sql(f"{{}}.v > {bound}", null_safe(lambda v: v > bound, 1))


def _not_above(bound: int) -> Sql:
    return Sql(f"not ({{}}.v > {bound})", null_safe(lambda v: not v > bound, 1))


def _of_partition(part: int) -> Sql:
    return Sql(f"{{}}.part = {part}", null_safe(lambda p: p == part, 2))


def _both(least: int, part: int) -> Sql:
    def value(row: Row) -> Any:
        sides = [
            None if row[0] is None else row[0] >= least,
            None if row[2] is None else row[2] == part,
        ]
        return False if False in sides else None if None in sides else True

    return Sql(f"{{}}.id >= {least} and {{}}.part = {part}", value)


VALUES = st.lists(
    st.one_of(
        st.just(("v", Sql("{}.v + 1", null_safe(lambda v: v + 1, 1)))),
        st.just(("v", Sql("{}.part", lambda row: row[2]))),
        st.just(("part", Sql("1 - {}.part", null_safe(lambda p: 1 - p, 2)))),
        st.just(("part", Sql("null", lambda _: None))),
    ),
    min_size=1,
    max_size=2,
    unique_by=lambda pair: pair[0],
).map(tuple)
ROWS = st.tuples(IDS, NUMBERS, PARTS)


def some(strategy: st.SearchStrategy[Sql]) -> st.SearchStrategy[Sql | None]:
    return st.one_of(strategy, st.none())


def merges() -> st.SearchStrategy[Merge]:
    source = st.lists(
        st.tuples(st.one_of(IDS, st.none()), NUMBERS, PARTS),
        max_size=6,
        unique_by=lambda row: row[0],
    )
    return st.builds(
        Merge,
        source=source.map(tuple),
        matched_delete=some(conditions()),
        matched_update=some(conditions()),
        insert=some(conditions()),
        by_source_update=some(conditions()),
        by_source_delete=some(conditions()),
    ).map(lambda m: m if any(m.__dict__[n] for n in CLAUSES) else Merge(m.source, insert=ALWAYS))


CLAUSES = ("matched_delete", "matched_update", "insert", "by_source_update", "by_source_delete")


def histories() -> st.SearchStrategy[list[Command]]:
    """Each sort of command once, in any order, with an append and a rewrite somewhere."""
    return st.tuples(
        st.builds(Rewrite, st.sampled_from(["compaction", "z-order", "purge"])),
        st.builds(Delete, conditions()),
        st.builds(Update, conditions(), VALUES),
        merges(),
        st.builds(Append, st.lists(ROWS, min_size=1, max_size=4).map(tuple)),
        st.builds(Restore, st.integers(0, 3)),
        st.just(Vacuum()),
    ).flatmap(lambda commands: st.permutations(list(commands)))


def sorts() -> list[Any]:
    """Every sort of table in the long run, and otherwise half of them.

    The half has all combinations of any three choices: one in two values of the fourth is left out.
    """
    choices = product((True, False), (True, False), (True, False), ("none", "name", "id"))
    words = (("partitioned", "flat"), ("vectors", "no vectors"), ("feed", "no feed"))
    return [
        pytest.param(*flags, mapping, id="-".join([*told, mapping]))
        for *flags, mapping in choices
        for told in [[pair[not flag] for pair, flag in zip(words, flags, strict=True)]]
        if EXAMPLES > 1 or (sum(flags) + (mapping == "name")) % 2 == 0
    ]


# Invariant 19.
# Invariant 34.
@pytest.mark.parametrize(("partitioned", "vectors", "feed", "mapping"), sorts())
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(
    start=st.lists(ROWS, min_size=4, max_size=12, unique_by=lambda row: row[0]),
    commands=histories(),
    conf=st.sampled_from(SESSIONS),
    kept=st.sampled_from(["all", "none"]),
    stored=st.booleans(),
    luck=st.integers(0, 1000),
)
def test_a_table_is_what_the_model_says(
    spark: SparkSession,
    partitioned: bool,
    vectors: bool,
    feed: bool,
    mapping: str,
    start: list[Row],
    commands: list[Command],
    conf: Mapping[str, str],
    kept: str,
    stored: bool,
    luck: int,
) -> None:
    # What is tried first is the simplest of all, the same for every sort of table: without luck.
    assume(luck > 0)
    properties = {"delta.columnMapping.mode": mapping} if mapping != "none" else {}
    properties |= (VECTORS if vectors else {}) | (FEED if feed else {})
    conf = {**conf, KEEPS_SOURCE: kept}
    with (
        tempfile.TemporaryDirectory() as folder,
        set_as(spark, conf),
        pytest.MonkeyPatch.context() as patch,
    ):
        if stored:  # as if tasks found too many rows to send them to the driver
            patch.setattr(row_bitmaps, "MOST_SENT", 0)
            patch.setattr(marked_files, "MOST_SENT", 0)
        table = create_table(
            spark,
            Path(folder) / "t",
            frame(spark, start),
            properties=properties,
            partition_by=["part"] if partitioned else [],
        )
        model = Model(list(start))
        for command in commands:
            run(command, table, model)

        check(table, model, feed=feed)


def run(command: Command, table: Table, model: Model) -> None:
    """Run a command on both sides, and compare what it says of itself."""
    before = len(model.changes)
    answer = command.on_table(table)
    command.on_model(model)
    if isinstance(command, Rewrite) and table.version > before:
        # The feed of a rewrite is a version without changes.
        model.jump(model.rows, [])
    counts = counted([change for changes in model.changes[before:] for change in changes])
    assert answer == command.affected(counts)
    assert table.version == len(model.changes)
    if len(model.changes) > before and not isinstance(command, Rewrite):
        expected = command.metrics(counts)
        assert {name: int(table.metrics[name]) for name in expected} == expected


def check(table: Table, model: Model, *, feed: bool) -> None:
    assert in_order(table.rows()) == in_order(model.rows)
    theirs = [tuple(row[name] for name in ("id", "v", "part")) for row in rust_rows(table.path)]
    assert in_order(theirs) == in_order(model.rows)
    if not feed or not model.changes:
        return
    shown = table.changes(1)
    for version, expected in enumerate(model.changes, start=1):
        changes = [row for row in shown if row[4] == version]
        if version not in model.untold:
            assert in_order([row[:4] for row in changes]) == in_order(expected)
        assert applied(model.past[version - 1], changes) == Counter(model.past[version])

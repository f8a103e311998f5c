"""Tables with variant columns are the same tables to both engines."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from interop.delta_spark import DeltaSpark
from truckee.doors.enable import enable
from writing import actions, last_version, stats

pytestmark = pytest.mark.interop

Run = Callable[[str], list[dict[str, Any]]]

ROWS = """
    select id, case when id > 0 then parse_json('{"n":' || id || ',"l":[1,2.5,"é",null]}') end as v,
      named_struct('x', parse_json(id::string), 'y', 1) as s,
      array(to_variant_object(struct(id))) as a,
      map('k', cast(date'2024-02-29' as variant)) as m
    from range(0, 4, 1, 1)
"""
SHOWN = "select id, to_json(v) as v, to_json(s) as s, to_json(a) as a, to_json(m) as m"


@pytest.fixture(scope="module")
def engines(spark: SparkSession, delta_spark: DeltaSpark) -> dict[str, Run]:
    enabled = enable(spark)

    def ours(text: str) -> list[dict[str, Any]]:
        return [row.asDict(recursive=True) for row in enabled.sql(text).collect()]

    return {"ours": ours, "theirs": delta_spark.sql}


def in_turn(engines: dict[str, Run]) -> Iterator[Run]:
    while True:
        yield from engines.values()


def sorted_rows(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True, default=str) for row in rows)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("vectors", ["true", "false"])
def test_both_change_one_table_in_turn(
    engines: dict[str, Run], tmp_path: Path, vectors: str, first: int
) -> None:
    turns = in_turn(engines)
    if first:
        next(turns)
    t = f"delta.`{tmp_path}`"
    source = """(select id, parse_json('[' || id || ']') as v, null as s, null as a, null as m
                 from range(3, 6))"""
    statements = (
        f"""create table {t} using delta tblproperties (delta.enableChangeDataFeed = true,
            delta.enableDeletionVectors = {vectors}) as {ROWS}""",
        f"insert into {t} {ROWS} where id = 2",
        f"update {t} set v = parse_json('{{\"n\":-1}}') where v:n::int = 1",
        f"delete from {t} where s.x::int = 0",
        f"""merge into {t} t using {source} s on t.id = s.id when matched then update set v = s.v
            when not matched then insert (id, v) values (s.id, s.v)""",
        f"alter table {t} add column w variant",
        f"update {t} set w = v where id = 5",
        f"optimize {t}",
        f"delete from {t} where w is not null",
        f"restore table {t} to version as of 5",
    )
    for statement in statements:
        next(turns)(statement)

    for version in range(last_version(tmp_path) + 1):
        query = f"{SHOWN} from {t} version as of {version}"
        ours, theirs = (sorted_rows(run(query)) for run in engines.values())
        assert ours == theirs, f"version {version}"
    feed = f"{SHOWN}, _change_type, _commit_version from table_changes_by_path('{tmp_path}', 0)"
    ours, theirs = (sorted_rows(run(feed)) for run in engines.values())
    assert ours == theirs
    assert len(theirs) > 12


@pytest.mark.parametrize(
    "statements",
    [
        ["create table {t} (id long, v variant) using delta"],
        ["create table {t} (id long, l array<struct<v: variant>>) using delta"],
        ["create table {t} (id long) using delta", "alter table {t} add column v variant"],
        [
            "create table {t} (id long) using delta "
            "tblproperties ('delta.feature.variantType-preview' = 'supported')",
            "alter table {t} add column v variant",
        ],
        [
            "create table {t} (id long, v variant) using delta "
            "tblproperties ('delta.enableVariantShredding' = 'true')"
        ],
        [
            "create table {t} (id long) using delta",
            "alter table {t} set tblproperties ('delta.enableVariantShredding' = 'true')",
        ],
    ],
)
def test_tables_get_the_same_protocol(
    engines: dict[str, Run], tmp_path: Path, statements: list[str]
) -> None:
    found = {}
    for name, run in engines.items():
        for statement in statements:
            run(statement.format(t=f"delta.`{tmp_path / name}`"))
        version = last_version(tmp_path / name)
        protocol = [p for v in range(version + 1) for p in actions(tmp_path / name, v, "protocol")]
        last = {key: value for key, value in protocol[-1].items() if "Version" in key}
        lists = ("readerFeatures", "writerFeatures")
        found[name] = last | {key: sorted(protocol[-1].get(key, ())) for key in lists}

    assert found["ours"] == found["theirs"]


def test_files_have_the_same_statistics(engines: dict[str, Run], tmp_path: Path) -> None:
    for name, run in engines.items():
        run(f"create table delta.`{tmp_path / name}` using delta as {ROWS}")

    ours, theirs = (stats(tmp_path / name, 0) for name in engines)
    for each in (*ours, *theirs):
        each.pop("tightBounds", None)
    assert ours == theirs


@pytest.mark.parametrize(
    "statement",
    [
        "insert into {t} (id, v) values (1, 5)",
        "insert into {t} (id, v) values (1, 'text')",
        "insert into {t} values (1, array(1, 2))",
        "insert into {t} (id, v) values (1, named_struct('a', 1))",
        "insert into {t} (id) select parse_json('8')",
        "update {t} set v = 7 where id = 0",
        "update {t} set id = v where id = 0",
        "merge into {t} t using (select 0L as id, 1.5 as v) s on t.id = s.id "
        "when matched then update set *",
        "alter table {t} alter column id type variant",
        "create table {o} (id long, v variant) using delta partitioned by (v)",
        "create table {o} (id long, v variant) using delta cluster by (v)",
        "create table {o} (id long, m map<variant, string>) using delta",
        "create table {o} (id long, v variant generated always as (parse_json(id::string))) "
        "using delta",
        "create table {o} (v variant, n int generated always as (v::int)) using delta",
        "create table {o} (id long, v variant default parse_json('1')) using delta "
        "tblproperties ('delta.feature.allowColumnDefaults' = 'supported')",
        "optimize {t} zorder by (id)",
    ],
)
def test_statements_have_the_same_outcome(
    engines: dict[str, Run], tmp_path: Path, statement: str
) -> None:
    outcomes = []
    for name, run in engines.items():
        t, o = (f"delta.`{tmp_path / name / place}`" for place in "to")
        run(f"create table {t} (id long, v variant) using delta")
        run(f"insert into {t} values (0, parse_json('0'))")
        try:
            run(statement.format(t=t, o=o))
            outcomes.append("done")
        except Exception as error:
            outcomes.append(_error_class(str(error)))
        outcomes.append(sorted_rows(run(f"select id, to_json(v) as v from {t}")))

    assert outcomes[:2] == outcomes[2:]


def _error_class(text: str) -> str:
    """Return the first error class in a text, without the part behind its dot."""
    found = re.search(r"\[([A-Z][A-Z0-9_]+)(?:\.[A-Z0-9_.]+)?\]", text)
    return text if found is None else found[1]


def test_delta_spark_reads_shredded_tables_that_truckee_appends_to(
    engines: dict[str, Run], tmp_path: Path
) -> None:
    t = f"delta.`{tmp_path}`"
    engines["theirs"](
        f"""create table {t} using delta tblproperties (delta.enableVariantShredding = true)
            as select id, parse_json('{{"a":' || id || '}}') as v from range(3)"""
    )
    engines["ours"](f"insert into {t} values (3, parse_json('{{\"a\":3}}'))")
    engines["ours"](f"delete from {t} where v:a::int = 0")

    query = f"select id, v:a::int as a, to_json(v) as j from {t}"
    ours, theirs = (sorted_rows(run(query)) for run in engines.values())
    assert ours == theirs
    assert len(ours) == 3

"""UPDATE and MERGE with the change data feed on: 16 columns, 3 % of the rows of every file change.

Each changed row is written three times: as it is now, and before and after for the feed, which has
files of its own. Plain Spark shows the floor: it reads, filters or joins, and writes these rows to
two files in each task as well, and commits nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.dml import COLUMNS, path_of, prepare_table

ROWS = {"small": 240_000, "full": 12_000_000}
FILES = 12
SHARE = 0.03
WIDE = {**COLUMNS, **{f"c{number}": "long" for number in range(len(COLUMNS), 16)}}
SOURCE = "source.parquet"
NOTES = {
    "deltalake": "writes files anew, for it writes no vectors",
    "spark-parquet": "the floor: reads, filters or joins, and writes each changed row three times",
}


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    """Write the table, and the source of the merge: new values of 3 % of its rows."""
    import numpy as np
    import pyarrow.parquet as pq

    from benchmarks.dml import columns_of

    rows = ROWS[scale]
    params = prepare_table(workdir, rows, FILES, WIDE, has_feed=True)
    ids = np.arange(0, rows, round(1 / SHARE), dtype=np.int64)
    np.random.default_rng(5).shuffle(ids)
    source = workdir / SOURCE
    pq.write_table(columns_of(ids, rows, WIDE), source)
    return params | {"column": "h", "share": SHARE, "source": str(source)}


def update_floor(context: Any, params: dict[str, Any]) -> None:
    """Read the rows, and write them as an UPDATE with the feed on has to."""
    start, count = params["rows"] // 3, round(params["rows"] * SHARE)
    old = _old_rows(context).where(f"h >= {start} AND h < {start + count}")
    kinds = "explode(array(null, 'update_preimage', 'update_postimage')) AS _change_type"
    images = old.selectExpr("*", kinds)
    new = images.selectExpr(
        *("if(_change_type = 'update_preimage', x, x + 1) AS x" if n == "x" else n for n in WIDE),
        "_change_type",
    )
    _write_apart(new, context)


def merge_floor(context: Any, params: dict[str, Any]) -> None:
    """Join both sides, and write the rows as a MERGE with the feed on has to."""
    source = context.spark.read.parquet(params["source"])
    both = _old_rows(context).alias("t").join(source.alias("s"), "id")
    kinds = "explode(array(null, 'update_preimage', 'update_postimage')) AS _change_type"
    names = [name for name in WIDE if name != "id"]
    pairs = both.selectExpr(
        "id", *(f"t.{name} AS t_{name}" for name in names), *(f"s.{name}" for name in names), kinds
    )
    new = pairs.selectExpr(
        "id",
        *(f"if(_change_type = 'update_preimage', t_{n}, {n}) AS {n}" for n in names),
        "_change_type",
    )
    _write_apart(new, context)


def _write_apart(new: Any, context: Any) -> None:
    """Write data and change rows to different files, as a table has to have them.

    In one file they would share the dictionary of each column, and be a fifth smaller.
    """
    kinds = new.selectExpr("*", "_change_type IS NOT NULL AS is_change")
    kinds.write.partitionBy("is_change").parquet(f"{path_of(context)}/new")


def _old_rows(context: Any) -> Any:
    files = sorted(str(path) for path in Path(path_of(context)).glob("*.parquet"))
    return context.spark.read.parquet(*files)


def merge_truckee(context: Any, params: dict[str, Any]) -> int:
    """Update all rows that the source has."""
    from truckee import DeltaTable

    source = context.spark.read.parquet(params["source"]).alias("s")
    merge = DeltaTable.forPath(context.spark, path_of(context)).alias("t")
    done = merge.merge(source, "t.id = s.id").whenMatchedUpdateAll().execute()
    return int(done.collect()[0]["num_updated_rows"])


def merge_delta_spark(context: Any, params: dict[str, Any]) -> int:
    """Do the same by delta-spark."""
    from delta.tables import DeltaTable

    source = context.spark.read.parquet(params["source"]).alias("s")
    merge = DeltaTable.forPath(context.spark, path_of(context)).alias("t")
    done = merge.merge(source, "t.id = s.id").whenMatchedUpdateAll().execute()
    return int(done.collect()[0]["num_updated_rows"])


def merge_deltalake(context: Any, params: dict[str, Any]) -> int:
    """Do the same by deltalake."""
    import pyarrow.parquet as pq
    from deltalake import DeltaTable

    merge = DeltaTable(path_of(context)).merge(
        pq.read_table(params["source"]), "t.id = s.id", source_alias="s", target_alias="t"
    )
    return int(merge.when_matched_update_all().execute()["num_target_rows_updated"])

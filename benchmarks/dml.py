"""DELETE, UPDATE and MERGE on one table of ten files, by every engine.

The column `id` counts up through the files, so a range of it is clustered: statistics leave few
files. The column `h` holds the same numbers in another order, so a range of it is scattered: some
rows of every file. For both, it is known exactly how many rows a condition matches.

Every run has a table of its own: hard links to one that is never changed, under a new name, made
outside the clock. truckee and delta-spark mark rows. deltalake rewrites files, and so does truckee
on a table without vectors (`truckee-rewrite`). Their table has the same data files, but no vectors
in its protocol.

Plain Spark shows the limit: how long it takes to find the rows and, for an UPDATE, to write the new
ones. It does not find out where the rows are, and commits nothing.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROWS = {"small": 200_000, "full": 10_000_000}
FILES = 10
SHARES = {"1 row": 0.0, "0.1 %": 0.001, "1 %": 0.01, "10 %": 0.1, "50 %": 0.5}
COLUMNS = {"id": "long", "h": "long", "x": "long", "s": "string", "f": "double"}
# Odd and not a multiple of five, so that multiplying by it is a permutation modulo ROWS.
FACTOR = 7_368_787

REWRITING = ("deltalake", "truckee-rewrite")

_START_MS = 1_700_000_000_000
_number = itertools.count()
_copies: dict[str, Path] = {}


def variants(column: str) -> dict[str, dict[str, Any]]:
    """Return a variant for each share of the rows, told by a range of a column."""
    return {name: {"column": column, "share": share} for name, share in SHARES.items()}


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    """Write the table, with and without vectors in its log."""
    return prepare_table(workdir, ROWS[scale], FILES, COLUMNS)


def prepare_table(
    workdir: Path, rows: int, files: int, columns: Mapping[str, str], *, has_feed: bool = False
) -> dict[str, Any]:
    """Write a table of some rows in some files, with and without vectors in its log."""
    table = workdir / "table"
    table.mkdir()
    each = rows // files
    adds = [_data_file(table, i, each, rows, columns) for i in range(files)]
    plain = workdir / "plain"
    shutil.copytree(table, plain, copy_function=os.link)
    write_log(table, adds, columns, marks=True, has_feed=has_feed)
    write_log(plain, adds, columns, marks=False, has_feed=has_feed)
    return {"table": str(table), "plain": str(plain), "rows": rows}


def columns_of(ids: Any, rows: int, columns: Mapping[str, str]) -> Any:
    """Return the rows with these ids."""
    import numpy as np
    import pyarrow as pa

    made = {
        "id": lambda: ids,
        "h": lambda: ids * FACTOR % rows,
        "x": lambda: ids * 2,
        "s": lambda: pa.array(np.char.add("name-", (ids % 10_007).astype(str))),
        "f": lambda: ids / 7.0,
    }
    others = {name: (ids + place) * 31 for place, name in enumerate(columns) if name not in made}
    return pa.table({name: others[name] if name in others else made[name]() for name in columns})


def _data_file(
    table: Path, number: int, count: int, rows: int, columns: Mapping[str, str]
) -> dict[str, Any]:
    import numpy as np
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    data = columns_of(np.arange(number * count, (number + 1) * count), rows, columns)
    name = f"part-{number:02}.parquet"
    pq.write_table(data, table / name, compression="snappy", row_group_size=500_000)
    bounds = {key: pc.min_max(data.column(key)).as_py() for key in columns}
    stats = {
        "numRecords": count,
        "minValues": {key: value["min"] for key, value in bounds.items()},
        "maxValues": {key: value["max"] for key, value in bounds.items()},
        "nullCount": dict.fromkeys(columns, 0),
    }
    return {
        "path": name,
        "partitionValues": {},
        "size": (table / name).stat().st_size,
        "modificationTime": _START_MS,
        "dataChange": True,
        "stats": json.dumps(stats, separators=(",", ":")),
    }


def write_log(
    table: Path,
    adds: list[dict[str, Any]],
    columns: Mapping[str, str],
    *,
    marks: bool,
    has_feed: bool = False,
) -> None:
    """Write the first commit of a table that has these files, with vectors if it `marks` rows."""
    protocol: dict[str, Any] = {"minReaderVersion": 1, "minWriterVersion": 4 if has_feed else 2}
    configuration = {"delta.enableChangeDataFeed": "true"} if has_feed else {}
    if marks:
        writes = ["deletionVectors", *(["changeDataFeed"] if has_feed else [])]
        features = {"readerFeatures": ["deletionVectors"], "writerFeatures": writes}
        protocol = {"minReaderVersion": 3, "minWriterVersion": 7, **features}
        configuration["delta.enableDeletionVectors"] = "true"
    fields = [
        {"name": name, "type": kind, "nullable": True, "metadata": {}}
        for name, kind in columns.items()
    ]
    metadata = {
        "id": "5b7c1a44-2f0e-4a53-8f0e-0f6f1f2a9c3d",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": fields}),
        "partitionColumns": [],
        "configuration": configuration,
        "createdTime": _START_MS,
    }
    info = {"timestamp": _START_MS, "operation": "WRITE", "operationParameters": {}}
    lines = [{"commitInfo": info}, {"protocol": protocol}, {"metaData": metadata}]
    log = table / "_delta_log"
    log.mkdir()
    text = "\n".join(json.dumps(line) for line in [*lines, *({"add": add} for add in adds)])
    (log / f"{0:020}.json").write_text(text + "\n")


def reset(context: Any, params: dict[str, Any]) -> None:
    """Give the engine an unchanged table, under a name that no cache knows."""
    copy_table(context, Path(params["plain" if context.engine in REWRITING else "table"]))


def copy_table(context: Any, origin: Path) -> None:
    """Make hard links to a table the engine's own table, in place of those of the last run."""
    copy = origin.parent / f"copy.{context.engine}.{os.getpid()}.{next(_number)}"
    for old in origin.parent.glob(f"copy.{context.engine}.*"):
        shutil.rmtree(old)
    shutil.copytree(origin, copy, copy_function=os.link)
    _copies[context.engine] = copy


def path_of(context: Any) -> str:
    """Return where the engine's own table is."""
    return str(_copies[context.engine])


def _condition(params: dict[str, Any]) -> str:
    """Return a condition that is true of a share of the rows, of one row if that is nothing."""
    count = max(1, round(params["rows"] * params["share"]))
    # Not from zero on, where a clustered range would start with a file.
    start = params["rows"] // 3
    return f"{params['column']} >= {start} and {params['column']} < {start + count}"


def delete_truckee(context: Any, params: dict[str, Any]) -> int:
    from truckee import DeltaTable

    done = DeltaTable.forPath(context.spark, path_of(context)).delete(_condition(params))
    return int(done.collect()[0][0])


def delete_spark_parquet(context: Any, params: dict[str, Any]) -> int:
    rows = context.spark.read.parquet(*_data_files(context)).where(_condition(params))
    return int(rows.count())


def update_spark_parquet(context: Any, params: dict[str, Any]) -> None:
    rows = context.spark.read.parquet(*_data_files(context)).where(_condition(params))
    rows.selectExpr("id", "h", "x + 1 AS x", "s", "f").write.parquet(f"{path_of(context)}/new")


def _data_files(context: Any) -> list[str]:
    return sorted(str(path) for path in _copies[context.engine].glob("*.parquet"))


def delete_delta_spark(context: Any, params: dict[str, Any]) -> int:
    text = f"DELETE FROM delta.`{path_of(context)}` WHERE {_condition(params)}"
    return int(context.spark.sql(text).collect()[0][0])


def delete_deltalake(context: Any, params: dict[str, Any]) -> int:
    from deltalake import DeltaTable

    return int(DeltaTable(path_of(context)).delete(_condition(params))["num_deleted_rows"])


def update_truckee(context: Any, params: dict[str, Any]) -> int:
    from truckee import DeltaTable

    table = DeltaTable.forPath(context.spark, path_of(context))
    return int(table.update(_condition(params), {"x": "x + 1"}).collect()[0][0])


def update_delta_spark(context: Any, params: dict[str, Any]) -> int:
    text = f"UPDATE delta.`{path_of(context)}` SET x = x + 1 WHERE {_condition(params)}"
    return int(context.spark.sql(text).collect()[0][0])


def update_deltalake(context: Any, params: dict[str, Any]) -> int:
    from deltalake import DeltaTable

    table = DeltaTable(path_of(context))
    done = table.update(updates={"x": "x + 1"}, predicate=_condition(params))
    return int(done["num_updated_rows"])


def write_source(path: Path, count: int, rows: int, columns: Mapping[str, str] = COLUMNS) -> None:
    """Write the source of a merge, of which one half is in the table, scattered, the other not."""
    import numpy as np
    import pyarrow.parquet as pq

    there = np.arange(count // 2) * (rows // (count // 2))
    ids = np.concatenate([there, rows + np.arange(count - count // 2)])
    np.random.default_rng(3).shuffle(ids)
    pq.write_table(columns_of(ids, rows, columns), path)


def merge_truckee(context: Any, params: dict[str, Any]) -> list[int]:
    from truckee import DeltaTable

    source = context.spark.read.parquet(params["sources"][params["size"]]).alias("s")
    merge = DeltaTable.forPath(context.spark, path_of(context)).alias("t")
    done = merge.merge(source, "t.id = s.id").whenMatchedUpdateAll().whenNotMatchedInsertAll()
    return list(done.execute().collect()[0])


def merge_delta_spark(context: Any, params: dict[str, Any]) -> list[int]:
    from delta.tables import DeltaTable

    source = context.spark.read.parquet(params["sources"][params["size"]]).alias("s")
    merge = DeltaTable.forPath(context.spark, path_of(context)).alias("t")
    done = merge.merge(source, "t.id = s.id").whenMatchedUpdateAll().whenNotMatchedInsertAll()
    return list(done.execute().collect()[0])


def merge_deltalake(context: Any, params: dict[str, Any]) -> list[int]:
    import pyarrow.parquet as pq
    from deltalake import DeltaTable

    merge = DeltaTable(path_of(context)).merge(
        pq.read_table(params["sources"][params["size"]]),
        "t.id = s.id",
        source_alias="s",
        target_alias="t",
    )
    done = merge.when_matched_update_all().when_not_matched_insert_all().execute()
    updated, inserted = done["num_target_rows_updated"], done["num_target_rows_inserted"]
    return [updated + inserted, updated, 0, inserted]


DELETE = {
    "truckee": delete_truckee,
    "truckee-rewrite": delete_truckee,
    "spark-parquet": delete_spark_parquet,
    "delta-spark": delete_delta_spark,
    "deltalake": delete_deltalake,
}
UPDATE = {
    "truckee": update_truckee,
    "truckee-rewrite": update_truckee,
    "spark-parquet": update_spark_parquet,
    "delta-spark": update_delta_spark,
    "deltalake": update_deltalake,
}
MERGE = {
    "truckee": merge_truckee,
    "delta-spark": merge_delta_spark,
    "deltalake": merge_deltalake,
}
NOTES = {
    "deltalake": "writes files anew, for it writes no vectors",
    "truckee-rewrite": "truckee on a table without vectors",
    "spark-parquet": "only finds the rows, and writes the new ones of an UPDATE",
}
IMPORTS = {
    "truckee": ("truckee.table",),
    "truckee-rewrite": ("truckee.table",),
    "deltalake": ("deltalake",),
}

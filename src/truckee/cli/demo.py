"""`truckee demo`: the main job end to end, on a table of a few rows."""

from __future__ import annotations

import shutil
import sys
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from truckee.cli.changes import as_texts, in_order, print_changes
from truckee.cli.render import print_table
from truckee.cli.table_layout import Heading

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Folder = Annotated[
    Path, typer.Option("--folder", metavar="PATH", help="Where to put the tables of the demo.")
]

_SCHEMA = "id int, customer string, status string, amount decimal(8,2)"
_FIRST = [(1, "Ada", "new", "20.00"), (2, "Bo", "new", "35.50"), (3, "Cem", "new", "12.00")]
_MORE = [(4, "Dee", "new", "7.25"), (5, "Eva", "new", "90.00")]
_NEWS = [(2, "Bo", "shipped", "35.50"), (6, "Fay", "new", "18.40")]

_CALLS = (
    "truckee.write(orders).save(path)",
    'truckee.write(more).mode("append").save(path)',
    'table.update("id = 1", {"status": "\'paid\'"})',
    'table.delete("id = 3")',
    'table.merge(news, "t.id = s.id").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()',
)
_COMMANDS = (
    "history {root}/orders",
    "changes {root}/orders --from 2 --to 3",
    "files {root}/orders",
    "report {root}/orders -o {root}/report.html",
)

Order = tuple[int, str, str, str]
_PROPERTIES = {"delta.enableChangeDataFeed": "true", "delta.enableDeletionVectors": "true"}

# The last change of an order in a batch gives its current state. A row that was deleted and
# inserted in one version exists.
_LAST_CHANGES = """
    SELECT * FROM (
        SELECT *, row_number() OVER (
            PARTITION BY id ORDER BY _commit_version DESC, _change_type = 'delete'
        ) AS place
        FROM {changes} WHERE _change_type != 'update_preimage'
    ) WHERE place = 1
"""


def demo(folder: Folder = Path("truckee-demo")) -> None:
    """Make a small table, change it, show its feed, and use the feed to update a second table.

    The tables are kept for you to look at.

    Example: truckee demo --folder /tmp/demo
    """
    from truckee.cli.spark import spark_session
    from truckee.table import DeltaTable

    root = _free(folder)
    orders, copy, checkpoint = (str(root.absolute() / n) for n in ("orders", "copy", "checkpoint"))
    with spark_session() as (spark, status):
        status.update("writing orders")
        _make(spark, orders)
        status.update("changing orders")
        _change(spark, orders)
        status.update("reading the feed")
        feed = in_order(DeltaTable.forPath(spark, orders).changes(startingVersion=0))
        changes = as_texts(feed).collect()
        status.update("streaming the feed into a second table")
        _make_copy(spark, copy)
        _stream(spark, orders, copy, checkpoint)
        status.update("comparing the two")
        rows, copied = _rows(spark, orders), _rows(spark, copy)
    print("\nFive commits were made to a table of orders:\n")
    print_table((Heading.number("version"), "by"), enumerate(_CALLS))
    print("\nIts change data feed tells what they did to the rows:\n")
    print_changes(feed.columns, changes)
    print(
        "\nA stream of the feed has kept a second table up to date. The orders, and their copies:\n"
    )
    print_table(
        (Heading.number("id"), "customer", "status", Heading.number("amount"), "copied"),
        _compared(rows, copied),
    )
    assert rows == copied, "the stream lost or invented a row"
    print(f"\nBoth tables are equal: {len(rows)} rows.\n\nTo look further:\n")
    for command in _COMMANDS:
        print(f"    {_program()} {command.format(root=root)}")


def _free(folder: Path) -> Path:
    """Return the folder, or one with a number added, so that nothing existing is touched."""
    names = (folder if n == 1 else folder.with_name(f"{folder.name}-{n}") for n in count(1))
    return next(name for name in names if not name.exists())


def _make(spark: SparkSession, path: str) -> None:
    from truckee.writer import write

    write(_orders(spark, _FIRST)).options(**_PROPERTIES).save(path)
    write(_orders(spark, _MORE)).mode("append").save(path)


def _make_copy(spark: SparkSession, path: str) -> None:
    from truckee.writer import write

    write(_orders(spark, [])).save(path)


def _orders(spark: SparkSession, rows: list[Order]) -> DataFrame:
    exact = [(number, name, status, Decimal(amount)) for number, name, status, amount in rows]
    return spark.createDataFrame(exact, _SCHEMA).coalesce(1)


def _change(spark: SparkSession, path: str) -> None:
    from truckee.table import DeltaTable

    table = DeltaTable.forPath(spark, path)
    table.update("id = 1", {"status": "'paid'"})
    table.delete("id = 3")
    news = _orders(spark, _NEWS)
    matched = table.alias("t").merge(news.alias("s"), "t.id = s.id").whenMatchedUpdateAll()
    matched.whenNotMatchedInsertAll().execute()


def _stream(spark: SparkSession, source: str, target: str, checkpoint: str) -> None:
    """Run a stream over all existing changes, and merge each batch into the target."""
    from truckee.readwriter import readStream
    from truckee.table import DeltaTable

    def apply(batch: DataFrame, _: int) -> None:
        news = batch.sparkSession.sql(_LAST_CHANGES, changes=batch)
        merge = DeltaTable.forPath(spark, target).alias("t").merge(news.alias("s"), "t.id = s.id")
        values = {name: f"s.{name}" for name in ("id", "customer", "status", "amount")}
        merge = merge.whenMatchedDelete("s._change_type = 'delete'").whenMatchedUpdate(set=values)
        merge.whenNotMatchedInsert("s._change_type != 'delete'", values).execute()

    feed = readStream(spark).option("readChangeFeed", True).option("startingVersion", 0)
    query = feed.load(source).writeStream.foreachBatch(apply)
    query = query.option("checkpointLocation", checkpoint).trigger(availableNow=True)
    query.start().awaitTermination()


def _rows(spark: SparkSession, path: str) -> list[Any]:
    from truckee.table import DeltaTable

    return DeltaTable.forPath(spark, path).toDF().orderBy("id").collect()


def _compared(rows: list[Any], copied: list[Any]) -> list[tuple[Any, ...]]:
    return [(*row, "yes" if row in copied else "no") for row in rows]


def _program() -> str:
    """Return how to call this program: by its name, or by its path if it is not on the PATH."""
    if shutil.which("truckee"):
        return "truckee"
    path = Path(sys.argv[0])
    if path.name == "__main__.py":
        return "python -m truckee"
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)

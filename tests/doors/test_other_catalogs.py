"""Delta tables beside another catalog, in plain SQL: a database that Spark reaches by JDBC.

The database is Derby, in memory; its classes come with Spark.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from truckee import DeltaTable
from truckee.doors.enable import enable
from truckee.errors.commands.create import NotATruckeeTableError
from truckee.errors.log import NotADeltaTableError
from truckee.writer import write
from writing import last_version

NAME = "beside_a_shop"
SHOP = {
    "spark.sql.catalog.shop": (
        "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog"
    ),
    "spark.sql.catalog.shop.url": f"jdbc:derby:memory:{uuid4().hex};create=true",
    "spark.sql.catalog.shop.driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver",
}


@pytest.fixture(scope="module")
def shop(spark: SparkSession) -> SparkSession:
    """A session with a catalog `shop`, in which there are two items for sale."""
    session = enable(spark.newSession())
    for key, value in SHOP.items():
        session.conf.set(key, value)
    session.sql("CREATE NAMESPACE shop.sales")
    session.sql("CREATE TABLE shop.sales.items (id BIGINT, n INT)")
    session.sql("INSERT INTO shop.sales.items VALUES (1, 10), (2, 20)")
    return session


@pytest.fixture
def folder(shop: SparkSession, tmp_path: Path) -> Iterator[Path]:
    """Where a Delta table with the rows 2 and 3 lies; the session catalog knows it as NAME."""
    place = tmp_path / "t"
    shop.sql(
        f"CREATE TABLE {NAME} (id BIGINT, n INT) USING delta LOCATION '{place}' "
        "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
    )
    shop.sql(f"INSERT INTO {NAME} VALUES (2, 0), (3, 0)")
    yield place
    shop.sql("USE spark_catalog.default")
    shop.sql(f"DROP TABLE {NAME}")


def rows(session: SparkSession, table: str) -> list[tuple[int, ...]]:
    return sorted(tuple(row) for row in session.sql(f"SELECT * FROM {table}").collect())


def test_rows_go_from_one_catalog_to_the_other(shop: SparkSession, folder: Path) -> None:
    shop.sql(
        f"MERGE INTO {NAME} t USING shop.sales.items s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    assert rows(shop, f"spark_catalog.default.{NAME}") == [(1, 10), (2, 20), (3, 0)]

    shop.sql("CREATE TABLE shop.sales.copies (id BIGINT, n INT)")
    shop.sql(f"INSERT INTO shop.sales.copies SELECT * FROM delta.`{folder}` WHERE n > 0")
    assert rows(shop, "shop.sales.copies") == [(1, 10), (2, 20)]

    shop.sql(f"INSERT OVERWRITE {NAME} SELECT id, n + 1 FROM shop.sales.copies")
    joined = f"(SELECT t.n, c.n FROM {NAME} t JOIN shop.sales.copies c ON t.id = c.id)"
    assert rows(shop, joined) == [(11, 10), (21, 20)]
    shop.sql("DROP TABLE shop.sales.copies")


STATEMENTS = [
    ("INSERT INTO {t} VALUES (9, 9)", [(2, 0), (3, 0), (9, 9)]),
    ("DELETE FROM {t} WHERE id = 2", [(3, 0)]),
    ("UPDATE {t} SET n = 5 WHERE id = 2", [(2, 5), (3, 0)]),
    ("MERGE INTO {t} t USING items s ON t.id = s.id WHEN MATCHED THEN DELETE", [(3, 0)]),
    ("ALTER TABLE {t} ADD COLUMN z INT", [(2, 0, None), (3, 0, None)]),
    ("OPTIMIZE {t}", [(2, 0), (3, 0)]),
    ("RESTORE TABLE {t} TO VERSION AS OF 0", []),
    ("TRUNCATE TABLE {t}", []),
]


@pytest.mark.parametrize("way", ["spark_catalog.default.{name}", "delta.`{folder}`"])
@pytest.mark.parametrize(("statement", "expected"), STATEMENTS, ids=[s for s, _ in STATEMENTS])
def test_a_whole_name_and_a_path_count_while_another_catalog_is_in_use(
    shop: SparkSession, folder: Path, way: str, statement: str, expected: list[tuple[int, ...]]
) -> None:
    table = way.format(name=NAME, folder=folder)
    shop.sql("USE shop.sales")

    shop.sql(statement.format(t=table))

    assert rows(shop, table) == expected
    assert [row.version for row in shop.sql(f"DESCRIBE HISTORY {table}").collect()][-1] == 0
    assert shop.sql(f"DESCRIBE DETAIL {table}").collect()[0].format == "delta"


def test_the_name_of_the_session_catalog_may_be_written_in_capitals(
    shop: SparkSession, folder: Path
) -> None:
    shop.sql(f"DELETE FROM SPARK_CATALOG.default.{NAME} WHERE id = 2")
    shop.sql(f"OPTIMIZE Spark_Catalog.default.{NAME}")

    assert rows(shop, NAME) == [(3, 0)]
    assert DeltaTable.forName(shop, f"SPARK_CATALOG.default.{NAME}").toDF().count() == 1


@pytest.mark.parametrize("name", [NAME, f"default.{NAME}"])
@pytest.mark.parametrize(
    "statement",
    ["VACUUM {t}", "OPTIMIZE {t}", "RESTORE {t} TO VERSION AS OF 0", "DELETE FROM {t}",
     "UPDATE {t} SET n = 1", "INSERT INTO {t} VALUES (1, 1)", "TRUNCATE TABLE {t}",
     "ALTER TABLE {t} ADD COLUMN z INT", "DROP TABLE {t}"],
)  # fmt: skip
def test_a_short_name_is_never_that_of_a_table_in_a_catalog_that_is_not_in_use(
    shop: SparkSession, folder: Path, statement: str, name: str
) -> None:
    before = last_version(folder)
    shop.sql("USE shop.sales")

    with pytest.raises(Exception, match=NAME):
        shop.sql(statement.format(t=name))

    assert last_version(folder) == before
    assert rows(shop, f"spark_catalog.default.{NAME}") == [(2, 0), (3, 0)]


def test_a_table_of_another_catalog_is_said_to_be_no_delta_table(
    shop: SparkSession, folder: Path
) -> None:
    sentence = (
        "{} is not a Delta table, but a shop catalog table\n"
        "hint: name a table that was created USING delta"
    )

    with pytest.raises(NotADeltaTableError) as missing:
        DeltaTable.forName(shop, "shop.sales.items")
    assert missing.value.found == "it is a shop catalog table"
    with pytest.raises(NotATruckeeTableError) as caught:
        write(shop.table(NAME)).mode("append").saveAsTable("shop.sales.items")
    assert caught.value.sentence() == sentence.format("shop.sales.items")
    shop.sql("USE shop.sales")
    with pytest.raises(NotATruckeeTableError) as caught:
        shop.sql("DESCRIBE HISTORY items")
    assert caught.value.sentence() == sentence.format("`items`")
    assert rows(shop, "items") == [(1, 10), (2, 20)]

"""Tables by a relative path in SQL: below the working directory, as `forPath` has them."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from truckee.doors.enable import enable


@pytest.fixture
def enabled(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SparkSession:
    monkeypatch.chdir(tmp_path)
    return enable(spark)


def test_statements_take_relative_paths(enabled: SparkSession, tmp_path: Path) -> None:
    for statement in (
        "CREATE TABLE delta.`lake/t` (id INT, v STRING) USING delta",
        "INSERT INTO delta.`lake/t` VALUES (1, 'a'), (2, 'b'), (3, 'c')",
        "DELETE FROM delta.`./lake/t` WHERE id = 1",
        "UPDATE delta.`lake/t` SET v = 'z' WHERE id = 2",
        "MERGE INTO delta.`lake/t` t USING (SELECT 9 AS id) s ON t.id = s.id "
        "WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)",
        "ALTER TABLE delta.`lake/t` SET TBLPROPERTIES ('k' = 'v')",
        "OPTIMIZE delta.`lake/t`",
        "CREATE TABLE delta.`lake/c` SHALLOW CLONE delta.`lake/t`",
    ):
        enabled.sql(statement)

    expected = [(2, "z"), (3, "c"), (9, None)]
    for table in ("lake/t", "./lake/t", str(tmp_path / "lake/t"), "lake/c"):
        rows = enabled.sql(f"SELECT * FROM delta.`{table}` ORDER BY id").collect()
        assert [tuple(row) for row in rows] == expected
    assert enabled.sql("SELECT * FROM delta.`lake/t` VERSION AS OF 1").count() == 3
    (detail,) = enabled.sql("DESCRIBE DETAIL delta.`lake/t`").collect()
    assert detail.location.removeprefix("file:") == str(tmp_path / "lake/t")


def test_a_relative_path_without_a_table_says_where_it_looked(
    enabled: SparkSession, tmp_path: Path
) -> None:
    with pytest.raises(AnalysisException, match=f"Path does not exist: {tmp_path}/lake/none"):
        enabled.sql("SELECT * FROM delta.`lake/none`")


def test_a_path_without_a_slash_is_refused_with_the_path_that_was_meant(
    enabled: SparkSession,
) -> None:
    with pytest.raises(AnalysisException) as raised:
        enabled.sql("SELECT * FROM delta.orders")

    assert raised.value.getCondition() == "UNSUPPORTED_DATASOURCE_FOR_DIRECT_QUERY"
    assert "hint: write delta.`./orders` for a folder in the working directory" in str(raised.value)

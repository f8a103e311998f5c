"""Rules of a table that commands keep: generated columns, constraints, identities, row ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession

from dml_tables import FEED, VECTORS, Table, create_table, numbers
from truckee.commands.ddl.create import Creation
from truckee.commands.ddl.table_builder import DeltaTableBuilder, IdentityGenerator
from truckee.commands.dml.delete import delete
from truckee.commands.dml.settings import check_transaction, dml_settings
from truckee.commands.dml.update import update
from truckee.commands.merge.builder import DeltaMergeBuilder, merge_builder
from truckee.errors.commands.dml import (
    AppendOnlyTargetError,
    IdentityUpdateError,
    RowCountMismatchError,
    RowIdsNotKeptError,
)
from truckee.errors.commands.write import IdempotentWriteOptionsError, IdentityValueGivenError
from truckee.errors.commands.write_rows import (
    CheckConstraintViolationError,
    GeneratedColumnViolationError,
    NotNullViolationError,
)
from truckee.log.commit.transaction import Transaction
from truckee.protocol.actions import AddFile
from truckee.protocol.paths import commit_path
from truckee.writer import write
from values import read_deletion_vector

BOTH_MODES = pytest.mark.parametrize("properties", [FEED, FEED | VECTORS], ids=["rewrite", "mark"])


def builder(spark: SparkSession, path: Path, properties: dict[str, str]) -> DeltaTableBuilder[Any]:
    made: DeltaTableBuilder[Any] = DeltaTableBuilder(
        spark, Creation.CREATE, lambda _, storage: storage
    ).location(str(path))
    for key, value in properties.items():
        made = made.property(key, value)
    return made


def merge(table: Table, rows: list[tuple[Any, ...]], schema: str) -> DeltaMergeBuilder:
    source = table.spark.createDataFrame(rows, schema).alias("s")
    return merge_builder(table.spark, table.storage, source, "t.id = s.id", alias="t")


@pytest.fixture(params=["rewrite", "mark"])
def ruled(request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path) -> Table:
    """A table with a generated column, a NOT NULL column and a CHECK constraint."""
    properties = FEED | (VECTORS if request.param == "mark" else {})
    build = builder(spark, tmp_path / "t", properties | {"delta.constraints.small": "v < 100"})
    build = build.addColumn("id", "bigint", nullable=False).addColumn("v", "int")
    build.addColumn("twice", "bigint", generatedAlwaysAs="v * 2").execute()
    rows = spark.createDataFrame([(1, 10), (2, 20), (3, 30)], "id long, v int")
    return Table(spark, tmp_path / "t").append(rows)


def test_generated_columns_follow_the_columns_they_depend_on(
    spark: SparkSession, ruled: Table
) -> None:
    update(spark, ruled.storage, "id = 1", {"v": "11"})
    merge(ruled, [(2, 22), (4, 44)], "id long, v int").whenMatchedUpdate(
        set={"v": "s.v"}
    ).whenNotMatchedInsert(values={"id": "s.id", "v": "s.v"}).execute()

    assert ruled.rows() == [(1, 11, 22), (2, 22, 44), (3, 30, 60), (4, 44, 88)]
    assert [row[:4] for row in ruled.changes(3)] == [
        (2, 20, 40, "update_preimage"),
        (2, 22, 44, "update_postimage"),
        (4, 44, 88, "insert"),
    ]


def test_a_value_given_for_a_generated_column_is_checked(spark: SparkSession, ruled: Table) -> None:
    update(spark, ruled.storage, "id = 1", {"v": "11", "twice": "22"})

    with pytest.raises(GeneratedColumnViolationError):
        update(spark, ruled.storage, "id = 1", {"v": "12", "twice": "22"})
    with pytest.raises(GeneratedColumnViolationError):
        merge(ruled, [(9, 1, 3)], "id long, v int, twice long").whenNotMatchedInsertAll().execute()

    assert ruled.version == 2


def test_new_rows_keep_the_constraints(spark: SparkSession, ruled: Table) -> None:
    before = ruled.files_on_disk()

    with pytest.raises(CheckConstraintViolationError) as error:
        update(spark, ruled.storage, "id = 2", {"v": "100"})
    with pytest.raises(NotNullViolationError):
        update(spark, ruled.storage, "id = 2", {"id": "null"})
    with pytest.raises(CheckConstraintViolationError):
        merge(ruled, [(3, 300)], "id long, v int").whenMatchedUpdate(set={"v": "s.v"}).execute()
    with pytest.raises(NotNullViolationError):
        merge(ruled, [(9, 1)], "id long, v int").whenNotMatchedInsert(values={"v": "s.v"}).execute()

    assert error.value.name == "small"
    assert ruled.version == 1
    assert ruled.files_on_disk() == before


@BOTH_MODES
def test_inserted_rows_are_numbered_and_get_defaults(
    spark: SparkSession, tmp_path: Path, properties: dict[str, str]
) -> None:
    build = builder(
        spark, tmp_path / "t", properties | {"delta.feature.allowColumnDefaults": "supported"}
    )
    build = build.addColumn("id", "bigint").addColumn(
        "n", "bigint", generatedAlwaysAs=IdentityGenerator(start=100, step=10)
    )
    build.addColumn("v", "int").execute()
    table = Table(spark, tmp_path / "t")
    _set_default(table, "v", "7")
    table.append(spark.createDataFrame([(1, 1), (2, 2)], "id long, v int"))

    merge(table, [(2, 5), (3, 5), (4, 5)], "id long, v int").whenMatchedUpdate(
        set={"v": "s.v"}
    ).whenNotMatchedInsert(values={"id": "s.id"}).execute()
    merge(table, [(5, 5)], "id long, v int").whenNotMatchedInsert(
        values={"id": "s.id", "v": "s.v"}
    ).execute()

    rows = {row[0]: row[1:] for row in table.rows()}
    given = [rows[number][0] for number in (1, 2, 3, 4, 5)]
    assert len(set(given)) == 5
    assert all(number % 10 == 0 for number in given)
    assert max(given) == given[4]
    assert [rows[number][1] for number in (1, 2, 3, 4, 5)] == [1, 5, 7, 7, 5]
    shown = {row[0]: row[1] for row in table.changes(table.version - 1) if row[3] == "insert"}
    assert shown == {3: given[2], 4: given[3], 5: given[4]}


def _set_default(table: Table, column: str, sql: str) -> None:
    before = table.snapshot.metadata
    text = before.schema_string.replace(
        f'"name":"{column}","type":"integer","nullable":true,"metadata":{{',
        f'"name":"{column}","type":"integer","nullable":true,"metadata":{{"CURRENT_DEFAULT":"{sql}"',
    )
    transaction = Transaction(table.storage, table.snapshot)
    transaction.set_metadata(replace(before, schema_string=text))
    transaction.commit("CHANGE COLUMN")


def test_identity_columns_are_not_given_values(spark: SparkSession, tmp_path: Path) -> None:
    build = builder(spark, tmp_path / "t", {}).addColumn("id", "bigint")
    build.addColumn("n", "bigint", generatedAlwaysAs=IdentityGenerator()).execute()
    table = Table(spark, tmp_path / "t")

    with pytest.raises(IdentityUpdateError) as error:
        update(spark, table.storage, None, {"n": "1"})
    with pytest.raises(IdentityUpdateError):
        merge(table, [(1, 1)], "id long, n long").whenMatchedUpdateAll().execute()
    with pytest.raises(IdentityValueGivenError):
        merge(table, [(1, 1)], "id long, n long").whenNotMatchedInsertAll().execute()

    assert error.value.sentence() == (
        "UPDATE assigns to n, which is GENERATED AS IDENTITY\nhint: leave n out"
    )


def row_ids(table: Table) -> dict[int, tuple[int, int]]:
    """The id and the last version of each row, by the column id, read from the files."""
    properties = table.snapshot.properties
    found = {}
    for add in table.snapshot.files():
        data = pq.read_table(table.path / add.path, partitioning=None).to_pylist()
        gone = _gone(table, add)
        for position, row in enumerate(data):
            if position in gone:
                continue
            row_id = row.get(properties.materialized_row_id_column_name)
            version = row.get(properties.materialized_row_commit_version_column_name)
            base, default = add.base_row_id, add.default_row_commit_version
            assert base is not None
            assert default is not None
            found[row["id"]] = (
                base + position if row_id is None else row_id,
                default if version is None else version,
            )
    return found


def _gone(table: Table, add: AddFile) -> set[int]:
    if add.deletion_vector is None:
        return set()
    return set(read_deletion_vector(table.storage, add.deletion_vector))


@pytest.mark.parametrize("properties", [{}, VECTORS, VECTORS | FEED])
def test_rows_keep_their_ids_wherever_they_are_moved(
    spark: SparkSession, tmp_path: Path, properties: dict[str, str]
) -> None:
    tracked = properties | {"delta.enableRowTracking": "true"}
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 6), properties=tracked)
    before = row_ids(table)

    update(spark, table.storage, "id = 1", {"v": "-1"})
    delete(spark, table.storage, "id = 2")
    source = [(1, -3, 0), (3, -3, 0), (9, 9, 9)]
    merge(table, source, "id long, v int, part int").whenMatchedUpdateAll(
        "t.id = 3"
    ).whenNotMatchedInsertAll().execute()
    spark.conf.set("spark.databricks.delta.delete.deletionVectors.persistent", "false")
    delete(spark, table.storage, "id = 0")
    spark.conf.unset("spark.databricks.delta.delete.deletionVectors.persistent")
    update(spark, table.storage, None, {"part": "8"})

    after = row_ids(table)
    assert sorted(after) == [1, 3, 4, 5, 9]
    assert {number: after[number][0] for number in (1, 3, 4, 5)} == {
        number: before[number][0] for number in (1, 3, 4, 5)
    }
    assert after[9][0] > max(row_id for row_id, _ in before.values())
    assert {version for _, version in after.values()} == {5}
    assert not any("_row-" in (add.stats or "") for add in table.snapshot.files())


def test_the_version_of_a_row_is_that_of_its_last_change(
    spark: SparkSession, tmp_path: Path
) -> None:
    tracked = {"delta.enableRowTracking": "true"}
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 4), properties=tracked)

    update(spark, table.storage, "id = 1", {"v": "-1"})
    delete(spark, table.storage, "id = 2")

    assert {number: version for number, (_, version) in row_ids(table).items()} == {
        0: 0,
        1: 1,
        3: 0,
    }


def test_rows_whose_ids_cannot_be_kept_are_not_moved(spark: SparkSession, tmp_path: Path) -> None:
    tracked = VECTORS | {"delta.enableRowTracking": "true"}
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 4), properties=tracked)
    before = table.snapshot.metadata
    kept = {k: v for k, v in before.configuration.items() if "materialized" not in k}
    transaction = Transaction(table.storage, table.snapshot)
    transaction.set_metadata(replace(before, configuration=kept))
    transaction.commit("SET TBLPROPERTIES")

    delete(spark, table.storage, "id = 1")
    with pytest.raises(RowIdsNotKeptError) as error:
        update(spark, table.storage, "id = 2", {"v": "0"})

    assert error.value.sentence() == (
        f"UPDATE rewrites rows, but row tracking is on for the table {table.path} and it has no "
        "columns to store their ids in\n"
        "hint: switch row tracking off and on again, which gives the table such columns"
    )
    assert table.version == 2


def test_append_only_tables_take_inserts_alone(spark: SparkSession, tmp_path: Path) -> None:
    table = create_table(
        spark, tmp_path / "t", numbers(spark, 0, 4), properties={"delta.appendOnly": "true"}
    )
    schema = "id long, v int, part int"

    with pytest.raises(AppendOnlyTargetError) as error:
        delete(spark, table.storage, "id = 100")
    with pytest.raises(AppendOnlyTargetError):
        update(spark, table.storage, "id = 100", {"v": "0"})
    with pytest.raises(AppendOnlyTargetError):
        merge(table, [(1, 1, 1)], schema).whenMatchedDelete().execute()
    merge(table, [(1, 1, 1), (7, 7, 7)], schema).whenNotMatchedInsertAll().execute()

    assert error.value.sentence() == (
        f"This table is configured to only allow appends, not DELETE: {table.path}\n"
        "hint: set the table property 'delta.appendOnly' to 'false' to allow it"
    )
    assert len(table.rows()) == 5


def test_a_command_of_an_application_is_applied_once(spark: SparkSession, tmp_path: Path) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 4))
    spark.conf.set("spark.databricks.delta.write.txnAppId", "app")
    spark.conf.set("spark.databricks.delta.write.txnVersion", "3")
    spark.conf.set("spark.databricks.delta.commitInfo.userMetadata", "why")
    try:
        update(spark, table.storage, "id = 1", {"v": "v + 1"})
        again = update(spark, table.storage, "id = 1", {"v": "v + 1"})
    finally:
        spark.conf.unset("spark.databricks.delta.write.txnAppId")
        spark.conf.unset("spark.databricks.delta.write.txnVersion")
        spark.conf.unset("spark.databricks.delta.commitInfo.userMetadata")

    assert [tuple(row) for row in again.collect()] == [(0,)]
    assert table.rows()[1] == (1, 11, 1)
    assert table.info.user_metadata == "why"


@pytest.mark.parametrize(("asked", "left"), [("true", None), ("false", "3")])
def test_a_version_resets_itself_after_a_command_that_ran_or_was_skipped(
    spark: SparkSession, tmp_path: Path, asked: str, left: str | None
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 4))
    prefix = "spark.databricks.delta.write."
    spark.conf.set(f"{prefix}txnAppId", "app")
    spark.conf.set(f"{prefix}txnVersion.autoReset.enabled", asked)
    found = []
    try:
        for _ in ("runs", "is skipped"):
            spark.conf.set(f"{prefix}txnVersion", "3")
            update(spark, table.storage, "id = 1", {"v": "v + 1"})
            found.append(spark.conf.get(f"{prefix}txnVersion", None))
        spark.conf.set(f"{prefix}txnVersion", "3")
        write(numbers(spark, 7, 8)).mode("append").save(table.path)
        found.append(spark.conf.get(f"{prefix}txnVersion", None))
    finally:
        for name in ("txnAppId", "txnVersion", "txnVersion.autoReset.enabled"):
            spark.conf.unset(f"{prefix}{name}")

    assert found == [left] * 3
    assert table.rows()[1] == (1, 11, 1)
    assert len(table.rows()) == 4


def test_a_command_with_half_of_an_identifier_changes_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 4))
    spark.conf.set("spark.databricks.delta.write.txnAppId", "app")
    try:
        with pytest.raises(IdempotentWriteOptionsError):
            update(spark, table.storage, "id = 1", {"v": "v + 1"})
    finally:
        spark.conf.unset("spark.databricks.delta.write.txnAppId")

    assert table.rows()[1] == (1, 10, 1)


@pytest.mark.parametrize(("one", "other"), [("txnAppId", "txnVersion"), ("txnVersion", "txnAppId")])
def test_half_of_what_identifies_a_command_is_refused(one: str, other: str) -> None:
    prefix = "spark.databricks.delta.write."

    with pytest.raises(IdempotentWriteOptionsError) as error:
        check_transaction(dml_settings("merge", {f"{prefix}{one}": "3"}))

    assert error.value.sentence() == (
        f"option {prefix}{one} is set without {prefix}{other}\n"
        "hint: set both; together they identify a write, so that a repeated one is skipped"
    )


def test_a_file_without_statistics_is_never_taken_for_fully_deleted(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 3), properties=VECTORS)
    [file] = table.snapshot.files()
    transaction = Transaction(table.storage, table.snapshot)
    transaction.stage(replace(file, stats=None, data_change=False))
    transaction.commit("COMPUTE STATS")

    delete(spark, table.storage, "id >= 0")

    [after] = table.snapshot.files()
    assert after.deletion_vector is not None
    assert after.deletion_vector.cardinality == 3
    assert after.stats == '{"numRecords":3,"tightBounds":false}'
    assert table.rows() == []


@pytest.mark.parametrize("command", ["DELETE", "UPDATE", "MERGE"])
def test_rows_that_were_lost_on_the_way_are_noticed(
    spark: SparkSession, tmp_path: Path, command: str
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 4))
    commit = tmp_path / "t" / commit_path(0)
    told = commit.read_text().replace('\\"numRecords\\":4', '\\"numRecords\\":5')
    commit.write_text(told)
    files = table.files_on_disk()
    run = {
        "DELETE": lambda: delete(spark, table.storage, "id = 1"),
        "UPDATE": lambda: update(spark, table.storage, "id = 1", {"v": "7"}),
        "MERGE": merge(table, [(1,)], "id long").whenMatchedUpdate(set={"v": "7"}).execute,
    }[command]

    with pytest.raises(RowCountMismatchError) as raised:
        run()

    error = raised.value
    expected = 4 if command == "DELETE" else 5
    assert (error.operation, error.expected, error.written) == (command, expected, expected - 1)
    assert (table.version, table.files_on_disk()) == (0, files)

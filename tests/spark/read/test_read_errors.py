"""What is said of files that cannot be read: which file, of which version, and why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession

import truckee
from data_tables import DataTable, marked, removed, vector, with_vector
from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.deletion_vectors.store import write_deletion_vectors
from truckee.errors import DataFileNotFoundError, DeltaError
from truckee.protocol.actions import AddFile
from truckee.protocol.deletion_vector import DeletionVectorDescriptor, on_disk_with_relative_path

_RESTORE = (
    "\n"
    "hint: without its vector, it is not known which rows of this data file are deleted; "
    "restore the vector's file from a backup, or RESTORE the table to an earlier version"
)
_DAMAGED = (
    "\nhint: the file is damaged, or not what the log says it is; restore it from a backup, "
    "or RESTORE the table to a version before this file"
)


@pytest.fixture
def table(tmp_path: Path) -> DataTable:
    return DataTable(tmp_path / "t", "id long")


@pytest.fixture
def file(table: DataTable) -> AddFile:
    """The one data file of version 1, with ids 0..9."""
    file = table.file("part 1%.parquet", {"id": list(range(10))})
    table.commit(file)
    return file


Said = Callable[[], str]


@pytest.fixture
def said(spark: SparkSession, table: DataTable) -> Said:
    """What is raised when the table is read: the same however it is read."""

    def message() -> str:
        found = []
        frame = truckee.read(spark).load(str(table))
        for read in (
            frame.collect,
            frame.groupBy("id").count().collect,
            lambda: next(frame.where("id >= 0").toLocalIterator()),
        ):
            with pytest.raises(DeltaError) as caught:
                read()
            found.append(caught.value.sentence())
        assert len(set(found)) == 1
        return found[0]

    return message


def test_a_missing_data_file(
    spark: SparkSession, table: DataTable, file: AddFile, said: Said
) -> None:
    (table.path / "part 1%.parquet").unlink()

    expected = (
        "the data file part 1%.parquet, which version 1 of the table names, does not exist\n"
        "hint: it was deleted by hand or by a VACUUM; read a later version, or restore the file"
    )
    assert said() == expected
    for setting in ("ignoreMissingFiles", "ignoreCorruptFiles"):
        spark.conf.set(f"spark.sql.files.{setting}", "true")
        assert said() == expected
        spark.conf.unset(f"spark.sql.files.{setting}")


def test_a_missing_data_file_of_unknown_size(table: DataTable, file: AddFile, said: Said) -> None:
    table.commit(removed(file), replace(file, path="gone.parquet", size=0))

    assert said().startswith(
        "the data file gone.parquet, which version 2 of the table names, does not exist\n"
    )


def test_a_truncated_data_file(table: DataTable, file: AddFile, said: Said) -> None:
    path = table.path / "part 1%.parquet"
    path.write_bytes(path.read_bytes()[:-20])

    assert said() == (
        "the data file part 1%.parquet, which version 1 of the table names, cannot be read: "
        f"file:{path} is not a Parquet file. Expected magic number at tail, but found "
        f"{list(_signed(path.read_bytes()[-4:]))}{_DAMAGED}"
    )


def _signed(data: bytes) -> list[int]:
    return [byte - 256 if byte > 127 else byte for byte in data]


@pytest.mark.parametrize("content", [b"", b"short"])
def test_a_data_file_of_a_few_bytes(
    table: DataTable, file: AddFile, said: Said, content: bytes
) -> None:
    path = table.path / "part 1%.parquet"
    path.write_bytes(content)
    if not content:
        table.commit(removed(file), replace(file, size=0, stats=None))

    assert said() == (
        f"the data file part 1%.parquet, which version {table.version} of the table names, "
        f"cannot be read: file:{path} is not a Parquet file (length is too low: "
        f"{len(content)}){_DAMAGED}"
    )


# Invariant 21.
@pytest.mark.parametrize("said_bytes", [1, 300, 10**9, 2**40, 2**63 - 1])
def test_a_size_in_the_log_that_is_wrong_costs_no_rows(
    spark: SparkSession, table: DataTable, said_bytes: int
) -> None:
    path = table.path / "groups.parquet"
    pq.write_table(pa.table({"id": range(1000)}), path, row_group_size=100)
    add = replace(table.file("small.parquet", {"id": [-1]}), path=path.name, stats=None)
    other = replace(table.file("other.parquet", {"id": [-1]}), size=said_bytes)
    table.commit(replace(add, size=said_bytes), other)

    found = truckee.read(spark).load(str(table))

    assert found.count() == 1001
    assert found.rdd.getNumPartitions() <= 4


def test_a_missing_file_whose_size_in_the_log_is_absurd_is_reported_at_once(
    table: DataTable, said: Said
) -> None:
    table.commit(replace(table.file("gone.parquet", {"id": [1]}), size=2**63 - 1))
    (table.path / "gone.parquet").unlink()

    assert said().startswith("the data file gone.parquet, which version 1 of the table names, ")


def test_a_data_file_of_another_type(table: DataTable, said: Said) -> None:
    table.commit(table.file("words.parquet", {"id": ["a", "b"]}, stats=False))

    assert said() == (
        "the data file words.parquet, which version 1 of the table names, cannot be read: "
        "Data type mismatches when reading Parquet column [id]. Expected Spark type "
        f"bigint, actual Parquet type BINARY{_DAMAGED}"
    )


def test_a_partition_value_of_another_type(spark: SparkSession, tmp_path: Path) -> None:
    table = DataTable(tmp_path / "p", "id long", "p integer", partition_by=("p",))
    table.commit(table.file("a.parquet", {"id": [1]}, partition={"p": "one"}))

    for condition in ("true", "p = 1", "p + 1 = 2"):
        with pytest.raises(DeltaError) as caught:
            truckee.read(spark).load(str(table)).where(condition).collect()
        assert caught.value.sentence() == (
            "the data file a.parquet, which version 1 of the table names, cannot be read: "
            f"its partition value 'one' for p is not of type int{_DAMAGED}"
        )


class TestVectors:
    WHERE = "the deletion vector of data file 'part 1%.parquet' at version 2"

    def on_disk(self, table: DataTable, file: AddFile) -> tuple[DeletionVectorDescriptor, Path]:
        (marks,) = write_deletion_vectors(table.storage, [RowBitmap([1, 2])])
        table.commit(*marked(file, marks))
        return marks, table.path / marks.file_path

    def test_a_vector_whose_file_is_gone(self, table: DataTable, file: AddFile, said: Said) -> None:
        marks = on_disk_with_relative_path(UUID(int=7), size_in_bytes=34, cardinality=1, offset=1)
        table.commit(*marked(file, marks))

        assert said() == (
            f"{self.WHERE} is gone: there is no file "
            f"'deletion_vector_00000000-0000-0000-0000-000000000007.bin'{_RESTORE}"
        )

    def test_a_vector_with_a_flipped_byte(
        self, table: DataTable, file: AddFile, said: Said
    ) -> None:
        _, path = self.on_disk(table, file)
        data = bytearray(path.read_bytes())
        data[-6] ^= 1
        path.write_bytes(data)

        message = said()
        assert message.startswith(f"{self.WHERE} in '{path.name}' has the CRC-32 ")
        assert message.endswith(f" was written with it{_RESTORE}")

    def test_a_truncated_vector(self, table: DataTable, file: AddFile, said: Said) -> None:
        marks, path = self.on_disk(table, file)
        path.write_bytes(path.read_bytes()[:20])

        assert said() == (
            f"{self.WHERE} in '{path.name}' is corrupt: "
            f"the file ends after 19 of its {marks.size_in_bytes + 8} bytes{_RESTORE}"
        )

    def test_a_size_that_disagrees(self, table: DataTable, file: AddFile, said: Said) -> None:
        (marks,) = write_deletion_vectors(table.storage, [RowBitmap([1, 2])])
        table.commit(*marked(file, replace(marks, size_in_bytes=marks.size_in_bytes - 2)))

        assert said() == (
            f"{self.WHERE} in '{marks.file_path}' is {marks.size_in_bytes} bytes long, "
            f"but its descriptor says {marks.size_in_bytes - 2}{_RESTORE}"
        )

    def test_a_cardinality_that_disagrees(
        self, table: DataTable, file: AddFile, said: Said
    ) -> None:
        table.commit(*marked(file, replace(vector(1, 2), cardinality=3)))

        assert said() == (
            f"{self.WHERE} in the log marks 2 rows, but its descriptor says 3{_RESTORE}"
        )

    def test_a_vector_beyond_the_rows_of_the_file(
        self, table: DataTable, file: AddFile, said: Said
    ) -> None:
        table.commit(*marked(file, vector(1, 10)))

        assert said() == (
            f"{self.WHERE} marks row 10, but the file has 10 rows, counted from 0\n"
            "hint: the vector belongs to another file, or the file was replaced; restore the "
            "file that the vector was written for"
        )

    def test_a_vector_beyond_the_rows_of_a_file_without_statistics(
        self, table: DataTable, file: AddFile, said: Said
    ) -> None:
        table.commit(*marked(replace(file, stats=None), vector(1, 10)))

        assert said().startswith(f"{self.WHERE} marks row 10, but the file has 10 rows, ")

    def test_an_unknown_storage_type(self, table: DataTable, file: AddFile, said: Said) -> None:
        table.commit(*marked(file, replace(vector(1), storage_type="z")))

        assert said() == (
            f"{self.WHERE} has the unknown storage type 'z'; expected 'u', 'i', 'p' or 'r'\n"
            "hint: the table was written by a newer engine; upgrade truckee"
        )

    def test_the_feed_says_the_same(
        self, spark: SparkSession, table: DataTable, file: AddFile
    ) -> None:
        table.commit(*marked(file, replace(vector(1, 2), cardinality=3)))

        with pytest.raises(DeltaError) as caught:
            truckee.table_changes(spark, str(table), 2).collect()

        assert caught.value.sentence() == (
            f"{self.WHERE} in the log marks 2 rows, but its descriptor says 3{_RESTORE}"
        )

    def test_layers_of_the_feed_say_the_same(
        self, spark: SparkSession, table: DataTable, file: AddFile
    ) -> None:
        for last in range(1, 6):
            marks = vector(*range(last))
            before = with_vector(file, vector(*range(last - 1)) if last > 1 else None)
            broken = replace(marks, cardinality=9) if last == 5 else marks
            table.commit(*marked(before, broken))

        with pytest.raises(DeltaError) as caught:
            truckee.table_changes(spark, str(table), 0).collect()

        assert caught.value.sentence() == (
            "the deletion vector of data file 'part 1%.parquet' at version 6 in the log marks "
            f"5 rows, but its descriptor says 9{_RESTORE}"
        )


def test_the_version_is_that_of_the_frame_that_was_read(
    spark: SparkSession, table: DataTable, file: AddFile
) -> None:
    table.commit(table.file("b.parquet", {"id": [77]}))
    old = truckee.read(spark).option("versionAsOf", 1).load(str(table))
    new = truckee.read(spark).load(str(table))
    (table.path / "part 1%.parquet").unlink()

    for version, frame in ((2, new), (1, old), (2, new.where("id > 0")), (1, old.where("id > 0"))):
        with pytest.raises(DataFileNotFoundError) as caught:
            frame.collect()
        assert caught.value.version == version


def test_errors_of_others_are_left_alone(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"no parquet at all")

    with pytest.raises(Exception, match=r"a\.parquet") as caught:
        spark.read.schema("id long").parquet(str(tmp_path)).collect()

    assert not isinstance(caught.value, DeltaError)

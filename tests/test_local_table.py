"""`truckee.open`: a table and its feed without a session and without a JVM."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import truckee
from builders import History, history
from s3_server import s3_server
from staging import metadata
from truckee.care.health.doctor import diagnosis
from truckee.errors import (
    ColumnNotFoundError,
    DataFileNotFoundError,
    NotADeltaTableError,
    StartAfterLatestError,
)
from truckee.errors.changes import ChangeDataFileNotFoundError
from truckee.storage import open_storage
from truckee.storage.local import LocalStorage

FEED_ON = {"delta.enableChangeDataFeed": "true"}


def written(path: Path, ids: list[int], *, group: int = 100) -> int:
    """Write a file with these ids and twice as many each, and return its size."""
    path.parent.mkdir(parents=True, exist_ok=True)
    numbers = pa.array(ids, pa.int64())
    table = pa.table({"id": numbers, "twice": pc.multiply(numbers, 2)})
    pq.write_table(table, path, row_group_size=group)
    return path.stat().st_size


@pytest.fixture
def table(tmp_path: Path) -> History:
    """Two files of three rows; then two rows of the first are deleted, one after the other."""
    root = tmp_path / "t"
    made = history(LocalStorage(str(root)))
    made.stage(metadata("id long", "twice long", properties=FEED_ON))
    for name, ids in (("a", [1, 2, 3]), ("b", [4, 5, 6])):
        stats = (
            f'{{"numRecords":3,"minValues":{{"id":{ids[0]}}},'
            f'"maxValues":{{"id":{ids[-1]}}},"nullCount":{{"id":0}}}}'
        )
        made.add(name, stats=stats, size=written(root / name, ids))
    made.then().delete("a", rows=[1]).then().delete("a", rows=[1, 2]).then()
    return made


def rows(found: pa.Table) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in found.to_pylist()]


def test_a_table_is_read_without_spark_or_java() -> None:
    code = (
        "import sys, truckee; t = truckee.open; import truckee.arrow.where; "
        "print(*sorted({n.split('.')[0] for n in sys.modules} & {'pyspark', 'py4j', 'pandas'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == ""


def test_rows_and_changes_are_shown_without_loading_pandas(table: History) -> None:
    code = (
        "import sys, truckee; from truckee.cli.main import main; path = sys.argv[1]; "
        "truckee.open(path).to_arrow(); main(['changes', path, '--from', '0']); "
        "main(['changes', path, '--from', '0', '--json']); main(['head', path]); "
        "assert 'pandas' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, table.storage.root], capture_output=True, text=True
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_rows_are_those_of_the_version(table: History) -> None:
    found = truckee.open(table.storage.root)

    assert found.version == 2
    assert sorted(rows(found.to_arrow())) == [(1, 2), (4, 8), (5, 10), (6, 12)]
    assert sorted(rows(found.to_arrow(version=1))) == [(1, 2), (3, 6), (4, 8), (5, 10), (6, 12)]
    assert rows(found.to_arrow(version=0)) == [(n, 2 * n) for n in range(1, 7)]


def test_columns_come_in_the_order_asked_for_and_in_any_case(table: History) -> None:
    found = truckee.open(table.storage.root).to_arrow(columns=["TWICE", "id"], version=0)

    assert found.column_names == ["twice", "id"]
    assert rows(found)[0] == (2, 1)


def test_a_column_that_is_not_there(table: History) -> None:
    with pytest.raises(ColumnNotFoundError) as raised:
        truckee.open(table.storage.root).to_arrow(columns=["nonsense"])

    assert raised.value.column == "nonsense"


def test_changes_of_one_file_by_many_vectors(table: History) -> None:
    feed = truckee.open(table.storage.root).changes(startingVersion=1)

    found = sorted(rows(feed.to_arrow().select(["id", "_change_type", "_commit_version"])))

    assert found == [(2, "delete", 1), (3, "delete", 2)]


def test_a_table_follows_what_others_commit(table: History) -> None:
    opened = truckee.open(table.storage.root)
    before = opened.version

    size = written(Path(table.storage.root) / "c", [7])
    table.add("c", stats='{"numRecords":1}', size=size).then()

    assert (before, opened.version) == (2, 3)
    assert rows(opened.to_arrow(where="id > 6")) == [(7, 14)]


def test_history_detail_and_files_tell_of_the_log(table: History) -> None:
    opened = truckee.open(table.storage.root)

    assert [entry.version for entry in opened.history()] == [2, 1, 0]
    assert len(opened.history(1)) == 1
    assert (opened.detail().version, opened.detail().num_files) == (2, 2)
    assert sorted(opened.files().column("path").to_pylist()) == ["a", "b"]
    assert opened.schema.names == ["id", "twice"]


def test_a_notebook_shows_what_a_table_tells(table: History) -> None:
    local = truckee.open(table.storage.root)

    assert f">{local.version}</td>" in local.history()._repr_html_()
    assert f">{local.detail().id}</td>" in local.detail()._repr_html_()
    assert ">_change_type</th>" in local.row_history("id = 1")._repr_html_()
    assert repr(local.row_history("id = 1")).startswith("ArrowRows(2 files, columns id, twice")
    assert repr(local.diff(0)) == "ArrowRows(1 files, columns id, twice, _change_type)"
    assert local.doctor() == diagnosis(local.snapshot())


def test_a_notebook_shows_the_first_rows_of_a_table_and_of_a_feed(table: History) -> None:
    local = truckee.open(table.storage.root)

    rows, feed = local.rows()._repr_html_(), local.changes(1)._repr_html_()

    assert cells(rows)[:2] == ["id", "twice"]
    assert sorted(map(int, cells(rows)[2::2])) == [1, 4, 5, 6]
    assert cells(feed)[2] == "_change_type"
    assert cells(feed).count("delete") == 2
    table.add("c", size=written(Path(table.storage.root, "c"), list(range(100)))).then()
    many = truckee.open(table.storage.root).rows()._repr_html_()
    assert many.count("<tr>") == 21
    assert many.endswith("only the first 20 rows")


def test_a_notebook_shows_times_of_the_details_rather_than_milliseconds(table: History) -> None:
    detail = msgspec.structs.replace(
        truckee.open(table.storage.root).detail(), created_at_ms=1_700_000_000_000
    )

    shown = cells(detail._repr_html_())

    assert shown[shown.index("created_at") + 1] == "2023-11-14T22:13:20.000Z"
    assert not [name for name in shown if name.endswith("_ms")]
    nameless = msgspec.structs.replace(detail, created_at_ms=None)
    assert cells(nameless._repr_html_())[shown.index("created_at") + 1] == ""


def cells(html: str) -> list[str]:
    return re.findall(r"<t[dh] [^>]*>([^<]*)</t[dh]>", html)


def test_others_take_rows_by_the_capsule_interface(table: History) -> None:
    opened = truckee.open(table.storage.root)
    feed = opened.changes(startingVersion=1, columns=["id"])

    assert sorted(pa.table(opened)["id"].to_pylist()) == [1, 4, 5, 6]
    assert sorted(pa.RecordBatchReader.from_stream(feed).read_all()["id"].to_pylist()) == [2, 3]
    assert sorted(pa.table(feed)["id"].to_pylist()) == [2, 3]


def test_pandas_gets_a_frame(table: History) -> None:
    frame = truckee.open(table.storage.root).to_pandas(columns=["id"], where="id < 6")

    assert sorted(frame["id"].tolist()) == [1, 4, 5]


def test_files_that_cannot_match_are_not_opened(table: History) -> None:
    (Path(table.storage.root) / "b").unlink()
    opened = truckee.open(table.storage.root)

    assert rows(opened.to_arrow(where="id < 4")) == [(1, 2)]
    with pytest.raises(DataFileNotFoundError):
        opened.to_arrow(where="id < 5")


def test_row_groups_that_cannot_match_are_not_read(tmp_path: Path) -> None:
    made = history(LocalStorage(str(tmp_path)))
    made.stage(metadata("id long", "twice long", properties=FEED_ON))
    size = written(tmp_path / "a", list(range(1000)), group=100)
    made.add("a", stats='{"numRecords":1000}', size=size).then()
    damaged = bytearray((tmp_path / "a").read_bytes())
    first_page = pq.read_metadata(tmp_path / "a").row_group(0).column(0).data_page_offset
    damaged[first_page : first_page + 40] = bytes(40)
    (tmp_path / "a").write_bytes(damaged)

    found = truckee.open(str(tmp_path)).to_arrow(where="id >= 950 AND twice < 1904")

    assert rows(found) == [(950, 1900), (951, 1902)]


def test_a_folder_without_a_table(tmp_path: Path) -> None:
    with pytest.raises(NotADeltaTableError):
        truckee.open(str(tmp_path))


def test_a_name_is_no_path_and_the_error_says_how_to_open_it() -> None:
    with pytest.raises(NotADeltaTableError) as raised:
        truckee.open("main.sales.orders")

    assert raised.value.hint == (
        "give the folder that holds _delta_log; a table by its name needs Spark: "
        "DeltaTable.forName(spark, 'main.sales.orders')"
    )


def test_a_start_after_the_latest_version(table: History) -> None:
    with pytest.raises(StartAfterLatestError):
        truckee.open(table.storage.root).changes(startingVersion=9)


def test_a_file_of_the_feed_that_is_gone_says_from_where_on_it_can_be_read(
    table: History,
) -> None:
    (Path(table.storage.root) / "b").unlink()

    with pytest.raises(ChangeDataFileNotFoundError) as raised:
        truckee.open(table.storage.root).changes(startingVersion=0).to_arrow()

    assert raised.value.readable_from == 1


def test_the_first_rows_read_no_further_than_needed(table: History) -> None:
    (Path(table.storage.root) / "b").unlink()

    found = truckee.open(table.storage.root).rows(version=0).first(2)

    assert rows(found) == [(1, 2), (2, 4)]


def test_a_path_may_be_a_pathlib_path(table: History) -> None:
    assert truckee.open(Path(table.storage.root)).version == 2


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda root: truckee.open(5), "path must be a string or a pathlib.Path; found int"),
        (
            lambda root: truckee.open(root, {"key": 5}),
            "each key and value of storage_options must be a string; found int",
        ),
        (
            lambda root: truckee.open(root).to_arrow(columns="id"),
            "columns must be a list of strings; found str",
        ),
        (
            lambda root: truckee.open(root).to_arrow(columns=[1]),
            "each of columns must be a string; found int",
        ),
        (lambda root: truckee.open(root).to_arrow(where=5), "where must be a string; found int"),
        (
            lambda root: truckee.open(root).to_arrow(version=1.5),
            "version must be a version or a timestamp; found float",
        ),
        (
            lambda root: truckee.open(root).to_arrow(columns=[]),
            "columns needs to name at least one column (count() counts rows) but got none",
        ),
        (lambda root: truckee.open(root).head(-1), "n needs to be 0 or more but got -1"),
        (
            lambda root: truckee.open(root).changes(startVersion=1),
            "an argument of a feed must be one of startingVersion, endingVersion, "
            "startingTimestamp, endingTimestamp, changeFeed, deduplicationMode, computeUpdates, "
            "keys, dropUnchanged, schemaMode, includeSchemaVersion, includeChangeSource; "
            "found startVersion; did you mean startingVersion?",
        ),
        (lambda root: truckee.open(root).history("1"), "limit must be an integer; found str"),
    ],
)
def test_arguments_that_make_no_sense_are_told_at_the_call(
    table: History, call: Callable[[str], Any], says: str
) -> None:
    with pytest.raises((TypeError, ValueError)) as raised:
        call(table.storage.root)

    assert str(raised.value).endswith(says)


def test_duckdb_and_polars_take_tables_and_feeds(table: History) -> None:
    opened = truckee.open(table.storage.root)
    feed = opened.changes(startingVersion=0)

    counts = duckdb.sql("select _change_type, count(*) from feed group by all order by 1")
    sums = duckdb.sql("select sum(twice) from opened where id > 4")

    assert counts.fetchall() == [("delete", 2), ("insert", 6)]
    assert sums.fetchall() == [(22,)]
    assert sorted(pl.DataFrame(opened)["id"].to_list()) == [1, 4, 5, 6]
    assert pl.DataFrame(feed).shape == (8, 5)


def test_a_stream_of_batches_is_not_the_whole_table_in_memory(tmp_path: Path) -> None:
    made = history(LocalStorage(str(tmp_path)))
    made.stage(metadata("id long", "twice long", properties=FEED_ON))
    for number in range(8):
        size = written(tmp_path / str(number), list(range(300_000)), group=50_000)
        made.add(str(number), stats='{"numRecords":300000}', size=size)
    made.then()
    opened = truckee.open(str(tmp_path))
    before = pa.total_allocated_bytes()

    most = total = 0
    for batch in opened.to_batches():
        total += batch.num_rows
        most = max(most, pa.total_allocated_bytes() - before)

    assert total == 2_400_000
    assert most < total * 16 / 2, "half of what all rows would take"


def test_a_table_on_s3_is_read_with_its_feed(table: History) -> None:
    with s3_server() as server:
        root = Path(table.storage.root)
        copy = open_storage(server.url("lake/t"), server.options)
        for file in root.rglob("*"):
            if file.is_file():
                copy.write(str(file.relative_to(root)), file.read_bytes())

        opened = truckee.open(server.url("lake/t"), server.options)

        assert sorted(rows(opened.to_arrow())) == [(1, 2), (4, 8), (5, 10), (6, 12)]
        assert rows(opened.to_arrow(columns=["id"], where="twice = 10")) == [(5,)]
        feed = opened.changes(startingVersion=1, columns=["id", "_change_type"])
        assert sorted(rows(feed.to_arrow())) == [(2, "delete"), (3, "delete")]

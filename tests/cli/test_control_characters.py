"""A table whose every text holds what a terminal would obey: none of it reaches the terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession

from builders import History, history
from staging import metadata
from truckee.cli.main import main
from truckee.errors.base import printable, printable_json
from truckee.errors.log import NotADeltaTableError
from truckee.protocol.schema import MapType, PrimitiveType, StructField, StructType
from truckee.storage.local import LocalStorage

# Sets the title of a terminal; the same in one character (C1); DEL; turns the direction of text.
EVIL = "\x1b]0;owned\x07\x9b31m\x7f\u202e\u2028"
SHOWN = r"\x1b]0;owned\x07\x9b31m\x7f\u202e\u2028"
VERBS = (
    ("history",),
    ("detail",),
    ("log",),
    ("log", "--version", "0"),
    ("files",),
    ("doctor",),
    ("vacuum", "--dry-run", "--retention", "0", "--no-retention-check"),
    ("changes", "--from", "0", "--summary"),
)


@pytest.fixture
def table(tmp_path: Path) -> History:
    """Names of columns, properties, files and operations, values and map keys are all hostile."""
    root = tmp_path / "t"
    root.mkdir()
    made = history(LocalStorage(str(root)))
    properties = {"delta.enableChangeDataFeed": "true", f"p{EVIL}": EVIL}
    text = PrimitiveType("string")
    schema = StructType(
        (StructField(f"c{EVIL}", text), StructField("m", MapType(text, text, True)))
    )
    made.stage(replace(metadata(properties=properties), schema_string=schema.to_json()))
    made.info(
        operation=f"WRITE{EVIL}",
        operation_parameters={f"k{EVIL}": EVIL},
        operation_metrics={f"n{EVIL}": "1"},
        user_name=EVIL,
        engine_info=EVIL,
    )
    rows = pa.table(
        {
            f"c{EVIL}": pa.array([EVIL]),
            "m": pa.array([[(EVIL, EVIL)]], pa.map_(pa.string(), pa.string())),
        }
    )
    pq.write_table(rows, root / f"a{EVIL}.parquet")
    size = (root / f"a{EVIL}.parquet").stat().st_size
    made.add(quote(f"a{EVIL}.parquet"), size=size, stats='{"numRecords":1}').then()
    (root / f"dead{EVIL}.parquet").write_bytes(b"")
    return made


def obeyed(text: str) -> set[str]:
    """Return the characters of a text that a terminal does not just show."""
    return {char for char in text if not char.isprintable()} - {"\n"}


# Invariant 46.
@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
@pytest.mark.parametrize("style", [(), ("--json",)], ids=["text", "json"])
def test_no_control_character_of_a_table_reaches_the_terminal(
    table: History,
    capsys: pytest.CaptureFixture[str],
    verb: tuple[str, ...],
    style: tuple[str, ...],
) -> None:
    name, *options = verb

    main([name, table.storage.root, *options, *style])

    printed = capsys.readouterr()
    assert printed.out != ""
    assert obeyed(printed.out) == set()
    assert obeyed(printed.err) == set()
    if style:
        json.loads(printed.out)


def test_json_still_holds_what_the_table_holds(
    table: History, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["detail", table.storage.root, "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)

    assert found["properties"][f"p{EVIL}"] == EVIL


def test_text_spells_out_keys_and_values(
    table: History, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["detail", table.storage.root])

    assert f"p{SHOWN}={SHOWN}" in capsys.readouterr().out


def test_rows_and_their_columns_are_spelled_out(
    table: History, capsys: pytest.CaptureFixture[str], spark: SparkSession
) -> None:
    assert main(["changes", table.storage.root, "--from", "0"]) == 0
    text = capsys.readouterr().out
    main(["changes", table.storage.root, "--from", "0", "--json"])
    as_json = capsys.readouterr().out

    assert obeyed(text) == set()
    assert SHOWN in text
    assert obeyed(as_json) == set()
    [row] = json.loads(as_json)
    assert row[f"c{EVIL}"] == EVIL
    assert row["m"] == {EVIL: EVIL}


def test_errors_are_spelled_out_on_the_command_line_and_in_programs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code = main(["detail", str(tmp_path / EVIL)])

    assert code == 1
    assert obeyed(capsys.readouterr().err) == set()
    assert obeyed(str(NotADeltaTableError(table=EVIL))) == set()


def test_what_a_terminal_shows_stays() -> None:
    assert printable("naïve ✓ 漢字") == "naïve ✓ 漢字"
    assert printable("a\nb\x1b", keep="\n") == "a\nb\\x1b"
    assert json.loads(printable_json('"\x9b \U000e0001 é"')) == "\x9b \U000e0001 é"

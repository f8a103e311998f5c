"""`truckee diff`, `rows` and `head`: without a JVM, and with Spark where it is asked for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from diff_tables import Table
from staging import metadata
from truckee.cli.main import main


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """A row is updated by a vector and a new file, another is deleted."""
    made = Table(tmp_path / "t")
    made.history.stage(metadata("id long", "name string", "total double"))
    made.add("a", {"id": [1, 2, 3], "name": ["a", "b", None], "total": [1.5, 1e10, 0.0]}).then()
    made.history.info(operation="UPDATE").delete("a", rows=[1, 2])
    made.add("b", {"id": [2], "name": ["<b>"], "total": [1e10]})
    made.history.stage(
        metadata("id long", "name string", "total double", properties={"owner": "me"})
    )
    return made.then()


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[list[str]], str]:
    code = main(list(arguments))
    printed = capsys.readouterr()
    return code, [line.split() for line in printed.out.splitlines()], printed.err


EXPECTED = [
    ["_change_type", "id", "name", "total", "changed"],
    ["update_preimage", "2", "b", "1.0E10", "name"],
    ["update_postimage", "2", "<b>", "1.0E10", "name"],
    ["delete", "3", "null", "0.0"],
]


def test_rows_that_differ_with_what_changed_in_words(
    table: Table, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "diff", str(table.root), "0", "1", "--keys", "id") == (0, EXPECTED, "")


def test_spark_shows_the_same(
    spark: SparkSession, table: Table, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--keys", "id", "--engine", "spark")

    assert run(capsys, "diff", str(table.root), "0", "1", *options) == (0, EXPECTED, "")
    code, summary, _ = run(capsys, "diff", str(table.root), "0", "1", "--summary", *options)
    assert (code, summary[1:]) == (
        0,
        [["delete", "1"], ["update_preimage", "1"], ["update_postimage", "1"]],
    )


def test_changed_cells_stand_out_where_colours_are_shown(
    table: Table, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)

    main(["diff", str(table.root), "0", "1", "--keys", "id"])

    preimage = capsys.readouterr().out.splitlines()[1]
    marked = preimage[preimage.index("\x1b[1;2;7;33m") :]
    assert marked.startswith("\x1b[1;2;7;33mb")


def test_counts_and_json(table: Table, capsys: pytest.CaptureFixture[str]) -> None:
    main(["diff", str(table.root), "1", "0", "--summary", "--json"])
    counts = json.loads(capsys.readouterr().out)
    main(["diff", str(table.root), "0", "1", "--where", "id = 3", "--json"])
    rows = json.loads(capsys.readouterr().out)

    assert counts == [{"changeType": "insert", "rows": 2}, {"changeType": "delete", "rows": 1}]
    assert rows == [{"id": 3, "name": None, "total": 0.0, "_change_type": "delete"}]


def test_a_page_of_html(table: Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "diff.html"

    code = main(["diff", str(table.root), "0", "1", "--keys", "id", "-o", str(page)])

    html = page.read_text()
    assert (code, capsys.readouterr().err) == (0, f"{page}: {len(html.encode()):,} bytes\n")
    assert "<ins>&lt;b&gt;</ins>" in html
    assert "<del>b</del>" in html
    assert '<span class="kind">property</span></th><td><code>owner</code></td>' in html
    assert "<script" not in html
    assert "http" not in html.replace("http-equiv", "")


def test_images_of_a_row(table: Table, capsys: pytest.CaptureFixture[str]) -> None:
    main(["rows", str(table.root), "--where", "id = 2", "--json"])
    rows = json.loads(capsys.readouterr().out)

    told = [(r["name"], r["_change_type"], r["_commit_version"], r["_operation"]) for r in rows]
    assert told == [
        ("b", "insert", 0, None),
        ("b", "update_preimage", 1, "UPDATE"),
        ("<b>", "update_postimage", 1, "UPDATE"),
    ]
    assert rows[1]["_changed_columns"] == ["name"]
    code, shown, err = run(capsys, "rows", str(table.root), "--where", "id = 2")
    assert (code, err) == (0, "")
    assert shown[0][-4:] == ["id", "name", "total", "changed"]
    assert [line[-1] for line in shown[1:]] == ["1.0E10", "name", "name"]


def test_the_first_rows_of_a_version(table: Table, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--version", "0", "--columns", "id,name", "--where", "id > 1", "--limit", "1")

    assert run(capsys, "head", str(table.root), *options) == (
        0,
        [["id", "name"], ["2", "b"]],
        "",
    )


def test_spark_is_asked_beyond_a_size_and_for_other_conditions(
    spark: SparkSession,
    table: Table,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code, rows, err = run(capsys, "head", str(table.root), "--where", "length(name) > 1")
    assert (code, rows[1:]) == (0, [["2", "<b>", "1.0E10"]])
    assert err.startswith("Spark is used, it knows more conditions: the condition ")

    monkeypatch.setenv("TRUCKEE_ARROW_BYTES", "10")
    code, rows, err = run(capsys, "head", str(table.root), "--where", "id = 1")
    assert (code, rows[1:]) == (0, [["1", "a", "1.5"]])
    assert err == "0 MB of files are read with Spark; --engine arrow reads them here\n"

    code, rows, err = run(capsys, "head", str(table.root), "--where", "id = 1", "--engine", "arrow")
    assert (code, rows[1:], err) == (0, [["1", "a", "1.5"]], "")


def test_arrow_refuses_what_only_spark_understands(
    table: Table, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    condition = ("--where", "length(name) > 1", "--engine", "arrow")

    code, rows, err = run(capsys, "head", str(table.root), *condition)
    assert (code, rows) == (1, [])
    assert err.startswith("error: [DELTA_UNSUPPORTED_EXPRESSION] ")

    monkeypatch.setenv("TRUCKEE_ARROW_BYTES", "many")
    code, rows, err = run(capsys, "diff", str(table.root), "0")
    assert (code, rows) == (1, [])
    assert "TRUCKEE_ARROW_BYTES" in err


def test_no_jvm_is_started_for_little(table: Table) -> None:
    code = (
        "import sys; from truckee.cli.main import main; "
        f"path = {str(table.root)!r}; "
        "main(['diff', path, '0']); main(['rows', path, '--where', 'id = 2']); "
        "main(['head', path]); "
        "print(*sorted({n.split('.')[0] for n in sys.modules} & {'pyspark', 'py4j'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == ""


def test_errors_are_told_in_a_sentence(table: Table, capsys: pytest.CaptureFixture[str]) -> None:
    found: list[Any] = [
        run(capsys, "diff", str(table.root), "0", "9"),
        run(capsys, "diff", str(table.root), "0", "1", "--keys", "nonsense"),
        run(capsys, "rows", str(table.root), "--where", "nonsense = 1"),
    ]

    assert [code for code, _, _ in found] == [1, 1, 1]
    assert all(err.startswith("error: [") for _, _, err in found)

"""`truckee report` writes a page, or prints it."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders import history
from truckee.cli.main import main
from truckee.storage.local import LocalStorage


def test_the_page_is_written_where_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    history(LocalStorage(str(tmp_path / "t"))).add("a").then()
    page = tmp_path / "page.html"

    code = main(["report", str(tmp_path / "t"), "-o", str(page)])

    printed = capsys.readouterr()
    assert (code, printed.out) == (0, "")
    assert printed.err == f"{page}: {page.stat().st_size:,} bytes\n"
    assert page.read_text().startswith("<!doctype html>\n")


def test_a_dash_prints_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    history(LocalStorage(str(tmp_path))).add("a").then()

    code = main(["report", str(tmp_path), "-o", "-"])

    printed = capsys.readouterr()
    assert (code, printed.err) == (0, "")
    assert printed.out.endswith("</html>\n")


def test_a_page_that_cannot_be_written_is_an_invalid_argument(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    history(LocalStorage(str(tmp_path / "t"))).add("a").then()

    code = main(["report", str(tmp_path / "t"), "-o", str(tmp_path / "nowhere" / "page.html")])

    printed = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert code == 2
    assert "cannot be written: No such file or directory" in printed


def test_a_folder_that_is_no_table_has_no_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["report", str(tmp_path), "-o", str(tmp_path / "page.html")])

    assert code == 1
    assert capsys.readouterr().err.startswith("error: [DELTA_MISSING_DELTA_TABLE] ")
    assert not (tmp_path / "page.html").exists()

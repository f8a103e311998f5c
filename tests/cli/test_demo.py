"""`truckee demo`: the main job, and folders that stay."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from truckee.cli.main import main


def test_the_demo_shows_the_feed_and_two_equal_tables(
    spark: SparkSession,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").mkdir()  # someone else's, to be left alone

    code = main(["demo", "--folder", "demo", "--utc"])

    lines = capsys.readouterr().out.splitlines()
    assert code == 0
    types = [line.split()[1] for line in lines if line.endswith("Z")]
    assert types == [
        *["insert"] * 5,
        "update_preimage",
        "update_postimage",
        "delete",
        "update_preimage",
        "update_postimage",
        "insert",
    ]
    assert "Both tables are equal: 5 rows." in lines
    assert lines[-1].endswith(" report demo-2/orders -o demo-2/report.html")
    assert list((tmp_path / "demo").iterdir()) == []
    program = lines[-1].removesuffix(" report demo-2/orders -o demo-2/report.html")
    for command in lines[-4:]:
        assert main(command.removeprefix(program).split()) == 0

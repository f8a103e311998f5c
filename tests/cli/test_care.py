"""The verbs that keep a table in order: what they print, ask and exit with; no JVM anywhere."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from care.folders import Folder
from command_line import run
from truckee.log.files.history import latest_version
from truckee.log.snapshot import load_snapshot
from truckee.storage.local import LocalStorage


@pytest.fixture
def table(tmp_path: Path) -> Folder:
    made = Folder(tmp_path / "t")
    made.write("a", "b", "orphan", days=20)
    made.commit(made.add("a"), made.add("b"), days=20)
    made.commit(made.remove("a", days=10), days=10)
    return made


def test_a_dry_run_names_the_files_and_what_ends(
    table: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "vacuum", str(table.path), "--dry-run")

    assert (code, sorted(out.split())) == (0, ["a", "orphan"])
    assert err == (
        "2 files (20 B) and 0 empty folders can be deleted\n"
        "after this, versions before 2 cannot be read\n"
    )
    assert table.left() == {"a", "b", "orphan"}


def test_vacuum_deletes_nothing_where_nobody_can_answer(table: Folder) -> None:
    files, version = table.left(), latest_version(table.storage)

    done = subprocess.run(
        [sys.executable, "-m", "truckee", "vacuum", str(table.path)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "200"},
        check=False,
    )

    assert done.returncode == 2
    assert b"nothing was deleted: there is no terminal to ask on; give --yes" in done.stderr
    assert (table.left(), latest_version(table.storage)) == (files, version)


def test_vacuum_commits_nothing_where_there_is_nothing_to_delete(
    table: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "vacuum", str(table.path), "--yes")[0] == 0
    version = latest_version(table.storage)

    code, _, err = run(capsys, "vacuum", str(table.path))

    assert (code, latest_version(table.storage)) == (0, version)
    assert "0 files (0 B) and 0 empty folders can be deleted" in err


def test_vacuum_deletes_without_a_question_where_yes_is_given(
    table: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "vacuum", str(table.path), "--json", "--yes", "--protect", "1")

    assert code == 0
    found = json.loads(out)
    assert (found["files"], found["tableReadableFrom"], found["failures"]) == (1, 0, [])
    assert table.left() == {"a", "b"}


def test_vacuum_asks_on_a_terminal_and_takes_no_for_an_answer(table: Folder) -> None:
    for answer, left in (("n", {"a", "b", "orphan"}), ("y", {"b"})):
        ours, theirs = pty.openpty()
        done = subprocess.Popen(
            [sys.executable, "-m", "truckee", "vacuum", str(table.path)],
            stdin=theirs,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        os.write(ours, f"{answer}\n".encode())
        _, err = done.communicate(timeout=120)
        os.close(ours)
        os.close(theirs)

        assert b"delete them?" in err
        assert done.returncode == (1 if answer == "n" else 0)
        assert table.left() == left


def test_a_retention_below_the_tables_own_is_refused_unless_told(
    table: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    short = ("vacuum", str(table.path), "--retention", "1", "--yes")

    code, _, err = run(capsys, *short)
    assert code == 1
    assert err.startswith("error: [DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT]")
    assert table.left() == {"a", "b", "orphan"}

    code, _, _ = run(capsys, *short, "--no-retention-check")
    assert (code, table.left()) == (0, {"b"})


def test_restore_tells_what_it_does_and_a_dry_run_does_nothing(
    table: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("restore", str(table.path), "--version", "1", "--json")

    code, out, err = run(capsys, *arguments, "--dry-run")
    assert (code, err) == (0, "would restore version 1: 1 file added back, 0 files removed\n")
    assert latest_version(table.storage) == 2

    code, again, err = run(capsys, *arguments)
    assert (code, err) == (0, "restored version 1: 1 file added back, 0 files removed\n")
    assert json.loads(again)["num_of_files_after_restore"] == 2
    assert json.loads(out)["dryRun"] is True
    assert load_snapshot(table.storage).num_files == 2
    assert run(capsys, "restore", str(table.path))[0] == 2
    assert run(capsys, "restore", str(table.path), "--version", "99")[0] == 1


def test_clone_makes_a_table(
    table: Folder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = str(tmp_path / "copy")

    code, out, _ = run(
        capsys, "clone", str(table.path), target, "--version", "1", "--property", "x=1", "--json"
    )

    assert (code, json.loads(out)["num_copied_files"]) == (0, 2)
    found = load_snapshot(LocalStorage(target))
    assert (found.num_files, found.metadata.configuration) == (2, {"x": "1"})
    assert run(capsys, "clone", str(table.path), target)[0] == 1
    assert run(capsys, "clone", str(table.path), f"{target}2", "--property", "x")[0] == 2


def test_doctor_exits_with_1_if_rows_cannot_be_read(
    table: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "doctor", str(table.path))
    assert code == 0
    assert f"-> truckee vacuum {table.path}" in out

    (table.path / "b").unlink()
    code, out, _ = run(capsys, "doctor", str(table.path), "--json")
    assert (code, json.loads(out)["findings"][0]["topic"]) == (1, "missing")


@pytest.mark.parametrize("verb", [("vacuum", "--yes"), ("doctor",)])
def test_no_verb_needs_pyspark(table: Folder, verb: tuple[str, ...]) -> None:
    code = (
        "import sys; sys.modules['pyspark'] = None\n"
        "from truckee.cli.main import main\n"
        f"sys.exit(main([*{verb!r}, {str(table.path)!r}]))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr

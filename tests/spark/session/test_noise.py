"""What fails says so in a sentence, with no stack, no JSON and no log before or after it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("failing_script.py")
SOURCE = Path(__file__).resolve().parents[3] / "src"

KINDS = {
    "no such path": "TablePathError",
    "unknown column": "MissingColumnError",
    "no SQL": "UnparsedExpressionError",
    "no name": "InvalidTableNameError",
    "missing file": "DataFileNotFoundError",
    "missing file, shuffled": "DataFileNotFoundError",
    "null": "NotNullViolationError",
    "stream": "DataFileNotFoundError",
    "sink": "NotNullViolationError",
    "stopped": "SessionStoppedError",
    "stopped before": "SessionStoppedError",
}


@pytest.mark.spark
@pytest.mark.slow
def test_what_fails_is_one_sentence_without_stacks_and_logs(tmp_path: Path) -> None:
    # Java says which options it takes from the environment, so it gets none there.
    given = {name: value for name, value in os.environ.items() if name != "JDK_JAVA_OPTIONS"}
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path)],
        env={**given, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )

    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert {each["name"]: each["kind"] for each in told} == KINDS
    assert [each for each in told if each["has_java"] or each["has_other"]] == []
    # A stream may end unseen, so the end of each that failed is logged in a line.
    ended = [line.partition(" terminated with error ")[2] for line in done.stderr.splitlines()]
    assert [line[: line.find("]") + 1] for line in ended] == [
        "[DELTA_FILE_NOT_FOUND]",
        "[DELTA_NOT_NULL_CONSTRAINT_VIOLATED]",
    ]
    assert list((tmp_path / "endless").glob("*")) == []

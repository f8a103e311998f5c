"""A JVM starts from an archive of Spark's classes, if nobody else could have written it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from truckee.cli.main import main
from truckee.errors.options import IllegalOptionError
from truckee.spark.session import class_archive
from truckee.spark.session.cache_folder import is_private, user_cache
from truckee.spark.session.class_archive import (
    SETTING,
    archive_options,
    archive_path,
    make_archive,
)


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the archive would be, in a cache of its own; no test makes one by ending."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("CI", "true")
    monkeypatch.delenv("TRUCKEE_CLASS_ARCHIVE")
    found = archive_path()
    assert found is not None
    return found


def test_an_archive_that_is_ours_is_used(archive: Path) -> None:
    assert archive_options({}, []) == ()

    archive.touch(mode=0o600)

    assert archive_options({}, [])[0] == f"-XX:SharedArchiveFile={archive}"
    assert archive_options({SETTING: "use"}, [])[0] == f"-XX:SharedArchiveFile={archive}"


def test_a_setting_or_a_variable_switches_it_off(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive.touch(mode=0o600)

    assert archive_options({SETTING: "off"}, []) == ()
    monkeypatch.setenv("TRUCKEE_CLASS_ARCHIVE", "off")
    assert archive_options({}, []) == ()
    assert archive_options({SETTING: "use"}, []) != ()


def test_options_of_the_user_for_class_data_sharing_win(archive: Path) -> None:
    archive.touch(mode=0o600)

    assert archive_options({}, ["-Xmx1g -XX:SharedArchiveFile=/mine.jsa"]) == ()
    assert archive_options({}, ["-Xshare:off"]) == ()


def test_a_value_that_is_no_choice_is_refused(archive: Path) -> None:
    with pytest.raises(IllegalOptionError, match=r"needs to be auto, use or off"):
        archive_options({SETTING: "yes"}, [])


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_an_archive_that_others_can_write_is_not_used(archive: Path, mode: int) -> None:
    archive.touch()
    archive.chmod(mode)

    assert archive_options({}, []) == ()


def test_a_folder_that_others_can_write_is_no_cache(archive: Path) -> None:
    archive.parent.chmod(0o777)

    assert user_cache() is None
    assert archive_path() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_file_of_another_user_is_not_private(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.touch(mode=0o600)
    os.chown(other, 12345, 12345)

    assert not is_private(other)


def test_an_archive_is_made_after_a_program_that_missed_it(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registered = []
    monkeypatch.setattr(class_archive.atexit, "register", registered.append)

    archive_options({}, [])
    assert registered == []
    monkeypatch.delenv("CI")
    archive_options({SETTING: "use"}, [])
    assert registered == []
    archive_options({}, [])
    assert len(registered) == 1


def test_of_two_makers_the_second_leaves_it_to_the_first(
    archive: Path, caplog: pytest.LogCaptureFixture
) -> None:
    mark = archive.with_suffix(".making")
    mark.touch()

    assert not make_archive(archive)
    assert mark.exists()
    assert "another process is making the archive" in caplog.text


def test_a_maker_that_takes_too_long_is_given_up(
    archive: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(class_archive, "_LONGEST_S", 0.2)
    monkeypatch.setattr(class_archive, "_WORK", "import time; time.sleep(30)")

    assert not make_archive(archive)
    assert [path.name for path in archive.parent.iterdir()] == []
    assert "no archive of Spark's classes was made in" in caplog.text


def test_only_the_newest_archives_are_kept(archive: Path) -> None:
    names = [f"spark-classes-{number}.jsa" for number in range(4)]
    for age, name in enumerate(names):
        (archive.parent / name).touch()
        os.utime(archive.parent / name, (time.time() - age, time.time() - age))
    archive.touch()

    class_archive._drop_older(archive)

    assert sorted(archive.parent.glob("*.jsa")) == sorted([archive, archive.parent / names[0]])


def test_the_cache_is_shown_and_cleared(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive.write_bytes(b"12345")
    other = archive.parent / "notes.txt"
    other.touch()

    assert main(["cache", "--json"]) == 0
    shown = capsys.readouterr().out
    assert main(["cache", "--clear"]) == 0

    assert str(archive) in shown
    assert '"size": 5' in shown
    assert str(other) not in shown
    assert [path.name for path in archive.parent.iterdir()] == ["notes.txt"]


@pytest.mark.spark
@pytest.mark.slow
def test_spark_starts_from_an_archive_that_warm_made(archive: Path) -> None:
    code = (
        "import truckee\n"
        "spark = truckee.session(master='local[1]')\n"
        "assert spark.range(3).count() == 3\n"
        "beans = spark._jvm.java.lang.management.ManagementFactory\n"
        "print(beans.getRuntimeMXBean().getInputArguments().toString())\n"
    )
    env = {name: value for name, value in os.environ.items() if name != "JDK_JAVA_OPTIONS"}

    made = subprocess.run(
        [sys.executable, "-m", "truckee", "warm"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    started = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )

    assert (made.returncode, made.stdout) == (0, f"{archive}\n"), made.stderr
    assert archive.stat().st_mode & 0o777 == 0o600
    assert archive.stat().st_size > 50_000_000
    assert f"-XX:SharedArchiveFile={archive}" in started.stdout
    assert "cds" not in started.stderr

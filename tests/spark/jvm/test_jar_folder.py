"""JARs are kept only where no other user could change them, and used only if they are whole."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

import pytest

from truckee.spark.jvm import classes
from truckee.spark.jvm.jar_folder import danger_in, kept_jar

_needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to other users")


def _content() -> bytes:
    return classes._jar({"a": b"b"})


def _refused() -> bytes:
    raise AssertionError("the JAR is there")


def test_a_jar_and_its_folder_are_private(tmp_path: Path) -> None:
    jar = kept_jar([tmp_path / "made"], "some.jar", _content)

    assert jar == tmp_path / "made" / "some.jar"
    assert stat.S_IMODE(jar.stat().st_mode) == 0o600
    assert stat.S_IMODE(jar.parent.stat().st_mode) == 0o700
    assert kept_jar([tmp_path / "made"], "some.jar", _refused) == jar


def test_a_folder_that_others_write_to_is_left_alone_with_one_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shared, own = tmp_path / "shared", tmp_path / "own"
    shared.mkdir()
    (shared / "some.jar").write_bytes(b"planted")
    shared.chmod(0o777)

    with caplog.at_level(logging.WARNING):
        jar = kept_jar([shared, own], "some.jar", _content)

    assert jar == own / "some.jar"
    assert (shared / "some.jar").read_bytes() == b"planted"
    assert caplog.messages == [
        f"truckee keeps no classes in {shared}: other users may write to {shared}"
    ]


@_needs_root
def test_a_folder_of_another_user_is_left_alone(tmp_path: Path) -> None:
    theirs, own = tmp_path / "theirs", tmp_path / "own"
    theirs.mkdir(mode=0o700)
    jar = kept_jar([theirs], "some.jar", _content)
    assert jar is not None
    os.chown(theirs, 12345, 12345)

    assert danger_in(theirs) == f"{theirs} belongs to another user"
    assert danger_in(theirs / "below") is None  # is not there
    assert kept_jar([theirs, own], "some.jar", _content) == own / "some.jar"


def test_a_folder_below_one_that_others_write_to_can_be_replaced_by_them(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    (shared / "own").mkdir(parents=True, mode=0o700)

    shared.chmod(0o777)
    found = danger_in(shared / "own")
    shared.chmod(0o1777)

    assert found == f"other users may write to {shared}"
    assert danger_in(shared / "own") is None


@pytest.mark.parametrize("place", [0, 60, -1])
def test_a_jar_with_one_other_byte_is_replaced(tmp_path: Path, place: int) -> None:
    jar = kept_jar([tmp_path], "some.jar", _content)
    assert jar is not None
    good = jar.read_bytes()
    bad = bytearray(good)
    bad[place] ^= 1
    jar.write_bytes(bad)

    assert kept_jar([tmp_path], "some.jar", _content) == jar
    assert jar.read_bytes() == good


def test_a_jar_of_another_version_under_this_name_is_replaced(tmp_path: Path) -> None:
    other = kept_jar([tmp_path], "other.jar", lambda: classes._jar({"old": b""}))
    assert other is not None
    other.rename(tmp_path / "some.jar")

    kept_jar([tmp_path], "some.jar", _content)

    assert b"old" not in (tmp_path / "some.jar").read_bytes()


@pytest.mark.parametrize("harm", ["writable", "link", "owner"])
def test_a_jar_that_others_may_have_written_is_replaced(tmp_path: Path, harm: str) -> None:
    jar = kept_jar([tmp_path / "f"], "some.jar", _content)
    assert jar is not None
    if harm == "writable":
        jar.chmod(0o666)
    elif harm == "link":
        jar.rename(tmp_path / "elsewhere.jar")
        jar.symlink_to(tmp_path / "elsewhere.jar")
    elif os.geteuid() != 0:
        pytest.skip("only root gives files to other users")
    else:
        os.chown(jar, 12345, 12345)

    kept_jar([tmp_path / "f"], "some.jar", _content)

    found = jar.lstat()
    assert stat.S_ISREG(found.st_mode)
    assert stat.S_IMODE(found.st_mode) == 0o600
    assert found.st_uid == os.geteuid()


def test_a_folder_of_the_setting_that_is_not_safe_gives_way_to_a_private_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Context:
        _conf = {classes.FOLDER: str(tmp_path / "shared")}  # noqa: RUF012

    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)

    jar = classes._kept(Context(), "some.jar", _content)

    assert not list((tmp_path / "shared").iterdir())
    assert stat.S_IMODE(jar.parent.stat().st_mode) == 0o700
    assert len(caplog.messages) == 1
    jar.unlink()
    jar.parent.rmdir()

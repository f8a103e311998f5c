"""Which table and which version a read asks for, and how it is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from staging import create_table, metadata
from truckee.errors.base import DeltaError
from truckee.errors.log import NotADeltaTableError, VersionNotFoundError
from truckee.errors.options import TwoTimeTravelsError
from truckee.log.files.absent_table import unreadable_path
from truckee.log.snapshot import load_snapshot
from truckee.log.time_travel import path_and_time
from truckee.options.feed import Bound
from truckee.options.text import Options
from truckee.storage import open_storage


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = str(tmp_path / "t")
    create_table(open_storage(path), metadata())
    return path


def asked(path: str, **options: object) -> tuple[str, Bound | None]:
    return path_and_time(Options(options), path, time_zone="UTC", open_storage=open_storage)


def test_a_version_is_in_the_options_or_in_the_path(table: str) -> None:
    assert asked(table, versionAsOf=0) == (table, Bound(version=0))
    assert asked(f"{table}@v0") == (table, Bound(version=0))
    assert asked(f"{table}@home", versionAsOf=0) == (f"{table}@home", Bound(version=0))


@pytest.mark.parametrize("options", [{"versionAsOf": 0}, {"timestampAsOf": "2024-01-01"}])
def test_a_version_in_both_is_refused(table: str, options: dict[str, object]) -> None:
    with pytest.raises(TwoTimeTravelsError) as caught:
        asked(f"{table}@v0", **options)

    assert str(caught.value) == (
        "[DELTA_UNSUPPORTED_TIME_TRAVEL_MULTIPLE_FORMATS] the read names a version or a time, and "
        f"so does the path {table}@v0\nhint: leave out one of them"
    )


def test_a_version_below_zero_is_not_found(table: str) -> None:
    with pytest.raises(VersionNotFoundError):
        load_snapshot(open_storage(table), -1)


def test_a_path_without_a_table_has_the_class_of_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    def refused(name: str) -> DeltaError:
        with pytest.raises(NotADeltaTableError) as caught:
            load_snapshot(open_storage(str(tmp_path / name)))
        return unreadable_path(caught.value)

    assert refused("none").code == "PATH_NOT_FOUND"
    assert refused("empty").code == "DELTA_TABLE_NOT_FOUND"

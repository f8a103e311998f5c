"""Which files make up a version: names alone decide."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from builders import history
from truckee.errors.log import (
    MissingCheckpointError,
    NotADeltaTableError,
    TruncatedLogError,
    VersionNotFoundError,
    VersionsNotContiguousError,
)
from truckee.log.files.segment import LogSegment, log_segment
from truckee.protocol.paths import (
    LAST_CHECKPOINT_PATH,
    checkpoint_path,
    checkpoint_v2_path,
    commit_path,
)
from truckee.storage.memory import MemoryStorage
from values import checkpoint_part_path, compacted_path

UUID_A = "aaaaaaaa-0000-0000-0000-000000000000"
UUID_B = "bbbbbbbb-0000-0000-0000-000000000000"


def log(*paths: str) -> MemoryStorage:
    """Return a log of files that nobody opens, for only their names count here."""
    storage = MemoryStorage()
    for path in paths:
        storage.write(path, b"x")
    return storage


def commits(versions: Iterable[int]) -> list[str]:
    return [commit_path(version) for version in versions]


def checkpoint_names(segment: LogSegment) -> list[str]:
    assert segment.checkpoint is not None
    return [file.path for file in segment.checkpoint.files]


def test_commits_alone_make_up_the_latest_version() -> None:
    segment = log_segment(log(*commits(range(3))))

    assert segment.version == 2
    assert segment.checkpoint is None
    assert [file.path for file in segment.replay_files] == commits(range(3))
    assert segment.last_commit is not None
    assert segment.last_commit.path == commit_path(2)


def test_an_older_version_ends_at_its_own_commit() -> None:
    segment = log_segment(log(*commits(range(5))), 2)

    assert segment.version == 2
    assert [file.path for file in segment.replay_files] == commits(range(3))


def test_the_newest_checkpoint_at_or_below_the_version_is_taken() -> None:
    storage = log(*commits(range(9)), checkpoint_path(2), checkpoint_path(5), checkpoint_path(8))

    segment = log_segment(storage, 7)

    assert checkpoint_names(segment) == [checkpoint_path(5)]
    assert [file.path for file in segment.replay_files] == commits((6, 7))


def test_first_commits_may_be_missing_behind_a_checkpoint() -> None:
    segment = log_segment(log(checkpoint_path(5), *commits((6, 7))))

    assert segment.version == 7
    assert [file.path for file in segment.commits] == commits((6, 7))


def test_a_checkpoint_alone_is_a_version() -> None:
    segment = log_segment(log(checkpoint_path(5)))

    assert segment.version == 5
    assert segment.commits == ()
    assert segment.last_commit is None


def test_an_incomplete_multi_part_checkpoint_is_passed_over() -> None:
    storage = log(
        *commits(range(4)),
        checkpoint_path(1),
        checkpoint_part_path(3, 1, 3),
        checkpoint_part_path(3, 3, 3),
    )

    assert checkpoint_names(log_segment(storage)) == [checkpoint_path(1)]


def test_parts_of_differently_cut_checkpoints_do_not_mix() -> None:
    storage = log(*commits(range(4)), checkpoint_part_path(3, 1, 2), checkpoint_part_path(3, 2, 3))

    assert log_segment(storage).checkpoint is None


def test_a_checkpoint_of_no_bytes_is_passed_over() -> None:
    storage = log(*commits(range(4)), checkpoint_path(1))
    storage.write(checkpoint_path(3), b"")

    assert checkpoint_names(log_segment(storage)) == [checkpoint_path(1)]


def test_of_several_checkpoints_of_one_version_v2_comes_first_then_most_parts() -> None:
    single = [checkpoint_path(3)]
    two = [checkpoint_part_path(3, part, 2) for part in (1, 2)]
    three = [checkpoint_part_path(3, part, 3) for part in (1, 2, 3)]
    v2 = [checkpoint_v2_path(3, UUID_A, "parquet"), checkpoint_v2_path(3, UUID_B, "json")]

    assert checkpoint_names(log_segment(log(*single, *two))) == two
    assert checkpoint_names(log_segment(log(*single, *two, *three))) == three
    assert checkpoint_names(log_segment(log(*single, *three, *v2))) == [v2[1]]


@pytest.mark.parametrize(
    "hint", [b"", b"{", b"[]", b'{"version":"2"}', b'{"version":9}', b'{"version":-1}', b"null"]
)
def test_a_wrong_hint_only_costs_a_longer_listing(hint: bytes) -> None:
    storage = log(*commits(range(4)), checkpoint_path(2))
    storage.write(LAST_CHECKPOINT_PATH, hint)

    segment = log_segment(storage)

    assert segment.version == 3
    assert checkpoint_names(segment) == [checkpoint_path(2)]


def test_a_hint_that_is_behind_finds_the_newer_checkpoint() -> None:
    storage = log(*commits(range(9)), checkpoint_path(2), checkpoint_path(6))
    storage.write(LAST_CHECKPOINT_PATH, b'{"version":2,"size":5}')

    assert checkpoint_names(log_segment(storage)) == [checkpoint_path(6)]


def test_a_hint_above_the_version_asked_for_is_not_used() -> None:
    storage = log(*commits(range(9)), checkpoint_path(2), checkpoint_path(6))
    storage.write(LAST_CHECKPOINT_PATH, b'{"version":6,"size":5}')

    assert checkpoint_names(log_segment(storage, 4)) == [checkpoint_path(2)]


def test_a_compaction_file_stands_for_its_commits() -> None:
    storage = log(*commits(range(8)), compacted_path(2, 4), compacted_path(2, 5))

    segment = log_segment(storage)

    assert [file.path for file in segment.replay_files] == [
        *commits((0, 1)),
        compacted_path(2, 5),
        *commits((6, 7)),
    ]


def test_a_compaction_file_that_reaches_too_far_on_either_side_is_left_out() -> None:
    storage = log(
        *commits(range(8)), checkpoint_path(3), compacted_path(2, 4), compacted_path(5, 7)
    )

    segment = log_segment(storage, 6)

    assert [file.path for file in segment.replay_files] == commits((4, 5, 6))


def test_names_that_mean_nothing_are_ignored() -> None:
    storage = log(
        *commits(range(2)),
        "_delta_log/.00000000000000000002.json.tmp",
        "_delta_log/2.json",
        "_delta_log/00000000000000000002.json.bak",
        "_delta_log/00000000000000000001.crc",
        "_delta_log/_sidecars/00000000000000000009.parquet",
    )

    assert log_segment(storage).version == 1


def test_an_empty_folder_is_not_a_table() -> None:
    with pytest.raises(NotADeltaTableError) as raised:
        log_segment(MemoryStorage("memory://nothing"))

    assert raised.value.sentence() == (
        "memory://nothing is not a Delta table: "
        "it has no _delta_log with a commit or a checkpoint\n"
        "hint: give the folder that holds _delta_log"
    )
    assert raised.value.code == "DELTA_MISSING_DELTA_TABLE"


def test_a_hint_without_a_log_says_what_is_missing() -> None:
    storage = MemoryStorage("memory://t")
    storage.write(LAST_CHECKPOINT_PATH, b'{"version":10,"size":13}')

    with pytest.raises(MissingCheckpointError) as raised:
        log_segment(storage)

    assert raised.value.sentence() == (
        "_last_checkpoint of memory://t names a checkpoint of version 10, but the log has "
        "neither that checkpoint nor any commit\n"
        "hint: restore the files of _delta_log from a copy"
    )


def test_a_gap_names_the_version_that_is_missing() -> None:
    with pytest.raises(VersionsNotContiguousError) as raised:
        log_segment(log(*commits((0, 1, 3))))

    assert raised.value.sentence() == (
        "the log of memory://t has a gap: version 2 is missing, but version 3 exists\n"
        "hint: restore _delta_log/00000000000000000002.json"
    )
    assert raised.value.code == "DELTA_VERSIONS_NOT_CONTIGUOUS"


def test_a_gap_after_the_checkpoint_is_found_too() -> None:
    with pytest.raises(VersionsNotContiguousError) as raised:
        log_segment(log(*commits((0, 1, 2, 4)), checkpoint_path(2)))

    assert (raised.value.missing, raised.value.found) == (3, 4)


def test_a_gap_before_the_checkpoint_harms_nobody() -> None:
    segment = log_segment(log(*commits((0, 1, 3, 4)), checkpoint_path(3)))

    assert segment.version == 4


def test_a_version_in_the_gap_is_refused_as_the_gap() -> None:
    with pytest.raises(VersionsNotContiguousError) as raised:
        log_segment(log(*commits((0, 1, 3))), 2)

    assert (raised.value.missing, raised.value.found) == (2, 3)


def test_a_log_without_its_start_needs_a_checkpoint() -> None:
    with pytest.raises(TruncatedLogError) as raised:
        log_segment(log(*commits((3, 4))))

    assert raised.value.sentence() == (
        "the log of memory://t starts at version 3, and no complete checkpoint replaces the "
        "earlier versions\n"
        "hint: restore the earlier commits or a checkpoint"
    )


@pytest.mark.parametrize("version", [-1, 1, 8])
def test_a_version_out_of_range_tells_the_range(version: int) -> None:
    storage = log(*commits(range(2, 8)), checkpoint_path(3))

    with pytest.raises(VersionNotFoundError) as raised:
        log_segment(storage, version)

    assert raised.value.sentence() == (
        f"Cannot time travel Delta table to version {version}: it is not available in "
        f"memory://t\nhint: the log has versions 3 to 7"
    )
    assert raised.value.code == "DELTA_VERSION_NOT_FOUND"


def test_a_history_in_a_line_is_a_log() -> None:
    segment = log_segment(history().add("a").then().remove("a").storage)

    assert segment.version == 1

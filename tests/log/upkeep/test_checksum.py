"""Version checksums, compared with what was replayed."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from builders import PROTOCOL, history, vector
from staging import metadata
from truckee.errors.log import ChecksumMismatchError, CorruptLogFileError
from truckee.log.snapshot import Snapshot
from truckee.log.upkeep.checksum import verify_checksum
from truckee.log.upkeep.checksum_writer import counted_checksum
from truckee.protocol.paths import checksum_path
from values import simple_schema


def snapshot() -> Snapshot:
    return (
        history()
        .add("a", size=3)
        .add("b", size=4, deletion_vector=vector(1, 2))
        .txn("app", 1)
        .domain("d", "1")
        .snapshot()
    )


def write(found: Snapshot, **changed: Any) -> None:
    content = msgspec.to_builtins(counted_checksum(found)) | changed
    found.storage.write(checksum_path(found.version), msgspec.json.encode(content))


def test_a_version_without_a_checksum_cannot_disagree() -> None:
    assert verify_checksum(snapshot()) is False


def test_a_checksum_of_the_same_state_agrees() -> None:
    found = snapshot()
    write(found)

    assert verify_checksum(found) is True


def test_a_checksum_may_leave_out_what_it_did_not_count() -> None:
    found = snapshot()
    found.storage.write(checksum_path(0), b'{"numFiles":2}')

    assert verify_checksum(found) is True


def test_order_and_spelling_do_not_make_a_difference() -> None:
    found = snapshot()
    protocol = msgspec.structs.replace(
        PROTOCOL, writer_features=tuple(reversed(PROTOCOL.writer_features or ()))
    )
    table = msgspec.to_builtins(found.metadata)
    table["schemaString"] = table["schemaString"].replace(":", ": ")
    write(found, protocol=msgspec.to_builtins(protocol), metadata=table)

    assert verify_checksum(found) is True


@pytest.mark.parametrize(
    ("changed", "difference"),
    [
        ({"numFiles": 3}, "it has 2 files, the checksum says 3"),
        ({"tableSizeBytes": 8}, "it has 7 bytes, the checksum says 8"),
        ({"numDeletionVectorsOpt": 0}, "it has 1 deletion vectors, the checksum says 0"),
        ({"numDeletedRecordsOpt": 1}, "it has 2 deleted rows, the checksum says 1"),
        ({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}, "its protocol differs"),
        (
            {"metadata": {"id": "other", "schemaString": simple_schema("id long").to_json()}},
            "its metadata differs",
        ),
        ({"setTransactions": []}, "its transactions differ"),
        ({"domainMetadata": []}, "its metadata domains differ"),
    ],
)
def test_every_difference_is_told(changed: dict[str, Any], difference: str) -> None:
    found = snapshot()
    write(found, **changed)

    with pytest.raises(ChecksumMismatchError) as raised:
        verify_checksum(found)

    assert raised.value.sentence() == (
        f"version 0 of memory://t disagrees with its checksum: {difference}\n"
        "hint: the log or the checksum was changed after it was written; compare with a copy"
    )
    assert raised.value.code == "DELTA_TXN_LOG_FAILED_INTEGRITY"


def test_several_differences_are_told_together() -> None:
    found = snapshot()
    write(found, numFiles=0, setTransactions=[])

    with pytest.raises(ChecksumMismatchError) as raised:
        verify_checksum(found)

    assert raised.value.differences == (
        "it has 2 files, the checksum says 0",
        "its transactions differ",
    )


def test_a_recorded_timestamp_is_compared_where_such_are_on() -> None:
    on = metadata(properties={"delta.enableInCommitTimestamps": "true"})
    found = history().info(in_commit_timestamp=5).stage(on).snapshot()
    write(found, inCommitTimestampOpt=6)

    with pytest.raises(ChecksumMismatchError) as raised:
        verify_checksum(found)

    assert raised.value.differences == ("its timestamp differs",)


def test_a_checksum_that_cannot_be_read_is_no_missing_one() -> None:
    found = snapshot()
    found.storage.write(checksum_path(0), b'{"numFiles":')

    with pytest.raises(CorruptLogFileError) as raised:
        verify_checksum(found)

    assert raised.value.sentence() == (
        "_delta_log/00000000000000000000.crc of memory://t cannot be read: Input "
        "data was truncated\n"
        "hint: the file may be incomplete; restore it from a copy"
    )

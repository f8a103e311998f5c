"""Every table of the corpus opens as expected, or is refused as it must be."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from corpus import CorpusTable, corpus_root, corpus_tables
from truckee.errors.base import DeltaError
from truckee.errors.deletion_vectors import InvalidDescriptorError
from truckee.errors.log import (
    ChecksumMismatchError,
    CorruptLogFileError,
    MissingCheckpointError,
    NotADeltaTableError,
    StateNotRecoverableError,
    VersionsNotContiguousError,
)
from truckee.errors.protocol import (
    UnsupportedProtocolVersionError,
    UnsupportedReaderFeaturesError,
    UnsupportedWriterFeaturesError,
)
from truckee.log.files.history import history
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.log.upkeep.checksum import verify_checksum
from truckee.protocol.features import FEATURES, check_writable
from truckee.protocol.paths import decode_path
from truckee.protocol.schema import StructType
from truckee.storage.local import LocalStorage

pytestmark = pytest.mark.golden

ALL = corpus_tables()
VALID = [table for table in ALL if table.group != "invalid"]
REFUSED_TO_READ = [
    table for table in corpus_tables("invalid") if table.expected.get("error") is not None
]
REFUSED_TO_WRITE = [
    table for table in corpus_tables("invalid") if table.expected.get("write_error") is not None
]

READ_REFUSALS: dict[str, type[DeltaError]] = {
    "not-a-table": NotADeltaTableError,
    "corrupt-log": MissingCheckpointError,
    "log-gap": VersionsNotContiguousError,
    "no-protocol": StateNotRecoverableError,
    "no-metadata": StateNotRecoverableError,
    "unsupported-feature": UnsupportedReaderFeaturesError,
    "unsupported-protocol": UnsupportedProtocolVersionError,
    "corrupt-deletion-vector": InvalidDescriptorError,
}
WRITE_REFUSALS: dict[str, type[DeltaError]] = {
    "unsupported-feature": UnsupportedWriterFeaturesError,
    "unsupported-protocol": UnsupportedProtocolVersionError,
}
BAD_CHECKSUMS: dict[tuple[str, int], type[DeltaError]] = {
    ("kernelrs-crc-full", 0): ChecksumMismatchError,
    ("trino-deltalake-checksum_invalid_json", 1): CorruptLogFileError,
    ("trino-deltalake-checksum_invalid_json_mapping", 1): CorruptLogFileError,
    ("trino-deltalake-checksum_trailing_json_content", 1): CorruptLogFileError,
}


def opened(table: CorpusTable, workdir: Path) -> Snapshot:
    return load_snapshot(LocalStorage(str(table.ready(workdir))))


def columns(schema: StructType) -> list[dict[str, Any]]:
    fields: list[dict[str, Any]] = json.loads(schema.to_json())["fields"]
    return [{key: field[key] for key in ("name", "type", "nullable")} for field in fields]


def base_names(snapshot: Snapshot) -> list[str]:
    return sorted(decode_path(file.path).rpartition("/")[2] for file in snapshot.files())


def test_the_corpus_is_whole() -> None:
    if not corpus_root().is_dir():
        pytest.skip(f"no corpus at {corpus_root()}; TRUCKEE_CORPUS can name another place")

    assert len(ALL) == 287
    assert len(VALID) + len(REFUSED_TO_READ) + len(REFUSED_TO_WRITE) == 287


@pytest.mark.parametrize("table", [*VALID, *REFUSED_TO_WRITE], ids=str)
def test_a_table_opens_as_expected(table: CorpusTable, tmp_path: Path) -> None:
    expected = table.expected

    snapshot = opened(table, tmp_path)

    assert snapshot.version == expected["latest_version"]
    assert list(snapshot.partition_columns) == expected["partition_columns"]
    assert columns(snapshot.schema) == expected["schema"]
    protocol, found = expected.get("protocol"), snapshot.protocol
    if protocol is not None:
        assert found.min_reader_version == protocol["minReaderVersion"]
        assert found.min_writer_version == protocol["minWriterVersion"]
        assert set(found.reader_features or ()) == set(protocol.get("readerFeatures") or ())
        assert set(found.writer_features or ()) == set(protocol.get("writerFeatures") or ())
    active = expected.get("active_files")
    if active is not None:
        assert snapshot.num_files == active["count"]
        assert base_names(snapshot) == sorted(active.get("file_names", base_names(snapshot)))


@pytest.mark.parametrize("table", VALID, ids=str)
def test_every_version_expected_of_a_table_opens(table: CorpusTable, tmp_path: Path) -> None:
    storage = LocalStorage(str(table.ready(tmp_path)))

    for entry in table.expected.get("snapshots", ()):
        snapshot = load_snapshot(storage, entry["version"])
        assert snapshot.version == entry["version"]
        if "columns" in entry:
            assert list(snapshot.schema.names) == entry["columns"]


@pytest.mark.parametrize("table", REFUSED_TO_READ, ids=str)
def test_an_invalid_table_is_refused(table: CorpusTable, tmp_path: Path) -> None:
    with pytest.raises(READ_REFUSALS[table.expected["error"]["kind"]]):
        vector_files(table, tmp_path)


def vector_files(table: CorpusTable, workdir: Path) -> list[str]:
    """Open a table and name its vectors' files, where a log is whole and a descriptor is not."""
    vectors = [file.deletion_vector for file in opened(table, workdir).files()]
    return [vector.file_path for vector in vectors if vector is not None]


@pytest.mark.parametrize("table", REFUSED_TO_WRITE, ids=str)
def test_a_table_is_refused_to_writers_who_do_not_know_its_features(
    table: CorpusTable, tmp_path: Path
) -> None:
    snapshot = opened(table, tmp_path)
    protocol = snapshot.protocol
    named = protocol.writer_features or ()
    if named and all(FEATURES[name].write for name in named):
        # What the writer of this expectation did not know, truckee writes; so one more is named.
        check_writable(protocol, snapshot.metadata, str(table))
        protocol = replace(protocol, writer_features=(*named, "teleportation"))

    with pytest.raises(WRITE_REFUSALS[table.expected["write_error"]["kind"]]):
        check_writable(protocol, snapshot.metadata, str(table))


@pytest.mark.parametrize("table", VALID, ids=str)
def test_every_checksum_agrees_but_the_broken_ones(table: CorpusTable, tmp_path: Path) -> None:
    storage = LocalStorage(str(table.ready(tmp_path)))

    for file in (table.path / "_delta_log").glob("*.crc"):
        snapshot = load_snapshot(storage, int(file.stem))
        bad = BAD_CHECKSUMS.get((table.name, snapshot.version))
        if bad is not None:
            with pytest.raises(bad):
                verify_checksum(snapshot)
        else:
            assert verify_checksum(snapshot)


@pytest.mark.parametrize("table", VALID, ids=str)
def test_history_names_every_commit(table: CorpusTable, tmp_path: Path) -> None:
    entries = history(LocalStorage(str(table.ready(tmp_path))))

    names = [file.name for file in (table.path / "_delta_log").glob("*.json")]
    commits = [int(name[:-5]) for name in names if re.fullmatch(r"\d{20}\.json", name)]
    assert [entry.version for entry in entries] == sorted(commits, reverse=True)

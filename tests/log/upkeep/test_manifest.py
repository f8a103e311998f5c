"""Lists of a table's files for other readers, written once or kept up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from data_tables import PROTOCOL, DataTable, metadata, vector
from truckee.commands.care.generate import generate
from truckee.errors.commands.clone import (
    ManifestColumnMappingError,
    ManifestModeError,
    ManifestPropertyError,
    ManifestVectorsError,
)
from truckee.log.commit.transaction import Transaction
from truckee.log.snapshot import load_snapshot
from truckee.protocol.actions import AddFile, RemoveFile
from truckee.storage.local import LocalStorage

KEPT = {"delta.compatibility.symlinkFormatManifest.enabled": "true"}


def add(path: str, **values: str | None) -> AddFile:
    return AddFile(
        path=path, partition_values=values, size=1, modification_time=1, data_change=True
    )


def remove(path: str, **values: str | None) -> RemoveFile:
    return RemoveFile(path=path, deletion_timestamp=1, partition_values=values)


def manifests(path: Path) -> dict[str, list[str]]:
    folder = path / "_symlink_format_manifest"
    return {
        str(file.parent.relative_to(folder)): file.read_text().splitlines()
        for file in folder.rglob("manifest")
    }


def test_a_flat_table_has_one_manifest_even_if_it_is_empty(tmp_path: Path) -> None:
    table = DataTable(tmp_path / "t", properties={})

    generate(table.storage, "SYMLINK_format_manifest")
    assert manifests(table.path) == {".": []}

    table.commit(add("a%20b.parquet"), add("file:///elsewhere/c%25.parquet"))
    generate(table.storage, "symlink_format_manifest")
    assert manifests(table.path) == {
        ".": ["file:/elsewhere/c%.parquet", f"file:{table.path}/a b.parquet"]
    }


def test_each_partition_has_one_and_those_of_gone_partitions_go(tmp_path: Path) -> None:
    table = DataTable(tmp_path / "t", "id long", "p string", partition_by=("p",), properties={})
    table.commit(add("x", p="a b"), add("y", p="c:d"), add("z", p=None))

    generate(table.storage, "symlink_format_manifest")

    assert manifests(table.path) == {
        "p=a b": [f"file:{table.path}/x"],
        "p=c%3Ad": [f"file:{table.path}/y"],
        "p=__HIVE_DEFAULT_PARTITION__": [f"file:{table.path}/z"],
    }

    table.commit(remove("x", p="a b"), remove("z", p=None))
    generate(table.storage, "symlink_format_manifest")

    assert manifests(table.path) == {"p=c%3Ad": [f"file:{table.path}/y"]}


def test_other_files_among_the_manifests_stay(tmp_path: Path) -> None:
    table = DataTable(tmp_path / "t", "id long", "p string", partition_by=("p",), properties={})
    table.commit(add("x", p="a"))
    note = table.path / "_symlink_format_manifest" / "p=b" / "note.txt"
    note.parent.mkdir(parents=True)
    note.write_text("theirs")
    (note.parent / "manifest").write_text("of a partition that is gone")

    generate(table.storage, "symlink_format_manifest")

    assert manifests(table.path) == {"p=a": [f"file:{table.path}/x"]}
    assert note.read_text() == "theirs"


def test_the_property_keeps_manifests_up_to_date(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path / "t"))
    table = metadata("id long", "p string", partition_by=("p",), properties=KEPT)

    def commit(*actions: AddFile | RemoveFile) -> dict[str, list[str]]:
        is_new = not (tmp_path / "t").exists()
        transaction = Transaction(storage, None if is_new else load_snapshot(storage))
        if is_new:
            transaction.set_metadata(table)
        transaction.stage(*actions)
        transaction.commit("WRITE")
        return manifests(tmp_path / "t")

    root = f"file:{tmp_path}/t"
    assert commit(add("x", p="1")) == {"p=1": [f"{root}/x"]}
    other = tmp_path / "t" / "_symlink_format_manifest" / "p=9" / "manifest"
    other.parent.mkdir()
    other.write_text("untouched\n")
    assert commit(add("y", p="2")) == {
        "p=1": [f"{root}/x"],
        "p=2": [f"{root}/y"],
        "p=9": ["untouched"],
    }
    assert commit(remove("x", p="1"), add("z", p="2")) == {
        "p=2": [f"{root}/y", f"{root}/z"],
        "p=9": ["untouched"],
    }


def test_vectors_and_mapped_columns_are_refused(tmp_path: Path) -> None:
    table = DataTable(tmp_path / "t", properties={"delta.enableDeletionVectors": "true"})
    file = add("a")
    table.commit(
        AddFile(
            path=file.path,
            partition_values={},
            size=1,
            modification_time=1,
            data_change=True,
            deletion_vector=vector(1),
        )
    )

    with pytest.raises(ManifestVectorsError):
        generate(table.storage, "symlink_format_manifest")
    with pytest.raises(ManifestModeError):
        generate(table.storage, "csv")
    for properties in (KEPT | {"delta.enableDeletionVectors": "true"}, KEPT):
        transaction = Transaction(table.storage, load_snapshot(table.storage))
        transaction.set_metadata(metadata("id long", properties=properties))
        with pytest.raises(ManifestPropertyError):
            transaction.commit("SET TBLPROPERTIES")
    mapped = DataTable(tmp_path / "m", properties={"delta.columnMapping.mode": "name"})
    with pytest.raises(ManifestColumnMappingError):
        generate(mapped.storage, "symlink_format_manifest")
    assert not (tmp_path / "t" / "_symlink_format_manifest").exists()
    assert PROTOCOL.reader_features is not None

"""What a clone names as its files, what it takes over of its source, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest

from care.folders import UNKNOWN_WRITER, Folder, Interrupted
from data_tables import vector
from truckee.care.vacuum.plan import VacuumOptions, plan_vacuum
from truckee.care.vacuum.vacuum import carry_out
from truckee.commands.care.clone import (
    CloneRequest,
    check_clone_target,
    clone_table,
    copy_in_threads,
    source_version,
)
from truckee.errors.commands.clone import (
    CloneColumnMappingError,
    ClonePathError,
    NonEmptyCloneError,
    SelfCloneError,
)
from truckee.errors.commands.create import TableAlreadyExistsError
from truckee.errors.commands.write import NonEmptyFolderError
from truckee.errors.options import ArgumentValueError
from truckee.errors.protocol import UnsupportedWriterFeaturesError
from truckee.errors.spark import DataFileNotFoundError
from truckee.errors.transaction import DeltaConcurrentModificationException
from truckee.log.files.commits import read_commit
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.protocol.deletion_vector import (
    DeletionVectorDescriptor,
    on_disk_with_relative_path,
)
from truckee.storage.base import Storage
from truckee.storage.copying import FileCopy
from truckee.storage.local import LocalStorage

SHALLOW = CloneRequest(is_shallow=True)
DEEP = CloneRequest()
MARKS = on_disk_with_relative_path(
    UUID(int=1), prefix="ab", size_in_bytes=9, cardinality=1, offset=1
)


@pytest.fixture
def table(tmp_path: Path) -> Folder:
    made = Folder(tmp_path / "t", **{"delta.enableDeletionVectors": "true", "mine": "1"}, days=3)
    made.write("p=a%20b/x y", "b", MARKS.file_path, days=3)
    made.commit(
        made.add("p=a%20b/x y", deletion_vector=MARKS, base_row_id=5),
        made.add("b", deletion_vector=vector(1, 2)),
        days=3,
    )
    made.commit(made.remove("b", days=2, deletion_vector=vector(1, 2)), days=2)
    return made


def at(path: Path) -> Storage:
    return LocalStorage(str(path))


def source(table: Folder, version: int | None = None) -> Snapshot:
    return load_snapshot(table.storage, version)


def test_a_shallow_clone_names_the_files_of_its_source(table: Folder, tmp_path: Path) -> None:
    counts = clone_table(source(table, 1), at(tmp_path / "c"), SHALLOW)

    found = load_snapshot(at(tmp_path / "c"))
    first, second = sorted(found.files(), key=lambda file: file.path)
    assert first.path == f"file:{tmp_path}/t/b"
    assert first.deletion_vector == vector(1, 2)
    assert second.path == f"file:{tmp_path}/t/p=a%2520b/x%20y"
    assert second.deletion_vector is not None
    assert second.deletion_vector.storage_type == "p"
    assert second.deletion_vector.file_path == f"{tmp_path}/t/{MARKS.file_path}"
    assert (second.base_row_id, second.data_change) == (None, False)
    assert counts == {
        "source_table_size": 20,
        "source_num_of_files": 2,
        "num_removed_files": 0,
        "num_copied_files": 0,
        "removed_files_size": 0,
        "copied_files_size": 0,
    }


def test_a_clone_is_a_table_of_its_own_like_its_source(table: Folder, tmp_path: Path) -> None:
    request = CloneRequest(is_shallow=True, properties={"mine": "2", "delta.appendOnly": "true"})

    clone_table(source(table), at(tmp_path / "c"), request)

    old, new = source(table).metadata, load_snapshot(at(tmp_path / "c")).metadata
    assert new.id != old.id
    assert new.schema_string == old.schema_string
    assert new.configuration == {
        "delta.enableDeletionVectors": "true",
        "mine": "2",
        "delta.appendOnly": "true",
    }
    commit = read_commit(at(tmp_path / "c"), 0)
    assert commit.commit_info is not None
    assert commit.commit_info.operation == "CLONE"
    assert commit.commit_info.operation_parameters == {
        "source": f"delta.`file:{tmp_path}/t`",
        "sourceVersion": 2,
    }
    assert all(add.data_change for add in commit.adds)


def test_a_clone_of_a_clone_names_the_files_of_the_first(table: Folder, tmp_path: Path) -> None:
    clone_table(source(table, 1), at(tmp_path / "c"), SHALLOW)
    clone_table(load_snapshot(at(tmp_path / "c")), at(tmp_path / "d"), SHALLOW)

    first, second = (list(load_snapshot(at(tmp_path / name)).files()) for name in "cd")
    assert first == second


def test_a_deep_clone_has_all_of_its_files(table: Folder, tmp_path: Path) -> None:
    counts = clone_table(source(table, 1), at(tmp_path / "c"), DEEP)

    found = load_snapshot(at(tmp_path / "c"))
    assert {file.path for file in found.files()} == {"b", "p=a%2520b/x%20y"}
    assert {file.deletion_vector for file in found.files()} == {MARKS, vector(1, 2)}
    for name in ("b", "p=a%20b/x y", MARKS.file_path):
        assert (tmp_path / "c" / name).read_bytes() == (table.path / name).read_bytes()
    assert (counts["num_copied_files"], counts["copied_files_size"]) == (3, 20)


def test_a_deep_clone_of_a_shallow_one_has_the_files_of_both(table: Folder, tmp_path: Path) -> None:
    clone_table(source(table, 1), at(tmp_path / "c"), SHALLOW)

    clone_table(load_snapshot(at(tmp_path / "c")), at(tmp_path / "d"), DEEP)

    for file in load_snapshot(at(tmp_path / "d")).files():
        assert (tmp_path / "d" / file.path.replace("%20", " ")).exists()
        assert file.deletion_vector is not None
        if file.deletion_vector.is_on_disk:
            assert file.deletion_vector.storage_type == "u"
            assert (tmp_path / "d" / file.deletion_vector.file_path).exists()


@pytest.mark.parametrize(
    "name", ["../../out/x", "a/../../../out/x", "_delta_log/00000000000000000000.json"]
)
def test_a_deep_clone_writes_no_file_outside_its_folder_or_in_its_log(
    tmp_path: Path, name: str
) -> None:
    hostile = Folder(tmp_path / "source" / "deep" / "t", **{"delta.enableDeletionVectors": "true"})
    marks = DeletionVectorDescriptor(
        storage_type="r", path_or_inline_dv=f"{name}v", offset=1, size_in_bytes=9, cardinality=1
    )
    (hostile.path / "a").mkdir()
    for path in (name, f"{name}v"):
        if not (hostile.path / path).exists():
            hostile.write(path, days=1)
    size = (hostile.path / name).stat().st_size
    hostile.commit(hostile.add(name, size=size, deletion_vector=marks), days=1)
    (tmp_path / "target" / "deep").mkdir(parents=True)
    copy = tmp_path / "target" / "deep" / "c"

    clone_table(source(hostile), at(copy), DEEP)

    (file,) = load_snapshot(at(copy)).files()
    own = {file.path, file.deletion_vector.file_path if file.deletion_vector else ""}
    assert all(".." not in path and "_delta_log" not in path for path in own)
    left = {str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file()}
    assert own <= left
    assert [path.name for path in (tmp_path / "target").rglob("*") if copy not in path.parents] == [
        "deep",
        "c",
    ]


def test_a_deep_clone_that_was_stopped_copies_the_rest(table: Folder, tmp_path: Path) -> None:
    copied: list[str] = []

    def one_file(source: Storage, target: Storage, files: list[FileCopy]) -> None:
        copied.extend(file.target for file in files)
        copy_in_threads(source, target, files[:1])
        if len(files) > 1:
            raise KeyboardInterrupt

    for left in (3, 2):
        with pytest.raises(KeyboardInterrupt):
            clone_table(source(table, 1), at(tmp_path / "c"), DEEP, copy=one_file)  # type: ignore[arg-type]
        assert len(copied) == left
        copied.clear()
    clone_table(source(table, 1), at(tmp_path / "c"), DEEP, copy=one_file)  # type: ignore[arg-type]

    assert len(copied) == 1
    assert load_snapshot(at(tmp_path / "c")).num_files == 2


# Invariant 40.
def test_a_vacuum_of_the_clone_leaves_the_files_of_the_source(
    table: Folder, tmp_path: Path
) -> None:
    clone_table(source(table, 1), at(tmp_path / "c"), SHALLOW)
    before = table.left()

    found = plan_vacuum(at(tmp_path / "c"), VacuumOptions(), now_ms=2**45)
    carry_out(found)

    assert found.paths == ()
    assert table.left() == before


def test_a_table_with_files_is_not_cloned_over(table: Folder, tmp_path: Path) -> None:
    clone_table(source(table), at(tmp_path / "c"), SHALLOW)

    for replaces in (False, True):
        with pytest.raises(NonEmptyCloneError):
            clone_table(source(table), at(tmp_path / "c"), CloneRequest(replace=replaces))


def test_a_table_is_not_cloned_onto_itself(table: Folder) -> None:
    same = source(table)

    with pytest.raises(SelfCloneError) as raised:
        clone_table(same, same.storage, CloneRequest(replace=True))

    assert raised.value.sentence() == (
        f"the source and the target of the clone are the same table, {same.storage.root}\n"
        "hint: choose another target; RESTORE brings back an earlier version of a table"
    )


def test_a_table_without_files_is_replaced_if_asked_for(table: Folder, tmp_path: Path) -> None:
    empty = Folder(tmp_path / "c", **{"other": "1", "delta.feature.domainMetadata": "supported"})

    with pytest.raises(TableAlreadyExistsError):
        clone_table(source(table), empty.storage, SHALLOW)
    clone_table(source(table), empty.storage, CloneRequest(is_shallow=True, replace=True))

    found = load_snapshot(empty.storage)
    assert (found.version, found.num_files) == (1, 1)
    assert found.metadata.id == load_snapshot(empty.storage, 0).metadata.id
    assert "other" not in found.metadata.configuration


def test_a_folder_with_other_files_is_refused(table: Folder, tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "x.csv").write_text("")

    for request in (SHALLOW, DEEP):
        with pytest.raises(NonEmptyFolderError):
            clone_table(source(table), at(tmp_path / "c"), request)
    assert [path.name for path in (tmp_path / "c").iterdir()] == ["x.csv"]


def test_a_source_whose_files_are_gone_is_refused(table: Folder, tmp_path: Path) -> None:
    (table.path / MARKS.file_path).unlink()

    for request in (SHALLOW, DEEP):
        with pytest.raises(DataFileNotFoundError):
            clone_table(source(table), at(tmp_path / "c"), request)
    assert not (tmp_path / "c").exists()


def test_a_source_with_an_unknown_feature_is_refused(table: Folder, tmp_path: Path) -> None:
    table.commit(UNKNOWN_WRITER, days=1)

    with pytest.raises(UnsupportedWriterFeaturesError):
        clone_table(source(table), at(tmp_path / "c"), SHALLOW)

    assert not (tmp_path / "c").exists()


def test_arguments_that_mean_nothing_are_refused(table: Folder, tmp_path: Path) -> None:
    with pytest.raises(ClonePathError):
        check_clone_target("relative/path")
    with pytest.raises(ArgumentValueError):
        check_clone_target(7)  # type: ignore[arg-type]
    with pytest.raises(ArgumentValueError):
        source_version(table.storage, "1", None)  # type: ignore[arg-type]
    renamed = CloneRequest(is_shallow=True, properties={"delta.columnMapping.mode": "name"})
    with pytest.raises(CloneColumnMappingError):
        clone_table(source(table), at(tmp_path / "c"), renamed)
    assert not (tmp_path / "c").exists()


def test_a_table_that_appears_meanwhile_is_not_overwritten(table: Folder, tmp_path: Path) -> None:
    storage = Interrupted(tmp_path / "c", lambda: Folder(tmp_path / "c"))

    with pytest.raises(DeltaConcurrentModificationException):
        clone_table(source(table), storage, SHALLOW)

    assert load_snapshot(at(tmp_path / "c")).num_files == 0

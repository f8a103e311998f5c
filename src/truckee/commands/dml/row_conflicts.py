"""May a command be committed after other commits to the same files? Decided by rows, not by files.

DELETE, UPDATE and MERGE depend only on the rows for which their condition is true. So commits that
others made since the table was read conflict only if they removed, changed or added such rows:

| since the table was read, others                  | and this command            | outcome      |
|---------------------------------------------------|-----------------------------|--------------|
| marked rows of a file                             | depends on one of them      | conflict     |
|                                                   | marks other rows of it      | vectors unite|
|                                                   | rewrote the file            | run again    |
| removed a file                                    | depends on no row of it     | none         |
|                                                   | depends on rows of it, and  |              |
|                                                   | - they are in new files now | run again    |
|                                                   | - they are not              | conflict     |
| added a file                                      | its condition is true of no |              |
|                                                   | row in it                   | none         |
|                                                   | of some row                 | conflict     |

*Run again* means that the rows are unchanged and have only moved to other files: the command is
planned again on the latest version. Conflicts are those of `log.conflicts`, which also decides what
is not about files (protocol, metadata, transactions).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from truckee.changes.row_diff import changed_rows
from truckee.commands.dml.later_commits import FileChange, file_changes
from truckee.commands.dml.marked_files import (
    marked_files,
    vector_files,
    vector_rows,
)
from truckee.commands.dml.matched_files import TouchedFile
from truckee.commands.dml.outcome import DmlPlan, RowChanges
from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.deletion_vectors.store import StoredRows, delete_vector_files, loaded_rows
from truckee.log.commit.conflicts import Candidate, Conflict, IsolationLevel, Reads, conflict_with
from truckee.log.files.commits import Commit, read_commits
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import (
    Action,
    AddCDCFile,
    AddFile,
    CommitInfo,
    RemoveFile,
)
from truckee.protocol.paths import decode_path
from truckee.protocol.predicates import ALWAYS_TRUE
from truckee.protocol.table_configuration import TableConfiguration
from truckee.scan.pruning import prune
from truckee.spark.dml.target import Target
from truckee.spark.jvm.projection import quoted
from truckee.spark.read.relations import FILE
from truckee.spark.session.job_descriptions import job_description
from truckee.spark.session.settings import session_zone


@dataclass(frozen=True)
class _Conflicts:
    """Conflicts with commits that came first, as `log.conflicts` reports them."""

    plan: DmlPlan
    commits: Sequence[Commit]
    app_ids: frozenset[str]

    def check_all_but_files(self) -> None:
        """Raise if a commit conflicts for a reason other than its files."""
        snapshot = self.plan.changes.snapshot
        before = snapshot.configuration
        for commit in self.commits:
            others = tuple(a for a in commit.actions if not isinstance(a, _FILE_ACTIONS))
            mine = self._mine(Reads(app_ids=self.app_ids), before)
            conflict = conflict_with(mine, replace(commit, actions=others))
            if conflict is not None:
                raise conflict
            before = before.after(commit.metadata, commit.protocol)

    def removed(self, path: str) -> Conflict:
        """Return the conflict with the commit that removed a file this command depends on."""
        for commit in self.commits:
            for action in commit.removes:
                if decode_path(action.path) == path:
                    return self._about(commit, action, Reads(paths=frozenset({path})))
        raise AssertionError(f"nobody removed {path}")

    def added(self, path: str) -> Conflict:
        """Return the conflict with the commit that added a file this command should have read."""
        for commit in reversed(self.commits):
            for action in commit.adds:
                if decode_path(action.path) == path:
                    return self._about(commit, action, Reads(predicates=(ALWAYS_TRUE,)))
        raise AssertionError(f"nobody added {path}")

    def _about(self, commit: Commit, action: Action, reads: Reads) -> Conflict:
        before = self.plan.changes.snapshot.configuration
        infos = tuple(a for a in commit.actions if isinstance(a, CommitInfo))
        alone = replace(commit, actions=(*infos, action))
        conflict = conflict_with(self._mine(reads, before), alone)
        assert conflict is not None, "the rules see no conflict"
        return conflict

    def _mine(self, reads: Reads, before: TableConfiguration) -> Candidate:
        plan = self.plan
        changed = () if plan.metadata is None else (plan.metadata,)
        return Candidate(
            reads=reads,
            actions=(*changed, *plan.changes.actions),
            operation=plan.operation,
            before=before,
            table=plan.changes.snapshot.storage.root,
        )


_FILE_ACTIONS = (AddFile, RemoveFile, AddCDCFile)


def changes_after(
    spark: SparkSession,
    plan: DmlPlan,
    newer: Snapshot,
    *,
    app_ids: frozenset[str] = frozenset(),
) -> RowChanges | None:
    """Return the changes of a command, adapted to be committed after a newer version.

    `app_ids` are the applications for which the command records a version. None means that rows it
    depends on have moved, so it has to be run again. Raises the conflict if there is one.
    """
    changes = plan.changes
    storage = newer.storage
    commits = list(read_commits(storage, changes.snapshot.version + 1, newer.version))
    conflicts = _Conflicts(plan, commits, app_ids)
    conflicts.check_all_but_files()
    found = file_changes(changes.snapshot, commits)
    matters = _Matters(changes)

    lost = [each for each in found if each.is_gone and matters.any_of(each.path)]
    new = [each.after for each in found if each.is_new and each.after is not None]
    new = _that_count(new, commits, newer, plan)
    run_again = False
    reunited: list[TouchedFile] = []
    for each in found:
        if each.before is None or each.after is None:
            continue
        came, went = _came_and_went(newer, each)
        if came:
            raise conflicts.added(each.path)
        if went and matters.overlaps(each.path, went):
            raise conflicts.removed(each.path)
        mine = matters.marked(each.path)
        if mine is not None:
            reunited.append(TouchedFile(-1, each.after, mine))
        elif went and matters.is_removed(each.path):
            run_again = True
    if lost:
        if not _only_moved(spark, plan, newer, [each.before for each in lost], new):
            raise conflicts.removed(lost[0].path)
        run_again = True
    elif (path := _first_match(spark, plan, newer, new)) is not None:
        raise conflicts.added(path)
    return None if run_again else _reunited(spark, changes, newer, reunited)


class _Matters:
    """The rows that a command depends on, by the decoded path of their file."""

    def __init__(self, changes: RowChanges) -> None:
        self._storage = changes.snapshot.storage
        self._rows = {decode_path(file.add.path): file.rows for file in changes.touched}
        self._removed = {decode_path(file.path) for file in changes.removed}
        self._marked = {decode_path(file.before.path): file.rows for file in changes.marked}

    def any_of(self, path: str) -> bool:
        return path in self._rows or path in self._removed

    def is_removed(self, path: str) -> bool:
        return path in self._removed

    def marked(self, path: str) -> RowBitmap | StoredRows | None:
        return self._marked.get(path)

    def overlaps(self, path: str, rows: RowBitmap) -> bool:
        if path in self._rows:
            return not loaded_rows(self._storage, self._rows[path]).isdisjoint(rows)
        # Removed because of its partition, with all of its rows.
        return path in self._removed


def _came_and_went(snapshot: Snapshot, change: FileChange) -> tuple[RowBitmap, RowBitmap]:
    """Return the rows that a new vector restores, and those that it deletes."""
    assert change.before is not None
    assert change.after is not None
    if change.before.deletion_vector == change.after.deletion_vector:
        return RowBitmap(), RowBitmap()
    before, after = vector_rows(snapshot, [change.before, change.after])
    diff = changed_rows(before, after)
    return diff.restored, diff.deleted


def _that_count(
    new: list[AddFile], commits: Sequence[Commit], newer: Snapshot, plan: DmlPlan
) -> list[AddFile]:
    """Return the new files whose rows this command should have seen.

    With WriteSerializable, blind appends count as if they came after this command.
    """
    level = IsolationLevel(newer.properties.isolation_level)
    if level is not IsolationLevel.WRITE_SERIALIZABLE or plan.metadata is not None:
        return new
    blind = {
        decode_path(add.path)
        for commit in commits
        if commit.commit_info is not None and commit.commit_info.is_blind_append is True
        for add in commit.adds
    }
    return [add for add in new if decode_path(add.path) not in blind]


def _first_match(
    spark: SparkSession, plan: DmlPlan, newer: Snapshot, new: list[AddFile]
) -> str | None:
    """Return the decoded path of a new file with a row that this command matches, or None."""
    new = _not_pruned(spark, plan, newer, new)
    if not new:
        return None
    target = Target(spark, newer)
    with target.only(new) as rows, job_description(spark, "looking for rows in files of others"):
        found = plan.matching(rows).select(FILE).limit(1).collect()
    return decode_path(target.add_files([found[0][0]])[0].path) if found else None


def _not_pruned(
    spark: SparkSession, plan: DmlPlan, newer: Snapshot, new: list[AddFile]
) -> list[AddFile]:
    paths = pa.array([add.path for add in new], pa.string())
    table = newer.files_table()
    table = table.filter(pc.is_in(table.column("path"), paths))
    kept = prune(
        table,
        newer.configuration,
        plan.changes.reading.predicate,
        session_zone=session_zone(spark),
    )
    return newer.add_files(table.filter(kept))


def _only_moved(
    spark: SparkSession,
    plan: DmlPlan,
    newer: Snapshot,
    lost: Iterable[AddFile | None],
    new: list[AddFile],
) -> bool:
    """Whether new files contain exactly the rows that were in the removed files."""
    before = [file for file in lost if file is not None]
    after = _not_pruned(spark, plan, newer, new)
    if not after:
        return False
    old = _fingerprint(spark, plan, plan.changes.snapshot, before)
    return old == _fingerprint(spark, plan, newer, after)


def _fingerprint(
    spark: SparkSession, plan: DmlPlan, snapshot: Snapshot, files: list[AddFile]
) -> tuple[object, ...]:
    """Return a fingerprint of rows: equal fingerprints mean, almost certainly, equal rows."""
    target = Target(spark, snapshot)
    with target.only(files) as rows:
        columns = [quoted(name) for name in snapshot.schema.names]
        return _sums(plan.matching(rows).select(*columns))


def _sums(rows: DataFrame) -> tuple[object, ...]:
    text = F.to_json(F.struct("*"), {"ignoreNullFields": "false"})
    sums = rows.select(F.xxhash64(text).alias("h"), F.hash(text).alias("g")).agg(
        F.count("*"), F.sum(F.col("h").cast("decimal(38,0)")), F.bit_xor("h"), F.sum("g")
    )
    with job_description(rows.sparkSession, "comparing rows with those of others"):
        return tuple(sums.collect()[0])


def _reunited(
    spark: SparkSession, changes: RowChanges, newer: Snapshot, files: list[TouchedFile]
) -> RowChanges:
    """Return the changes with vectors that also mark the rows that others have marked."""
    paths = {decode_path(file.add.path) for file in files}
    kept = [file for file in changes.marked if decode_path(file.before.path) not in paths]
    whole = [file.add for file in files if file.is_whole]
    marked = marked_files(spark, newer, [file for file in files if not file.is_whole])
    # A file holds many vectors, and rows that were found may be needed again.
    used = vector_files([*kept, *marked]) | changes.parts
    delete_vector_files(newer.storage, vector_files(changes.marked) - used)
    return replace(
        changes,
        snapshot=newer,
        removed=(*changes.removed, *whole),
        marked=(*kept, *marked),
    )

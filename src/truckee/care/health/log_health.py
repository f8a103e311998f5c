"""The state of the log: its checkpoints, its checksum, and its cleanup."""

from __future__ import annotations

from collections.abc import Iterator

from truckee.care.health.findings import Finding, Severity, count_text
from truckee.errors.log import ChecksumMismatchError, CorruptLogFileError
from truckee.log.files.segment import LogListing, last_checkpoint_version, list_log
from truckee.log.snapshot import Snapshot
from truckee.log.upkeep.checksum import verify_checksum
from truckee.log.upkeep.cleanup import first_version_kept

_DAY_MS = 24 * 3600 * 1000
_LATE = 2


def log_findings(snapshot: Snapshot, now_ms: int) -> Iterator[Finding]:
    """Yield what makes the log slow to read, and its errors."""
    listing = list_log(snapshot.storage, 0)
    yield from _checkpoints(snapshot, listing)
    yield from _checksum(snapshot)
    yield from _clean_up(snapshot, listing, now_ms)


def _checkpoints(snapshot: Snapshot, listing: LogListing) -> Iterator[Finding]:
    interval = snapshot.properties.checkpoint_interval
    newest = max(listing.checkpoints, default=None)
    behind = snapshot.version - (-1 if newest is None else newest)
    hint = last_checkpoint_version(snapshot.storage)
    facts = {"newest": newest, "hint": hint, "commitsSince": behind}
    due = (snapshot.version // interval + 1) * interval
    mend = f"the commit of version {due} writes a checkpoint"
    if behind > _LATE * interval:
        since = "and there is no checkpoint" if newest is None else "came after the last checkpoint"
        yield Finding(
            topic="checkpoints",
            severity=Severity.WARNING,
            says=f"{count_text(behind, 'commit')} {since}; one is due every {interval}, so readers "
            "have to read each of them",
            mend=mend,
            facts=facts,
        )
    elif newest is not None and hint not in listing.checkpoints:
        yield Finding(
            topic="checkpoints",
            severity=Severity.WARNING,
            says="_last_checkpoint names no existing checkpoint, so readers have to list the whole "
            "log",
            mend=mend,
            facts=facts,
        )
    else:
        says = "no checkpoint is due yet"
        if newest is not None:
            says = (
                f"the newest is of version {newest}, with {count_text(behind, 'commit')} after it"
            )
        yield Finding(topic="checkpoints", severity=Severity.INFO, says=says, facts=facts)


def _checksum(snapshot: Snapshot) -> Iterator[Finding]:
    try:
        is_there = verify_checksum(snapshot)
    except (ChecksumMismatchError, CorruptLogFileError) as error:
        yield Finding(
            topic="checksum",
            severity=Severity.ERROR,
            says=error.sentence().partition("\n")[0],
            mend="commit once more with a writer that you trust; each commit has its own checksum",
        )
        return
    if not is_there:
        yield Finding(
            topic="checksum",
            severity=Severity.INFO,
            says=f"version {snapshot.version} has no checksum; its writer wrote none",
        )


def _clean_up(snapshot: Snapshot, listing: LogListing, now_ms: int) -> Iterator[Finding]:
    cutoff_ms = (now_ms - snapshot.properties.log_retention_ms) // _DAY_MS * _DAY_MS
    first = first_version_kept(listing, cutoff_ms)
    expired = 0 if first is None else sum(version < first for version in listing.commits)
    if not expired:
        return
    is_on = snapshot.properties.enable_expired_log_cleanup
    why = (
        "they are deleted after the next checkpoint"
        if is_on
        else "delta.enableExpiredLogCleanup is false"
    )
    yield Finding(
        topic="clean-up",
        severity=Severity.INFO,
        says=f"{count_text(expired, 'commit')} before version {first} are older than the log's "
        f"retention; {why}",
        mend=None if is_on else "set the table property delta.enableExpiredLogCleanup to true",
        facts={"commits": expired, "firstKept": first},
    )

"""The doctor: problems of a table, found in seconds from its log and a listing, without a JVM.

Nothing is changed, and no data file is opened.
"""

from __future__ import annotations

import time

from truckee.care.health.engines import engine_findings
from truckee.care.health.file_health import file_findings, listing
from truckee.care.health.findings import Diagnosis, Severity
from truckee.care.health.layout_health import layout_findings
from truckee.care.health.log_health import log_findings
from truckee.log.snapshot import Snapshot

_ORDER = tuple(Severity)


def diagnosis(snapshot: Snapshot, *, now_ms: int | None = None) -> Diagnosis:
    """Return the findings about a version of a table, the worst first."""
    now_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    path = snapshot.storage.root
    findings = [
        *file_findings(listing(snapshot, now_ms), path),
        *layout_findings(snapshot, path),
        *log_findings(snapshot, now_ms),
        *engine_findings(snapshot),
    ]
    findings.sort(key=lambda finding: _ORDER.index(finding.severity))
    return Diagnosis(table=path, version=snapshot.version, findings=tuple(findings))

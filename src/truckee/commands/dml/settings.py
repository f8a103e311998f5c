"""The settings of a session for DELETE, UPDATE and MERGE.

| setting of the session                                        | default | meaning             |
|---------------------------------------------------------------|---------|---------------------|
| `spark.databricks.delta.delete.deletionVectors.persistent`    | true    | DELETE may mark rows|
| `spark.databricks.delta.update.deletionVectors.persistent`    | true    | UPDATE may          |
| `spark.databricks.delta.merge.deletionVectors.persistent`     | true    | MERGE may           |
| `spark.truckee.dml.rewriteRatio`                              | 0.8     | see below           |
| `spark.truckee.dml.rewriteMinBytes`                           | 16 MiB  | see below           |
| `spark.truckee.dml.rowLevelConflicts`                         | true    | see `row_conflicts` |
| `spark.truckee.dml.maxReruns`                                 | 10      | see `row_conflicts` |
| `spark.databricks.delta.merge.materializeSource`              | auto    | auto, all or none   |
| `spark.databricks.delta.schema.autoMerge.enabled`             | false   | MERGE adds columns  |
| `spark.databricks.delta.write.txnAppId`, `.write.txnVersion`  |         | as for writes       |
| `spark.databricks.delta.commitInfo.userMetadata`              |         | goes into the commit|
| `spark.databricks.delta.delete.allowExistsSubquery`           | false   | DELETE WHERE EXISTS |

Even if rows can be marked, a file is rewritten once more than `rewriteRatio` of its rows are
deleted and each scan would have to skip at least `rewriteMinBytes` of them. With a ratio of 1 or
more, files are never rewritten for this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from truckee.errors.commands.write import IdempotentWriteOptionsError
from truckee.errors.options import IllegalOptionError
from truckee.options.text import Options

_DELTA = "spark.databricks.delta."
_OURS = "spark.truckee.dml."
_APP_ID = f"{_DELTA}write.txnAppId"
_VERSION = f"{_DELTA}write.txnVersion"
_MIB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class DmlSettings:
    """The settings of one command."""

    marks_rows: bool = True
    rewrite_ratio: float = 0.8
    rewrite_min_bytes: int = 16 * _MIB
    row_level_conflicts: bool = True
    max_reruns: int = 10
    merges_schema: bool = False
    materialize_source: str = "auto"
    user_metadata: str | None = None
    txn_app_id: str | None = None
    txn_version: int | None = None
    resets_version: bool = False
    allows_exists: bool = False


def dml_settings(command: str, settings: Mapping[str, str]) -> DmlSettings:
    """Return what the settings of a session say of a command: `delete`, `update` or `merge`."""
    given = Options(settings)
    return DmlSettings(
        marks_rows=given.boolean(f"{_DELTA}{command}.deletionVectors.persistent", True),
        rewrite_ratio=_number(given, f"{_OURS}rewriteRatio", 0.8),
        rewrite_min_bytes=int(_number(given, f"{_OURS}rewriteMinBytes", 16 * _MIB)),
        row_level_conflicts=given.boolean(f"{_OURS}rowLevelConflicts", True),
        max_reruns=int(_number(given, f"{_OURS}maxReruns", 10)),
        merges_schema=given.boolean(f"{_DELTA}schema.autoMerge.enabled"),
        materialize_source=_word(given, f"{_DELTA}merge.materializeSource", _MATERIALIZE),
        user_metadata=given.get(f"{_DELTA}commitInfo.userMetadata"),
        txn_app_id=given.get(_APP_ID),
        txn_version=given.version(_VERSION),
        resets_version=_VERSION in given and given.boolean(f"{_VERSION}.autoReset.enabled"),
        allows_exists=given.boolean(f"{_DELTA}{command}.allowExistsSubquery"),
    )


def check_transaction(settings: DmlSettings) -> None:
    """Raise IdempotentWriteOptionsError if a session sets half of what identifies a command.

    A write may have the other half as an option, so this is about commands alone.
    """
    if settings.txn_app_id is not None and settings.txn_version is None:
        raise IdempotentWriteOptionsError(given=_APP_ID, missing=_VERSION)
    if settings.txn_version is not None and settings.txn_app_id is None:
        raise IdempotentWriteOptionsError(given=_VERSION, missing=_APP_ID)


_MATERIALIZE = ("auto", "all", "none")


def _number(given: Options, name: str, default: float) -> float:
    if name not in given:
        return default
    try:
        number = float(given[name])
    except ValueError:
        number = -1.0
    if not number >= 0:
        raise IllegalOptionError(option=name, value=given[name], needs="a number of 0 or more")
    return number


def _word(given: Options, name: str, words: tuple[str, ...]) -> str:
    text = given.get(name, words[0]).lower()
    if text not in words:
        raise IllegalOptionError(option=name, value=text, needs=f"one of {', '.join(words)}")
    return text

"""Refused clones and manifests; nothing was written."""

from __future__ import annotations

from truckee.errors.base import DeltaError


class NonEmptyCloneError(DeltaError, code="DELTA_UNSUPPORTED_NON_EMPTY_CLONE", state="0AKDC"):
    """The target of a clone is a table that already has files."""

    table: str
    files: int
    text = "the target {table} is a table with {files} file{files!p}"
    hint = "delete its rows first, or choose another target"


class SelfCloneError(NonEmptyCloneError):
    """The source and the target of a clone are one table."""

    text = "the source and the target of the clone are the same table, {table}"
    hint = "choose another target; RESTORE brings back an earlier version of a table"


class ClonePathError(
    DeltaError, code="DELTA_INVALID_CLONE_PATH", state="22KD1", spark="IllegalArgumentException"
):
    """The target of a clone is not an absolute path."""

    path: str
    text = "the target {path!r} is not an absolute path"
    hint = "pass /data/copy or a URL"


class CloneSourceError(
    DeltaError, code="DELTA_CLONE_UNSUPPORTED_SOURCE", state="0AKDC", spark="AnalysisException"
):
    """The source of a clone is a table of another format."""

    source: str
    provider: str
    text = "the source {source} is not a Delta table, but a {provider} table"
    hint = "convert it with CONVERT TO DELTA first, or create the table AS SELECT"


class CloneTargetError(
    DeltaError, code="DELTA_CLONE_AMBIGUOUS_TARGET", state="42613", spark="AnalysisException"
):
    """The target of a clone is a path, and another path is given as its location."""

    location: str
    path: str
    text = "the target is {path}, but the location is {location}"
    hint = "leave LOCATION out"


class CloneColumnMappingError(
    DeltaError,
    code="DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE",
    state="0AKDC",
    spark="UnsupportedOperationException",
):
    """A clone must have the same column mapping mode as its source."""

    source: str
    target: str
    text = "the source has the column mapping mode {source}, the clone would have {target}"
    hint = "leave delta.columnMapping.mode as it is in the source"


class ManifestModeError(
    DeltaError, code="DELTA_MODE_NOT_SUPPORTED", state="0AKDC", spark="IllegalArgumentException"
):
    """An unknown kind of manifest."""

    mode: str
    text = "there is no manifest of the kind {mode!r}"
    hint = "pass symlink_format_manifest"


class ManifestVectorsError(
    DeltaError,
    code="DELTA_UNSUPPORTED_GENERATE_WITH_DELETION_VECTORS",
    state="0A000",
    spark="UnsupportedOperationException",
):
    """Readers of a manifest would show rows that deletion vectors delete."""

    table: str
    files: int
    text = (
        "{files} files of the table {table} have deletion vectors, which readers of a manifest "
        "cannot apply"
    )
    hint = "rewrite these files first: table.optimize().purge()"


class ManifestColumnMappingError(
    DeltaError,
    code="DELTA_UNSUPPORTED_MANIFEST_GENERATION_WITH_COLUMN_MAPPING",
    state="0AKDC",
    spark="UnsupportedOperationException",
):
    """Readers of a manifest would not find the columns of the files."""

    table: str
    text = "the table {table} has column mapping, which readers of a manifest cannot apply"
    hint = "read the table itself instead"


class ManifestPropertyError(
    DeltaError, code="DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED", state="0A000"
):
    """A table with deletion vectors cannot have a manifest."""

    table: str
    reason: str
    text = (
        "delta.compatibility.symlinkFormatManifest.enabled cannot be true for the table {table}: "
        "{reason}"
    )
    hint = "unset delta.enableDeletionVectors and run table.optimize().purge() first"

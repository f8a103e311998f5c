"""Refused clones and manifests; nothing was written.

DeltaError
├── NonEmptyCloneError               the target is a table with files
├── ClonePathError                   a target that is not an absolute path
├── CloneSourceError                 a source that is not a Delta table
├── CloneTargetError                 a target with two different paths
├── CloneColumnMappingError          a column mapping mode other than that of the source
├── ManifestModeError                an unknown kind of manifest
├── ManifestVectorsError             a manifest of files with deletion vectors
├── ManifestColumnMappingError       a manifest of files with column mapping
└── ManifestPropertyError            a property that deletion vectors forbid
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class NonEmptyCloneError(DeltaError):
    """The target of a clone is a table that already has files."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_NON_EMPTY_CLONE"
    table: str
    files: int

    def __str__(self) -> str:
        return (
            f"the target {self.table} is a table with {self.files} file{'s' * (self.files != 1)}\n"
            "hint: delete its rows first, or choose another target"
        )


@dataclass(eq=False, kw_only=True)
class ClonePathError(DeltaError):
    """The target of a clone is not an absolute path."""

    code: ClassVar[str] = "DELTA_INVALID_CLONE_PATH"
    path: str

    def __str__(self) -> str:
        return f"the target {self.path!r} is not an absolute path\nhint: pass /data/copy or a URL"


@dataclass(eq=False, kw_only=True)
class CloneSourceError(DeltaError):
    """The source of a clone is a table of another format."""

    code: ClassVar[str] = "DELTA_CLONE_UNSUPPORTED_SOURCE"
    source: str
    provider: str

    def __str__(self) -> str:
        return (
            f"the source {self.source} is not a Delta table, but a {self.provider} table\n"
            "hint: convert it with CONVERT TO DELTA first, or create the table AS SELECT"
        )


@dataclass(eq=False, kw_only=True)
class CloneTargetError(DeltaError):
    """The target of a clone is a path, and another path is given as its location."""

    code: ClassVar[str] = "DELTA_CLONE_AMBIGUOUS_TARGET"
    location: str
    path: str

    def __str__(self) -> str:
        return (
            f"the target is {self.path}, but the location is {self.location}\n"
            "hint: leave LOCATION out"
        )


@dataclass(eq=False, kw_only=True)
class CloneColumnMappingError(DeltaError):
    """A clone must have the same column mapping mode as its source."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE"
    source: str
    target: str

    def __str__(self) -> str:
        return (
            f"the source has the column mapping mode {self.source}, the clone would have "
            f"{self.target}\nhint: leave delta.columnMapping.mode as it is in the source"
        )


@dataclass(eq=False, kw_only=True)
class ManifestModeError(DeltaError):
    """An unknown kind of manifest."""

    code: ClassVar[str] = "DELTA_MODE_NOT_SUPPORTED"
    mode: str

    def __str__(self) -> str:
        return f"there is no manifest of the kind {self.mode!r}\nhint: pass symlink_format_manifest"


@dataclass(eq=False, kw_only=True)
class ManifestVectorsError(DeltaError):
    """Readers of a manifest would show rows that deletion vectors delete."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_GENERATE_WITH_DELETION_VECTORS"
    table: str
    files: int

    def __str__(self) -> str:
        return (
            f"{self.files} files of the table {self.table} have deletion vectors, which readers of "
            "a manifest cannot apply\n"
            "hint: rewrite these files first: table.optimize().purge()"
        )


@dataclass(eq=False, kw_only=True)
class ManifestColumnMappingError(DeltaError):
    """Readers of a manifest would not find the columns of the files."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_MANIFEST_GENERATION_WITH_COLUMN_MAPPING"
    table: str

    def __str__(self) -> str:
        return (
            f"the table {self.table} has column mapping, which readers of a manifest cannot apply\n"
            "hint: read the table itself instead"
        )


@dataclass(eq=False, kw_only=True)
class ManifestPropertyError(DeltaError):
    """A table with deletion vectors cannot have a manifest."""

    code: ClassVar[str] = "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED"
    table: str
    reason: str

    def __str__(self) -> str:
        return (
            "delta.compatibility.symlinkFormatManifest.enabled cannot be true for the table "
            f"{self.table}: {self.reason}\n"
            "hint: unset delta.enableDeletionVectors and run table.optimize().purge() first"
        )

"""Clones and manifests that are refused before anything is written.

DeltaError
├── NonEmptyCloneError               the target is a table with files
├── ClonePathError                   a target that is not an absolute path
├── CloneSourceError                 a source that is not a Delta table
├── CloneTargetError                 a target with two places
├── CloneColumnMappingError          another column mapping mode than the source has
├── ManifestModeError                a manifest of a kind that there is none of
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
    """The target of a clone is a table that has files."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_NON_EMPTY_CLONE"
    table: str
    files: int

    def __str__(self) -> str:
        return (
            f"the target {self.table} is a table with {self.files} files\n"
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
            f"the source {self.source} is not a Delta table, but one of {self.provider}\n"
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
    """A clone cannot have another column mapping mode than its source."""

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
    """There is no manifest of this kind."""

    code: ClassVar[str] = "DELTA_MODE_NOT_SUPPORTED"
    mode: str

    def __str__(self) -> str:
        return (
            f"a manifest of the kind {self.mode!r} cannot be generated\n"
            "hint: pass symlink_format_manifest"
        )


@dataclass(eq=False, kw_only=True)
class ManifestVectorsError(DeltaError):
    """Readers of a manifest would show rows that are deleted."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_GENERATE_WITH_DELETION_VECTORS"
    table: str
    files: int

    def __str__(self) -> str:
        return (
            f"{self.files} files of the table {self.table} have deletion vectors, which readers of "
            "a manifest do not know\nhint: rewrite these files first: table.optimize().purge()"
        )


@dataclass(eq=False, kw_only=True)
class ManifestColumnMappingError(DeltaError):
    """Readers of a manifest would not find the columns of the files."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_MANIFEST_GENERATION_WITH_COLUMN_MAPPING"
    table: str

    def __str__(self) -> str:
        return (
            f"the table {self.table} has column mapping, which readers of a manifest do not know\n"
            "hint: let these readers read the table itself"
        )


@dataclass(eq=False, kw_only=True)
class ManifestPropertyError(DeltaError):
    """A manifest cannot be kept up to date where files have deletion vectors."""

    code: ClassVar[str] = "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED"
    table: str
    reason: str

    def __str__(self) -> str:
        return (
            "delta.compatibility.symlinkFormatManifest.enabled cannot be true for the table "
            f"{self.table}: {self.reason}\n"
            "hint: unset delta.enableDeletionVectors and run table.optimize().purge() first"
        )

"""Every table feature, and what truckee does with a table that has it: one table, `FEATURES`.

A feature is *supported* by a table whose protocol names it, and *active* if the metadata makes use
of it. The documentation's table of features is made from this one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from truckee.protocol.column_metadata import (
    CURRENT_DEFAULT_KEY,
    GENERATION_EXPRESSION_KEY,
    IDENTITY_PREFIX,
    INVARIANTS_KEY,
    TYPE_CHANGES_KEY,
)
from truckee.protocol.properties import TableProperties

MAX_READER_VERSION = 3
MAX_WRITER_VERSION = 7
PREVIEW = "-preview"
"""What the name of a feature ends with before it is final."""


class MetadataFacts(Struct, frozen=True):
    """What a table's metadata declares about its features."""

    properties: TableProperties
    field_metadata: frozenset[str]
    type_names: frozenset[str]
    is_partitioned: bool


class Feature(Struct, frozen=True, kw_only=True):
    """One table feature, and what truckee does with a table that has it.

    `active` decides from the metadata whether the feature is in use, None if the metadata does not
    show it; `when` says the same in words. `reader_version` and `writer_version` are the lowest
    protocol versions that can express the feature. `needs` are features that it depends on.
    """

    name: str
    when: str
    active: Callable[[MetadataFacts], bool] | None = None
    reader_writer: bool = False
    reader_version: int = 1
    writer_version: int = 7
    needs: tuple[str, ...] = ()
    automatic: bool = True
    read: bool = True
    write: bool = True
    refused_because: str = ""


def _by_property(attribute: str) -> Callable[[MetadataFacts], bool]:
    return lambda declared: bool(getattr(declared.properties, attribute))


def _by_field(key: str) -> Callable[[MetadataFacts], bool]:
    return lambda declared: key in declared.field_metadata


def _by_type(*prefixes: str) -> Callable[[MetadataFacts], bool]:
    return lambda declared: any(name.startswith(prefixes) for name in declared.type_names)


def _by_configuration(key: str) -> Callable[[MetadataFacts], bool]:
    return lambda declared: declared.properties.configuration.get(key, "").lower() == "true"


def _widens_types(declared: MetadataFacts) -> bool:
    return declared.properties.enable_type_widening or TYPE_CHANGES_KEY in (declared.field_metadata)


def _has_identity_columns(declared: MetadataFacts) -> bool:
    return any(key.startswith(IDENTITY_PREFIX) for key in declared.field_metadata)


_BY_CATALOG = "a catalog manages its commits, so the log alone does not show them"
_ICEBERG = "truckee does not write what Iceberg readers require"


def _features() -> Iterable[Feature]:
    legacy = [
        ("appendOnly", 2, "`delta.appendOnly`", _by_property("append_only")),
        ("invariants", 2, "`delta.invariants` on a column", _by_field(INVARIANTS_KEY)),
        ("checkConstraints", 3, "`delta.constraints.*`", _by_property("constraints")),
        (
            "changeDataFeed",
            4,
            "`delta.enableChangeDataFeed`",
            _by_property("enable_change_data_feed"),
        ),
        (
            "generatedColumns",
            4,
            "`delta.generationExpression` on a column",
            _by_field(GENERATION_EXPRESSION_KEY),
        ),
        ("identityColumns", 6, "`delta.identity.*` on a column", _has_identity_columns),
    ]
    for name, version, when, active in legacy:
        yield Feature(name=name, when=when, active=active, writer_version=version)
    yield Feature(
        name="columnMapping",
        when="`delta.columnMapping.mode` is `name` or `id`",
        active=lambda declared: declared.properties.column_mapping_mode != "none",
        reader_writer=True,
        reader_version=2,
        writer_version=5,
    )
    yield from _reader_writer_features()
    yield from _writer_features()


def _reader_writer(
    name: str,
    when: str,
    active: Callable[[MetadataFacts], bool] | None,
    *,
    needs: tuple[str, ...] = (),
    automatic: bool | None = None,
    read: bool = True,
    refused_because: str = "",
) -> Feature:
    return Feature(
        name=name,
        when=when,
        active=active,
        reader_writer=True,
        reader_version=MAX_READER_VERSION,
        needs=needs,
        automatic=not name.endswith(PREVIEW) if automatic is None else automatic,
        read=read,
        write=not refused_because,
        refused_because=refused_because,
    )


def _reader_writer_features() -> Iterable[Feature]:
    yield _reader_writer(
        "deletionVectors", "`delta.enableDeletionVectors`", _by_property("enable_deletion_vectors")
    )
    yield _reader_writer("timestampNtz", "a `timestamp_ntz` column", _by_type("timestamp_ntz"))
    yield _reader_writer(
        "v2Checkpoint",
        "`delta.checkpointPolicy` is `v2`",
        lambda declared: declared.properties.checkpoint_policy == "v2",
    )
    yield _reader_writer("vacuumProtocolCheck", "always", None)
    for suffix in ("", "-preview"):
        yield _reader_writer(
            f"typeWidening{suffix}",
            "`delta.enableTypeWidening`, or a column that was widened",
            _widens_types,
        )
        yield _reader_writer(f"variantType{suffix}", "a `variant` column", _by_type("variant"))
    # delta-spark gives tables the preview for their property; the data is the same.
    yield _reader_writer(
        "variantShredding",
        "`delta.enableVariantShredding`",
        _by_property("enable_variant_shredding"),
        needs=("variantType",),
        automatic=False,
    )
    yield _reader_writer(
        "variantShredding-preview",
        "`delta.enableVariantShredding`",
        _by_property("enable_variant_shredding"),
        automatic=True,
    )
    for name in ("geospatial", "geospatial-dev"):
        yield _reader_writer(
            name,
            "a `geometry` or `geography` column",
            _by_type("geometry", "geography"),
            read=False,
            refused_because="Spark's Parquet reader has no such types",
        )
    for name in ("catalogManaged", "catalogOwned", "catalogOwned-preview"):
        yield _reader_writer(name, "always", None, read=False, refused_because=_BY_CATALOG)
    yield _reader_writer(
        "redirectReaderWriter-preview",
        "always",
        None,
        read=False,
        refused_because="its data is in another table",
    )
    yield _reader_writer(
        "adaptiveMetadata-preview",
        "always",
        None,
        read=False,
        refused_because="its log has a layout of its own",
    )


def _writer_features() -> Iterable[Feature]:
    yield Feature(
        name="allowColumnDefaults",
        when="`CURRENT_DEFAULT` on a column",
        active=_by_field(CURRENT_DEFAULT_KEY),
        automatic=False,
    )
    yield Feature(name="domainMetadata", when="always")
    yield Feature(
        name="rowTracking",
        when="`delta.enableRowTracking`",
        active=_by_property("enable_row_tracking"),
        needs=("domainMetadata",),
    )
    yield Feature(name="clustering", when="always", needs=("domainMetadata",))
    yield Feature(
        name="inCommitTimestamp",
        when="`delta.enableInCommitTimestamps`",
        active=_by_property("enable_in_commit_timestamps"),
    )
    yield Feature(name="checkpointProtection", when="always")
    for version in ("V1", "V2", "V3"):
        yield Feature(
            name=f"icebergCompat{version}",
            when=f"`delta.enableIcebergCompat{version}`",
            active=_by_property(f"enable_iceberg_compat_{version.lower()}"),
            needs=("columnMapping",),
            write=False,
            refused_because=_ICEBERG,
        )
    for version in ("V1", "V3"):
        key = f"delta.enableIcebergWriterCompat{version}"
        yield Feature(
            name=f"icebergWriterCompat{version}",
            when=f"`{key}`",
            active=_by_configuration(key),
            write=False,
            refused_because=_ICEBERG,
        )
    yield Feature(
        name="materializePartitionColumns",
        when="the table has partition columns",
        active=lambda declared: declared.is_partitioned,
        automatic=False,
        write=False,
        refused_because="truckee leaves partition columns out of data files",
    )
    yield Feature(
        name="coordinatedCommits-preview",
        when="`delta.coordinatedCommits.commitCoordinator-preview`",
        active=_by_property("commit_coordinator"),
        automatic=False,
        write=False,
        refused_because=_BY_CATALOG,
    )
    yield Feature(
        name="redirectWriterOnly-preview",
        when="`delta.redirectWriterOnly-preview`",
        active=_by_property("redirect_writer_only"),
        automatic=False,
        write=False,
        refused_because="its data is about to move to another table",
    )


FEATURES: Mapping[str, Feature] = {feature.name: feature for feature in _features()}


def features_markdown() -> str:
    """Return the table of features as Markdown, for the documentation."""
    lines = [
        "| feature | kind | active when | read | write | why not |",
        "|---|---|---|---|---|---|",
    ]
    for feature in FEATURES.values():
        kind = "reader and writer" if feature.reader_writer else "writer"
        read = "yes" if feature.read else "refused"
        write = "yes" if feature.write else _write_word(feature)
        lines.append(
            f"| `{feature.name}` | {kind} | {feature.when} | {read} | {write}"
            f" | {feature.refused_because} |"
        )
    return "\n".join(lines) + "\n"


def _write_word(feature: Feature) -> str:
    return "refused" if feature.active is None or not feature.read else "refused when active"

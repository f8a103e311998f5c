from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus import CorpusTable, corpus_tables
from truckee.errors import (
    ColumnDefaultsNotEnabledError,
    FeatureStatusError,
    UnknownFeatureRequestError,
    UnsupportedProtocolVersionError,
    UnsupportedReaderFeaturesError,
    UnsupportedWriterFeaturesError,
)
from truckee.protocol.actions import Metadata, Protocol, decode_actions
from truckee.protocol.features import (
    FEATURES,
    active_features,
    check_readable,
    check_writable,
    features_markdown,
    protocol_for,
    protocol_request,
    smallest_protocol,
    supported_features,
    upgraded_protocol,
)
from truckee.protocol.schema import StructField, parse_type
from values import simple_schema


def metadata(*columns: str | StructField, by: str = "", **configuration: str) -> Metadata:
    return Metadata(
        id="t",
        schema_string=simple_schema(*columns).to_json(),
        partition_columns=[by] if by else [],
        configuration={f"delta.{k.replace('__', '.')}": v for k, v in configuration.items()},
    )


def protocol(
    reader: int, writer: int, readers: tuple[str, ...] | None = None, *writers: str
) -> Protocol:
    return Protocol(
        min_reader_version=reader,
        min_writer_version=writer,
        reader_features=readers,
        writer_features=writers if writer == 7 else None,
    )


def column_with(key: str) -> StructField:
    return StructField("c", parse_type("long"), metadata={key: "1"})


PLAIN = metadata("id long")


def test_low_versions_stand_for_fixed_sets_of_features() -> None:
    assert supported_features(protocol(1, 1)) == frozenset()
    assert supported_features(protocol(1, 2)) == {"appendOnly", "invariants"}
    assert supported_features(protocol(2, 5)) == {
        "appendOnly",
        "invariants",
        "checkConstraints",
        "changeDataFeed",
        "generatedColumns",
        "columnMapping",
    }
    assert "columnMapping" not in supported_features(protocol(1, 5))
    assert supported_features(protocol(2, 6)) - supported_features(protocol(2, 5)) == {
        "identityColumns"
    }
    assert supported_features(protocol(3, 7, ("deletionVectors",), "deletionVectors")) == {
        "deletionVectors"
    }


@pytest.mark.parametrize(
    "found",
    [
        protocol(1, 2),
        protocol(2, 5),
        protocol(1, 8),
        protocol(1, 7, None, "unheardOf"),
        protocol(3, 7, ("deletionVectors", "v2Checkpoint"), "deletionVectors", "v2Checkpoint"),
        protocol(3, 7, ("variantType-preview", "typeWidening"), "variantType-preview"),
        protocol(3, 7, ()),
    ],
)
def test_readers_ask_only_for_what_concerns_readers(found: Protocol) -> None:
    check_readable(found)


def test_a_reader_version_beyond_all_lists_is_refused() -> None:
    with pytest.raises(UnsupportedProtocolVersionError) as caught:
        check_readable(protocol(4, 7), "/data/t")

    assert caught.value.code == "DELTA_INVALID_PROTOCOL_VERSION"
    assert caught.value.sentence() == (
        "the table /data/t requires reader version 4 and writer version 7, but truckee supports"
        " reader versions 1 to 3 and writer versions 1 to 7\n"
        "hint: upgrade truckee, or use the engine that wrote the table"
    )


def test_reader_features_go_with_reader_version_3_only() -> None:
    with pytest.raises(UnsupportedProtocolVersionError) as caught:
        check_readable(protocol(2, 7, ("columnMapping",), "columnMapping"))

    assert "lists of reader features only with reader version 3" in caught.value.sentence()


@pytest.mark.parametrize(
    "name",
    [
        "catalogManaged",
        "catalogOwned-preview",
        "redirectReaderWriter-preview",
        "adaptiveMetadata-preview",
        "geospatial",
        "unheardOf",
    ],
)
def test_reader_features_that_truckee_does_not_have_are_refused(name: str) -> None:
    with pytest.raises(UnsupportedReaderFeaturesError) as caught:
        check_readable(protocol(3, 7, ("deletionVectors", name), "deletionVectors", name))

    assert caught.value.code == "DELTA_UNSUPPORTED_FEATURES_FOR_READ"
    assert list(caught.value.features) == [name]


def test_an_error_names_what_is_refused_and_why() -> None:
    with pytest.raises(UnsupportedReaderFeaturesError) as caught:
        check_readable(protocol(3, 7, ("unheardOf",), "unheardOf"), "/data/t")

    assert caught.value.sentence() == (
        "the table /data/t cannot be read, because it uses unheardOf (it is not known to "
        "truckee)\n"
        "hint: upgrade truckee, or drop the feature with the engine that wrote the table"
    )


def test_who_writes_must_be_able_to_read() -> None:
    with pytest.raises(UnsupportedReaderFeaturesError):
        check_writable(protocol(3, 7, ("catalogManaged",), "catalogManaged"), PLAIN)


@pytest.mark.parametrize("found", [protocol(1, 8), protocol(1, 0)])
def test_a_writer_version_beyond_all_lists_is_refused(found: Protocol) -> None:
    with pytest.raises(UnsupportedProtocolVersionError):
        check_writable(found, PLAIN)


def test_an_unknown_writer_feature_is_refused() -> None:
    with pytest.raises(UnsupportedWriterFeaturesError) as caught:
        check_writable(protocol(1, 7, None, "appendOnly", "unheardOf"), PLAIN)

    assert caught.value.code == "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE"
    assert caught.value.sentence() == (
        "the table cannot be written to, because it uses unheardOf (it is not known to "
        "truckee)\n"
        "hint: it can still be read; write with an engine that supports the feature"
    )


@pytest.mark.parametrize(
    ("name", "active"),
    [
        ("icebergCompatV2", metadata("id long", enableIcebergCompatV2="true")),
        ("materializePartitionColumns", metadata("id long", "p long", by="p")),
        (
            "coordinatedCommits-preview",
            metadata("id long", **{"coordinatedCommits__commitCoordinator-preview": "c"}),
        ),
    ],
)
def test_a_feature_that_is_not_written_is_let_pass_while_it_is_not_active(
    name: str, active: Metadata
) -> None:
    found = protocol(1, 7, None, name)

    check_writable(found, PLAIN)
    with pytest.raises(UnsupportedWriterFeaturesError):
        check_writable(found, active)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (metadata("id long", appendOnly="true"), "appendOnly"),
        (metadata("id long", constraints__a="id > 0"), "checkConstraints"),
        (metadata("id long", enableChangeDataFeed="true"), "changeDataFeed"),
        (metadata("id long", columnMapping__mode="id"), "columnMapping"),
        (metadata("id long", enableDeletionVectors="true"), "deletionVectors"),
        (metadata("id long", checkpointPolicy="v2"), "v2Checkpoint"),
        (metadata("id long", enableRowTracking="true"), "rowTracking"),
        (metadata("id long", enableInCommitTimestamps="true"), "inCommitTimestamp"),
        (metadata(column_with("delta.invariants")), "invariants"),
        (metadata(column_with("delta.generationExpression")), "generatedColumns"),
        (metadata(column_with("delta.identity.start")), "identityColumns"),
        (metadata(column_with("CURRENT_DEFAULT")), "allowColumnDefaults"),
        (metadata("t timestamp_ntz"), "timestampNtz"),
    ],
)
def test_the_metadata_tells_which_features_are_active(table: Metadata, expected: str) -> None:
    assert active_features(table) == {expected}


def test_a_widened_column_keeps_type_widening_active() -> None:
    assert active_features(metadata(column_with("delta.typeChanges"))) == {
        "typeWidening",
        "typeWidening-preview",
    }


def test_a_plain_table_gets_the_smallest_protocol() -> None:
    assert protocol_for(PLAIN) == protocol(1, 2)


def test_a_low_version_is_taken_where_it_stands_for_exactly_what_is_needed() -> None:
    assert protocol_for(metadata("id long", constraints__a="id > 0")) == protocol(1, 3)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (
            metadata("id long", enableChangeDataFeed="true"),
            protocol(1, 7, None, "appendOnly", "changeDataFeed", "invariants"),
        ),
        (
            metadata("id long", columnMapping__mode="name"),
            protocol(2, 7, None, "appendOnly", "columnMapping", "invariants"),
        ),
        (
            metadata("id long", enableDeletionVectors="true", columnMapping__mode="name"),
            protocol(
                3,
                7,
                ("columnMapping", "deletionVectors"),
                "appendOnly",
                "columnMapping",
                "deletionVectors",
                "invariants",
            ),
        ),
        (
            metadata("id long", enableRowTracking="true"),
            protocol(1, 7, None, "appendOnly", "domainMetadata", "invariants", "rowTracking"),
        ),
    ],
)
def test_features_are_listed_with_all_that_the_default_stands_for(
    table: Metadata, expected: Protocol
) -> None:
    assert protocol_for(table) == expected


def test_versions_that_are_asked_for_are_the_least() -> None:
    assert protocol_for(PLAIN, versions=(1, 4)) == protocol(1, 4)
    # What version 5 adds for writers, readers of version 1 cannot read.
    assert protocol_for(PLAIN, versions=(1, 5)) == protocol(1, 4)
    assert protocol_for(PLAIN, versions=(2, 5)) == protocol(2, 5)
    assert protocol_for(PLAIN, versions=(3, 7)) == protocol(3, 7, (), "appendOnly", "invariants")


def test_a_protocol_that_covers_all_is_left_alone() -> None:
    found = protocol(3, 7, ("deletionVectors",), "deletionVectors")

    assert upgraded_protocol(found, metadata("id long", enableDeletionVectors="true")) is found


def test_an_upgrade_lists_what_the_old_version_stood_for() -> None:
    table = metadata("id long", enableDeletionVectors="true")

    found = upgraded_protocol(protocol(1, 4), table)

    assert found == protocol(
        3,
        7,
        ("deletionVectors",),
        "appendOnly",
        "changeDataFeed",
        "checkConstraints",
        "deletionVectors",
        "generatedColumns",
        "invariants",
    )


def test_an_upgrade_stays_below_the_lists_if_it_can() -> None:
    table = metadata("id long", columnMapping__mode="name")

    assert upgraded_protocol(protocol(1, 4), table) == protocol(2, 5)


def test_a_table_on_a_preview_stays_on_it() -> None:
    found = protocol(3, 7, ("typeWidening-preview",), "typeWidening-preview")

    assert upgraded_protocol(found, metadata("id long", enableTypeWidening="true")) is found


def test_who_asks_for_a_preview_does_not_get_the_final_feature_too() -> None:
    table = metadata("v variant")

    found = protocol_for(table, ["variantType-preview"])

    assert found.reader_features == ("variantType-preview",)
    assert upgraded_protocol(found, table, ["variantType"]).reader_features == (
        "variantType-preview",
        "variantType",
    )


def test_tables_that_may_shred_variants_say_so_as_delta_spark_does() -> None:
    table = metadata("v variant", enableVariantShredding="true")
    final = protocol_for(table, ["variantShredding"])

    assert protocol_for(table).reader_features == ("variantShredding-preview", "variantType")
    assert final.reader_features == ("variantShredding", "variantType")
    assert upgraded_protocol(final, table) is final


def test_column_defaults_have_to_be_asked_for() -> None:
    table = metadata(column_with("CURRENT_DEFAULT"))

    with pytest.raises(ColumnDefaultsNotEnabledError):
        protocol_for(table)
    assert "allowColumnDefaults" in supported_features(protocol_for(table, ["allowColumnDefaults"]))


def test_requests_for_features_are_not_stored() -> None:
    request = protocol_request(
        {
            "delta.feature.deletionvectors": "supported",
            "delta.minReaderVersion": "3",
            "delta.minWriterVersion": "7",
            "delta.ignoreProtocolDefaults": "true",
            "delta.appendOnly": "true",
        }
    )

    assert request.features == ("deletionVectors",)
    assert (request.min_reader_version, request.min_writer_version) == (3, 7)
    assert request.configuration == {"delta.appendOnly": "true"}


def test_requests_that_make_no_sense_are_refused() -> None:
    with pytest.raises(UnknownFeatureRequestError):
        protocol_request({"delta.feature.unheardOf": "supported"})
    with pytest.raises(FeatureStatusError):
        protocol_request({"delta.feature.deletionVectors": "off"})


def test_the_documentation_has_a_line_for_every_feature() -> None:
    lines = features_markdown().splitlines()

    assert len(lines) == len(FEATURES) + 2
    assert (
        "| `deletionVectors` | reader and writer | `delta.enableDeletionVectors` | yes | yes |  |"
        in lines
    )


legacy = st.tuples(st.integers(1, 2), st.integers(1, 6)).map(lambda v: protocol(*v))
listed = st.sets(st.sampled_from([f for f in FEATURES if FEATURES[f].automatic])).map(
    lambda names: protocol(
        3, 7, tuple(sorted(n for n in names if FEATURES[n].reader_writer)), *sorted(names)
    )
)
switches = st.sets(
    st.sampled_from(
        ["enableDeletionVectors", "enableChangeDataFeed", "appendOnly", "enableRowTracking"]
    )
)


@pytest.mark.property
@given(legacy | listed, switches, st.sets(st.sampled_from(["clustering", "vacuumProtocolCheck"])))
def test_an_upgrade_covers_all_and_drops_nothing(
    before: Protocol, switched_on: set[str], requested: set[str]
) -> None:
    table = metadata("id long", **dict.fromkeys(switched_on, "true"))

    after = upgraded_protocol(before, table, requested)

    found = supported_features(after)
    assert found >= supported_features(before) | requested | active_features(table)
    assert all(set(FEATURES[name].needs) <= found for name in requested)
    assert after.min_reader_version >= before.min_reader_version
    assert after.min_writer_version >= before.min_writer_version
    assert (after.reader_features is not None) == (after.min_reader_version == 3)
    assert upgraded_protocol(after, table, requested) is after


def _last_protocol(table: CorpusTable) -> Protocol | None:
    found = None
    for commit in sorted(table.path.glob("_delta_log/*.json")):
        try:
            actions = decode_actions(commit.read_bytes())
        except msgspec.DecodeError:
            continue
        found = next((a for a in actions if isinstance(a, Protocol)), found)
    return found


@pytest.mark.golden
@pytest.mark.parametrize("table", corpus_tables(), ids=str)
def test_of_the_corpus_only_what_must_be_refused_is(table: CorpusTable) -> None:
    found = _last_protocol(table)
    if found is None:
        pytest.skip("no commit of the log has a protocol")
    kind = table.expected.get("error", {}).get("kind")

    if kind in ("unsupported-feature", "unsupported-protocol"):
        with pytest.raises((UnsupportedReaderFeaturesError, UnsupportedProtocolVersionError)):
            check_readable(found)
    else:
        check_readable(found)


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        ("appendOnly invariants", Protocol(min_reader_version=1, min_writer_version=2)),
        (
            "appendOnly invariants checkConstraints",
            Protocol(min_reader_version=1, min_writer_version=3),
        ),
        (
            "appendOnly invariants changeDataFeed",
            Protocol(
                min_reader_version=1,
                min_writer_version=7,
                writer_features=("appendOnly", "changeDataFeed", "invariants"),
            ),
        ),
        (
            "invariants columnMapping",
            Protocol(
                min_reader_version=2,
                min_writer_version=7,
                writer_features=("columnMapping", "invariants"),
            ),
        ),
        (
            "columnMapping deletionVectors",
            Protocol(
                min_reader_version=3,
                min_writer_version=7,
                reader_features=("columnMapping", "deletionVectors"),
                writer_features=("columnMapping", "deletionVectors"),
            ),
        ),
    ],
)
def test_the_smallest_protocol_has_lists_only_where_versions_do_not_say_it(
    features: str, expected: Protocol
) -> None:
    found = smallest_protocol(features.split())

    assert found == expected
    assert supported_features(found) == set(features.split())

from __future__ import annotations

import pytest

from truckee.errors import (
    InvalidIntervalError,
    InvalidIsolationLevelError,
    InvalidTablePropertyError,
    RetentionMismatchError,
    UnknownTablePropertyError,
    UnsettableTablePropertyError,
)
from truckee.protocol.properties import (
    PROPERTIES,
    Property,
    TableProperties,
    canonical_key,
    validated_properties,
)
from truckee.protocol.property_kinds import parse_column_names, parse_interval_ms

HOUR = 3_600_000
DAY = 24 * HOUR


def properties(**values: str) -> TableProperties:
    return TableProperties.from_configuration(
        {f"delta.{key.replace('__', '.')}": value for key, value in values.items()}
    )


def test_what_is_not_set_has_the_default_of_delta() -> None:
    table = properties()

    assert table.append_only is False
    assert table.checkpoint_interval == 10
    assert table.checkpoint_policy == "classic"
    assert table.checkpoint_write_stats_as_json is True
    assert table.checkpoint_write_stats_as_struct is True
    assert table.column_mapping_mode == "none"
    assert table.data_skipping_num_indexed_cols == 32
    assert table.data_skipping_stats_columns is None
    assert table.deleted_file_retention_ms == 7 * DAY
    assert table.enable_expired_log_cleanup is True
    assert table.isolation_level == "Serializable"
    assert table.log_retention_ms == 30 * DAY
    assert table.random_prefix_length == 2
    assert table.set_transaction_retention_ms is None


def test_what_is_set_comes_back_typed() -> None:
    table = properties(
        appendOnly="TRUE",
        checkpointInterval="3",
        columnMapping__mode="Name",
        logRetentionDuration="interval 1 week 12 hours",
        setTransactionRetentionDuration="interval 90 days",
        dataSkippingStatsColumns="a, b.c",
        inCommitTimestampEnablementTimestamp="1739859743394",
        universalFormat__enabledFormats="iceberg",
    )

    assert table.append_only is True
    assert table.checkpoint_interval == 3
    assert table.column_mapping_mode == "name"
    assert table.log_retention_ms == 7 * DAY + 12 * HOUR
    assert table.set_transaction_retention_ms == 90 * DAY
    assert table.data_skipping_stats_columns == (("a",), ("b", "c"))
    assert table.in_commit_timestamp_enablement_timestamp == 1_739_859_743_394
    assert table.universal_formats == ("iceberg",)


def test_the_old_name_of_the_change_data_feed_still_counts() -> None:
    assert properties(enableChangeDataCapture="true").enable_change_data_feed is True
    both = properties(enableChangeDataCapture="true", enableChangeDataFeed="false")
    assert both.enable_change_data_feed is False


def test_constraints_go_by_their_lower_case_names() -> None:
    table = properties(constraints__Positive="id > 0", appendOnly="true")

    assert table.constraints == {"positive": "id > 0"}


def test_a_bad_value_is_an_error_only_to_those_who_need_it() -> None:
    table = properties(checkpointInterval="often", appendOnly="true")

    assert table.append_only is True
    with pytest.raises(InvalidTablePropertyError) as caught:
        _ = table.checkpoint_interval
    assert caught.value.sentence() == (
        "table property delta.checkpointInterval is 'often', but needs to be an integer above 0\n"
        "hint: set delta.checkpointInterval to a value of that kind"
    )


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("interval 30 days", 30 * DAY),
        ("INTERVAL 1 Week", 7 * DAY),
        ("2 weeks", 14 * DAY),
        ("1 day 2 hours 3 minutes 4.5 seconds", DAY + 2 * HOUR + 184_500),
        ("interval 1 day -1 hours", DAY - HOUR),
        ("500 milliseconds", 500),
        ("0 days", 0),
    ],
)
def test_intervals_are_read_in_milliseconds(text: str, ms: int) -> None:
    assert parse_interval_ms(text) == ms


@pytest.mark.parametrize(
    "text",
    ["", "interval", "1 month", "2 years", "30", "days", "1day", "-1 days", "1.5 days", "1 days x"],
)
def test_other_texts_are_no_intervals(text: str) -> None:
    with pytest.raises(ValueError):
        parse_interval_ms(text)


def test_column_names_may_be_quoted() -> None:
    assert parse_column_names("a,`b.c`.d , `e``f`") == (("a",), ("b.c", "d"), ("e`f",))


@pytest.mark.parametrize("text", ["", "a,", "a..b", "a b", "`a", "a,,b"])
def test_other_texts_are_no_column_names(text: str) -> None:
    with pytest.raises(ValueError):
        parse_column_names(text)


def test_names_are_stored_as_delta_spells_them() -> None:
    changes = {"DELTA.appendonly": "true", "delta.constraints.a": "x > 1", "my.own": "y"}

    assert validated_properties(changes) == {
        "delta.appendOnly": "true",
        "delta.constraints.a": "x > 1",
        "my.own": "y",
    }
    assert canonical_key("delta.checkpointpolicy") == "delta.checkpointPolicy"


def test_every_property_can_be_asked_of_a_table_that_sets_none() -> None:
    attributes = [n for n, p in vars(TableProperties).items() if isinstance(p, Property)]

    found = {getattr(TableProperties, name).key: getattr(properties(), name) for name in attributes}

    assert found == {known.key: known.default for known in PROPERTIES.values()}


@pytest.mark.parametrize(
    ("key", "value", "error", "code"),
    [
        ("delta.nonsense", "1", UnknownTablePropertyError, "DELTA_UNKNOWN_CONFIGURATION"),
        (
            "delta.columnMapping.maxColumnId",
            "7",
            UnsettableTablePropertyError,
            "DELTA_CANNOT_MODIFY_TABLE_PROPERTY",
        ),
        ("delta.logRetentionDuration", "1 month", InvalidIntervalError, "DELTA_INVALID_INTERVAL"),
        (
            "delta.isolationLevel",
            "WriteSerializable",
            InvalidIsolationLevelError,
            "DELTA_INVALID_ISOLATION_LEVEL",
        ),
        (
            "delta.checkpointInterval",
            " 5",
            InvalidTablePropertyError,
            "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED",
        ),
        (
            "delta.appendOnly",
            "yes",
            InvalidTablePropertyError,
            "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED",
        ),
    ],
)
def test_what_delta_would_refuse_is_refused(
    key: str, value: str, error: type[Exception], code: str
) -> None:
    with pytest.raises(error) as caught:
        validated_properties({key: value})

    assert getattr(caught.value, "code", None) == code


def test_an_isolation_level_that_may_not_be_set_is_still_understood() -> None:
    assert properties(isolationLevel="WriteSerializable").isolation_level == "WriteSerializable"


def test_the_log_is_kept_at_least_as_long_as_deleted_files() -> None:
    existing = {"delta.deletedFileRetentionDuration": "interval 20 days"}

    assert validated_properties({"delta.logRetentionDuration": "20 days"}, existing)
    assert validated_properties(
        {"delta.appendOnly": "true"}, {"delta.logRetentionDuration": "1 days"}
    )
    with pytest.raises(RetentionMismatchError) as caught:
        validated_properties({"delta.logRetentionDuration": "19 days"}, existing)
    assert caught.value.sentence() == (
        "delta.logRetentionDuration (1641600000 ms) is shorter than"
        " delta.deletedFileRetentionDuration (1728000000 ms)\n"
        "hint: keep the log at least as long as deleted files"
    )


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("delta.enableChangeDataFed", "write delta.enableChangeDataFeed"),
        ("delta.enabledeletionvector", "write delta.enableDeletionVectors"),
        ("delta.nonsense", "check the spelling"),
    ],
)
def test_an_unknown_property_is_told_with_the_one_that_was_meant(key: str, hint: str) -> None:
    with pytest.raises(UnknownTablePropertyError) as caught:
        validated_properties({key: "true"})

    assert caught.value.sentence() == (
        f"{key} is not a table property of Delta\n"
        f"hint: {hint}, or leave out the prefix delta. for a property of your own"
    )

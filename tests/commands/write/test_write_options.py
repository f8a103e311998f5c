"""Options of a write, typed and checked."""

from __future__ import annotations

import pytest

from truckee.commands.write.options import (
    WriteOptions,
    default_properties,
    save_mode,
    write_options,
)
from truckee.errors.base import DeltaError
from truckee.errors.commands.write import (
    DynamicOverwriteSchemaError,
    DynamicReplaceWhereError,
    IdempotentWriteOptionsError,
    ReplaceWhereOverwriteSchemaError,
    UnknownSaveModeError,
)
from truckee.errors.options import IllegalOptionError, InvalidVersionError
from truckee.errors.protocol import UnknownTablePropertyError
from truckee.options.text import Options
from truckee.spark.write.writer import FileOptions


def parsed(settings: dict[str, str] | None = None, **options: object) -> WriteOptions:
    return write_options(Options(options), settings or {})


def refusal(kind: type[DeltaError], **options: object) -> str:
    with pytest.raises(kind) as caught:
        parsed(**options)
    return caught.value.sentence()


def test_without_options_everything_is_as_in_delta() -> None:
    assert parsed() == WriteOptions()


def test_options_are_read_in_any_case() -> None:
    assert parsed(MERGESCHEMA=True, overwriteschema="TRUE", datachange="false") == WriteOptions(
        merge_schema=True, overwrite_schema=True, data_change=False
    )


def test_options_of_files_reach_the_parquet_writer() -> None:
    files = write_options(
        Options({"compression": "zstd", "maxRecordsPerFile": 10, "parquet.block.size": 99}), {}
    ).files

    assert files == FileOptions(
        compression="zstd", max_records_per_file=10, parquet={"parquet.block.size": "99"}
    )
    assert files.as_spark() == {
        "compression": "zstd",
        "maxRecordsPerFile": "10",
        "parquet.block.size": "99",
    }


def test_settings_of_the_session_stand_in_for_options() -> None:
    settings = {
        "spark.databricks.delta.schema.autoMerge.enabled": "true",
        "spark.databricks.delta.commitInfo.userMetadata": "nightly",
        "spark.databricks.delta.write.txnAppId": "app",
        "spark.databricks.delta.write.txnVersion": "7",
        "spark.sql.sources.partitionOverwriteMode": "DYNAMIC",
        "spark.databricks.delta.replaceWhere.constraintCheck.enabled": "false",
    }

    assert parsed(settings) == WriteOptions(
        merge_schema=True,
        user_metadata="nightly",
        txn_app_id="app",
        txn_version=7,
        dynamic_overwrite=True,
        check_replace_where=False,
    )
    assert parsed(settings, partitionOverwriteMode="static").dynamic_overwrite is False
    assert parsed(settings, mergeSchema=False, userMetadata="x").user_metadata == "x"
    assert parsed(settings, replaceWhere="a = 1").dynamic_overwrite is False


def test_delta_options_become_properties_of_a_new_table() -> None:
    options = Options({"delta.ENABLEchangedatafeed": "true"})

    assert write_options(options, {}).properties == {"delta.enableChangeDataFeed": "true"}
    with pytest.raises(UnknownTablePropertyError):
        write_options(Options({"delta.nope": "1"}), {})


def test_the_session_can_give_properties_to_every_new_table() -> None:
    prefix = "spark.databricks.delta.properties.defaults."

    assert default_properties({f"{prefix}enableDeletionVectors": "true", "other": "x"}) == {
        "delta.enableDeletionVectors": "true"
    }


@pytest.mark.parametrize(
    ("mode", "name"),
    [
        ("append", "Append"),
        ("OverWrite", "Overwrite"),
        ("ignore", "Ignore"),
        ("error", "ErrorIfExists"),
        ("errorifexists", "ErrorIfExists"),
    ],
)
def test_save_modes_have_the_names_that_commits_record(mode: str, name: str) -> None:
    assert save_mode(mode) == name


def test_other_save_modes_are_refused() -> None:
    with pytest.raises(UnknownSaveModeError) as caught:
        save_mode("upsert")

    assert caught.value.sentence() == (
        "'upsert' is not a save mode\n"
        "hint: use append, overwrite, ignore, or error (which is the default)"
    )


def test_an_application_needs_a_version_and_a_version_an_application() -> None:
    assert refusal(IdempotentWriteOptionsError, txnAppId="x") == (
        "option txnAppId is set without txnVersion\n"
        "hint: set both; together they identify a write, so that a repeated one is skipped"
    )
    assert refusal(IdempotentWriteOptionsError, txnVersion="1").startswith(
        "option txnVersion is set without txnAppId\n"
    )
    assert "not a version" in refusal(InvalidVersionError, txnAppId="x", txnVersion="one")


def test_options_that_contradict_each_other_are_refused() -> None:
    assert refusal(
        DynamicReplaceWhereError, replaceWhere="a = 1", partitionOverwriteMode="dynamic"
    ) == (
        "options replaceWhere and partitionOverwriteMode=dynamic are both set\n"
        "hint: choose one; replaceWhere names what to replace, dynamic takes it from the data"
    )
    assert refusal(
        DynamicOverwriteSchemaError, overwriteSchema=True, partitionOverwriteMode="dynamic"
    ) == (
        "options overwriteSchema and partitionOverwriteMode=dynamic are both set\n"
        "hint: partitions that stay would keep the old schema; overwrite the whole table"
    )
    assert refusal(
        ReplaceWhereOverwriteSchemaError, overwriteSchema=True, replaceWhere="a = 1"
    ) == (
        "options replaceWhere and overwriteSchema are both set\n"
        "hint: rows that stay would keep the old schema; use mergeSchema, or overwrite the whole "
        "table"
    )


@pytest.mark.parametrize(
    ("option", "value", "needs"),
    [
        ("mergeSchema", "yes", "true or false"),
        ("partitionOverwriteMode", "some", "static or dynamic"),
        ("maxRecordsPerFile", "0", "an integer above 0"),
        ("maxRecordsPerFile", "many", "an integer above 0"),
        (
            "compression",
            "zip",
            "one of none, uncompressed, snappy, gzip, lzo, brotli, lz4, lz4_raw, zstd",
        ),
    ],
)
def test_values_that_mean_nothing_are_refused(option: str, value: str, needs: str) -> None:
    assert refusal(IllegalOptionError, **{option: value}) == (
        f"option {option} is {value!r}, but needs to be {needs}\n"
        f"hint: set {option} to such a value, or leave it out"
    )

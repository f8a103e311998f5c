"""The list of columns with statistics is right, and follows the columns."""

from __future__ import annotations

import pytest

from truckee.errors.base import DeltaError
from truckee.protocol.actions import Metadata, Protocol
from truckee.protocol.stats_columns import (
    check_stats_columns,
    with_dropped_stats,
    with_renamed_stats,
)
from truckee.protocol.table_configuration import TableConfiguration

KEY = "delta.dataSkippingStatsColumns"
STRUCT = (
    '{"type":"struct","fields":['
    '{"name":"x","type":"integer","nullable":true,"metadata":{}},'
    '{"name":"flag","type":"boolean","nullable":true,"metadata":{}}]}'
)
SCHEMA = (
    '{"type":"struct","fields":['
    '{"name":"Id","type":"long","nullable":true,"metadata":{}},'
    '{"name":"odd.name","type":"string","nullable":true,"metadata":{}},'
    f'{{"name":"s","type":{STRUCT},"nullable":true,"metadata":{{}}}},'
    '{"name":"p","type":"string","nullable":true,"metadata":{}}]}'
)


def table(listed: str) -> TableConfiguration:
    metadata = Metadata(
        id="t", schema_string=SCHEMA, partition_columns=["p"], configuration={KEY: listed}
    )
    return TableConfiguration(metadata, Protocol(min_reader_version=1, min_writer_version=2))


@pytest.mark.parametrize("listed", ["", "id", "ID, s.x", "`odd.name`"])
def test_columns_of_the_table_may_be_listed(listed: str) -> None:
    check_stats_columns(table(listed))


@pytest.mark.parametrize(
    ("listed", "code", "sentence"),
    [
        (
            "id, nothing",
            "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
            "the table has no column nothing; it has [Id, odd.name, s, p]",
        ),
        (
            "odd.name",
            "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
            "the table has no column odd.name; it has [Id, odd.name, s, p]",
        ),
        (
            "P",
            "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN",
            "delta.dataSkippingStatsColumns lists P, which the table is partitioned by: files are "
            "skipped by its values without statistics",
        ),
        (
            "s",
            "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE",
            "delta.dataSkippingStatsColumns lists s.flag, but columns of type boolean have no "
            "statistics",
        ),
        (
            "id, s.x, ID",
            "DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS",
            "delta.dataSkippingStatsColumns lists [Id] more than once",
        ),
    ],
)
def test_others_are_refused(listed: str, code: str, sentence: str) -> None:
    with pytest.raises(DeltaError) as error:
        check_stats_columns(table(listed))

    assert error.value.code == code
    assert error.value.sentence().splitlines()[0] == sentence


def test_the_list_follows_a_renamed_column() -> None:
    renamed = with_renamed_stats(table("ID,s.x"), ("s",), ("new.name",))

    assert renamed[KEY] == "`ID`,`new.name`.`x`"


def test_the_list_loses_a_dropped_column() -> None:
    dropped = with_dropped_stats(table("ID,S.x"), [("s", "x")])

    assert dropped[KEY] == "`ID`"


def test_a_table_without_a_list_gets_none() -> None:
    metadata = Metadata(id="t", schema_string=SCHEMA, partition_columns=[], configuration={})
    plain = TableConfiguration(metadata, Protocol(min_reader_version=1, min_writer_version=2))

    assert with_dropped_stats(plain, [("s",)]) == {}

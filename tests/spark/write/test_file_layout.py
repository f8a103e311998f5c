"""Partition values out of folder names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truckee.protocol.paths import HIVE_DEFAULT_PARTITION, hive_escape
from truckee.spark.write.file_layout import partition_values


def test_folders_are_read_from_the_innermost_outwards() -> None:
    path = "_change_data/a=1/b=x%2Fy/cdc-00000.parquet"

    assert partition_values(path, ("a", "b")) == {"a": "1", "b": "x/y"}
    assert partition_values("0123abcd/part-00000.parquet", ()) == {}


def test_names_of_columns_are_escaped_too() -> None:
    assert partition_values("j/a%3Db=1/f", ("a=b",)) == {"a=b": "1"}


def test_null_has_a_folder_of_its_own() -> None:
    assert partition_values(f"j/c={HIVE_DEFAULT_PARTITION}/f", ("c",)) == {"c": None}


@pytest.mark.property
@given(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1))
def test_every_text_comes_back_from_its_folder(text: str) -> None:
    marked = text + "\x01" if text.startswith(HIVE_DEFAULT_PARTITION) else text

    assert partition_values(f"j/c={hive_escape(marked)}/f", ("c",)) == {"c": text}


@pytest.mark.parametrize("more", ["", "\x01", "\x01\x01", "x"])
def test_the_name_of_the_null_folder_is_a_text_like_any_other(more: str) -> None:
    text = HIVE_DEFAULT_PARTITION + more

    assert partition_values(f"j/c={hive_escape(text + chr(1))}/f", ("c",)) == {"c": text}

from __future__ import annotations

import pickle

import pytest

from truckee.errors.streaming import (
    DifferentTableError,
    InvalidOffsetFormatError,
    InvalidOffsetVersionError,
    NewerOffsetError,
)
from truckee.streaming.offset import (
    BASE,
    METADATA_CHANGE,
    POST_METADATA_CHANGE,
    StreamOffset,
    parse_offset,
)


def parsed(offset: str) -> StreamOffset:
    return parse_offset(offset, table="/t", table_id="t")


def test_base_of_a_version_is_minus_one_in_json() -> None:
    offset = StreamOffset(table_id="t", version=5)

    text = offset.to_json()

    assert text == (
        '{"sourceVersion":1,"reservoirId":"t","reservoirVersion":5,"index":-1,'
        '"isStartingVersion":false}'
    )
    assert parsed(text) == offset
    assert offset.index == BASE == -100


def test_offset_inside_the_initial_snapshot() -> None:
    offset = StreamOffset(table_id="t", version=4, index=7, is_initial=True)

    text = offset.to_json()

    assert text == (
        '{"sourceVersion":1,"reservoirId":"t","reservoirVersion":4,"index":7,'
        '"isStartingVersion":true}'
    )
    assert parsed(text) == offset


@pytest.mark.parametrize("index", [METADATA_CHANGE, POST_METADATA_CHANGE])
def test_change_of_metadata_is_source_version_three(index: int) -> None:
    offset = StreamOffset(table_id="t", version=5, index=index)

    text = offset.to_json()

    assert text == (
        f'{{"sourceVersion":3,"reservoirId":"t","reservoirVersion":5,"index":{index},'
        '"isStartingVersion":false}'
    )
    assert parsed(text) == offset


def test_offsets_of_a_python_data_source_are_objects_already() -> None:
    offset = StreamOffset(table_id="t", version=5, index=2)

    assert parse_offset(offset.to_dict(), table="/t", table_id="t") == offset


def test_spaces_and_unknown_keys_do_not_matter() -> None:
    text = (
        '{"sourceVersion": 1, "reservoirId": "t", "reservoirVersion": 5, "index": 3, '
        '"isStartingVersion": false, "more": []}'
    )

    assert parsed(text) == StreamOffset(table_id="t", version=5, index=3)


def test_text_that_is_no_json() -> None:
    with pytest.raises(InvalidOffsetFormatError) as raised:
        parsed("17")

    assert raised.value.code == "DELTA_INVALID_SOURCE_OFFSET_FORMAT"
    assert raised.value.sentence() == (
        "the offset 17 is not one of a Delta stream: Expected `object`, got `int`\n"
        "hint: use the checkpoint that the query was started with, or a new one"
    )


def test_offset_of_another_source() -> None:
    with pytest.raises(InvalidOffsetFormatError) as raised:
        parsed('{"logOffset":3}')

    assert raised.value.sentence() == (
        'the offset {"logOffset":3} is not one of a Delta stream: it has no sourceVersion\n'
        "hint: use the checkpoint that the query was started with, or a new one"
    )


def test_offset_that_lacks_a_field() -> None:
    with pytest.raises(InvalidOffsetFormatError) as raised:
        parsed('{"sourceVersion":1,"reservoirId":"t"}')

    assert raised.value.sentence() == (
        'the offset {"sourceVersion":1,"reservoirId":"t"} is not one of a Delta stream: '
        "Object missing required field `reservoirVersion`\n"
        "hint: use the checkpoint that the query was started with, or a new one"
    )


@pytest.mark.parametrize("version", [-1, 0, 2])
def test_source_version_that_never_was(version: int) -> None:
    with pytest.raises(InvalidOffsetVersionError) as raised:
        parsed(f'{{"sourceVersion":{version}}}')

    assert raised.value.code == "DELTA_INVALID_SOURCE_VERSION"
    assert raised.value.sentence() == (
        f"the offset has sourceVersion {version}, expected 1 or 3\n"
        "hint: the checkpoint is broken; start the query with a new one"
    )


def test_source_version_of_a_later_release() -> None:
    with pytest.raises(NewerOffsetError) as raised:
        parsed('{"sourceVersion":4}')

    assert raised.value.code == "DELTA_INVALID_FORMAT_FROM_SOURCE_VERSION"
    assert raised.value.sentence() == (
        "the offset has sourceVersion 4, but the newest known one is 3\n"
        "hint: upgrade truckee, or start the query with a new checkpoint"
    )


def test_checkpoint_of_another_table() -> None:
    text = StreamOffset(table_id="other", version=5).to_json()

    with pytest.raises(DifferentTableError) as raised:
        parsed(text)

    assert raised.value.code == "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE"
    assert str(pickle.loads(pickle.dumps(raised.value))) == (
        "[DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE] the stream has read the table with id "
        "other, but the one at /t has id t\n"
        "hint: the table was recreated, or the checkpoint belongs to another table; start the "
        "query with a new checkpoint"
    )

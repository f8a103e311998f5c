"""Options that shape a feed: their words, their defaults, and what is wrong with them."""

from __future__ import annotations

import pytest

from truckee.errors import (
    ArgumentTypeError,
    DeduplicationModeError,
    EmptyKeysError,
    IllegalOptionError,
    UpdatesNeedCarryoversDroppedError,
)
from truckee.options.feed import SchemaMode, feed_options
from truckee.options.feed_shape import (
    PLAIN,
    ColumnFollowing,
    Deduplication,
    FeedShape,
    FeedSource,
    given_options,
    joined_keys,
    parsed_keys,
)


def shape(**options: object) -> FeedShape:
    return feed_options(options, needs_start=False).shape


def test_without_options_a_feed_is_what_was_recorded() -> None:
    assert shape() == PLAIN
    assert shape(deduplicationMode="none").is_plain
    assert not shape(deduplicationMode="dropCarryovers").is_plain


def test_names_and_values_are_the_same_in_any_case() -> None:
    found = shape(
        CHANGEFEED="Derived",
        deduplicationmode="NETCHANGES",
        computeUpdates="TRUE",
        keys=" a , b ",
        schemaMode="Follow",
    )

    assert found == FeedShape(
        source=FeedSource.DERIVED,
        deduplication=Deduplication.NET_CHANGES,
        compute_updates=True,
        keys=("a", "b"),
        following=ColumnFollowing.FOLLOW,
    )


def test_rows_that_were_moved_are_dropped_where_changes_are_derived() -> None:
    assert not shape().drops_carryovers
    assert shape(changeFeed="auto").drops_carryovers
    assert not shape(changeFeed="auto", deduplicationMode="none").drops_carryovers
    assert shape(deduplicationMode="netChanges").drops_carryovers


def test_a_schema_mode_is_one_schema_or_columns_that_are_followed() -> None:
    options = feed_options({"schemaMode": "latest"}, needs_start=False)

    assert options.schema_mode is SchemaMode.LATEST
    assert options.shape.is_plain
    with pytest.raises(IllegalOptionError) as caught:
        shape(schemaMode="all")
    assert caught.value.needs == "legacy, latest, endVersion, follow or superset"


@pytest.mark.parametrize("keys", [("id",), ("a", "b"), ("a b", "c,d"), ("a`b, ``c",), ("s.x",)])
def test_keys_given_one_by_one_come_back_from_their_text(keys: tuple[str, ...]) -> None:
    assert parsed_keys(joined_keys(keys)) == keys
    assert shape(**given_options({"keys": keys})).keys == keys


@pytest.mark.parametrize("text", ["", " ", ",", "a,", ",a", "a,,b", "``"])
def test_a_missing_key_is_refused(text: str) -> None:
    with pytest.raises(EmptyKeysError) as caught:
        shape(keys=text)

    assert caught.value.sentence() == (
        f"option keys is {text!r}, which has an empty column name\n"
        "hint: write names with commas between them, such as 'country,id', or leave keys out"
    )


def test_a_backtick_without_its_other_is_refused() -> None:
    for text in ("`a", "`a`b"):
        with pytest.raises(IllegalOptionError):
            shape(keys=text)


def test_words_that_there_are_not_are_refused() -> None:
    with pytest.raises(IllegalOptionError) as caught:
        shape(changeFeed="all")
    assert caught.value.needs == "recorded, derived or auto"
    with pytest.raises(DeduplicationModeError) as unknown:
        shape(deduplicationMode="net")
    assert str(unknown.value) == (
        "[INVALID_CDC_OPTION.INVALID_DEDUPLICATION_MODE] option deduplicationMode is 'net', but "
        "needs to be none, dropCarryovers or netChanges\n"
        "hint: set deduplicationMode to such a value, or leave it out"
    )
    with pytest.raises(UpdatesNeedCarryoversDroppedError):
        shape(changeFeed="derived", deduplicationMode="none", computeUpdates=True)
    with pytest.raises(IllegalOptionError):
        shape(computeUpdates="yes")


def test_an_argument_that_is_no_option_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="changefeed"):
        given_options({"changefeed": "auto"})

from __future__ import annotations

import pytest

from truckee.errors.options import IllegalOptionError, InvalidVersionError
from truckee.options.text import Options, unknown_options


def test_names_are_the_same_in_any_case() -> None:
    options = Options({"ReadChangeFeed": True, "startingVersion": 3})

    assert options["readchangefeed"] == "true"
    assert "STARTINGVERSION" in options
    assert list(options) == ["ReadChangeFeed", "startingVersion"]
    assert len(options) == 2
    assert "x" not in options


def test_of_names_that_differ_in_case_the_last_is_kept() -> None:
    assert dict(Options({"a": 1, "A": 2})) == {"A": "2"}


def test_values_are_text() -> None:
    options = Options({"a": True, "b": 7, "c": None, "d": "x"})

    assert dict(options) == {"a": "true", "b": "7", "c": "null", "d": "x"}
    assert repr(options) == "Options({'a': 'true', 'b': '7', 'c': 'null', 'd': 'x'})"


@pytest.mark.parametrize("text", ["true", "TRUE", " True "])
def test_a_switch_is_on_in_any_case(text: str) -> None:
    assert Options({"x": text}).boolean("X")


def test_a_switch_that_is_not_set_has_its_default() -> None:
    assert not Options().boolean("x")
    assert Options().boolean("x", default=True)


@pytest.mark.parametrize("text", ["yes", "1", "", "null"])
def test_a_switch_that_is_neither_on_nor_off_is_refused(text: str) -> None:
    with pytest.raises(IllegalOptionError) as raised:
        Options({"readChangeFeed": text}).boolean("readChangeFeed")

    assert raised.value.sentence() == (
        f"option readChangeFeed is {text!r}, but needs to be true or false\n"
        "hint: set readChangeFeed to such a value, or leave it out"
    )
    assert raised.value.code == "DELTA_ILLEGAL_OPTION"


@pytest.mark.parametrize(
    ("text", "version"), [("0", 0), ("+5", 5), ("-1", -1), (str(2**63 - 1), 2**63 - 1)]
)
def test_a_version_is_a_64_bit_integer(text: str, version: int) -> None:
    assert Options({"startingVersion": text}).version("startingVersion") == version


@pytest.mark.parametrize("value", ["1.0", "latest", "", " 1", "1_0", "٣", 2**63, None])
def test_any_other_version_is_refused(value: object) -> None:
    text = "null" if value is None else str(value)

    with pytest.raises(InvalidVersionError) as raised:
        Options({"startingVersion": value}).version("startingVersion")

    assert raised.value.sentence() == (
        f"startingVersion is {text!r}, which is not a version\n"
        "hint: give an integer such as 0 or 42"
    )
    assert raised.value.code == "DELTA_VERSION_INVALID"


def test_an_unknown_option_comes_with_the_nearest_known_one() -> None:
    options = Options({"startingversoin": 1, "zzz": 2, "ENDINGVERSION": 3})

    assert unknown_options(options, ["startingVersion", "endingVersion"]) == {
        "startingversoin": "startingVersion",
        "zzz": None,
    }

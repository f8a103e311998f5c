from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from staging import configuration
from truckee.protocol import partition_values
from truckee.protocol.predicates import (
    ALWAYS_FALSE,
    ALWAYS_TRUE,
    UNKNOWN,
    And,
    Comparison,
    In,
    IsNotNull,
    IsNull,
    Literal,
    Not,
    Or,
    Predicate,
    StartsWith,
    all_of,
    any_of,
    column_named,
    evaluate,
)
from truckee.protocol.schema import DataType, StructField, StructType, parse_type
from truckee.protocol.stats import FileStats, encode_stats, has_bounds, lower_bound, upper_bound
from truckee.protocol.table_configuration import TableConfiguration
from truckee.scan.pruning import prune, pruned_scan_files
from truckee.scan.scan_file import ScanFile
from values import compare, simple_schema

UTC = timezone.utc
NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)


def configured(
    schema: StructType, partition_columns: list[str], mode: str = "name"
) -> TableConfiguration:
    return configuration(schema, partition_columns, mode=mode)


def files(*rows: tuple[Mapping[str, str | None], str | None]) -> pa.Table:
    """Files as a snapshot has them: partition values, and statistics as a text."""
    string_map = pa.map_(pa.string(), pa.string())
    return pa.table(
        {
            "partition_values": pa.array([list(p.items()) for p, _ in rows], string_map),
            "stats": pa.array([stats for _, stats in rows], pa.string()),
        }
    )


def with_stats(*stats: Mapping[str, Any] | None) -> pa.Table:
    return files(*(({}, None if s is None else json.dumps(s)) for s in stats))


def bounds(low: Any, high: Any, *, nulls: int = 0, rows: int = 10) -> dict[str, Any]:
    """Statistics of one column `c`."""
    return {
        "numRecords": rows,
        "minValues": {"c": low},
        "maxValues": {"c": high},
        "nullCount": {"c": nulls},
    }


def keeps(stats: Mapping[str, Any] | None, type_name: str, predicate: Predicate) -> bool:
    schema = simple_schema(StructField("c", parse_type(type_name)))
    kept: bool = prune(with_stats(stats), configured(schema, []), predicate)[0].as_py()
    return kept


C = column_named("c")


@pytest.mark.parametrize(
    ("op", "value", "kept"),
    [
        ("=", 0, False),
        ("=", 1, True),
        ("=", 9, True),
        ("=", 10, False),
        ("<=>", 10, False),
        ("<=>", 5, True),
        ("<", 1, False),
        ("<", 2, True),
        ("<=", 0, False),
        ("<=", 1, True),
        (">", 9, False),
        (">", 8, True),
        (">=", 10, False),
        (">=", 9, True),
        ("!=", 1, True),
        ("=", None, False),
        ("=", 1 << 70, True),
        ("=", 1.5, True),
        ("=", "1", True),
    ],
)
def test_comparisons_rule_out_what_is_beyond_the_bounds(op: str, value: Any, kept: bool) -> None:
    assert keeps(bounds(1, 9), "long", compare("c", op, value)) is kept


def test_unequal_rules_out_a_file_of_nothing_but_that_value() -> None:
    assert not keeps(bounds(7, 7), "long", compare("c", "!=", 7))
    assert keeps(bounds(7, 7), "long", compare("c", "!=", 8))
    assert not keeps(bounds(7, 7), "long", Not(compare("c", "=", 7)))


@pytest.mark.parametrize(
    ("nulls", "predicate", "kept"),
    [
        (0, IsNull(C), False),
        (1, IsNull(C), True),
        (10, IsNull(C), True),
        (0, compare("c", "<=>", None), False),
        (9, IsNotNull(C), True),
        (10, IsNotNull(C), False),
        (0, Not(IsNull(C)), True),
        (10, compare("c", ">", 0), False),
        (10, In(C, (1, 2)), False),
        (9, compare("c", ">", 0), True),
    ],
)
def test_null_counts_decide_what_is_said_of_nulls(
    nulls: int, predicate: Predicate, kept: bool
) -> None:
    low, high = (None, None) if nulls == 10 else (1, 9)

    assert keeps(bounds(low, high, nulls=nulls), "long", predicate) is kept


def test_wide_null_counts_are_trusted_only_at_their_ends() -> None:
    for nulls, is_null, is_not_null in ((0, False, True), (5, True, True), (10, True, False)):
        wide = {**bounds(1, 9, nulls=nulls), "tightBounds": False}

        assert keeps(wide, "long", IsNull(C)) is is_null
        assert keeps(wide, "long", IsNotNull(C)) is is_not_null


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        ((), False),
        ((None,), False),
        ((0, 10), False),
        ((0, 5), True),
        ((None, 9), True),
        (tuple(range(100, 200)), False),
        ((*range(-100, 0), *range(100, 200)), True),
        ((0, "x"), True),
    ],
)
def test_a_list_keeps_what_overlaps_it(values: tuple[Any, ...], kept: bool) -> None:
    assert keeps(bounds(1, 9), "long", In(C, values)) is kept


@pytest.mark.parametrize(
    ("prefix", "kept"),
    [
        ("", True),
        ("b", True),
        ("bc", True),
        ("bcd", True),
        ("d", True),
        ("da", False),
        ("a", False),
    ],
)
def test_a_prefix_is_compared_with_prefixes_of_the_bounds(prefix: str, kept: bool) -> None:
    assert keeps(bounds("bcde", "d"), "string", StartsWith(C, prefix)) is kept


def test_what_always_has_a_prefix_is_ruled_out_by_its_negation() -> None:
    assert not keeps(bounds("abc", "abd"), "string", Not(StartsWith(C, "ab")))
    assert keeps(bounds("abc", "abd"), "string", Not(StartsWith(C, "abc")))


def test_bounds_of_long_strings_that_were_cut_still_hold() -> None:
    value = "k" * 40
    stats = bounds(value[:32], value[:32] + "\x7f")

    assert keeps(stats, "string", compare("c", "=", value))
    assert keeps(stats, "string", compare("c", ">", value[:39]))
    assert keeps(stats, "string", compare("c", "!=", value[:32]))
    assert not keeps(stats, "string", compare("c", "=", "l"))


def test_a_millisecond_is_added_to_the_greatest_timestamp() -> None:
    stats = bounds("2024-01-01T12:00:00.000Z", "2024-01-01T12:00:00.000Z")
    later = NOON + timedelta(microseconds=999)

    assert keeps(stats, "timestamp", compare("c", "=", later))
    assert keeps(stats, "timestamp", compare("c", ">", NOON))
    assert keeps(stats, "timestamp", compare("c", "!=", NOON))
    assert not keeps(stats, "timestamp", compare("c", ">", NOON + timedelta(milliseconds=1)))
    assert not keeps(stats, "timestamp", compare("c", "<", NOON))


@pytest.mark.parametrize(
    ("type_name", "low", "high", "inside", "outside"),
    [
        ("byte", 1, 3, 2, 4),
        ("integer", 1, 3, 2, 4),
        ("boolean", False, False, False, True),
        ("float", 0.1, 0.3, 0.25, 0.5),
        ("double", 0.1, 0.3, 0.1, 0.5),
        ("double", "-Infinity", 3, -1e300, 4),
        ("decimal(10,2)", 1.1, 3.25, Decimal("1.10"), Decimal("3.26")),
        ("string", "b", "d", "c", "e"),
        ("date", "2024-01-01", "2024-01-31", date(2024, 1, 15), date(2024, 2, 1)),
        (
            "timestamp",
            "2024-01-01T00:00:00.000-08:00",
            "2024-01-01T00:00:00.000-08:00",
            datetime(2024, 1, 1, 8, tzinfo=UTC),
            datetime(2024, 1, 1, tzinfo=UTC),
        ),
        (
            "timestamp_ntz",
            "2024-01-01T00:00:00.000",
            "2024-01-02T00:00:00",
            datetime.fromisoformat("2024-01-01T12:00:00"),
            datetime.fromisoformat("2024-01-03T00:00:00"),
        ),
    ],
)
def test_every_type_with_an_order_is_compared(
    type_name: str, low: Any, high: Any, inside: Any, outside: Any
) -> None:
    stats = bounds(low, high)

    assert keeps(stats, type_name, compare("c", "=", inside))
    assert not keeps(stats, type_name, compare("c", "=", outside))


def test_a_float_in_few_digits_is_the_float_and_not_the_double() -> None:
    single = 0.10000000149011612

    assert keeps(bounds(0.1, 0.1), "float", compare("c", "=", single))
    assert keeps(bounds(single, single), "float", compare("c", ">=", single))


def test_nan_is_above_all_and_rules_out_nothing_by_itself() -> None:
    assert keeps(bounds(1.0, "NaN"), "double", compare("c", ">", 100.0))
    assert not keeps(bounds(1.0, "NaN"), "double", compare("c", "<", 1.0))
    assert keeps(bounds(1.0, 2.0), "double", compare("c", "=", math.nan))
    assert keeps(bounds(1.0, 1.0), "double", compare("c", "!=", 1.0))


def test_a_decimal_that_went_through_a_double_rules_out_nothing_near_it() -> None:
    value = Decimal("12345678901234567890123.45")
    rounded = 1.2345678901234568e22

    assert keeps(bounds(rounded, rounded), "decimal(38,2)", compare("c", "=", value))
    assert not keeps(bounds(rounded, rounded), "decimal(38,2)", compare("c", "=", value * 2))


@pytest.mark.parametrize(
    "stats",
    [
        None,
        {},
        {"numRecords": 10},
        {"numRecords": 10, "nullCount": {"c": 0}},
        bounds("soon", "later"),
        bounds(None, None),
        {"numRecords": 10, "minValues": {"other": 1}, "maxValues": {"c": {"x": 1}}},
    ],
)
def test_missing_and_unreadable_statistics_rule_out_nothing(
    stats: Mapping[str, Any] | None,
) -> None:
    for predicate in (compare("c", "=", 5), compare("c", "!=", 5), In(C, (5,)), IsNotNull(C)):
        assert keeps(stats, "long", predicate)


def test_one_bound_is_enough_to_rule_a_file_out() -> None:
    assert not keeps({"minValues": {"c": 5}}, "long", compare("c", "=", 4))
    assert keeps({"minValues": {"c": 5}}, "long", compare("c", "=", 6))


def test_one_unreadable_value_does_not_cost_the_others_of_the_file() -> None:
    schema = simple_schema("a date", "c long")
    stats = bounds(1, 9)
    stats["minValues"]["a"] = 17

    mask = prune(
        with_stats(stats),
        configured(schema, []),
        all_of(compare("c", "=", 50), IsNotNull(column_named("a"))),
    )

    assert mask.to_pylist() == [False]


def test_nested_columns_go_by_their_physical_names() -> None:
    def mapped(name: str, data_type: DataType, physical: str) -> StructField:
        metadata = {"delta.columnMapping.physicalName": physical}
        return StructField(name, data_type, metadata=metadata)

    inner = StructType((mapped("x", parse_type("long"), "col-2"),))
    schema = StructType((mapped("s", inner, "col-1"), mapped("p", parse_type("long"), "col-3")))
    stats = {"numRecords": 1, "minValues": {"col-1": {"col-2": 5}}, "maxValues": {}}
    table = files(({"col-3": "1"}, json.dumps(stats)), ({"col-3": "2"}, json.dumps(stats)))

    def mask(predicate: Predicate, mode: str) -> list[bool]:
        found: list[bool] = prune(table, configured(schema, ["p"], mode), predicate).to_pylist()
        return found

    assert mask(compare("S.X", "<", 5), "name") == [False, False]
    assert mask(compare("s.x", "<", 5), "none") == [True, True]
    assert mask(all_of(compare("s.x", ">", 5), compare("P", "=", 2)), "id") == [False, True]


def test_a_column_that_was_widened_from_float_has_no_bounds_to_rely_on() -> None:
    changes = {"delta.typeChanges": [{"fromType": "float", "toType": "double"}]}
    schema = simple_schema(StructField("c", parse_type("double"), metadata=changes))

    mask = prune(with_stats(bounds(0.1, 0.1)), configured(schema, []), compare("c", ">", 0.1))

    assert mask.to_pylist() == [True]


def test_partition_values_decide_exactly() -> None:
    schema = simple_schema("p date", "id long")
    table = files(
        ({"p": "2024-01-01"}, None), ({"p": "2024-01-02"}, None), ({"p": None}, None), ({}, None)
    )

    def mask(predicate: Predicate) -> list[bool]:
        found: list[bool] = prune(table, configured(schema, ["p"]), predicate).to_pylist()
        return found

    day = date(2024, 1, 1)
    assert mask(compare("p", "=", day)) == [True, False, False, False]
    assert mask(compare("P", "!=", day)) == [False, True, False, False]
    assert mask(Not(compare("p", "<=>", day))) == [False, True, True, True]
    assert mask(IsNull(column_named("p"))) == [False, False, True, True]
    assert mask(any_of(compare("p", "=", day), UNKNOWN)) == [True, True, True, True]
    assert mask(all_of(compare("p", "=", day), UNKNOWN)) == [True, False, False, False]
    assert mask(ALWAYS_TRUE) == [True] * 4
    assert mask(ALWAYS_FALSE) == [False] * 4


def test_old_timestamps_are_read_in_the_zone_of_the_session() -> None:
    schema = simple_schema("p timestamp")
    table = files(
        ({"p": "2024-01-01 13:00:00"}, None), ({"p": "2024-01-01T12:00:00.000000Z"}, None)
    )

    found = prune(
        table, configured(schema, ["p"]), compare("p", "=", NOON), session_zone="Europe/Berlin"
    )

    assert found.to_pylist() == [True, True]


def test_a_partition_value_that_cannot_be_read_is_kept() -> None:
    found = prune(
        files(({"p": "x"}, None)), configured(simple_schema("p long"), ["p"]), compare("p", "=", 1)
    )

    assert found.to_pylist() == [True]


def test_partition_values_and_statistics_go_through_or_together() -> None:
    schema = simple_schema("p long", "c long")
    table = files(
        ({"p": "1"}, json.dumps(bounds(0, 9))),
        ({"p": "2"}, json.dumps(bounds(0, 9))),
        ({"p": "2"}, json.dumps(bounds(10, 19))),
    )

    found = prune(
        table, configured(schema, ["p"]), any_of(compare("p", "=", 1), compare("c", ">", 15))
    )

    assert found.to_pylist() == [True, False, True]


def test_a_predicate_on_an_unknown_column_or_a_struct_rules_out_nothing() -> None:
    schema = StructType((StructField("s", simple_schema("x long")),))
    table = with_stats({"numRecords": 1, "nullCount": {"s": {"x": 0}}})

    assert prune(table, configured(schema, []), compare("nothing", "=", 1)).to_pylist() == [True]
    both = all_of(IsNull(column_named("s")), IsNotNull(column_named("s.x")))
    assert prune(table, configured(schema, []), both).to_pylist() == [True]


def test_no_files_are_no_files() -> None:
    found = prune(files(), configured(simple_schema("c long"), []), compare("c", "=", 1))

    assert found.to_pylist() == []


def test_scan_files_are_pruned_alike() -> None:
    def scan_file(path: str, day: str, low: int) -> ScanFile:
        return ScanFile(
            path=path,
            size=1,
            modification_time=0,
            partition_values={"p": day},
            version=0,
            stats=json.dumps(bounds(low, low + 9)),
        )

    found = [scan_file("a", "1", 0), scan_file("b", "2", 0), scan_file("c", "2", 10)]
    predicate = all_of(compare("p", "=", 2), compare("c", "<", 5))

    kept = pruned_scan_files(found, configured(simple_schema("p long", "c long"), ["p"]), predicate)

    assert [file.path for file in kept] == ["b"]


# Laws. Rows are made up, statistics are computed from them, and a file is kept at least if one of
# its rows matches.

COLUMNS: dict[str, tuple[str, st.SearchStrategy[Any]]] = {
    "n": ("long", st.integers(-3, 3)),
    "f": ("double", st.sampled_from([-math.inf, -1.0, -0.0, 0.0, 0.5, 2.0, math.inf, math.nan])),
    "d": ("decimal(20,2)", st.sampled_from([Decimal("-1.50"), Decimal("0.01"), Decimal(10**17)])),
    "t": ("string", st.text("a\x7f\U0010ffff", max_size=2)),
    "day": ("date", st.dates(date(2023, 12, 30), date(2024, 1, 3))),
    "ts": (
        "timestamp",
        st.integers(-2500, 2500).map(lambda us: NOON + timedelta(microseconds=us)),
    ),
}
SCHEMA = simple_schema(
    "p integer", *(StructField(name, parse_type(kind)) for name, (kind, _) in COLUMNS.items())
)
PREFIX = 1

rows = st.fixed_dictionaries({name: st.none() | values for name, (_, values) in COLUMNS.items()})


def _order(value: Any) -> Any:
    is_number = isinstance(value, int | float | Decimal)
    return (value != value, 0 if value != value else value) if is_number else value


def _statistics(table: Sequence[Mapping[str, Any]], *, gone: int, wide: bool) -> FileStats:
    """Statistics of `table`, whose first rows are deleted; tight ones are of the rows left."""
    counted = table if wide else table[gone:]
    low: dict[str, Any] = {}
    high: dict[str, Any] = {}
    nulls = {}
    for name, (kind, _) in COLUMNS.items():
        data_type = parse_type(kind)
        found = sorted((r[name] for r in counted if r[name] is not None), key=_order)
        nulls[name] = sum(r[name] is None for r in counted)
        if found and has_bounds(data_type):
            low[name] = lower_bound(found[0], data_type, prefix_length=PREFIX)
            high[name] = upper_bound(found[-1], data_type, prefix_length=PREFIX)
    return FileStats(
        num_records=len(table),
        min_values=low,
        max_values={name: bound for name, bound in high.items() if bound is not None},
        null_count=nulls,
        tight_bounds=not wide,
    )


def _leaves(name: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    ops = st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "<=>"])
    of = st.just(column_named(name))
    return st.one_of(
        st.builds(Comparison, ops, of, st.none() | values),
        st.builds(IsNull, of),
        st.builds(IsNotNull, of),
        st.builds(In, of, st.lists(st.none() | values, max_size=20).map(tuple)),
    )


leaves: st.SearchStrategy[Any] = st.one_of(
    *(_leaves(name, values) for name, (_, values) in COLUMNS.items()),
    _leaves("p", st.integers(0, 2)),
    st.builds(StartsWith, st.just(column_named("t")), st.text("ab\x7f", max_size=3)),
    st.builds(Literal, st.none() | st.booleans()),
    st.just(UNKNOWN),
)
predicates: st.SearchStrategy[Any] = st.recursive(
    leaves,
    lambda inner: (
        st.builds(Not, inner)
        | st.lists(inner, min_size=1, max_size=3).map(lambda found: And(tuple(found)))
        | st.lists(inner, min_size=1, max_size=3).map(lambda found: Or(tuple(found)))
    ),
    max_leaves=5,
)
data_files = st.tuples(
    st.none() | st.integers(0, 2), st.lists(rows, min_size=1, max_size=4), st.booleans()
)


# Invariant 10.
@pytest.mark.property
@given(st.lists(data_files, min_size=1, max_size=3), predicates, st.integers(0, 1))
def test_a_file_with_a_row_that_matches_is_kept(
    tables: list[tuple[int | None, list[dict[str, Any]], bool]], predicate: Predicate, gone: int
) -> None:
    integer = parse_type("integer")
    listed = files(
        *(
            (
                {"p": partition_values.format(p, integer)},
                encode_stats(_statistics(found, gone=gone, wide=wide)),
            )
            for p, found, wide in tables
        )
    )

    mask = prune(listed, configured(SCHEMA, ["p"]), predicate).to_pylist()

    for kept, (p, found, _) in zip(mask, tables, strict=True):
        matches = any(evaluate(predicate, {**row, "p": p}) is True for row in found[gone:])
        assert kept or not matches


@pytest.mark.property
@pytest.mark.parametrize("name", COLUMNS)
@given(data=st.data())
def test_a_file_with_a_value_that_matches_is_kept(name: str, data: st.DataObject) -> None:
    values = COLUMNS[name][1]
    found = data.draw(st.lists(st.none() | values, min_size=1, max_size=3))
    leaf = data.draw(_leaves(name, values) | _leaves(name, st.sampled_from(found)))
    predicate = data.draw(st.sampled_from([leaf, Not(leaf)]))
    nulls: dict[str, Any] = dict.fromkeys(COLUMNS)
    table = [{**nulls, name: value} for value in found]
    stats = encode_stats(_statistics(table, gone=0, wide=False))

    mask = prune(files(({}, stats)), configured(SCHEMA, ["p"]), predicate)

    assert mask[0].as_py() or not any(evaluate(predicate, row) is True for row in table)


@pytest.mark.property
@given(st.lists(st.none() | st.integers(0, 2)), predicates)
def test_a_predicate_on_partitions_alone_is_decided_exactly(
    values: list[int | None], predicate: Predicate
) -> None:
    integer = parse_type("integer")
    listed = files(*(({"p": partition_values.format(p, integer)}, None) for p in values))
    decided = [evaluate(predicate, {"p": p}) for p in values]

    mask = prune(listed, configured(SCHEMA, ["p"]), predicate).to_pylist()

    for kept, expected in zip(mask, decided, strict=True):
        assert expected is None or kept is expected

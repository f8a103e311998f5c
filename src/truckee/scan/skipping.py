"""Which files statistics rule out, for one comparison with one column, for many files at once.

The rules are those of Delta's data skipping, stated by what proves that no row can match.

| predicate            | a file is ruled out if                               |
|----------------------|------------------------------------------------------|
| c = v, c <=> v       | v < min, or v > max                                  |
| c < v, c <= v        | min >= v, min > v                                    |
| c > v, c >= v        | max <= v, max < v                                    |
| c != v               | min = max = v                                        |
| c IN (...)           | every value of the list is outside of min..max       |
| c LIKE 'p%'          | min, cut to the length of p, is above p, or max below |
| NOT c LIKE 'p%'      | min and max both start with p                        |
| c IS NULL            | nullCount = 0                                        |
| c IS NOT NULL        | nullCount = numRecords                               |

Every comparison also rules out files with nullCount = numRecords. A missing statistic proves
nothing. All this holds for wide bounds as well as for tight ones: a deletion vector only removes
rows, and null counts are used only if they are zero or equal to numRecords.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from truckee.protocol.predicates import (
    Comparison,
    In,
    IsNotNull,
    IsNull,
    Leaf,
    Not,
    StartsWith,
)
from truckee.protocol.schema import DataType, PrimitiveType
from truckee.scan.file_statistics import ColumnStatistics, comparable_literal

# One bool for all files, or one for each of them.
Mask: TypeAlias = bool | pa.BooleanArray

# Longer lists are compared by their least and greatest value.
_LONGEST_LIST = 16


def ruled_out(leaf: Leaf | Not, stats: ColumnStatistics, data_type: DataType) -> Mask:
    """Return, for each file, whether its statistics prove that `leaf` is true for no row."""
    match leaf:
        case IsNull() | Comparison("<=>", _, None):
            return _proven(pc.equal(stats.null_count, 0))
        case IsNotNull():
            return _all_null(stats)
        case Comparison(_, _, None):
            return True
        case Comparison(op, _, value):
            literal = comparable_literal(value, data_type)
            return _or(_all_null(stats), _compared(op, literal, stats))
        case In(_, values):
            return _or(_all_null(stats), _outside(values, stats, data_type))
        case StartsWith(_, prefix) if _is_string(data_type):
            return _or(_all_null(stats), _without_prefix(prefix, stats))
        case Not(StartsWith(_, prefix)) if _is_string(data_type):
            return _or(_all_null(stats), _always_with_prefix(prefix, stats))
        case _:
            return False


def _is_string(data_type: DataType) -> bool:
    return data_type == PrimitiveType("string")


def _proven(condition: pa.Array) -> pa.BooleanArray:
    return pc.fill_null(condition, False)


def _or(left: Mask, right: Mask) -> Mask:
    if isinstance(left, bool) or isinstance(right, bool):
        if left is True or right is True:
            return True
        return right if left is False else left
    return pc.or_(left, right)


def _all_null(stats: ColumnStatistics) -> pa.BooleanArray:
    return _proven(pc.equal(stats.null_count, stats.num_records))


def _compared(op: str, literal: pa.Scalar | None, stats: ColumnStatistics) -> Mask:
    if literal is None:
        return False
    # In Arrow every comparison with NaN is false, and so proves nothing.
    match op:
        case "=" | "<=>":
            above = _proven(pc.greater(stats.lower, literal))
            return pc.or_(above, _proven(pc.less(stats.upper, literal)))
        case "<":
            return _proven(pc.greater_equal(stats.lower, literal))
        case "<=":
            return _proven(pc.greater(stats.lower, literal))
        case ">":
            return _proven(pc.less_equal(stats.upper, literal))
        case ">=":
            return _proven(pc.less(stats.upper, literal))
        case "!=" if not pa.types.is_floating(literal.type):
            least = _proven(pc.equal(stats.lower, literal))
            return pc.and_(least, _proven(pc.equal(stats.upper, literal)))
        case _:
            # Some writers ignore NaN in bounds, so a column with min = max may also have a NaN.
            return False


def _outside(values: Sequence[Any], stats: ColumnStatistics, data_type: DataType) -> Mask:
    literals = [comparable_literal(v, data_type) for v in values if v is not None]
    known = [literal for literal in literals if literal is not None]
    if len(known) < len(literals) or any(_is_nan(literal) for literal in known):
        return False
    if len(known) > _LONGEST_LIST:
        known.sort(key=lambda literal: literal.as_py())
        beyond = _proven(pc.greater(stats.lower, known[-1]))
        return pc.or_(beyond, _proven(pc.less(stats.upper, known[0])))
    outside: Mask = True
    for literal in known:
        not_this = _compared("=", literal, stats)
        outside = not_this if isinstance(outside, bool) else pc.and_(outside, not_this)
    return outside


def _is_nan(literal: pa.Scalar) -> bool:
    value = literal.as_py()
    return isinstance(value, float) and value != value


def _without_prefix(prefix: str, stats: ColumnStatistics) -> pa.BooleanArray:
    length = len(prefix)
    above = pc.greater(pc.utf8_slice_codeunits(stats.lower, 0, length), prefix)
    below = pc.less(pc.utf8_slice_codeunits(stats.upper, 0, length), prefix)
    return pc.or_(_proven(above), _proven(below))


def _always_with_prefix(prefix: str, stats: ColumnStatistics) -> pa.BooleanArray:
    least = _proven(pc.starts_with(stats.lower, prefix))
    return pc.and_(least, _proven(pc.starts_with(stats.upper, prefix)))

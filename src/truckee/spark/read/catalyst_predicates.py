"""Catalyst filters as predicates that pruning understands.

A filter comes as the JSON of its tree: a flat list of nodes, parents first, each with the number
of its children. What has no counterpart becomes `UNKNOWN`, which keeps every file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

import msgspec

from truckee.protocol.predicates import (
    UNKNOWN,
    Column,
    Comparison,
    In,
    IsNotNull,
    IsNull,
    Not,
    Predicate,
    StartsWith,
    all_of,
    any_of,
)
from truckee.protocol.schema import StructField, StructType

_OPERATORS = {
    "EqualTo": "=",
    "EqualNullSafe": "<=>",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
}
_MIRRORED = {"=": "=", "<=>": "<=>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
# Fields of `_metadata`. Spark hands filters on them over under these names.
_NEVER_NULL = frozenset(
    {
        "file_path",
        "file_name",
        "file_size",
        "file_block_start",
        "file_block_length",
        "file_modification_time",
    }
)
_NULLABLE = frozenset({"base_row_id", "default_row_commit_version"})
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  the values have no zone

# All that follows walks the predicate by recursion.
_DEEPEST = 100

_Node: TypeAlias = tuple[dict[str, Any], list[Any]]


class _NotLiteral(Exception):
    """An operand is not a literal that can be compared here."""


def predicate_of(filters: Sequence[str], schema: StructType, session_zone: str) -> Predicate:
    """Return the conjunction of filters, over the logical columns of `schema`.

    Filters use the physical names of data files. Names that the schema does not have, such as the
    constants of a feed, become `UNKNOWN`.
    """
    reader = _Reader(schema, session_zone)
    return all_of(*(reader.predicate(_tree(msgspec.json.decode(text))) for text in filters))


def _tree(nodes: list[dict[str, Any]]) -> _Node:
    # From the last node to the first, because chains of OR may be deeper than Python can recurse.
    trees: list[_Node] = []
    for node in reversed(nodes):
        trees.append((node, [trees.pop() for _ in range(node["num-children"])]))
    return trees.pop()


def _operands(tree: _Node) -> list[_Node]:
    """Return the operands of a chain of ANDs or of ORs: `(a OR b) OR c` has a, b and c."""
    kind = _kind(tree[0])
    found: list[_Node] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if _kind(node[0]) == kind:
            waiting.extend(reversed(node[1]))
        else:
            found.append(node)
    return found


class _Reader:
    def __init__(self, schema: StructType, session_zone: str) -> None:
        self._schema = schema
        self._zone = session_zone

    def predicate(self, tree: _Node, depth: int = 0) -> Predicate:
        node, children = tree
        kind = _kind(node)
        if depth > _DEEPEST:
            return UNKNOWN
        if kind in ("And", "Or"):
            found = [self.predicate(operand, depth + 1) for operand in _operands(tree)]
            return all_of(*found) if kind == "And" else any_of(*found)
        if kind == "Not":
            operand = self.predicate(children[0], depth + 1)
            return UNKNOWN if operand == UNKNOWN else Not(operand)
        try:
            return self._leaf(kind, children)
        except _NotLiteral:
            return UNKNOWN

    def _leaf(self, kind: str, children: list[_Node]) -> Predicate:
        if kind in _OPERATORS:
            return self._comparison(_OPERATORS[kind], *children)
        column = self._column(children[0]) if children else None
        if column is None:
            return UNKNOWN
        if kind == "IsNull":
            return IsNull(column)
        if kind == "IsNotNull":
            return IsNotNull(column)
        if kind == "In":
            return In(column, tuple(self._value(child) for child in children[1:]))
        if kind == "StartsWith":
            prefix = self._value(children[1])
            return StartsWith(column, prefix) if isinstance(prefix, str) else UNKNOWN
        return UNKNOWN

    def _comparison(self, operator: str, left: _Node, right: _Node) -> Predicate:
        column = self._column(left)
        if column is not None:
            return Comparison(operator, column, self._value(right))
        column = self._column(right)
        if column is not None:
            return Comparison(_MIRRORED[operator], column, self._value(left))
        return UNKNOWN

    def _column(self, tree: _Node) -> Column | None:
        """Return the column of an attribute, or of a field inside one; None if it is neither."""
        path: list[str] = []
        node, children = tree
        while _kind(node) == "GetStructField" and node.get("name"):
            path.append(node["name"])
            node, children = children[0]
        if _kind(node) != "AttributeReference" or _may_be_of_file(node):
            return None
        path.append(node["name"])
        return self._logical(path[::-1])

    def _logical(self, physical_path: list[str]) -> Column | None:
        struct: Any = self._schema
        path: list[str] = []
        for name in physical_path:
            if not isinstance(struct, StructType):
                return None
            field = _by_physical_name(struct, name)
            if field is None:
                return None
            path.append(field.name)
            struct = field.type
        return Column(tuple(path))

    def _value(self, tree: _Node) -> Any:
        node, _ = tree
        if _kind(node) != "Literal":
            raise _NotLiteral
        text, data_type = node["value"], node["dataType"]
        if text is None:
            return None
        if not isinstance(data_type, str):
            raise _NotLiteral
        if data_type == "timestamp":
            return _timestamp(text, self._zone)
        if data_type.startswith("decimal"):
            return Decimal(text)
        if data_type not in _PARSERS:
            raise _NotLiteral
        try:
            return _PARSERS[data_type](text)
        except (ValueError, OverflowError) as problem:
            raise _NotLiteral from problem  # a year beyond Python's


_PARSERS: dict[str, Callable[[str], Any]] = {
    "byte": int,
    "short": int,
    "integer": int,
    "long": int,
    "float": float,
    "double": float,
    "string": str,
    "boolean": lambda text: text == "true",
    "date": date.fromisoformat,
    "timestamp_ntz": lambda text: _EPOCH + timedelta(microseconds=int(text)),
}


def _kind(node: dict[str, Any]) -> str:
    return str(node["class"]).rpartition(".")[2]


def _may_be_of_file(attribute: dict[str, Any]) -> bool:
    """Return whether an attribute may be a field of `_metadata` rather than a column."""
    if attribute["name"] in _NEVER_NULL:
        return not attribute.get("nullable", True)
    return attribute["name"] in _NULLABLE


def _by_physical_name(struct: StructType, name: str) -> StructField | None:
    folded = name.casefold()
    return next((f for f in struct.fields if f.physical_name.casefold() == folded), None)


def _timestamp(text: str, session_zone: str) -> datetime:
    """Return the moment of a literal, which Spark prints in the session's zone."""
    try:
        local = datetime.fromisoformat(_with_micros(text)).replace(tzinfo=ZoneInfo(session_zone))
        moment = local.astimezone(timezone.utc)
        later = local.replace(fold=1).astimezone(timezone.utc)
    except (ValueError, OverflowError, KeyError) as problem:
        raise _NotLiteral from problem  # a year beyond Python's, or a zone it does not know
    if moment != later:
        raise _NotLiteral  # the clock was set back, so the text may mean either of two moments
    return moment


def _with_micros(text: str) -> str:
    """Return the text with six digits after the second, as Python 3.10 requires."""
    whole, dot, fraction = text.partition(".")
    return f"{whole}.{fraction:0<6}" if dot else whole

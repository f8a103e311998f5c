"""Rows with the values where types and comparisons differ, as Arrow has them."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa

from truckee.arrow.columns import arrow_schema
from truckee.protocol.schema import StructField, StructType
from values import simple_schema

SCHEMA = StructType(
    (
        *simple_schema(
            "id integer",
            "b byte",
            "sh short",
            "i integer",
            "l long",
            "f float",
            "d double",
            "dec decimal(10,2)",
            "big decimal(38,10)",
            "s string",
            "bin binary",
            "day date",
            "ts timestamp",
            "ntz timestamp_ntz",
            "flag boolean",
        ).fields,
        StructField("st", simple_schema("x integer", "Y string")),
        StructField("a b", simple_schema("x long").fields[0].type),
    )
)
NAN, INF = float("nan"), float("inf")


def _decimals(texts: str) -> list[Decimal | None]:
    return [None if text == "-" else Decimal(text) for text in texts.split()]


def _moments(texts: str) -> list[datetime | None]:
    return [None if text == "-" else datetime.fromisoformat(text) for text in texts.split()]


COLUMNS: dict[str, list[Any]] = {
    "b": [0, 5, -128, 127, None, 1],
    "sh": [0, 5, -32768, 32767, None, 300],
    "i": [0, 5, -(1 << 31), (1 << 31) - 1, None, 16777217],
    "l": [0, 5, -(1 << 63), (1 << 63) - 1, None, 9007199254740993],
    "f": [0.0, 0.5, NAN, -INF, None, 0.10000000149011612],
    "d": [-0.0, 0.1, NAN, INF, None, 9007199254740992.0],
    "dec": _decimals("0.00 5.00 0.30 -99999999.99 - 1.50"),
    "big": _decimals(
        "0E-10 5.0000000000 0.3000000000 -9999999999999999999999999999.9999999999 - 0.1000000000"
    ),
    "s": ["", "abc", "a%c", "line\nbreak", None, "ÄÖ_\\x"],
    "bin": [b"", b"abc", b"\xff", b"\x00", None, b"ab"],
    "day": [
        m and m.date() for m in _moments("1970-01-01 2024-01-31 2024-02-29 0001-01-01 - 9999-12-31")
    ],
    "ts": [
        m and m.replace(tzinfo=timezone.utc)
        for m in _moments(
            "1970-01-01 2024-01-31 2024-01-31T23:59:59.999999 1900-01-01 - 9999-12-31"
        )
    ],
    "ntz": _moments("1970-01-01 2024-01-31 2024-02-29T12:00:00 1900-01-01 - 9999-12-31"),
    "flag": [True, False, True, False, None, True],
    "st": [
        {"x": 1, "Y": "p"},
        {"x": None, "Y": "q"},
        None,
        {"x": 5, "Y": None},
        {"x": 5, "Y": "abc"},
        None,
    ],
    "a b": [1, 2, 3, 4, 5, None],
}


def all_rows() -> pa.RecordBatch:
    """Return the rows, each numbered by its id."""
    columns = {"id": list(range(6)), **COLUMNS}
    schema = arrow_schema(SCHEMA)
    arrays = [pa.array(columns[name], schema.field(name).type) for name in schema.names]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


CONDITIONS = [
    *(
        f"{column} {op} {value}"
        for column in ("b", "sh", "i", "l", "dec", "big", "f", "d")
        for op in ("=", "!=", "<", "<=", ">", ">=", "<=>")
        for value in ("5", "1.5", "0.1", "5000000000", "-0.3", "1e0", "0.1F", "NULL", "1.5D")
    ),
    *(
        f"{left} {op} {right}"
        for left, right in (
            ("i", "l"),
            ("l", "d"),
            ("i", "f"),
            ("dec", "big"),
            ("dec", "l"),
            ("big", "d"),
            ("dec", "f"),
            ("day", "ts"),
            ("day", "ntz"),
            ("ts", "ntz"),
            ("f", "d"),
            ("s", "st.y"),
        )
        for op in ("=", "<", ">=", "<=>", "<>")
    ),
    "l = 9007199254740992D",
    "l = 9007199254740992.0",
    "l IN (9007199254740992D, 5)",
    "l > 99999999999999999999",
    "l > -99999999999999999999.5",
    "99999999999999999999 >= i",
    "l = 99999999999999999999",
    "l != 99999999999999999999",
    "NOT l > 99999999999999999999",
    "dec < 99999999999999999999",
    "i = '5'",
    "l > ' 5 '",
    "dec = '0.3'",
    "big = '0.1'",
    "d = '0.1'",
    "f = 0.1",
    "f = 0.5",
    "d > 0",
    "d >= 1e308",
    "d != 0.1",
    "d NOT IN (0.1, 0)",
    "d BETWEEN -1 AND 1",
    "f IN (0.5, 7)",
    "s = 'abc'",
    's = "abc"',
    "s > 'a'",
    "s <= 'abc'",
    "'abc' = s",
    "5 < i",
    "5 >= dec",
    "s = ''",
    "s = 'line\\nbreak'",
    "s = r'ÄÖ_\\x'",
    "s = 'ÄÖ_\\\\x'",
    "s IN ('abc', '', NULL)",
    "s NOT IN ('abc', '')",
    "s NOT IN ('abc', NULL)",
    "s LIKE 'a%'",
    "s LIKE '%c'",
    "s LIKE 'a_c'",
    "s LIKE 'a\\%c'",
    "s LIKE 'a/%c' ESCAPE '/'",
    "s LIKE '%\\_%'",
    "s LIKE '__\\_%'",
    "s LIKE ''",
    "s LIKE '%'",
    "s LIKE '%\n%'",
    "s LIKE 'line%break'",
    "s NOT LIKE '%b%'",
    "s LIKE '%.%'",
    "bin = X'616263'",
    "bin > X'61'",
    "bin = 'abc'",
    "bin <> X'FF'",
    "day = '2024-01-31'",
    "day = DATE '2024-1-31'",
    "day > date '2024'",
    "day IN ('2024-01-31', '1970-01-01')",
    "day BETWEEN '2024-01-01' AND '2024-02-01'",
    "day < TIMESTAMP '2024-01-31 00:00:01'",
    "day >= '0001-01-01'",
    "ts = '2024-01-31'",
    "ts > TIMESTAMP '2024-01-31 00:00:00'",
    "ts = TIMESTAMP '2024-01-31 01:00:00+01:00'",
    "ts <= '2024-01-31T23:59:59.999999Z'",
    "ts BETWEEN DATE '2024-01-31' AND DATE '2024-02-01'",
    "ntz = TIMESTAMP_NTZ '2024-02-29 12:00:00'",
    "ntz > '2024-01-31'",
    "ntz < TIMESTAMP '2024-02-01'",
    "flag",
    "NOT flag",
    "! flag",
    "flag = true",
    "flag = 'false'",
    "flag != false",
    "flag < true",
    "flag IS TRUE",
    "flag IS NOT FALSE",
    "flag IS UNKNOWN",
    "flag IS NOT UNKNOWN",
    "flag IS NULL",
    "(i > 0) IS TRUE",
    "(i > 0) = flag",
    "(i > 0) IS NULL",
    "i IS NOT NULL AND d IS NOT NULL",
    "i > 0 OR flag",
    "i > 0 AND flag OR s IS NULL",
    "NOT (i > 0 AND flag)",
    "NOT i > 0",
    "NOT (i > 0 OR d > 0)",
    "i IS DISTINCT FROM 5",
    "i IS NOT DISTINCT FROM NULL",
    "i <=> NULL",
    "i = NULL OR flag",
    "i NOT BETWEEN 0 AND 5",
    "i IN (5, 0)",
    "i IN (5, NULL)",
    "i NOT IN (5, NULL)",
    "i IN (5, 2.5)",
    "i IN (5, 16777217D)",
    "i IN (b, 5)",
    "dec IN (1.5, 5)",
    "dec IN (1.505, 0.300)",
    "st.x = 5",
    "st.x > 0",
    "ST.y = 'abc'",
    "st.X IS NULL",
    "st IS NULL",
    "st IS NOT NULL",
    "`a b` > 2",
    "`A B` = 1",
    "I = 5 and L = 5",
    "true",
    "false OR flag",
    "NULL",
    "1 = 1 AND flag",
    "1 < 2.5",
    "'a' = 'b'",
    "NULL = 5",
    "-5 < i",
    "i = - 5 OR i = +5",
    "5L = l",
    "5Y = b AND 5S = sh",
    "1.50BD = dec",
    "i == 5",
    "((i = 5))",
]

"""The form of a case: a table, statements, and what must come of them.

The facts are those of Delta's own Scala suites and of the protocol; names, data and code are ours.
Expected values are worked out by hand from these facts, never from what truckee returned.

The tables are few. Each is made once for each way to store it, and every case runs on a copy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = tuple[Any, ...]

FEED = {"delta.enableChangeDataFeed": "true"}
VECTORS = {**FEED, "delta.enableDeletionVectors": "true"}
MAPPED = {**VECTORS, "delta.columnMapping.mode": "name"}

# A way to store a table: whether its first column partitions it, and its properties.
WAYS: dict[str, tuple[bool, Mapping[str, str]]] = {
    "plain": (False, {}),
    "parts": (True, {}),
    "feed": (False, FEED),
    "feed parts": (True, FEED),
    "vectors": (False, VECTORS),
    "mapped": (False, MAPPED),
}
MOST = ("parts", "feed", "vectors")
FEEDS = ("feed", "feed parts", "vectors")

PAIRS = [(1, 10), (2, 20), (3, 30), (4, 40)]

# The commits of a table, one query each.
TABLES: dict[str, tuple[str, ...]] = {
    "pairs": ("SELECT * FROM VALUES (1, 10), (2, 20), (3, 30), (4, 40) AS t(k, v)",),
    "no pairs": ("SELECT * FROM VALUES (1, 10) AS t(k, v) WHERE k > 1",),
    "nulls": ("SELECT * FROM VALUES ('a', 1), (NULL, 2), (NULL, 3), ('d', 4) AS t(k, v)",),
    "null pairs": ("SELECT * FROM VALUES (1, 10), (NULL, NULL) AS t(k, v)",),
    "wide": ("SELECT * FROM VALUES (1, 10, 100), (2, 20, 200) AS t(k, v, w)",),
    "types": (
        "SELECT * FROM VALUES (1, 5L, true, 1.5D), (2, 6L, false, 2.5D) AS t(k, big, flag, d)",
    ),
    "small": ("SELECT CAST(k AS TINYINT) k, CAST(v AS SMALLINT) v FROM VALUES (1, 10) AS t(k, v)",),
    "nested": (
        "SELECT z, named_struct('c', named_struct('d', d, 'e', 'y'), 'g', g) a "
        "FROM VALUES (10, 'p', 1), (20, 'q', 2) AS t(z, d, g)",
    ),
    "lists": ("SELECT * FROM VALUES ('Z', array(1, 11)), ('Y', array(2, 22)) AS t(b, a)",),
    "maps": ("SELECT 1 k, map('x', 1) m, array(named_struct('x', 1)) l",),
    "dates": ("SELECT * FROM VALUES (DATE '1969-12-31', 2), (DATE '2999-12-31', 4) AS t(d, v)",),
    "times": (
        "SELECT * FROM VALUES (TIMESTAMP '2012-12-31 16:00:10.011', 2), "
        "(TIMESTAMP '2999-12-31 16:00:10.011', 4) AS t(d, v)",
    ),
    "odd parts": ("SELECT 'part%one' p, id FROM range(3)",),
    "texts": ("SELECT * FROM VALUES ('a', NULL), ('b', NULL), ('c', 'v'), ('d', 'w') AS t(k, v)",),
    "numbers": ("SELECT id FROM range(0, 10, 1, 1)",),
    "tens": (
        "SELECT id FROM range(0, 10)",
        "SELECT id FROM range(10, 20)",
        "SELECT id FROM range(20, 30)",
    ),
    "parted": ("SELECT id % 10 part, id FROM range(100)",),
    "halves": ("SELECT id % 2 part, id FROM range(4)",),
    "change types": ("SELECT id, 'foo' _change_type FROM range(20)",),
    "dotted": ("SELECT * FROM VALUES (1, 10), (3, 30) AS t(k, `v.w`)",),
    "struct": ("SELECT 1 k, named_struct('a', 1, 'b', 2, 'c', 3) x",),
    "short struct": ("SELECT * FROM VALUES (1, named_struct('a', 1)) AS t(k, x)",),
    "struct list": ("SELECT 1 k, array(named_struct('a', 1, 'b', 2)) x",),
    "struct map": (
        "SELECT * FROM VALUES (1, map('m', named_struct('a', 1))), "
        "(3, map('m', named_struct('a', 3))) AS t(k, x)",
    ),
    "struct key": ("SELECT 1 k, map(named_struct('a', 2, 'b', 3), 4) x",),
    "variants": ("SELECT id i, parse_json(CAST(id AS STRING)) j FROM range(3)",),
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """One case.

    In statements {t} is the table, {path} its folder, {n} a name for it in the catalog, and {w} a
    name for a view. Only the last statement may fail. `result` are the rows that it returns,
    `rows` and `columns` what is in the table after it, and `changes` what the feed has for its
    version, without version and time. `commits` is how many commits it makes.
    """

    fact: str
    table: str = "pairs"
    run: str | Sequence[str] = ()
    rows: Sequence[Row] | None = None
    columns: Sequence[str] | None = None
    changes: Sequence[Row] | None = None
    result: Sequence[Row] | None = None
    error: str | tuple[str, ...] = ()
    says: str = ""
    commits: int | None = None
    metrics: Mapping[str, str] | None = None
    """Some of the metrics that the history has of the last commit."""
    conf: Mapping[str, str] = field(default_factory=dict)
    read: Mapping[str, Any] | None = None
    """Options of a read of the table, which is the last statement then."""
    times_ms: Sequence[int] = ()
    """When the commits of the table were made, as far as the last statement knows."""
    ways: Sequence[str] = MOST
    quick: bool = False
    unlike: str = ""
    """Why truckee does something else; the test is expected to fail."""
    unlike_delta_spark: str = ""
    """Why the delta-spark that tests run beside does something else than Delta's newer suites."""

    @property
    def statements(self) -> tuple[str, ...]:
        return (self.run,) if isinstance(self.run, str) else tuple(self.run)


def merge(source: str, *clauses: str, on: str = "s.k = t.k", columns: str = "k, v") -> str:
    """Return a MERGE into {t} from these rows, or from a query if `source` begins with SELECT."""
    rows = (
        source if source.startswith("SELECT") else f"SELECT * FROM VALUES {source} AS r({columns})"
    )
    whens = " ".join(f"WHEN {clause}" for clause in clauses)
    return f"MERGE INTO {{t}} t USING ({rows}) s ON {on} {whens}"


def updated(*pairs: tuple[Row, Row]) -> list[Row]:
    """Return the changes of rows that were updated, given as they were and as they are."""
    return [
        image
        for before, after in pairs
        for image in ((*before, "update_preimage"), (*after, "update_postimage"))
    ]


def deleted(*rows: Row) -> list[Row]:
    return [(*row, "delete") for row in rows]


def inserted(*rows: Row) -> list[Row]:
    return [(*row, "insert") for row in rows]

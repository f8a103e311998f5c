"""MERGE that changes the schema: the facts of the schema evolution in Delta's MergeIntoSuiteBase.

Each fact is held twice: with the setting that allows new columns, and without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from delta_cases.form import PAIRS, Case, Row, inserted, merge, updated

AUTO = {"spark.databricks.delta.schema.autoMerge.enabled": "true"}
STAR = "MATCHED THEN UPDATE SET *"
NEW = "NOT MATCHED THEN INSERT *"
UNRESOLVED = "DELTA_MERGE_UNRESOLVED_EXPRESSION"
CAST = "DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION"
REFUSED = "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION"
MORE = "SELECT * FROM VALUES (1, 5, 'x'), (9, 6, 'y') AS r(k, v, more)"
NUMBERS = "SELECT * FROM VALUES (1, 5, 7), (9, 6, 8) AS r(k, v, more)"


class Fact(NamedTuple):
    """Rows and columns with the setting, or an error; the same without it."""

    fact: str
    table: str
    source: str
    clauses: Sequence[str]
    rows: Sequence[Row] | str
    columns: Sequence[str] | None
    without: Sequence[Row] | str
    unlike: str = ""


def _more(*first: Row) -> list[Row]:
    """The pairs with a third column: these rows, and NULL for the others."""
    keys = {row[0] for row in first}
    return [*first, *((k, v, None) for k, v in PAIRS if k not in keys)]


TEXTS_IN_STRUCTS = "a text is not cast in the structs of a list or of a map"
VOID = "it stores columns without a type"
THREE = ("k", "v", "more")
FACTS = [
    Fact(
        "a new column by an insert of all",
        "pairs",
        MORE,
        (NEW,),
        _more((9, 6, "y")),
        THREE,
        [*PAIRS, (9, 6)],
    ),
    Fact(
        "a new column by an update of all",
        "pairs",
        MORE,
        (STAR,),
        _more((1, 5, "x")),
        THREE,
        [(1, 5), *PAIRS[1:]],
    ),
    Fact(
        "a new column by both",
        "pairs",
        MORE,
        (STAR, NEW),
        _more((1, 5, "x"), (9, 6, "y")),
        THREE,
        [(1, 5), *PAIRS[1:], (9, 6)],
    ),
    Fact(
        "a new column that an update sets",
        "pairs",
        MORE,
        ("MATCHED THEN UPDATE SET v = s.v, more = s.more",),
        _more((1, 5, "x")),
        THREE,
        UNRESOLVED,
    ),
    Fact(
        "a new column of the source's name, from another column",
        "pairs",
        NUMBERS,
        ("MATCHED THEN UPDATE SET more = s.v",),
        _more((1, 10, 5)),
        THREE,
        UNRESOLVED,
    ),
    Fact(
        "a new column that an insert gives",
        "pairs",
        MORE,
        ("NOT MATCHED THEN INSERT (k, v, more) VALUES (s.k, s.v, s.more)",),
        _more((9, 6, "y")),
        THREE,
        UNRESOLVED,
    ),
    Fact(
        "a new column that an insert gives from another column",
        "pairs",
        NUMBERS,
        ("NOT MATCHED THEN INSERT (k, more) VALUES (s.k, s.v)",),
        _more((9, None, 6)),
        THREE,
        UNRESOLVED,
    ),
    Fact(
        "one of two new columns, by an update",
        "pairs",
        "SELECT 1 k, 5 v, 'x' more, 'u' unused",
        ("MATCHED THEN UPDATE SET more = s.more",),
        _more((1, 10, "x")),
        THREE,
        UNRESOLVED,
    ),
    Fact(
        "one of two new columns, with the value of the other",
        "pairs",
        "SELECT 1 k, 5 v, 'x' more, 'u' unused",
        ("MATCHED THEN UPDATE SET more = s.unused",),
        _more((1, 10, "u")),
        THREE,
        UNRESOLVED,
    ),
    Fact(
        "one of two new columns, by an insert",
        "pairs",
        "SELECT 9 k, 5 v, 'x' more, 'u' unused",
        ("NOT MATCHED THEN INSERT (k, more) VALUES (s.k, s.unused)",),
        _more((9, None, "u")),
        THREE,
        UNRESOLVED,
    ),
    Fact(
        "one new column by an update and another by an insert",
        "pairs",
        "SELECT * FROM VALUES (1, 'x', 'u'), (9, 'y', 'w') AS r(k, more, other)",
        (
            "MATCHED THEN UPDATE SET more = s.more",
            "NOT MATCHED THEN INSERT (k, other) VALUES (s.k, s.other)",
        ),
        [(1, 10, "x", None), *((k, v, None, None) for k, v in PAIRS[1:]), (9, None, None, "w")],
        ("k", "v", "more", "other"),
        UNRESOLVED,
    ),
    Fact(
        "an old column from a new one",
        "pairs",
        NUMBERS,
        ("MATCHED THEN UPDATE SET v = s.more",),
        [(1, 7), *PAIRS[1:]],
        ("k", "v"),
        [(1, 7), *PAIRS[1:]],
    ),
    Fact(
        "an old column inserted from a new one",
        "pairs",
        NUMBERS,
        ("NOT MATCHED THEN INSERT (k) VALUES (s.more)",),
        [*PAIRS, (8, None)],
        ("k", "v"),
        [*PAIRS, (8, None)],
    ),
    Fact(
        "a new column of the source that no clause names",
        "pairs",
        NUMBERS,
        ("MATCHED THEN UPDATE SET v = s.v", "NOT MATCHED THEN INSERT (k) VALUES (s.k)"),
        [(1, 5), *PAIRS[1:], (9, None)],
        ("k", "v"),
        [(1, 5), *PAIRS[1:], (9, None)],
    ),
    Fact(
        "a column that neither side has, in an update",
        "pairs",
        MORE,
        ("MATCHED THEN UPDATE SET nothing = s.more",),
        UNRESOLVED,
        None,
        UNRESOLVED,
    ),
    Fact(
        "a column that neither side has, in an insert",
        "pairs",
        MORE,
        ("NOT MATCHED THEN INSERT (nothing) VALUES (s.more)",),
        UNRESOLVED,
        None,
        UNRESOLVED,
    ),
    Fact(
        "an update of one column, then an update of all",
        "pairs",
        "SELECT * FROM VALUES (1, 5, 'x'), (2, 6, 'y') AS r(k, v, more)",
        ("MATCHED AND s.k < 2 THEN UPDATE SET v = s.v", STAR),
        _more((1, 5, None), (2, 6, "y")),
        THREE,
        [(1, 5), (2, 6), *PAIRS[2:]],
    ),
    Fact(
        "an update of all without a column of the table",
        "wide",
        "SELECT 1 k, 5 v",
        (STAR,),
        [(1, 5, 100), (2, 20, 200)],
        ("k", "v", "w"),
        UNRESOLVED,
    ),
    Fact(
        "an insert of all without a column of the table",
        "wide",
        "SELECT 9 k, 5 v",
        (NEW,),
        [(1, 10, 100), (2, 20, 200), (9, 5, None)],
        ("k", "v", "w"),
        UNRESOLVED,
    ),
    Fact(
        "an insert of some columns",
        "wide",
        "SELECT 9 k, 5 v, 6 w",
        ("NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)",),
        [(1, 10, 100), (2, 20, 200), (9, 5, None)],
        ("k", "v", "w"),
        [(1, 10, 100), (2, 20, 200), (9, 5, None)],
    ),
    Fact(
        "an update of named columns and an insert of all",
        "pairs",
        NUMBERS,
        ("MATCHED THEN UPDATE SET v = s.v", NEW),
        _more((1, 5, None), (9, 6, 8)),
        THREE,
        [(1, 5), *PAIRS[1:], (9, 6)],
    ),
    Fact(
        "an update of all and an insert of named columns",
        "pairs",
        NUMBERS,
        (STAR, "NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)"),
        _more((1, 5, 7), (9, 6, None)),
        THREE,
        [(1, 5), *PAIRS[1:], (9, 6)],
    ),
    Fact(
        "updates, deletes and inserts of all kinds",
        "pairs",
        "SELECT * FROM VALUES (1, 'x'), (2, 'y'), (3, 'z'), (8, 'u'), (9, 'w') AS r(k, more)",
        (
            "MATCHED AND s.k = 1 THEN UPDATE SET v = 0",
            "MATCHED AND s.k = 2 THEN UPDATE SET *",
            "MATCHED AND s.k = 3 THEN DELETE",
            "NOT MATCHED AND s.k = 8 THEN INSERT (k) VALUES (s.k)",
            "NOT MATCHED AND s.k = 9 THEN INSERT *",
        ),
        [(1, 0, None), (2, 20, "y"), (4, 40, None), (8, None, None), (9, None, "w")],
        THREE,
        UNRESOLVED,
    ),
    Fact(
        "names with dots",
        "dotted",
        "SELECT * FROM VALUES (1, 5, 'x'), (9, 6, 'y') AS r(k, `v.w`, `m.n`)",
        (STAR, NEW),
        [(1, 5, "x"), (3, 30, None), (9, 6, "y")],
        ("k", "v.w", "m.n"),
        [(1, 5), (3, 30), (9, 6)],
    ),
    # Types
    Fact(
        "binary for an int, in an update",
        "pairs",
        "SELECT 1 k, X'01' v",
        (STAR,),
        "DELTA_FAILED_TO_MERGE_FIELDS",
        None,
        REFUSED,
    ),
    Fact(
        "binary for an int, in an insert",
        "pairs",
        "SELECT 9 k, X'01' v",
        (NEW,),
        "DELTA_FAILED_TO_MERGE_FIELDS",
        None,
        REFUSED,
    ),
    Fact(
        "narrow integers for wide ones",
        "pairs",
        "SELECT CAST(k AS TINYINT) k, CAST(v AS SMALLINT) v FROM VALUES (1, 5), (9, 6) AS r(k, v)",
        (STAR, NEW),
        [(1, 5), *PAIRS[1:], (9, 6)],
        ("k", "v"),
        [(1, 5), *PAIRS[1:], (9, 6)],
    ),
    Fact(
        "wide integers for narrow ones",
        "small",
        "SELECT * FROM VALUES (1, 5), (2, 6) AS r(k, v)",
        (STAR, NEW),
        [(1, 5), (2, 6)],
        ("k", "v"),
        [(1, 5), (2, 6)],
    ),
    # Structs
    Fact(
        "a new field by an update of the struct",
        "short struct",
        "SELECT 1 k, named_struct('a', 2, 'b', 3) x",
        ("MATCHED THEN UPDATE SET x = s.x",),
        [(1, {"a": 2, "b": 3})],
        None,
        CAST,
    ),
    Fact(
        "a new field that no clause names",
        "short struct",
        "SELECT 1 k, named_struct('a', 2, 'b', 3) x",
        ("MATCHED THEN UPDATE SET x.a = s.x.a",),
        [(1, {"a": 2})],
        None,
        [(1, {"a": 2})],
    ),
    Fact(
        "one of two new fields",
        "short struct",
        "SELECT 1 k, named_struct('a', 2, 'b', 3, 'c', 4) x",
        ("MATCHED THEN UPDATE SET x.b = s.x.b",),
        [(1, {"a": 1, "b": 3})],
        None,
        "FIELD_NOT_FOUND",
    ),
    Fact(
        "a new field by an insert of the struct",
        "short struct",
        "SELECT 9 k, named_struct('a', 2, 'b', 3) x",
        ("NOT MATCHED THEN INSERT (x) VALUES (s.x)",),
        [(1, {"a": 1, "b": None}), (None, {"a": 2, "b": 3})],
        None,
        CAST,
    ),
    Fact(
        "a new field by name in an insert",
        "short struct",
        "SELECT 9 k, named_struct('a', 2, 'b', 3) x",
        ("NOT MATCHED THEN INSERT (x.b) VALUES (s.x.b)",),
        "DELTA_UNSUPPORTED_NESTED_FIELD_IN_OPERATION",
        None,
        "",
    ),
    Fact(
        "a field that the source lacks, by an update",
        "struct",
        "SELECT 1 k, named_struct('a', 0, 'c', 0) x",
        (STAR,),
        [(1, {"a": 0, "b": 2, "c": 0})],
        None,
        CAST,
    ),
    Fact(
        "a field that the source lacks, by an insert",
        "struct",
        "SELECT 9 k, named_struct('a', 5, 'c', 6) x",
        (NEW,),
        [(1, {"a": 1, "b": 2, "c": 3}), (9, {"a": 5, "b": None, "c": 6})],
        None,
        CAST,
    ),
    Fact(
        "an update of one field and an insert of all",
        "struct",
        "SELECT k, named_struct('a', 10 * k, 'c', 7) x FROM VALUES (1), (9) AS r(k)",
        ("MATCHED THEN UPDATE SET x.a = s.x.a", NEW),
        [(1, {"a": 10, "b": 2, "c": 3}), (9, {"a": 90, "b": None, "c": 7})],
        None,
        CAST,
    ),
    Fact(
        "fields of other names, as many",
        "struct",
        "SELECT k, named_struct('a', 10, 'b', 20, 'd', 30) x FROM VALUES (1), (9) AS r(k)",
        (STAR, NEW),
        [(1, {"a": 10, "b": 20, "c": 3, "d": 30}), (9, {"a": 10, "b": 20, "c": None, "d": 30})],
        None,
        CAST,
    ),
    Fact(
        "fields in another order",
        "struct",
        "SELECT k, named_struct('c', 30, 'b', 20, 'a', 10) x FROM VALUES (1), (9) AS r(k)",
        (STAR, NEW),
        [(1, {"a": 10, "b": 20, "c": 30}), (9, {"a": 10, "b": 20, "c": 30})],
        None,
        [(1, {"a": 10, "b": 20, "c": 30}), (9, {"a": 10, "b": 20, "c": 30})],
    ),
    # Structs in lists
    Fact(
        "a new field in a list",
        "struct list",
        "SELECT 1 k, array(named_struct('a', 3, 'b', 4, 'c', 5)) x",
        (STAR,),
        [(1, [{"a": 3, "b": 4, "c": 5}])],
        None,
        CAST,
    ),
    Fact(
        "a new field in a list by an insert, NULL in the rows that were there",
        "struct list",
        "SELECT 9 k, array(named_struct('a', 3, 'b', 4, 'c', 5)) x",
        (NEW,),
        [(1, [{"a": 1, "b": 2, "c": None}]), (9, [{"a": 3, "b": 4, "c": 5}])],
        None,
        CAST,
    ),
    Fact(
        "a field that the source lacks in a list",
        "struct list",
        "SELECT 1 k, array(named_struct('b', 4)) x",
        (STAR,),
        [(1, [{"a": None, "b": 4}])],
        None,
        CAST,
    ),
    Fact(
        "other fields in a list",
        "struct list",
        "SELECT 1 k, array(named_struct('c', 4, 'd', 3)) x",
        (STAR,),
        [(1, [{"a": None, "b": None, "c": 4, "d": 3}])],
        None,
        CAST,
    ),
    Fact(
        "fields in another order in a list",
        "struct list",
        "SELECT k, array(named_struct('b', 4, 'a', 3)) x FROM VALUES (1), (9) AS r(k)",
        (STAR, NEW),
        [(1, [{"a": 3, "b": 4}]), (9, [{"a": 3, "b": 4}])],
        None,
        [(1, [{"a": 3, "b": 4}]), (9, [{"a": 3, "b": 4}])],
    ),
    # Structs in maps
    Fact(
        "a new field in the values of a map",
        "struct map",
        "SELECT k, map('m', named_struct('a', 5, 'b', 6)) x FROM VALUES (1), (9) AS r(k)",
        (STAR, NEW),
        [
            (1, [("m", {"a": 5, "b": 6})]),
            (3, [("m", {"a": 3, "b": None})]),
            (9, [("m", {"a": 5, "b": 6})]),
        ],
        None,
        CAST,
    ),
    Fact(
        "another type in the values of a map",
        "struct map",
        "SELECT k, map('m', named_struct('a', '5')) x FROM VALUES (1), (9) AS r(k)",
        (STAR, NEW),
        [(1, [("m", {"a": 5})]), (3, [("m", {"a": 3})]), (9, [("m", {"a": 5})])],
        None,
        [(1, [("m", {"a": 5})]), (3, [("m", {"a": 3})]), (9, [("m", {"a": 5})])],
        unlike=TEXTS_IN_STRUCTS,
    ),
    Fact(
        "a list for the struct in the values of a map",
        "struct map",
        "SELECT 1 k, map('m', array(1)) x",
        (STAR,),
        "DELTA_FAILED_TO_MERGE_FIELDS",
        None,
        REFUSED,
    ),
    Fact(
        "a new field in the keys of a map",
        "struct key",
        "SELECT k, map(named_struct('a', 5, 'b', 6, 'c', 7), 8) x FROM VALUES (1), (9) AS r(k)",
        (STAR, NEW),
        [(1, [({"a": 5, "b": 6, "c": 7}, 8)]), (9, [({"a": 5, "b": 6, "c": 7}, 8)])],
        None,
        CAST,
    ),
    Fact(
        "a field that the source lacks in the keys of a map",
        "struct key",
        "SELECT 1 k, map(named_struct('b', 6), 8) x",
        (STAR,),
        [(1, [({"a": None, "b": 6}, 8)])],
        None,
        CAST,
    ),
    Fact(
        "fields in another order in the keys of a map",
        "struct key",
        "SELECT 1 k, map(named_struct('b', 6, 'a', 5), 8) x",
        (STAR,),
        [(1, [({"a": 5, "b": 6}, 8)])],
        None,
        [(1, [({"a": 5, "b": 6}, 8)])],
    ),
    # Functions of lists
    *(
        Fact(
            f"{function}, of structs that lack a field",
            "struct list",
            "SELECT 1 k, array(named_struct('b', 4), named_struct('b', 4)) x",
            (f"MATCHED THEN UPDATE SET x = {call}",),
            [(1, left)],
            None,
            CAST,
        )
        for function, call, left in (
            ("array_union", "array_union(s.x, s.x)", [{"a": None, "b": 4}]),
            ("array_intersect", "array_intersect(s.x, s.x)", [{"a": None, "b": 4}]),
            ("array_except", "array_except(s.x, s.x)", []),
            ("array_distinct", "array_distinct(s.x)", [{"a": None, "b": 4}]),
            ("array_remove", "array_remove(s.x, named_struct('b', 4))", []),
        )
    ),
    # Void
    Fact(
        "a new column without a type",
        "pairs",
        "SELECT 1 k, 5 v, NULL more",
        (STAR,),
        "DELTA_MERGE_ADD_VOID_COLUMN",
        None,
        [(1, 5), *PAIRS[1:]],
    ),
]


def _cases() -> Iterator[Case]:
    for fact in FACTS:
        run = merge(fact.source, *fact.clauses)
        kinds = (
            ("allowed", fact.rows, fact.columns, AUTO),
            ("not allowed", fact.without, None, {}),
        )
        for how, left, columns, conf in kinds:
            if left == "":
                continue
            error = left if isinstance(left, str) else ()
            yield Case(
                fact=f"{fact.fact}, new columns {how}",
                table=fact.table,
                run=run,
                rows=None if isinstance(left, str) else left,
                columns=columns,
                error=error,
                conf=conf,
                unlike=fact.unlike,
                unlike_delta_spark=VOID if error == "DELTA_MERGE_ADD_VOID_COLUMN" else "",
                quick=how == "allowed" and fact.fact == "a new column by both",
            )


CASES = [
    *_cases(),
    Case(
        fact="new columns in the feed",
        run=merge(
            "SELECT * FROM VALUES (1, 5, 'x'), (3, 6, 'y'), (9, 7, 'z') AS r(k, v, more)",
            "MATCHED AND s.k = 3 THEN DELETE",
            STAR,
            NEW,
        ),
        rows=[(1, 5, "x"), (2, 20, None), (4, 40, None), (9, 7, "z")],
        changes=[
            *updated(((1, 10, None), (1, 5, "x"))),
            *inserted((9, 7, "z")),
            (3, 30, None, "delete"),
        ],
        conf=AUTO,
        ways=("feed", "vectors"),
    ),
    Case(
        fact="new columns by the clause of the statement",
        run=merge(MORE, STAR, NEW).replace("MERGE INTO", "MERGE WITH SCHEMA EVOLUTION INTO"),
        rows=_more((1, 5, "x"), (9, 6, "y")),
        columns=THREE,
    ),
    Case(
        fact="texts that are no numbers where values are cast as in old times",
        run=merge("(9, 'none'), (8, '7')", NEW),
        rows=[*PAIRS, (9, None), (8, 7)],
        conf={
            "spark.sql.storeAssignmentPolicy": "LEGACY",
            "spark.sql.ansi.enabled": "false",
        },
        ways=("plain",),
    ),
]

LEFT_OUT = {
    "by position (10)": "truckee reads no setting that resolves structs by position, and says so",
    "nested and longer lists (24)": "the same rules one level deeper, and with more elements",
    "nested maps (3)": "the same rules one level deeper",
    "prevent re-resolution with star": "a fault of Delta's analyzer",
    "containsNull as false": "the same as a new column that is a struct",
    "infinity as an int": "Delta's suite calls it a fault that is kept",
}

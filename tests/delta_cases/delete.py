"""DELETE: the facts of Delta's DeleteSuiteBase, DeleteSQLSuite and DeleteCDCSuite."""

from __future__ import annotations

from delta_cases.form import FEEDS, PAIRS, Case, deleted

EXISTS = {"spark.databricks.delta.delete.allowExistsSubquery": "true"}
TEXTS = [("a", None), ("b", None), ("c", "v"), ("d", "w")]

CASES = [
    Case(
        fact="all rows",
        run="DELETE FROM {t}",
        rows=[],
        changes=deleted(*PAIRS),
        quick=True,
    ),
    Case(
        fact="all rows of a partitioned table",
        table="parted",
        run="DELETE FROM {t}",
        rows=[],
        changes=deleted(*((n % 10, n) for n in range(100))),
        ways=FEEDS,
    ),
    Case(
        fact="all rows of a partitioned table by a condition",
        table="parted",
        run="DELETE FROM {t} WHERE id < 1000",
        rows=[],
        changes=deleted(*((n % 10, n) for n in range(100))),
        ways=FEEDS,
    ),
    Case(
        fact="all rows by a condition",
        table="numbers",
        run="DELETE FROM {t} WHERE id < 100",
        rows=[],
        changes=deleted(*((n,) for n in range(10))),
        ways=("feed", "vectors"),
    ),
    Case(
        fact="two rows",
        table="numbers",
        run="DELETE FROM {t} WHERE id = 2 OR id = 8",
        rows=[(n,) for n in range(10) if n not in (2, 8)],
        changes=deleted((2,), (8,)),
        ways=("feed", "vectors"),
        quick=True,
    ),
    Case(
        fact="a partition",
        table="parted",
        run="DELETE FROM {t} WHERE part = 3",
        rows=[(n % 10, n) for n in range(100) if n % 10 != 3],
        changes=deleted(*((3, n) for n in range(3, 100, 10))),
        ways=FEEDS,
        quick=True,
    ),
    Case(
        fact="a condition that no row meets",
        run="DELETE FROM {t} WHERE v = 40 AND k = 3",
        rows=PAIRS,
        result=[(0,)],
    ),
    Case(
        fact="a condition on a partition and on data",
        run="DELETE FROM {t} WHERE v = 40 AND k = 4",
        rows=PAIRS[:3],
        changes=deleted((4, 40)),
    ),
    Case(
        fact="a condition on a partition or on data",
        run="DELETE FROM {t} WHERE v = 20 OR k = 1",
        rows=PAIRS[2:],
        changes=deleted((1, 10), (2, 20)),
        result=[(2,)],
    ),
    Case(
        fact="one after another until nothing is left",
        run=(
            "DELETE FROM {t} WHERE v = 40 AND k = 4",
            "DELETE FROM {t} WHERE v = 20 OR k = 1",
            "DELETE FROM {t} WHERE k = 3 OR v = 99",
        ),
        rows=[],
        changes=deleted((3, 30)),
    ),
    Case(
        fact="the same without data skipping",
        run=("DELETE FROM {t} WHERE v = 40 AND k = 4", "DELETE FROM {t} WHERE v = 20 OR k = 1"),
        rows=[(3, 30)],
        conf={"spark.databricks.delta.stats.skipping": "false"},
    ),
    Case(
        fact="keys below a bound, then all above",
        run=("DELETE FROM {t} WHERE k > 4", "DELETE FROM {t} WHERE k < 4"),
        rows=[(4, 40)],
    ),
    Case(
        fact="keys one by one",
        run=("DELETE FROM {t} WHERE k = 1", "DELETE FROM {t} WHERE k = 2"),
        rows=PAIRS[2:],
        changes=deleted((2, 20)),
    ),
    Case(
        fact="values below a bound, then one",
        run=("DELETE FROM {t} WHERE v <= 20", "DELETE FROM {t} WHERE v = 30"),
        rows=[(4, 40)],
    ),
    Case(
        fact="values other than one that is not there",
        run="DELETE FROM {t} WHERE v != 0",
        rows=[],
    ),
    *(
        Case(fact=f"a constant condition: {text}", run=f"DELETE FROM {{t}} WHERE {text}", rows=left)
        for text, left in (
            ("false", PAIRS),
            ("1 <> 1", PAIRS),
            ("1 > NULL", PAIRS),
            ("true", []),
            ("1 = 1", []),
        )
    ),
    # NULL
    Case(
        fact="= NULL deletes nothing",
        table="texts",
        run="DELETE FROM {t} WHERE v = NULL",
        rows=TEXTS,
    ),
    Case(
        fact="rows whose condition is null stay",
        table="texts",
        run="DELETE FROM {t} WHERE v = 'v'",
        rows=[("a", None), ("b", None), ("d", "w")],
    ),
    Case(
        fact="rows whose condition is null stay, with <>",
        table="texts",
        run="DELETE FROM {t} WHERE v <> 'v'",
        rows=[("a", None), ("b", None), ("c", "v")],
    ),
    Case(
        fact="IS NULL",
        table="texts",
        run="DELETE FROM {t} WHERE v IS NULL",
        rows=[("c", "v"), ("d", "w")],
        changes=deleted(("a", None), ("b", None)),
    ),
    Case(
        fact="<=> NULL",
        table="texts",
        run="DELETE FROM {t} WHERE v <=> NULL",
        rows=[("c", "v"), ("d", "w")],
    ),
    # Times
    Case(
        fact="a condition with the date of today",
        table="dates",
        run=("DELETE FROM {t} WHERE current_date > d", "SELECT v FROM {t}"),
        result=[(4,)],
    ),
    Case(
        fact="a condition with the date of today and later",
        table="dates",
        run=("DELETE FROM {t} WHERE current_date <= d", "SELECT v FROM {t}"),
        result=[(2,)],
    ),
    Case(
        fact="a condition with the time of now",
        table="times",
        run=("DELETE FROM {t} WHERE current_timestamp > d", "SELECT v FROM {t}"),
        result=[(4,)],
    ),
    # Errors
    Case(
        fact="a condition by chance",
        run="DELETE FROM {t} WHERE rand() > 0.5",
        error=(
            "DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED",
            "INVALID_NON_DETERMINISTIC_EXPRESSIONS",
        ),
        rows=PAIRS,
        ways=("plain",),
    ),
    Case(
        fact="a window function",
        run="DELETE FROM {t} WHERE row_number() OVER (ORDER BY v) > 1",
        error="UNSUPPORTED_EXPR_FOR_OPERATOR",
        rows=PAIRS,
        ways=("plain",),
    ),
    Case(
        fact="an aggregate",
        run="DELETE FROM {t} WHERE v > max(v)",
        error=("UNSUPPORTED_EXPR_FOR_OPERATOR", "DELTA_AGGREGATION_NOT_SUPPORTED"),
        rows=PAIRS,
        ways=("plain",),
    ),
    Case(
        fact="a subquery that explodes",
        run="DELETE FROM {t} WHERE v = (SELECT explode(array(1, 2)))",
        error="DELTA_UNSUPPORTED_SUBQUERY",
        rows=PAIRS,
        ways=("plain",),
    ),
    *(
        Case(
            fact=f"a subquery: {condition}",
            run=f"DELETE FROM {{t}} WHERE {condition}",
            error="DELTA_UNSUPPORTED_SUBQUERY",
            rows=PAIRS,
            ways=("plain",),
        )
        for condition in (
            "k < (SELECT max(id) FROM range(3))",
            "EXISTS (SELECT max(id) FROM range(3))",
            "NOT EXISTS (SELECT max(id) FROM range(3))",
            "k IN (SELECT max(id) FROM range(3))",
            "k NOT IN (SELECT max(id) FROM range(3))",
        )
    ),
    Case(
        fact="a table that is not Delta's",
        run=("CREATE TABLE {w} USING parquet AS SELECT 1 AS k", "DELETE FROM {w}"),
        error="UNSUPPORTED_FEATURE.TABLE_OPERATION",
        ways=("plain",),
    ),
    Case(
        fact="a folder of a partition is no table",
        unlike="DELTA_TABLE_NOT_FOUND, with the folder of the table",
        run="DELETE FROM delta.`{path}/k=2` WHERE v = 2",
        says="Expect a full scan of",
        error="DELTA_UNEXPECTED_PARTIAL_SCAN",
        ways=("parts",),
    ),
    # Others
    Case(
        fact="a cached table is read anew",
        run=("CACHE TABLE {n}", "DELETE FROM {n} WHERE k > 1", "SELECT * FROM {n}"),
        result=[(1, 10)],
        ways=("plain", "vectors"),
    ),
    Case(
        fact="EXPLAIN changes nothing",
        run="EXPLAIN DELETE FROM {t} WHERE k = 2",
        rows=PAIRS,
        commits=0,
        ways=("plain",),
    ),
    Case(
        fact="a field in the condition",
        table="nested",
        run=("DELETE FROM {t} WHERE a.c.d = 'q'", "SELECT z FROM {t}"),
        result=[(10,)],
    ),
    Case(
        fact="variants",
        table="variants",
        run=("DELETE FROM {t} WHERE to_json(j) = '1'", "SELECT i, to_json(j) FROM {t}"),
        result=[(0, "0"), (2, "2")],
        ways=("plain", "vectors"),
    ),
    Case(
        fact="partitions with odd characters, one row at a time",
        table="odd parts",
        run=(
            "DELETE FROM {t} WHERE p = 'part%one' AND id = 1",
            "DELETE FROM {t} WHERE p = 'part%one' AND id = 2",
        ),
        rows=[("part%one", 0)],
        changes=deleted(("part%one", 2)),
        ways=("parts", "feed parts"),
    ),
    Case(
        fact="a partition with odd characters",
        table="odd parts",
        run="DELETE FROM {t} WHERE p = 'part%one'",
        rows=[],
        ways=("parts", "feed parts"),
    ),
    Case(
        fact="a column of the user's that is called _change_type is kept",
        table="change types",
        run="DELETE FROM {t} WHERE id IN (1, 7)",
        rows=[(n, "foo") for n in range(20) if n not in (1, 7)],
        ways=("plain", "parts"),
    ),
    Case(
        fact="names in the table of column mapping",
        run=("DELETE FROM {t} WHERE k = 1", "DELETE FROM {t} WHERE v >= 40"),
        rows=[(2, 20), (3, 30)],
        ways=("mapped",),
    ),
    # Views
    Case(
        fact="a view of all of a table",
        run=("CREATE TEMP VIEW {w} AS SELECT * FROM {t}", "DELETE FROM {w} WHERE k <= 1"),
        rows=PAIRS[1:],
        ways=("plain", "parts"),
    ),
    Case(
        fact="a view of a named table",
        run=(
            "CREATE TEMP VIEW {w} AS SELECT * FROM {n}",
            "DELETE FROM {w} WHERE k = 1 AND V = 10",
        ),
        rows=PAIRS[1:],
        ways=("plain",),
    ),
    Case(
        fact="a view of some columns lacks the others",
        unlike="a view must be SELECT * FROM a table, as its error says",
        run=("CREATE TEMP VIEW {w} AS SELECT k FROM {t}", "DELETE FROM {w} WHERE v < 3"),
        error="UNRESOLVED_COLUMN.WITH_SUGGESTION",
        ways=("plain",),
    ),
    Case(
        fact="a view of a view's columns under aliases",
        unlike="a view must be SELECT * FROM a table, as its error says",
        run=(
            "CREATE TEMP VIEW {w} AS SELECT * FROM (SELECT * FROM {t} AS a) AS b",
            "DELETE FROM {w} WHERE k >= 1 AND v < 30",
        ),
        rows=PAIRS[2:],
        ways=("plain",),
    ),
    # EXISTS, where it is allowed
    *(
        Case(
            fact=f"allowed: {fact}",
            run=f"DELETE FROM {{t}} t WHERE {condition}",
            rows=left,
            changes=deleted(*(row for row in PAIRS if row not in left)) if left != PAIRS else None,
            conf=EXISTS,
        )
        for fact, condition, left in (
            (
                "EXISTS of the same key",
                "EXISTS (SELECT 1 FROM VALUES (1), (5) AS s(c) WHERE t.k = s.c)",
                PAIRS[1:],
            ),
            (
                "NOT EXISTS of the same key",
                "NOT EXISTS (SELECT 1 FROM VALUES (1), (5) AS s(c) WHERE t.k = s.c)",
                PAIRS[:1],
            ),
            (
                "EXISTS that matches nothing",
                "EXISTS (SELECT 1 FROM VALUES (100) AS s(c) WHERE t.k = s.c)",
                PAIRS,
            ),
            (
                "NOT EXISTS that matches nothing",
                "NOT EXISTS (SELECT 1 FROM VALUES (100) AS s(c) WHERE t.k = s.c)",
                [],
            ),
            (
                "EXISTS that matches all",
                "EXISTS (SELECT 1 FROM range(1, 9) AS s WHERE t.k = s.id)",
                [],
            ),
            (
                "EXISTS with two conditions",
                "EXISTS (SELECT 1 FROM VALUES (1, 10), (2, 99) AS s(c, d) "
                "WHERE t.k = s.c AND t.v = s.d)",
                PAIRS[1:],
            ),
            (
                "EXISTS and another condition",
                "EXISTS (SELECT 1 FROM VALUES (1), (3) AS s(c) WHERE t.k = s.c) AND v > 10",
                [(1, 10), (2, 20), (4, 40)],
            ),
            (
                "two EXISTS",
                "EXISTS (SELECT 1 FROM VALUES (1), (2) AS s(c) WHERE t.k = s.c) AND "
                "EXISTS (SELECT 1 FROM VALUES (2), (3) AS r(c) WHERE t.k = r.c)",
                [(1, 10), (3, 30), (4, 40)],
            ),
            (
                "EXISTS of rows that are not compared",
                "EXISTS (SELECT 1 FROM VALUES (9) AS s(c))",
                [],
            ),
            (
                "NOT EXISTS of rows that are not compared",
                "NOT EXISTS (SELECT 1 FROM VALUES (9) AS s(c))",
                PAIRS,
            ),
            (
                "NOT EXISTS of no rows",
                "NOT EXISTS (SELECT 1 FROM (SELECT * FROM VALUES (9) AS s(c) WHERE c < 0) s "
                "WHERE t.k = s.c)",
                [],
            ),
            (
                "EXISTS in EXISTS",
                "EXISTS (SELECT 1 FROM VALUES (1), (2) AS s(c) WHERE t.k = s.c AND "
                "EXISTS (SELECT 1 FROM VALUES (1) AS r(c) WHERE s.c = r.c))",
                PAIRS[1:],
            ),
        )
    ),
    *(
        Case(
            fact=f"allowed: {fact}",
            table="null pairs",
            run=f"DELETE FROM {{t}} t WHERE {condition}",
            rows=left,
            conf=EXISTS,
        )
        for fact, condition, left in (
            (
                "EXISTS where keys are null",
                "EXISTS (SELECT * FROM VALUES (NULL), (1) AS s(c) WHERE t.k = c)",
                [(None, None)],
            ),
            (
                "NOT EXISTS where keys are null",
                "NOT EXISTS (SELECT c FROM VALUES (NULL), (1) AS s(c) WHERE t.k = s.c)",
                [(1, 10)],
            ),
            (
                "EXISTS with <=>",
                "EXISTS (SELECT c FROM VALUES (NULL), (1) AS s(c) WHERE t.k <=> s.c)",
                [],
            ),
            (
                "NOT EXISTS with <=>",
                "NOT EXISTS (SELECT c FROM VALUES (NULL) AS s(c) WHERE t.k <=> s.c)",
                [(None, None)],
            ),
        )
    ),
]

LEFT_OUT = {
    "NullType columns (3)": "Delta runs them only on a Spark that stores void columns",
    "schema pruning (2)": "looks into plans of Delta's own scans",
    "superset cols (view)": "Delta's own message names its internals: Can't resolve column 1",
    "nontrivial projection (view)": "truckee changes views that are all of a table, and says so",
}

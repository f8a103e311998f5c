"""MERGE: the facts of Delta's MergeIntoSuiteBase, MergeIntoSQLSuite and MergeCDCSuite."""

from __future__ import annotations

from delta_cases.form import FEEDS, PAIRS, Case, deleted, inserted, merge, updated

SET = "MATCHED THEN UPDATE SET k = s.k, v = s.v"
STAR = "MATCHED THEN UPDATE SET *"
NEW = "NOT MATCHED THEN INSERT *"
NEW_PAIR = "NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)"
GONE = "MATCHED THEN DELETE"
TWICE = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"
UNRESOLVED = "DELTA_MERGE_UNRESOLVED_EXPRESSION"
AGGREGATE = "DELTA_AGGREGATION_NOT_SUPPORTED"
LAST_MATCHED = "NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION"
LAST_NOT_MATCHED = "NON_LAST_NOT_MATCHED_BY_TARGET_CLAUSE_OMIT_CONDITION"
SOURCE = "(1, 100), (3, 300), (5, 500)"
NULLS = [(1, 10), (None, None)]

CASES = [
    Case(
        fact="one row is updated and one is inserted",
        run=merge(
            "(1, 5), (0, 6)",
            "MATCHED THEN UPDATE SET k = 20 + s.k, v = 20 + s.v",
            "NOT MATCHED THEN INSERT (k, v) VALUES (s.k - 10, s.v + 10)",
        ),
        rows=[(21, 25), (2, 20), (3, 30), (4, 40), (-10, 16)],
        changes=[*updated(((1, 10), (21, 25))), *inserted((-10, 16))],
        result=[(2, 1, 0, 1)],
        quick=True,
    ),
    Case(
        fact="a condition of both sides decides what matches",
        run=merge(
            "(1, 5), (1, 60)",
            "MATCHED THEN UPDATE SET v = s.v",
            "NOT MATCHED THEN INSERT (k, v) VALUES (s.k - 10, s.v)",
            on="s.k = t.k AND s.v < t.v",
        ),
        rows=[(1, 5), *PAIRS[1:], (-9, 60)],
        changes=[*updated(((1, 10), (1, 5))), *inserted((-9, 60))],
    ),
    Case(
        fact="values from both sides, columns in another order",
        run=merge(
            "(1, 5), (0, 6)",
            "MATCHED THEN UPDATE SET v = t.v + s.v, k = 20 + t.k",
            "NOT MATCHED THEN INSERT (v, k) VALUES (s.v + 10, s.k - 10)",
        ),
        rows=[(21, 15), *PAIRS[1:], (-10, 16)],
    ),
    Case(
        fact="columns that a clause does not set stay",
        run=merge("(1, 5)", "MATCHED THEN UPDATE SET v = t.v + 3"),
        rows=[(1, 13), *PAIRS[1:]],
        changes=updated(((1, 10), (1, 13))),
    ),
    Case(
        fact="columns that an insert does not give are null",
        run=merge("(9, 5)", "NOT MATCHED THEN INSERT (k) VALUES (s.k)"),
        rows=[*PAIRS, (9, None)],
    ),
    Case(
        fact="two inserts, the first under a condition",
        run=merge(
            "(1, 5), (0, 6), (8, 7)",
            "NOT MATCHED AND s.k = 0 THEN INSERT (k, v) VALUES (s.k, s.v + 3)",
            "NOT MATCHED THEN INSERT (k, v) VALUES (s.k - 10, s.v + 10)",
        ),
        rows=[*PAIRS, (0, 9), (-2, 17)],
        changes=inserted((0, 9), (-2, 17)),
    ),
    Case(
        fact="an update that meets no row beside an insert",
        run=merge(
            "(1, 5), (0, 6)",
            "MATCHED AND t.k = 7 THEN UPDATE SET v = s.v",
            "NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)",
        ),
        rows=[*PAIRS, (0, 6)],
    ),
    Case(
        fact="all rows are updated",
        run=merge("(1, 5), (2, 6), (3, 7), (4, 8)", SET),
        rows=[(1, 5), (2, 6), (3, 7), (4, 8)],
    ),
    Case(
        fact="an empty table takes rows",
        table="no pairs",
        run=merge("(5, 5)", SET, NEW),
        rows=[(5, 5)],
        changes=inserted((5, 5)),
    ),
    Case(
        fact="an empty table and an empty source",
        table="no pairs",
        run=merge("SELECT 1 k, 1 v WHERE 1 > 2", SET, NEW),
        rows=[],
        result=[(0, 0, 0, 0)],
    ),
    Case(
        fact="a table is merged into itself",
        run="MERGE INTO {t} t USING {t} s ON s.k = t.k "
        "WHEN MATCHED THEN UPDATE SET k = 20 + s.k, v = 20 + s.v "
        "WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k - 10, s.v)",
        rows=[(21, 30), (22, 40), (23, 50), (24, 60)],
    ),
    Case(
        fact="the smallest of the source by ORDER BY and LIMIT",
        run=merge("SELECT * FROM VALUES (1, 6), (0, 3) AS r(k, v) ORDER BY k LIMIT 1", SET, NEW),
        rows=[*PAIRS, (0, 3)],
    ),
    Case(
        fact="the largest of the source by ORDER BY and LIMIT",
        run=merge(
            "SELECT * FROM VALUES (1, 6), (0, 3) AS r(k, v) ORDER BY v DESC LIMIT 1", SET, NEW
        ),
        rows=[(1, 6), *PAIRS[1:]],
    ),
    Case(
        fact="a source of several queries",
        run=merge(
            "SELECT * FROM VALUES (1, 6) AS r(k, v) UNION SELECT * FROM VALUES (0, 3) AS r(k, v)",
            SET,
            NEW,
        ),
        rows=[(1, 6), *PAIRS[1:], (0, 3)],
    ),
    Case(
        fact="a source by WITH",
        run="WITH c AS (SELECT k + 2 j, v FROM VALUES (1, 5), (0, 6), (8, 7) AS r(k, v)) "
        "MERGE INTO {t} t USING c s ON s.j = t.k WHEN MATCHED THEN UPDATE SET v = s.v "
        "WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.j, s.v)",
        rows=[(1, 10), (2, 6), (3, 5), (4, 40), (10, 7)],
        result=[(3, 2, 0, 1)],
    ),
    Case(
        fact="one row of the source for several of the table",
        run=merge("(1, 5), (9, 9)", "MATCHED THEN UPDATE SET v = s.v", NEW, on="s.k = 1"),
        rows=[(1, 5), (2, 5), (3, 5), (4, 5), (9, 9)],
    ),
    Case(
        fact="values are cast to the types of the table",
        run=merge(
            "(1, '5'), (6, '9')",
            "MATCHED THEN UPDATE SET k = 33 + CAST(t.k AS DOUBLE), v = '20'",
            "NOT MATCHED THEN INSERT (k, v) VALUES ('44', try_cast(s.v AS DOUBLE) + 10)",
        ),
        rows=[(34, 20), *PAIRS[1:], (44, 19)],
    ),
    Case(
        fact="a source with more columns than the table",
        run=merge(
            "(1, 100, 7), (2, 200, 7), (3, 300, 7), (8, 800, 7)",
            "MATCHED AND s.k < 2 THEN UPDATE SET v = s.v + s.more",
            "MATCHED AND s.k < 3 THEN DELETE",
            "NOT MATCHED AND s.k > 1 THEN INSERT (k, v) VALUES (s.k, s.v + s.more)",
            columns="k, v, more",
        ),
        rows=[(1, 107), (3, 30), (4, 40), (8, 807)],
        changes=[*updated(((1, 10), (1, 107))), *deleted((2, 20)), *inserted((8, 807))],
    ),
    Case(
        fact="stars take what the table has",
        run=merge("(1, 100, 7), (8, 800, 7)", STAR, NEW, columns="k, v, more"),
        rows=[(1, 100), *PAIRS[1:], (8, 800)],
        columns=["k", "v"],
    ),
    Case(
        fact="no column of the source is used",
        run=merge(
            "(1, 5), (0, 6)",
            "MATCHED THEN UPDATE SET v = 20",
            "NOT MATCHED THEN INSERT (k, v) VALUES (10, 10)",
            on="t.k < 0",
        ),
        rows=[*PAIRS, (10, 10), (10, 10)],
    ),
    Case(
        fact="a condition that is always false inserts all",
        run=merge("(1, 5), (2, 6)", SET, NEW, on="1 != 1"),
        rows=[*PAIRS, (1, 5), (2, 6)],
    ),
    Case(
        fact="a condition that is always true updates all",
        run=merge("(1, 5)", "MATCHED THEN UPDATE SET v = s.v", NEW, on="1 = 1"),
        rows=[(1, 5), (2, 5), (3, 5), (4, 5)],
    ),
    Case(
        fact="a condition on the table alone beside the key",
        run=merge("(1, 5), (2, 6)", SET, NEW, on="s.k = t.k AND t.k != 1"),
        rows=[(1, 10), (2, 6), (3, 30), (4, 40), (1, 5)],
    ),
    Case(
        fact="a condition on the source alone beside the key",
        run=merge("(1, 5), (2, 6)", SET, NEW, on="s.k = t.k AND s.v < 6"),
        rows=[(1, 5), *PAIRS[1:], (2, 6)],
    ),
    Case(
        fact="a cached table is merged and read anew",
        run=(
            "CACHE TABLE {n}",
            "MERGE INTO {n} t USING (SELECT 1 k, 5 v) s ON s.k = t.k "
            "WHEN MATCHED THEN UPDATE SET *",
            "SELECT * FROM {n}",
        ),
        result=[(1, 5), *PAIRS[1:]],
        ways=("plain",),
    ),
    # One clause, several clauses
    Case(
        fact="only an update",
        run=merge(SOURCE, SET),
        rows=[(1, 100), (2, 20), (3, 300), (4, 40)],
        changes=updated(((1, 10), (1, 100)), ((3, 30), (3, 300))),
    ),
    Case(
        fact="only an update under conditions on both sides",
        run=merge(
            "(1, 100), (2, 200), (3, 300)",
            "MATCHED AND s.v <> 200 AND t.v <> 30 THEN UPDATE SET v = s.v",
        ),
        rows=[(1, 100), *PAIRS[1:]],
    ),
    Case(
        fact="only a delete",
        run=merge(SOURCE, GONE),
        rows=[(2, 20), (4, 40)],
        changes=deleted((1, 10), (3, 30)),
        result=[(2, 0, 2, 0)],
        quick=True,
    ),
    Case(
        fact="only a delete under conditions on both sides",
        run=merge(
            "(1, 100), (2, 200), (3, 300)", "MATCHED AND s.v <> 200 AND t.v <> 30 THEN DELETE"
        ),
        rows=PAIRS[1:],
    ),
    Case(
        fact="what the update leaves is deleted",
        run=merge("(1, 100), (2, 200)", "MATCHED AND s.k <> 1 THEN UPDATE SET v = s.v", GONE),
        rows=[(2, 200), (3, 30), (4, 40)],
        changes=[*updated(((2, 20), (2, 200))), *deleted((1, 10))],
    ),
    Case(
        fact="an update comes before a delete that is behind it",
        run=merge(
            "(1, 100), (2, 200), (3, 300)",
            "MATCHED AND s.k <> 1 THEN UPDATE SET v = s.v",
            "MATCHED AND s.k <> 2 THEN DELETE",
        ),
        rows=[(2, 200), (3, 300), (4, 40)],
    ),
    Case(
        fact="a delete comes before an update that is behind it",
        run=merge(
            "(1, 100), (2, 200), (3, 300)",
            "MATCHED AND s.k <> 2 THEN DELETE",
            "MATCHED AND s.k <> 1 THEN UPDATE SET v = s.v",
        ),
        rows=[(2, 200), (4, 40)],
    ),
    Case(
        fact="only an insert",
        run=merge(SOURCE, NEW_PAIR),
        rows=[*PAIRS, (5, 500)],
        changes=inserted((5, 500)),
        quick=True,
    ),
    Case(fact="only an insert by a star", run=merge(SOURCE, NEW), rows=[*PAIRS, (5, 500)]),
    Case(
        fact="only an insert under a condition",
        run=merge("(5, 500), (6, 600)", "NOT MATCHED AND s.v <> 600 THEN INSERT *"),
        rows=[*PAIRS, (5, 500)],
    ),
    Case(
        fact="only an insert of other values",
        run=merge("(5, 500)", "NOT MATCHED THEN INSERT (t.k, t.v) VALUES (s.k + 10, s.v + 10)"),
        rows=[*PAIRS, (15, 510)],
    ),
    Case(
        fact="an update, and an insert under a condition",
        run=merge("(0, 0), (1, 100), (6, 600)", SET, "NOT MATCHED AND s.v <> 600 THEN INSERT *"),
        rows=[(1, 100), *PAIRS[1:], (0, 0)],
    ),
    Case(
        fact="an update and an insert under conditions",
        run=merge(
            "(0, 0), (1, 100), (2, 200), (6, 600)",
            "MATCHED AND s.k > 1 THEN UPDATE SET v = s.v",
            "NOT MATCHED AND s.k > 1 THEN INSERT *",
        ),
        rows=[(1, 10), (2, 200), (3, 30), (4, 40), (6, 600)],
    ),
    Case(
        fact="an update, a delete and an insert",
        run=merge("(1, 100), (2, 200), (5, 500)", "MATCHED AND s.k = 2 THEN DELETE", STAR, NEW),
        rows=[(1, 100), (3, 30), (4, 40), (5, 500)],
        changes=[*updated(((1, 10), (1, 100))), *deleted((2, 20)), *inserted((5, 500))],
        result=[(3, 1, 1, 1)],
        quick=True,
    ),
    Case(
        fact="all three under conditions",
        run=merge(
            "(0, 0), (1, 100), (2, 200), (3, 300), (6, 600)",
            "MATCHED AND s.k < 2 THEN UPDATE SET v = s.v",
            "MATCHED AND s.k < 3 THEN DELETE",
            "NOT MATCHED AND s.k > 1 THEN INSERT *",
        ),
        rows=[(1, 100), (3, 30), (4, 40), (6, 600)],
        changes=[*updated(((1, 10), (1, 100))), *deleted((2, 20)), *inserted((6, 600))],
    ),
    Case(
        fact="all three, and a condition of the merge on each side",
        run=merge(
            "(0, 0), (1, 100), (2, 200), (3, 300), (4, 400), (6, 600)",
            "MATCHED AND s.k < 2 THEN UPDATE SET v = s.v",
            "MATCHED AND s.k < 3 THEN DELETE",
            "NOT MATCHED AND s.k > 1 THEN INSERT *",
            on="s.k = t.k AND t.v > 0 AND s.k < 4",
        ),
        rows=[(1, 100), (3, 30), (4, 40), (4, 400), (6, 600)],
    ),
    Case(
        fact="two updates, two deletes and four inserts",
        run=merge(
            "(1, 100), (2, 200), (3, 300), (4, 400), (5, 500), (6, 600), (7, 700), (8, 800)",
            "MATCHED AND s.k = 1 THEN UPDATE SET v = s.v",
            "MATCHED AND s.k = 2 THEN DELETE",
            "MATCHED AND s.k = 3 THEN UPDATE SET v = 2 * s.v",
            GONE,
            "NOT MATCHED AND s.k = 5 THEN INSERT *",
            "NOT MATCHED AND s.k = 6 THEN INSERT (k, v) VALUES (s.k, 1 + s.v)",
            "NOT MATCHED AND s.k = 7 THEN INSERT (k, v) VALUES (s.k, 2 + s.v)",
            "NOT MATCHED THEN INSERT (k, v) VALUES (s.k, 3 + s.v)",
        ),
        rows=[(1, 100), (3, 600), (5, 500), (6, 601), (7, 702), (8, 803)],
        changes=[
            *updated(((1, 10), (1, 100)), ((3, 30), (3, 600))),
            *deleted((2, 20), (4, 40)),
            *inserted((5, 500), (6, 601), (7, 702), (8, 803)),
        ],
        result=[(8, 2, 2, 4)],
    ),
    Case(
        fact="two deletes, two updates and an insert, all of which have a condition but one",
        run=merge(
            "(0, 0), (1, 100), (3, 300), (4, 400)",
            "MATCHED AND s.k < 2 THEN DELETE",
            "MATCHED AND s.k > 4 THEN DELETE",
            "MATCHED AND s.k = 3 THEN UPDATE SET v = s.v",
            "MATCHED AND s.k = 4 THEN UPDATE SET v = 2 * s.v",
            NEW,
        ),
        rows=[(2, 20), (3, 300), (4, 800), (0, 0)],
    ),
    Case(
        fact="two inserts under conditions, of which a row meets neither",
        run=merge(
            "(5, 500), (6, 600), (7, 700)",
            "NOT MATCHED AND s.k < 6 THEN INSERT *",
            "NOT MATCHED AND s.k = 6 THEN INSERT (k, v) VALUES (s.k, s.v + 1)",
        ),
        rows=[*PAIRS, (5, 500), (6, 601)],
    ),
    Case(
        fact="updates and deletes that match nothing beside two inserts",
        run=merge(
            "(5, 500), (6, 600)",
            "MATCHED AND t.k = 0 THEN UPDATE SET v = s.v",
            GONE,
            "NOT MATCHED AND s.k < 6 THEN INSERT *",
            "NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v + 1)",
        ),
        rows=[*PAIRS, (5, 500), (6, 601)],
    ),
    Case(
        fact="conditions of clauses that no row of the table meets",
        run=merge(
            SOURCE, "MATCHED AND t.v = 99 THEN UPDATE SET *", "MATCHED AND t.k = 9 THEN DELETE"
        ),
        rows=PAIRS,
        result=[(0, 0, 0, 0)],
    ),
    Case(
        fact="conditions of clauses that no row of the source meets",
        run=merge(
            SOURCE, "MATCHED AND s.v = 99 THEN UPDATE SET *", "MATCHED AND s.k = 9 THEN DELETE"
        ),
        rows=PAIRS,
    ),
    # Several rows of the source for one of the table
    *(
        Case(
            fact=f"refused where rows match twice: {fact}",
            run=merge("(1, 100), (1, 101), (2, 200), (2, 201)", *clauses),
            error=TWICE,
            rows=PAIRS,
        )
        for fact, clauses in (
            ("an update", (SET,)),
            ("an update under a condition", ("MATCHED AND s.v = 100 THEN UPDATE SET v = s.v",)),
            ("a delete under a condition", ("MATCHED AND s.v = 100 THEN DELETE",)),
            ("an update and a delete", ("MATCHED AND s.v = 200 THEN UPDATE SET v = s.v", GONE)),
            (
                "an update and a delete under conditions",
                (
                    "MATCHED AND s.v = 200 THEN UPDATE SET v = s.v",
                    "MATCHED AND s.v = 100 THEN DELETE",
                ),
            ),
            (
                "all three under conditions",
                (
                    "MATCHED AND s.v = 200 THEN UPDATE SET v = s.v",
                    "MATCHED AND s.v = 100 THEN DELETE",
                    "NOT MATCHED AND s.v = 0 THEN INSERT *",
                ),
            ),
        )
    ),
    Case(
        fact="only a delete, where rows match twice",
        run=merge("(1, 100), (1, 101), (3, 300)", GONE),
        rows=[(2, 20), (4, 40)],
        changes=deleted((1, 10), (3, 30)),
    ),
    Case(
        fact="a delete and an insert, where rows match twice",
        run=merge("(1, 100), (1, 101), (6, 600), (6, 601)", GONE, NEW),
        rows=[*PAIRS[1:], (6, 600), (6, 601)],
        changes=[*deleted((1, 10)), *inserted((6, 600), (6, 601))],
    ),
    Case(
        fact="a delete and an insert of equal rows, where rows match twice",
        run=merge("(1, 100), (1, 101), (6, 600), (6, 600)", GONE, NEW),
        rows=[*PAIRS[1:], (6, 600), (6, 600)],
        changes=[*deleted((1, 10)), *inserted((6, 600), (6, 600))],
        ways=FEEDS,
    ),
    Case(
        fact="a delete, where rows match twice, and an insert that equals a row of the table",
        run=merge(
            "(1, 100), (1, 101), (9, 20)", GONE, "NOT MATCHED THEN INSERT (k, v) VALUES (2, s.v)"
        ),
        rows=[(2, 20), (2, 20), (3, 30), (4, 40)],
        changes=[*deleted((1, 10)), *inserted((2, 20))],
        ways=FEEDS,
    ),
    Case(
        fact="a delete by a condition on the table alone",
        table="numbers",
        run=merge("SELECT 0 id UNION ALL SELECT 1", GONE, on="t.id > 7"),
        rows=[(n,) for n in range(8)],
        changes=deleted((8,), (9,)),
        ways=("feed", "vectors"),
    ),
    Case(
        fact="a delete by a condition on the source alone",
        table="numbers",
        run=merge("SELECT 0 id UNION ALL SELECT 1", GONE, on="s.id < 2"),
        rows=[],
        changes=deleted(*((n,) for n in range(10))),
        ways=("feed", "vectors"),
    ),
    Case(
        fact="only an insert, where rows match twice",
        run=merge("(0, 0), (1, 100), (1, 101), (6, 600), (6, 601)", NEW),
        rows=[*PAIRS, (0, 0), (6, 600), (6, 601)],
    ),
    # NULL
    *(
        Case(
            fact=f"null keys: {fact}",
            table="null pairs",
            run=merge(source, "MATCHED THEN UPDATE SET v = s.v", NEW, on=on),
            rows=rows,
        )
        for fact, source, on, rows in (
            ("none in the source", "(1, 5), (2, 6)", "s.k = t.k", [(1, 5), (None, None), (2, 6)]),
            (
                "in both, which do not match",
                "(1, 5), (2, 6), (NULL, 0)",
                "s.k = t.k",
                [(1, 5), (None, None), (2, 6), (None, 0)],
            ),
            (
                "in both, and IS NULL",
                "(1, 5), (2, 6), (NULL, 0)",
                "s.k = t.k AND s.k IS NULL",
                [*NULLS, (1, 5), (2, 6), (None, 0)],
            ),
            (
                "in both, and IS NOT NULL",
                "(1, NULL), (2, 6), (NULL, 0)",
                "s.k = t.k AND t.v IS NOT NULL",
                [(1, None), (None, None), (2, 6), (None, 0)],
            ),
            (
                "in both, which match by <=>",
                "(1, 5), (2, 6), (NULL, 0)",
                "s.k <=> t.k",
                [(1, 5), (None, 0), (2, 6)],
            ),
            (
                "in both, and a condition that is null",
                "(1, 5), (2, 6), (NULL, 0)",
                "s.k = t.k AND NULL",
                [*NULLS, (1, 5), (2, 6), (None, 0)],
            ),
        )
    ),
    Case(
        fact="null keys: only an insert",
        table="null pairs",
        run=merge("(1, 5), (2, 6), (NULL, 0)", NEW),
        rows=[*NULLS, (2, 6), (None, 0)],
    ),
    Case(
        fact="null keys: only an insert of these",
        table="null pairs",
        run=merge("(1, 5), (2, 6), (NULL, 0)", "NOT MATCHED AND s.k IS NULL THEN INSERT *"),
        rows=[*NULLS, (None, 0)],
    ),
    Case(
        fact="null keys: only an update",
        table="null pairs",
        run=merge("(1, 5), (2, 6), (NULL, 0)", "MATCHED THEN UPDATE SET v = s.v"),
        rows=[(1, 5), (None, None)],
    ),
    # Fields
    Case(
        fact="one field is updated",
        table="nested",
        run=merge("SELECT 10 z, 'N' x", "MATCHED THEN UPDATE SET a.c.d = s.x", on="s.z = t.z"),
        rows=[
            (10, {"c": {"d": "N", "e": "y"}, "g": 1}),
            (20, {"c": {"d": "q", "e": "y"}, "g": 2}),
        ],
        quick=True,
    ),
    Case(
        fact="fields of several depths are updated, one by a text",
        table="nested",
        run=merge(
            "SELECT 10 z, 'N' x",
            "MATCHED THEN UPDATE SET a.c = named_struct('e', s.x, 'd', 'M'), a.g = '9000', z = 11",
            on="s.z = t.z",
        ),
        rows=[
            (11, {"c": {"d": "M", "e": "N"}, "g": 9000}),
            (20, {"c": {"d": "q", "e": "y"}, "g": 2}),
        ],
    ),
    Case(
        fact="fields and structs become null",
        table="nested",
        run=merge("SELECT 10 z", "MATCHED THEN UPDATE SET a.c = NULL, a.g = NULL", on="s.z = t.z"),
        rows=[(10, {"c": None, "g": None}), (20, {"c": {"d": "q", "e": "y"}, "g": 2})],
    ),
    Case(
        fact="lists are updated",
        table="lists",
        run=merge("SELECT 'Z' b", "MATCHED THEN UPDATE SET a = array(-9)", on="s.b = t.b"),
        rows=[("Z", [-9]), ("Y", [2, 22])],
    ),
    Case(
        fact="fields of a star go by name",
        table="nested",
        run=merge(
            "SELECT z, named_struct('g', 7, 'c', named_struct('e', 'M', 'd', 'N')) a "
            "FROM VALUES (10), (30) AS r(z)",
            STAR,
            NEW,
            on="s.z = t.z",
        ),
        rows=[
            (10, {"c": {"d": "N", "e": "M"}, "g": 7}),
            (20, {"c": {"d": "q", "e": "y"}, "g": 2}),
            (30, {"c": {"d": "N", "e": "M"}, "g": 7}),
        ],
    ),
    Case(
        fact="fields of structs in a list go by name, and are cast",
        unlike="a text is not cast in the structs of a list or of a map",
        table="struct list",
        run=merge(
            "SELECT k, array(named_struct('b', '20', 'a', 10), named_struct('b', '40', 'a', 30)) x "
            "FROM VALUES (1), (2) AS r(k)",
            STAR,
            NEW,
        ),
        rows=[
            (1, [{"a": 10, "b": 20}, {"a": 30, "b": 40}]),
            (2, [{"a": 10, "b": 20}, {"a": 30, "b": 40}]),
        ],
    ),
    Case(
        fact="a struct in the condition of the merge and of a clause",
        table="nested",
        run=merge(
            "SELECT named_struct('d', d, 'e', 'y') c, 5 n FROM VALUES ('p'), ('q') AS r(d)",
            "MATCHED AND t.a.g < 2 THEN UPDATE SET z = s.n",
            on="s.c = t.a.c",
        ),
        rows=[
            (5, {"c": {"d": "p", "e": "y"}, "g": 1}),
            (20, {"c": {"d": "q", "e": "y"}, "g": 2}),
        ],
    ),
    *(
        Case(
            fact=f"refused: {fact}",
            table="nested",
            run=merge("SELECT 10 z, 'N' x", clause, on="s.z = t.z"),
            error=error,
            ways=("plain",),
        )
        for fact, clause, error in (
            (
                "a field that does not exist",
                "MATCHED THEN UPDATE SET a.y = 'N'",
                "FIELD_NOT_FOUND",
            ),
            (
                "a text for a struct",
                "MATCHED THEN UPDATE SET a.c = 'N'",
                "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION",
            ),
            (
                "a struct and its field",
                "MATCHED THEN UPDATE SET a.c.d = 'N', a.c = named_struct('d', 'M', 'e', 'M')",
                "DELTA_CONFLICT_SET_COLUMN",
            ),
            (
                "one field twice",
                "MATCHED THEN UPDATE SET a.c.d = 'N', a.c.d = 'M'",
                "DELTA_CONFLICT_SET_COLUMN",
            ),
            (
                "a field in an insert",
                "NOT MATCHED THEN INSERT (z, a.g) VALUES (s.z, 1)",
                "DELTA_UNSUPPORTED_NESTED_FIELD_IN_OPERATION",
            ),
        )
    ),
    # Errors
    *(
        Case(
            fact=f"refused: {fact}",
            run=merge("(1, 5)", *clauses, on=on, columns=columns),
            error=error,
            rows=PAIRS,
            ways=("plain",),
        )
        for fact, clauses, on, columns, error in (
            (
                "values of an insert with a column of the table",
                (SET, "NOT MATCHED THEN INSERT (k, v) VALUES (3, s.v + t.k)"),
                "s.k = t.k",
                "k, v",
                UNRESOLVED,
            ),
            (
                "a column of the source is set",
                ("MATCHED THEN UPDATE SET j = 1",),
                "s.j = t.k",
                "j, v",
                UNRESOLVED,
            ),
            (
                "a column of the source is inserted",
                ("NOT MATCHED THEN INSERT (j, v) VALUES (3, 4)",),
                "s.j = t.k",
                "j, v",
                UNRESOLVED,
            ),
            (
                "a name of both sides in a value",
                ("MATCHED THEN UPDATE SET v = v",),
                "s.k = t.k",
                "k, v",
                "AMBIGUOUS_REFERENCE",
            ),
            (
                "a name of both sides in a condition",
                ("MATCHED AND k > 1 THEN UPDATE SET v = 1",),
                "s.k = t.k",
                "k, v",
                "AMBIGUOUS_REFERENCE",
            ),
            (
                "chance in the condition",
                (SET,),
                "s.k = t.k AND rand() > 0.5",
                "k, v",
                "DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED",
            ),
            (
                "an aggregate in the condition",
                (SET,),
                "s.k = t.k AND max(t.k) > 2",
                "k, v",
                AGGREGATE,
            ),
            (
                "one column twice",
                ("MATCHED THEN UPDATE SET k = 1, t.k = 2",),
                "s.k = t.k",
                "k, v",
                "DELTA_CONFLICT_SET_COLUMN",
            ),
            (
                "one column twice in an insert",
                ("NOT MATCHED THEN INSERT (k, k) VALUES (3, 4)",),
                "s.k = t.k",
                "k, v",
                "DELTA_DUPLICATE_COLUMNS_ON_INSERT",
            ),
            *(
                (
                    f"an unknown name in the condition of {what}",
                    (clause.format("unknown > 1"),),
                    "s.k = t.k",
                    "k, v",
                    UNRESOLVED,
                )
                for what, clause in (
                    ("an update", "MATCHED AND {} THEN UPDATE SET v = 1"),
                    ("a delete", "MATCHED AND {} THEN DELETE"),
                    ("an insert", "NOT MATCHED AND {} THEN INSERT *"),
                )
            ),
            *(
                (
                    f"an aggregate in the condition of {what}",
                    (clause.format("max(0) > 0"),),
                    "s.k = t.k",
                    "k, v",
                    AGGREGATE,
                )
                for what, clause in (
                    ("an update", "MATCHED AND {} THEN UPDATE SET v = 1"),
                    ("a delete", "MATCHED AND {} THEN DELETE"),
                    ("an insert", "NOT MATCHED AND {} THEN INSERT *"),
                )
            ),
            *(
                (
                    f"a subquery of the source's name in the condition of {what}",
                    (clause.format("s.v IN (SELECT v FROM s)"),),
                    "s.k = t.k",
                    "k, v",
                    "TABLE_OR_VIEW_NOT_FOUND",
                )
                for what, clause in (
                    ("an update", "MATCHED AND {} THEN UPDATE SET v = 1"),
                    ("a delete", "MATCHED AND {} THEN DELETE"),
                    ("an insert", "NOT MATCHED AND {} THEN INSERT *"),
                )
            ),
            (
                "a column of the table in the condition of an insert",
                ("NOT MATCHED AND t.v > 1 THEN INSERT *",),
                "s.k = t.k",
                "k, v",
                UNRESOLVED,
            ),
            ("two inserts without a condition", (NEW, NEW), "s.k = t.k", "k, v", LAST_NOT_MATCHED),
            ("two updates without a condition", (SET, SET), "s.k = t.k", "k, v", LAST_MATCHED),
            (
                "an update behind a delete without a condition",
                ("MATCHED AND s.k = 3 THEN UPDATE SET *", GONE, STAR),
                "s.k = t.k",
                "k, v",
                LAST_MATCHED,
            ),
            (
                "a condition behind no condition",
                (STAR, "MATCHED AND s.k < 3 THEN DELETE"),
                "s.k = t.k",
                "k, v",
                LAST_MATCHED,
            ),
            (
                "a condition behind no condition, for inserts",
                (NEW, "NOT MATCHED AND s.k < 3 THEN INSERT *"),
                "s.k = t.k",
                "k, v",
                LAST_NOT_MATCHED,
            ),
        )
    ),
    *(
        Case(
            fact=f"refused: a window function in {what}",
            run=merge("(1, 5)", clause, on=on),
            error=("UNSUPPORTED_EXPR_FOR_OPERATOR", "DELTA_AGGREGATION_NOT_SUPPORTED"),
            rows=PAIRS,
            ways=("plain",),
        )
        for what, clause, on in (
            (
                "the condition",
                STAR,
                "(row_number() OVER (ORDER BY s.v)) = (row_number() OVER (ORDER BY t.v))",
            ),
            (
                "the condition of a clause",
                "MATCHED AND row_number() OVER (ORDER BY s.v) > 1 THEN DELETE",
                "s.k = t.k",
            ),
            (
                "a value",
                "MATCHED THEN UPDATE SET v = row_number() OVER (ORDER BY s.v)",
                "s.k = t.k",
            ),
        )
    ),
    Case(
        fact="a folder of a partition is no table",
        run="MERGE INTO delta.`{path}/k=2` t USING (SELECT 5 k, 5 v) s ON s.k = t.k "
        "WHEN NOT MATCHED THEN INSERT *",
        error=("DELTA_TABLE_NOT_FOUND", "DELTA_UNEXPECTED_PARTIAL_SCAN"),
        ways=("parts",),
    ),
    # Views and columns of the user's
    Case(
        fact="a view of all of a table",
        run=(
            "CREATE TEMP VIEW {w} AS SELECT * FROM {t}",
            "MERGE INTO {w} USING (SELECT * FROM VALUES (10, 5), (1, 6) AS r(a, b)) s "
            "ON s.a = {w}.k WHEN MATCHED THEN UPDATE SET {w}.v = s.b + 1 "
            "WHEN NOT MATCHED THEN INSERT ({w}.k, {w}.v) VALUES (s.a, s.b)",
        ),
        rows=[(1, 7), *PAIRS[1:], (10, 5)],
        ways=("plain", "parts"),
    ),
    Case(
        fact="a view of all of a table, with stars",
        run=(
            "CREATE TEMP VIEW {w} AS SELECT * FROM {t}",
            "MERGE INTO {w} USING (SELECT * FROM VALUES (10, 5), (1, 6) AS r(k, v)) s "
            "ON s.k = {w}.k WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
        ),
        rows=[(1, 6), *PAIRS[1:], (10, 5)],
        ways=("plain",),
    ),
    Case(
        fact="a view with a filter is no table",
        run=(
            "CREATE TEMP VIEW {w} AS SELECT * FROM {t} WHERE v <> 0",
            "MERGE INTO {w} USING (SELECT 1 a) s ON s.a = {w}.k WHEN MATCHED THEN DELETE",
        ),
        says="",
        error=("DELTA_UNEXPECTED_PARTIAL_SCAN", "DELTA_MERGE_INTO_VIEW"),
        rows=PAIRS,
        ways=("plain",),
    ),
    Case(
        fact="a column of the user's that is called _change_type is kept",
        table="change types",
        run=merge(
            "SELECT id * 12 id, 'bar' _change_type FROM range(3)", STAR, NEW, on="s.id = t.id"
        ),
        rows=[*((n, "bar" if n in (0, 12) else "foo") for n in range(20)), (24, "bar")],
        ways=("plain", "parts"),
    ),
]

LEFT_OUT = {
    "data skipping, scan reports, merge stats (7)": "look into Delta's usage logs and plans",
    "recorded operations (3)": "look into Delta's usage logs",
    "merge with repartition (3)": "count files that Delta's own setting decides",
    "insert only merge - feature flag off (2)": "a setting of Delta's own code paths",
    "matched only merge - enabled and disabled (3)": "the same rows as the cases without the flag",
    "detect nondeterministic source (3)": "a Java function of chance, and Delta's own settings",
    "by position (1)": "truckee reads no setting that resolves structs by position, and says so",
    "UDT Data Types": "Scala classes of Delta's suite",
    "Complex Data Type - Array of Struct": "the same as the lists of structs, with 60 columns",
    "superset cols, nontrivial projection (views)": "names that Delta's analyzer gives",
    "Update specific column in temp views": "an error of Delta's analyzer alone",
    "special character in path (2)": "tests/interop/test_both_engines.py has such paths",
    "non-delta target": "Delta's suite ignores it",
}

"""WHEN NOT MATCHED BY SOURCE: the facts of Delta's MergeIntoNotMatchedBySourceSuite."""

from __future__ import annotations

from delta_cases.form import PAIRS, Case, deleted, inserted, merge, updated

STAR = "MATCHED THEN UPDATE SET *"
NEW = "NOT MATCHED THEN INSERT *"
GONE = "NOT MATCHED BY SOURCE THEN DELETE"
ONE_MORE = "NOT MATCHED BY SOURCE THEN UPDATE SET v = t.v + 1"
LAST = "NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION"
WAYS = ("parts", "feed", "feed parts", "vectors")

CASES = [
    Case(
        fact="an update, an insert and a delete of the rest",
        run=merge("(1, 5), (3, 6), (9, 7)", STAR, NEW, GONE),
        rows=[(1, 5), (3, 6), (9, 7)],
        changes=[
            *updated(((1, 10), (1, 5)), ((3, 30), (3, 6))),
            *inserted((9, 7)),
            *deleted((2, 20), (4, 40)),
        ],
        result=[(5, 2, 2, 1)],
        ways=WAYS,
        quick=True,
    ),
    Case(
        fact="all three under conditions",
        run=merge(
            "(1, 5), (3, 6), (9, 7), (8, 0)",
            "MATCHED AND t.v < 30 THEN UPDATE SET *",
            "NOT MATCHED AND s.v < 4 THEN INSERT *",
            "NOT MATCHED BY SOURCE AND t.v > 30 THEN DELETE",
        ),
        rows=[(1, 5), (2, 20), (3, 30), (8, 0)],
        changes=[*updated(((1, 10), (1, 5))), *inserted((8, 0)), *deleted((4, 40))],
        ways=WAYS,
    ),
    Case(
        fact="only a delete",
        run=merge("(1, 5), (3, 6), (9, 7)", GONE),
        rows=[(1, 10), (3, 30)],
        changes=deleted((2, 20), (4, 40)),
        ways=WAYS,
    ),
    Case(
        fact="only a delete under a condition",
        run=merge("(1, 5), (3, 6)", "NOT MATCHED BY SOURCE AND t.v > 30 THEN DELETE"),
        rows=PAIRS[:3],
        changes=deleted((4, 40)),
        ways=WAYS,
    ),
    Case(
        fact="a delete of what matches and of what does not, under conditions",
        run=merge(
            "(1, 5), (2, 6)",
            "MATCHED AND s.v % 2 = 0 THEN DELETE",
            "NOT MATCHED BY SOURCE AND t.v % 20 = 0 THEN DELETE",
        ),
        rows=[(1, 10), (3, 30)],
        changes=deleted((2, 20), (4, 40)),
        ways=WAYS,
    ),
    Case(
        fact="a delete of all",
        run=merge("(1, 5), (9, 6)", "MATCHED THEN DELETE", GONE),
        rows=[],
        changes=deleted(*PAIRS),
        ways=WAYS,
    ),
    Case(
        fact="only an update",
        run=merge("(1, 5), (3, 6)", ONE_MORE),
        rows=[(1, 10), (2, 21), (3, 30), (4, 41)],
        changes=updated(((2, 20), (2, 21)), ((4, 40), (4, 41))),
        ways=WAYS,
        quick=True,
    ),
    Case(
        fact="only an update under a condition",
        run=merge(
            "(1, 5), (3, 6)", "NOT MATCHED BY SOURCE AND t.v = 20 THEN UPDATE SET v = t.v + 1"
        ),
        rows=[(1, 10), (2, 21), (3, 30), (4, 40)],
        changes=updated(((2, 20), (2, 21))),
        ways=WAYS,
    ),
    Case(
        fact="an update and a delete where the merge has a condition on the table",
        run=merge(
            "(1, 5), (2, 6), (4, 7)",
            "NOT MATCHED BY SOURCE AND t.k = 1 THEN UPDATE SET v = t.v + 1",
            "NOT MATCHED BY SOURCE AND t.k = 3 THEN DELETE",
            on="s.k = t.k AND t.k > 3",
        ),
        rows=[(1, 11), (2, 20), (4, 40)],
        changes=[*updated(((1, 10), (1, 11))), *deleted((3, 30))],
        ways=WAYS,
    ),
    Case(
        fact="a delete of what matches, and an update of what a condition keeps from it",
        run=merge(
            "(1, 5), (2, 6), (4, 7)",
            "MATCHED AND t.k = 4 THEN DELETE",
            "NOT MATCHED BY SOURCE AND t.k = 1 THEN UPDATE SET v = t.v + 1",
            on="s.k = t.k AND t.k > 3",
        ),
        rows=[(1, 11), (2, 20), (3, 30)],
        changes=[*updated(((1, 10), (1, 11))), *deleted((4, 40))],
        ways=WAYS,
    ),
    Case(
        fact="a delete under a condition, then an update",
        run=merge("(1, 5)", "NOT MATCHED BY SOURCE AND t.v % 20 = 0 THEN DELETE", ONE_MORE),
        rows=[(1, 10), (3, 31)],
        changes=[*deleted((2, 20), (4, 40)), *updated(((3, 30), (3, 31)))],
        ways=WAYS,
    ),
    Case(
        fact="an update beside an insert",
        run=merge("(1, 5), (9, 6)", NEW, ONE_MORE),
        rows=[(1, 10), (2, 21), (3, 31), (4, 41), (9, 6)],
        changes=[
            *updated(((2, 20), (2, 21)), ((3, 30), (3, 31)), ((4, 40), (4, 41))),
            *inserted((9, 6)),
        ],
        ways=WAYS,
    ),
    Case(
        fact="an update beside an insert under a condition",
        run=merge("(1, 5), (9, 6), (8, 7)", "NOT MATCHED AND s.v % 2 = 0 THEN INSERT *", ONE_MORE),
        rows=[(1, 10), (2, 21), (3, 31), (4, 41), (9, 6)],
        ways=WAYS,
    ),
    Case(
        fact="a delete under a condition beside an insert",
        run=merge("(1, 5), (9, 6)", NEW, "NOT MATCHED BY SOURCE AND t.v % 20 = 0 THEN DELETE"),
        rows=[(1, 10), (3, 30), (9, 6)],
        changes=[*inserted((9, 6)), *deleted((2, 20), (4, 40))],
        ways=WAYS,
    ),
    Case(
        fact="a delete that meets nothing beside an insert",
        run=merge("(1, 5), (9, 6)", NEW, "NOT MATCHED BY SOURCE AND t.v > 99 THEN DELETE"),
        rows=[*PAIRS, (9, 6)],
        changes=inserted((9, 6)),
        ways=WAYS,
    ),
    Case(
        fact="three updates and a delete",
        run=merge(
            "(9, 9)",
            *(
                f"NOT MATCHED BY SOURCE AND t.k = {k} THEN UPDATE SET v = t.v + {100 - 10 * k}"
                for k in (1, 2, 3)
            ),
            GONE,
        ),
        rows=[(1, 100), (2, 100), (3, 100)],
        changes=[
            *updated(((1, 10), (1, 100)), ((2, 20), (2, 100)), ((3, 30), (3, 100))),
            *deleted((4, 40)),
        ],
        ways=WAYS,
    ),
    Case(
        fact="an update of all rows",
        run=merge("(8, 1), (9, 1)", ONE_MORE),
        rows=[(1, 11), (2, 21), (3, 31), (4, 41)],
        changes=updated(*(((k, v), (k, v + 1)) for k, v in PAIRS)),
        ways=WAYS,
    ),
    Case(
        fact="an empty source",
        run=merge(
            "SELECT 1 k, 1 v WHERE 1 > 2",
            "NOT MATCHED BY SOURCE AND t.k = 2 THEN UPDATE SET v = t.v + 1",
            "NOT MATCHED BY SOURCE AND t.k = 4 THEN DELETE",
        ),
        rows=[(1, 10), (2, 21), (3, 30)],
        changes=[*updated(((2, 20), (2, 21))), *deleted((4, 40))],
        ways=WAYS,
    ),
    Case(
        fact="an empty source and only a delete",
        run=merge("SELECT 1 k, 1 v WHERE 1 > 2", "NOT MATCHED BY SOURCE AND t.k = 4 THEN DELETE"),
        rows=PAIRS[:3],
        changes=deleted((4, 40)),
        ways=WAYS,
    ),
    Case(
        fact="conditions that no row meets",
        run=merge(
            "(1, 5), (9, 6)",
            "MATCHED AND t.v > 99 THEN UPDATE SET *",
            "NOT MATCHED AND s.v > 99 THEN INSERT *",
            "NOT MATCHED BY SOURCE AND t.v > 99 THEN DELETE",
        ),
        rows=PAIRS,
        result=[(0, 0, 0, 0)],
        ways=WAYS,
    ),
    *(
        Case(
            fact=f"refused: {fact}",
            run=merge("(1, 5)", *clauses),
            error=error,
            rows=PAIRS,
            ways=("plain",),
        )
        for fact, clauses, error in (
            ("two updates without a condition", (ONE_MORE, ONE_MORE), LAST),
            (
                "an update behind a delete without a condition",
                ("NOT MATCHED BY SOURCE AND t.k = 3 THEN UPDATE SET v = 1", GONE, ONE_MORE),
                LAST,
            ),
            (
                "a condition behind no condition, for updates",
                (ONE_MORE, "NOT MATCHED BY SOURCE AND t.k < 3 THEN UPDATE SET v = 1"),
                LAST,
            ),
            (
                "a condition behind no condition, for deletes",
                (GONE, "NOT MATCHED BY SOURCE AND t.k < 3 THEN DELETE"),
                LAST,
            ),
            (
                "an unknown name in the condition of an update",
                ("NOT MATCHED BY SOURCE AND unknown > 1 THEN UPDATE SET v = 1",),
                "DELTA_MERGE_UNRESOLVED_EXPRESSION",
            ),
            (
                "an unknown name in the condition of a delete",
                ("NOT MATCHED BY SOURCE AND unknown > 1 THEN DELETE",),
                "DELTA_MERGE_UNRESOLVED_EXPRESSION",
            ),
            (
                "a column of the source in the condition of a delete",
                ("NOT MATCHED BY SOURCE AND s.v > 1 THEN DELETE",),
                "DELTA_MERGE_UNRESOLVED_EXPRESSION",
            ),
            (
                "an aggregate in the condition of an update",
                ("NOT MATCHED BY SOURCE AND max(0) > 0 THEN UPDATE SET v = 1",),
                "DELTA_AGGREGATION_NOT_SUPPORTED",
            ),
            (
                "an aggregate in the condition of a delete",
                ("NOT MATCHED BY SOURCE AND max(0) > 0 THEN DELETE",),
                "DELTA_AGGREGATION_NOT_SUPPORTED",
            ),
            (
                "a subquery of the table's alias in the condition of an update",
                ("NOT MATCHED BY SOURCE AND v IN (SELECT v FROM t) THEN UPDATE SET v = 1",),
                "TABLE_OR_VIEW_NOT_FOUND",
            ),
            (
                "a subquery of the table's alias in the condition of a delete",
                ("NOT MATCHED BY SOURCE AND v IN (SELECT v FROM t) THEN DELETE",),
                "TABLE_OR_VIEW_NOT_FOUND",
            ),
        )
    ),
]

LEFT_OUT = {
    "special character in path (2)": "tests/interop/test_both_engines.py has such paths",
}

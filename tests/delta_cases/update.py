"""UPDATE: the facts of Delta's UpdateSuiteBase, UpdateSQLSuite and UpdateCDCSuite."""

from __future__ import annotations

from delta_cases.form import FEEDS, PAIRS, Case, updated

CONFLICT = "DELTA_CONFLICT_SET_COLUMN"
SUBQUERY = "DELTA_UNSUPPORTED_SUBQUERY"
UNRESOLVED = "UNRESOLVED_COLUMN.WITH_SUGGESTION"
BY_POSITION = {"spark.databricks.delta.resolveMergeUpdateStructsByName.enabled": "false"}
STORE_LIKE_INSERT = {"spark.databricks.delta.updateAndMergeCastingFollowsAnsiEnabledFlag": "false"}
PQ = [
    (10, {"c": {"d": "p", "e": "y"}, "g": 1}),
    (20, {"c": {"d": "q", "e": "y"}, "g": 2}),
]
ODD = [("part%one", 0), ("part%one", 1), ("part%one", 2)]

CASES = [
    Case(
        fact="every row takes the values where there is no condition",
        run="UPDATE {t} SET k = 7, v = 8",
        rows=[(7, 8)] * 4,
        changes=updated(*((row, (7, 8)) for row in PAIRS)),
        quick=True,
    ),
    Case(
        fact="a condition that is always true is no condition",
        run="UPDATE {t} SET v = -1 WHERE 1 = 1",
        rows=[(1, -1), (2, -1), (3, -1), (4, -1)],
        changes=updated(*((row, (row[0], -1)) for row in PAIRS)),
    ),
    Case(
        fact="a condition that all rows meet changes all",
        run="UPDATE {t} SET v = -1 WHERE k < 10",
        rows=[(1, -1), (2, -1), (3, -1), (4, -1)],
        changes=updated(*((row, (row[0], -1)) for row in PAIRS)),
    ),
    Case(
        fact="a condition that is never true changes nothing",
        run="UPDATE {t} SET k = 7, v = 8 WHERE 1 != 1",
        rows=PAIRS,
        result=[(0,)],
    ),
    Case(
        fact="a condition that no row meets changes nothing",
        run="UPDATE {t} SET k = 7 WHERE k >= 10",
        rows=PAIRS,
        result=[(0,)],
    ),
    Case(
        fact="expressions see the values from before the statement",
        run="UPDATE {t} SET v = k + v, k = k + 1 WHERE k >= 3",
        rows=[(1, 10), (2, 20), (4, 33), (5, 44)],
        changes=updated(((3, 30), (4, 33)), ((4, 40), (5, 44))),
        result=[(2,)],
        quick=True,
    ),
    Case(
        fact="expressions without a condition see the values from before",
        run="UPDATE {t} SET v = k + 3, k = k + 1",
        rows=[(2, 4), (3, 5), (4, 6), (5, 7)],
    ),
    Case(
        fact="conditions on a partition and on data together",
        run="UPDATE {t} SET v = k + v, k = k + 5 WHERE k >= 2 AND v != 30",
        rows=[(1, 10), (7, 22), (3, 30), (9, 44)],
        changes=updated(((2, 20), (7, 22)), ((4, 40), (9, 44))),
    ),
    Case(
        fact="the same without data skipping",
        run="UPDATE {t} SET v = k + v, k = k + 5 WHERE k >= 2 AND v != 30",
        rows=[(1, 10), (7, 22), (3, 30), (9, 44)],
        conf={"spark.databricks.delta.stats.skipping": "false"},
    ),
    Case(
        fact="one column of two",
        run="UPDATE {t} SET k = 1",
        rows=[(1, 10), (1, 20), (1, 30), (1, 40)],
    ),
    Case(
        fact="columns in another order than the table's",
        run="UPDATE {t} SET v = 3, k = 1 WHERE k = 2",
        rows=[(1, 10), (1, 3), (3, 30), (4, 40)],
        changes=updated(((2, 20), (1, 3))),
    ),
    Case(
        fact="one row",
        run="UPDATE {t} SET v = -1 WHERE k = 1",
        rows=[(1, -1), (2, 20), (3, 30), (4, 40)],
        changes=updated(((1, 10), (1, -1))),
        quick=True,
    ),
    Case(
        fact="one row after another, the second of which has only its own changes",
        run=("UPDATE {t} SET v = -1 WHERE k = 1", "UPDATE {t} SET v = -3 WHERE k = 3"),
        rows=[(1, -1), (2, 20), (3, -3), (4, 40)],
        changes=updated(((3, 30), (3, -3))),
        ways=FEEDS,
    ),
    Case(
        fact="a column of a partition is set to null",
        run=(
            "INSERT INTO {t} VALUES (9, 90)",
            "UPDATE {t} SET k = NULL WHERE k = 9",
        ),
        rows=[*PAIRS, (None, 90)],
        changes=updated(((9, 90), (None, 90))),
        ways=("feed parts",),
    ),
    Case(
        fact="a whole partition",
        table="halves",
        run="UPDATE {t} SET id = -1 WHERE part = 1",
        rows=[(0, 0), (0, 2), (1, -1), (1, -1)],
        changes=updated(((1, 1), (1, -1)), ((1, 3), (1, -1))),
        ways=("feed parts", "vectors"),
    ),
    # NULL
    Case(
        fact="a condition that is null changes nothing",
        table="nulls",
        run="UPDATE {t} SET v = -1 WHERE k = NULL",
        rows=[("a", 1), (None, 2), (None, 3), ("d", 4)],
    ),
    Case(
        fact="rows whose condition is null stay",
        table="nulls",
        run="UPDATE {t} SET v = -1 WHERE k = 'a'",
        rows=[("a", -1), (None, 2), (None, 3), ("d", 4)],
    ),
    Case(
        fact="IS NULL",
        table="nulls",
        run="UPDATE {t} SET v = -2 WHERE k IS NULL",
        rows=[("a", 1), (None, -2), (None, -2), ("d", 4)],
        changes=updated(((None, 2), (None, -2)), ((None, 3), (None, -2))),
    ),
    Case(
        fact="IS NOT NULL",
        table="nulls",
        run="UPDATE {t} SET v = -3 WHERE k IS NOT NULL",
        rows=[("a", -3), (None, 2), (None, 3), ("d", -3)],
    ),
    Case(
        fact="<=> NULL",
        table="nulls",
        run="UPDATE {t} SET v = -4 WHERE k <=> NULL",
        rows=[("a", 1), (None, -4), (None, -4), ("d", 4)],
    ),
    Case(
        fact="null is stored",
        run="UPDATE {t} SET v = k, k = NULL + 1D WHERE k >= 3",
        rows=[(1, 10), (2, 20), (None, 3), (None, 4)],
    ),
    # Types
    Case(
        fact="a double is stored in an int",
        run="UPDATE {t} SET v = k + CAST(v AS DOUBLE), k = CAST(k AS DOUBLE) + 1 WHERE k >= 3",
        rows=[(1, 10), (2, 20), (4, 33), (5, 44)],
    ),
    Case(
        fact="conditions compare a bigint with a decimal",
        run="UPDATE {t} SET v = -3 WHERE CAST(k AS BIGINT) * CAST('1.0' AS DECIMAL(38, 18)) > 2",
        rows=[(1, 10), (2, 20), (3, -3), (4, -3)],
    ),
    *(
        Case(
            fact=f"an int is stored in a bigint, with the policy {policy}",
            table="types",
            run="UPDATE {t} SET big = 4",
            rows=[(1, 4, True, 1.5), (2, 4, False, 2.5)],
            conf={**STORE_LIKE_INSERT, "spark.sql.storeAssignmentPolicy": policy},
            ways=("plain",),
        )
        for policy in ("ANSI", "LEGACY", "STRICT")
    ),
    *(
        Case(
            fact=f"a text is stored in {column}, with the policy {policy}",
            table="types",
            run=f"UPDATE {{t}} SET {column} = {text}",
            rows=rows,
            conf={**STORE_LIKE_INSERT, "spark.sql.storeAssignmentPolicy": policy},
            ways=("plain",),
        )
        for policy in ("LEGACY", "ANSI")
        for column, text, rows in (
            ("flag", "'false'", [(1, 5, False, 1.5), (2, 6, False, 2.5)]),
            ("k", "'5'", [(5, 5, True, 1.5), (5, 6, False, 2.5)]),
        )
    ),
    # Names
    Case(
        fact="names in backticks",
        run="UPDATE {t} SET `v` = -1 WHERE `k` = 2",
        rows=[(1, 10), (2, -1), (3, 30), (4, 40)],
        ways=("plain",),
    ),
    Case(
        fact="names with the table and the schema before them",
        unlike="the table may stand before a column that is set, the schema may not",
        run="UPDATE {n} SET default.{n}.v = -1 WHERE {n}.k = 2",
        rows=[(1, 10), (2, -1), (3, 30), (4, 40)],
        ways=("plain",),
    ),
    Case(
        fact="a field with the table before it",
        table="nested",
        run="UPDATE {n} SET {n}.a.c.d = 'N' WHERE z = 10",
        rows=[(10, {"c": {"d": "N", "e": "y"}, "g": 1}), PQ[1]],
        ways=("plain",),
    ),
    Case(
        fact="names in another case",
        run="UPDATE {t} SET V = 0 WHERE K = 1",
        rows=[(1, 0), (2, 20), (3, 30), (4, 40)],
        ways=("plain",),
    ),
    Case(
        fact="a name in another case where case counts",
        unlike="names of columns are found in any case",
        run="UPDATE {t} SET V = 0 WHERE k = 1",
        error=UNRESOLVED,
        conf={"spark.sql.caseSensitive": "true"},
        ways=("plain",),
    ),
    Case(
        fact="a condition in another case where case counts",
        run="UPDATE {t} SET v = 0 WHERE K = 1",
        error=UNRESOLVED,
        conf={"spark.sql.caseSensitive": "true"},
        ways=("plain",),
    ),
    Case(
        fact="a column that does not exist",
        run="UPDATE {t} SET nothing = 0 WHERE k = 1",
        error=UNRESOLVED,
        ways=("plain",),
        quick=True,
    ),
    Case(
        fact="one column twice in two cases",
        run="UPDATE {t} SET V = 1, v = 2 WHERE k = 1",
        error=CONFLICT,
        ways=("plain",),
    ),
    Case(
        fact="one column twice",
        run="UPDATE {t} SET v = 1, v = 2",
        error=CONFLICT,
        ways=("plain",),
    ),
    Case(
        fact="one field twice",
        table="nested",
        run="UPDATE {t} SET a.c.d = 'r', a.c.d = 's'",
        error=CONFLICT,
        ways=("plain",),
    ),
    # Subqueries and functions
    *(
        Case(
            fact=f"a subquery in the condition: {condition}",
            run=f"UPDATE {{t}} SET v = 1 WHERE {condition}",
            error=SUBQUERY,
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
    *(
        Case(
            fact=f"refused: {clauses}",
            run=f"UPDATE {{t}} SET {clauses}",
            error=("UNSUPPORTED_EXPR_FOR_OPERATOR", "DELTA_AGGREGATION_NOT_SUPPORTED"),
            rows=PAIRS,
            ways=("plain",),
        )
        for clauses in (
            "v = row_number() OVER (ORDER BY k)",
            "v = 1 WHERE row_number() OVER (ORDER BY k) > 1",
            "v = max(k)",
            "v = 1 WHERE v > max(k)",
        )
    ),
    Case(
        fact="a subquery of one row is a value",
        table="lists",
        run="UPDATE {t} SET a = array((SELECT explode(array(7))))",
        rows=[("Z", [7]), ("Y", [7])],
        ways=("plain",),
    ),
    Case(
        fact="a subquery of two rows is no value",
        table="lists",
        run="UPDATE {t} SET a = array((SELECT explode(array(7, 8))))",
        error="SCALAR_SUBQUERY_TOO_MANY_ROWS",
        rows=[("Z", [1, 11]), ("Y", [2, 22])],
        ways=("plain",),
    ),
    # Fields
    Case(
        fact="one field",
        table="nested",
        run="UPDATE {t} SET a.c.d = 'N' WHERE z = 10",
        rows=[(10, {"c": {"d": "N", "e": "y"}, "g": 1}), PQ[1]],
        changes=updated((PQ[0], (10, {"c": {"d": "N", "e": "y"}, "g": 1}))),
        quick=True,
    ),
    Case(
        fact="a field of no row",
        table="nested",
        run="UPDATE {t} SET a.c.d = 'N' WHERE z = 30",
        rows=PQ,
    ),
    Case(
        fact="fields of several depths",
        table="nested",
        run="UPDATE {t} SET a.c.d = 'N', a.c.e = 'M', a.g = -2, z = -20 WHERE z = 20",
        rows=[PQ[0], (-20, {"c": {"d": "N", "e": "M"}, "g": -2})],
    ),
    Case(
        fact="fields become null",
        table="nested",
        run="UPDATE {t} SET a.c = NULL, a.g = NULL WHERE a.c.d = 'q'",
        rows=[PQ[0], (20, {"c": None, "g": None})],
    ),
    Case(
        fact="a struct becomes null",
        table="nested",
        run="UPDATE {t} SET a = NULL WHERE a.c.d = 'q'",
        rows=[PQ[0], (20, None)],
    ),
    Case(
        fact="a struct in a struct",
        table="nested",
        run="UPDATE {t} SET a.c = named_struct('d', 'N', 'e', 'M') WHERE a.g = 2",
        rows=[PQ[0], (20, {"c": {"d": "N", "e": "M"}, "g": 2})],
    ),
    Case(
        fact="texts that are numbers in fields",
        table="nested",
        run="UPDATE {t} SET a.g = '-1', z = '30' WHERE z = 10",
        rows=[(30, {"c": {"d": "p", "e": "y"}, "g": -1}), PQ[1]],
    ),
    Case(
        fact="a list",
        table="lists",
        run="UPDATE {t} SET a = array(-1, -11, -111) WHERE b = 'Z'",
        rows=[("Z", [-1, -11, -111]), ("Y", [2, 22])],
    ),
    Case(
        fact="fields of a struct go by name",
        table="nested",
        run="UPDATE {t} SET a = named_struct('g', 5, 'c', named_struct('e', 'M', 'd', 'N')) "
        "WHERE z = 20",
        rows=[PQ[0], (20, {"c": {"d": "N", "e": "M"}, "g": 5})],
    ),
    Case(
        fact="fields of a struct in a struct go by name",
        table="nested",
        run="UPDATE {t} SET a.c = named_struct('e', 'M', 'd', 'N') WHERE z = 20",
        rows=[PQ[0], (20, {"c": {"d": "N", "e": "M"}, "g": 2})],
    ),
    Case(
        fact="fields go by position where that is set",
        unlike="fields of structs always go by name, as docs/guides/tuning.md says",
        table="nested",
        run="UPDATE {t} SET a.c = named_struct('e', 'M', 'd', 'N') WHERE z = 20",
        rows=[PQ[0], (20, {"c": {"d": "M", "e": "N"}, "g": 2})],
        conf=BY_POSITION,
        ways=("plain",),
    ),
    Case(
        fact="fields of other types by position",
        unlike="fields of structs always go by name, as docs/guides/tuning.md says",
        table="nested",
        run="UPDATE {t} SET a = named_struct('g', 5, 'c', named_struct('e', 'M', 'd', 'N'))",
        says="cannot cast",
        error=("DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION", "DATATYPE_MISMATCH"),
        conf=BY_POSITION,
        ways=("plain",),
    ),
    Case(
        fact="a text in the place of a struct",
        table="nested",
        run="UPDATE {t} SET a.c = 'N'",
        error="DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION",
        ways=("plain",),
    ),
    Case(
        fact="a field that does not exist",
        table="nested",
        run="UPDATE {t} SET a.c.z = 'N'",
        error="FIELD_NOT_FOUND",
        ways=("plain",),
    ),
    Case(
        fact="a struct and its field",
        table="nested",
        run="UPDATE {t} SET a.c = named_struct('d', 'M', 'e', 'M'), a.c.d = 'N'",
        error=CONFLICT,
        ways=("plain",),
    ),
    Case(
        fact="a struct and a field two levels below",
        table="nested",
        run="UPDATE {t} SET a = named_struct('c', named_struct('d', 'M', 'e', 'M'), 'g', 3), "
        "a.c.d = 'N'",
        error=CONFLICT,
        ways=("plain",),
    ),
    *(
        Case(
            fact=f"a field of {what}",
            table="maps",
            run=f"UPDATE {{t}} SET {column}.x = NULL",
            error="DELTA_UNSUPPORTED_NESTED_FIELD_IN_UPDATE",
            says="Updating nested fields is only supported for StructType",
            ways=("plain",),
        )
        for what, column in (("a map", "m"), ("a list of structs", "l"))
    ),
    # Others
    Case(
        fact="variants",
        table="variants",
        run=(
            "UPDATE {t} SET i = 10, j = parse_json('123') WHERE to_json(j) = '1'",
            "SELECT i, to_json(j) FROM {t}",
        ),
        result=[(0, "0"), (10, "123"), (2, "2")],
        ways=("plain",),
    ),
    Case(
        fact="partitions with odd characters, one row at a time",
        table="odd parts",
        run=(
            "UPDATE {t} SET p = 'part%two' WHERE p = 'part%one' AND id = 1",
            "UPDATE {t} SET p = 'part%two' WHERE p = 'part%one' AND id = 2",
        ),
        rows=[("part%one", 0), ("part%two", 1), ("part%two", 2)],
        changes=updated((("part%one", 2), ("part%two", 2))),
        ways=("parts", "feed parts"),
    ),
    Case(
        fact="partitions with odd characters, all rows",
        table="odd parts",
        run="UPDATE {t} SET p = 'part%two' WHERE p = 'part%one'",
        rows=[("part%two", 0), ("part%two", 1), ("part%two", 2)],
        ways=("parts", "feed parts"),
    ),
    Case(
        fact="a cached table is read anew",
        run=("CACHE TABLE {n}", "UPDATE {n} SET k = 3", "SELECT * FROM {n}"),
        result=[(3, 10), (3, 20), (3, 30), (3, 40)],
        ways=("plain",),
    ),
    Case(
        fact="EXPLAIN changes nothing",
        run="EXPLAIN UPDATE {t} SET k = 1, v = 2 WHERE k = 2",
        rows=PAIRS,
        commits=0,
        ways=("plain",),
    ),
    Case(
        fact="a column of the user's that is called _change_type is kept",
        table="change types",
        run="UPDATE {t} SET _change_type = 'bar' WHERE id IN (1, 7)",
        rows=[(n, "bar" if n in (1, 7) else "foo") for n in range(20)],
        ways=("plain", "parts"),
    ),
    Case(
        fact="a table that is not Delta's",
        run=("CREATE TABLE {w} USING parquet AS SELECT 1 AS k", "UPDATE {w} SET k = 3"),
        error=("UNSUPPORTED_FEATURE.TABLE_OPERATION", "_LEGACY_ERROR_TEMP_2096"),
        ways=("plain",),
    ),
    Case(
        fact="a folder of a partition is no table",
        unlike="DELTA_TABLE_NOT_FOUND, with the folder of the table",
        run="UPDATE delta.`{path}/k=2` SET k = 1, v = 2 WHERE v = 2",
        says="Expect a full scan of",
        error=("DELTA_UNEXPECTED_PARTIAL_SCAN",),
        ways=("parts",),
    ),
    # Views
    Case(
        fact="a view of all of a table",
        run=(
            "CREATE TEMP VIEW {w} AS SELECT * FROM {t}",
            "UPDATE {w} SET v = k + v, k = k + 1 WHERE k >= 3",
        ),
        rows=[(1, 10), (2, 20), (4, 33), (5, 44)],
        result=[(2,)],
        ways=("plain", "parts"),
    ),
    Case(
        fact="a view with its own name before the columns",
        run=(
            "CREATE TEMP VIEW {w} AS SELECT * FROM {t}",
            "UPDATE {w} SET {w}.v = -1 WHERE {w}.k = 2",
        ),
        rows=[(1, 10), (2, -1), (3, 30), (4, 40)],
        ways=("plain",),
    ),
    Case(
        fact="a view of some columns lacks the others",
        unlike="a view must be SELECT * FROM a table, as its error says",
        run=("CREATE TEMP VIEW {w} AS SELECT k FROM {t}", "UPDATE {w} SET v = 1 WHERE v < 3"),
        error=UNRESOLVED,
        ways=("plain",),
    ),
    Case(
        fact="a view of a view's columns under aliases",
        unlike="a view must be SELECT * FROM a table, as its error says",
        run=(
            "CREATE TEMP VIEW {w} AS SELECT * FROM (SELECT * FROM {t} AS a) AS b",
            "UPDATE {w} SET v = k + v WHERE k = 1 AND v < 11",
        ),
        rows=[(1, 11), (2, 20), (3, 30), (4, 40)],
        ways=("plain",),
    ),
]

LEFT_OUT = {
    "schema pruning on finding files to update (2)": "looks into plans of Delta's own scans",
    "superset cols (view)": "Delta's own message names its internals: Can't resolve column 1",
    "nontrivial projection (view)": "truckee changes views that are all of a table, and says so",
}

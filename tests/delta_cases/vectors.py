"""Deletion vectors: the facts of Delta's DeletionVectorsSuite and of DML suites with vectors."""

from __future__ import annotations

from delta_cases.form import Case, deleted, inserted, merge, updated

ON = ("vectors",)
BOTH = ("vectors", "mapped")
COUNTED = (
    "numDeletedRows",
    "numRemovedFiles",
    "numDeletionVectorsAdded",
    "numDeletionVectorsRemoved",
    "numDeletionVectorsUpdated",
)


def counted(*counts: int) -> dict[str, str]:
    return dict(zip(COUNTED, map(str, counts), strict=True))


CASES = [
    Case(
        fact="rows of a file are marked, and the file stays",
        table="numbers",
        run="DELETE FROM {t} WHERE id % 2 = 0",
        rows=[(n,) for n in (1, 3, 5, 7, 9)],
        changes=deleted(*((n,) for n in (0, 2, 4, 6, 8))),
        ways=BOTH,
        quick=True,
    ),
    Case(
        fact="rows of a file with marked rows are marked, too",
        table="numbers",
        run=("DELETE FROM {t} WHERE id IN (1, 8)", "DELETE FROM {t} WHERE id IN (2, 8, 9)"),
        rows=[(n,) for n in (0, 3, 4, 5, 6, 7)],
        changes=deleted((2,), (9,)),
        ways=BOTH,
    ),
    Case(
        fact="the last rows of a file are deleted with it",
        table="numbers",
        run=("DELETE FROM {t} WHERE id < 9", "DELETE FROM {t} WHERE id = 9"),
        rows=[],
        changes=deleted((9,)),
        ways=ON,
    ),
    Case(
        fact="marked rows are not deleted again",
        table="numbers",
        run=("DELETE FROM {t} WHERE id < 5", "DELETE FROM {t} WHERE id < 5"),
        rows=[(n,) for n in range(5, 10)],
        result=[(0,)],
        ways=ON,
    ),
    Case(
        fact="an update of marked rows changes nothing",
        table="numbers",
        run=("DELETE FROM {t} WHERE id = 0", "UPDATE {t} SET id = 100 WHERE id = 0"),
        rows=[(n,) for n in range(1, 10)],
        result=[(0,)],
        commits=0,
        ways=ON,
    ),
    Case(
        fact="an update in a file with marked rows",
        table="numbers",
        run=("DELETE FROM {t} WHERE id IN (0, 9)", "UPDATE {t} SET id = id + 100 WHERE id = 1"),
        rows=[*((n,) for n in range(2, 9)), (101,)],
        changes=updated(((1,), (101,))),
        ways=BOTH,
    ),
    Case(
        fact="a merge into a file with marked rows",
        table="numbers",
        run=(
            "DELETE FROM {t} WHERE id IN (0, 9)",
            merge(
                "SELECT id FROM range(5, 15)",
                "MATCHED THEN UPDATE SET id = s.id + 100",
                "NOT MATCHED THEN INSERT *",
                on="s.id = t.id",
            ),
        ),
        rows=[
            *((n,) for n in range(1, 5)),
            *((n + 100,) for n in range(5, 9)),
            *((n,) for n in range(9, 15)),
        ],
        changes=[
            *updated(*(((n,), (n + 100,)) for n in range(5, 9))),
            *inserted(*((n,) for n in range(9, 15))),
        ],
        ways=BOTH,
    ),
    Case(
        fact="inserts, deletes, updates and merges one after another",
        table="numbers",
        run=(
            "DELETE FROM {t} WHERE id IN (1, 8)",
            "UPDATE {t} SET id = -1 WHERE id = 0",
            merge(
                "SELECT id FROM range(1, 9)",
                "MATCHED THEN UPDATE SET id = s.id",
                "NOT MATCHED BY SOURCE THEN DELETE",
                on="s.id = t.id",
            ),
            "INSERT INTO {t} VALUES (50)",
            "DELETE FROM {t} WHERE id = 4",
        ),
        rows=[(n,) for n in (2, 3, 5, 6, 7, 50)],
        changes=deleted((4,)),
        ways=BOTH,
    ),
    Case(
        fact="rows are inserted from a table with marked rows",
        table="numbers",
        run=("DELETE FROM {t} WHERE id > 2", "INSERT INTO {t} SELECT id + 10 FROM {t}"),
        rows=[(n,) for n in (0, 1, 2, 10, 11, 12)],
        changes=inserted((10,), (11,), (12,)),
        ways=ON,
    ),
    Case(
        fact="counts in subqueries leave marked rows out",
        table="numbers",
        run=(
            "DELETE FROM {t} WHERE id > 6",
            "SELECT (SELECT count(*) FROM {t}), (SELECT count(*) FROM {t} VERSION AS OF 0)",
        ),
        result=[(7, 10)],
        ways=ON,
    ),
    Case(
        fact="a filter on a table with marked rows",
        table="numbers",
        run=("DELETE FROM {t} WHERE id = 3", "SELECT id FROM {t} WHERE id IN (2, 3, 4)"),
        result=[(2,), (4,)],
        ways=BOTH,
    ),
    Case(
        fact="a table with marked rows is joined with itself",
        table="numbers",
        run=(
            "DELETE FROM {t} WHERE id NOT IN (1, 2, 3)",
            "SELECT a.id, b.id FROM {t} a JOIN {t} b ON a.id = b.id + 1",
        ),
        result=[(2, 1), (3, 2)],
        ways=ON,
    ),
    Case(
        fact="a table with marked rows is joined with its earlier version",
        table="numbers",
        run=(
            "DELETE FROM {t} WHERE id NOT IN (1, 2)",
            "SELECT a.id, b.id FROM {t} a JOIN {t} VERSION AS OF 0 b ON a.id = b.id + 1",
        ),
        result=[(1, 0), (2, 1)],
        ways=ON,
    ),
    Case(
        fact="every version is read as it was",
        table="numbers",
        run=(
            "DELETE FROM {t} WHERE id < 3",
            "INSERT INTO {t} VALUES (1)",
            "DELETE FROM {t} WHERE id IN (1, 9)",
            "SELECT (SELECT sum(id) FROM {t} VERSION AS OF 0), "
            "(SELECT sum(id) FROM {t} VERSION AS OF 1), "
            "(SELECT sum(id) FROM {t} VERSION AS OF 2), (SELECT sum(id) FROM {t})",
        ),
        result=[(45, 42, 43, 33)],
        ways=ON,
    ),
    Case(
        fact="the row index of rows that stay",
        table="numbers",
        run=("DELETE FROM {t} WHERE id < 8", "SELECT id, _metadata.row_index FROM {t}"),
        result=[(8, 8), (9, 9)],
        ways=ON,
    ),
    *(
        Case(
            fact=f"marked rows without {what}",
            table="numbers",
            run=("DELETE FROM {t} WHERE id IN (2, 4)", "SELECT id FROM {t} WHERE id < 6"),
            result=[(n,) for n in (0, 1, 3, 5)],
            conf=conf,
            ways=ON,
        )
        for what, conf in (
            ("vectors of Parquet", {"spark.sql.parquet.enableVectorizedReader": "false"}),
            ("generated code", {"spark.sql.codegen.wholeStage": "false"}),
            ("batches of columns", {"spark.sql.codegen.maxFields": "0"}),
            ("data skipping", {"spark.databricks.delta.stats.skipping": "false"}),
            ("filters in Parquet", {"spark.sql.parquet.filterPushdown": "false"}),
        )
    ),
    Case(
        fact="metrics of the first delete: one file marked",
        table="numbers",
        run="DELETE FROM {t} WHERE id >= 4",
        metrics=counted(6, 0, 1, 0, 0),
        ways=ON,
    ),
    Case(
        fact="metrics of the next delete: its vector replaced",
        table="numbers",
        run=("DELETE FROM {t} WHERE id >= 4", "DELETE FROM {t} WHERE id = 3"),
        metrics=counted(1, 0, 1, 1, 1),
        ways=ON,
    ),
    Case(
        fact="metrics of the last delete: file and vector removed",
        table="numbers",
        run=("DELETE FROM {t} WHERE id >= 4", "DELETE FROM {t} WHERE id IN (0, 1, 2, 3)"),
        metrics=counted(4, 1, 0, 1, 0),
        ways=ON,
    ),
    Case(
        fact="variants in the condition, with column mapping",
        table="variants",
        run=("DELETE FROM {t} WHERE j::int = 2", "SELECT i FROM {t}"),
        result=[(0,), (1,)],
        ways=BOTH,
    ),
    Case(
        fact="a partition with marked rows is deleted whole",
        table="parted",
        run=("DELETE FROM {t} WHERE id < 20", "DELETE FROM {t} WHERE part = 3"),
        rows=[(n % 10, n) for n in range(20, 100) if n % 10 != 3],
        changes=deleted(*((3, n) for n in range(23, 100, 10))),
        ways=ON,
    ),
    Case(
        fact="an update of all rows of a file with marked rows",
        table="numbers",
        run=("DELETE FROM {t} WHERE id > 1", "UPDATE {t} SET id = id + 10"),
        rows=[(10,), (11,)],
        changes=updated(((0,), (10,)), ((1,), (11,))),
        ways=BOTH,
    ),
    Case(
        fact="an overwrite of a table with marked rows deletes those that were left",
        table="numbers",
        run=("DELETE FROM {t} WHERE id > 1", "INSERT OVERWRITE {t} VALUES (7)"),
        rows=[(7,)],
        changes=[*deleted((0,), (1,)), *inserted((7,))],
        ways=ON,
    ),
    Case(
        fact="RESTORE brings marked rows back",
        table="numbers",
        run=("DELETE FROM {t} WHERE id > 7", "RESTORE TABLE {t} TO VERSION AS OF 0"),
        rows=[(n,) for n in range(10)],
        changes=inserted((8,), (9,)),
        ways=ON,
    ),
]

LEFT_OUT = {
    "tables of Delta's test resources (6)": "tests/golden reads tables that delta-spark wrote",
    "tables of two billion rows (2)": "tests/golden reads them where the corpus has them",
    "packing of vectors into files (3)": "the size is a setting of Delta's own",
    "non-pinned TahoeFileIndex": "a class of Delta's",
    "read for selected files": "a class of Delta's",
    "sanity check for non-incremental update": "classes of Delta's",
    "missing vector files, encoded paths (3)": "tests/hostile and tests/deletion_vectors",
    "predicates pushed down, plans (10)": "plans of Delta's own scans",
}

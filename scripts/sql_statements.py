"""The statements of Delta's SQL, as examples: the tests run each, and the documentation lists it.

`{t}` stands for the table, by name or by path. Each example starts with the table of `START`. The
expected results were written by hand, from the protocol and from what delta-spark does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

START = (
    "CREATE TABLE {t} (id BIGINT, name STRING, part INT) USING delta PARTITIONED BY (part) "
    "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', "
    "'delta.feature.allowColumnDefaults' = 'supported')",
    "INSERT INTO {t} VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 2)",
)
"""Versions 0 and 1 of every example's table."""

ROWS = ((1, "a", 1), (2, "b", 1), (3, "c", 2))
"""What it has."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """A statement, and its expected result.

    `result` are the rows that it returns, None if they are not compared; `rows` are those of the
    table afterwards. `operation` and `parameters` are what the history then says, None if nothing
    is committed. `error` is the error class of a statement that is refused.
    """

    group: str
    statement: str
    says: str
    before: tuple[str, ...] = ()
    result: tuple[tuple[Any, ...], ...] | None = None
    rows: tuple[tuple[Any, ...], ...] = ROWS
    operation: str | None = None
    parameters: dict[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ("id", "name", "part")
    error: str | None = None
    by_name_only: bool = False


_MAPPED = "ALTER TABLE {t} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"

EXAMPLES: tuple[Example, ...] = (
    # Reading.
    Example(
        group="Reading",
        statement="SELECT id, name FROM {t} WHERE part = 1 ORDER BY id",
        says="by name, or by path as ``delta.`/path` ``; filters skip partitions and files",
        result=((1, "a"), (2, "b")),
    ),
    Example(
        group="Reading",
        statement="SELECT count(*) FROM {t} VERSION AS OF 0",
        says="an earlier version; also `TIMESTAMP AS OF`",
        result=((0,),),
    ),
    Example(
        group="Reading",
        statement="WITH x AS (SELECT max(id) AS m FROM {t}) SELECT name FROM {t} WHERE id = "
        "(SELECT m FROM x)",
        says="CTEs, subqueries, joins, views and parameters are Spark's",
        result=(("c",),),
    ),
    # Inserting.
    Example(
        group="Inserting",
        statement="INSERT INTO {t} VALUES (4, 'd', 2)",
        says="columns go by position",
        result=(),
        rows=(*ROWS, (4, "d", 2)),
        operation="WRITE",
        parameters={"mode": "Append", "partitionBy": "[]"},
    ),
    Example(
        group="Inserting",
        statement="INSERT INTO {t} (part, id) SELECT 5, 9",
        says="columns that are left out get their default, identity, generated value or NULL",
        result=(),
        rows=(*ROWS, (9, None, 5)),
        operation="WRITE",
        parameters={"mode": "Append", "partitionBy": "[]"},
    ),
    Example(
        group="Inserting",
        statement="INSERT INTO {t} BY NAME SELECT 5 AS part, 9L AS id",
        says="columns go by their names",
        rows=(*ROWS, (9, None, 5)),
        operation="WRITE",
        parameters={"mode": "Append"},
    ),
    Example(
        group="Inserting",
        statement="INSERT INTO {t} PARTITION (part = 7) SELECT 9L, 'x'",
        says="into one partition",
        rows=(*ROWS, (9, "x", 7)),
        operation="WRITE",
        parameters={"mode": "Append"},
    ),
    Example(
        group="Inserting",
        statement="INSERT OVERWRITE {t} SELECT 9L, 'x', 2",
        says="replaces all rows; with `spark.sql.sources.partitionOverwriteMode` = `dynamic` "
        "those of the partitions that are written",
        rows=((9, "x", 2),),
        operation="WRITE",
        parameters={"mode": "Overwrite"},
    ),
    Example(
        group="Inserting",
        statement="INSERT OVERWRITE {t} PARTITION (part = 1) SELECT 9L, 'x'",
        says="replaces one partition",
        rows=((3, "c", 2), (9, "x", 1)),
        operation="WRITE",
        parameters={"mode": "Overwrite"},
    ),
    Example(
        group="Inserting",
        statement="INSERT INTO {t} REPLACE WHERE part = 1 SELECT 9L, 'x', 1",
        says="replaces the rows that the condition is true of",
        rows=((3, "c", 2), (9, "x", 1)),
        operation="WRITE",
        parameters={"mode": "Overwrite"},
    ),
    Example(
        group="Inserting",
        statement="INSERT INTO {t} VALUES (4, 'd')",
        says="more or fewer columns than the table has are refused",
        error="DELTA_INSERT_COLUMN_ARITY_MISMATCH",
    ),
    # Changing rows.
    Example(
        group="Changing rows",
        statement="DELETE FROM {t} WHERE id = 2",
        says="returns the number of rows",
        result=((1,),),
        rows=((1, "a", 1), (3, "c", 2)),
        operation="DELETE",
    ),
    Example(
        group="Changing rows",
        statement="UPDATE {t} AS x SET name = upper(x.name) WHERE x.part = 1",
        says="returns the number of rows",
        result=((2,),),
        rows=((1, "A", 1), (2, "B", 1), (3, "c", 2)),
        operation="UPDATE",
    ),
    Example(
        group="Changing rows",
        statement="MERGE INTO {t} AS t USING (SELECT 3L AS id, 'z' AS name UNION ALL "
        "SELECT 9L, 'n') AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET name = s.name "
        "WHEN NOT MATCHED THEN INSERT (id, name, part) VALUES (s.id, s.name, 7) "
        "WHEN NOT MATCHED BY SOURCE AND t.id = 1 THEN DELETE",
        says="returns the numbers of rows: affected, updated, deleted, inserted",
        result=((3, 1, 1, 1),),
        rows=((2, "b", 1), (3, "z", 2), (9, "n", 7)),
        operation="MERGE",
    ),
    Example(
        group="Changing rows",
        statement="MERGE WITH SCHEMA EVOLUTION INTO {t} AS t USING (SELECT 3L AS id, 'z' AS name, "
        "2 AS part, true AS more) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * "
        "WHEN NOT MATCHED THEN INSERT *",
        says="adds columns that the table lacks",
        result=((1, 1, 0, 0),),
        rows=((1, "a", 1, None), (2, "b", 1, None), (3, "z", 2, True)),
        columns=("id", "name", "part", "more"),
        operation="MERGE",
    ),
    Example(
        group="Changing rows",
        statement="DELETE FROM {t} WHERE id IN (SELECT 2)",
        says="a subquery in a condition is refused, as in delta-spark",
        error="DELTA_UNSUPPORTED_SUBQUERY",
    ),
    Example(
        group="Changing rows",
        statement="TRUNCATE TABLE {t}",
        says="removes all rows",
        result=(),
        rows=(),
        operation="TRUNCATE",
    ),
    # Tables.
    Example(
        group="Tables",
        statement="CREATE TABLE IF NOT EXISTS {t} (other INT) USING delta",
        says="does nothing where there is a table",
        result=(),
    ),
    Example(
        group="Tables",
        statement="CREATE TABLE {t} (other INT) USING delta",
        says="is refused where there is a table; clauses are `PARTITIONED BY`, `CLUSTER BY`, "
        "`LOCATION`, `COMMENT`, `TBLPROPERTIES`, `AS`, and of a column `NOT NULL`, `COMMENT`, "
        "`DEFAULT`, `GENERATED ALWAYS AS (...)` and `GENERATED ... AS IDENTITY`",
        error="TABLE_OR_VIEW_ALREADY_EXISTS",
    ),
    Example(
        group="Tables",
        statement="CREATE OR REPLACE TABLE {t} USING delta AS SELECT 7L AS x",
        says="a new table in the place of the old, whose history stays",
        result=(),
        rows=((7,),),
        columns=("x",),
        operation="CREATE OR REPLACE TABLE AS SELECT",
        parameters={"partitionBy": "[]", "clusterBy": "[]", "properties": "{}"},
    ),
    Example(
        group="Tables",
        statement="REPLACE TABLE {t} (x INT NOT NULL COMMENT 'n', y INT) USING delta "
        "TBLPROPERTIES ('k' = 'v')",
        says="the same for a table that must be there",
        result=(),
        rows=(),
        columns=("x", "y"),
        operation="REPLACE TABLE",
        parameters={"partitionBy": "[]", "properties": '{"k":"v"}'},
    ),
    Example(
        group="Tables",
        statement="DESCRIBE {t}",
        says="the columns of the log; also `EXTENDED`, `DETAIL` and `HISTORY`",
        result=(
            ("id", "bigint", None),
            ("name", "string", None),
            ("part", "int", None),
            ("# Partition Information", "", ""),
            ("# col_name", "data_type", "comment"),
            ("part", "int", None),
        ),
    ),
    Example(
        group="Tables",
        statement="SHOW TBLPROPERTIES {t} ('delta.enableChangeDataFeed')",
        says="the properties of the log",
        result=(("delta.enableChangeDataFeed", "true"),),
    ),
    Example(
        group="Tables",
        statement="SHOW COLUMNS IN {t}",
        says="the columns of the log",
        result=(("id",), ("name",), ("part",)),
    ),
    Example(
        group="Tables",
        statement="SHOW PARTITIONS {t}",
        says="a column for each partition column",
        result=((1,), (2,)),
    ),
    Example(
        group="Tables",
        statement="SHOW CREATE TABLE {t}",
        says="is refused, as in delta-spark",
        error="DELTA_OPERATION_NOT_ALLOWED",
    ),
    Example(
        group="Tables",
        statement="REFRESH TABLE {t}",
        says="is not needed: each query sees the latest version",
    ),
    # Altering.
    Example(
        group="Altering",
        statement="ALTER TABLE {t} SET TBLPROPERTIES ('delta.appendOnly' = 'true')",
        says="also `UNSET`",
        result=(),
        operation="SET TBLPROPERTIES",
        parameters={"properties": '{"delta.appendOnly":"true"}'},
    ),
    Example(
        group="Altering",
        statement="ALTER TABLE {t} ADD COLUMNS (more INT COMMENT 'c' AFTER id)",
        says="at the end, `FIRST` or `AFTER` another; also in a struct, as `s.x`",
        rows=((1, None, "a", 1), (2, None, "b", 1), (3, None, "c", 2)),
        columns=("id", "more", "name", "part"),
        operation="ADD COLUMNS",
    ),
    Example(
        group="Altering",
        statement="ALTER TABLE {t} RENAME COLUMN name TO title",
        says="of a table with column mapping",
        before=(_MAPPED,),
        columns=("id", "title", "part"),
        operation="RENAME COLUMN",
        parameters={"oldColumnPath": "name", "newColumnPath": "title"},
    ),
    Example(
        group="Altering",
        statement="ALTER TABLE {t} DROP COLUMN name",
        says="of a table with column mapping",
        before=(_MAPPED,),
        rows=((1, 1), (2, 1), (3, 2)),
        columns=("id", "part"),
        operation="DROP COLUMNS",
    ),
    Example(
        group="Altering",
        statement="ALTER TABLE {t} RENAME COLUMN name TO title",
        says="without column mapping, renaming is refused",
        error="DELTA_UNSUPPORTED_RENAME_COLUMN",
    ),
    Example(
        group="Altering",
        statement="ALTER TABLE {t} DROP COLUMN name",
        says="and so is dropping",
        error="DELTA_UNSUPPORTED_DROP_COLUMN",
    ),
    Example(
        group="Altering",
        statement="ALTER TABLE {t} ALTER COLUMN name SET DEFAULT 'none'",
        says="also `TYPE` (a wider one), `COMMENT`, `FIRST`, `AFTER`, `DROP NOT NULL`, "
        "`DROP DEFAULT`",
        operation="CHANGE COLUMN",
    ),
    Example(
        group="Altering",
        statement="ALTER TABLE {t} ADD CONSTRAINT low CHECK (id < 100)",
        says="also `DROP CONSTRAINT`, `DROP FEATURE`, `CLUSTER BY`, `SYNC IDENTITY`",
        result=(),
        operation="ADD CONSTRAINT",
        parameters={"name": "low", "expr": "id < 100"},
    ),
    # Care.
    Example(
        group="Care",
        statement="OPTIMIZE {t} WHERE part = 1",
        says="also `FULL` and `ZORDER BY`; `REORG TABLE ... APPLY (PURGE)`",
    ),
    Example(
        group="Care",
        statement="VACUUM {t} DRY RUN",
        says="names the files; without `DRY RUN` deletes them",
        result=(),
    ),
    Example(
        group="Care",
        statement="RESTORE TABLE {t} TO VERSION AS OF 0",
        says="also `TIMESTAMP AS OF`",
        rows=(),
        operation="RESTORE",
    ),
    # Names.
    Example(
        group="Names",
        statement="ALTER TABLE {t} RENAME TO renamed_by_an_example",
        says="of a table by its path is refused",
        error="DELTA_OPERATION_NOT_ALLOWED",
    ),
    Example(
        group="Names",
        statement="DROP TABLE {t}",
        says="of a table by its path is refused; a managed table is deleted with its name",
        error="DELTA_OPERATION_NOT_ALLOWED",
    ),
)
"""Every example, in the order of the documentation."""

PATH_ONLY = frozenset({"Names"})
"""Groups whose examples are about tables by path."""


def statements_markdown() -> str:
    """Return the examples as tables, one for each group."""
    lines: list[str] = []
    for group in dict.fromkeys(example.group for example in EXAMPLES):
        lines += [f"### {group}", "", "| statement | |", "|---|---|"]
        for example in EXAMPLES:
            if example.group == group:
                lines.append(f"| `{_shown(example.statement)}` | {_told(example)} |")
        lines.append("")
    return "\n".join(lines)


def _shown(statement: str) -> str:
    return statement.replace("{t}", "t")


def _told(example: Example) -> str:
    if example.error is not None:
        return f"{example.says} (`{example.error}`)"
    if example.operation is not None:
        return f"{example.says}; in the history: `{example.operation}`"
    return example.says

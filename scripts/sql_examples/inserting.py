"""Examples of INSERT."""

from __future__ import annotations

from functools import partial

from scripts.sql_examples.example import NO_PARAMETERS, ROWS, Example

_Insert = partial(Example, group="Inserting", result=(), operation="WRITE")
_Refused = partial(Example, group="Inserting")
_APPEND = {"mode": "Append", "partitionBy": "[]"}
_OVERWRITE = {"mode": "Overwrite", "partitionBy": "[]"}
_DYNAMIC = {"spark.sql.sources.partitionOverwriteMode": "dynamic"}

INSERTING = (
    _Insert(
        statement="INSERT INTO {t} VALUES (4, 'd', 2)",
        says="columns go by position",
        rows=(*ROWS, (4, "d", 2)),
        parameters=_APPEND,
    ),
    _Insert(
        statement="INSERT INTO {t} (part, id) SELECT 5, 9",
        says="columns that are left out get their default, identity, generated value or NULL",
        rows=(*ROWS, (9, None, 5)),
        parameters=_APPEND,
    ),
    _Insert(
        statement="INSERT INTO {t} VALUES (4, DEFAULT, 2)",
        before=("ALTER TABLE {t} ALTER COLUMN name SET DEFAULT 'none'",),
        says="the default of a column",
        rows=(*ROWS, (4, "none", 2)),
        parameters=_APPEND,
    ),
    _Insert(
        statement="INSERT INTO {t} BY NAME SELECT 5 AS part, 9L AS id",
        says="columns go by their names",
        rows=(*ROWS, (9, None, 5)),
        parameters=_APPEND,
    ),
    _Insert(
        statement="INSERT INTO {t} PARTITION (part = 7) SELECT 9L, 'x'",
        says="into one partition",
        rows=(*ROWS, (9, "x", 7)),
        parameters=_APPEND,
    ),
    _Insert(
        statement="INSERT INTO {t} PARTITION (part) SELECT 9L, 'x', 7",
        says="into partitions that the rows tell",
        rows=(*ROWS, (9, "x", 7)),
        parameters=_APPEND,
    ),
    _Insert(
        statement="WITH new AS (SELECT 9L AS id) INSERT INTO {t} SELECT id, 'x', 7 FROM new",
        says="with a CTE",
        rows=(*ROWS, (9, "x", 7)),
        parameters=_APPEND,
    ),
    _Insert(
        statement="INSERT INTO {t} SELECT id + 10, name, part FROM {t} WHERE id = "
        "(SELECT max(id) FROM {t})",
        says="from the table itself, as it was before",
        rows=(*ROWS, (13, "c", 2)),
        parameters=_APPEND,
    ),
    _Insert(
        statement="INSERT INTO {t} VALUES (:id, :name, 7)",
        arguments={"id": 9, "name": "x"},
        says="with parameters",
        differs=NO_PARAMETERS,
        rows=(*ROWS, (9, "x", 7)),
        parameters=_APPEND,
    ),
    _Insert(
        statement="INSERT WITH SCHEMA EVOLUTION INTO {t} BY NAME SELECT 9L AS id, 7 AS part, "
        "true AS more",
        says="adds columns that the table lacks",
        rows=(*((*row, None) for row in ROWS), (9, None, 7, True)),
        columns=("id", "name", "part", "more"),
        parameters={"mode": "Append", "canMergeSchema": "true"},
    ),
    _Insert(
        statement="FROM {t} INSERT INTO {t} SELECT id + 10, name, part WHERE id < 3 "
        "INSERT INTO {o} SELECT id, name",
        before=("CREATE TABLE {o} (id BIGINT, name STRING) USING delta",),
        says="several inserts of the rows of one query, each a commit of its own; "
        "all are checked before the first writes",
        rows=(*ROWS, (11, "a", 1), (12, "b", 1)),
        parameters=_APPEND,
    ),
    _Insert(
        statement="WITH few AS (SELECT * FROM {t} WHERE id > 1) "
        "FROM few INSERT OVERWRITE {o} SELECT name INSERT INTO {o} SELECT upper(name)",
        before=("CREATE TABLE {o} (name STRING) USING delta",),
        says="also with a CTE, and into one table",
        makes_other=True,
        columns=("name",),
        rows=(("b",), ("c",), ("B",), ("C",)),
        parameters=_APPEND,
    ),
    _Refused(
        statement="FROM {t} INSERT INTO {t} SELECT id, name, part INSERT INTO {t} SELECT id",
        says="one of several inserts does not fit, so none is run",
        error="DELTA_INSERT_COLUMN_ARITY_MISMATCH",
    ),
    _Insert(
        statement="INSERT OVERWRITE {t} SELECT 9L, 'x', 2",
        says="replaces all rows",
        rows=((9, "x", 2),),
        parameters=_OVERWRITE,
    ),
    _Insert(
        statement="INSERT OVERWRITE TABLE {t} SELECT 9L, 'x', 2",
        settings=_DYNAMIC,
        says="with `spark.sql.sources.partitionOverwriteMode` = `dynamic` replaces the "
        "partitions that are written",
        rows=((1, "a", 1), (2, "b", 1), (9, "x", 2)),
        parameters={**_OVERWRITE, "isDynamicPartitionOverwrite": "true"},
    ),
    _Insert(
        statement="INSERT OVERWRITE {t} PARTITION (part = 1) SELECT 9L, 'x'",
        says="replaces one partition",
        rows=((3, "c", 2), (9, "x", 1)),
        parameters=_OVERWRITE,
    ),
    _Insert(
        statement="INSERT INTO {t} REPLACE WHERE part = 1 SELECT 9L, 'x', 1",
        says="replaces the rows that the condition is true of",
        rows=((3, "c", 2), (9, "x", 1)),
        parameters=_OVERWRITE,
    ),
    _Insert(
        statement="INSERT INTO {t} REPLACE WHERE id > 1 AND name IN ('b', 'c') SELECT 9L, 'c', 1",
        says="which may be about any column",
        rows=((1, "a", 1), (9, "c", 1)),
        parameters=_OVERWRITE,
    ),
    _Refused(
        statement="INSERT INTO {t} REPLACE WHERE part = 1 SELECT 9L, 'x', 2",
        says="the condition is not true for a new row",
        error="DELTA_REPLACE_WHERE_MISMATCH",
    ),
    _Refused(
        statement="INSERT INTO {t} REPLACE USING (id) SELECT 3L AS id, 'z' AS name, 2 AS part",
        says="as in delta-spark; the option `replaceUsing` of a write does this",
        error="UNSUPPORTED_FEATURE.TABLE_OPERATION",
    ),
    _Refused(
        statement="INSERT INTO {t} AS t REPLACE ON t.id = s.id "
        "(SELECT 3L AS id, 'z' AS name, 2 AS part) AS s",
        says="as in delta-spark; the option `replaceOn` of a write does this",
        error="UNSUPPORTED_FEATURE.TABLE_OPERATION",
    ),
    _Refused(
        statement="INSERT INTO {t} VALUES (4, 'd')",
        says="fewer columns than the table has",
        error="DELTA_INSERT_COLUMN_ARITY_MISMATCH",
    ),
    _Refused(
        statement="INSERT INTO {t} VALUES (4, 'd', 2, true)",
        says="more columns than the table has",
        error="DELTA_METADATA_MISMATCH",
    ),
    _Refused(
        statement="INSERT INTO {t} (id, nothing) VALUES (4, 5)",
        says="a column that is not there",
        error="UNRESOLVED_COLUMN.WITH_SUGGESTION",
    ),
    _Insert(
        statement="INSERT INTO {t} VALUES ('4', 5, 2L)",
        says="values are cast to the types of the table",
        rows=(*ROWS, (4, "5", 2)),
        parameters=_APPEND,
    ),
    _Refused(
        statement="INSERT INTO {t} VALUES (4, 'd', 3000000000)",
        says="a number that does not fit the column",
        error="CAST_OVERFLOW_IN_TABLE_INSERT",
    ),
    _Refused(
        statement="INSERT INTO a_view VALUES (4, 'd', 2)",
        before=("CREATE OR REPLACE TEMPORARY VIEW a_view AS SELECT * FROM {t}",),
        says="a view takes no rows",
        error="EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE",
    ),
    _Refused(
        statement="INSERT INTO {t} VALUES ('no number', 'd', 2)",
        says="a text that is not a number",
        error="CAST_INVALID_INPUT",
    ),
)

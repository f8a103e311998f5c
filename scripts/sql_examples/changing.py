"""Examples of DELETE, UPDATE, MERGE and TRUNCATE."""

from __future__ import annotations

from functools import partial

from scripts.sql_examples.example import NO_PARAMETERS, ROWS, Example

_Change = partial(Example, group="Changing rows")
_VIEW = "CREATE OR REPLACE TEMPORARY VIEW a_view AS SELECT * FROM {t}"
_MERGE = "MERGE INTO {t} AS t USING (SELECT 3L AS id, 'z' AS name, 2 AS part) AS s ON t.id = s.id "

CHANGING = (
    _Change(
        statement="DELETE FROM {t} WHERE id = 2",
        says="returns the number of rows",
        result=((1,),),
        rows=((1, "a", 1), (3, "c", 2)),
        operation="DELETE",
    ),
    _Change(
        statement="DELETE FROM {t}",
        says="deletes all rows",
        result=((3,),),
        rows=(),
        operation="DELETE",
        parameters={"predicate": '["true"]'},
    ),
    _Change(
        statement="DELETE FROM {t} AS x WHERE x.part = :part",
        arguments={"part": 1},
        says="with a parameter",
        differs=NO_PARAMETERS,
        result=((2,),),
        rows=((3, "c", 2),),
        operation="DELETE",
    ),
    _Change(
        statement="DELETE FROM {t} WHERE id = 2",
        before=("ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",),
        says="marks rows in deletion vectors, where the table has them",
        result=((1,),),
        rows=((1, "a", 1), (3, "c", 2)),
        operation="DELETE",
    ),
    _Change(
        statement="DELETE FROM {t} WHERE id IN (SELECT 2)",
        says="a subquery in a condition, as in delta-spark",
        error="DELTA_UNSUPPORTED_SUBQUERY",
    ),
    _Change(
        statement="DELETE FROM {t} AS d WHERE EXISTS (SELECT 1 FROM range(3) r WHERE r.id = d.id)",
        settings={"spark.databricks.delta.delete.allowExistsSubquery": "true"},
        says="`EXISTS` and `NOT EXISTS`, with the setting "
        "`spark.databricks.delta.delete.allowExistsSubquery`, as in delta-spark",
        result=((2,),),
        rows=((3, "c", 2),),
        operation="DELETE",
        parameters={
            "predicate": '["EXISTS (SELECT 1 FROM range(3) r WHERE r.id = d.id)"]',
        },
        differs="the history of delta-spark has numbers of expressions",
    ),
    _Change(
        statement="DELETE FROM {t} WHERE nothing = 1",
        says="a column that is not there",
        error="UNRESOLVED_COLUMN.WITH_SUGGESTION",
    ),
    _Change(
        statement="DELETE FROM a_view WHERE id = 2",
        before=(_VIEW,),
        says="through a temporary view that is all of a table",
        result=((1,),),
        rows=((1, "a", 1), (3, "c", 2)),
        operation="DELETE",
    ),
    _Change(
        statement="DELETE FROM a_view WHERE id = 2",
        before=("CREATE OR REPLACE TEMPORARY VIEW a_view AS SELECT * FROM {t} WHERE part = 1",),
        says="the view is not all of a table",
        error="DELTA_UNEXPECTED_PARTIAL_SCAN",
    ),
    _Change(
        statement="UPDATE {t} AS x SET name = upper(x.name) WHERE x.part = 1",
        says="returns the number of rows",
        result=((2,),),
        rows=((1, "A", 1), (2, "B", 1), (3, "c", 2)),
        operation="UPDATE",
    ),
    _Change(
        statement="UPDATE {t} SET name = 'z', part = part + 1",
        says="changes all rows",
        result=((3,),),
        rows=((1, "z", 2), (2, "z", 2), (3, "z", 3)),
        operation="UPDATE",
        parameters={"predicate": "[]"},
    ),
    _Change(
        statement="UPDATE {t} SET name = DEFAULT WHERE id = 1",
        before=("ALTER TABLE {t} ALTER COLUMN name SET DEFAULT 'none'",),
        says="the default of a column",
        result=((1,),),
        rows=((1, "none", 1), (2, "b", 1), (3, "c", 2)),
        operation="UPDATE",
    ),
    _Change(
        statement="UPDATE {t} SET name = (SELECT max(name) FROM {t}) WHERE id = 1",
        says="a subquery as a value",
        result=((1,),),
        rows=((1, "c", 1), (2, "b", 1), (3, "c", 2)),
        operation="UPDATE",
    ),
    _Change(
        statement="UPDATE {t} SET part = '7' WHERE id = 1",
        says="a text is cast to the type of its column",
        result=((1,),),
        rows=((1, "a", 7), (2, "b", 1), (3, "c", 2)),
        operation="UPDATE",
    ),
    _Change(
        statement="UPDATE {t} SET name = 'z' WHERE id IN (SELECT 2)",
        says="a subquery in a condition, as in delta-spark",
        error="DELTA_UNSUPPORTED_SUBQUERY",
    ),
    _Change(
        statement="UPDATE {t} SET nothing = 1",
        says="a column that is not there",
        error="UNRESOLVED_COLUMN.WITH_SUGGESTION",
    ),
    _Change(
        statement="UPDATE a_view SET name = 'z' WHERE id = 2",
        before=(_VIEW,),
        says="through a temporary view that is all of a table",
        result=((1,),),
        rows=((1, "a", 1), (2, "z", 1), (3, "c", 2)),
        operation="UPDATE",
    ),
    _Change(
        statement="MERGE INTO {t} AS t USING (SELECT 3L AS id, 'z' AS name UNION ALL "
        "SELECT 9L, 'n') AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET name = s.name "
        "WHEN NOT MATCHED THEN INSERT (id, name, part) VALUES (s.id, s.name, 7) "
        "WHEN NOT MATCHED BY SOURCE AND t.id = 1 THEN DELETE",
        says="returns the numbers of rows: affected, updated, deleted, inserted",
        result=((3, 1, 1, 1),),
        rows=((2, "b", 1), (3, "z", 2), (9, "n", 7)),
        operation="MERGE",
    ),
    _Change(
        statement=_MERGE + "WHEN MATCHED AND s.name = 'z' THEN DELETE",
        says="deletes what matches",
        result=((1, 0, 1, 0),),
        rows=((1, "a", 1), (2, "b", 1)),
        operation="MERGE",
    ),
    _Change(
        statement="WITH s AS (SELECT 4L AS id, 'd' AS name, 2 AS part) MERGE INTO {t} AS t USING s "
        "ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
        says="from a CTE, a query or a table",
        result=((1, 0, 0, 1),),
        rows=(*ROWS, (4, "d", 2)),
        operation="MERGE",
    ),
    _Change(
        statement="MERGE WITH SCHEMA EVOLUTION INTO {t} AS t USING (SELECT 3L AS id, 'z' AS name, "
        "2 AS part, true AS more) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * "
        "WHEN NOT MATCHED THEN INSERT *",
        says="adds columns that the table lacks",
        result=((1, 1, 0, 0),),
        rows=((1, "a", 1, None), (2, "b", 1, None), (3, "z", 2, True)),
        columns=("id", "name", "part", "more"),
        operation="MERGE",
    ),
    _Change(
        statement="MERGE INTO a_view AS t USING (SELECT 3L AS id) AS s ON t.id = s.id "
        "WHEN MATCHED THEN DELETE",
        before=(_VIEW,),
        says="into a temporary view that is all of a table",
        result=((1, 0, 1, 0),),
        rows=((1, "a", 1), (2, "b", 1)),
        operation="MERGE",
    ),
    _Change(
        statement=_MERGE + "AND t.id IN (SELECT 3) WHEN MATCHED THEN DELETE",
        says="a subquery in a condition, as in delta-spark",
        error="DELTA_UNSUPPORTED_SUBQUERY",
    ),
    _Change(
        statement="MERGE INTO {t} AS t USING (SELECT 3L AS id UNION ALL SELECT 3L) AS s "
        "ON t.id = s.id WHEN MATCHED THEN UPDATE SET name = 'z'",
        says="two rows of the source match one row of the table",
        error="DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE",
    ),
    _Change(
        statement="MERGE INTO {t} AS t USING (SELECT 3L AS id) AS s ON id = 3 "
        "WHEN MATCHED THEN DELETE",
        says="two columns have the name",
        error="AMBIGUOUS_REFERENCE",
    ),
    _Change(
        statement="UPDATE {t} SET name = 'y', name = 'z'",
        says="two values for one column",
        error="DELTA_CONFLICT_SET_COLUMN",
    ),
    _Change(
        statement="MERGE INTO {t} AS t USING (SELECT 3L AS id) AS s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET name = 'y', name = 'z'",
        says="two values for one column",
        error="DELTA_CONFLICT_SET_COLUMN",
    ),
    _Change(
        statement="MERGE INTO {t} AS t USING (SELECT 4L AS id) AS s ON t.id = s.id "
        "WHEN NOT MATCHED THEN INSERT (id, id) VALUES (s.id, 5)",
        says="two values for one column of an insert",
        error="DELTA_DUPLICATE_COLUMNS_ON_INSERT",
    ),
    _Change(
        statement="TRUNCATE TABLE {t}",
        says="removes all rows",
        result=(),
        rows=(),
        operation="TRUNCATE",
    ),
    _Change(
        statement="TRUNCATE TABLE {t} PARTITION (part = 1)",
        says="one partition, as in delta-spark; a `DELETE` with a condition removes its rows",
        error="DELTA_TRUNCATE_TABLE_PARTITION_NOT_SUPPORTED",
    ),
    _Change(
        statement="EXECUTE IMMEDIATE 'DELETE FROM {t} WHERE id = ?' USING 2",
        says="a statement that is a text",
        differs=NO_PARAMETERS,
        result=((1,),),
        rows=((1, "a", 1), (3, "c", 2)),
        operation="DELETE",
    ),
    _Change(
        statement="BEGIN DECLARE number BIGINT DEFAULT 2; INSERT INTO {t} VALUES (4, 'd', 2); "
        "DELETE FROM {t} WHERE id = number; END",
        says="a script of several statements",
        rows=((1, "a", 1), (3, "c", 2), (4, "d", 2)),
        operation="DELETE",
    ),
)

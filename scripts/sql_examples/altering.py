"""Examples of ALTER TABLE."""

from __future__ import annotations

from functools import partial

from scripts.sql_examples.example import MAPPED, ROWS, Example

_Alter = partial(Example, group="Altering")
_FEW = "ALTER TABLE {t} ADD CONSTRAINT low CHECK (id < 100)"

ALTERING = (
    _Alter(
        statement="ALTER TABLE {t} SET TBLPROPERTIES ('delta.appendOnly' = 'true', 'k' = 'v')",
        says="properties of Delta, and one's own",
        result=(),
        operation="SET TBLPROPERTIES",
        parameters={"properties": '{"delta.appendOnly":"true","k":"v"}'},
    ),
    _Alter(
        statement="ALTER TABLE {t} SET TBLPROPERTIES ('comment' = 'words')",
        says="the description of the table",
        result=(),
        operation="SET TBLPROPERTIES",
    ),
    _Alter(
        statement="ALTER TABLE {t} UNSET TBLPROPERTIES IF EXISTS "
        "('delta.enableChangeDataFeed', 'nothing')",
        says="takes them away",
        result=(),
        operation="UNSET TBLPROPERTIES",
        parameters={"ifExists": "true"},
    ),
    _Alter(
        statement="ALTER TABLE {t} SET TBLPROPERTIES ('delta.feature.deletionVectors' = "
        "'supported')",
        says="a table feature",
        result=(),
        operation="SET TBLPROPERTIES",
    ),
    _Alter(
        statement="ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')",
        says="rows that are there get ids first, in commits of their own; "
        "`_metadata.row_id` shows them",
        result=(),
        operation="SET TBLPROPERTIES",
    ),
    _Alter(
        statement="ALTER TABLE {t} ADD COLUMNS (more INT COMMENT 'c' AFTER id, last STRING)",
        says="at the end, `FIRST` or `AFTER` another; also in a struct, as `s.x`",
        result=(),
        rows=tuple((row[0], None, *row[1:], None) for row in ROWS),
        columns=("id", "more", "name", "part", "last"),
        operation="ADD COLUMNS",
    ),
    _Alter(
        statement="ALTER TABLE {t} ADD COLUMN more INT DEFAULT 3",
        says="a default in the same step, as in delta-spark; `SET DEFAULT` sets it later",
        error="WRONG_COLUMN_DEFAULTS_FOR_DELTA_ALTER_TABLE_ADD_COLUMN_NOT_SUPPORTED",
    ),
    _Alter(
        statement="ALTER TABLE {t} ADD COLUMN Name INT",
        says="another column has the name",
        error="FIELD_ALREADY_EXISTS",
    ),
    _Alter(
        statement="ALTER TABLE {t} RENAME COLUMN name TO title",
        says="of a table with column mapping",
        before=(MAPPED,),
        result=(),
        columns=("id", "title", "part"),
        operation="RENAME COLUMN",
        parameters={"oldColumnPath": "name", "newColumnPath": "title"},
    ),
    _Alter(
        statement="ALTER TABLE {t} RENAME COLUMN name TO title",
        says="the table has no column mapping",
        error="DELTA_UNSUPPORTED_RENAME_COLUMN",
    ),
    _Alter(
        statement="ALTER TABLE {t} DROP COLUMN name",
        says="of a table with column mapping",
        before=(MAPPED,),
        result=(),
        rows=((1, 1), (2, 1), (3, 2)),
        columns=("id", "part"),
        operation="DROP COLUMNS",
    ),
    _Alter(
        statement="ALTER TABLE {t} DROP COLUMN name",
        says="the table has no column mapping",
        error="DELTA_UNSUPPORTED_DROP_COLUMN",
    ),
    _Alter(
        statement="ALTER TABLE {t} ALTER COLUMN name SET DEFAULT 'none'",
        says="also `DROP DEFAULT`",
        result=(),
        operation="CHANGE COLUMN",
    ),
    _Alter(
        statement="ALTER TABLE {t} ALTER COLUMN name COMMENT 'words'",
        says="the comment of a column",
        result=(),
        operation="CHANGE COLUMN",
    ),
    _Alter(
        statement="ALTER TABLE {t} ALTER COLUMN name FIRST",
        says="its place, or `AFTER` another",
        result=(),
        rows=tuple((row[1], row[0], row[2]) for row in ROWS),
        columns=("name", "id", "part"),
        operation="CHANGE COLUMN",
    ),
    _Alter(
        statement="ALTER TABLE {t} ALTER COLUMN id COMMENT 'key', name FIRST",
        says="several columns at once",
        result=(),
        rows=tuple((row[1], row[0], row[2]) for row in ROWS),
        columns=("name", "id", "part"),
        operation="CHANGE COLUMNS",
    ),
    _Alter(
        statement="ALTER TABLE {t} CHANGE COLUMN id id BIGINT COMMENT 'key' AFTER name",
        says="all of it, as Hive writes it",
        result=(),
        rows=tuple((row[1], row[0], row[2]) for row in ROWS),
        columns=("name", "id", "part"),
        operation="CHANGE COLUMN",
    ),
    _Alter(
        statement="ALTER TABLE {t} ALTER COLUMN part TYPE BIGINT",
        before=("ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')",),
        says="a wider type",
        result=(),
        operation="CHANGE COLUMN",
    ),
    _Alter(
        statement="ALTER TABLE {t} ALTER COLUMN id TYPE INT",
        says="a type that is not wider",
        error="NOT_SUPPORTED_CHANGE_COLUMN",
    ),
    _Alter(
        statement="ALTER TABLE {t} ALTER COLUMN name SET NOT NULL",
        says="NOT NULL for a column that may be NULL; `DROP NOT NULL` works",
        error="_LEGACY_ERROR_TEMP_2330",
    ),
    _Alter(
        statement="ALTER TABLE {t} REPLACE COLUMNS (id BIGINT COMMENT 'key', name STRING, "
        "more INT, part INT)",
        says="adds, moves and describes columns",
        result=(),
        rows=tuple((row[0], row[1], None, row[2]) for row in ROWS),
        columns=("id", "name", "more", "part"),
        operation="REPLACE COLUMNS",
    ),
    _Alter(
        statement=_FEW,
        says="is true of the rows that are there, and from then on",
        result=(),
        operation="ADD CONSTRAINT",
        parameters={"name": "low", "expr": "id < 100"},
    ),
    _Alter(
        statement="INSERT INTO {t} VALUES (200, 'x', 1)",
        before=(_FEW,),
        says="the constraint is not true for a new row",
        error="DELTA_VIOLATE_CONSTRAINT_WITH_VALUES",
    ),
    _Alter(
        statement="ALTER TABLE {t} ADD CONSTRAINT low CHECK (id < 2)",
        says="the constraint is not true for a row of the table",
        error="DELTA_NEW_CHECK_CONSTRAINT_VIOLATION",
    ),
    _Alter(
        statement="ALTER TABLE {t} DROP CONSTRAINT low",
        before=(_FEW,),
        says="also `DROP CONSTRAINT IF EXISTS`",
        result=(),
        operation="DROP CONSTRAINT",
        parameters={"name": "low", "expr": "id < 100", "existed": "true"},
    ),
    _Alter(
        statement="ALTER TABLE {t} DROP CONSTRAINT IF EXISTS low",
        says="commits, though there is none",
        result=(),
        operation="DROP CONSTRAINT",
        parameters={"name": "low", "existed": "false"},
    ),
    _Alter(
        statement="ALTER TABLE {t} DROP CONSTRAINT low",
        says="there is no such constraint",
        error="DELTA_CONSTRAINT_DOES_NOT_EXIST",
    ),
    _Alter(
        statement="ALTER TABLE {o} CLUSTER BY (name, id)",
        before=("CREATE TABLE {o} (id BIGINT, name STRING) USING delta",),
        says="columns to cluster by; `NONE` takes them away",
        result=(),
        rows=(),
        columns=("id", "name"),
        makes_other=True,
        operation="CLUSTER BY",
        parameters={"oldClusteringColumns": "", "newClusteringColumns": "name,id"},
    ),
    _Alter(
        statement="ALTER TABLE {o} CLUSTER BY NONE",
        before=("CREATE TABLE {o} (id BIGINT, name STRING) USING delta CLUSTER BY (id)",),
        says="no clustering from now on",
        result=(),
        rows=(),
        columns=("id", "name"),
        makes_other=True,
        operation="CLUSTER BY",
        parameters={"oldClusteringColumns": "id", "newClusteringColumns": ""},
    ),
    _Alter(
        statement="ALTER TABLE {t} CLUSTER BY (id)",
        says="the table has partitions",
        error="DELTA_ALTER_TABLE_CLUSTER_BY_ON_PARTITIONED_TABLE_NOT_ALLOWED",
    ),
    _Alter(
        statement="ALTER TABLE {o} ALTER COLUMN n SYNC IDENTITY",
        before=(
            "CREATE TABLE {o} (n BIGINT GENERATED BY DEFAULT AS IDENTITY, x INT) USING delta",
            "INSERT INTO {o} VALUES (7, 1)",
        ),
        says="lets an identity column go on after the values that are there",
        result=(),
        rows=((7, 1),),
        columns=("n", "x"),
        makes_other=True,
    ),
    _Alter(
        statement="ALTER TABLE {t} DROP FEATURE deletionVectors",
        before=(
            "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
            "DELETE FROM {t} WHERE id = 2",
        ),
        says="takes a feature away, here after the files with vectors were rewritten; "
        "also with `TRUNCATE HISTORY`",
        differs="delta-spark makes empty commits before it",
        result=(),
        rows=(ROWS[0], ROWS[2]),
        operation="DROP FEATURE",
        parameters={"featureName": "deletionVectors", "truncateHistory": "false"},
    ),
    _Alter(
        statement="ALTER TABLE {t} DROP FEATURE nothing",
        says="the table has no such feature",
        error="DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE",
    ),
    _Alter(
        statement="ALTER TABLE {t} ADD PARTITION (part = 9)",
        says="partitions come with their rows",
        error="INVALID_PARTITION_OPERATION.PARTITION_MANAGEMENT_IS_UNSUPPORTED",
    ),
    _Alter(
        statement="ALTER TABLE {t} ADD CONSTRAINT low CHECK",
        says="a syntax error marks its place",
        error="PARSE_SYNTAX_ERROR",
    ),
)

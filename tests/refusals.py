"""Requests that both engines refuse, with the exception, the error class and the SQLSTATE of it.

delta-spark's process imports this by itself, so nothing but the standard library and pyspark may be
imported here. A case is Python that sees `spark`, `DeltaTable` and `p`, a folder; what it names is
made by BEFORE. A case of one line of SQL is that line.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pyspark.errors import PySparkException

ANALYSIS, PARSE, ILLEGAL = "AnalysisException", "ParseException", "IllegalArgumentException"

BEFORE = (
    "CREATE TABLE refused (id INT, v STRING, m MAP<STRING, INT>, s STRUCT<x: INT>, "
    "l ARRAY<STRUCT<x: INT, y: INT>>) USING delta",
    "CREATE TABLE refused_parts (id INT, v STRING) USING delta PARTITIONED BY (v)",
    "CREATE TABLE refused_dropped (id INT, s STRUCT<x: INT>, v STRING) USING delta "
    "PARTITIONED BY (v) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
    "CREATE TABLE refused_odd (id INT, `a b` INT, s STRUCT<x: INT, y: STRUCT<z: INT>>) USING delta "
    "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
    "CREATE TABLE refused_parquet (id INT, v STRING) USING parquet",
    "CREATE TABLE refused_csv (id INT) USING csv",
    "CREATE VIEW refused_view AS SELECT * FROM refused",
    "CREATE TEMPORARY VIEW refused_temporary AS SELECT 1 AS id",
    "CREATE TABLE delta.`{p}/t` (id INT, v STRING) USING delta",
    "CREATE TABLE delta.`{p}/parts` (id INT COMMENT 'key', v STRING) USING delta "
    "PARTITIONED BY (v) TBLPROPERTIES ('k' = 'v')",
    "CREATE TABLE refused_clustered (id INT, n INT, v INT GENERATED ALWAYS AS (n + 1)) "
    "USING delta CLUSTER BY (id) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
    "CREATE TABLE refused_rows (id INT NOT NULL, n INT) USING delta",
    "ALTER TABLE refused_rows ADD CONSTRAINT above CHECK (n > 0)",
    "INSERT INTO refused VALUES (1, 'a', NULL, NULL, NULL)",
    "INSERT INTO refused_parts VALUES (1, 'a')",
    "INSERT INTO delta.`{p}/t` VALUES (1, 'a')",
)
AFTER = (
    "DROP VIEW refused_temporary",
    "DROP VIEW refused_view",
    "DROP TABLE refused_dropped",
    "DROP TABLE refused_clustered",
    "DROP TABLE refused_csv",
    "DROP TABLE refused_odd",
    "DROP TABLE refused_parquet",
    "DROP TABLE refused_parts",
    "DROP TABLE refused_rows",
    "DROP TABLE refused",
)


class Refusal(NamedTuple):
    """One request, and how it is refused."""

    request: str
    exception: str
    error: str
    state: str


def _each(requests: str, exception: str, error: str, state: str) -> tuple[Refusal, ...]:
    lines = (line.strip() for line in requests.strip().splitlines())
    return tuple(Refusal(line, exception, error, state) for line in lines)


_LOAD = 'spark.read.format("delta")'
_DATA = 'spark.sql("SELECT {}").write.format("delta")'
_APPEND = f'{_DATA}.mode("append").save(p + "/t")'
_TABLE = 'DeltaTable.forPath(spark, p + "/t")'

_NAMES = (
    *_each(
        """
        OPTIMIZE no_such_table
        VACUUM no_such_table
        DESCRIBE HISTORY no_such_table
        DESCRIBE DETAIL no_such_table
        RESTORE TABLE no_such_table TO VERSION AS OF 0
        CREATE TABLE refused_clone SHALLOW CLONE no_such_table
        SELECT * FROM table_changes('no_such_table', 0)
        GENERATE symlink_format_manifest FOR TABLE no_such_table
        ALTER TABLE no_such_table ADD CONSTRAINT c CHECK (id > 1)
        ALTER TABLE no_such_table DROP FEATURE deletionVectors
        ALTER TABLE no_such_table CLUSTER BY (id)
        REORG TABLE no_such_table APPLY (PURGE)
        CONVERT TO DELTA no_such_table
        RESTORE TABLE refused_parquet TO VERSION AS OF 0
        """,
        ANALYSIS,
        "TABLE_OR_VIEW_NOT_FOUND",
        "42P01",
    ),
    *_each(
        """
        OPTIMIZE refused_parquet
        VACUUM refused_parquet
        DESCRIBE HISTORY refused_parquet
        GENERATE symlink_format_manifest FOR TABLE refused_parquet
        ALTER TABLE refused_parquet CLUSTER BY (id)
        RESTORE TABLE refused_view TO VERSION AS OF 0
        REORG TABLE delta.`{p}/none` APPLY (PURGE)
        """,
        ANALYSIS,
        "DELTA_ONLY_OPERATION",
        "0AKDD",
    ),
    *_each(
        """
        SELECT * FROM table_changes('refused_parquet', 0)
        SELECT * FROM table_changes('refused_view', 0)
        VACUUM '{p}/none'
        OPTIMIZE '{p}/none'
        DESCRIBE HISTORY '{p}/none'
        DESCRIBE HISTORY delta.`{p}/none`
        """,
        ANALYSIS,
        "DELTA_TABLE_ONLY_OPERATION",
        "0AKDD",
    ),
    *_each(
        """
        OPTIMIZE refused_view
        VACUUM refused_temporary
        DESCRIBE HISTORY refused_view
        DESCRIBE DETAIL refused_view
        REORG TABLE refused_view APPLY (PURGE)
        """,
        ANALYSIS,
        "EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE",
        "42809",
    ),
    Refusal(
        "REORG TABLE refused_parquet APPLY (PURGE)", ANALYSIS, "DELTA_NOT_A_DELTA_TABLE", "0AKDD"
    ),
    Refusal(
        "ALTER TABLE refused_parquet ALTER COLUMN id SYNC IDENTITY",
        ANALYSIS,
        "DELTA_IDENTITY_COLUMNS_ALTER_NON_DELTA_FORMAT",
        "0AKDD",
    ),
    *_each(
        """
        CREATE TABLE refused_clone SHALLOW CLONE refused_view
        CREATE TABLE refused_clone SHALLOW CLONE refused_temporary
        """,
        ANALYSIS,
        "DELTA_CLONE_UNSUPPORTED_SOURCE",
        "0AKDC",
    ),
    *_each(
        """
        DeltaTable.forName(spark, "no_such_table")
        DeltaTable.forName(spark, "refused_parquet")
        DeltaTable.forName(spark, "refused_view")
        DeltaTable.forPath(spark, p + "/none")
        OPTIMIZE delta.`{p}/none`
        VACUUM delta.`{p}/none`
        SELECT * FROM table_changes_by_path('{p}/none', 0)
        """,
        ANALYSIS,
        "DELTA_MISSING_DELTA_TABLE",
        "42P01",
    ),
    *_each(
        f"""
        {_LOAD}.load(p + "/none")
        {_LOAD}.options(readChangeFeed="true", startingVersion="0").load(p + "/none")
        SELECT * FROM delta.`{{p}}/none`
        SELECT * FROM table_changes('delta.`{{p}}/none`', 0)
        DELETE FROM delta.`{{p}}/none`
        UPDATE delta.`{{p}}/none` SET id = 1
        INSERT INTO delta.`{{p}}/none` VALUES (1)
        MERGE INTO delta.`{{p}}/none` t USING (SELECT 1 AS a) ON a = id WHEN MATCHED THEN DELETE
        """,
        ANALYSIS,
        "PATH_NOT_FOUND",
        "42K03",
    ),
    *_each(
        f"""
        {_LOAD}.load(p)
        SELECT * FROM delta.`{{p}}`
        DELETE FROM delta.`{{p}}`
        """,
        ANALYSIS,
        "DELTA_TABLE_NOT_FOUND",
        "42P01",
    ),
    Refusal(
        'spark.readStream.format("delta").load(p + "/none")',
        ANALYSIS,
        "DELTA_SCHEMA_NOT_SET",
        "KD008",
    ),
)
_COLUMNS = (
    *_each(
        """
        INSERT INTO refused_parts (id, id) VALUES (1, 2)
        INSERT INTO refused_parts (id, ID) VALUES (1, 2)
        """,
        ANALYSIS,
        "COLUMN_ALREADY_EXISTS",
        "42711",
    ),
    Refusal(
        "INSERT INTO refused_parts BY NAME SELECT 1 AS id, 2 AS ID",
        ANALYSIS,
        "DELTA_DUPLICATE_COLUMNS_FOUND.READ_SCHEMA",
        "42711",
    ),
    *_each(
        f"""
        {_APPEND.format("1 AS id, 2 AS ID")}
        {_DATA.format("1 AS id, 2 AS ID")}.save(p + "/new")
        """,
        ANALYSIS,
        "DELTA_DUPLICATE_COLUMNS_FOUND.DATA",
        "42711",
    ),
    Refusal(
        f"{_DATA.format('1 AS id, 2 AS ID')}.mode('overwrite').option('overwriteSchema', 'true')"
        ".save(p + '/t')",
        ANALYSIS,
        "DELTA_DUPLICATE_COLUMNS_FOUND.METADATA_UPDATE",
        "42711",
    ),
    *_each(
        """
        INSERT INTO refused_parts PARTITION (id = 1) SELECT 'a'
        INSERT OVERWRITE refused_parts PARTITION (id = 1) SELECT 'a'
        INSERT INTO refused_parts PARTITION (nix = 1) SELECT 1
        """,
        ANALYSIS,
        "NON_PARTITION_COLUMN",
        "42000",
    ),
    *_each(
        """
        CREATE TABLE refused_new (id INT, v INT) USING delta PARTITIONED BY (id, v)
        CREATE TABLE refused_new USING delta PARTITIONED BY (id) AS SELECT 1 AS id
        """,
        ANALYSIS,
        "ALL_PARTITION_COLUMNS_NOT_ALLOWED",
        "KD005",
    ),
    Refusal(
        f"{_DATA.format('1 AS id')}.partitionBy('id').save(p + '/new')",
        ANALYSIS,
        "DELTA_CANNOT_USE_ALL_COLUMNS_FOR_PARTITION",
        "428FT",
    ),
    Refusal(
        "CREATE TABLE refused_new (id INT, m MAP<INT, INT>) USING delta PARTITIONED BY (m)",
        ANALYSIS,
        "INVALID_PARTITION_COLUMN_DATA_TYPE",
        "0A000",
    ),
    Refusal(
        "ALTER TABLE refused CLUSTER BY (nix)",
        ANALYSIS,
        "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
        "42703",
    ),
    *_each(
        """
        ALTER TABLE refused CLUSTER BY (id, id)
        CREATE TABLE refused_new (id INT) USING delta CLUSTER BY (id, id)
        """,
        ANALYSIS,
        "DELTA_DUPLICATE_COLUMNS_FOUND.CLUSTER_BY",
        "42711",
    ),
    *_each(
        """
        ALTER TABLE refused CLUSTER BY (m)
        ALTER TABLE refused CLUSTER BY (s)
        CREATE TABLE refused_new (id INT, b BOOLEAN) USING delta CLUSTER BY (b)
        """,
        ANALYSIS,
        "DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED",
        "0A000",
    ),
    Refusal(
        "CREATE TABLE refused_new (a INT, b INT, c INT, d INT, e INT) USING delta "
        "CLUSTER BY (a, b, c, d, e)",
        ANALYSIS,
        "DELTA_CLUSTER_BY_INVALID_NUM_COLUMNS",
        "54000",
    ),
    *_each(
        """
        ALTER TABLE refused ALTER COLUMN id TYPE STRING
        ALTER TABLE refused ALTER COLUMN id TYPE BIGINT
        """,
        ANALYSIS,
        "DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP",
        "0AKDC",
    ),
    Refusal(
        "ALTER TABLE refused_dropped DROP COLUMN v",
        ANALYSIS,
        "DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN",
        "0AKDC",
    ),
    Refusal(
        "ALTER TABLE refused_dropped DROP COLUMN s.x",
        ANALYSIS,
        "DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA",
        "0AKDC",
    ),
    Refusal(
        "ALTER TABLE refused_parts REPLACE COLUMNS (id STRING, v STRING)",
        ANALYSIS,
        "DELTA_UNSUPPORTED_ALTER_TABLE_REPLACE_COL_OP",
        "0AKDC",
    ),
    *_each(
        """
        ALTER TABLE refused ADD COLUMN new INT NOT NULL
        ALTER TABLE refused ADD COLUMN s.y INT NOT NULL
        """,
        ANALYSIS,
        "DELTA_OPERATION_NOT_ALLOWED",
        "0AKDC",
    ),
)
_VALUES = (
    *_each(
        f"""
        {_APPEND.format("'x' AS id, 'a' AS v")}
        {_APPEND.format("array(1) AS id, 'a' AS v")}
        {_APPEND.format("1.5D AS id, 'a' AS v")}
        {_APPEND.format("1.5 AS id, 'a' AS v")}
        {_APPEND.format("date'2024-01-01' AS id, 'a' AS v, 1 AS more")}
        """,
        ANALYSIS,
        "DELTA_FAILED_TO_MERGE_FIELDS",
        "22005",
    ),
    Refusal(
        _APPEND.format("1 AS id, 'a' AS v, 1 AS more"), ANALYSIS, "DELTA_METADATA_MISMATCH", "42KDG"
    ),
    Refusal(
        "DELETE FROM refused WHERE id IN (SELECT 1)",
        ANALYSIS,
        "DELTA_UNSUPPORTED_SUBQUERY",
        "0AKDC",
    ),
    *_each(
        f"""
        {_DATA.format("1 AS id")}.mode("overwrite").option("replaceWhere", "id > ").save(p + "/t")
        {_TABLE}.optimize().where("id = ").executeCompaction()
        {_DATA.format("1 AS id")}.mode("overwrite").option("replaceWhere", "id >").save(p + "/new")
        """,
        ANALYSIS,
        "DELTA_FAILED_RECOGNIZE_PREDICATE",
        "42601",
    ),
    *_each(
        f"""
        {_TABLE}.update("id = ", {{"v": "1"}})
        {_TABLE}.update("id = 1", {{"v": "1 +"}})
        {_TABLE}.delete("id = ")
        {_TABLE}.merge(spark.range(1).toDF("k"), "id = ").whenMatchedDelete().execute()
        ALTER TABLE refused ADD CONSTRAINT c CHECK (id > )
        """,
        PARSE,
        "PARSE_SYNTAX_ERROR",
        "42601",
    ),
    *_each(
        f"""
        {_TABLE}.delete("nix = 1")
        {_TABLE}.update("id = 1", {{"nix": "1"}})
        {_DATA.format("1 AS id")}.mode("overwrite").option("replaceWhere", "nix > 1").save(p + "/t")
        ALTER TABLE refused ADD CONSTRAINT c CHECK (nix > 1)
        """,
        ANALYSIS,
        "UNRESOLVED_COLUMN.WITH_SUGGESTION",
        "42703",
    ),
    *_each(
        f"""
        {_TABLE}.delete("no_such_function(id) = 1")
        {_DATA.format("1 AS id")}.mode("overwrite").option("replaceWhere", "nix(1)").save(p + "/t")
        """,
        ANALYSIS,
        "UNRESOLVED_ROUTINE",
        "42883",
    ),
    *_each(
        f"""
        {_TABLE}.delete("id + 1")
        {_DATA.format("1 AS id")}.mode("overwrite").option("replaceWhere", "id + 1").save(p + "/t")
        """,
        ANALYSIS,
        "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN",
        "42K09",
    ),
    Refusal(
        "ALTER TABLE refused ADD CONSTRAINT c CHECK (sum(id) > 5)",
        ANALYSIS,
        "INVALID_WHERE_CONDITION",
        "42903",
    ),
    *_each(
        f"""
        {_LOAD}.option("versionAsOf", "x").load(p + "/t")
        SELECT * FROM refused VERSION AS OF 'x'
        """,
        ILLEGAL,
        "DELTA_TIME_TRAVEL_INVALID_BEGIN_VALUE",
        "42604",
    ),
    *_each(
        f"""
        {_LOAD}.option("versionAsOf", "-1").load(p + "/t")
        {_LOAD}.option("versionAsOf", "99").load(p + "/t")
        """,
        ANALYSIS,
        "DELTA_VERSION_NOT_FOUND",
        "22003",
    ),
    *_each(
        f"""
        {_LOAD}.option("versionAsOf", "0").load(p + "/t@v0")
        SELECT * FROM delta.`{{p}}/t@v0` VERSION AS OF 0
        """,
        ANALYSIS,
        "DELTA_UNSUPPORTED_TIME_TRAVEL_MULTIPLE_FORMATS",
        "42613",
    ),
    Refusal("CONVERT TO DELTA refused_csv", ANALYSIS, "DELTA_CONVERT_NON_PARQUET_TABLE", "0AKDC"),
    Refusal(
        "CONVERT TO DELTA refused_view", ANALYSIS, "DELTA_OPERATION_NOT_ALLOWED_DETAIL", "0AKDC"
    ),
    Refusal(
        'DeltaTable.convertToDelta(spark, "`" + p + "/csv`")',
        ANALYSIS,
        "DELTA_MISSING_PROVIDER_FOR_CONVERT",
        "0AKDC",
    ),
)
_MORE = (
    Refusal(
        "REPLACE TABLE no_such_table SHALLOW CLONE refused",
        ANALYSIS,
        "DELTA_CANNOT_REPLACE_MISSING_TABLE",
        "42P01",
    ),
    Refusal(
        "CREATE TABLE refused SHALLOW CLONE refused_parts",
        ANALYSIS,
        "DELTA_TABLE_ALREADY_EXISTS",
        "42P07",
    ),
    Refusal(
        'DeltaTable.create(spark).tableName("refused").addColumn("id", "int").execute()',
        ANALYSIS,
        "TABLE_OR_VIEW_ALREADY_EXISTS",
        "42P07",
    ),
    Refusal(
        "INSERT INTO refused_parts (id) VALUES (1, 'a')",
        ANALYSIS,
        "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS",
        "21S01",
    ),
    Refusal(
        "INSERT INTO refused_parts (id, v) SELECT 1",
        ANALYSIS,
        "INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS",
        "21S01",
    ),
    Refusal(
        "INSERT OVERWRITE refused_parts PARTITION (v = 'a') IF NOT EXISTS SELECT 1",
        ANALYSIS,
        "UNSUPPORTED_FEATURE.INSERT_PARTITION_SPEC_IF_NOT_EXISTS",
        "0A000",
    ),
    *_each(
        """
        INSERT INTO refused_parts VALUES (map(1, 2), 'a')
        UPDATE refused SET id = map(1, 2)
        UPDATE refused SET s = 1
        INSERT INTO refused SELECT 1, 'a', NULL, NULL, array(named_struct('y', 1))
        """,
        ANALYSIS,
        "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION",
        "42K09",
    ),
    *_each(
        """
        UPDATE refused SET l = array(named_struct('x', 1))
        UPDATE refused SET l = array(named_struct('x', 1, 'y', 2, 'z', 3))
        """,
        ANALYSIS,
        "DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION",
        "42846",
    ),
    Refusal(
        "MERGE INTO refused t USING (SELECT 5 AS a) ON a = id "
        "WHEN NOT MATCHED THEN INSERT (id, s.x) VALUES (a, 1)",
        ANALYSIS,
        "DELTA_UNSUPPORTED_NESTED_FIELD_IN_OPERATION",
        "0AKDC",
    ),
    *_each(
        """
        INSERT INTO refused_parts VALUES (DATE'2024-01-01', 'a')
        UPDATE refused SET id = DATE'2024-01-01'
        """,
        ANALYSIS,
        "DATATYPE_MISMATCH.CAST_WITH_FUNC_SUGGESTION",
        "42K09",
    ),
    *_each(
        """
        DELETE FROM refused WHERE sum(id) > 1
        UPDATE refused SET id = sum(id)
        """,
        ANALYSIS,
        "UNSUPPORTED_EXPR_FOR_OPERATOR",
        "42K0E",
    ),
    *_each(
        """
        DELETE FROM refused WHERE s.nix = 1
        UPDATE refused SET s.nix = 1
        """,
        ANALYSIS,
        "FIELD_NOT_FOUND",
        "42704",
    ),
    Refusal(
        "DELETE FROM refused WHERE rand() > 1",
        ANALYSIS,
        "INVALID_NON_DETERMINISTIC_EXPRESSIONS",
        "42K0E",
    ),
    Refusal(
        "OPTIMIZE refused_parts WHERE nix = 1",
        ANALYSIS,
        "DELTA_NON_PARTITION_COLUMN_REFERENCE",
        "42P10",
    ),
    *_each(
        """
        SELECT * FROM table_changes('refused', (SELECT 0))
        SELECT * FROM table_changes('refused', 0, (SELECT max(id) FROM refused))
        SELECT id FROM refused r, LATERAL table_changes('refused', r.id)
        """,
        ANALYSIS,
        "DELTA_CDC_NON_CONSTANT_ARGUMENT",
        "42K0H",
    ),
    Refusal("SELECT * FROM table_changes('{p}/t', 0)", PARSE, "PARSE_SYNTAX_ERROR", "42601"),
    Refusal(
        "SELECT * FROM delta.no_such_path",
        ANALYSIS,
        "UNSUPPORTED_DATASOURCE_FOR_DIRECT_QUERY",
        "0A000",
    ),
    Refusal(
        "SHOW PARTITIONS refused",
        ANALYSIS,
        "DELTA_SHOW_PARTITION_IN_NON_PARTITIONED_TABLE",
        "42809",
    ),
)
_LOCATED = "CREATE TABLE refused_name {} LOCATION '{{p}}/parts'"
_CREATED = (
    *_each(
        f"""
        {_LOCATED.format("(id INT, v STRING) USING delta PARTITIONED BY (v)")}
        {_LOCATED.format("(id INT COMMENT 'key') USING delta")}
        CREATE OR REPLACE TABLE refused_name (z INT) USING delta LOCATION '{{p}}/parts'
        """,
        ANALYSIS,
        "DELTA_CREATE_TABLE_SCHEME_MISMATCH",
        "42KD7",
    ),
    Refusal(
        _LOCATED.format("(id INT COMMENT 'key', v STRING) USING delta"),
        ANALYSIS,
        "DELTA_CREATE_TABLE_WITH_DIFFERENT_PARTITIONING",
        "42KD7",
    ),
    Refusal(
        _LOCATED.format("USING delta TBLPROPERTIES ('k' = 'w')"),
        ANALYSIS,
        "DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY",
        "42KD7",
    ),
    Refusal(
        "CREATE OR REPLACE TABLE refused (z INT) USING delta LOCATION '{p}/elsewhere'",
        ANALYSIS,
        "DELTA_TABLE_LOCATION_MISMATCH",
        "42613",
    ),
    Refusal(
        "CREATE TABLE refused_name (a INT) USING delta "
        "TBLPROPERTIES ('delta.feature.clustering' = 'supported')",
        ANALYSIS,
        "DELTA_CREATE_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED",
        "42000",
    ),
    Refusal(
        "ALTER TABLE refused SET TBLPROPERTIES ('delta.feature.clustering' = 'supported')",
        ANALYSIS,
        "DELTA_ALTER_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED",
        "42000",
    ),
    Refusal(
        "MERGE WITH SCHEMA EVOLUTION INTO refused_rows t USING (SELECT 1 AS id, true AS n) s "
        "ON t.id = s.id WHEN MATCHED THEN UPDATE SET *",
        ANALYSIS,
        "DELTA_FAILED_TO_MERGE_FIELDS",
        "22005",
    ),
    Refusal(
        "INSERT INTO refused_odd SELECT 1, 2, named_struct('y', struct(1), 'x', 2)",
        ANALYSIS,
        "DELTA_COLUMN_STRUCT_TYPE_MISMATCH",
        "2200G",
    ),
    *_each(
        """
        INSERT INTO refused (id) VALUES (3000000000)
        INSERT INTO refused (id) SELECT id * 3000000000 FROM range(1, 3)
        spark.range(1, 3).selectExpr("id * 3e9 AS id").writeTo("refused").append()
        """,
        "ArithmeticException",
        "CAST_OVERFLOW_IN_TABLE_INSERT",
        "22003",
    ),
    Refusal(
        "ALTER TABLE refused_odd SET TBLPROPERTIES ('delta.columnMapping.mode' = 'none')",
        ANALYSIS,
        "DELTA_INVALID_COLUMN_NAMES_WHEN_REMOVING_COLUMN_MAPPING",
        "42K05",
    ),
    Refusal(
        "ALTER TABLE refused SET TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 'nothing')",
        ANALYSIS,
        "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
        "42703",
    ),
    Refusal(
        "ALTER TABLE refused SET TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 'm')",
        ILLEGAL,
        "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE",
        "0AKDC",
    ),
    Refusal(
        "ALTER TABLE refused SET TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 'id,id')",
        ILLEGAL,
        "DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS",
        "42701",
    ),
    Refusal(
        "ALTER TABLE refused_parts SET TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 'v')",
        ILLEGAL,
        "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN",
        "0AKDC",
    ),
    Refusal(
        "CREATE TABLE refused_name (a INT) USING delta "
        "TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 'nothing')",
        ANALYSIS,
        "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
        "42703",
    ),
    Refusal(
        "ALTER TABLE refused_parts CLUSTER BY NONE",
        ANALYSIS,
        "DELTA_ALTER_TABLE_CLUSTER_BY_ON_PARTITIONED_TABLE_NOT_ALLOWED",
        "42000",
    ),
    Refusal(
        "CREATE OR REPLACE TABLE refused_clustered USING delta PARTITIONED BY (v) "
        "AS SELECT 1 AS id, 2 AS v",
        ANALYSIS,
        "DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE",
        "42000",
    ),
    Refusal(
        "ALTER TABLE refused_clustered DROP COLUMN id",
        ANALYSIS,
        "DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN",
        "0AKDC",
    ),
    Refusal(
        "ALTER TABLE refused_clustered RENAME COLUMN n TO m",
        ANALYSIS,
        "DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE",
        "42K09",
    ),
    Refusal(
        _DATA.format("1 AS id") + '.mode("append").save(p + "/parts")',
        ANALYSIS,
        "DELTA_PARTITION_COLUMN_NOT_FOUND",
        "42703",
    ),
    Refusal(
        "CREATE OR REPLACE TABLE refused_parquet (a INT) USING delta",
        ANALYSIS,
        "DELTA_NOT_A_DELTA_TABLE",
        "0AKDD",
    ),
    Refusal(
        "CREATE TABLE refused_name (a BIGINT GENERATED ALWAYS AS IDENTITY, b INT) USING delta "
        "PARTITIONED BY (a)",
        ANALYSIS,
        "DELTA_IDENTITY_COLUMNS_PARTITION_NOT_SUPPORTED",
        "42601",
    ),
)
REFUSALS = _NAMES + _COLUMNS + _VALUES + _MORE + _CREATED

_SCHEMA_MISMATCH = "A schema mismatch detected when writing to the Delta table"
_MERGE = """.alias("t").merge(
    spark.sql("SELECT 1 AS id, 'b' AS v UNION ALL SELECT 1, 'c'").alias("s"), "t.id = s.id"
).whenMatchedUpdateAll().execute()"""
# Words that programs look for in the text of an error, where the error class does not tell them
# enough or is newer than they are.
WORDS = {
    f'{_LOAD}.load(p + "/none")': "Path does not exist",
    "DELETE FROM delta.`{p}/none`": "Path does not exist",
    'DeltaTable.forPath(spark, p + "/none")': "is not a Delta table",
    'DeltaTable.forName(spark, "no_such_table")': "is not a Delta table",
    _APPEND.format("1 AS id, 'a' AS v, 2 AS more"): _SCHEMA_MISMATCH,
    "INSERT INTO refused_parts VALUES (1, 'a', 2)": _SCHEMA_MISMATCH,
    _APPEND.format("array(1) AS id, 'a' AS v"): "Failed to merge fields",
    f'{_DATA}.mode("append").partitionBy("v").save(p + "/t")'.format(
        "1 AS id, 'a' AS v"
    ): "Partition columns do not match",
    _TABLE + _MERGE: "Cannot perform Merge as multiple source rows matched",
    "INSERT INTO refused_rows VALUES (1, -1)": (
        "CHECK constraint above (n > 0) violated by row with values"
    ),
    "INSERT INTO refused_rows VALUES (NULL, 1)": "NOT NULL constraint violated for column: id",
    "DELETE FROM refused WHERE id IN (SELECT 2)": (
        "Subqueries are not supported in the DELETE (condition ="
    ),
    f'{_LOAD}.option("versionAsOf", "99").load(p + "/t")': (
        "Cannot time travel Delta table to version 99"
    ),
    _TABLE + '.alias("t").merge(spark.range(1).alias("s"), "t.id = s.id").execute()': (
        "There must be at least one WHEN clause in a MERGE statement"
    ),
    _DATA.format("1 AS id")
    + '.mode("overwrite").option("replaceWhere", "id > 5").save(p + "/t")': (
        "Written data does not conform to partial table overwrite condition or constraint"
    ),
    "SELECT * FROM table_changes_by_path('{p}/t', 0)": "Error getting change data for range [0 , ",
}


def found_refusal(spark: Any, tables: Any, request: str, p: str) -> tuple[str, str, str]:
    """Return the exception, the error class and the SQLSTATE that a request is refused with.

    `tables` is the class DeltaTable of the engine.
    """
    try:
        _make(spark, tables, request, p)
    except PySparkException as error:
        kinds = (ILLEGAL, PARSE, ANALYSIS)
        names = {kind.__name__.removeprefix("Captured") for kind in type(error).__mro__}
        exception = next((kind for kind in kinds if kind in names), type(error).__name__)
        return exception, str(error.getCondition()), str(error.getSqlState())
    return "no error", "", ""


def found_text(spark: Any, tables: Any, request: str, p: str) -> str:
    """Return the text of the error that a request is refused with."""
    try:
        _make(spark, tables, request, p)
    except Exception as error:
        return str(error)
    return "no error"


def _make(spark: Any, tables: Any, request: str, p: str) -> None:
    if request.startswith(("spark.", "DeltaTable.")):
        found = eval(request, {"spark": spark, "DeltaTable": tables, "p": p})
    else:
        found = spark.sql(request.replace("{p}", p))
    if hasattr(found, "collect"):
        found.collect()

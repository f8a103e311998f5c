"""Examples of table care."""

from __future__ import annotations

from functools import partial

from scripts.sql_examples.example import PATH, ROWS, Example

_Care = partial(Example, group="Care")
_MORE = "INSERT INTO {t} VALUES (4, 'd', 1)"
_AFTER = (*ROWS, (4, "d", 1))

CARE = (
    _Care(
        statement="OPTIMIZE {t} WHERE part = 1",
        before=(_MORE,),
        says="makes few large files of many small ones",
        varies=True,
        rows=_AFTER,
        operation="OPTIMIZE",
        parameters={"zOrderBy": "[]", "auto": "false"},
    ),
    _Care(
        statement="OPTIMIZE {t} ZORDER BY (id, name)",
        before=(_MORE,),
        says="with rows that are alike beside each other",
        varies=True,
        rows=_AFTER,
        operation="OPTIMIZE",
        parameters={"zOrderBy": '["id","name"]'},
    ),
    _Care(
        statement="OPTIMIZE {o} FULL",
        before=(
            "CREATE TABLE {o} (id BIGINT, name STRING) USING delta CLUSTER BY (id)",
            "INSERT INTO {o} VALUES (1, 'a'), (2, 'b')",
            "INSERT INTO {o} VALUES (3, 'c')",
        ),
        says="of a table with clustering: all files, whatever was clustered before",
        varies=True,
        makes_other=True,
        rows=((1, "a"), (2, "b"), (3, "c")),
        columns=("id", "name"),
        operation="OPTIMIZE",
    ),
    _Care(
        statement="OPTIMIZE {t} WHERE id = 1",
        says="a condition on a column that is not a partition column",
        error="DELTA_NON_PARTITION_COLUMN_REFERENCE",
    ),
    _Care(
        statement="REORG TABLE {t} APPLY (PURGE)",
        before=(
            "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
            "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id + 10, name, 1 FROM {t}",
            "DELETE FROM {t} WHERE id = 11",
        ),
        says="writes files anew without the rows that vectors mark",
        varies=True,
        rows=(*ROWS, (12, "b", 1), (13, "c", 1)),
        operation="REORG",
        parameters={"applyPurge": "true"},
    ),
    _Care(
        statement="VACUUM {t} DRY RUN",
        says="names the files that it would delete",
        result=(),
    ),
    _Care(
        statement="VACUUM {t}",
        says="deletes files that no version within the retention needs",
        varies=True,
        operation="VACUUM END",
        parameters={"status": "COMPLETED"},
    ),
    _Care(
        statement="VACUUM '{f}' LITE",
        says="finds them in the log, and lists no folder",
        ways=(PATH,),
        varies=True,
        operation="VACUUM END",
        parameters={"status": "COMPLETED"},
    ),
    _Care(
        statement="VACUUM {t} RETAIN 0 HOURS",
        says="a retention that is too short",
        error="DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT",
    ),
    _Care(
        statement="RESTORE TABLE {t} TO VERSION AS OF 0",
        says="also `TIMESTAMP AS OF`",
        varies=True,
        rows=(),
        operation="RESTORE",
        parameters={"version": "0"},
    ),
    _Care(
        statement="RESTORE {t} VERSION AS OF 1",
        says="to the version that is there does nothing",
        result=(),
        differs="delta-spark's empty result has no columns then",
    ),
    _Care(
        statement="GENERATE symlink_format_manifest FOR TABLE {t}",
        says="writes lists of files for engines that know no log",
        result=(),
    ),
    _Care(
        statement="VACUUM {t} RETAIN HOURS",
        says="a syntax error marks its place",
        error="PARSE_SYNTAX_ERROR",
    ),
)

"""Examples of statements that read: queries, time travel, feeds."""

from __future__ import annotations

from functools import partial

from scripts.sql_examples.example import NAME, NO_PARAMETERS, PATH, ROWS, Example

_Reading = partial(Example, group="Reading")
_INSERTS = tuple((*row, "insert", 1) for row in ROWS)

READING = (
    _Reading(
        statement="SELECT id, name FROM {t} WHERE part = 1 ORDER BY id",
        says="by name, or by path as ``delta.`/path` ``; filters skip partitions and files",
        result=((1, "a"), (2, "b")),
    ),
    _Reading(
        statement="SELECT count(*) AS n FROM {t} VERSION AS OF 0",
        says="an earlier version",
        result=((0,),),
    ),
    _Reading(
        statement="SELECT count(*) AS n FROM {t} FOR SYSTEM_VERSION AS OF 1",
        says="the same in the words of the SQL standard",
        result=((3,),),
    ),
    _Reading(
        statement="SELECT * FROM {t} TIMESTAMP AS OF '2999-01-01'",
        says="the time is after the latest commit",
        error="DELTA_TIMESTAMP_GREATER_THAN_COMMIT",
    ),
    _Reading(
        statement="SELECT * FROM {t} TIMESTAMP AS OF '1999-01-01'",
        says="the time is before the first commit that can be read",
        error="DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION",
    ),
    _Reading(
        statement="SELECT * FROM {t} VERSION AS OF 7",
        says="the table has no such version",
        error="DELTA_VERSION_NOT_FOUND",
    ),
    _Reading(
        statement="SELECT count(*) AS n FROM delta.`{f}@v0`",
        says="a version in the path",
        ways=(PATH,),
        result=((0,),),
    ),
    _Reading(
        statement="WITH x AS (SELECT max(id) AS m FROM {t}) SELECT name FROM {t} WHERE id = "
        "(SELECT m FROM x)",
        says="CTEs, subqueries and joins",
        result=(("c",),),
    ),
    _Reading(
        statement="SELECT name FROM a_view WHERE id = 2",
        before=("CREATE OR REPLACE TEMPORARY VIEW a_view AS SELECT * FROM {t}",),
        says="views, temporary and others",
        result=(("b",),),
    ),
    _Reading(
        statement="SELECT name FROM {t} WHERE id = :number",
        arguments={"number": 2},
        says="parameters",
        differs=NO_PARAMETERS,
        result=(("b",),),
    ),
    _Reading(
        statement="EXECUTE IMMEDIATE 'SELECT name FROM {t} WHERE id = ?' USING 2",
        says="a statement that is a text",
        differs=NO_PARAMETERS,
        result=(("b",),),
    ),
    _Reading(
        statement="SELECT id, name, part, _change_type, _commit_version FROM "
        "table_changes('{t}', 0) ORDER BY id",
        says="the change data feed from a version on; a text is a time",
        result=_INSERTS,
    ),
    _Reading(
        statement="SELECT count(*) AS n FROM table_changes('{t}', 0, 0)",
        says="the feed of a range of versions, both ends included",
        result=((0,),),
    ),
    _Reading(
        statement="SELECT id, name, part, _change_type, _commit_version FROM "
        "table_changes_by_path('{f}', 1) ORDER BY id",
        says="the feed of a table by its folder",
        ways=(PATH,),
        result=_INSERTS,
    ),
    _Reading(
        statement="SELECT id, name, part, _change_type, _commit_version FROM {t} CHANGES FROM "
        "VERSION 0 EXCLUSIVE TO VERSION 1 ORDER BY id",
        says="changes in the words of Spark 4.2, where an update is a delete and an insert; "
        "options are `WITH (deduplicationMode = ..., computeUpdates = ...)`",
        result=_INSERTS,
        differs="delta-spark needs row tracking and a setting for it, and has other columns",
    ),
    _Reading(
        statement="SELECT * FROM no_such_table",
        says="a name that is not in the catalog",
        ways=(NAME,),
        error="TABLE_OR_VIEW_NOT_FOUND",
    ),
    _Reading(
        statement="SELECT * FROM delta.`{c}`",
        says="a path without a table",
        ways=(PATH,),
        error="PATH_NOT_FOUND",
    ),
    _Reading(
        statement="SELECT nothing FROM {t}",
        says="a column that is not there",
        error="UNRESOLVED_COLUMN.WITH_SUGGESTION",
    ),
)

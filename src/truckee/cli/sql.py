"""`truckee sql`: one statement of SQL, by path or over the tables of a local catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from truckee.cli.inspect import AsJson
from truckee.cli.render import print_json_texts, print_table
from truckee.cli.row_options import ROWS_IN_A_TABLE, RowLimit, say_if_cut

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NESTED = ("struct", "array", "map", "variant")

Statement = Annotated[
    str, typer.Argument(metavar="STATEMENT", help="One statement, with tables as delta.`/path`.")
]


def sql(statement: Statement, limit: RowLimit = None, as_json: AsJson = False) -> None:
    """Run a SQL statement with Spark, and show the rows that it returns.

    Example: truckee sql 'SELECT count(*) FROM delta.`/data/orders`'
    """
    from truckee.cli.spark import spark_session
    from truckee.doors.enable import enable
    from truckee.spark.jvm.jvm_errors import quiet_errors
    from truckee.sql.certain_errors import check_statement_text

    check_statement_text(statement)
    most = limit or ROWS_IN_A_TABLE
    with spark_session() as (spark, status), quiet_errors():
        enable(spark)
        status.update("running the statement")
        frame = spark.sql(statement)
        if not frame.columns:
            found, names = [], []
        elif as_json:
            shown = frame if limit is None else frame.limit(limit)
            print_json_texts(line for (line,) in _json_lines(shown).toLocalIterator())
            return
        else:
            found, names = _texts(frame.limit(most + 1)).collect(), frame.columns
    if as_json:
        print_json_texts(())
    elif names:
        print_table(names, ([_shown(value) for value in row] for row in found[:most]))
    say_if_cut(len(found), most, limit)


def _shown(value: str | None) -> str:
    return "null" if value is None else value


def _json_lines(rows: DataFrame) -> DataFrame:
    return rows.selectExpr("to_json(struct(*), map('ignoreNullFields', 'false'))")


def _texts(rows: DataFrame) -> DataFrame:
    """Return every column as text: nested ones as JSON, bytes in hexadecimal digits."""
    columns = enumerate(rows.schema.fields)
    named = rows.toDF(*(f"c{index}" for index in range(len(rows.columns))))
    return named.selectExpr(*(_text(f"c{i}", field.dataType.typeName()) for i, field in columns))


def _text(column: str, type_name: str) -> str:
    if type_name in _NESTED:
        return f"to_json({column}, map('ignoreNullFields', 'false'))"
    return f"hex({column})" if type_name == "binary" else f"cast({column} AS string)"

"""Each kind of question from Spark, and the function that answers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from truckee.doors import (
    alterations,
    definitions,
    dml,
    feeds,
    show_statements,
    source,
    tables,
)
from truckee.errors.log import NoTableAtPathError, NotADeltaTableError
from truckee.errors.sql import StatementNotAllowedError, ViewNotAllowedError
from truckee.log.files.absent_table import unreadable_path
from truckee.spark.session.catalog_tables import java_frame, plan_of
from truckee.spark.session.doors import Question
from truckee.sql.described import described_statement, inlined_descriptions
from truckee.sql.grammar import parsed_statement
from truckee.sql.result_columns import result_columns
from truckee.sql.run import run_statement

_VIEW = "changing rows of a view"


def answer(question: Question) -> Any:
    """Return the answer to a question from Spark."""
    try:
        return _ANSWERS[question.kind](question)
    except NotADeltaTableError as error:
        if question.kind == "load" or question.kind in _CHANGING_ROWS:
            raise _unreadable(question, error) from None
        raise


def _unreadable(question: Question, error: NotADeltaTableError) -> NotADeltaTableError:
    if "path" in question.about:
        return unreadable_path(error)
    return error.told_as(NoTableAtPathError)


def _parse(question: Question) -> str | None:
    statement = parsed_statement(question.about["text"])
    return None if statement is None else result_columns(statement)


def _run(question: Question) -> Any:
    statement = parsed_statement(question.about["text"])
    assert statement is not None
    return java_frame(run_statement(question.spark, statement))


def _described(question: Question) -> Any:
    texts = [argument.get("value") or "" for argument in question.about["arguments"]]
    statement = described_statement("".join(texts))
    if statement is None:
        raise StatementNotAllowedError(
            operation=f"{question.about['function']} of another statement",
            hint="write DESCRIBE HISTORY t or DESCRIBE DETAIL t in brackets",
        )
    return plan_of(run_statement(question.spark, statement))


def _by_path(operation: str) -> Callable[[Question], Any]:
    def refuse(_: Question) -> Any:
        raise StatementNotAllowedError(
            operation=f"{operation} of a table by its path",
            hint="delete or move the folder, or name a table of the catalog",
        )

    return refuse


def _refuse(question: Question) -> Any:
    operation = question.about["operation"]
    if operation == _VIEW:
        hint = "name the table itself, or a temporary view that is SELECT * FROM the table"
        raise ViewNotAllowedError(operation=operation, hint=hint)
    raise StatementNotAllowedError(
        operation=operation, hint="name the table by its name or its path"
    )


_CHANGING_ROWS: Mapping[str, Callable[[Question], Any]] = {
    "InsertIntoStatement": dml.insert,
    "AppendData": dml.insert,
    "OverwriteByExpression": dml.insert,
    "OverwritePartitionsDynamic": dml.insert,
    "DeleteFromTable": dml.delete_rows_of,
    "UpdateTable": dml.update_rows_of,
    "MergeIntoTable": dml.merge_rows_of,
}
_ANSWERS: Mapping[str, Callable[[Question], Any]] = {
    **_CHANGING_ROWS,
    "parse": _parse,
    "statement": _run,
    "inlined": lambda question: inlined_descriptions(question.about["text"]),
    "described": _described,
    "exists": tables.exists,
    "check path": tables.check_path,
    "bare path": tables.refuse_bare_path,
    "refuse": _refuse,
    "defaults": dml.default_texts,
    "changes from": feeds.changes_from,
    "create like": definitions.create_like_another,
    "load": tables.load,
    "create": definitions.create,
    "check creation": definitions.check,
    "create with rows": definitions.create_from_rows,
    "alter": alterations.alter,
    "drop": _by_path("DROP TABLE"),
    "rename": _by_path("ALTER TABLE ... RENAME TO"),
    "show": show_statements.show,
    "shown": show_statements.shown_rows,
    "check insert": dml.check_insert,
    "truncate": dml.truncate,
    "read": source.read_by_path,
    "write": source.write_by_path,
    "stream schema": source.stream_schema,
    "stream": source.stream,
    "check sink": source.check_sink,
    "batch": source.batch,
    "changes": feeds.changes,
}

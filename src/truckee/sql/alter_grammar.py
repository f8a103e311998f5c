"""`ALTER TABLE`: the few forms that are Delta's own, or that Delta parses differently."""

from __future__ import annotations

from truckee.sql.parser import StatementParser
from truckee.sql.statements import (
    AddConstraintStatement,
    ClusterByStatement,
    DropConstraintStatement,
    DropFeatureStatement,
    Statement,
    SyncIdentityStatement,
    TableRef,
)


def alter_statement(parser: StatementParser) -> Statement | None:
    """Return the change as a statement, None if Spark's parser knows it."""
    if not parser.took("ALTER", "TABLE") or parser.next.kind not in ("word", "name"):
        return None
    parts = parser.multipart("the name of a table")
    if parser.took("ADD", "CONSTRAINT"):
        return _added_constraint(parser, parts)
    if parser.took("DROP", "CONSTRAINT"):
        return _dropped_constraint(parser, parts)
    if parser.took("DROP", "FEATURE"):
        return _dropped_feature(parser, parser.checked(parts))
    if parser.took("CLUSTER", "BY"):
        return _clustering(parser, parser.checked(parts))
    if parser.took("ALTER") or parser.took("CHANGE"):
        return _synced_identity(parser, parts)
    return None


def _added_constraint(
    parser: StatementParser, parts: tuple[str, ...]
) -> AddConstraintStatement | None:
    name = parser.identifier("the name of the constraint")
    if not parser.took("CHECK"):
        return None  # a primary or foreign key, which Spark's parser knows
    expression = parser.joined_in_brackets()
    if not parser.at_end:
        return None
    return AddConstraintStatement(parser.checked(parts), name, expression)


def _dropped_constraint(
    parser: StatementParser, parts: tuple[str, ...]
) -> DropConstraintStatement | None:
    if_exists = parser.took("IF", "EXISTS")
    name = parser.identifier("the name of the constraint")
    if not parser.at_end:
        return None
    return DropConstraintStatement(parser.checked(parts), name, if_exists)


def _dropped_feature(parser: StatementParser, table: TableRef) -> DropFeatureStatement:
    is_text = parser.next.kind == "text"
    feature = parser.text() if is_text else parser.identifier("the name of a feature")
    truncates = parser.took("TRUNCATE")
    if truncates:
        parser.expect("HISTORY")
    parser.expect_end("TRUNCATE HISTORY or the end")
    return DropFeatureStatement(table, feature, truncates)


def _clustering(parser: StatementParser, table: TableRef) -> ClusterByStatement:
    if parser.took("NONE"):
        columns: tuple[tuple[str, ...], ...] = ()
    elif parser.next.is_mark("("):
        columns = parser.column_list()
    else:
        raise parser.error("columns in brackets, or NONE")
    parser.expect_end()
    return ClusterByStatement(table, columns)


def _synced_identity(
    parser: StatementParser, parts: tuple[str, ...]
) -> SyncIdentityStatement | None:
    parser.took("COLUMN")
    if parser.next.kind not in ("word", "name"):
        return None
    column = parser.multipart("a column")
    if not parser.took("SYNC", "IDENTITY"):
        return None
    parser.expect_end()
    return SyncIdentityStatement(parser.checked(parts), column)

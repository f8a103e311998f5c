"""`CREATE TABLE ... CLONE`: statements that begin like statements of Spark."""

from __future__ import annotations

from truckee.sql.parser import StatementParser
from truckee.sql.statements import LATEST, CloneStatement, TableRef


def clone_statement(parser: StatementParser) -> CloneStatement | None:
    """Return the requested clone, None if this statement creates a table in another way.

    `DEEP CLONE`, and `CLONE` alone, which means the same, are Databricks' syntax.
    """
    creates = parser.took("CREATE")
    replaces = parser.took("OR", "REPLACE") if creates else parser.took("REPLACE")
    if not parser.took("TABLE"):
        return None
    if_not_exists = not replaces and parser.took("IF", "NOT", "EXISTS")
    if parser.next.kind not in ("word", "name"):
        return None
    start = parser.multipart("the name of a table")
    is_shallow = parser.took("SHALLOW")
    is_deep = not is_shallow and parser.took("DEEP")
    if not (is_shallow or is_deep or parser.next.is_keyword("CLONE")):
        return None
    parser.expect("CLONE")
    source = TableRef(parser.multipart("the table to clone"))
    at = parser.time_travel() or LATEST
    properties = parser.properties() if parser.took("TBLPROPERTIES") else ()
    location = parser.text("a path in quotes") if parser.took("LOCATION") else None
    parser.expect_end("TBLPROPERTIES, LOCATION or the end")
    return CloneStatement(
        table=parser.checked(start),
        source=source,
        creates=creates,
        replaces=replaces,
        if_not_exists=if_not_exists,
        is_shallow=is_shallow,
        at=at,
        properties=properties,
        location=location,
    )

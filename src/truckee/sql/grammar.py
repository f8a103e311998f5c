"""The grammar of Delta's own statements: SQL text -> a statement as a value.

`T` is a name of one to three parts, ``delta.`/path` `` included; `P` is a path in quotes.

| statement                                                                                   |
|---------------------------------------------------------------------------------------------|
| `VACUUM T|P [LITE|FULL] [USING INVENTORY T|(query)] [RETAIN n HOURS] [DRY RUN]`             |
| `OPTIMIZE T|P [FULL] [WHERE condition] [ZORDER BY (c, ...)]`                                |
| `REORG TABLE T [WHERE condition] APPLY (PURGE)`                                             |
| `DESCRIBE|DESC DETAIL T|P`, `DESCRIBE|DESC HISTORY T|P [LIMIT n]`                           |
| `GENERATE mode FOR TABLE T`                                                                 |
| `CONVERT TO DELTA T [NO STATISTICS] [PARTITIONED BY (c type, ...)]`                         |
| `RESTORE [TABLE] T [TO] VERSION|TIMESTAMP AS OF x`                                          |
| `CREATE [OR REPLACE] TABLE [IF NOT EXISTS] T SHALLOW|DEEP CLONE T [...]`, `REPLACE TABLE`   |
| `ALTER TABLE T ADD CONSTRAINT c CHECK (...)`, `DROP CONSTRAINT [IF EXISTS] c`               |
| `ALTER TABLE T DROP FEATURE f [TRUNCATE HISTORY]`, `CLUSTER BY (...)`, `CLUSTER BY NONE`    |
| `ALTER TABLE T ALTER|CHANGE [COLUMN] c SYNC IDENTITY`                                       |

Everything else is left to Spark's parser; the first words of a statement decide. Variables
(`${x}`) are replaced before a text gets here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from truckee.sql.alter_grammar import alter_statement
from truckee.sql.clone_grammar import clone_statement
from truckee.sql.parser import StatementParser
from truckee.sql.statements import (
    ConvertStatement,
    DetailStatement,
    GenerateStatement,
    HistoryStatement,
    OptimizeStatement,
    PartitionField,
    ReorgStatement,
    RestoreStatement,
    Statement,
    VacuumStatement,
)

_SKIPPED = re.compile(r"\s+|--[^\r\n]*|/\*.*?\*/", re.DOTALL)
_WORD = re.compile(r"[A-Za-z]+")
_SECOND_WORDS = {
    # First words that Spark's statements have too, and how ours are recognised.
    "DESC": re.compile(r"DETAIL|HISTORY", re.IGNORECASE),
    "DESCRIBE": re.compile(r"DETAIL|HISTORY", re.IGNORECASE),
    "CREATE": re.compile(r"CLONE", re.IGNORECASE),
    "REPLACE": re.compile(r"CLONE", re.IGNORECASE),
    "ALTER": re.compile(r"CONSTRAINT|FEATURE|CLUSTER|IDENTITY", re.IGNORECASE),
}


def parsed_statement(text: str) -> Statement | None:
    """Return the statement of a text, None if it is not one of Delta's own.

    If a text begins like one of Delta's statements but is not one, this raises
    StatementSyntaxError, which marks the position. Also raises IllegalTableNameError and
    ConvertedTypeError.
    """
    word = _first_word(text)
    rule = _RULES.get(word)
    if rule is None or (word in _SECOND_WORDS and not _SECOND_WORDS[word].search(text)):
        return None
    return rule(StatementParser(text))


def _first_word(text: str) -> str:
    position = 0
    while skipped := _SKIPPED.match(text, position):
        position = skipped.end()
    found = _WORD.match(text, position)
    return "" if found is None else found[0].upper()


def _vacuum(parser: StatementParser) -> Statement:
    parser.expect("VACUUM")
    found = VacuumStatement(table=parser.table_or_path())
    mode = retention = inventory = query = None
    dry_run = False
    while not parser.at_end:
        if mode is None and parser.next.is_keyword("LITE", "FULL"):
            mode = parser.take().value.upper()
        elif retention is None and parser.took("RETAIN"):
            retention = parser.signed_number()
            parser.expect("HOURS")
        elif inventory is None and query is None and parser.took("USING"):
            parser.expect("INVENTORY")
            if parser.next.is_mark("("):
                query = parser.in_brackets()
            else:
                inventory = parser.table()
        elif not dry_run and parser.took("DRY"):
            parser.expect("RUN")
            dry_run = True
        else:
            raise parser.error("LITE, FULL, USING INVENTORY, RETAIN, DRY RUN or the end")
        if mode == "LITE" and (inventory is not None or query is not None):
            raise parser.error("FULL with an inventory", back=True)
    return VacuumStatement(
        table=found.table,
        mode=mode,
        inventory=inventory,
        inventory_query=query,
        retention_hours=retention,
        dry_run=dry_run,
    )


def _optimize(parser: StatementParser) -> Statement:
    parser.expect("OPTIMIZE")
    table = parser.table_or_path()
    full = parser.took("FULL")
    where = parser.raw_until("ZORDER") if parser.took("WHERE") else None
    columns: tuple[str, ...] = ()
    if parser.took("ZORDER"):
        parser.expect("BY")
        columns = tuple(".".join(_quoted(part) for part in path) for path in parser.column_list())
    parser.expect_end("FULL, WHERE, ZORDER BY or the end")
    return OptimizeStatement(table=table, full=full, where=where, zorder_by=columns)


def _quoted(part: str) -> str:
    return part if re.fullmatch(r"\w+", part) else f"`{part.replace('`', '``')}`"


def _reorg(parser: StatementParser) -> Statement:
    parser.expect("REORG")
    parser.expect("TABLE")
    table = parser.table()
    where = parser.raw_until("APPLY") if parser.took("WHERE") else None
    parser.expect("APPLY")
    parser.expect_mark("(")
    upgrades = parser.took("UPGRADE")
    if upgrades:
        parser.expect("UNIFORM")
        parser.in_brackets()
    else:
        parser.expect("PURGE")
    parser.expect_mark(")")
    parser.expect_end()
    return ReorgStatement(table=table, where=where, upgrades_uniform=upgrades)


def _describe(parser: StatementParser) -> Statement | None:
    parser.take()
    word = parser.take()
    if not word.is_keyword("DETAIL", "HISTORY") or parser.next.kind not in ("word", "name", "text"):
        return None  # a table with this name
    table = parser.table_or_path()
    if word.is_keyword("DETAIL"):
        parser.expect_end()
        return DetailStatement(table)
    limit = parser.integer() if parser.took("LIMIT") else None
    parser.expect_end("LIMIT or the end")
    return HistoryStatement(table, limit)


def _generate(parser: StatementParser) -> Statement:
    parser.expect("GENERATE")
    mode = parser.identifier("the kind of file to generate")
    parser.expect("FOR")
    parser.expect("TABLE")
    table = parser.table()
    parser.expect_end()
    return GenerateStatement(mode, table)


def _convert(parser: StatementParser) -> Statement:
    parser.expect("CONVERT")
    parser.expect("TO")
    parser.expect("DELTA")
    table = parser.table()
    collects = True
    if parser.took("NO"):
        parser.expect("STATISTICS")
        collects = False
    fields: tuple[PartitionField, ...] = ()
    if parser.took("PARTITIONED"):
        parser.expect("BY")
        fields = parser.partition_fields()
    parser.expect_end("NO STATISTICS, PARTITIONED BY or the end")
    return ConvertStatement(table=table, partition_fields=fields, collect_stats=collects)


def _restore(parser: StatementParser) -> Statement:
    parser.expect("RESTORE")
    # A table may be named `table`; then no name follows.
    if parser.next.is_keyword("TABLE") and not parser.after_next.is_keyword("TO", "FOR"):
        parser.take()
    table = parser.table()
    parser.took("TO")
    at = parser.time_travel()
    if at is None:
        raise parser.error("VERSION AS OF or TIMESTAMP AS OF")
    parser.expect_end()
    return RestoreStatement(table, at)


_RULES: Mapping[str, Callable[[StatementParser], Statement | None]] = {
    "VACUUM": _vacuum,
    "OPTIMIZE": _optimize,
    "REORG": _reorg,
    "DESC": _describe,
    "DESCRIBE": _describe,
    "GENERATE": _generate,
    "CONVERT": _convert,
    "RESTORE": _restore,
    "CREATE": clone_statement,
    "REPLACE": clone_statement,
    "ALTER": alter_statement,
}

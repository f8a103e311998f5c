"""Statements of Delta as values, and the place of what is wrong in one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from truckee.errors.sql import ConvertedTypeError, IllegalTableNameError, StatementSyntaxError
from truckee.sql.grammar import parsed_statement
from truckee.sql.statements import (
    AddConstraintStatement,
    CloneStatement,
    ClusterByStatement,
    ConvertStatement,
    DetailStatement,
    DropConstraintStatement,
    DropFeatureStatement,
    GenerateStatement,
    HistoryStatement,
    OptimizeStatement,
    PartitionField,
    ReorgStatement,
    RestoreStatement,
    Statement,
    SyncIdentityStatement,
    TableRef,
    TimeTravel,
    VacuumStatement,
)

T = TableRef(("t",))
PATH = TableRef(("delta", "/a b"))
VERSION = TimeTravel(version=3)
TIME = TimeTravel(timestamp="2024-01-31")

STATEMENTS: list[tuple[str, Statement]] = [
    ("VACUUM t", VacuumStatement(table=T)),
    ("vacuum delta.`/a b`;;", VacuumStatement(table=PATH)),
    ("VACUUM '/a' ' b'", VacuumStatement(table=TableRef(path="/a b"))),
    ('VACUUM "/a" LITE', VacuumStatement(table=TableRef(path="/a"), mode="LITE")),
    (
        "VACUUM a.b.c DRY RUN RETAIN -0.5 HOURS full",
        VacuumStatement(
            table=TableRef(("a", "b", "c")), mode="FULL", retention_hours=-0.5, dry_run=True
        ),
    ),
    ("VACUUM t USING INVENTORY i", VacuumStatement(table=T, inventory=TableRef(("i",)))),
    (
        "VACUUM t USING INVENTORY (SELECT (1), ')' FROM i) RETAIN 0 HOURS",
        VacuumStatement(table=T, inventory_query="SELECT (1), ')' FROM i", retention_hours=0),
    ),
    ("OPTIMIZE t", OptimizeStatement(table=T)),
    ("OPTIMIZE '/a b' FULL", OptimizeStatement(table=TableRef(path="/a b"), full=True)),
    (
        "OPTIMIZE t WHERE p = 'ZORDER BY' AND q IN (1,  2) ZORDER BY (a.b, `c d`)",
        OptimizeStatement(
            table=T, where="p = 'ZORDER BY' AND q IN (1,  2)", zorder_by=("a.b", "`c d`")
        ),
    ),
    ("OPTIMIZE t ZORDER BY a, b", OptimizeStatement(table=T, zorder_by=("a", "b"))),
    ("REORG TABLE t APPLY (PURGE)", ReorgStatement(table=T)),
    ("REORG TABLE t WHERE p > 1 APPLY (PURGE)", ReorgStatement(table=T, where="p > 1")),
    (
        "REORG TABLE t APPLY (UPGRADE UNIFORM (ICEBERG_COMPAT_VERSION = 2))",
        ReorgStatement(table=T, upgrades_uniform=True),
    ),
    ("DESCRIBE DETAIL t", DetailStatement(T)),
    ("desc detail '/a b'", DetailStatement(TableRef(path="/a b"))),
    ("-- all of it\nDESCRIBE /* the */ HISTORY t", HistoryStatement(T)),
    ("DESC HISTORY delta.`/a b` LIMIT 5", HistoryStatement(PATH, 5)),
    (
        "GENERATE symlink_format_manifest FOR TABLE t",
        GenerateStatement("symlink_format_manifest", T),
    ),
    ("CONVERT TO DELTA t", ConvertStatement(table=T)),
    (
        "CONVERT TO DELTA parquet.`/p` NO STATISTICS "
        "PARTITIONED BY (a INT, b DECIMAL(3, 2) NOT NULL COMMENT 'x')",
        ConvertStatement(
            table=TableRef(("parquet", "/p")),
            collect_stats=False,
            partition_fields=(
                PartitionField("a", "int"),
                PartitionField("b", "decimal(3,2)", nullable=False, comment="x"),
            ),
        ),
    ),
    ("RESTORE t VERSION AS OF 3", RestoreStatement(T, VERSION)),
    ("RESTORE TABLE t TO VERSION AS OF 3", RestoreStatement(T, VERSION)),
    ("RESTORE TABLE t TO FOR SYSTEM_VERSION AS OF '3'", RestoreStatement(T, VERSION)),
    ("RESTORE delta.`/a b` TO TIMESTAMP AS OF '2024-01-31'", RestoreStatement(PATH, TIME)),
    ("CREATE TABLE t SHALLOW CLONE delta.`/a b`", CloneStatement(table=T, source=PATH)),
    (
        "CREATE TABLE IF NOT EXISTS t SHALLOW CLONE s TIMESTAMP AS OF '2024-01-31'",
        CloneStatement(table=T, source=TableRef(("s",)), if_not_exists=True, at=TIME),
    ),
    (
        "CREATE OR REPLACE TABLE t SHALLOW CLONE s VERSION AS OF 3 "
        "TBLPROPERTIES (a.b = 'x', 'c' true, d = 1.5) LOCATION '/l'",
        CloneStatement(
            table=T,
            source=TableRef(("s",)),
            replaces=True,
            at=VERSION,
            properties=(("a.b", "x"), ("c", "true"), ("d", "1.5")),
            location="/l",
        ),
    ),
    (
        "REPLACE TABLE t DEEP CLONE s",
        CloneStatement(
            table=T, source=TableRef(("s",)), creates=False, replaces=True, is_shallow=False
        ),
    ),
    (
        "ALTER TABLE t ADD CONSTRAINT c CHECK (a.b[0]>1 AND f('x)') <=> 0.5)",
        AddConstraintStatement(T, "c", "a . b [ 0 ] > 1 AND f ( 'x)' ) <=> 0.5"),
    ),
    ("ALTER TABLE t DROP CONSTRAINT c", DropConstraintStatement(T, "c")),
    ("ALTER TABLE t DROP CONSTRAINT IF EXISTS c", DropConstraintStatement(T, "c", True)),
    ("ALTER TABLE t DROP FEATURE f", DropFeatureStatement(T, "f")),
    ("ALTER TABLE t DROP FEATURE 'f' TRUNCATE HISTORY", DropFeatureStatement(T, "f", True)),
    ("ALTER TABLE t CLUSTER BY (a, b.c)", ClusterByStatement(T, (("a",), ("b", "c")))),
    ("ALTER TABLE t CLUSTER BY NONE", ClusterByStatement(T)),
    ("ALTER TABLE t ALTER COLUMN c SYNC IDENTITY", SyncIdentityStatement(T, ("c",))),
    ("ALTER TABLE t CHANGE c SYNC IDENTITY", SyncIdentityStatement(T, ("c",))),
]


@pytest.mark.parametrize(("text", "statement"), STATEMENTS, ids=[text for text, _ in STATEMENTS])
def test_a_statement_of_delta_is_read(text: str, statement: Statement) -> None:
    assert parsed_statement(text) == statement


@pytest.mark.parametrize(
    "text",
    [
        "",
        ";",
        "-- vacuum t\n(SELECT 1)",
        " " * 10_000 + "(SELECT 1)",
        "SELECT * FROM vacuum",
        "DESCRIBE history",
        "DESCRIBE detail.t",
        "DESCRIBE EXTENDED t",
        "CREATE TABLE clone AS SELECT 1",
        "CREATE TABLE t (clone int) USING delta",
        "CREATE TABLE t USING delta CLUSTER BY (a)",
        "ALTER TABLE t ADD CONSTRAINT c PRIMARY KEY (a)",
        "ALTER TABLE t ADD CONSTRAINT c CHECK (a > 1) NOT ENFORCED",
        "ALTER TABLE t DROP CONSTRAINT c CASCADE",
        "ALTER TABLE t ALTER COLUMN identity TYPE bigint",
        "ALTER TABLE t ADD COLUMN feature int",
        "MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN DELETE",
    ],
)
def test_what_spark_knows_is_left_to_spark(text: str) -> None:
    assert parsed_statement(text) is None


def test_a_syntax_error_marks_the_place() -> None:
    with pytest.raises(StatementSyntaxError) as caught:
        parsed_statement("OPTIMIZE -- the table\n  t ZORDER (a)\nLIMIT 1")

    assert str(caught.value) == (
        "[PARSE_SYNTAX_ERROR] Syntax error at or near '(': BY is expected. (line 2, pos 11)\n\n"
        "== SQL ==\nOPTIMIZE -- the table\n  t ZORDER (a)\n-----------^^^\nLIMIT 1"
    )


@pytest.mark.parametrize(
    ("text", "near", "position"),
    [
        ("VACUUM", "end of input", 6),
        ("VACUUM t RETAIN x HOURS", "'x'", 16),
        ("VACUUM t DRY RUN DRY RUN", "'DRY'", 17),
        ("VACUUM t LITE USING INVENTORY i", "'i'", 30),
        ("VACUUM t RETAIN 1 HOURS RETAIN 2 HOURS", "'RETAIN'", 24),
        ("OPTIMIZE t WHERE", "end of input", 16),
        ("OPTIMIZE t ZORDER BY (a", "end of input", 23),
        ("REORG TABLE '/p' APPLY (PURGE)", "''/p''", 12),
        ("REORG TABLE t APPLY (SORT)", "'SORT'", 21),
        ("DESCRIBE HISTORY t LIMIT 'x'", "''x''", 25),
        ("RESTORE t", "end of input", 9),
        ("RESTORE '/p' VERSION AS OF 1", "''/p''", 8),
        ("RESTORE t VERSION AS OF 1.5", "'1.5'", 24),
        ("RESTORE t TIMESTAMP AS OF now", "'now'", 26),
        ("GENERATE m FOR t", "'t'", 15),
        ("CONVERT DELTA t", "'DELTA'", 8),
        ("CREATE TABLE t SHALLOW CLONE s LOCATION p", "'p'", 40),
        ("ALTER TABLE t CLUSTER BY a", "'a'", 25),
        ("ALTER TABLE t DROP FEATURE f HISTORY", "'HISTORY'", 29),
        ("ALTER TABLE t ADD CONSTRAINT c CHECK (a", "end of input", 39),
        ("VACUUM a-b", "'-'", 8),
    ],
)
def test_a_syntax_error_says_where(text: str, near: str, position: int) -> None:
    with pytest.raises(StatementSyntaxError) as caught:
        parsed_statement(text)

    assert (caught.value.near, caught.value.position) == (near, position)


def test_a_name_of_four_parts_and_a_type_that_folders_do_not_hold_are_refused() -> None:
    with pytest.raises(IllegalTableNameError):
        parsed_statement("VACUUM a.b.c.d")
    with pytest.raises(ConvertedTypeError, match="a cannot have the type array<INT>"):
        parsed_statement("CONVERT TO DELTA t PARTITIONED BY (a ARRAY<INT>)")


def test_the_grammar_needs_no_spark() -> None:
    source = Path(__file__).resolve().parents[2] / "src"
    program = (
        f"import sys; sys.path.insert(0, {str(source)!r}); import truckee.sql.grammar; "
        "sys.exit('pyspark' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0

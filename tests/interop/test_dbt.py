"""A project of dbt whose models are Delta tables: seed, merge, snapshot, tests, docs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import truckee
from step_scripts import script_environment

pytestmark = pytest.mark.interop

PROJECT = Path(__file__).with_name("dbt_shop")
PYTHON = Path(__file__).parents[2] / ".venv-dbt" / "bin" / "python"
ORDER_2 = "2,new,20.0,2026-01-01 09:00:00\n"
NEWS = "2,paid,20.0,2026-01-03 09:00:00\n4,new,1.0,2026-01-03 10:00:00\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project, after a build, a change of the seed, another build, and its documentation."""
    if not PYTHON.exists():
        pytest.skip("dbt left out: make interop sets up .venv-dbt")
    folder = tmp_path_factory.mktemp("dbt") / "shop"
    shutil.copytree(PROJECT, folder)
    run_dbt(folder, "build")
    seed = folder / "seeds" / "raw_orders.csv"
    seed.write_text(seed.read_text().replace(ORDER_2, NEWS))
    run_dbt(folder, "build")
    run_dbt(folder, "docs", "generate")
    return folder


def run_dbt(folder: Path, *arguments: str) -> None:
    environment = {**os.environ, **script_environment(), "TZ": "UTC"}
    done = subprocess.run(
        [str(PYTHON), "run_dbt.py", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-2000:]}"


def rows(project: Path, name: str, *columns: str) -> list[tuple[Any, ...]]:
    table = truckee.open(table_folder(project, name)).to_arrow()
    return sorted(tuple(str(row[each]) for each in columns) for row in table.to_pylist())


def table_folder(project: Path, name: str) -> Path:
    return project / "spark-warehouse" / "shop.db" / name


def operations(project: Path, name: str) -> list[str | None]:
    history = truckee.open(table_folder(project, name)).history()
    return [commit.operation for commit in reversed(history)]


def test_an_incremental_model_is_merged(project: Path) -> None:
    assert rows(project, "orders", "id", "status") == [
        ("1", "new"),
        ("2", "paid"),
        ("3", "new"),
        ("4", "new"),
    ]
    assert operations(project, "orders")[-1] == "MERGE"


def test_a_table_is_replaced_with_its_partitions_and_properties(project: Path) -> None:
    assert rows(project, "days", "day", "orders", "amount") == [
        ("2026-01-01", "1", "10.5"),
        ("2026-01-02", "1", "5.5"),
        ("2026-01-03", "2", "21.0"),
    ]
    detail = truckee.open(table_folder(project, "days")).detail()
    assert detail.partition_columns == ("day",)
    assert detail.properties["delta.enableChangeDataFeed"] == "true"


def test_a_snapshot_has_each_state_of_an_order(project: Path) -> None:
    found = rows(project, "orders_history", "id", "status", "dbt_valid_to")

    assert [(number, status, end != "None") for number, status, end in found] == [
        ("1", "new", False),
        ("2", "new", True),
        ("2", "paid", False),
        ("3", "new", False),
        ("4", "new", False),
    ]


def test_all_tests_of_the_project_pass_and_find_what_is_wrong(project: Path) -> None:
    seed = project / "seeds" / "raw_orders.csv"
    seed.write_text(seed.read_text() + "5,lost,-1.0,2026-01-04 10:00:00\n")

    with pytest.raises(AssertionError) as caught:
        run_dbt(project, "build", "--select", "raw_orders", "orders")

    assert "accepted_values_orders_status" in str(caught.value)
    assert "amounts_are_positive" in str(caught.value)


def test_the_documentation_has_the_columns_of_the_tables(project: Path) -> None:
    catalog = json.loads((project / "target" / "catalog.json").read_text())

    orders = catalog["nodes"]["model.shop.orders"]
    assert list(orders["columns"]) == ["id", "status", "amount", "updated_at"]
    assert truckee.open(table_folder(project, "orders")).detail().description == (
        "Each order as it is now."
    )

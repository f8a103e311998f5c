"""What a notebook shows: tables of what users hold, and one sentence for what is wrong.

The cells are run by a real kernel, which starts a Spark of its own.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import truckee

CELLS = (
    """
import truckee
from truckee import DeltaTable
spark = truckee.session(master="local[1]")
truckee.write(spark.range(3)).option("delta.enableDeletionVectors", True).save("lake/<b>t")
table = DeltaTable.forPath(spark, "lake/<b>t")
table.delete("id = 1")
""",
    "table",
    "table.history()",
    "table.detail()",
    "table.doctor()",
    "truckee.open('lake/<b>t')",
    "table.toDF()",
    "table.diff(0, 1)",
    "table.changes(0, changeFeed='auto')",
    "table.optimize().executeCompaction()",
    """
def clean(table):
    table.update('nothing = 1', {'id': '7'})
clean(table)
""",
)


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The cells of a notebook after it was run."""
    folder = tmp_path_factory.mktemp("notebook")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    sources = str(Path(truckee.__file__).parents[1])
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = sources
    try:
        NotebookClient(
            notebook,
            timeout=300,
            kernel_name="python3",
            allow_errors=True,
            resources={"metadata": {"path": str(folder)}},
        ).execute()
    finally:
        os.environ.pop("PYTHONPATH")
        if before is not None:
            os.environ["PYTHONPATH"] = before
    return list(notebook.cells)


def html(cell: Any) -> str:
    return "".join(output.get("data", {}).get("text/html", "") for output in cell.outputs)


@pytest.mark.spark
@pytest.mark.slow
def test_what_users_hold_is_shown_as_tables(cells: list[Any]) -> None:
    deleted, table, history, detail, doctor, local, rows, diff, changes, optimized, _ = cells

    assert "num_affected_rows" in html(deleted)
    assert all(text in html(table) for text in ("version 1", "bigint", "DELETE", "vectors on"))
    assert ">DELETE</td>" in html(history)
    assert "without values: userId, userName, " in html(history)
    assert ">delta</td>" in html(detail)
    assert ">topic</th>" in html(doctor)
    assert html(local) == html(table)
    assert html(rows) == ""
    assert "rows deleted" in html(diff)
    assert ">metrics</th>" in html(optimized)
    assert "numFilesAdded: " in html(optimized)
    assert re.search(r"\nstartTimeMs: 20\d\d-\d\d-\d\dT", html(optimized))
    assert not {"{", "&quot;", "..."} & set(re.findall(r"{|&quot;|\.\.\.", html(optimized)))
    assert html(changes).count(">insert</td>") == 3
    assert html(changes).count(">delete</td>") == 1


@pytest.mark.spark
@pytest.mark.slow
def test_nothing_of_a_table_becomes_html(cells: list[Any]) -> None:
    assert all("lake/<b>t" not in html(cell) for cell in cells)


@pytest.mark.spark
@pytest.mark.slow
def test_an_error_ends_with_its_sentence(cells: list[Any]) -> None:
    (error,) = [output for output in cells[-1].outputs if output.output_type == "error"]

    assert "nothing" in error.evalue
    assert "Py4J" not in error.evalue
    assert error.traceback == [
        "Cell In[11], line 3",
        "----> 3 clean(table)",
        "",
        "Cell In[11], line 2, in clean",
        "----> 2 table.update('nothing = 1', {'id': '7'})",
        "",
        f"MissingColumnError: {error.evalue}",
        "(the frames of libraries are left out; sys.last_value has them)",
    ]


@pytest.mark.spark
@pytest.mark.slow
def test_nothing_but_the_error_is_on_stderr(cells: list[Any]) -> None:
    outputs = [output for cell in cells for output in cell.outputs]

    assert [output.text for output in outputs if output.output_type == "stream"] == []

"""Preimages come before postimages, and nothing else moves."""

from __future__ import annotations

import pyarrow as pa
import pytest

from truckee.arrow.image_order import preimages_first

KINDS = {"<": "update_preimage", ">": "update_postimage", "+": "insert", "-": "delete"}


def ordered(rows: str) -> str:
    """Return rows such as `0>a 0<a` (version, type of change, value) in order."""
    table = pa.table(
        {
            "value": pa.array([row[2:] for row in rows.split()], pa.string()),
            "_change_type": pa.array([KINDS[row[1]] for row in rows.split()], pa.string()),
            "_commit_version": pa.array([int(row[0]) for row in rows.split()], pa.int64()),
        }
    )
    marks = {kind: mark for mark, kind in KINDS.items()}
    return " ".join(
        f"{row['_commit_version']}{marks[row['_change_type']]}{row['value']}"
        for row in preimages_first(table).to_pylist()
    )


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ("", ""),
        ("0+a 0-b", "0+a 0-b"),
        ("0<a 0>a 0<b 0>b", "0<a 0>a 0<b 0>b"),
        ("0>a 0>b 0<a 0<b", "0<a 0<b 0>a 0>b"),
        ("0+c 0>a 0<a", "0<a 0+c 0>a"),
        # Only the version that has them in the wrong order changes.
        ("1<a 1>a 0>b 2>c 0<b 2<c", "1<a 1>a 0<b 2<c 0>b 2>c"),
        # Where a condition left one kind of image, there is nothing to order.
        ("0>a 0>b", "0>a 0>b"),
    ],
)
def test_preimages_come_first_in_their_version(rows: str, wanted: str) -> None:
    assert ordered(rows) == wanted

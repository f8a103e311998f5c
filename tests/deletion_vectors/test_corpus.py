from __future__ import annotations

from pathlib import Path

import pytest

from corpus import CorpusTable, corpus_tables
from truckee.deletion_vectors.store import VectorOf, check_row_indexes, read_deletion_vectors
from truckee.protocol.actions import AddFile, RemoveFile, decode_actions
from truckee.storage import open_storage

pytestmark = pytest.mark.golden


@pytest.mark.parametrize("table", corpus_tables("dv", "cdf-dv"), ids=str)
def test_every_vector_that_a_commit_names_can_be_read(table: CorpusTable, tmp_path: Path) -> None:
    root = table.ready(tmp_path)
    commits = sorted(root.glob("_delta_log/" + "[0-9]" * 20 + ".json"))
    wanted = [
        VectorOf(descriptor=action.deletion_vector, data_file=action.path)
        for commit in commits
        for action in decode_actions(commit.read_bytes())
        if isinstance(action, AddFile | RemoveFile) and action.deletion_vector is not None
    ]

    bitmaps = read_deletion_vectors(open_storage(str(root)), wanted)

    assert [len(b) for b in bitmaps] == [want.descriptor.cardinality for want in wanted]
    for bitmap, want in zip(bitmaps, wanted, strict=True):
        check_row_indexes(bitmap, 10_000_000, of=want)

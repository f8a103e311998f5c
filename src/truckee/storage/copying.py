"""Copies files from one table's storage to another's, completely or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from typing import NamedTuple

from truckee.storage.base import Storage
from truckee.storage.local import LocalStorage
from truckee.storage.object_store import ObjectStoreStorage
from truckee.storage.read_bounds import without_fence


class FileCopy(NamedTuple):
    """A file to copy: its path in the source's storage, and its path in the target's."""

    source: str
    target: str


def copy_files(source: Storage, target: Storage, files: Iterable[FileCopy]) -> int:
    """Copy files, and return how many; FileNotFoundError if one does not exist."""
    count = 0
    for file in files:
        copy_file(source, target, file)
        count += 1
    return count


def copy_file(source: Storage, target: Storage, file: FileCopy) -> None:
    """Copy one file; it appears under its name when it is complete."""
    target = without_fence(target)
    if isinstance(target, LocalStorage):
        with source.open_input(file.source) as opened:
            target.write_from(file.target, lambda out: shutil.copyfileobj(opened, out, 1 << 22))
    elif isinstance(target, ObjectStoreStorage):
        with source.open_input(file.source) as opened:
            target.write_from(file.target, opened)
    else:
        target.write(file.target, source.read(file.source))

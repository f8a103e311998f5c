"""Ways to break a table: by bits, bytes, lines, fields and whole files.

    mutate(folder, Random(7))      breaks the table in that folder, the same way each time

Files may be links to those of another folder: a file that is changed is replaced, never written to.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

DEEP = json.loads("[" * 400 + "]" * 400)
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    2**31,
    2**63 - 1,
    2**63,
    -(2**63),
    10**30,
    1.5,
    1e308,
    "",
    "x",
    "\x00",
    "../../../etc/passwd",
    "/dev/zero",
    "file:///dev/zero",
    "s3://bucket/key",
    "%00",
    "%ff%fe",
    "a" * 5000,
    "\U0001f600",
    "1e999999999",
    "9999-99-99",
    [],
    {},
    [1],
    {"a": 1},
    DEEP,
)


def mutate(table: Path, random: Random) -> str:
    """Break a table, and return how."""
    files = sorted(file for file in table.rglob("*") if file.is_file())
    log = [file for file in files if file.parent.name == "_delta_log"]
    how = random.choice(MUTATIONS)
    for _ in range(random.choice((1, 1, 1, 2, 5))):
        file = random.choice(log if log and random.random() < 0.7 else files)
        if file.is_file():
            how(file, random)
    return f"{how.__name__} of {file.relative_to(table)}"


def replace_bytes(file: Path, data: bytes) -> None:
    file.unlink()
    file.write_bytes(data)


def flip_bits(file: Path, random: Random) -> None:
    data = bytearray(file.read_bytes())
    for _ in range(random.randint(1, 8) if data else 0):
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    replace_bytes(file, bytes(data))


def overwrite_bytes(file: Path, random: Random) -> None:
    data = bytearray(file.read_bytes())
    start = random.randrange(len(data) + 1)
    length = random.choice((1, 4, 8, 64))
    fill = random.choice((b"\0" * length, b"\xff" * length, random.randbytes(length)))
    data[start : start + length] = fill
    replace_bytes(file, bytes(data))


def cut(file: Path, random: Random) -> None:
    data = file.read_bytes()
    start = random.randrange(len(data) + 1)
    replace_bytes(file, random.choice((b"", data[:start], data[start:], data + data[start:])))


def shuffle_lines(file: Path, random: Random) -> None:
    lines = file.read_bytes().split(b"\n")
    place = random.randrange(len(lines))
    match random.randrange(4):
        case 0:
            del lines[place]
        case 1:
            lines.insert(place, random.choice(lines))
        case 2:
            random.shuffle(lines)
        case 3:
            lines[place] = random.choice((b"{}", b"[]", b"null", b"{" * 9999, b"\xff", b"\0"))
    replace_bytes(file, b"\n".join(lines))


def change_field(file: Path, random: Random) -> None:
    lines = file.read_bytes().splitlines()
    place = random.randrange(len(lines)) if lines else 0
    try:
        value = json.loads(lines[place])
    except (IndexError, ValueError):
        return flip_bits(file, random)
    lines[place] = json.dumps(_changed(value, random)).encode()
    return replace_bytes(file, b"\n".join(lines))


def _changed(value: Any, random: Random) -> Any:
    """Return JSON with something in it replaced, removed, or looked into if it is JSON itself."""
    if isinstance(value, str) and value[:1] == "{" and random.random() < 0.8:
        try:
            return json.dumps(_changed(json.loads(value), random))
        except ValueError:
            return random.choice(VALUES)
    if isinstance(value, dict) and value and random.random() < 0.9:
        key = random.choice(sorted(value))
        changed = {**value, key: _changed(value[key], random)}
        if random.random() < 0.1:
            del changed[key]
        return changed
    if isinstance(value, list) and value and random.random() < 0.8:
        place = random.randrange(len(value))
        return [*value[:place], _changed(value[place], random), *value[place + 1 :]]
    return random.choice(VALUES)


def lose_file(file: Path, _random: Random) -> None:
    file.unlink()


def swap_files(file: Path, random: Random) -> None:
    other = random.choice(sorted(f for f in file.parent.iterdir() if f.is_file()))
    first, second = file.read_bytes(), other.read_bytes()
    replace_bytes(file, second)
    replace_bytes(other, first)


def rename_file(file: Path, random: Random) -> None:
    version = random.choice((1, 3, 200_000_000, 2**63 - 1, 10**20 - 1))
    name = random.choice((f"{version:020d}{file.name[20:]}", f"{version:020d}.json", "x"))
    file.replace(file.with_name(name))


def strange_file(file: Path, random: Random) -> None:
    file.unlink()
    match random.randrange(5):
        case 0:
            os.mkfifo(file)
        case 1:
            file.symlink_to("/dev/zero")
        case 2:
            file.mkdir()
        case 3:
            file.symlink_to(file)
        case 4:
            file.symlink_to("/dev/null")


MUTATIONS: tuple[Callable[[Path, Random], None], ...] = (
    flip_bits,
    overwrite_bytes,
    cut,
    shuffle_lines,
    change_field,
    change_field,
    change_field,
    lose_file,
    swap_files,
    rename_file,
    strange_file,
)

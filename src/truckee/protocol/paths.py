"""Names in the log directory, and the two spellings of a data file's path.

A data file has a *file path* (what a file system is asked for) and an *encoded path* (what
`add.path` holds: the URI form of the file path). A partition value that becomes a directory is
escaped twice, once for Hive and once for the URI:

| value      | directory in the file path | in the encoded path |
|------------|----------------------------|---------------------|
| `bar+%21`  | `c=bar+%2521`              | `c=bar+%252521`     |
| `a b`      | `c=a b`                    | `c=a%20b`           |
| `11:11:11` | `c=11%3A11%3A11`           | `c=11%253A11%253A11`|
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from enum import Enum
from urllib.parse import unquote

from msgspec import Struct

LOG_DIRECTORY = "_delta_log"
SIDECAR_DIRECTORY = f"{LOG_DIRECTORY}/_sidecars"
LAST_CHECKPOINT_PATH = f"{LOG_DIRECTORY}/_last_checkpoint"
LAST_VACUUM_INFO_PATH = f"{LOG_DIRECTORY}/_last_vacuum_info"
CHANGE_DATA_DIRECTORY = "_change_data"
HIVE_DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"


class LogFileKind(Enum):
    """What a file in the log directory is, by its name alone."""

    COMMIT = "commit"
    CHECKPOINT = "checkpoint"
    CHECKPOINT_PART = "checkpoint part"
    CHECKPOINT_V2 = "v2 checkpoint"
    COMPACTED = "compacted commits"
    CHECKSUM = "checksum"
    SIDECAR = "sidecar"
    STAGED_COMMIT = "staged commit"
    LAST_CHECKPOINT = "last checkpoint"
    LAST_VACUUM_INFO = "last vacuum info"


class LogFile(Struct, frozen=True, kw_only=True):
    """A parsed name in the log directory.

    `version` is -1 for files that belong to no version. `end_version` equals `version` except for
    compacted commits, which cover `version..end_version`, both included. `part` counts from 1.
    """

    kind: LogFileKind
    name: str
    version: int = -1
    end_version: int = -1
    part: int | None = None
    parts: int | None = None

    @property
    def is_checkpoint(self) -> bool:
        """Whether this is a checkpoint of any kind, or one part of one."""
        return self.kind in _CHECKPOINT_KINDS


_CHECKPOINT_KINDS = frozenset(
    {LogFileKind.CHECKPOINT, LogFileKind.CHECKPOINT_PART, LogFileKind.CHECKPOINT_V2}
)


def commit_path(version: int) -> str:
    """Return the path of the commit of a version, relative to the table's root."""
    return f"{LOG_DIRECTORY}/{version:020d}.json"


def checksum_path(version: int) -> str:
    """Return the path of the checksum of a version, relative to the table's root."""
    return f"{LOG_DIRECTORY}/{version:020d}.crc"


def checkpoint_path(version: int) -> str:
    """Return the path of the classic checkpoint of a version, relative to the table's root."""
    return f"{LOG_DIRECTORY}/{version:020d}.checkpoint.parquet"


def checkpoint_v2_path(version: int, unique: str, extension: str) -> str:
    """Return the path of a uuid-named checkpoint; `extension` is `json` or `parquet`."""
    return f"{LOG_DIRECTORY}/{version:020d}.checkpoint.{unique}.{extension}"


def sidecar_name(version: int, part: int, parts: int, unique: str) -> str:
    """Return the name of a new sidecar: part 1, 2, ... of the checkpoint of a version.

    The protocol allows any unique name. This is the one that Delta uses; some releases of Delta
    Kernel fail to read sidecars whose names do not start with a version.
    """
    return f"{version:020d}.checkpoint.{part:010d}.{parts:010d}.{unique}.parquet"


def sidecar_path(name: str) -> str:
    """Return the path of a sidecar, relative to the table's root.

    A checkpoint names a sidecar by its file name or by a longer path. The protocol keeps all of
    them in one folder, so only the file name matters.
    """
    return f"{SIDECAR_DIRECTORY}/{decode_path(name).rpartition('/')[2]}"


_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
_NUMBERED = re.compile(
    rf"""(?P<version>[0-9]{{20}})\.(?:
        (?P<commit>json)
      | (?P<checksum>crc)
      | (?P<end>[0-9]{{20}})\.compacted\.json
      | (?P<checkpoint>checkpoint\.parquet)
      | checkpoint\.(?P<part>[0-9]{{10}})\.(?P<parts>[0-9]{{10}})\.parquet
      | (?P<v2>checkpoint\.{_UUID}\.(?:json|parquet))
    )""",
    re.VERBOSE,
)
_STAGED = re.compile(rf"([0-9]{{20}})\.{_UUID}\.json")
# Delta and truckee name a sidecar after its checkpoint, its part number and a UUID; Delta Kernel
# uses the UUID alone.
_SIDECAR = re.compile(rf"(?:[0-9]{{20}}\.checkpoint\.[0-9]{{10}}\.[0-9]{{10}}\.)?{_UUID}\.parquet")
LARGEST_VERSION = 2**63 - 1
"""The last version that a log can have: others read versions as 64-bit integers."""

_SINGLE_NAMES = {
    "_last_checkpoint": LogFileKind.LAST_CHECKPOINT,
    "_last_vacuum_info": LogFileKind.LAST_VACUUM_INFO,
}


def parse_log_name(name: str) -> LogFile | None:
    """Return what a file of the log directory is, or None for an unknown name.

    A version must fit into 64 bits, and a sidecar must have a name that writers use.
    `name` is relative to the log directory or to the table's root (`_delta_log/...`).
    """
    name = name.removeprefix(f"{LOG_DIRECTORY}/")
    directory, _, base = name.rpartition("/")
    if directory:
        return _parse_nested_name(directory, base)
    if name in _SINGLE_NAMES:
        return LogFile(kind=_SINGLE_NAMES[name], name=name)
    match = _NUMBERED.fullmatch(name)
    return None if match is None else _numbered_file(name, match)


def _parse_nested_name(directory: str, base: str) -> LogFile | None:
    if directory == "_sidecars" and _SIDECAR.fullmatch(base):
        return LogFile(kind=LogFileKind.SIDECAR, name=base)
    staged = _STAGED.fullmatch(base) if directory == "_staged_commits" else None
    if staged is None:
        return None
    version = int(staged[1])
    return LogFile(kind=LogFileKind.STAGED_COMMIT, name=base, version=version, end_version=version)


def _numbered_file(name: str, match: re.Match[str]) -> LogFile | None:
    version = int(match["version"])
    if version > LARGEST_VERSION:
        return None
    if match["end"]:
        end = int(match["end"])
        if not version <= end <= LARGEST_VERSION:
            return None
        return LogFile(kind=LogFileKind.COMPACTED, name=name, version=version, end_version=end)
    if match["part"]:
        part, parts = int(match["part"]), int(match["parts"])
        if not 1 <= part <= parts:
            return None
        return LogFile(
            kind=LogFileKind.CHECKPOINT_PART,
            name=name,
            version=version,
            end_version=version,
            part=part,
            parts=parts,
        )
    if match["commit"]:
        kind = LogFileKind.COMMIT
    elif match["checksum"]:
        kind = LogFileKind.CHECKSUM
    elif match["checkpoint"]:
        kind = LogFileKind.CHECKPOINT
    else:
        kind = LogFileKind.CHECKPOINT_V2
    return LogFile(kind=kind, name=name, version=version, end_version=version)


_ABSOLUTE_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:/")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://")
_LOCAL_FILE_URI = re.compile(r"file:(?://(?:localhost)?(?=/))?(?=/)", re.IGNORECASE)


def is_absolute(path: str) -> bool:
    """Return whether a path, encoded or not, is absolute rather than relative to the root."""
    return path.startswith("/") or _ABSOLUTE_URI.match(path) is not None


def decode_path(encoded: str) -> str:
    """Return the file path of an `add.path`: decoded as a URI, exactly once.

    A relative path stays relative to the table's root. `file:` URIs become plain absolute paths,
    URIs of other schemes stay URIs. Two spellings of one path give equal results.
    """
    if encoded[:5].lower() == "file:":
        encoded = _LOCAL_FILE_URI.sub("", encoded, count=1)
        if encoded.startswith("/"):
            encoded = "/" + encoded.lstrip("/")
    return unquote(encoded) if "%" in encoded else encoded


def encode_path(file_path: str) -> str:
    """Return the `add.path` of a file path, the inverse of `decode_path`.

    Absolute local paths become URIs such as `file:/data/a`, which is how Hadoop spells them:
    delta-spark compares them as text. A colon that would make the start of a relative path look
    like the scheme of a URI is encoded too.
    """
    if file_path.startswith("/"):
        return "file:" + _uri_quote(file_path)
    if _SCHEME.match(file_path) and not _URL.match(file_path):
        first, _, rest = file_path.partition(":")
        return f"{_uri_quote(first)}%3A{_uri_quote(rest)}"
    return _uri_quote(file_path)


_NEEDS_URI_QUOTE = re.compile(r"""[\x00-\x20"#%<>?\[\\\]^`{|}\x7f]|[^\x00-\x7f]""")


def _uri_quote(text: str) -> str:
    return _NEEDS_URI_QUOTE.sub(_uri_quote_character, text)


def _uri_quote_character(match: re.Match[str]) -> str:
    character = match[0]
    if character > "\x7f" and unicodedata.category(character) not in ("Zs", "Zl", "Zp", "Cc"):
        return character
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8"))


_NEEDS_HIVE_ESCAPE = re.compile(r"""[\x01-\x1f\x7f"#%'*/:=?\[\\\]^{]""")


def hive_escape(text: str) -> str:
    """Return a column name or partition value as it is spelled in a directory name."""
    return _NEEDS_HIVE_ESCAPE.sub(lambda match: f"%{ord(match[0]):02X}", text)


def partition_directory(columns: Iterable[str], values: Mapping[str, str | None]) -> str:
    """Return the directory of a partition, `a=1/b=x%3Ay`, as part of a file path.

    `columns` gives the order; NULL and the empty string share one directory name.
    """
    return "/".join(
        f"{hive_escape(column)}={hive_escape(values.get(column) or '') or HIVE_DEFAULT_PARTITION}"
        for column in columns
    )


def split_partition_directory(path: str) -> tuple[str, dict[str, str | None]]:
    """Return a path without the partition folders at its end, and the values these stand for.

    `lake/orders/day=2024-01-01/k=__HIVE_DEFAULT_PARTITION__` is `lake/orders` with the day, and
    with null for `k`. A path that ends in no such folder comes back as it is, with no values.
    """
    folders = path.rstrip("/").split("/")
    values: dict[str, str | None] = {}
    while len(folders) > 1 and "=" in folders[-1]:
        name, value = map(unquote, folders.pop().split("=", 1))
        values[name] = None if value == HIVE_DEFAULT_PARTITION else value
    return ("/".join(folders), dict(reversed(values.items()))) if values else (path, {})


def short_name(root: str) -> str:
    """Return the last two folders of a table's root, a short name for it.

    `s3://bucket/lake/orders` is `lake/orders`.
    """
    path = root.rpartition("://")[2].strip("/")
    return "/".join(path.split("/")[-2:])

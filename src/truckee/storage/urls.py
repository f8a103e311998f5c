"""Parses the paths and URLs that users write for a table.

| written                          | local path                    |
|----------------------------------|-------------------------------|
| `t`, `./t/`                      | `t` below the working folder  |
| `/data/a%20b`                    | `/data/a%20b`                 |
| `file:/data/t`, `file:///data/t` | `/data/t`                     |
| `file:///data/a%20b`             | `/data/a b`                   |

A plain path is taken literally; only a `file:` URL is percent-decoded, and `~` is a folder name.

| URL of an object store                                   | store | bucket           | key   |
|----------------------------------------------------------|-------|------------------|-------|
| `s3://`, `s3a://`, `s3n://` + `b/x/t`                    | S3    | `b`              | `x/t` |
| `gs://b/x/t`                                             | GCS   | `b`              | `x/t` |
| `abfs://`, `abfss://` + `c@acc.dfs.core.windows.net/x/t` | Azure | `c` of `acc`     | `x/t` |
| `wasb://`, `wasbs://` + `c@acc.blob.core.windows.net/x`  | Azure | `c` of `acc`     | `x`   |
| `az://c/x`, `abfss://c/x`                                | Azure | `c` (see below)  | `x`   |

The last one names no account: it comes from the options or the environment.
Like a Hadoop path, such a URL is taken literally: nothing in it is percent-decoded.
"""

from __future__ import annotations

import os
import posixpath
import re
from enum import Enum
from typing import NamedTuple
from urllib.parse import unquote

from truckee.errors.storage import InvalidUrlError

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?=/)")
_FILE_URL = re.compile(r"file:(?://(?P<host>[^/]*))?(?P<path>/.*)", re.IGNORECASE | re.DOTALL)


def scheme_of(path: str) -> str | None:
    """Return the scheme of a URL in lower case, or None for a plain path.

    A slash must follow the colon, so that `a:b` stays a file name.
    """
    found = _SCHEME.match(path)
    return found[1].lower() if found else None


def hadoop_url(path: str) -> str:
    """Return an absolute path as Hadoop spells it: with a scheme, and nothing percent-encoded."""
    return f"file://{path}" if path.startswith("/") else path


def is_file_name(path: str) -> bool:
    """Return whether a path is valid for a file system, which refuses NUL and lone surrogates."""
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def local_root(path: str) -> str:
    """Return the absolute local path that a user's plain path or `file:` URL means."""
    if not path:
        raise InvalidUrlError(action="open", path=path, reason="the path is empty")
    if path.lower().startswith("file:"):
        path = unquote(file_url_path(path))
    return os.path.abspath(path)  # resolve() would follow symbolic links


def file_url_path(url: str) -> str:
    """Return the path of a `file:` URL as it is written, without percent-decoding."""
    found = _FILE_URL.fullmatch(url)
    if found is None:
        raise InvalidUrlError(
            action="open", path=url, reason="a file: URL needs an absolute path, as in file:///data"
        )
    if (found["host"] or "localhost").lower() != "localhost":
        raise InvalidUrlError(
            action="open", path=url, reason=f"its path is on another host, {found['host']!r}"
        )
    return found["path"]


class StoreKind(Enum):
    """The families of object stores."""

    S3 = "S3"
    GCS = "GCS"
    AZURE = "Azure"


class Bucket(NamedTuple):
    """A bucket of S3 or GCS, or a container of an Azure account.

    `host` is the account's host name as the URL gives it, `acc.dfs.core.windows.net`.
    """

    kind: StoreKind
    name: str
    host: str | None = None


class ObjectUrl(NamedTuple):
    """A place in a bucket; the key has no slash at either end, and is empty for the bucket."""

    bucket: Bucket
    key: str


_KINDS = {
    "s3": StoreKind.S3,
    "s3a": StoreKind.S3,
    "s3n": StoreKind.S3,
    "gs": StoreKind.GCS,
    "az": StoreKind.AZURE,
    "abfs": StoreKind.AZURE,
    "abfss": StoreKind.AZURE,
    "wasb": StoreKind.AZURE,
    "wasbs": StoreKind.AZURE,
}

_URL = re.compile(r"[^:]+://(?P<name>[^/@]+)(?:@(?P<host>[^/]+))?(?:/(?P<key>.*))?", re.DOTALL)


def is_object_url(path: str) -> bool:
    """Return whether this is a URL of an object store, going by its scheme."""
    return scheme_of(path) in _KINDS


def parse_object_url(url: str) -> ObjectUrl:
    """Return the bucket and the key that a URL names; InvalidUrlError if it names none."""
    kind = _KINDS.get(scheme_of(url) or "")
    found = _URL.fullmatch(url)
    if kind is None or found is None or (found["host"] and kind is not StoreKind.AZURE):
        raise InvalidUrlError(action="open", path=url, reason="the URL names no bucket")
    bucket = Bucket(kind, found["name"], found["host"])
    return ObjectUrl(bucket, normal_key(found["key"] or ""))


def normal_key(path: str) -> str:
    """Return a path below the bucket without empty parts, `.` and `..`, as Hadoop sees it."""
    return posixpath.normpath(f"/{path.lstrip('/')}").strip("/")

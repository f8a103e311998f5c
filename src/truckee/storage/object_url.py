"""URLs of object stores, as Spark users write them, parsed into bucket and key.

| URL                                                      | store | bucket           | key   |
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

import posixpath
import re
from enum import Enum
from typing import NamedTuple

from truckee.errors.storage import InvalidUrlError
from truckee.storage.urls import scheme_of


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

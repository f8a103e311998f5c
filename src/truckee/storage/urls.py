"""Parses the paths and URLs that users write for a table.

| written                          | local path                    |
|----------------------------------|-------------------------------|
| `t`, `./t/`                      | `t` below the working folder  |
| `/data/a%20b`                    | `/data/a%20b`                 |
| `file:/data/t`, `file:///data/t` | `/data/t`                     |
| `file:///data/a%20b`             | `/data/a b`                   |

A plain path is taken literally; only a URL is percent-decoded, and `~` is a folder name.
"""

from __future__ import annotations

import os
import re
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

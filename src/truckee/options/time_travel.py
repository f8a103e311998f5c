"""Which version of a table a read asks for."""

from __future__ import annotations

import re

from truckee.errors.options import BothTimeTravelOptionsError
from truckee.options.feed import Bound
from truckee.options.text import Options
from truckee.options.timestamps import timestamp_ms

_AT_VERSION = re.compile(r"^(?P<path>.*)@[vV](?P<version>\d+)$")
_AT_TIMESTAMP = re.compile(r"^(?P<path>.*)@(?P<digits>\d{17})$")


def time_travel(options: Options, *, time_zone: str) -> Bound | None:
    """Return the version or the time that `versionAsOf` or `timestampAsOf` names, if any."""
    version = options.version_as_of()
    has_timestamp = "timestampAsOf" in options
    if version is not None and has_timestamp:
        raise BothTimeTravelOptionsError
    if version is not None:
        return Bound(version=version)
    if not has_timestamp:
        return None
    moment = options["timestampAsOf"]
    return Bound(timestamp_ms=timestamp_ms(moment, option="timestampAsOf", time_zone=time_zone))


def split_path(path: str, *, time_zone: str) -> tuple[str, Bound | None]:
    """Return a path and the version or time at its end: `t@v3`, or `t@20240102030405006`."""
    if found := _AT_VERSION.match(path):
        return found["path"], Bound(version=int(found["version"]))
    if found := _AT_TIMESTAMP.match(path):
        text = "{}{}{}{}-{}{}-{}{} {}{}:{}{}:{}{}.{}{}{}".format(*found["digits"])
        at = timestamp_ms(text, option="the end of the path", time_zone=time_zone)
        return found["path"], Bound(timestamp_ms=at)
    return path, None

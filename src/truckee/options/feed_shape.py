"""How a feed shows its changes: where they come from, and how they are combined.

| option              | values                            | default                         |
|---------------------|-----------------------------------|---------------------------------|
| `changeFeed`        | recorded, derived, auto           | recorded                        |
| `deduplicationMode` | none, dropCarryovers, netChanges  | dropCarryovers where derived    |
| `computeUpdates`    | true, false                       | where ids or keys identify rows |
| `keys`              | names of columns, with commas     |                                 |
| `dropUnchanged`     | true, false                       | false                           |
| `schemaMode`        | follow, superset, or one schema   | one schema for the whole range  |

Where Spark has a name for an option or a value, that name is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TypeVar

from msgspec import Struct

from truckee.errors.changes import (
    DeduplicationModeError,
    EmptyKeysError,
    UpdatesNeedCarryoversDroppedError,
)
from truckee.errors.options import ArgumentTypeError, IllegalOptionError
from truckee.options.text import Options, did_you_mean

CHANGE_FEED = "changeFeed"
DEDUPLICATION_MODE = "deduplicationMode"
COMPUTE_UPDATES = "computeUpdates"
KEYS = "keys"
DROP_UNCHANGED = "dropUnchanged"
SCHEMA_VERSION = "includeSchemaVersion"
CHANGE_SOURCE = "includeChangeSource"
FEED_SCHEMA_MODE = "schemaMode"

SHAPE_OPTIONS = (
    CHANGE_FEED,
    DEDUPLICATION_MODE,
    COMPUTE_UPDATES,
    KEYS,
    DROP_UNCHANGED,
    FEED_SCHEMA_MODE,
    SCHEMA_VERSION,
    CHANGE_SOURCE,
)
"""The options of any feed, batch or stream, besides its range."""


class FeedSource(Enum):
    """Where the changes of a commit come from."""

    RECORDED = "recorded"
    DERIVED = "derived"
    AUTO = "auto"


class Deduplication(Enum):
    """How several changes of one row are combined."""

    NONE = "none"
    DROP_CARRYOVERS = "dropCarryovers"
    NET_CHANGES = "netChanges"


class ColumnFollowing(Enum):
    """Which columns a feed has if each commit is read by its own schema."""

    FOLLOW = "follow"
    SUPERSET = "superset"


class FeedShape(Struct, frozen=True, kw_only=True):
    """How a feed shows the changes of its range.

    None means that an option is not set. `keys` are columns that identify a row, by their names
    in the feed; a dot separates a struct from its field.
    """

    source: FeedSource = FeedSource.RECORDED
    deduplication: Deduplication | None = None
    compute_updates: bool | None = None
    keys: tuple[str, ...] = ()
    drop_unchanged: bool = False
    following: ColumnFollowing | None = None
    schema_version: bool = False
    change_source: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether the feed is the recorded one, with every row of it."""
        return self == PLAIN or self == FeedShape(deduplication=Deduplication.NONE)

    @property
    def is_net(self) -> bool:
        """Whether each row shows only the net change over the whole range."""
        return self.deduplication is Deduplication.NET_CHANGES

    @property
    def drops_carryovers(self) -> bool:
        """Whether rows that a commit only moved are left out."""
        if self.deduplication is None:
            return self.source is not FeedSource.RECORDED
        return self.deduplication is not Deduplication.NONE


PLAIN = FeedShape()
"""The feed as it was recorded."""

Choice = TypeVar("Choice", bound=Enum)


def feed_shape(options: Options) -> FeedShape:
    """Return the shape that the options ask for; raises the errors of options.

    Of `schemaMode`, only `follow` and `superset` are read here; `feed_options` reads the others.
    """
    compute_updates = options.boolean(COMPUTE_UPDATES) if COMPUTE_UPDATES in options else None
    shape = FeedShape(
        source=_choice(options, CHANGE_FEED, FeedSource) or FeedSource.RECORDED,
        deduplication=_deduplication(options),
        compute_updates=compute_updates,
        keys=parsed_keys(options[KEYS]) if KEYS in options else (),
        drop_unchanged=options.boolean(DROP_UNCHANGED),
        following=_following(options),
        schema_version=options.boolean(SCHEMA_VERSION),
        change_source=options.boolean(CHANGE_SOURCE),
    )
    if (
        shape.compute_updates
        and shape.source is not FeedSource.RECORDED
        and shape.deduplication is Deduplication.NONE
    ):
        raise UpdatesNeedCarryoversDroppedError(source=shape.source.value)
    return shape


def given_options(options: Mapping[str, object], **bounds: object) -> dict[str, object]:
    """Return the options and bounds of a feed that were given as arguments, without None.

    Names of keys in a list may contain any character. Raises `ArgumentTypeError` for an
    argument that is not an option of a feed.
    """
    for name in options:
        if name not in SHAPE_OPTIONS:
            known = (*bounds, *SHAPE_OPTIONS)
            needs, near = f"be one of {', '.join(known)}", did_you_mean(name, known)
            raise ArgumentTypeError(what="an argument of a feed", needs=needs, found=name + near)
    given = {n: value for n, value in {**bounds, **options}.items() if value is not None}
    keys = given.get(KEYS)
    if isinstance(keys, Sequence) and not isinstance(keys, str):
        given[KEYS] = joined_keys([str(key) for key in keys])
    return given


def joined_keys(keys: Sequence[str]) -> str:
    """Return names of columns as one text, which `parsed_keys` reads."""
    return ",".join(f"`{key.replace('`', '``')}`" if set(key) & set(",` ") else key for key in keys)


def parsed_keys(text: str) -> tuple[str, ...]:
    """Return the names in a comma-separated list; EmptyKeysError if one is missing or empty.

    A name that contains commas or spaces is quoted with backticks; its own backticks are doubled.
    """
    names: list[str] = []
    rest = text.strip()
    while rest:
        name, rest = _first_key(rest)
        names.append(name)
    if not names or not all(names):
        raise EmptyKeysError(value=text)
    return tuple(names)


def _first_key(text: str) -> tuple[str, str]:
    """Return the first name of a text, and the rest after the comma."""
    if not text.startswith("`"):
        name, comma, rest = text.partition(",")
        return name.strip(), rest.strip() or (" " if comma else "")
    end = 1
    while end < len(text) and (text[end] != "`" or text[end : end + 2] == "``"):
        end += 2 if text[end : end + 2] == "``" else 1
    behind = text[end + 1 :].strip()
    if end >= len(text) or (behind and not behind.startswith(",")):
        raise IllegalOptionError(option=KEYS, value=text, needs="names with commas between them")
    return text[1:end].replace("``", "`"), behind[1:].strip() or (" " if behind else "")


def _choice(options: Options, name: str, kind: type[Choice]) -> Choice | None:
    if name not in options:
        return None
    text = options[name]
    for member in kind:
        if str(member.value).lower() == text.strip().lower():
            return member
    *first, last = (str(member.value) for member in kind)
    needs = f"{', '.join(first)} or {last}"
    raise IllegalOptionError(option=name, value=text, needs=needs)


def _deduplication(options: Options) -> Deduplication | None:
    try:
        return _choice(options, DEDUPLICATION_MODE, Deduplication)
    except IllegalOptionError as error:
        raise DeduplicationModeError(mode=error.value) from None


def _following(options: Options) -> ColumnFollowing | None:
    text = options.get(FEED_SCHEMA_MODE, "").strip().lower()
    return next((mode for mode in ColumnFollowing if mode.value == text), None)

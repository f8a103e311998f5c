"""The root of every error that truckee raises on purpose.

An error is a value: typed fields, one sentence made from them, and where it helps a second line
that starts with `hint:`. `code` is Delta's own error class where Delta has one, since that is
what people search for; the text of an error starts with it. Text that may come from a table is made
safe for a terminal.

An engine may have exceptions of its own that its users catch. The engine registers a function that
maps a class of ours to a subclass that also inherits from the engine's exception. From then on,
errors are instances of these subclasses. So layers that know nothing of the engine still raise what
its users expect.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from truckee.errors.caller_lines import caller_lines


def _rebuild(kind: type[DeltaError], values: dict[str, Any]) -> DeltaError:
    return kind(**values)


@dataclass(eq=False, kw_only=True)
class DeltaError(Exception):
    """A problem with a table, an option or an argument, rather than a bug in truckee."""

    code: ClassVar[str] = "DELTA_ERROR"
    plain: ClassVar[type[DeltaError] | None] = None
    """The original class, if this class was made from it for an engine."""

    def __init_subclass__(cls) -> None:
        """Use the `__str__` of a subclass as its sentence, and put the error class before it.

        So no subclass can forget the error class in its text.
        """
        super().__init_subclass__()
        own = vars(cls).get("__str__")
        if own is not None:
            cls.sentence = own  # type: ignore[method-assign]
            cls.__str__ = DeltaError.__str__  # type: ignore[method-assign]

    def __new__(cls, **_: Any) -> DeltaError:
        """Return an error of this class, or of the subclass registered by the engine."""
        kind = cls if cls.plain is not None else _engine_class(cls)
        return super().__new__(kind)

    def sentence(self) -> str:
        """Return what is wrong, and on a second line what can be done."""
        return ""

    def heading(self) -> str:
        """Return what stands between the error class and the sentence in the text of the error."""
        return ""

    def __str__(self) -> str:
        # The text may contain anything that was found in a table, and is often printed.
        text = f"[{self.code}] {self.heading()}{self.sentence()}"
        return printable(text.rstrip(), keep="\n")

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows: the lines of the caller's code, and the sentence."""
        return caller_lines(self)

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions pickle by their positional arguments, and these have none. The engine's
        # subclasses are made at run time, so the pickle refers to the original class.
        kind = self.plain or type(self)
        return _rebuild, (kind, {f.name: getattr(self, f.name) for f in fields(self)})


_engine_class: Callable[[type[DeltaError]], type[DeltaError]] = lambda kind: kind  # noqa: E731


def raise_as(engine_class: Callable[[type[DeltaError]], type[DeltaError]]) -> None:
    """From now on, create errors as instances of what `engine_class` returns for their class."""
    global _engine_class
    _engine_class = engine_class


on_command_line = ContextVar("on_command_line", default=False)
"""Whether the command line runs, whose users pass options and have no session."""


def has_session_settings() -> bool:
    """Return whether a hint may name settings of Spark: who reads it uses Spark in a program."""
    return "pyspark" in sys.modules and not on_command_line.get()


def printable(text: str, *, keep: str = "") -> str:
    r"""Return a text with characters that could control a terminal escaped, as in `\x1b`.

    These are control characters, which may move the cursor, hide text or type commands, and marks
    that change the direction of text. The characters in `keep` stay.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in keep else char.encode("unicode_escape").decode()
        for char in text
    )


def printable_json(text: str) -> str:
    r"""Return JSON with the same characters escaped the JSON way, as in `\u001b`.

    Such characters occur only inside strings, apart from the line breaks of indented JSON.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char == "\n" else _json_escape(char) for char in text
    )


def _json_escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))

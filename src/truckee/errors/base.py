"""The root of every error that truckee raises on purpose, and how an error is declared.

An error is declared once, as a class: its error class and SQLSTATE, the exception of PySpark that
its users catch, its fields, its text, and where something can be done, a hint:

    class NullBoundaryError(
        DeltaError,
        code="DELTA_CDC_READ_NULL_RANGE_BOUNDARY",
        state="22004",
        spark="IllegalArgumentException",
    ):
        \"\"\"An end of the range is NULL.\"\"\"

        argument: str
        text = "{argument} of the change feed is NULL"
        hint = "give a version as an integer, or a timestamp as text"

What a class leaves out it has from the class above it, but a class with a text of its own has no
hint from above. A hint may also be a field; then it is shown as it is. In text and hint, `{name}`
is a field, a property or the result of a method, a sequence of texts with commas between them;
`{name!t}` is a time in UTC, given in milliseconds, and `{name!p}` an `s` unless the number is one.
A text that needs more is a method `sentence`. `code` is Delta's own error class where Delta has
one, since that is what people search for. Whatever a text shows of a table is made safe for a
terminal.

An engine may have exceptions of its own that its users catch. It registers a function that maps a
class of ours to a subclass that also inherits from the engine's exception. From then on, errors are
instances of these subclasses. So rooms that know nothing of the engine still raise what its users
expect.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from datetime import datetime, timezone
from string import Formatter
from typing import TYPE_CHECKING, Any, ClassVar

from truckee.errors.caller_lines import caller_lines

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:
    # In the standard library from Python 3.11 on, and of interest to type checkers alone.
    dataclass_transform = lambda **_: lambda kind: kind  # noqa: E731


def _rebuild(kind: type[DeltaError], values: dict[str, Any]) -> DeltaError:
    return kind(**values)


@dataclass(eq=False, kw_only=True)
@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
class DeltaError(Exception):
    """A problem with a table, an option or an argument, rather than a bug in truckee."""

    # Not annotated, so that they are no fields; a few classes have fields of these names.
    code = "DELTA_ERROR"
    state = "HY000"
    text = ""
    hint = ""
    hint_template: ClassVar[str | None] = ""
    spark: ClassVar[str] = "PySparkException"
    plain: ClassVar[type[DeltaError] | None] = None
    """The original class, if this class was made from it for an engine."""

    def __init_subclass__(
        cls, *, code: str | None = None, state: str | None = None, spark: str | None = None
    ) -> None:
        """Take over what the declaration says, and make the fields of the class its arguments."""
        super().__init_subclass__()
        for name, value in (("code", code), ("state", state), ("spark", spark)):
            if value is not None:
                setattr(cls, name, value)
        own = vars(cls)
        if "text" in own:
            if cls.hint_template is not None:
                cls.hint_template = ""
            if "sentence" not in own:
                cls.sentence = DeltaError.sentence  # type: ignore[method-assign]
        if "hint" in own.get("__annotations__", ()):
            cls.hint_template = None
        elif "hint" in own:
            cls.hint_template = cls.hint
        if "plain" not in own:
            dataclass(eq=False, kw_only=True)(cls)

    def __new__(cls, **_: Any) -> DeltaError:
        """Return an error of this class, or of the subclass registered by the engine."""
        kind = cls if cls.plain is not None else _engine_class(cls)
        return super().__new__(kind)

    def sentence(self) -> str:
        """Return what is wrong, and on a second line what can be done."""
        text = _filled(self.text, self)
        # A hint that is a field is no template: it may hold the braces of a path or of an SQL text.
        template = self.hint_template
        hint = self.hint if template is None else _filled(template, self)
        return f"{text}\nhint: {hint}" if hint else text

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


class _Template(Formatter):
    """Texts of errors, filled from the fields, properties and methods of an error."""

    def get_value(self, key: int | str, args: Any, _kwargs: Any) -> Any:
        value = getattr(args[0], str(key))
        return value() if callable(value) else value

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        if conversion == "t":
            return utc_text(value)
        if conversion == "p":
            return "" if value == 1 else "s"
        if conversion is None and isinstance(value, (tuple, list)):
            return ", ".join(map(str, value))
        return super().convert_field(value, conversion)


_TEMPLATE = _Template()


def _filled(template: str, error: DeltaError) -> str:
    return _TEMPLATE.vformat(template, (error,), {})


def utc_text(timestamp_ms: int) -> str:
    """Return a timestamp as ISO 8601 text: `2024-01-02T03:04:05.678Z`.

    A timestamp outside of the years 1 to 9999 is shown in milliseconds.
    """
    try:
        moment = datetime.fromtimestamp(timestamp_ms // 1000, tz=timezone.utc)
    except (ValueError, OverflowError, OSError):
        return f"{timestamp_ms} ms"
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{timestamp_ms % 1000:03d}Z"


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

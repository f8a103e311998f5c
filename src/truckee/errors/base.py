"""The root of every error that truckee raises on purpose.

An error is a value: typed fields, one sentence made from them, and where it helps a second line
that starts with `hint:`. `code` is Delta's own error class where Delta has one, since that is
what people search for.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar


def _rebuild(kind: type[DeltaError], values: dict[str, Any]) -> DeltaError:
    return kind(**values)


@dataclass(eq=False, kw_only=True)
class DeltaError(Exception):
    """Anything that is wrong with a table, an option or an argument, rather than with truckee."""

    code: ClassVar[str] = "DELTA_ERROR"

    def __str__(self) -> str:
        return self.code

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions pickle by their positional arguments, of which these have none.
        return _rebuild, (type(self), {f.name: getattr(self, f.name) for f in fields(self)})

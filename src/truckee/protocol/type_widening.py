"""Which types hold every value of another (protocol: Type Widening)."""

from __future__ import annotations

from truckee.protocol.schema import DataType, DecimalType, PrimitiveType

_WIDER = {
    "byte": ("short", "integer", "long", "double"),
    "short": ("integer", "long", "double"),
    "integer": ("long", "double"),
    "float": ("double",),
    "date": ("timestamp_ntz",),
}
_DIGITS = {"byte": 10, "short": 10, "integer": 10, "long": 20}


def is_wider(old: DataType, new: DataType) -> bool:
    """Return whether one type can hold every value of another."""
    name = old.name if isinstance(old, PrimitiveType) else ""
    if isinstance(new, DecimalType):
        if isinstance(old, DecimalType):
            whole = new.precision - new.scale >= old.precision - old.scale
            return whole and new.scale >= old.scale
        return new.precision - new.scale >= _DIGITS.get(name, 99)
    return isinstance(new, PrimitiveType) and new.name in _WIDER.get(name, ())

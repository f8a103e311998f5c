"""Z85, the base85 encoding that descriptors use for identifiers and small deletion vectors.

Four bytes, read as a big-endian number, become five digits, the most significant one first. It is
the standard library's base85 with another alphabet, so only the alphabet is translated here.

    bytes   86 4F D2 6F  B5 59 F7 5B
    text    H e l l o    W o r l d
"""

from __future__ import annotations

import base64

from truckee.errors.deletion_vectors import InvalidZ85Error

_Z85 = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_STDLIB = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
_TO_Z85 = bytes.maketrans(_STDLIB, _Z85)
# Digits of the standard library that Z85 does not have must become invalid characters.
_FROM_Z85 = bytes(_STDLIB[_Z85.index(byte)] if byte in _Z85 else ord(",") for byte in range(256))
_BYTES, _DIGITS = 4, 5


def z85_encode(data: bytes) -> str:
    """Return the text of `data`, with zeros appended up to a multiple of four bytes."""
    return base64.b85encode(data, pad=True).translate(_TO_Z85).decode("ascii")


def z85_decode(text: str) -> bytes:
    """Return the bytes of `text`, padding included: the caller knows the true length.

    The last group may have the tail that some Rust writers give to unaligned data (`_rust_tail`).
    Raises `InvalidZ85Error` for any other character, length or group.
    """
    if len(text) % _DIGITS:
        raise InvalidZ85Error(text=text, reason=f"its length {len(text)} is not a multiple of 5")
    tail = _rust_tail(text)
    whole = text if tail is None else text[:-_DIGITS]
    try:
        data = base64.b85decode(whole.encode("ascii").translate(_FROM_Z85))
    except ValueError as cause:
        raise InvalidZ85Error(text=text, reason=_reason(whole)) from cause
    return data if tail is None else data + tail


def _rust_tail(text: str) -> bytes | None:
    """Return the one to three bytes of a last group such as `##093`, or None if it is ordinary.

    It starts with one `#` for each missing byte, and the remaining digits encode the remaining
    bytes: `##093` misses two, and 093 is 768, the bytes 03 00. No ordinary group starts with `#`,
    the largest digit, because it would exceed four bytes.
    """
    group = text[-_DIGITS:]
    digits = group.lstrip("#")
    missing = len(group) - len(digits)
    if missing not in (1, 2, 3) or not all(ord(c) < 128 and ord(c) in _Z85 for c in digits):
        return None
    number = 0
    for digit in digits:
        number = number * 85 + _Z85.index(ord(digit))
    length = _BYTES - missing
    return number.to_bytes(length, "big") if number < 1 << (8 * length) else None


def _reason(text: str) -> str:
    strange = [c for c in text if ord(c) > 127 or ord(c) not in _Z85]
    if strange:
        return f"{strange[0]!r} is not one of its digits"
    return "a group of five digits exceeds four bytes"

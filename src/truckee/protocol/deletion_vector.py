"""The descriptor of a deletion vector: its unique id, and where its bytes are.

| type | `path_or_inline_dv`                         | the bytes are in                      |
|------|---------------------------------------------|---------------------------------------|
| `u`  | a random prefix (or none), 20 digits of Z85 | `[prefix/]deletion_vector_<uuid>.bin` |
| `i`  | Z85 of the vector itself                    | the descriptor                        |
| `p`  | an absolute URI, escaped like `add.path`    | that file                             |
| `r`  | a relative path, escaped like `add.path`    | that file below the table's root      |

`r` belongs to a preview feature: it is read and never written.

Z85 is a base85 encoding. Four bytes, read as a big-endian number, become five digits, the most
significant one first. It is the standard library's base85 with another alphabet, so only the
alphabet is translated here.

    bytes   86 4F D2 6F  B5 59 F7 5B
    text    H e l l o    W o r l d
"""

from __future__ import annotations

import base64
from functools import lru_cache
from typing import NoReturn
from urllib.parse import urlsplit
from uuid import UUID

import msgspec
from msgspec import Struct

from truckee.errors.deletion_vectors import (
    InvalidDescriptorError,
    InvalidZ85Error,
    UnknownStorageTypeError,
)
from truckee.protocol.json_text import Int32, Int64
from truckee.protocol.paths import decode_path, encode_path

UUID_RELATIVE = "u"
INLINE = "i"
ABSOLUTE_PATH = "p"
RELATIVE_PATH = "r"

_UUID_DIGITS = 20


class DeletionVectorDescriptor(
    Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True
):
    """A pointer to the bitmap of the deleted rows of one data file.

    `offset` is the position of the vector's size field in its file. `size_in_bytes` counts the
    magic and the bitmap, but neither the size field nor the checksum around them.
    """

    storage_type: str
    path_or_inline_dv: str
    offset: Int32 | None = None
    size_in_bytes: Int32
    cardinality: Int64

    @property
    def unique_id(self) -> str:
        """The id that, with the path, identifies a logical file; None and 0 as offset differ."""
        at = "" if self.offset is None else f"@{self.offset}"
        return f"{self.storage_type}{self.path_or_inline_dv}{at}"

    @property
    def is_inline(self) -> bool:
        """Whether the vector is stored in the descriptor itself."""
        return self.storage_type == INLINE

    @property
    def is_on_disk(self) -> bool:
        """Whether the vector is stored in a file."""
        return not self.is_inline

    @property
    def is_empty(self) -> bool:
        """Whether no row is deleted; the bytes of such a vector are never read."""
        return self.cardinality == 0

    @property
    def is_relative(self) -> bool:
        """Whether the path of the vector's file is relative to the table."""
        return self.storage_type in (UUID_RELATIVE, RELATIVE_PATH)

    @property
    def file_path(self) -> str:
        """The vector's file as storage takes it: below the root, or absolute; not escaped.

        Raises `InvalidDescriptorError` for inline vectors and for text that is not such a path, and
        `UnknownStorageTypeError` for any other storage type.
        """
        text = self.path_or_inline_dv
        match self.storage_type:
            case "u":
                if len(text) < _UUID_DIGITS:
                    self._refuse("a UUID in base85 has 20 digits")
                return _path_of_uuid(text)
            case "p":
                if not urlsplit(text).scheme:
                    self._refuse("storage type 'p' needs an absolute URI")
                return decode_path(text)
            case "r":
                if urlsplit(text).scheme or text.startswith("/") or not text:
                    self._refuse("storage type 'r' needs a path relative to the table")
                return decode_path(text)
            case "i":
                self._refuse("an inline vector has no file")
        raise UnknownStorageTypeError(storage_type=self.storage_type)

    def absolute_path(self, table_root: str) -> str:
        """Return the vector's file as an absolute path or URL, not escaped."""
        path = self.file_path
        return f"{table_root.rstrip('/')}/{path}" if self.is_relative else path

    def inline_data(self) -> bytes:
        """Return the bytes of an inline vector, cut to their true length."""
        if not self.is_inline:
            self._refuse("only storage type 'i' holds its own bytes")
        data = z85_decode(self.path_or_inline_dv)
        if not 0 <= len(data) - self.size_in_bytes < 4:
            self._refuse(f"it holds {len(data)} bytes, but its size is {self.size_in_bytes}")
        return data[: self.size_in_bytes]

    def copy_with_absolute_path(self, table_root: str) -> DeletionVectorDescriptor:
        """Return a descriptor of the same bytes that works in any table, such as a clone."""
        if not self.is_relative:
            return self
        uri = encode_path(self.absolute_path(table_root))
        return msgspec.structs.replace(self, storage_type=ABSOLUTE_PATH, path_or_inline_dv=uri)

    def copy_with_new_relative_path(self, uuid: UUID, prefix: str = "") -> DeletionVectorDescriptor:
        """Return a descriptor of the same bytes in another file below the table's root."""
        if self.is_inline:
            return self
        text = prefix + z85_encode(uuid.bytes)
        return msgspec.structs.replace(self, storage_type=UUID_RELATIVE, path_or_inline_dv=text)

    def _refuse(self, reason: str) -> NoReturn:
        raise InvalidDescriptorError(unique_id=self.unique_id, reason=reason)


EMPTY = DeletionVectorDescriptor(
    storage_type=INLINE, path_or_inline_dv="", size_in_bytes=0, cardinality=0
)
"""No row is deleted. Never written: a file without deleted rows has no descriptor at all."""


def on_disk_with_relative_path(
    uuid: UUID, *, prefix: str = "", size_in_bytes: int, cardinality: int, offset: int
) -> DeletionVectorDescriptor:
    """Return the descriptor of a vector in a file of this table that is named by a UUID."""
    return DeletionVectorDescriptor(
        storage_type=UUID_RELATIVE,
        path_or_inline_dv=prefix + z85_encode(uuid.bytes),
        offset=offset,
        size_in_bytes=size_in_bytes,
        cardinality=cardinality,
    )


def relative_path(uuid: UUID, prefix: str = "") -> str:
    """Return the name of a vector's file, below its prefix folder if it has a prefix."""
    name = f"deletion_vector_{uuid}.bin"
    return f"{prefix}/{name}" if prefix else name


# A file holds many vectors, and each of their descriptors contains the file's UUID.
@lru_cache(maxsize=1024)
def _path_of_uuid(text: str) -> str:
    prefix, digits = text[:-_UUID_DIGITS], text[-_UUID_DIGITS:]
    data = z85_decode(digits)
    if len(data) != 16:
        raise InvalidZ85Error(value=digits, reason="a UUID has 16 bytes")
    return relative_path(UUID(bytes=data), prefix)


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
        raise InvalidZ85Error(value=text, reason=f"its length {len(text)} is not a multiple of 5")
    tail = _rust_tail(text)
    whole = text if tail is None else text[:-_DIGITS]
    try:
        data = base64.b85decode(whole.encode("ascii").translate(_FROM_Z85))
    except ValueError as cause:
        raise InvalidZ85Error(value=text, reason=_reason(whole)) from cause
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

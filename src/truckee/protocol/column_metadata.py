"""The keys of column metadata that Delta and Spark give a meaning, each spelled once.

A column of a schema carries a JSON object beside its name and type (protocol: Schema Serialization
Format). These are the keys that truckee reads or writes; all others are kept unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from truckee.errors.commit import InvalidStateError
from truckee.protocol.json_text import LARGEST_INT64, whole_number

PHYSICAL_NAME_KEY = "delta.columnMapping.physicalName"
COLUMN_ID_KEY = "delta.columnMapping.id"
PARQUET_FIELD_ID_KEY = "parquet.field.id"

GENERATION_EXPRESSION_KEY = "delta.generationExpression"
INVARIANTS_KEY = "delta.invariants"
TYPE_CHANGES_KEY = "delta.typeChanges"
CURRENT_DEFAULT_KEY = "CURRENT_DEFAULT"
COMMENT_KEY = "comment"
CHAR_VARCHAR_KEY = "__CHAR_VARCHAR_TYPE_STRING"

IDENTITY_PREFIX = "delta.identity."
IDENTITY_START_KEY = "delta.identity.start"
IDENTITY_STEP_KEY = "delta.identity.step"
IDENTITY_HIGH_WATER_MARK_KEY = "delta.identity.highWaterMark"
IDENTITY_ALLOWS_EXPLICIT_KEY = "delta.identity.allowExplicitInsert"


def identity_number(column: str, metadata: Mapping[str, Any], key: str) -> int:
    """Return a number that an identity column has under one of its keys.

    Raises InvalidStateError if it is none, or out of the range of a bigint, or a step of 0.
    """
    name = f"{key} of the column {column}"
    number = whole_number(name, metadata.get(key), least=-LARGEST_INT64 - 1)
    if key == IDENTITY_STEP_KEY and number == 0:
        raise InvalidStateError(key=name, found="0", needs="another number")
    return number

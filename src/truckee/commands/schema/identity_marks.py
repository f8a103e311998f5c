"""The high-water marks of identity columns, which a commit that assigns numbers advances."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from truckee.protocol.actions import Metadata
from truckee.protocol.column_metadata import (
    IDENTITY_HIGH_WATER_MARK_KEY,
    IDENTITY_STEP_KEY,
    identity_number,
)
from truckee.protocol.schema import StructField, StructType, parse_schema


def with_identity_marks(metadata: Metadata, marks: Mapping[str, int]) -> Metadata:
    """Return metadata with the last numbers assigned, by physical name.

    A mark never goes back: the rows written may have numbers that were assigned before.
    """
    if not marks:
        return metadata
    fields = tuple(
        _marked(field, marks[field.physical_name]) if field.physical_name in marks else field
        for field in parse_schema(metadata.schema_string).fields
    )
    return replace(metadata, schema_string=StructType(fields).to_json())


def _marked(field: StructField, mark: int) -> StructField:
    if field.metadata.get(IDENTITY_HIGH_WATER_MARK_KEY) is not None:
        farthest = (
            max if identity_number(field.name, field.metadata, IDENTITY_STEP_KEY) > 0 else min
        )
        mark = farthest(
            identity_number(field.name, field.metadata, IDENTITY_HIGH_WATER_MARK_KEY), mark
        )
    return replace(field, metadata={**field.metadata, IDENTITY_HIGH_WATER_MARK_KEY: mark})

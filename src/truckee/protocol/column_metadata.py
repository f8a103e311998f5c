"""The keys of column metadata that Delta and Spark give a meaning, each spelled once.

A column of a schema carries a JSON object beside its name and type (protocol: Schema Serialization
Format). These are the keys that truckee reads or writes; all others are kept unchanged.
"""

from __future__ import annotations

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

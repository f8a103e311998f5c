"""The three columns that a change feed adds to those of the table, and the types of change."""

from __future__ import annotations

from truckee.protocol.schema import PrimitiveType, StructField

CHANGE_TYPE = "_change_type"
COMMIT_VERSION = "_commit_version"
COMMIT_TIMESTAMP = "_commit_timestamp"

INSERT = "insert"
DELETE = "delete"
UPDATE_PREIMAGE = "update_preimage"
UPDATE_POSTIMAGE = "update_postimage"

CHANGE_TYPE_FIELD = StructField(CHANGE_TYPE, PrimitiveType("string"))
COMMIT_FIELDS = (
    StructField(COMMIT_VERSION, PrimitiveType("long")),
    StructField(COMMIT_TIMESTAMP, PrimitiveType("timestamp")),
)
FEED_FIELDS = (CHANGE_TYPE_FIELD, *COMMIT_FIELDS)

"""All cases, by what they are about."""

from __future__ import annotations

from delta_cases import delete, feed, merge, merge_by_source, merge_schema, update, vectors

SUITES = {
    "update": update,
    "delete": delete,
    "merge": merge,
    "merge, new columns": merge_schema,
    "merge, not matched by source": merge_by_source,
    "feed": feed,
    "vectors": vectors,
}

"""Arrow data in as little memory as possible."""

from __future__ import annotations

import pyarrow as pa

_null_columns: dict[pa.DataType, pa.Array] = {}


def compact(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the same rows in one block of memory of exactly their size.

    A Parquet reader returns data in many buffers that grew while reading, and with the gaps
    between them a million files take twice the memory. Columns of only nulls, as tags and vectors
    often are, share one array.
    """
    full = [f for f in batch.schema if batch.column(f.name).null_count < len(batch)]
    shared = {f.name: _nulls(len(batch), f.type) for f in batch.schema if f not in full}
    block = batch.select([f.name for f in full]).serialize(memory_pool=pa.system_memory_pool())
    kept = pa.ipc.read_record_batch(block, pa.schema(full))
    pa.default_memory_pool().release_unused()
    return pa.RecordBatch.from_arrays(
        [shared[name] if name in shared else kept.column(name) for name in batch.schema.names],
        schema=batch.schema,
    )


def _nulls(length: int, data_type: pa.DataType) -> pa.Array:
    known = _null_columns.get(data_type)
    if known is None or len(known) < length:
        known = _null_columns[data_type] = pa.nulls(length, data_type)
    return known.slice(0, length)

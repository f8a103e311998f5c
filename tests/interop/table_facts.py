"""What the log says of a table, in a form in which two engines' tables can be compared."""

from __future__ import annotations

import json
from typing import Any

from truckee.log.files.history import history
from truckee.log.snapshot import load_snapshot
from truckee.storage import LocalStorage


def table_facts(location: str) -> dict[str, Any]:
    """Return all but ids, times, sizes and the names of files."""
    storage = LocalStorage(location)
    snapshot = load_snapshot(storage)
    metadata = snapshot.metadata
    protocol = snapshot.protocol
    return {
        "history": [
            (entry.operation, _parameters(entry.operation, entry.operation_parameters))
            for entry in history(storage, None)
        ],
        "schema": json.loads(metadata.schema_string),
        "partitions": metadata.partition_columns,
        "configuration": dict(metadata.configuration),
        "description": metadata.description,
        "protocol": (
            protocol.min_reader_version,
            protocol.min_writer_version,
            sorted(protocol.reader_features or ()),
            sorted(protocol.writer_features or ()),
        ),
        "domains": {
            name: _domain(domain.configuration) for name, domain in snapshot.domain_metadata.items()
        },
    }


def _domain(configuration: str) -> dict[str, Any]:
    """Return what a domain says; delta-spark repeats the name of some domains in it."""
    said: dict[str, Any] = json.loads(configuration)
    said.pop("domainName", None)
    return said


def _parameters(operation: str | None, given: Any) -> dict[str, Any]:
    """Return parameters of a commit as values: texts that hold JSON are taken apart.

    Of conditions of rows it is compared that there are some: truckee writes them as SQL, and
    delta-spark as Spark shows expressions.
    """
    told = {name: _decoded(value) for name, value in (given or {}).items()}
    if "newProtocol" in told:
        told["newProtocol"]["writerFeatures"].sort()
    if operation == "CHANGE COLUMNS":
        told["columns"].sort(key=lambda column: column["name"])
    if operation in ("DELETE", "UPDATE", "MERGE"):
        told = {name: _without_text(value) for name, value in told.items()}
    return told


def _decoded(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(("[", "{")):
        return json.loads(value)
    return value


def _without_text(clauses: list[Any]) -> list[Any]:
    return [
        {**clause, "predicate": "predicate" in clause} if isinstance(clause, dict) else True
        for clause in clauses
    ]

"""The clauses of a MERGE as they were given, and the rules for their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from pyspark.sql import Column

from truckee.errors.commands.dml import (
    ClauseOrderError,
    MergeWithoutClauseError,
    NonLastMatchedClauseError,
    NonLastNotMatchedBySourceClauseError,
    NonLastNotMatchedClauseError,
)


class ClauseKind(Enum):
    """Which rows a clause is about: pairs, source rows alone, or target rows alone."""

    MATCHED = "WHEN MATCHED"
    NOT_MATCHED = "WHEN NOT MATCHED"
    NOT_MATCHED_BY_SOURCE = "WHEN NOT MATCHED BY SOURCE"


class Does(Enum):
    """What a clause does; the value is its name in commitInfo."""

    UPDATE = "update"
    DELETE = "delete"
    INSERT = "insert"


@dataclass(frozen=True)
class Clause:
    """One clause. For an update or insert, None for `values` stands for the star."""

    kind: ClauseKind
    does: Does
    condition: str | Column | None = None
    values: Mapping[str, str | Column] | None = None

    @property
    def name(self) -> str:
        """The clause as SQL spells it, for errors."""
        return f"{self.kind.value} THEN {self.does.value.upper()}"

    @property
    def is_star(self) -> bool:
        """Whether every column gets the value of the source's column of its name."""
        return self.does is not Does.DELETE and self.values is None


_NON_LAST: Mapping[ClauseKind, type[ClauseOrderError]] = {
    ClauseKind.MATCHED: NonLastMatchedClauseError,
    ClauseKind.NOT_MATCHED: NonLastNotMatchedClauseError,
    ClauseKind.NOT_MATCHED_BY_SOURCE: NonLastNotMatchedBySourceClauseError,
}


def check_clauses(clauses: Sequence[Clause]) -> None:
    """Raise if there is no clause, or one that is never reached."""
    if not clauses:
        raise MergeWithoutClauseError
    for kind, error in _NON_LAST.items():
        of_kind = [clause for clause in clauses if clause.kind is kind]
        for clause in of_kind[:-1]:
            if clause.condition is None:
                raise error(clause=clause.name)

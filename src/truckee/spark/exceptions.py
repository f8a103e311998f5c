"""Errors as users of Spark catch them: each is also the exception that delta-spark raises.

Programs test whether a table exists by catching `AnalysisException`. So each of our error classes
gets a subclass, made once, that is also an exception of PySpark. Importing this package makes
errors instances of these subclasses. Every program with a session has imported it; without a
session, PySpark is not loaded and errors stay plain.

| what delta-spark raises        | here                                              |
|--------------------------------|---------------------------------------------------|
| AnalysisException              | the table, a column, a name or a plan is wrong    |
| ParseException                 | a text that is not SQL                            |
| IllegalArgumentException       | an option or a property has a value it cannot have |
| UnsupportedOperationException  | the table does not allow this, or Delta does not  |
| ArithmeticException            | a value does not fit its column                   |
| others                         | PySparkException, the root of all of them         |

An error that may be temporary, or that depends on the machine (a store that does not answer, a
damaged file, another writer), is never an AnalysisException. So no program mistakes it for a
missing table. An error that ended a stream is a StreamingQueryException too, for those who wait for
the stream.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from threading import Lock
from typing import Any

from pyspark.errors import (
    AnalysisException,
    ArithmeticException,
    IllegalArgumentException,
    ParseException,
    PySparkException,
    StreamingQueryException,
    UnsupportedOperationException,
)

from truckee import errors
from truckee.errors.base import DeltaError, raise_as
from truckee.errors.spark import NotSupportedByInstallError
from truckee.errors.states.sql_states import sql_state

_made: dict[type[DeltaError], type[DeltaError]] = {}
_of_streams: dict[type[DeltaError], type[DeltaError]] = {}
_making = Lock()


class _AsSparkTells(DeltaError):
    """The methods of PySpark's exceptions, answered from the fields of our error."""

    def getCondition(self) -> str:
        """Return the error class."""
        return self.code

    def getErrorClass(self) -> str:
        """Return the error class."""
        return self.code

    def getSqlState(self) -> str | None:
        """Return the SQLSTATE of the error class."""
        return self.state if isinstance(self, errors.RefusedBySparkError) else sql_state(self.code)

    def getMessageParameters(self) -> dict[str, str]:
        """Return the fields of the error as texts."""
        return {field.name: str(getattr(self, field.name)) for field in fields(self)}

    def getMessage(self) -> str:
        """Return the text of the error, with its class."""
        return str(self)

    @property
    def desc(self) -> str:
        """The text of the error, by the name that it had in older versions of PySpark."""
        return str(self)

    def getQueryContext(self) -> list[Any]:
        """Return the positions in the query that caused the error: always none."""
        return []

    def getBreakingChangeInfo(self) -> None:
        """Return None: none of our errors is about a breaking change between versions."""


def spark_class(kind: type[DeltaError]) -> type[DeltaError]:
    """Return the subclass of an error class that is also what delta-spark raises."""
    with _making:
        if kind not in _made:
            _made[kind] = _new_class(kind)
        return _made[kind]


def of_a_stream(error: DeltaError) -> DeltaError:
    """Return an error that ended a stream, as one that is a StreamingQueryException too."""
    kind = type(error)
    if issubclass(kind, StreamingQueryException):
        return error
    with _making:
        if kind not in _of_streams:
            _of_streams[kind] = type(
                kind.__name__, (kind, StreamingQueryException), _body(kind.plain or kind)
            )
    copy = _of_streams[kind](**{field.name: getattr(error, field.name) for field in fields(error)})
    copy.__cause__ = error.__cause__
    return copy


def _new_class(kind: type[DeltaError]) -> type[DeltaError]:
    known = _spark_classes()
    theirs = next((known[k] for k in kind.__mro__ if k in known), PySparkException)
    return type(kind.__name__, (kind, _AsSparkTells, theirs), _body(kind))


def _body(kind: type[DeltaError]) -> dict[str, Any]:
    return {
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
        "__doc__": kind.__doc__,
        "plain": kind,
    }


@cache
def _spark_classes() -> dict[type[DeltaError], type[PySparkException]]:
    # An entry also covers the subclasses of its class that have no entry of their own. Naming the
    # classes loads every module of errors, so this waits for the first error: Spark starts Python
    # processes for streams and tasks of `format("truckee")`, and most of them never raise one.
    listed: dict[type[PySparkException], tuple[type[DeltaError], ...]] = {
        ParseException: (
            errors.ConvertedTypeError,
            errors.IllegalTableNameError,
            errors.InvalidTableNameError,
            errors.StatementSyntaxError,
            errors.TypeTextError,
            errors.UnparsedExpressionError,
        ),
        AnalysisException: (
            errors.AllColumnsPartitionedError,
            errors.AmbiguousTablePathError,
            errors.AssignmentError,
            errors.AllVoidColumnsError,
            errors.AllVoidFieldsError,
            errors.BeyondRetentionError,
            errors.ChangeDataNotRecordedError,
            errors.ClauseOrderError,
            errors.CloneSourceError,
            errors.CloneTargetError,
            errors.ClusteringColumnError,
            errors.ClusteringFeatureError,
            errors.ClusteringOfPartitionedTableError,
            errors.ColumnChangeError,
            errors.ColumnCountError,
            errors.FieldCountError,
            errors.ColumnDefaultsNotEnabledError,
            errors.ColumnExistsError,
            errors.ColumnMappingRequiredError,
            errors.DropNeedsColumnMappingError,
            errors.ColumnNotFoundError,
            errors.ColumnsNotReplaceableError,
            errors.ConditionColumnError,
            errors.ConditionTypeError,
            errors.ConstraintAlreadyViolatedError,
            errors.ConstraintExistsError,
            errors.ConstraintFunctionError,
            errors.ConstraintNotBooleanError,
            errors.ConstraintNotFoundError,
            errors.ConstraintPropertyError,
            errors.ConversionError,
            errors.DataChangeWithMetadataError,
            errors.DeduplicationModeError,
            errors.DefaultNotConstantError,
            errors.DependentColumnError,
            errors.DiffSchemaError,
            errors.DuplicateColumnsError,
            errors.GeneratedColumnFunctionError,
            errors.FunctionArgumentError,
            errors.GivenSchemaError,
            errors.IdentityPartitionError,
            errors.IdentityValueGivenError,
            errors.InvalidColumnNamesError,
            errors.InvalidExpressionError,
            errors.InvalidGeneratedColumnError,
            errors.InvalidTimestampError,
            errors.InvalidVersionError,
            errors.InventoryError,
            errors.MergeWithoutClauseError,
            errors.MergedVoidColumnError,
            errors.MultipleBoundariesError,
            errors.NoColumnsError,
            errors.NoCommitsFoundError,
            errors.NoPathToReadError,
            errors.NoPathToWriteError,
            errors.NoStartError,
            errors.NoTableLocationError,
            errors.NonEmptyFolderError,
            errors.NonPartitionColumnError,
            errors.NotADeltaTableError,
            errors.NotATruckeeTableError,
            errors.NotAnIdentityColumnError,
            errors.NullTypeInStreamError,
            errors.PartitionColumnNotFoundError,
            errors.PartitionColumnTypeError,
            errors.PartitionSubqueryError,
            errors.PartitionedAndClusteredError,
            errors.PartitioningMismatchError,
            errors.PartitionsForClusteredTableError,
            errors.PropertyNotFoundError,
            errors.ReplaceWhereViolationError,
            errors.RestoreTimestampEarlierError,
            errors.RestoreTimestampGreaterError,
            errors.RestoreVersionError,
            errors.SchemaLocationError,
            errors.SchemaLogConflictError,
            errors.SchemaMismatchError,
            errors.SchemaChangedSinceAnalysisError,
            errors.SchemaNotSetError,
            errors.StatementNotAllowedError,
            errors.StreamingFrameError,
            errors.StreamingSourceError,
            errors.StructPlacedError,
            errors.TableAlreadyExistsError,
            errors.TableWithoutColumnsError,
            errors.TableExistsError,
            errors.TableLocationMismatchError,
            errors.TableNotFoundError,
            errors.TableSchemaMismatchError,
            errors.TimeTravelOfStreamError,
            errors.TimeTravelWithFeedError,
            errors.TimestampTooEarlyError,
            errors.TimestampTooLateError,
            errors.TwoTimeTravelsError,
            errors.UnknownSaveModeError,
            errors.UnknownTablePropertyError,
            errors.UnrelatedTablesError,
            errors.UnsupportedOptionError,
            errors.UnsupportedOutputModeError,
            errors.UpCastRefusedError,
            errors.UpdatesNeedCarryoversDroppedError,
            errors.UpdatesNeedIdentityError,
            errors.VersionNotFoundError,
            errors.ZOrderOnClusteredTableError,
            errors.ZOrderWithoutStatisticsError,
        ),
        IllegalArgumentException: (
            errors.BothTimeTravelOptionsError,
            errors.ClonePathError,
            errors.DuplicateStatsColumnsError,
            errors.EmptyKeysError,
            errors.IllegalOptionError,
            errors.InvalidIntervalError,
            errors.InvalidIsolationLevelError,
            errors.InvalidRangeError,
            errors.InvalidTablePropertyError,
            errors.KeysNotUniqueError,
            errors.ManifestModeError,
            errors.NegativeRetentionError,
            errors.NoKeysError,
            errors.NoPathGivenError,
            errors.NullBoundaryError,
            errors.RetentionMismatchError,
            errors.RetentionTooShortError,
            errors.RowIdsNotUniqueError,
            errors.SchemaLogNeedsDataLossCheckError,
            errors.SchemaLogOfBatchReadError,
            errors.StartAfterLatestError,
            errors.StatsOfPartitionColumnError,
            errors.StatsTypeError,
            errors.TimeTravelVersionError,
            errors.TooManyRowsError,
            errors.TwoStartsError,
            errors.WriteOptionsError,
            errors.ZOrderColumnNotFoundError,
            errors.ZOrderOnPartitionColumnError,
        ),
        UnsupportedOperationException: (
            NotSupportedByInstallError,
            errors.AppendOnlyTableError,
            errors.CloneColumnMappingError,
            errors.ColumnMappingModeChangeError,
            errors.ConditionOnClusteredTableError,
            errors.FullOptimizeNotSupportedError,
            errors.IncompatibleDataSchemaError,
            errors.IncompatibleSchemaChangeError,
            errors.InvalidIdentityColumnError,
            errors.ManifestColumnMappingError,
            errors.ManifestVectorsError,
            errors.MultipleMatchesError,
            errors.NativeWriterNeededError,
            errors.NonAdditiveSchemaChangeError,
            errors.RowIdsNotKeptError,
            errors.SourceRowsChangedError,
            errors.SourceRowsDeletedError,
            errors.UnsettableTablePropertyError,
            errors.UnsupportedTypesError,
        ),
        ArithmeticException: (errors.IdentityExhaustedError, errors.ValueDoesNotFitError),
    }
    return {ours: theirs for theirs, classes in listed.items() for ours in classes}


raise_as(spark_class)

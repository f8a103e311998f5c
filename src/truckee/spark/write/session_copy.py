"""The same rows in a copy of their session, so that the user's settings do not change the files.

How Spark's Parquet writer stores timestamps, dates and decimals depends on the settings of the
DataFrame's session, and no writer option overrides them. So a DataFrame is moved to a copy of its
session before it is written. Its plan is already analyzed, so expressions keep the time zone and
the ANSI mode under which the user wrote them.

The copy exists in the JVM alone. For Python, the DataFrame is still one of the user's session:
whatever asks it for its session gets that one, so no copy can become the active session.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

from truckee.spark.jvm.bridge import java_half
from truckee.spark.session.settings import packed_settings

_EXCLUDED_RULES = "spark.sql.optimizer.excludedRules"

# How data files look, whatever the user's session says. Timestamps are INT64, since Parquet keeps
# no statistics for INT96.
FILE_SETTINGS: Mapping[str, str] = {
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.writeLegacyFormat": "false",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.fieldId.write.enabled": "true",
    # Spark would shred variants, which only tables with that feature allow, and no table demands.
    "spark.sql.variant.writeShredding.enabled": "false",
    "spark.sql.variant.inferShreddingSchema": "false",
    "spark.sql.variant.forceShreddingSchemaForTest": "",
    "spark.sql.parquet.variant.annotateLogicalType.enabled": "true",
    "spark.sql.sources.partitionOverwriteMode": "static",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    # Where a joined column takes the place of another of the same name, this rule loses it below
    # an explode, and the job fails with INTERNAL_ERROR_ATTRIBUTE_NOT_FOUND: a MERGE whose source is
    # read by the columns of its target, with the feed on, is such a plan.
    _EXCLUDED_RULES: "org.apache.spark.sql.catalyst.optimizer.RemoveRedundantAliases",
}

# Column names of a Delta table are the same in any case.
COLUMN_SETTINGS: Mapping[str, str] = {"spark.sql.caseSensitive": "false"}


def on_session(df: DataFrame, settings: Mapping[str, str]) -> DataFrame:
    """Return the rows of `df`, analyzed and run from now on in a copy of their session."""
    spark = df.sparkSession
    settings = dict(settings)
    if _EXCLUDED_RULES in settings and (users := spark.conf.get(_EXCLUDED_RULES, None)):
        settings[_EXCLUDED_RULES] = f"{users},{settings[_EXCLUDED_RULES]}"
    rows = java_half(spark).moved(df._jdf, packed_settings(settings))
    return ClassicDataFrame(rows, spark)

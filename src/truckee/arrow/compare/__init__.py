"""Rows that are read by pyarrow and compared in memory: diffs, changelogs, histories."""

"""Feeds that are derived from snapshots, netted, or follow column renames."""

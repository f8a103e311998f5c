"""What to read for the change feed between two versions: planning, with no JVM and no data read."""

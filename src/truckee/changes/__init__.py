"""What to read for the change feed between two versions; no JVM, and no data file is opened."""

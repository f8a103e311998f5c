"""Table maintenance, planned from the log and a listing, without a JVM."""

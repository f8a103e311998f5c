"""What keeps a table in order, planned from its log and its listing: no JVM."""

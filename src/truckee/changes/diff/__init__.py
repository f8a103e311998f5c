"""What differs between two versions of a table, and the history of its rows."""

"""The doctor: problems of a table, and how to fix them."""

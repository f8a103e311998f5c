"""The next version of a table: what is staged, checked, and raced for."""

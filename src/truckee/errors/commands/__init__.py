"""Refused commands: nothing was written, or what was written is not part of the table."""

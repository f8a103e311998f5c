"""SQLSTATEs of error classes."""

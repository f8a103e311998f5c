"""Statements of Delta that Spark's parser does not know; each ends in one command."""

"""The files of a log: which there are, what commits say, and when."""

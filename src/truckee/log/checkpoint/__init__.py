"""The columns of checkpoints, and how they are read."""

"""What follows a commit: checkpoints, checksums, manifests, and the cleanup of the log."""

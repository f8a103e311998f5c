"""VACUUM: which files are still needed, and the deletion of the others."""

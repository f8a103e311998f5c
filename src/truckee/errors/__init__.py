"""Every error, one tree. Each module below holds the errors of one station of the path."""

from truckee.errors.base import DeltaError

__all__ = ["DeltaError"]

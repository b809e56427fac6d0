"""The event groups that changes are in: their order, times and GTIDs."""

__all__ = ["groups", "groups_kernel"]

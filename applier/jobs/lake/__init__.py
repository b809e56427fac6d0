"""Lakes: their versions, which of them to keep, and whether they are complete."""

__all__ = ["checking", "compacting", "contents", "expiring", "versions"]

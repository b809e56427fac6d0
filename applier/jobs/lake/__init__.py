"""Lakes: their versions, what of them is to stay, and whether all is there."""

__all__ = ["checking", "compacting", "contents", "expiring", "versions"]

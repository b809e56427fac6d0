"""Takes chosen transactions back: the rows as they were before these, where nobody changed them since."""

__all__ = ["conflicts", "job", "result"]

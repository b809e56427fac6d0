"""Help texts, man pages and completions, generated from the option registry."""

__all__ = ["help_pages"]

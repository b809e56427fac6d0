"""Help texts, man pages and completions, made of the option registry."""

__all__ = ["help_pages"]

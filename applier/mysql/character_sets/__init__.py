"""Character sets and collations: how text is decoded, and which names servers accept."""

__all__ = ["charset_tables", "charsets", "client_charsets", "client_codecs", "collations", "exact_text", "labels"]

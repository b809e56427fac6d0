"""Encrypted logs, and the keys that they need."""

__all__ = ["decrypting", "keys", "mariadb_decrypting"]

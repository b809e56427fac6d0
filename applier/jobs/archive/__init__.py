"""`archive`: copy binlog files from a live server, byte for byte, by the replication protocol."""

__all__ = ["job", "output", "result"]

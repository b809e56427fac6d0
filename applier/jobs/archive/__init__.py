"""`archive`: binlog files copied from a live server, byte for byte, by the protocol of replicas."""

__all__ = ["job", "output", "result"]

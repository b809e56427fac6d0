"""Which server is asked, by whom, and under which protection: the server's address and the option file beside it."""

__all__ = ["address", "connection", "passwords", "session"]

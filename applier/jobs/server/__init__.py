"""Which server is contacted, as which user, and with which protection: the server's address and the option file."""

__all__ = ["address", "connection", "passwords", "session"]

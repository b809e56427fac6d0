"""The files of an archive, in log order, and their events one by one for any program."""

__all__ = ["archive", "continuity", "log_names", "reader"]

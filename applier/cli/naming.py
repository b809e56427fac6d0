"""The binlogs that a command line names."""

from applier.errors import UsageError


def named_binlogs(binlogs: list[str] | None, unnamed: list[str] | None) -> list[str]:
    """The binlogs of --binlogs, and those that stand there without it, as older command lines have them."""
    if found := [*(binlogs or []), *(unnamed or [])]:
        return found
    raise UsageError("no binlogs are named", hint="give --binlogs PATH")

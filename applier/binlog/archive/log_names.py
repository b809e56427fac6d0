"""Checks names of binlogs and GTID sets from logs, dumps and manifests before they are printed."""

import re

from applier.errors import UsageError
from applier.io.printable import printable

_DIRECTORIES = re.compile(r"[/\\]")
_LONGEST_NAME = 512
"""The most characters of a binlog's name: FN_REFLEN of the servers."""
_GTIDS = re.compile(r"[0-9A-Za-z_:,\s-]*")


def check_log_name(name: str) -> None:
    """Raise UsageError unless the text can be a binlog's name: it goes into SQL, where nothing may follow it. "" stands
    for an unknown name."""
    if not isinstance(name, str) or name != printable(name) or _DIRECTORIES.search(name) or len(name) > _LONGEST_NAME:
        raise UsageError(f"{printable(str(name))[:100]!r} is not the name of a binlog",
                         hint="it has no directories, backslashes or control characters")


def check_gtids(gtid_set: str) -> None:
    """Raise UsageError unless the text has only characters of GTID sets."""
    if not isinstance(gtid_set, str) or _GTIDS.fullmatch(gtid_set) is None:
        raise UsageError(f"{printable(str(gtid_set))[:100]!r} is not a set of GTIDs")

"""What binlogs and GTID sets are called in logs, dumps and manifests, checked before anything is printed of it."""

import re

from applier.errors import UsageError
from applier.io.printable import printable

_DIRECTORIES = re.compile(r"[/\\]")
_LONGEST_NAME = 512
"""Characters of a binlog's name: FN_REFLEN of the servers."""
_GTIDS = re.compile(r"[0-9A-Za-z_:,\s-]*")


def check_log_name(name: str) -> None:
    """Raises UsageError for what cannot be a binlog's name: it goes into SQL, where nothing may follow on it. "" stands
    for a name that is not known."""
    if not isinstance(name, str) or name != printable(name) or _DIRECTORIES.search(name) or len(name) > _LONGEST_NAME:
        raise UsageError(f"{printable(str(name))[:100]!r} is no name of a binlog",
                         hint="it has no directories, backslashes or control characters")


def check_gtids(gtid_set: str) -> None:
    """Raises UsageError for what has characters that no set of GTIDs has."""
    if not isinstance(gtid_set, str) or _GTIDS.fullmatch(gtid_set) is None:
        raise UsageError(f"{printable(str(gtid_set))[:100]!r} is no set of GTIDs")

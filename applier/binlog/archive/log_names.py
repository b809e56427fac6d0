"""Checks names of binlogs and GTID sets from servers, logs, dumps and manifests before they are used or printed."""

import os
import re

from applier.errors import UsageError
from applier.io.printable import printable, printable_start

_DIRECTORIES = re.compile(r"[/\\]")
_LONGEST_NAME = 512
"""The most characters of a binlog's name: FN_REFLEN of the servers."""
_NUMBERED = re.compile(r"\w[\w.-]*\.[0-9]{6,10}")
"""A name that can name a local file: the base name of --log-bin, then a number. It has no leading "-", which a command
would read as an option, and no character with a meaning in shells."""
_LONGEST_FILE_NAME = 255
_GTIDS = re.compile(r"[0-9A-Za-z_:,\s-]*")


def check_log_name(name: str) -> None:
    """Raise UsageError unless the text can be the name of a binlog: it goes into SQL, and must not end its literal. ""
    stands for an unknown name."""
    if not isinstance(name, str) or name != printable(name) or _DIRECTORIES.search(name) or len(name) > _LONGEST_NAME:
        raise UsageError(f"{printable(str(name))[:100]!r} is not the name of a binlog",
                         hint="it has no directories, backslashes or control characters")


def check_file_name(name: str) -> str:
    """Return a binlog's name if a local file can have it. Raises UsageError for any other name."""
    if _NUMBERED.fullmatch(name) is None or len(os.fsencode(name)) > _LONGEST_FILE_NAME:
        raise UsageError(f"'{printable_start(name)}' is not a name that a binlog file can have here",
                         hint="the base name of `--log-bin` begins with a letter, a digit or an underscore, and has "
                              "only these, dots and hyphens; a number of six to ten digits follows")
    return name


def base_and_number(name: str) -> tuple[str, int]:
    """Return the base name and the number of a name that `check_file_name` returned."""
    base, _, number = name.rpartition(".")
    return base, int(number)


def check_gtids(gtid_set: str) -> None:
    """Raise UsageError unless the text has only characters of GTID sets."""
    if not isinstance(gtid_set, str) or _GTIDS.fullmatch(gtid_set) is None:
        raise UsageError(f"{printable(str(gtid_set))[:100]!r} is not a set of GTIDs")

"""Versions of servers, as their logs name them."""

import re

_VERSION = re.compile(r"(?:5\.5\.5-)?(\d+)\.(\d+)")
"""MariaDB puts 5.5.5- before its version for old replicas."""


def is_since(server_version: str, first: tuple[int, int]) -> bool:
    """True for a version that is not before the `first` one; False where it is unknown ("")."""
    found = _VERSION.match(server_version)
    return found is not None and (int(found[1]), int(found[2])) >= first

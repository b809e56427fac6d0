"""What belongs together, as one value: keys of encrypted logs, a server and who asks it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from applier.io.keys import with_keys

_PathLike = str | os.PathLike[str]
_Paths = _PathLike | Sequence[_PathLike]


@dataclass(frozen=True)
class Keys:
    """Where the keys of encrypted binlogs are: `keyring`, files of component_keyring_file or keyring_file, has those of
    MySQL's, `key_file`, files of file_key_management, those of MariaDB's, and `key_file_secret` the password of
    encrypted key files.

    >>> applier.Keys(key_file="keys.enc", key_file_secret="secret").key_file_secret
    'secret'
    """

    keyring: _Paths = ()
    key_file: _Paths = ()
    key_file_secret: _PathLike | None = None

    def of(self, logs: Sequence[str]) -> tuple[str, ...]:
        """Paths of logs, with where their keys are. Raises UsageError for files that have no keys."""
        secret = self.key_file_secret
        return with_keys(logs, _texts(self.keyring), _texts(self.key_file), None if secret is None else
                         os.fspath(secret))


@dataclass(frozen=True)
class Server:
    """A server, as mysql://USER@HOST:PORT or mysql://USER@?socket=/PATH, and an option file of the servers' clients:
    the password, TLS, and what the address leaves out.

    >>> applier.Server("mysql://repl@db1", "my.cnf").url
    'mysql://repl@db1'
    """

    url: str
    defaults_file: _PathLike | None = None


def _texts(paths: _Paths) -> list[str]:
    return [os.fspath(paths)] if isinstance(paths, str | os.PathLike) else [os.fspath(path) for path in paths]

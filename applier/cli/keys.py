"""The options of all verbs that read logs which name the files with the keys of encrypted ones."""

from collections.abc import Iterable
from typing import Annotated

import typer

Keyrings = Annotated[list[str] | None, typer.Option(
    "--keyring", metavar="FILE", help="The keys of MySQL's encrypted binlogs: a keyring of component_keyring_file or "
                                      "keyring_file. Several may be given.")]
KeyFiles = Annotated[list[str] | None, typer.Option(
    "--key-file", metavar="FILE", help="The keys of MariaDB's: a key file of file_key_management. Several may be "
                                       "given.")]
KeyFileSecret = Annotated[str | None, typer.Option(
    metavar="FILE", help="The file with the password of encrypted key files, the server's "
                         "file_key_management_filekey.")]


def keyed(locations: Iterable[str], keyrings: list[str] | None, key_files: list[str] | None,
          secret: str | None) -> tuple[str, ...]:
    """The locations of logs with where their keys are. Raises UsageError for files that have no keys."""
    if not (keyrings or key_files or secret):
        return tuple(locations)
    from applier.io.keys import with_keys

    return with_keys(locations, keyrings or (), key_files or (), secret)

"""The files of LOAD DATA that statements in the log read: written to a directory, and named in the statements."""

import itertools
import os
from struct import unpack_from

from applier.binlog.events.query import Query
from applier.binlog.events.statement_events import FileBlock
from applier.errors import UsageError

_FILE_AT = 13
_REPLACE = 2
"""How the statement treats rows with existing keys: 0 is an error, 1 IGNORE."""


class LoadFiles:
    """The files of one log. Existing ones are not written to."""

    def __init__(self, directory: str) -> None:
        self._directory, self._names = directory, dict[int, str]()

    def add(self, block: FileBlock, *, begins: bool) -> None:
        """Write a block of a file."""
        try:
            if begins:
                self._names[block.file_id] = self._new(block.file_id)
            if name := self._names.get(block.file_id):
                with open(name, "ab") as file:
                    file.write(block.data)
        except OSError as reason:
            raise UsageError(f"a file of LOAD DATA cannot be written: {reason.strerror}", file=self._directory,
                             hint="name a directory that can be written to") from None

    def statement(self, body: bytes, query: Query) -> str | None:
        """Return an EXECUTE_LOAD_QUERY's statement, with its end, so that it reads the file; None if the log does not
        contain it."""
        file_id, start, end, duplicates = unpack_from("<IIIB", body, _FILE_AT)
        name = self._names.pop(file_id, None)
        if name is None:
            return None
        sql = query.sql.decode("utf-8", "surrogateescape")
        quoted = name.replace("\\", "\\\\").replace("'", "\\'")
        return f"{sql[:start]} LOCAL INFILE '{quoted}'{' REPLACE' * (duplicates == _REPLACE)} INTO{sql[end:]}\n/*!*/;\n"

    def _new(self, file_id: int) -> str:
        for number in itertools.count():
            name = os.path.join(self._directory, f"SQL_LOAD_MB-{file_id:x}-{number:x}")
            try:
                open(name, "xb").close()
            except FileExistsError:
                continue
            return name
        raise AssertionError

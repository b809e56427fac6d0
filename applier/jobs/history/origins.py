"""Who changed a row, and by which statement, as far as the log says it: looked up for single versions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from applier.binlog.locating.groups import GroupPass, Groups
from applier.jobs.changes.log import LogFile
from applier.jobs.changes.log_files import LogFiles
from applier.jobs.changes.row_statements import RowStatements

_KEPT_FILES = 4
"""The files whose groups are in memory; versions of a row are in the order of the log."""


@dataclass(frozen=True)
class Origin:
    """The thread that ran a change on the server, and its SQL; None where the log has none."""

    thread_id: int | None
    statement: str | None


class Origins:
    """Finds the origins of changes in these files by the names of files and the offsets of events."""

    def __init__(self, files: Iterable[LogFile], statements: RowStatements) -> None:
        self._files, self._statements = LogFiles(files), statements
        self._groups = lru_cache(_KEPT_FILES)(_groups_of)

    def of(self, file: str, offset: int) -> Origin:
        """The origin of a change. Raises ArchiveError for an event that is malformed."""
        threads = [self._thread(part, offset) for part, _ in self._files.having(file, np.array([offset]))]
        return Origin(threads[0] if threads else None, self._statements.at(file, offset))

    def _thread(self, part: LogFile, offset: int) -> int | None:
        groups = self._groups(part)
        thread = int(groups.threads[np.searchsorted(groups.ends, offset, side="right")])
        return None if thread < 0 else thread


def _groups_of(part: LogFile) -> Groups:
    return GroupPass(part.uri).groups(part.start, part.end)

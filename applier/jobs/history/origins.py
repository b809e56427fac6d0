"""Who changed a row, and by which statement, as far as the log says it: looked up for single versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa

from applier.binlog.locating.groups import GroupPass, Groups
from applier.binlog.locating.sessions import session_of
from applier.jobs.changes.log import LogFile
from applier.jobs.changes.row_statements import RowStatements


@dataclass(frozen=True)
class Origin:
    """The thread that ran a change on the server, and its SQL; None where the log has none."""

    thread_id: int | None
    statement: str | None


class Origins:
    """Finds the origins of changes by the names of files and the offsets of events."""

    def __init__(self, files: Mapping[str, LogFile]) -> None:
        self._files = files
        self._statements = RowStatements({name: file for name, file in files.items() if file.has_statements})
        self._groups = cache(self._groups_of)

    def of(self, file: str, offset: int) -> Origin:
        """The origin of a change. Raises ArchiveError for an event that is malformed."""
        groups = self._groups(file)
        group = groups[int(np.searchsorted(groups.starts, offset, side="right")) - 1]
        files = pa.DictionaryArray.from_arrays(pa.array([0], pa.int32()), pa.array([file]))
        [statement] = self._statements.behind(files, pa.array([offset])).to_pylist()
        return Origin(session_of(self._files[file].uri, group.start, group.end).thread_id, statement)

    def _groups_of(self, file: str) -> Groups:
        known = self._files[file]
        return GroupPass(known.uri).groups(known.start, known.end)

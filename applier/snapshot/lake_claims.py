"""Claims: how two runs that would publish one version learn of each other before they write files of it.

Small files of a version have names that both would use, and not every store makes a manifest on condition that there is
none. So a run first writes a claim, a file of a name of its own, and then lists the claims
to the same version: of two runs, the later one's list has both claims, since the store shows at once what it took (S3,
GCS and Azure do). Whoever finds another claim withdraws its own and stops. At most one goes on; where both write at the
same time, both may stop, and neither has published.

A claim of a run that was killed must not stop others for ever: it counts for ten minutes, by the store's clock, and a
run gives up a version that it did not finish within one minute of its claim. What this cannot tell apart is a run of
which a request hangs for longer than nine minutes between being sent and being taken: the manifest, where stores know
conditions, is safe from it.
"""

from __future__ import annotations

import time
from datetime import timedelta

from pyarrow import fs

from applier.errors import SnapshotError
from applier.snapshot.lakes import version_name
from applier.snapshot.staging import WITHOUT_FOLDERS

COUNTS_FOR = timedelta(minutes=10)
_ENOUGH_SECONDS = 60.0


class Claim:
    """A run's claim to the version of a number; `folder` is where claims are."""

    def __init__(self, filesystem: fs.FileSystem, folder: str, number: int, run: str) -> None:
        self._filesystem, self._folder = filesystem, folder
        self._start = f"claim-{version_name(number)}-"
        self._path = f"{folder}/{self._start}{run}"
        self._made = 0.0

    def make(self) -> None:
        """Claim the version. Raises SnapshotError where another run has. Errors: OSError."""
        self._made = time.monotonic()
        if self._filesystem.type_name not in WITHOUT_FOLDERS:
            self._filesystem.create_dir(self._folder, recursive=True)
        with self._filesystem.open_output_stream(self._path, compression=None) as stream:
            stream.write(b"A run is about to publish this version.\n")
        claims = [info for info in self._filesystem.get_file_info(fs.FileSelector(self._folder))
                  if info.base_name.startswith(self._start)]
        [own] = [info for info in claims if info.path == self._path]
        if any(info.path != self._path and info.mtime > own.mtime - COUNTS_FOR for info in claims):
            self.drop()
            raise SnapshotError("another run is publishing this version, so this one publishes nothing",
                                file=self._path, hint="run it again: it goes on from the latest version; a run that "
                                                      "was killed holds a version for ten minutes")

    def check(self) -> None:
        """Raise SnapshotError if the claim may no longer count for others."""
        if time.monotonic() - self._made > _ENOUGH_SECONDS:
            raise SnapshotError("publishing took more than a minute, and another run may have begun",
                                file=self._path, hint="run it again")

    def drop(self) -> None:
        """Withdraw the claim, if it was made. Errors: OSError."""
        if self._made and self._filesystem.get_file_info(self._path).type == fs.FileType.File:
            self._filesystem.delete_file(self._path)

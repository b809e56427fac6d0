"""Claims, by which two runs that would publish the same version detect each other before they write files of it.

Small files of a version have names that both would use, and not every store has conditional puts for the manifest. So a
run first writes a claim, a file with a unique name, and then lists the claims to the same version: of two runs, the
later one's list has both claims, since the stores' listings are consistent (S3, GCS and Azure). A run that finds
another claim withdraws its own and stops. At most one continues; if both write at the same time, both may stop, and
neither has published.

A claim of a killed run must not block others for ever, and a run gives up a version that it did not finish within one
minute of its claim. If the store has conditional puts, which a run that finds another claim detects by making its own
twice, a claim counts for two minutes, by the store's clock: a manifest request that hangs is refused later. Elsewhere
it counts for ten, and does not protect against a writer whose request is delayed by more than nine minutes.
"""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import timedelta

from pyarrow import fs

from applier.errors import AnotherRun
from applier.io.disk import new_files
from applier.io.resolver import join
from applier.snapshot.lakes import version_name
from applier.snapshot.staging import WITHOUT_FOLDERS

COUNTS_FOR, WITH_CONDITIONS = timedelta(minutes=10), timedelta(minutes=2)
_ENOUGH_SECONDS = 60.0
_TEXT = b"A run is about to publish this version.\n"


class Claim:
    """A run's claim to the version with a number. `folder` is the folder of claims, `uri` its URI."""

    def __init__(self, filesystem: fs.FileSystem, folder: str, uri: str, number: int, run: str) -> None:
        self._filesystem, self._folder, self._uri = filesystem, folder, uri
        self._start = f"claim-{version_name(number)}-"
        self._path = f"{folder}/{self._start}{run}"
        self._made = 0.0

    def make(self) -> None:
        """Claim the version. Raises AnotherRun if another run has claimed it. Errors: OSError."""
        self._made = time.monotonic()
        if self._filesystem.type_name not in WITHOUT_FOLDERS:
            self._filesystem.create_dir(self._folder, recursive=True)
        is_on_condition = self._write()
        claims = [info for info in self._filesystem.get_file_info(fs.FileSelector(self._folder))
                  if info.base_name.startswith(self._start)]
        [own] = [info for info in claims if info.path == self._path]
        others = [info for info in claims if info.path != self._path and info.mtime > own.mtime - COUNTS_FOR]
        counts_for = COUNTS_FOR
        if others and is_on_condition and self._put(_TEXT.upper()) is False:
            counts_for = WITH_CONDITIONS
            others = [info for info in others if info.mtime > own.mtime - counts_for]
        if others:
            newest = max(others, key=lambda info: info.mtime)
            ends = newest.mtime + counts_for
            self.drop()
            raise AnotherRun("another run is publishing this version, or was killed while it did, so this one "
                             "publishes nothing", file=join(self._uri, newest.base_name),
                             hint=f"run it again: it continues from the latest version; this claim is of "
                                  f"{newest.mtime:%H:%M:%S} UTC and counts until {ends:%H:%M:%S}")

    def _write(self) -> bool:
        """Write the claim. Returns whether the request was conditional; the store may have ignored the condition."""
        if self._put(_TEXT) is not None:
            return True
        with self._filesystem.open_output_stream(self._path, compression=None) as stream:
            stream.write(_TEXT)
        return False

    def _put(self, text: bytes) -> bool | None:
        """Ask the store to make the claim if there is none; returns whether it did, None where that cannot be asked."""
        uri = join(self._uri, self._path.rpartition("/")[2])
        with suppress(OSError):
            return new_files.make(uri, text) if new_files.can_make(uri) else None
        return None

    def check(self) -> None:
        """Raise AnotherRun if other runs may no longer respect the claim."""
        if time.monotonic() - self._made > _ENOUGH_SECONDS:
            raise AnotherRun("publishing took more than a minute, and another run may have begun",
                             file=join(self._uri, self._path.rpartition("/")[2]), hint="run it again")

    def drop(self) -> None:
        """Withdraw the claim, if it was made. Errors: OSError."""
        if self._made:
            with suppress(FileNotFoundError):
                self._filesystem.delete_file(self._path)

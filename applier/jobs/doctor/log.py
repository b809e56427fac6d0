"""Checks whether the files of an archive exist, can be read, and continue one another."""

from __future__ import annotations

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from applier.binlog.archive.archive import Archive, ArchiveFile, open_archive
from applier.binlog.locating.heads import FileHead, read_head
from applier.engine import compiling
from applier.engine.executor import ThisProcess
from applier.errors import ApplierError, ArchiveError, EncryptedBinlog
from applier.io.packing import is_packed
from applier.io.progress import Progress
from applier.jobs.doctor.result import NOTE, Findings, problem_of
from applier.jobs.replay.left_out import check_left_out, leaving_out, left_out_of, notes_on_base
from applier.jobs.replay.outlining import Outlining, Pass
from applier.jobs.replay.planning import relevance_to
from applier.options import DoctorOptions
from applier.plan.stops.stop_position import in_order
from applier.snapshot.manifest import Snapshot

_WHOLE, _NAMED = 1 << 62, 5
"""Bytes of a pass; files that are named in lines of their own."""
_SERVERS = {"mysql": "MySQL", "mariadb": "MariaDB"}


def look_at_files(findings: Findings, options: DoctorOptions) -> Archive | None:
    """Return whether no file is missing between the first and the last; returns those up to the first one that is."""
    archive = findings.attempt("files", lambda: open_archive(list(options.binlogs), with_gap=True))
    if archive is None:
        return None
    if archive.gap is not None and not _stops(options):
        findings.problem("files", archive.gap)
        archive = replace(archive, gap=None)
    else:
        first, last = archive.files[0].name, archive.files[-1].name
        findings.ok("files", f"{len(archive.files):,}, {archive.size:,} bytes: "
                    + (f"from {first} to {last}, with no number missing" if first != last else first))
    return archive


class Heads:
    """The heads of an archive's files: a few KB of each, with magic, format description, checksums, and whether the
    keys of encrypted files are given. `errors` are of those that cannot be read."""

    def __init__(self, archive: Archive, progress: Progress):
        self._files = archive.files
        self.heads, self.errors = list[FileHead](), list[ArchiveError]()
        progress.phase("heads", len(self._files), "files")
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            for done, found in enumerate(pool.map(_head, self._files), 1):
                if isinstance(found, FileHead):
                    self.heads.append(found)
                else:
                    self.errors.append(found)
                progress.update(done)

    def has(self, error: ApplierError) -> bool:
        """Return whether an error concerns a file whose head has shown it already."""
        return any((known.message, known.file) == (error.message, error.file) for known in self.errors)

    def report(self, findings: Findings, *, are_read: bool) -> None:
        """Report the findings. Errors are notes if a replay reads none of these files (`are_read` False)."""
        heads = self.heads
        for error in self.errors[:_NAMED]:
            found = problem_of("encryption" if isinstance(error, EncryptedBinlog) else "heads", error)
            findings.checks.append(found if are_read else
                                   replace(found, state=NOTE, found=f"{found.found}; this replay does not read it"))
        if more := self.errors[_NAMED:]:
            findings.note("heads", f"{len(more):,} more files are like this, up to {more[-1].file}")
        if not self.errors:
            servers = Counter((_SERVERS[head.format.flavour], head.format.server_version) for head in heads)
            findings.ok("heads", ", ".join(f"{count:,} of {server} {version}" for (server, version), count
                                           in servers.items()))
            encrypted = sum(head.is_encrypted for head in heads)
            findings.ok("encryption", f"{encrypted:,} of {len(heads):,} files are encrypted, and the keys are given"
                        if encrypted else "no file is encrypted")
        if without := sum(not head.format.checksum for head in heads):
            findings.note("checksums", f"{without:,} of {len(heads):,} files have none: changed bytes may not be "
                          "noticed", "SET GLOBAL binlog_checksum = CRC32 on the source, for the files to come")
        elif heads:
            findings.ok("checksums", "CRC32, and those of the heads are right")
        packed = sum(is_packed(file.uri) for file in self._files)
        findings.ok("packing", f"{packed:,} of {len(self._files):,} files are packed" if packed else
                    "no file is packed")


def _head(file: ArchiveFile) -> FileHead | ArchiveError:
    try:
        return read_head(file)
    except ArchiveError as error:
        return error


def look_at_positions(findings: Findings, options: DoctorOptions, archive: Archive, base: Snapshot | None,
                   progress: Progress) -> DoctorOptions | None:
    """Check whether a snapshot is possible at each of several positions; return the replay to the last of them, which
    passes all others, or None if a replay would stop before it reads the log between them."""
    compiling.ensure("outline", progress)
    positions = findings.attempt("places", lambda: in_order(
        options.snapshot_at, archive, lambda tasks: _this_process().outline(tasks, lambda *_: None)))
    if positions is None:
        return None
    first, last = (replace(options, snapshot_at=(), stop_position=position)
                   for position in (positions[0], positions[-1]))
    # an error of one position alone, as one before the base, is an error of the first
    if len(positions) > 1 and findings.attempt("places", lambda: _outline(first, archive, base, progress, [])) is None:
        return None
    findings.ok("places", f"{len(positions):,}: " + ", ".join(f"{name}:{offset}" for name, offset in positions[:_NAMED])
                + (f" and {len(positions) - _NAMED:,} more" if len(positions) > _NAMED else ""))
    return last


def look_at_log(findings: Findings, options: DoctorOptions, archive: Archive, base: Snapshot | None,
                heads: Heads, progress: Progress) -> Pass | None:
    """Return whether the files hold together, and the base with them. All of the log is read, and no row of it decoded;
    None if a replay would stop there."""
    notes = list[str]()
    try:
        part = _outline(options, archive, base, progress, notes)
        files = part.span.files
        groups = sum(outline.n_groups for outline in files)
        for note in (*notes_on_base(base), *check_left_out(options, left_out_of(files, options), groups, base)):
            findings.note("transactions", note)
    except ApplierError as error:
        if not heads.has(error):
            findings.problem("log", error)
        return None
    finally:
        for note in notes:
            findings.note("log", note)
    gtids = any(outline.last_gtid for outline in files)
    if not notes:
        findings.ok("log", f"{groups:,} event groups from {files[0].name}:{files[0].start} to "
                    f"{files[-1].name}:{files[-1].end}; each file continues the one before")
    if gtids:
        findings.ok("GTIDs", "no gap" + (" between files" if len(files) > 1 else "")
                    + (" nor after the base" if base is not None and base.position.gtid_set else ""))
    elif groups:
        findings.note("GTIDs", "the log has none, so that transactions which are missing between files are told by the "
                      "files' names and ends alone", "gtid_mode = ON on the source, for the logs to come")
    return part


def _outline(options: DoctorOptions, archive: Archive, base: Snapshot | None, progress: Progress,
             notes: list[str]) -> Pass:
    """Return the outline of the log that a replay applies, in one pass, and add its `notes`. Raises ApplierError as a
    replay does."""
    compiling.ensure("outline", progress)
    return Outlining(_this_process(), options, relevance_to(options), _WHOLE, progress, notes.append,
                     leaving_out=leaving_out(options), reapply=options.reapply).next_pass(archive, base)


def _this_process() -> ThisProcess:
    return ThisProcess(os.cpu_count() or 1)


def _stops(options: DoctorOptions) -> bool:
    """Return whether it stops somewhere, perhaps before a file that is missing."""
    return bool(options.snapshot_at) or any(
        stop is not None for stop in (options.stop_position, options.stop_gtid, options.stop_datetime))

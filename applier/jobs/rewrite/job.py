"""The job: rewrite an archive with other images, compressed, or filtered, and prove that it is equivalent.

    archive → replayed → outline → definitions → for full images, the missing columns → each file written again →
    replayed → compared → published

File names, groups, GTIDs, servers, times, statements and the order stay, unless they are filtered; positions
change.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from functools import partial
from tempfile import TemporaryFile
from typing import IO

import numpy as np

from applier.binlog.archive.archive import Archive, ArchiveFile, open_archive
from applier.binlog.events.table_map import TableMap
from applier.binlog.outline.left_out import unpack_ranges
from applier.binlog.outline.outline import OutlineTask
from applier.binlog.outline.stop import StopCondition
from applier.engine import compiling
from applier.engine.executor import ThisProcess
from applier.engine.threads import map_on_threads
from applier.errors import UsageError
from applier.io.disk import durable
from applier.io.disk.temporary import temporary_directory
from applier.io.progress import Progress, Silent
from applier.jobs.replay.left_out import leaving_out
from applier.jobs.replay.outlining import Outlining
from applier.jobs.rewrite.completing import NO_FILLS, Completion
from applier.jobs.rewrite.file_rewrite import FileFilter, FileToRewrite, knows_compressed, knows_diffs, rewrite_file
from applier.jobs.rewrite.gtid_list import GtidList
from applier.jobs.rewrite.proof import Replays
from applier.jobs.rewrite.result import Proof, Rewritten, RewrittenFile
from applier.jobs.rewrite.statements import StatementFilter
from applier.jobs.rewrite.table_images import image_columns
from applier.options import RewriteOptions
from applier.options.making import FULL
from applier.plan.log import read_history
from applier.plan.span import LogSpan
from applier.schema.history.history import SchemaHistory
from applier.snapshot import manifest

_WHOLE = 1 << 62
_NO_RANGES = np.empty((0, 2), np.int64)


def rewrite(options: RewriteOptions, progress: Progress | None = None) -> Rewritten:
    """Write the archive again. Raises UsageError if the output exists, and the errors of a replay of the archive; then
    nothing is written."""
    progress = progress or Silent()
    output = os.path.abspath(options.output)
    if os.path.exists(output):
        raise UsageError("the output already exists", file=options.output, hint="name a directory that does not exist")
    compiling.ensure("replay", progress)
    compiling.ensure("rewrite", progress)
    archive = open_archive(list(options.binlogs))
    with Replays(options, progress) as replays:
        replayed = replays.original()
        staging, lock = durable.make_staging(output)
        try:
            with TemporaryFile(prefix="applier-rewrite-", dir=temporary_directory()) as lacking:
                writing = _Writing(archive, options, lacking, progress)
                files = writing.write(staging, progress)
            proof = _proven(replays, staging, writing.emptied)
            durable.sync_tree(staging)
            os.rename(staging, output)
        except BaseException:
            shutil.rmtree(staging, ignore_errors=True)
            raise
        finally:
            if lock is not None:
                os.close(lock)
    notes = tuple(dict.fromkeys((*replayed.notes, *writing.notes, *replays.notes)))
    return Rewritten(options.output, tuple(files), writing.groups, proof, notes)


class _Writing:
    """The facts about an archive that are known before it is rewritten. The missing parts of images are in a file."""

    def __init__(self, archive: Archive, options: RewriteOptions, lacking: IO[bytes], progress: Progress) -> None:
        self.notes = list[str]()
        self._options, self._archive = options, archive
        base = None if options.base is None else manifest.load(options.base)
        executor = ThisProcess(os.cpu_count() or 1)
        replaying = options.replaying("")
        outlining = Outlining(executor, replaying, None, _WHOLE, Silent(), lambda text: None,
                              leaving_out=leaving_out(replaying))
        part = outlining.next_pass(archive, base)
        self._span: LogSpan = part.span
        wanted = options.filter.wanted
        self._history: SchemaHistory = read_history(part.span, wanted, part.base, None, dict(options.rewrites),
                                                    system_time_zone=options.system_time_zone)
        self._numbers = {outline.name: number for number, outline in enumerate(part.span.outlines)
                         if number >= part.span.n_before}
        self._completion: Completion | None = None
        if options.completes:
            progress.phase("complete", 1, "archive")
            self._completion = Completion(part.span, self._history, part.base, lacking, wanted,
                                          full=options.image == FULL, documents=options.full_json)
            self.notes += self._completion.notes
        self._filter = StatementFilter(part.span.flavour, options.filter, options.rewrites,
                                       folds_names=self._history.folds_names)
        self._ranges, self._gtid_list = _ranges_of_servers(archive, executor, options), GtidList()
        for outline in part.span.files:
            if options.compress and not knows_compressed(outline.format):
                self.notes.append(f"{outline.name} is not compressed: {outline.format.server_version} does not know "
                                  "compressed events")
            if options.partial_json and not knows_diffs(outline.format):
                self.notes.append(f"{outline.name} gets no JSON diffs: {outline.format.server_version} does not know "
                                  "them")
            if outline.torn:
                self.notes.append(f"{outline.name} ends within an event group at {outline.torn_at}; written up to "
                                  f"{outline.end}")

    @property
    def groups(self) -> int:
        """How many event groups count."""
        return sum(outline.n_groups for outline in self._span.files)

    @property
    def emptied(self) -> AbstractSet[str]:
        """The prepared XA transactions at the end of what is written that the filters have emptied."""
        return self._filter.emptied

    def write(self, folder: str, progress: Progress) -> list[RewrittenFile]:
        """Write all files, and an index of them, to a directory."""
        files = self._archive.files
        progress.phase("rewrite", len(files), "files")
        threads = 1 if self._options.filters else os.cpu_count() or 1  # a filter's decisions depend on the files before
        done = map_on_threads(partial(self._write_file, folder), files, threads,
                              lambda count, _: progress.update(count))
        self.notes += [f"{kind}, {n:,} time{'s' * (n != 1)}: the text has a database's old name, as on a replica with "
                       "replicate-rewrite-db" for kind, n in sorted(self._filter.keeps_names.items())]
        with open(os.path.join(folder, f"{files[0].name.rpartition('.')[0] or files[0].name}.index"), "x") as index:
            index.writelines(self._index_lines(files))
        return done

    def _index_lines(self, files: Iterable[ArchiveFile]) -> Iterator[str]:
        """Yield the lines of an index; with the last group id up to the end of each file where there are ids
        (GRP-3)."""
        last: int | None = None
        for file in files:
            number = self._numbers.get(file.name)
            if number is not None and (found := self._span.outlines[number].last_group_id) is not None:
                last = found
            yield f"./{file.name}\n" if last is None else f"./{file.name}|{last}|\n"

    def _write_file(self, folder: str, file: ArchiveFile) -> RewrittenFile:
        number = self._numbers.get(file.name)
        outline = None if number is None else self._span.outlines[number]
        redefined = set() if outline is None else {outline.start}
        for version in self._history.versions():
            edges = version.start, version.end
            redefined |= {edge[1] for edge in edges if edge is not None and edge[0] == number}
        end = outline.end if outline is not None and outline.torn else None
        return rewrite_file(FileToRewrite(file.uri, file.name, end, sorted(redefined)), os.path.join(folder, file.name),
                            partial(self._images_of, number), compresses=self._options.compress,
                            makes_diffs=self._options.partial_json, completes=self._options.completes,
                            filtered=self._filter_of(file.name))

    def _filter_of(self, name: str) -> FileFilter | None:
        """Return the parts of a file to drop."""
        if not self._options.filters:
            return None
        return FileFilter(self._filter, self._ranges.get(name, _NO_RANGES), self._gtid_list)

    def _images_of(self, number: int | None, table_map: TableMap,
                   position: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the columns of a table in a file's images, and the missing parts of these; None if they stay
        unchanged: also before a base."""
        options = self._options
        stay = options.image is None and not (options.partial_json or options.full_json)
        if stay or number is None or position < self._span.outlines[number].start:
            return None
        table = self._history.renamed((table_map.database, table_map.table))
        version = self._history.at(*table, (number, position))
        columns = None if version is None else image_columns(version.definition, table_map, options.image)
        if version is None or columns is None:
            return None
        return columns, NO_FILLS if self._completion is None else self._completion.fills(number, version.id)


def _ranges_of_servers(archive: Archive, executor: ThisProcess, options: RewriteOptions) -> dict[str, np.ndarray]:
    """Return which groups of the files go as a whole, by the names of files: offsets (int64[n, 2])."""
    rule = leaving_out(options.replaying(""))
    if rule is None:
        return {}
    outlines = executor.outline([OutlineTask(file.uri, None, StopCondition(), 0, None, leaving_out=rule)
                                 for file in archive.files], lambda *_: None)
    return {outline.name: np.ascontiguousarray(unpack_ranges(outline.left_out.ranges))
            for outline in outlines if outline.left_out is not None}


def _proven(replays: Replays, folder: str, emptied: AbstractSet[str]) -> Proof:
    replays.rewritten((folder,))
    return replays.proof(emptied)

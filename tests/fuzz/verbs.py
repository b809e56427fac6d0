"""What is done with a mutant: every verb that reads such a file. It ends with an answer or an ApplierError."""

import contextlib
import io
import os
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

_ENDED = (0, 1, 2)
"""The exit codes that are documented; anything else is a defect."""


def take(path: Path, number: int) -> None:
    """All that is done with a file, by what it is. Raises whatever is no ApplierError."""
    (_take_dump if path.suffix == ".sql" else _take_log)(path, number)


def _take_log(path: Path, number: int) -> None:
    file = str(path)
    _run("show", file)
    _run("show", "--format", "json", file)
    _run("show", "--table", "*.t*", file)
    _run("explain", "--binlogs", file)
    _run("locate", "--binlogs", file, "--datetime", "2026-11-20 20:00:00")
    _run("summary", "--binlogs", file, "--html", os.devnull)
    read(path, number)
    replay(path, number)
    feed(path, number)


def _take_dump(path: Path, number: int) -> None:
    output, again, exported = (str(path.with_suffix(end)) for end in (".out", ".again", ".export"))
    try:
        if _run("import", str(path), "--output", output) == 0:
            _run("status", output)
            if _run("export", output, "--output", exported, "--format", ("sql", "tsv")[number % 2]) == 0:
                _run("import", exported, "--output", again)
    finally:
        for folder in (output, again, exported):
            shutil.rmtree(folder, ignore_errors=True)


def _run(*arguments: str) -> int:
    from applier import cli

    said = io.StringIO()
    with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(said):
        code = cli.main(list(arguments))
    if code not in _ENDED:
        raise AssertionError(f"exit code {code} of {' '.join(arguments)}: {said.getvalue()[-500:]}")
    return code


def read(path: Path, number: int) -> str:
    """Read a log as a replay does, whatever its tables are; "ok", or what the error says."""
    from applier.binlog.outline.outline_pass import outline_file
    from applier.errors import ArchiveError

    try:
        outline = outline_file(str(path))
        segments = [(split.start, split.end) for split in outline.splits]
        answer = "ok"
    except ArchiveError as error:
        segments, answer = [], str(error)
    segments.append((4, path.stat().st_size))  # also without an outline, as if the file changed after it
    for start, end in segments:
        try:
            _decode(path, start, end, number)
        except ArchiveError as error:
            answer = str(error)
    return answer


def replay(path: Path, number: int, **options: object) -> str:
    """Replay a file as an archive of its own, by either route, up to where it contradicts itself; "ok", or what the
    error says. A file that does so is replayed beyond that, too."""
    answer = _replayed(path, number, witness="stop", **options)
    return answer if answer == "ok" else _replayed(path, number, witness="report", **options)


def _replayed(path: Path, number: int, **options: object) -> str:
    from applier.engine.executor import ThisProcess
    from applier.errors import ApplierError
    from applier.jobs.replay.job import replay_with
    from applier.options import ReplayOptions
    from applier.schema.table_filter import TableFilter
    from applier.snapshot import manifest

    output = path.with_name(f"snapshot-{number}")
    wanted = {"filter": TableFilter(ignored=(("moves", "n"),)), "route": ("walk", "shuffle")[number % 2],
              "define_from_log": number % 4 < 2} | options
    try:
        replay_with(ThisProcess(2), ReplayOptions((str(path),), str(output), **wanted))
        manifest.load(str(output))
    except ApplierError as error:
        assert not output.exists(), "there is a snapshot, and an error"
        return str(error)
    finally:
        shutil.rmtree(output, ignore_errors=True)
    return "ok"


def feed(path: Path, number: int) -> list[str]:
    """Read the changes of some of a file's tables, as they are or completed; "ok" for each, or what the error says."""
    import applier

    with contextlib.suppress(applier.ApplierError):
        tables = [table.table for table in applier.summary(path).tables]
        first = number % max(len(tables), 1)
        return [_changes(path, name, number) for name in [*tables[first:], *tables[:first]][:2]]
    return []


def _changes(path: Path, name: str, number: int) -> str:
    import applier

    quoted = ".".join("`" + part.replace("`", "``") + "`" for part in name.split(".", 1))
    try:
        for batch in applier.changes(path, quoted, define_from_log=number % 4 < 2, ignore_foreign_keys=number % 8 < 4,
                                     complete=number % 2 == 1):
            batch.validate(full=True)
    except applier.ApplierError as error:
        return str(error)
    return "ok"


def _decode(path: Path, start: int, end: int, number: int) -> None:
    from applier.binlog.events.events import read_format
    from applier.binlog.rows.changes import ChangeReader, TableBinding
    from applier.binlog.rows.layout import plan_columns
    from applier.io.mapping import map_file

    def bind(table_map):
        plans = plan_columns(table_map)

        def take_batch(batch):
            images = (batch.before, batch.n_before), (batch.after, batch.n_after)
            for image, rows in images[batch.before is batch.after:]:
                for wire_type, column in zip(table_map.types, image.columns.values(), strict=True):
                    _finish(column.arrow(rows), wire_type, number)

        return TableBinding(plans, list(plans), list(plans), take_batch, rows=256, in_one=number % 2 == 1)

    with closing(map_file(str(path))) as mapped:
        form = read_format(mapped)
        reader = ChangeReader(mapped, bind, checksum=form.checksum, header_length=form.header_length)
        try:
            reader.walk(start, end)
        finally:
            reader.flush()


def _finish(column, wire_type: int, number: int) -> None:
    import pyarrow as pa

    from applier.mysql.character_sets.charsets import to_utf8
    from jsondiff.binary import JsonError, to_text

    column.validate(full=True)
    if wire_type == 245:
        _quietly(lambda: to_text(column).validate(full=True), JsonError)
    elif pa.types.is_binary(column.type):
        to_utf8(column, ("utf8mb4", "latin1", "sjis", "utf16")[number % 4]).validate(full=True)


def _quietly(step: Callable[[], None], error: type[Exception]) -> None:
    with contextlib.suppress(error):
        step()

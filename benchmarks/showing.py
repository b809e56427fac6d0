"""`applier show`: text out of a log, beside what the servers' own tools take for it."""

from subprocess import CalledProcessError

from applier.schema.table_filter import Entry, TableFilter, parse_table_list
from benchmarks import peers, stages
from benchmarks.measure import Cost, best, in_child
from benchmarks.report import Table, number, ratio
from benchmarks.sections import Bench


def showing(bench: Bench) -> list[Table]:
    """Row changes a second that are printed."""
    names = list(bench.readers)
    table = Table(
        "Showing a log",
        "Row changes as text, as `mysqlbinlog -v` prints them: million changes a second of one core's CPU time; and "
        "with a `--table` that all of them are of, beside the other tools without one.",
        ["log", "MB", "M changes", "applier show", "MB/s of text", *names, *(f"show ÷ {name}" for name in names)],
    )
    for log in bench.given or tuple(map(bench.workload, ("oltp", "bulk", "types", "minimal"))):
        changes = in_child(stages.count_changes, log.files)
        others = [_read_with(program, log.files, changes) for program in bench.readers.values()]
        for name, tables in ((log.name, None), (f"{log.name}, --table '*'", parse_table_list(["*"]))):
            cost, text_bytes = in_child(show, log.files, tables)
            ours = changes / cost.cpu / 1e6
            table.rows.append([name, number(log.size / 1e6), number(changes / 1e6), number(ours),
                               number(text_bytes / cost.cpu / 1e6), *map(number, others),
                               *(ratio(ours, other) for other in others)])
    return [table]


def show(files: tuple[str, ...], tables: tuple[Entry, ...] | None = None) -> tuple[Cost, int]:
    """Print the events of the files, all or those about some tables, to nowhere; and how many bytes that are."""
    from applier.io.mapping import map_file
    from applier.jobs.show.choice import TableChoice
    from applier.jobs.show.printing import EventPrinter

    written = 0

    def write(text: bytes) -> None:
        nonlocal written
        written += len(text)

    def run() -> None:
        nonlocal written
        written = 0
        for file in files:
            mapped = map_file(file)
            printer = EventPrinter(mapped, "text", write)
            chosen = printer if tables is None else TableChoice(mapped, TableFilter(tables), printer)
            chosen.print(4, mapped.size, 4)

    return best(run, 3), written


def _read_with(program: list[str], files: tuple[str, ...], changes: int) -> float | None:
    """Million changes a second that a tool prints; None where it does not take the log."""
    try:
        return changes / peers.read_with(program, files).cpu / 1e6
    except CalledProcessError:
        return None

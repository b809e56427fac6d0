"""Summing up a log: rows counted by their widths, beside the outline that every job begins with."""

from applier.jobs.summary.job import summarize
from applier.options import SummaryOptions
from benchmarks import stages
from benchmarks.measure import Cost, best, in_child
from benchmarks.report import Table, number, ratio
from benchmarks.sections import Bench


def summaries(bench: Bench) -> list[Table]:
    """The summary of a whole log."""
    table = Table(
        "Summing up a log",
        "MB/s of one core's CPU time. Outline: headers, CRC32, event groups. Summary: that, and each row counted by "
        "transaction, table, kind and minute.",
        ["log", "MB", "M row changes", "outline", "summary", "M row changes/s", "summary ÷ outline, CPU time"],
    )
    for name in ("oltp", "bulk", "minimal"):
        log = bench.workload(name)
        outlined = in_child(stages.outline, log.files)
        summed, rows = in_child(_summed, log.files)
        table.rows.append([name, number(log.size / 1e6), number(rows / 1e6), number(log.size / outlined.cpu / 1e6),
                           number(log.size / summed.cpu / 1e6), number(rows / summed.cpu / 1e6),
                           ratio(summed.cpu, outlined.cpu)])
    return [table]


def _summed(files: tuple[str, ...]) -> tuple[Cost, int]:
    options = SummaryOptions(files)
    return best(lambda: summarize(options), 3), summarize(options).rows.rows

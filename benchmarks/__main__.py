"""Measures this project beside what else is on the machine: `python -m benchmarks --help`."""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from datetime import date
from pathlib import Path

from applier.errors import ApplierError
from applier.jobs import warm
from benchmarks import (
    cascades,
    changes,
    cores,
    definitions,
    documents,
    dumps,
    following,
    increments,
    large,
    many_files,
    publishing,
    rewriting,
    scale,
    scattered,
    searching,
    sections,
    showing,
    sizes,
    starting,
    summaries,
    verifying,
    workloads,
)
from benchmarks.measure import in_child
from benchmarks.report import Table, machine
from benchmarks.results import with_tables
from benchmarks.workloads import Workload

RESULTS = Path(__file__).parent / "RESULTS.md"
SIZES = {"small": 50.0, "full": 440.0}
PLOTS = Path(__file__).parents[1] / "docs" / "plots"
_SECTIONS: dict[str, Callable[[sections.Bench], list[Table]]] = {
    "replay": sections.replaying,
    "start": starting.starting,
    "read": sections.reading,
    "show": showing.showing,
    "summary": summaries.summaries,
    "rewrite": rewriting.rewriting,
    "verify": verifying.verifying,
    "changes": changes.changes,
    "apply": sections.applying,
    "parquet": sections.parquet,
    "search": searching.searching,
    "cascades": cascades.cascades,
    "json": documents.documents,
    "ddl": definitions.definitions,
    "increments": increments.increments,
    "scattered": scattered.scattered,
    "publishing": publishing.publishing,
    "following": following.following,
    "files": many_files.many_files,
    "scale": scale.scale,
    "large": large.large,
    "cores": cores.second_core,
    "dumps": dumps.dumps,
    "sizes": sizes.sizes,
}


def main(arguments: list[str]) -> int:
    """Measure, print tables as they come, and write them to RESULTS.md where everything was measured, or some of it in
    full size."""
    options = _parser().parse_args(arguments)
    try:
        megabytes = SIZES.get(options.size) or float(options.size)
    except ValueError:
        _parser().error(f"--size is {', '.join(SIZES)} or a number of megabytes, not {options.size!r}")
    chosen = options.only.split(",") if options.only else list(_SECTIONS)
    if unknown := set(chosen) - set(_SECTIONS):
        _parser().error(f"--only takes {', '.join(_SECTIONS)}, not {', '.join(sorted(unknown))}")
    given = [Workload(os.path.basename(file), (file,)) for file in options.binlogs or []]
    if given:
        given = [Workload("your files", tuple(options.binlogs))] if len(given) > 1 else given
        chosen = [name for name in chosen if name in ("read", "show", "replay")]
    tables: list[Table] = []
    print(f"Measured on: {machine()}\n", flush=True)
    in_child(warm.main)
    with tempfile.TemporaryDirectory(prefix="applier-bench-", dir=options.directory) as folder:
        bench = sections.Bench(folder, megabytes, tuple(given), options.server, options.mysqlbinlog,
                               options.rows)
        for name in chosen:
            try:
                for table in _SECTIONS[name](bench):
                    tables.append(table)
                    print(table.markdown(), flush=True)
            except ApplierError as error:
                print(f"{name}: {error}", file=sys.stderr)
                return error.exit_code
    is_whole = set(chosen) == set(_SECTIONS)
    if not given and (is_whole or options.size == "full"):
        before = "" if is_whole or not RESULTS.exists() else RESULTS.read_text()
        RESULTS.write_text(with_tables(before, tables, machine(), f"{date.today()}"))
        PLOTS.mkdir(exist_ok=True)
        for name, plot in (table.plot for table in tables if table.plot):
            (PLOTS / name).write_text(plot)
        print(f"written to {RESULTS} and {PLOTS}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=workloads.__doc__.splitlines()[0],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="\n".join(workloads.__doc__.splitlines()[2:]),
    )
    parser.add_argument(
        "--size",
        default="small",
        help="of each workload: small (50 MB), full (440 MB), or a number of megabytes (default: small)",
    )
    parser.add_argument(
        "--binlogs", nargs="+", metavar="FILE", help="measure with these files instead (read, show and replay)"
    )
    parser.add_argument("--only", metavar="SECTION,…", help=f"of {', '.join(_SECTIONS)}")
    parser.add_argument(
        "--server",
        metavar="mysql://USER@HOST:PORT",
        help="an empty server for `mysqlbinlog | mysql`: the workload's database is dropped and made there",
    )
    parser.add_argument("--mysqlbinlog", metavar="COMMAND", help="MySQL's mysqlbinlog, where it is not on the PATH")
    parser.add_argument("--rows", type=int, default=1_000_000, metavar="N",
                        help="of the table of `scattered` (default: 1,000,000)")
    parser.add_argument("--directory", metavar="DIR", help="where logs and snapshots are written (default: TMPDIR)")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""`make demo`: from a mistake to rows that are right again, in a lake, on the demo archive.

Writes demo/ in the working directory. Every command, statement and query is printed before its result, for 80 columns;
what the snapshots hold is compared with what the server held.
"""

import os
import shutil
import sys
import textwrap
import time
import webbrowser
from contextlib import nullcontext, redirect_stdout
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import applier
from applier.cli import main
from applier.cli.terminal import progress
from applier.engine import compiling
from applier.jobs.summary.figures import LargeTransaction
from tests.recorded.archives.demo_digest import ARCHIVE, expected, held

OUTPUT = Path("demo")
BINLOGS, LAKE, WAREHOUSE = OUTPUT / "binlogs", OUTPUT / "lake", OUTPUT / "warehouse"
CATALOG = f"sqlite:///{OUTPUT}/catalog.db"
SECOND_DAY = datetime(2026, 3, 14, tzinfo=UTC)
COLUMNS = 79

STORY = """
A web shop on a MySQL server, two days of binlogs, and on the second day every price is 0.01. Which change was that,
what did it do, and how does the shop get its prices back without losing what it sold since?
"""
SQL_SHOWN = 3
FOUND = f"""
catalog = load_catalog("default", uri="{CATALOG}")
products = catalog.load_table("shop.products")
before, now = products.snapshots()[0].snapshot_id, products.metadata_location"""
TIMES = """
    SELECT sku, was.price AS price_at_17_59, now.price AS price_after_undo
    FROM iceberg_scan('{now}', snapshot_from_id = {before}) AS was
    JOIN iceberg_scan('{now}') AS now USING (sku) ORDER BY sku LIMIT 5"""


def demonstrate() -> None:
    """All of it. Ends the process where a step fails."""
    compile_kernels()
    began = time.monotonic()
    shutil.rmtree(OUTPUT, ignore_errors=True)
    shutil.copytree(ARCHIVE, BINLOGS, ignore=shutil.ignore_patterns("*.json"))
    say(STORY)
    mistake = find_the_mistake()
    look_at_a_row()
    go_back_in_time(mistake)
    take_it_back(mistake)
    publish_the_lake()
    pages = make_the_pages()
    title("Done", f"in {time.monotonic() - began:.0f} seconds, without a server and without Java")
    say(f"{OUTPUT}/ has all that was made; `applier --help` has the verbs. The same tasks run on Spark with --engine "
        "spark or --master URL. Pages to look at:")
    for page in pages:
        print(f"  {page.resolve().as_uri()}")
    look_at(pages[0])


def compile_kernels() -> None:
    """A part of setting up: in a checkout, each verb would begin with those that it is the first to need."""
    with progress() as watcher:
        for job in ("replay", "history", "summary"):
            compiling.ensure(job, watcher)


def find_the_mistake() -> LargeTransaction:
    """Returns the transaction."""
    title("1", "Which change was it?")
    run("summary", "--binlogs", BINLOGS, "--tables", "shop.products", "--start-datetime", SECOND_DAY.isoformat())
    [mistake] = applier.summary(BINLOGS, tables="shop.products", start=SECOND_DAY).largest
    say(f"A WHERE that was commented out. It is transaction {mistake.gtid}, and begins at {mistake.file}:"
        f"{mistake.start}.")
    return mistake


def look_at_a_row() -> None:
    title("2", "What happened to the row that was meant?")
    run("history", "--binlogs", BINLOGS, "--tables", "shop.products", "--key", "AU00042")


def go_back_in_time(mistake: LargeTransaction) -> None:
    title("3", "All tables as they were just before, then as they are, in a lake")
    run("replay", "--binlogs", BINLOGS, "--stop-position", f"{mistake.file}:{mistake.start}", "--lake", LAKE)
    check("just before the mistake", expected("before_mistake"))
    run("replay", "--binlogs", BINLOGS, "--lake", LAKE)
    check("at the end of the log", expected("end"))


def take_it_back(mistake: LargeTransaction) -> None:
    title("4", "Take it back")
    undo, sql = OUTPUT / "undo.000001", OUTPUT / "undo.sql"
    run("undo", "--binlogs", BINLOGS, "--gtids", mistake.gtid, "--output", sql)
    print(f"\n$ grep ^UPDATE {sql} | head -{SQL_SHOWN}")
    for line in [line for line in sql.read_text().splitlines() if line.startswith("UPDATE")][:SQL_SHOWN]:
        print(line[: COLUMNS - 1] + "…")
    say("`mysql` would run it. No server is here, so the proof is another: the same undo as a binlog, replayed on top "
        "of the lake.")
    run("undo", "--binlogs", BINLOGS, "--gtids", mistake.gtid, "--format", "binlog", "--output", undo, is_shown=False)
    run("replay", "--binlogs", undo, "--start-position", f"{undo.name}:4", "--lake", LAKE)
    check("before the mistake in shop.products, and at the end of the log in all other tables",
          expected("end") | {"shop.products": expected("before_mistake")["shop.products"]})


def publish_the_lake() -> None:
    from pyiceberg.catalog import load_catalog

    from tests.support.iceberg_readers import duckdb_with_iceberg

    title("5", "A table of Iceberg, with its past, read by DuckDB")
    run("publish", LAKE / "_versions" / "2", "--iceberg", CATALOG, "--warehouse", WAREHOUSE)
    run("publish", LAKE, "--iceberg", CATALOG, "--warehouse", WAREHOUSE)
    print(f'{FOUND}\nduckdb.sql(f"""{TIMES}""")')
    products = load_catalog("default", uri=CATALOG).load_table("shop.products")
    before, now = products.snapshots()[0].snapshot_id, products.metadata_location
    print(duckdb_with_iceberg().sql(TIMES.format(before=before, now=now)))


def make_the_pages() -> list[Path]:
    """Returns the files."""
    title("6", "Pages to show")
    summary, report = OUTPUT / "summary.html", OUTPUT / "report.html"
    run("summary", "--binlogs", BINLOGS, "--html", summary, is_shown=False)
    run("report", LAKE / "_versions" / "2", "--html", report)
    return [summary, report]


def run(*words: object, is_shown: bool = True) -> None:
    """Run one command line in this process, without progress, and print it; the demo ends where it fails."""
    arguments = list(map(str, words))
    print(f"\n$ applier {wrapped(arguments if is_shown else [*arguments, '>', '/dev/null'])}", flush=True)
    with nullcontext() if is_shown else redirect_stdout(StringIO()):
        code = main([*arguments, "-q"])
    sys.stdout.flush()
    if code:
        sys.exit(code)


def wrapped(arguments: list[str]) -> str:
    """A command line over several lines, an option beside its value."""
    lines, verb = [], arguments[0]
    for word in arguments[1:]:
        if not lines or word.startswith("--"):
            lines.append(word)
        else:
            lines[-1] += f" {word}"
    text, at = verb, len("$ applier ") + len(verb)
    for part in lines:
        if at + 1 + len(part) > COLUMNS - len(" \\"):
            text, at = f"{text} \\\n     ", 5
        text, at = f"{text} {part}", at + 1 + len(part)
    return text


def check(when: str, rows: dict[str, dict[str, object]]) -> None:
    """The digests that were taken on the server when the archive was recorded must be those of the lake's tables."""
    if held(LAKE) != rows:
        sys.exit(f"{LAKE} does not hold what the server held {when}")
    say(f"✓ Checked, row by row: what the server held {when}.")


def title(number: str, text: str) -> None:
    line = f"── {number} ── {text} "
    print(f"\n{line}{'─' * (COLUMNS - len(line))}", flush=True)


def say(text: str) -> None:
    print("\n" + textwrap.fill(" ".join(text.split()), COLUMNS, break_long_words=False, break_on_hyphens=False))


def look_at(page: Path) -> None:
    """Open a page where people sit in front of a desktop."""
    if sys.stdout.isatty() and (sys.platform == "darwin" or {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys()):
        webbrowser.open(page.resolve().as_uri())


if __name__ == "__main__":
    demonstrate()

"""`make demo`: replays the demo archive to just before a mistake, then to its end, and queries both snapshots.

Writes the snapshots to demo/ in the working directory. Every command and query is printed before its result.
"""

import os
import shlex
import shutil
import sys
from pathlib import Path

from applier.cli import main
from tests.recorded.archives.demo_digest import ARCHIVE, expected, held

OUTPUT = Path("demo")
BEFORE, LATEST = OUTPUT / "before", OUTPUT / "latest"

COMPARED = f"""
SELECT sku, name, was.price AS price_before, now.price AS price_now
FROM '{BEFORE}/shop/products/*.parquet' AS was JOIN '{LATEST}/shop/products/*.parquet' AS now USING (sku, name)
ORDER BY sku LIMIT 5"""
SOLD = """
SELECT p.category, count(*) AS lines, sum(i.units * i.price) AS revenue
FROM order_items i JOIN products p ON p.sku = i.sku GROUP BY p.category ORDER BY p.category"""


def run(*words: str) -> None:
    """One command line, in this process; the demo ends where it fails."""
    print(f"\n$ applier {shlex.join(words)}", flush=True)
    code = main(list(words))
    sys.stdout.flush()
    if code:
        sys.exit(code)


def with_duckdb() -> None:
    import duckdb

    title("DuckDB: what the mistake did", f'duckdb.sql("""{COMPARED}""")')
    print(duckdb.sql(COMPARED))


def with_pandas() -> None:
    import pandas

    title("pandas: orders by state", f'pandas.read_parquet("{LATEST}/shop/orders").status.value_counts()')
    print(pandas.read_parquet(LATEST / "shop" / "orders").status.value_counts().to_string())


def with_spark() -> None:
    from pyspark.sql import SparkSession

    lines = [f'spark.read.parquet("{LATEST}/shop/{table}").createOrReplaceTempView("{table}")'
             for table in ("order_items", "products")]
    title("Spark: revenue by category", "\n".join([*lines, f'spark.sql("""{SOLD}""").show()']))
    spark = SparkSession.builder.getOrCreate()
    for table in ("order_items", "products"):
        spark.read.parquet(f"{LATEST}/shop/{table}").createOrReplaceTempView(table)
    spark.sql(SOLD).show()


def title(text: str, code: str) -> None:
    print(f"\n-- {text}\n{code}\n", flush=True)


def check(snapshot: Path, mark: str, when: str) -> None:
    """The digests that were taken on the server when the archive was recorded must be those of the snapshot."""
    if held(snapshot) != expected(mark):
        sys.exit(f"{snapshot} does not hold what the server held {when}")
    print(f"Checked: {snapshot} holds exactly the rows that the server held {when}.")


if __name__ == "__main__":
    shutil.rmtree(OUTPUT, ignore_errors=True)
    archive = os.path.relpath(ARCHIVE)
    print("Three binlogs of a web shop. On 14 March at 10:30 UTC someone set every price to 0.01.\n"
          "What did the tables hold the second before?")
    run("replay", "--binlogs", archive, "--stop-datetime", "2026-03-14T10:30:00+00:00", "--output", str(BEFORE))
    check(BEFORE, "before_mistake", "just before the mistake")
    print("\nThat ran in this process. And now the rest of the log, on top of that snapshot, with Spark's tasks:")
    run("replay", "--base", str(BEFORE), "--binlogs", archive, "--output", str(LATEST), "--engine", "spark")
    check(LATEST, "end", "at the end of the log")
    run("status", str(LATEST))
    with_duckdb()
    with_pandas()
    with_spark()
    print(f"The snapshots are in {OUTPUT}/. Next: applier replay --help, and README.md.")

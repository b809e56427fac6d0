"""`summary`: what binlogs did, at a glance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

from applier.api.arguments import KeyNames, Paths, Place, Tables, Time, Watcher, watcher
from applier.api.job_options import options_of
from applier.api.public import public
from applier.io.keys import Keys
from applier.jobs.summary.result import Summary
from applier.options import SummaryOptions
from applier.options.verbs import SUMMARY


@public(SUMMARY)
def summary(
    binlogs: Paths,
    *,
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
    start: Place | Time | None = None,
    stop: Place | Time | None = None,
    thread_ids: Iterable[int] = (),
    top: int = 10,
    keys: Keys | None = None,
    progress: Watcher | None = None,
    **flat: Unpack[KeyNames],
) -> Summary:
    """Sum up what binlogs did: the largest transactions, rows by table, kind and time, DDL, and who.

    >>> summary = applier.summary("backup")
    >>> summary.rows.deletes, summary.transactions
    (662, 2455)
    >>> largest = summary.largest[0]
    >>> print(largest.gtid, largest.words)
    20810cc3-e548-11f1-a5e4-02fc00000001:8 420 inserts into shop.stock, 140 inserts into shop.products
    >>> [table.table for table in summary.tables if table.deletes]
    ['shop.order_items', 'shop.orders', 'shop.carts']
    >>> page = summary.to_html()

    {arguments}

    Memory is bounded by the number of tables, and by the largest transaction.

    Raises ApplierError for what cannot be read, as `replay` does; statements stop nothing.
    """
    from applier.jobs.summary.job import summarize

    return summarize(options_of(SummaryOptions, SUMMARY, locals()), watcher(progress))

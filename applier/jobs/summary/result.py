"""A summary of a log: its figures, as JSON and as a page."""

from __future__ import annotations

from dataclasses import dataclass

from applier.jobs.summary.figures import SummaryFigures
from applier.jobs.summary.page import html_page


@dataclass(frozen=True)
class Summary(SummaryFigures):
    """The changes in a part of an archive. Counts are of row changes as the log has them, those that were rolled back
    included; times are epoch seconds, of event groups.

    `end` is the position where the log ends, as `stop` and `after` take it: str(end) is `position`, and end.gtids is
    the GtidSet of `gtids`. `first_at`, `last_at`, and `at` of everything that has a `time` are datetimes.

    `groups` are all event groups, `transactions` those that changed rows of the tables. `rows`, and each of `tables`,
    `by_time`, `servers` and `threads`, have `inserts`, `updates`, `deletes`, and `rows` for all three; `tables` have
    `partial_updates`, `documents` and `bytes_saved`, too (TableCounts), and the summary their sums. `tables`, `threads`
    and `largest` have the most rows first; `threads` are at most as many as `largest`, and count transactions whose
    thread the log has in plain form: MySQL's that are not compressed. A transaction has its changes by `tables`, the
    same in `words`, its location (`file`, `start` and `end`), and `gtid`, `server_id`, `thread_id` and `statement`, as
    far as the log has them. `by_time` counts by table and time, in steps of `seconds_each`: a minute, or longer, so
    that there are at most 1,440. `first_group_id` and `last_group_id` are None where event headers have no group ids.
    `statements` is DDL: the first 200 of `n_statements`. `notes` are notes for the user.
    """

    def to_html(self) -> str:
        """Return the summary as a page with plots, which needs neither a network nor scripts."""
        return html_page(self)

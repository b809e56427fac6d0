"""Derives a server's lower_case_table_names from its log: statements have names as typed, table maps as stored by the
server."""

from __future__ import annotations

from applier.mysql.names import folded
from applier.plan.span import LogSpan
from applier.plan.used_tables import table_map_of
from applier.schema.history.history import SchemaHistory

KEPT, FOLDED = 0, 1


def told_by_log(history: SchemaHistory, span: LogSpan) -> int | None:
    """KEPT or FOLDED, by a history whose `case` is what its statements show, and by the table maps; None if the log
    does not tell, and nothing depends on it. Raises SchemaError for the first statement that does."""
    case = history.case
    assert case is not None, "the case of names is known"
    if history.has_upper_case or case.folds or case.doubtful is not None:
        keeps, folds = _by_table_maps(history, span)
        case.keeps, case.folds = (case.keeps and not folds) or keeps, case.folds or folds
    if case.keeps:
        return KEPT
    if case.folds:
        return FOLDED
    if case.doubtful is not None:
        raise case.doubtful
    return None


def _by_table_maps(history: SchemaHistory, span: LogSpan) -> tuple[bool, bool]:
    """Return whether a table map has a name that is not in lower case, and whether one has that of a table that is only
    there in another case."""
    names: dict[bytes, tuple[str, str]] = {}
    is_found = False
    for number, outline in enumerate(span.outlines):
        for use in outline.tables:
            if not use.n_events:
                continue
            if use.body not in names:
                table_map = table_map_of(outline, use)
                names[use.body] = table_map.database, table_map.table
            if folded(names[use.body][1]) != names[use.body][1]:
                return True, False
            name, at = history.renamed(names[use.body]), (number, max(use.first_position, outline.start))
            is_found |= history.at(*name, at) is None and history.in_other_case(*name, at)
    return False, is_found

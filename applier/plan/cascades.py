"""Which tables foreign keys tie together, as a change of one may change rows of another that the log does not have."""

from __future__ import annotations

import dataclasses
from collections import defaultdict

from applier.apply.foreign_links import ColumnLink, compared, linked_columns
from applier.apply.row_pieces import Piece, RowPieces
from applier.apply.work import Tie
from applier.errors import SchemaError
from applier.plan.log import UsedTable
from applier.schema.history import SchemaHistory
from applier.schema.table_versions import TableVersion


@dataclasses.dataclass(frozen=True)
class TiedVersion:
    """A version of a table in a group: its tie, and what is kept of each of its rows."""

    tie: Tie
    also: tuple[Piece, ...]


@dataclasses.dataclass(frozen=True)
class _Edge:
    """A cascading foreign key between two versions that are in force at the same time."""

    child: TableVersion
    parent: TableVersion
    columns: tuple[ColumnLink, ...]


def tied_versions(history: SchemaHistory, used: list[UsedTable], *, idempotent: bool) -> dict[int, TiedVersion]:
    """The versions by id that have to be applied together with others. None are where the log has all changes, or the
    tables that others refer to lose no rows and change no keys in it (AP-FK).

    In idempotent mode inserts may take the place of rows, too.
    """
    edges = _edges(history)
    changing = {version.id for table in used if table.use.may_cascade or idempotent for version in table.versions}
    live: set[_Edge] = set()
    while more := {edge for edge in edges if edge.parent.id in changing} - live:
        live |= more
        changing |= {edge.child.id for edge in more}
    if not live:
        return {}
    groups = _Groups()
    chains = {version.id: number for number, chain in enumerate(history.chains()) for version in chain}
    for edge in live:
        groups.join(chains[edge.child.id], chains[edge.parent.id])
    tied = {version.id: version for version in history.versions() if groups.knows(chains[version.id])}
    for version in (version for group in history.exchanged() for version in group if version.id in tied):
        raise SchemaError("its rows were exchanged with a partition's, and foreign keys tie it to other tables",
                          table=version.definition.full_name, hint="leave it out with --ignore-tables")
    pieces = _pieces([edge for edge in edges if edge.child.id in tied and edge.parent.id in tied])
    for edge in edges:  # those that are not live may be in force between tables of one group, and do nothing there
        if edge.child.id in tied and edge.parent.id in tied:
            groups.join(chains[edge.child.id], chains[edge.parent.id])
    return {number: TiedVersion(Tie(groups.of(chains[number]), version.start, version.end), pieces.get(number, ()))
            for number, version in tied.items()}


def _edges(history: SchemaHistory) -> list[_Edge]:
    by_name: dict[tuple[str, str], list[TableVersion]] = defaultdict(list)
    wanted = [version for version in history.versions() if history.is_wanted(version)]
    for version in wanted:
        by_name[version.definition.database, version.definition.name].append(version)
    return [_Edge(child, parent, columns) for child in wanted for key in child.definition.foreign_keys if key.cascades
            for parent in by_name[key.database, key.table] if _overlap(child, parent)
            and (columns := linked_columns(key, child.definition, parent.definition))]


def _overlap(a: TableVersion, b: TableVersion) -> bool:
    return (a.end is None or b.start < a.end) and (b.end is None or a.start < b.end)


def _pieces(edges: list[_Edge]) -> dict[int, tuple[Piece, ...]]:
    """What is kept of rows, by version: whatever any table's indexes have of a column, all tables have of the columns
    that may take its values or give it theirs."""
    columns, forms = _Groups(), defaultdict(set)
    versions = {version.id: version for edge in edges for version in (edge.child, edge.parent)}
    for edge in edges:
        for link in edge.columns:
            places = (edge.child.id, link.child), (edge.parent.id, link.parent)
            columns.join(*places)
            for place in places:
                forms[place] |= {Piece(place[1]), compared(place[1], link, edge.child.definition)}
    for version in versions.values():
        for piece in RowPieces(version.definition, by_content=False).pieces:
            if columns.knows((version.id, piece.column)):
                forms[version.id, piece.column].add(piece)
    shared = defaultdict(set)
    for place, pieces in forms.items():
        shared[columns.of(place)] |= {(piece.prefix, piece.collation) for piece in pieces}
    kept = defaultdict(list)
    for version, column in sorted(forms):
        for prefix, collation in sorted(shared[columns.of((version, column))], key=repr):
            kept[version].append(Piece(column, prefix, collation))
    return {version: tuple(pieces) for version, pieces in kept.items()}


class _Groups:
    """Things that belong together if they are joined, in any number of steps."""

    def __init__(self) -> None:
        self._above: dict = {}

    def knows(self, item: object) -> bool:
        return item in self._above

    def of(self, item: object) -> object:
        """One of the item's group, the same for all of it."""
        while self._above[item] != item:
            item = self._above[item]
        return item

    def join(self, a: object, b: object) -> None:
        self._above.setdefault(a, a)
        self._above.setdefault(b, b)
        self._above[self.of(a)] = self.of(b)

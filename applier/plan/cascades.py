"""Which rows foreign keys change without a record in the log.

If the changes of a parent table alone determine the effect on rows that refer to it, foreign keys are followed by value
(apply.foreign_keys.parent_events), table by table. Otherwise all tables that foreign keys connect are applied together,
change by change (apply.foreign_keys.cascades): several levels, tables that refer to themselves, keys of several
columns, definitions that DDL changes, rows that are found by more than one key.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Hashable, Mapping
from typing import Generic, TypeVar

from applier.apply.foreign_keys.foreign_links import compared, key_part
from applier.apply.search.row_access import RowAccess
from applier.apply.spec import GroupMembership, Needs, NothingElse, ParentLink, Parents, RowPart, content_part
from applier.columns.table_key import BytesKey, table_key
from applier.errors import SchemaError
from applier.mysql.types import DATES, arrow_type
from applier.plan.row_searches import row_search
from applier.plan.used_tables import UsedTable
from applier.schema.foreign_keys import CASCADE, RESTRICT, ForeignKey
from applier.schema.history.history import SchemaHistory
from applier.schema.history.table_versions import TableVersion
from applier.schema.references import ColumnLink, Reference, linked_columns
from applier.schema.sibling_order import has_index, makes_index, sibling_orders

_Item = TypeVar("_Item", bound=Hashable)


@dataclasses.dataclass(frozen=True)
class GroupedVersion:
    """A version of a table in a group: its membership, and the parts that are kept of each of its rows."""

    membership: GroupMembership
    also: tuple[RowPart, ...]


@dataclasses.dataclass(frozen=True)
class _Edge:
    """A cascading foreign key between two versions that exist at the same time."""

    key: ForeignKey
    child: TableVersion
    parent: TableVersion
    columns: tuple[ColumnLink, ...]

    @property
    def reference(self) -> Reference:
        return Reference(self.key, self.child.id, self.parent.id, self.columns)

    @property
    def referenced(self) -> tuple[int, ...]:
        return tuple(link.parent for link in self.columns)


@dataclasses.dataclass(frozen=True)
class Cascades:
    """Versions by id: those `grouped` with others, to be applied together, and those with `links` by which it can be
    told when their rows change. There are none where the log has all changes, or the tables that others refer to lose
    no rows and change no keys in it (AP-FK)."""

    grouped: dict[int, GroupedVersion]
    links: dict[int, tuple[ParentLink, ...]]

    def needs(self, version: int) -> Needs:
        """Return the needs of a task for a unit of this version."""
        if version in self.grouped:
            return self.grouped[version].membership
        return Parents(links=self.links[version]) if version in self.links else NothingElse()

    def __contains__(self, version: int) -> bool:
        return version in self.grouped or version in self.links


def cascades_of(history: SchemaHistory, used: list[UsedTable], *, idempotent: bool, compressed: bool,
                traced: bool = False) -> Cascades:
    """Return the effects of foreign keys in this log. In idempotent mode inserts may replace rows, too; rows events of
    a `compressed` one all have its position, and an order that is known only after reading all of them. If rows are
    `traced`, each is changed when its parent is."""
    edges, told = [], {}
    for edge in _edges(history):
        told[edge] = _is_followed(edge, history)
        edges += [edge] * (told[edge] is not False)
    changing = {version.id for table in used if table.use.may_cascade or idempotent for version in table.versions}
    live: set[_Edge] = set()
    while more := {edge for edge in edges if edge.parent.id in changing} - live:
        live |= more
        changing |= {edge.child.id for edge in more}
    for edge in live:
        if told[edge] is None:
            raise SchemaError(f"it is unknown whether the server follows the foreign key {edge.key.name} of "
                              f"{edge.child.definition.full_name}: no known key of the referenced table begins with "
                              "the referenced columns",
                              table=edge.parent.definition.full_name, hint="leave both tables out with --ignore-tables")
    unfollowed = defaultdict(set)
    for edge, is_followed in told.items():
        if is_followed is False:
            unfollowed[edge.parent.id].add(edge.referenced)
    chains = {version.id: number for number, chain in enumerate(history.chains()) for version in chain}
    links = {} if idempotent or compressed or traced else links_by_value(live, chains, history, used)
    live = {edge for edge in live if edge.child.id not in links}
    return Cascades(_grouped(history, edges, live, chains, unfollowed) if live else {}, links)


def links_by_value(live: set[_Edge], chains: dict[int, int], history: SchemaHistory,
           used: list[UsedTable]) -> dict[int, tuple[ParentLink, ...]]:
    """The foreign keys to follow by value: all of those among the same tables, or none."""
    groups, uses = _Groups[int](), defaultdict[int, list[UsedTable]](list)
    for edge in live:
        groups.join(chains[edge.child.id], chains[edge.parent.id])
    for table in used:
        for version in table.versions:
            uses[version.id].append(table)
    exchanged = {version.id for group in history.exchanged() for version in group}
    parents = {edge.parent.id for edge in live}
    hard = {groups.of(chains[edge.child.id]) for edge in live if edge.child.id in parents
            or not {edge.child.id, edge.parent.id}.isdisjoint(exchanged)
            or not _is_simple(edge, uses[edge.parent.id], uses[edge.child.id])}
    found = defaultdict(list)
    for edge in sorted(live, key=lambda edge: (edge.child.id, edge.child.definition.foreign_keys.index(edge.key))):
        found[edge.child.id].append(edge)
    hard |= {groups.of(chains[child]) for child, own in found.items()
             if len({edge.columns[0].child for edge in own}) < len(own)}
    return {child: tuple(map(_link, own)) for child, own in found.items() if groups.of(chains[child]) not in hard}


def _is_simple(edge: _Edge, parent_uses: list[UsedTable], child_uses: list[UsedTable]) -> bool:
    """True if an edge can be followed by value: one column; definitions that stay; images that have the value; and a
    key of the child that finds all rows and that the foreign key does not change."""
    for version in (edge.child, edge.parent):
        if version.previous is not None or version.end is not None or version.definition.versioning is not None:
            return False
    if len(edge.columns) > 1:
        return False
    [columns] = edge.columns
    child, parent = edge.child.definition, edge.parent.definition
    if child.columns[columns.child].type.base in DATES or \
            arrow_type(child.columns[columns.child].type) != arrow_type(parent.columns[columns.parent].type):
        return False
    if any(use.use.lacked_columns >> columns.parent & 1 or columns.parent >= len(use.table_map.types)
           for use in parent_uses):
        return False
    if row_search(child, child_uses) is not None:
        return False
    key = table_key(child)
    if key is None:
        return False
    never_changes = edge.key.on_delete in (CASCADE, RESTRICT) and edge.key.on_update == RESTRICT
    return columns.child not in key.columns or (isinstance(key, BytesKey) and never_changes)


def _link(edge: _Edge) -> ParentLink:
    [columns], child = edge.columns, edge.child.definition
    return ParentLink(edge.parent.id, edge.parent.definition, columns.parent, columns.child,
                      compared(columns.child, columns, child), edge.key.on_delete, edge.key.on_update)


def _grouped(history: SchemaHistory, edges: list[_Edge], live: set[_Edge], chains: dict[int, int],
             unfollowed: Mapping[int, set[tuple[int, ...]]]) -> dict[int, GroupedVersion]:
    """The tables that one task has to apply together."""
    groups = _Groups[int]()
    for edge in live:
        groups.join(chains[edge.child.id], chains[edge.parent.id])
    grouped = {version.id: version for version in history.versions() if groups.knows(chains[version.id])}
    for version in (version for group in history.exchanged() for version in group if version.id in grouped):
        raise SchemaError("its rows were exchanged with a partition's, and foreign keys connect it to other tables",
                          table=version.definition.full_name, hint="leave it out with --ignore-tables")
    parts = _parts([edge for edge in edges if edge.child.id in grouped and edge.parent.id in grouped])
    for edge in edges:  # those that are not live may be in force between tables of one group, and do nothing there
        if edge.child.id in grouped and edge.parent.id in grouped:
            groups.join(chains[edge.child.id], chains[edge.parent.id])
    return {number: GroupedVersion(
        GroupMembership(group=groups.of(chains[number]), start=version.start, end=version.end,
                        filtered_out=not history.is_wanted(version),
                        unfollowed=frozenset(unfollowed.get(number, ()))), parts.get(number, ()))
        for number, version in grouped.items()}


def _edges(history: SchemaHistory) -> list[_Edge]:
    by_name: dict[tuple[str, str], list[TableVersion]] = defaultdict(list)
    wanted = [version for version in history.versions() if history.is_wanted(version)]
    for version in wanted:
        by_name[version.definition.database, version.definition.name].append(version)
    return [_Edge(key, child, parent, columns) for child in wanted
            for key in child.definition.foreign_keys if key.cascades
            for parent in by_name[key.database, key.table] if _overlap(child, parent)
            and (columns := linked_columns(key, child.definition, parent.definition))]


def _is_followed(edge: _Edge, history: SchemaHistory) -> bool | None:
    """Return whether the server follows a foreign key; None if that is unknown. MariaDB lets a statement drop the index
    of the referenced columns (another primary key instead of the first; any key, with checks off); then it changes no
    rows by the foreign key until there is an index again. (Seen on 10.11: at once, after a flush, and after a restart.)
    An index that the server made for a foreign key of the table's own stays without that one."""
    if edge.parent.definition.flavour != "mariadb" or has_index(edge.parent.definition, edge.referenced):
        return True
    earlier, version, versions = [], edge.parent, history.versions()
    while True:
        earlier += [*(step.before for step in history.redefinitions(version)), version.definition]
        if version.previous is None:
            break
        version = versions[version.previous]
    if any(makes_index(definition, edge.referenced) for definition in earlier):
        return True
    had_one = any(has_index(definition, edge.referenced) for definition in earlier)
    return False if had_one or not version.given else None


def _overlap(a: TableVersion, b: TableVersion) -> bool:
    return (a.end is None or b.start < a.end) and (b.end is None or a.start < b.end)


def _parts(edges: list[_Edge]) -> dict[int, tuple[RowPart, ...]]:
    """Return the parts that are kept of rows, by version: all tables keep the parts that any table's index has of a
    column, for the columns that may take its values or give it theirs."""
    columns = _Groups[tuple[int, int]]()
    forms: dict[tuple[int, int], set[RowPart]] = defaultdict(set)
    versions = {version.id: version for edge in edges for version in (edge.child, edge.parent)}
    for edge in edges:
        for link in edge.columns:
            both = (edge.child.id, link.child), (edge.parent.id, link.parent)
            columns.join(*both)
            for one in both:
                forms[one] |= {RowPart(one[1]), compared(one[1], link, edge.child.definition),
                               content_part(one[1], versions[one[0]].definition)}
    for order, edge in zip(sibling_orders([edge.reference for edge in edges], {
            number: version.definition for number, version in versions.items()}), edges, strict=True):
        for key in order.behind if order is not None else ():
            part = key_part(key, edge.child.definition)
            columns.join((edge.child.id, part.column), (edge.child.id, part.column))
            forms[edge.child.id, part.column].add(part)
    for version in versions.values():
        for part in RowAccess(version.definition, by_content=False).parts:
            if columns.knows((version.id, part.column)):
                forms[version.id, part.column].add(part)
    shared: dict[tuple[int, int], set[RowPart]] = defaultdict(set)
    for one, parts in forms.items():
        shared[columns.of(one)] |= parts
    kept: dict[int, list[RowPart]] = defaultdict(list)
    for number, column in sorted(forms):
        found = {dataclasses.replace(part, column=column) for part in shared[columns.of((number, column))]}
        kept[number] += sorted(found, key=repr)
    return {number: tuple(found) for number, found in kept.items()}


class _Groups(Generic[_Item]):
    """Groups of items that are joined, in any number of steps."""

    def __init__(self) -> None:
        self._above: dict[_Item, _Item] = {}

    def knows(self, item: _Item) -> bool:
        return item in self._above

    def of(self, item: _Item) -> _Item:
        """The representative of the item's group."""
        while self._above[item] != item:
            item = self._above[item]
        return item

    def join(self, a: _Item, b: _Item) -> None:
        self._above.setdefault(a, a)
        self._above.setdefault(b, b)
        self._above[self.of(a)] = self.of(b)

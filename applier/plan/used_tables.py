"""The tables that the log changes, by their table maps, and the versions of them.

Most files of an archive have the same table maps, so a table map is kept once, with the files that have it: a plan
grows with tables, and only by a few bytes per file.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from applier.binlog.events.table_map import TableMap, parse_table_map
from applier.binlog.outline.outline import Outline, TableUse
from applier.binlog.outline.samples import Samples
from applier.columns.from_log import has_definition
from applier.errors import NO_SUCH_TABLE, ArchiveError, SchemaError
from applier.plan.span import LogSpan, Wanted
from applier.plan.stops.stop_error import with_transaction
from applier.schema.engines import holds_rows
from applier.schema.history.history import SchemaHistory
from applier.schema.history.table_versions import Position, TableVersion


@dataclass
class UsedTable:
    """A wanted table map, and the versions of its table that rows may change, in all files in which these are the same.
    `use` has the counts over all of them; use i of it is the table `numbers[i]` of the file `files[i]`."""

    use: TableUse
    table_map: TableMap
    versions: tuple[TableVersion, ...]
    files: array[int] = field(default_factory=lambda: array("I"))
    numbers: array[int] = field(default_factory=lambda: array("I"))
    samples_of: list[Samples] = field(default_factory=list)

    @cached_property
    def column_counts(self) -> frozenset[int]:
        """How many columns its versions have."""
        return frozenset(len(version.definition.columns) for version in self.versions)

    def add(self, file: int, number: int, samples: Samples) -> None:
        """Add a use; `samples` are the file's."""
        self.files.append(file)
        self.numbers.append(number)
        self.samples_of.append(samples)

    def sample_counts(self) -> Iterator[int]:
        """Return how many of its rows events each file's outline has samples of."""
        return (samples.count(number) for samples, number in zip(self.samples_of, self.numbers, strict=True))

    def samples(self, use_number: int) -> list[bytes]:
        """Return the samples of one use."""
        return self.samples_of[use_number].of(self.numbers[use_number])


def used_tables(span: LogSpan, history: SchemaHistory, wanted: Wanted) -> list[UsedTable]:
    """All table maps of wanted tables that rows refer to. Raises SchemaError (1146) for one that nothing defines."""
    found: dict[tuple[bytes, tuple[int, ...]], UsedTable] = {}
    by_name = defaultdict(list)
    parsed: dict[bytes, TableMap] = {}
    for version in history.versions():
        by_name[version.definition.database, version.definition.name].append(version)
    for number, outline in enumerate(span.outlines):
        for index, use in enumerate(outline.tables):
            if not use.n_events:
                continue
            table_map = parsed[use.body] = parsed.get(use.body) or table_map_of(outline, use)
            name = history.renamed((table_map.database, table_map.table))
            if not wanted(*name):
                continue
            first = number, max(use.first_position, outline.start)
            known = _in_force(by_name.get(name, ()), first, (number, outline.end))
            versions = tuple(version for version in known
                             if not version.definition.is_sequence and holds_rows(version.definition))
            if known and not versions:
                continue
            if not known or known[0].start > first:
                error = SchemaError("the log changes rows of a table that has no definition", file=outline.uri,
                                    position=first[1], table=table_map.name, errno=NO_SUCH_TABLE)
                log_says = ", take what the log says of it with --define-from-log" if has_definition(table_map) else ""
                raise with_transaction(error, outline, "to continue, give its CREATE TABLE as of the first binlog with "
                                       f"--schema, start from a --base{log_says}, or leave it out with "
                                       "--ignore-tables")
            alike = use.body, tuple(version.id for version in versions)
            if alike in found:
                found[alike].use.add(use)
            else:
                found[alike] = UsedTable(replace(use), table_map, versions)
            found[alike].add(number, index, outline.samples)
    return list(found.values())


def table_map_of(outline: Outline, use: TableUse) -> TableMap:
    """A table map of a file. Its character sets are read at once, while an error can still name its position."""
    try:
        table_map = parse_table_map(use.body)
        table_map.collations(outline.format.flavour)
        return table_map
    except ArchiveError as error:
        raise error.at(file=outline.uri, position=use.first_position) from None


def _in_force(versions: Iterable[TableVersion], first: Position, last: Position) -> list[TableVersion]:
    """The versions of a table that rows between two positions may change."""
    return [version for version in versions
            if version.start < last and (version.end is None or version.end > max(first, version.start))]

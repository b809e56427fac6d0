"""Rows that cannot come back, since another row has their primary or unique key by now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from applier.jobs.undo.chains import Chains
from applier.jobs.undo.traced_table import TracedTable
from applier.schema.definition import Key, TableDefinition
from applier.schema.key_infos import key_collation
from keysearch.keyrules import encode_by_rules, key_rule

_NOBODY = -1


@dataclass(frozen=True)
class Taken:
    """Of n chains, the name of the key that another row has ("" if none), and the step that gave it to that."""

    keys: list[str]
    by_step: np.ndarray


def taken_keys(table: TracedTable, chains: Chains, undone: np.ndarray) -> Taken:
    """What of the rows that are to be undone (bool[n]) cannot be, if the others stay as they are now.

    Only rows that a step of the part made that was looked at can be in the way: all others were there beside the rows
    as they were before."""
    found = Taken([""] * len(chains), np.full(len(chains), _NOBODY))
    back = np.flatnonzero(undone & (chains.before >= 0))
    if not len(back):
        return found
    steps = chains.steps
    of_undone = np.zeros(len(steps), bool)
    known = chains.of_step >= 0
    of_undone[known] = undone[chains.of_step[known]]
    others = np.flatnonzero(~of_undone & (steps.new >= 0) & ~chains.followed)
    units = np.concatenate([chains.before_units[back], steps.units[others]])
    pointers = np.concatenate([chains.before[back], steps.new[others]])
    for key in table.definition.keys:
        if key.kind not in ("primary", "unique") or any(
                part.column is None or not _is_stored(table.definition, part.column) for part in key.parts):
            continue
        texts = pa.chunked_array(list(_keys(table, key, units, pointers)), pa.large_binary())
        codes = texts.combine_chunks().dictionary_encode().indices
        valid, numbers = np.asarray(codes.is_valid()), codes.fill_null(0).to_numpy()
        by_key = np.full(int(numbers.max(initial=-1)) + 1, _NOBODY)
        taken = np.flatnonzero(valid[len(back):])
        by_key[numbers[len(back):][taken]] = others[taken]
        holders = np.where(valid[:len(back)], by_key[numbers[:len(back)]], _NOBODY)
        twice = np.bincount(numbers[:len(back)][valid[:len(back)]], minlength=len(by_key)) > 1
        doubled = valid[:len(back)] & twice[numbers[:len(back)]]
        for place in np.flatnonzero((holders >= 0) | doubled).tolist():
            found.keys[back[place]] = key.name
            found.by_step[back[place]] = holders[place]
    return found


def _is_stored(definition: TableDefinition, name: str) -> bool:
    return definition.column(name) in definition.stored_columns


def _keys(table: TracedTable, key: Key, units: np.ndarray, pointers: np.ndarray) -> Iterator[pa.Array]:
    """The keys of rows as bytes that are equal where the server takes them to be; null where a column is NULL."""
    columns = [table.definition.column(part.column) for part in key.parts if part.column is not None]
    rules = [key_rule(key_collation(column, table.definition.flavour), part.length)
             for column, part in zip(columns, key.parts, strict=True)]
    names = [column.name for column in columns]
    nowhere = np.full(len(pointers), -1)
    for read in table.read(units, pointers, nowhere, list(dict.fromkeys(names))):
        rows = read.values.take(pa.array(read.before))
        arrays = [rows.column(name).combine_chunks() for name in names]
        valid = np.ones(rows.num_rows, np.bool_)
        for array in arrays:
            valid &= np.asarray(array.is_valid())
        whole = [array.filter(pa.array(valid)) for array in arrays]
        made = encode_by_rules(whole, rules if any(rules) else [""] * len(rules)).to_arrow().cast(pa.large_binary())
        yield made.take(pa.array(np.cumsum(valid) - 1, mask=~valid))

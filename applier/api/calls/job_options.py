"""Conversion of a verb's arguments to its job's options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from applier.api.calls.arguments import (
    Place,
    Time,
    chosen_gtids,
    database_names,
    keys_of_rows,
    parquet_properties,
    partitions,
    path,
    paths,
    places,
    point,
    position,
    size,
    spark_conf,
    table_filter,
    uri,
)
from applier.binlog.locating import place as places_in_logs
from applier.errors import UsageError
from applier.io.encryption.keys import Keys
from applier.option_texts import parse_conversions
from applier.options import kinds
from applier.options.option import Kind, Option, Verb

T = TypeVar("T")
_PLACES = {kinds.POSITION: places_in_logs.POSITION, kinds.COMPLETED: places_in_logs.GTIDS,
           kinds.TIME: places_in_logs.TIME}


def options_of(kind: type[T], verb: Verb, given: Mapping[str, Any], **others: Any) -> T:
    """Return a job's options from a verb's arguments and `others`, which are fields already. An argument that is None
    leaves its field at the default; with a master, the engine is Spark. Raises UsageError."""
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]  # a dataclass
    found: dict[str, Any] = {"filter": table_filter(given.get("tables"), given.get("ignore_tables"))}
    for option in verb.options:
        if given.get(option.name) is not None:
            found |= _fields(option, given[option.name])
    if "binlogs" in found:
        found["binlogs"] = logs(given)
    if "master" in found and found["engine"] == "local":
        found["engine"] = "spark"
    return kind(**({name: value for name, value in found.items() if name in known} | others))


def _fields(option: Option, value: Any) -> dict[str, Any]:
    if option.parts:
        return bounds(option, value) if option.kind in (kinds.PLACE, kinds.POSITION) else {}
    convert = _CONVERSIONS.get(option.kind)
    return {option.field_name: value if convert is None else convert(value)}


def bounds(option: Option, value: Place | Time | None) -> dict[str, Any]:
    """Return the fields of a job's options for a start or a stop. Raises UsageError for a kind of position that
    none of the option's parts accepts."""
    if value is None:
        return {}
    found = point(value, *(_PLACES[part.kind] for part in option.parts))
    known = {"position": found.position, "gtid": None if found.gtid_set is None else str(found.gtid_set),
             "datetime": found.time}
    return {f"{option.name}_{end}": bound for end, bound in known.items() if bound is not None}


def logs(given: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the locations of logs, with their keys, from a verb's arguments. Raises UsageError for a key file without
    keys."""
    return keys_of_logs(given).of(paths(given["binlogs"] or ()))


def keys_of_logs(given: Mapping[str, Any]) -> Keys:
    """Return the keys of logs, given a verb's arguments. Raises UsageError where they are given twice."""
    keys, named = given.get("keys"), {name: value for name, value in given.get("flat", {}).items() if value is not None}
    if keys is not None and named:
        raise UsageError(f"`keys` and `{next(iter(named))}` are both given", hint="give keys=Keys(…), with all of them")
    return keys or Keys(**named)


_CONVERSIONS: dict[Kind, Callable[[Any], Any]] = {
    kinds.PATH: path, kinds.SNAPSHOT: uri, kinds.LOGS: paths, kinds.FILES: paths, kinds.POSITION: position,
    kinds.PLACE: point, kinds.PLACES: places, kinds.GTIDS: chosen_gtids, kinds.EXECUTED: str, kinds.SERVER_IDS: tuple,
    kinds.DATABASES: database_names, kinds.CONF: spark_conf, kinds.PARQUET: parquet_properties, kinds.SIZE: size,
    kinds.PARTITIONS: partitions,
    kinds.ROW_KEYS: keys_of_rows, kinds.COLUMNS: tuple, kinds.THREAD_IDS: tuple,
    kinds.CONVERSIONS: lambda names: parse_conversions(list(names)),
}
"""Conversions by kind. Values of other kinds are passed on unchanged."""

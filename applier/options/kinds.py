"""The types of option values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from applier.errors import UsageError
from applier.mysql.character_sets.collations import is_charset
from applier.mysql.values.time_zones import is_time_zone, parse_time
from applier.option_texts import (
    parse_columns,
    parse_conf,
    parse_gtid_set,
    parse_key,
    parse_named_places,
    parse_places,
    parse_rewrites,
    parse_seconds,
    parse_server_ids,
    parse_stop_position,
    parse_thread_ids,
)
from applier.options.option import Kind
from applier.options.parquet import parse_parquet, parse_partitions
from applier.snapshot import AS_DECIMAL, UNSIGNED_BIGINTS

_FOLLOW = "Several may follow."
_AGAIN = "May be given several times."


def choice(*values: str, recorded: Callable[[Any], object] = lambda value: value) -> Kind:
    """Return the kind of options whose value is one of `values`."""
    texts = ", ".join(f'"{value}"' for value in values)
    return Kind(f"Literal[{texts}]", choices=values, recorded=recorded)


def _between(low: int, high: int, hint: str) -> Callable[[str, int], None]:
    def check(option: str, value: int) -> None:
        if not low <= value <= high:
            raise UsageError(f"{option} cannot be {value!r}", hint=hint)
    return check


def _check_time_zone(option: str, name: str) -> None:
    if not is_time_zone(name):
        raise UsageError(f"{option} {name} is not known",
                         hint="as +02:00, or a name of the time zone database: Europe/Rome")


def _check_charset(option: str, name: str) -> None:
    if not is_charset(name):
        raise UsageError(f"{option} {name} is not a character set", hint="latin1 and utf8mb4 are some")


def _check_ids(what: str) -> Callable[[str, tuple[int, ...]], None]:
    def check(option: str, ids: tuple[int, ...]) -> None:
        for one in ids:
            _between(0, (1 << 32) - 1, f"a {what} id is a number from 0 to 4294967295")(option, one)
    return check


TEXT = Kind("str", "NAME")
FLAG = Kind("bool", typed=bool)
NUMBER = Kind("int", "NUMBER", typed=int)
COUNT = Kind("int", typed=int, least=0)
LARGEST = Kind("int", "NUMBER", typed=int, check=_between(0, 1000, "give 0 to 1,000"))
GROUP_ID = Kind("int", "ID", typed=int, check=_between(1, (1 << 64) - 1, "ids of groups go from 1 to 2^64-1"))
NAME_CASE = Kind("int", "0|1|2", typed=int, check=_between(0, 2, "it is the server's variable: 0, 1 or 2"))
ZONE = Kind("str", "ZONE", check=_check_time_zone)
CHARSET = Kind("str", "NAME", check=_check_charset)

PATH = Kind("PathLike", "FILE")
SNAPSHOT = Kind("PathLike | Snapshot", "SNAPSHOT")
PLACE_IN_TIME = Kind("PathLike | Snapshot | GtidSet", "PLACE")
LOGS = Kind("Paths", "PATH...", many=True, several=_FOLLOW)
DIRECTORY = Kind("Paths", "DIR", many=True)
FILES = Kind("Paths", "FILE", many=True, several=_AGAIN)
KEYS = Kind("Keys")
SERVER = Kind("str | Server", "URL")
NAMED_PLACES = Kind("Mapping[str, PathLike | Snapshot]", "NAME=PLACE", parse_named_places, many=True, several=_AGAIN)

PLACE = Kind("Place | Time", "PLACE")
POSITION = Kind("Place", "FILE:POS", parse_stop_position, recorded=lambda at: f"{at[0]}:{at[1]}")
COMPLETED = Kind("Place", "SET", parse_gtid_set)
TIME = Kind("str | Time", "TIME", parse_time)
PLACES = Kind("Place | Iterable[Place]", "FILE:POS,...|SET", parse_places, many=True, several=_AGAIN)

TABLES = Kind("Tables", "DB.TABLE,...", many=True)
DATABASES = Kind("Mapping[str, str]", "OLD=NEW,...", lambda texts: dict(parse_rewrites(texts)), many=True,
                 recorded=lambda names: [f"{old}={new}" for old, new in names])
COLUMNS = Kind("Sequence[str]", "NAME,...", parse_columns)
ROW_KEY = Kind("Key | list[Key]", "VALUE,...", parse_key)
ROW_KEYS = Kind("Key | list[Key]", "VALUE,...", lambda texts: [*map(parse_key, texts)], many=True, several=_AGAIN)
GTIDS = Kind("str | GtidSet", "SET")
EXECUTED = Kind("str | GtidSet", "SET")
SERVER_IDS = Kind("Iterable[int]", "N,...", parse_server_ids, many=True, check=_check_ids("server"), recorded=list)
THREAD_IDS = Kind("Iterable[int]", "N,...", parse_thread_ids, many=True, check=_check_ids("thread"))
CONVERSIONS = Kind("Iterable[str]", "NAME,...", many=True, recorded=sorted)
UNSIGNED = choice(*UNSIGNED_BIGINTS, recorded=lambda kind: None if kind == AS_DECIMAL else kind)

SIZE = Kind("Size", "SIZE")
SECONDS = Kind("float", "TIME", parse_seconds)
KEEP = Kind("int | timedelta | str", "N|TIME")
AGE = Kind("timedelta | str", "TIME")
CONF = Kind("Mapping[str, str]", "NAME=VALUE", lambda texts: dict(parse_conf(texts)), many=True, several=_AGAIN)

PARQUET = Kind("Mapping[str, str]", "NAME=VALUE", lambda texts: dict(parse_parquet(texts)), many=True, several=_AGAIN,
               recorded=lambda pairs: [f"{name}={value}" for name, value in pairs])
PARTITIONS = Kind("Mapping[str, str]", "DB.TABLE=TRANSFORM(COLUMN)", lambda texts: dict(parse_partitions(texts)),
                  many=True, several=_AGAIN)

WATCHER = Kind("Watcher")
ENDING = Kind("Ending")
QUESTION = Kind("Callable[[], bool]")

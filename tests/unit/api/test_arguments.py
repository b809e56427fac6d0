"""Arguments of public functions: what one does not take is a UsageError, and is never ignored."""

import inspect
import itertools
import shutil
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest

import applier
import applier.binlog
from applier.api.calls.arguments import KeyNames, address_of, places, point
from applier.api.calls.job_options import bounds, logs
from applier.errors import ApplierError, UsageError
from applier.options.choosing import START_OF_CHANGES, STOP
from applier.snapshot.manifest import BinlogPosition
from tests.support.small_logs import CREATE

NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)
SECONDS = NOON.timestamp()


@pytest.mark.parametrize("given, seconds", [
    (NOON, SECONDS), (datetime(2026, 3, 14, 14, tzinfo=timezone(timedelta(hours=2))), SECONDS),
    ("2026-03-14 12:00:00Z", SECONDS), ("2026-03-14T14:00:00+02:00", SECONDS), ("2026-03-14 12:00:00 UTC", SECONDS),
    (NOON.replace(microsecond=123457), SECONDS + 0.123457), (NOON.astimezone().replace(tzinfo=None), SECONDS),
    (np.datetime64("2026-03-14T12:00"), SECONDS), (np.datetime64("2026-03-14T12:00:00.123457"), SECONDS + 0.123457),
    (np.datetime64("2026-03-14T12:00:00.123456001"), SECONDS + 0.123457),
    (np.datetime64("1969-12-31T23:59:59.500"), -0.5)])
def test_times(given, seconds):
    """A datetime without a zone is local, numpy's are UTC; between two microseconds, the later one bounds the same."""
    assert point(given).time == seconds
    assert bounds(STOP, given) == {"stop_datetime": seconds} and bounds(START_OF_CHANGES, given) == {
        "start_datetime": seconds}


def test_times_of_pandas():
    pandas = pytest.importorskip("pandas")
    assert point(pandas.Timestamp("2026-03-14 14:00", tz="Europe/Rome")).time == SECONDS + 3600
    assert point(pandas.Timestamp(NOON)).time == SECONDS
    for given, why in ((pandas.Timestamp("2026-03-14 12:00"), "has no time zone"), (pandas.NaT, "NaT is not a time")):
        with pytest.raises(UsageError, match=why):
            point(given)


@pytest.mark.parametrize("given, position, gtids", [
    ("binlog.000003:1234", ("binlog.000003", 1234), None), (("binlog.000003", 1234), ("binlog.000003", 1234), None),
    (("/backup/binlog.000003.zst", 4), ("binlog.000003", 4), None),
    (BinlogPosition("binlog.000003", 1234, "0-1-5", None, "mariadb"), ("binlog.000003", 1234), None),
    (BinlogPosition("", 0, "0-1-5", None, "mariadb"), None, "0-1-5"), ("0-1-5", None, "0-1-5"),
    (applier.GtidSet.parse("0-1-5"), None, "0-1-5")])
def test_places(given, position, gtids):
    assert bounds(STOP, given) == ({"stop_gtid": gtids} if position is None else {"stop_position": position})
    assert places(given) == places([given]) == (position or gtids,)


@pytest.mark.parametrize("given", [
    date(2026, 3, 14), 5, 1773489600, 1.5, float("nan"), True, b"0-1-5", [], {}, (), "", " ", object(), ("f", -1),
    (1, 2), ("f", 1.5), ("binlog.000001", "4"), np.datetime64("2026-03-14"), np.datetime64("2026-03"),
    np.datetime64("NaT"), "2026-03-14", "binlog.000001", "yesterday", applier.GtidSet(),
    "binlog.000001:4,binlog.000002:4"])
def test_what_is_no_place(given, tmp_path):
    """The same in every function, before anything is read."""
    for call in (lambda: applier.replay("logs", tmp_path / "out", start=given),
                 lambda: applier.replay("logs", tmp_path / "out", stop=given),
                 lambda: applier.replay("logs", tmp_path / "out", snapshot_at=[given]),
                 lambda: applier.changes("logs", "d.t", start=given),
                 lambda: applier.changes("logs", "d.t", stop=given),
                 lambda: applier.history("logs", "d.t", stop=given),
                 lambda: applier.undo("logs", "undo.sql", gtids="0-1-1", until=given),
                 lambda: applier.undo("logs", "undo.sql", start=given),
                 lambda: applier.undo("logs", "undo.sql", stop=given),
                 lambda: applier.summary("logs", start=given), lambda: applier.summary("logs", stop=given),
                 lambda: applier.diff("a", binlogs="logs", stop=given), lambda: applier.doctor("logs", start=given),
                 lambda: applier.Snapshot("lake", as_of=given), lambda: applier.locate("logs", time=given),
                 lambda: applier.published(delta="delta", as_of=given)):
        with pytest.raises(UsageError) as raised:
            call()
        assert type(raised.value) is UsageError and raised.value.hint


def test_a_gtid_set_is_none_of_a_date():
    """As text it may be one; of --stop-gtid, and as an object, it is not."""
    assert bounds(STOP, applier.GtidSet.parse("2026-12-14")) == {"stop_gtid": "2026-12-14"}
    assert STOP.parsed({"stop_position": None, "stop_datetime": None, "stop_gtid": "2026-12-14"}).domains


def test_a_kind_of_place_that_is_not_taken():
    for call, why in ((lambda: applier.replay("logs", "out", start=NOON), "`start` cannot be"),
                      (lambda: applier.replay("logs", "out", start="-1h"), "is a time"),
                      (lambda: applier.replay("logs", "out", snapshot_at=["2026-03-14 12:00:00"]), "is a time"),
                      (lambda: applier.changes("logs", "d.t", start="0-1-5"), "0-1-5 is a GTID set"),
                      (lambda: applier.undo("logs", "undo.sql", stop=applier.GtidSet.parse("0-1-5")), "is a GTID set"),
                      (lambda: applier.locate("logs", time="0-1-5"), "0-1-5 is a GTID set")):
        with pytest.raises(UsageError, match=why):
            call()


JUNK = {"true": True, "int": 7, "huge": 10**30, "negative": -1, "nan": float("nan"), "bytes": b"x", "object": object(),
        "list": [], "texts": ["\0 x"], "dict": {}, "numbers": {1: 2}, "empty": "", "text": "\0 nonsense", "word": "x",
        "path": Path("nowhere"), "datetime": NOON, "date": NOON.date(), "tuple": (), "pair": ("x", 1),
        "bool": np.bool_(True), "class": int, "complex": 1j}
NUMBERS, TEXTS = {"int", "huge", "negative"}, {"text", "word"}
PLACES, TIMES = {*TEXTS, "pair"}, {"datetime"}
MEANT = {
    "PathLike": {"word", "path"}, "Paths": {"word", "path", "list", "tuple"}, "Tables": {*TEXTS, "texts"},
    "Place": PLACES, "Place | Iterable[Place]": {*PLACES, "list", "tuple", "texts"}, "Place | Time": {*PLACES, *TIMES},
    "str | Time": {*TEXTS, *TIMES}, "bool": {"true", "bool"}, "int": NUMBERS, "float": NUMBERS, "str": TEXTS,
    "Size": {*NUMBERS, *TEXTS}, "Iterable[str]": {"list", "tuple", "texts"},
    "Sequence[str]": {"list", "tuple", "texts"}, "Iterable[int]": {"list", "tuple"}, "Mapping[str, str]": {"dict"},
    "Mapping[str, PathLike | Snapshot]": {"dict"},
    "str | GtidSet": {*TEXTS, "empty"}, "Watcher": set(), "Callable[[], bool]": set(),
    "PathLike | Snapshot": {"word", "path"}, "PathLike | Snapshot | GtidSet": {"word", "path"},
    "int | timedelta | str": {*NUMBERS, *TEXTS}, "timedelta | str": TEXTS, "Ending": set(),
    "datetime": TIMES, "UUID | str": TEXTS,
    "str | Server": TEXTS, "Keys": set(),
    "Key | list[Key]": {*NUMBERS, *TEXTS, "empty", "list", "true", "bool"},
    "Rows": set(JUNK), "Any": set(JUNK)}
"""What means something, for each type of an argument, though it may not be there, or not fit."""
STARTS_JAVA = {"master", "engine"}
N = itertools.count()


def new():
    return f"out{next(N)}"


def written(call):
    def write(**arguments):
        with applier.binlog.Writer(new()) as log:
            log.query(CREATE, "shop")
            with log.transaction():
                return call(log, **arguments)
    return write


FUNCTIONS = {
    "archive": lambda: (applier.archive, {"source": "mysql://root@127.0.0.1:1", "output": new(), "until_now": True}),
    "changes": lambda: (applier.changes, {"binlogs": "logs", "table": "shop.item"}),
    "compact": lambda: (applier.compact, {"lake": "lake"}),
    "compare": lambda: (applier.compare, {"a": "lake", "b": "logs"}),
    "diff": lambda: (applier.diff, {"before": "lake", "after": "lake"}),
    "doctor": lambda: (applier.doctor, {}),
    "expire": lambda: (applier.expire, {"lake": "lake", "keep": 3}),
    "explain": lambda: (applier.explain, {"binlogs": "logs"}),
    "export": lambda: (applier.export, {"snapshot": "lake", "output": new()}),
    "fsck": lambda: (applier.fsck, {"lake": "lake"}),
    "history": lambda: (applier.history, {"binlogs": "logs", "table": "shop.item"}),
    "follow": lambda: (lambda **given: [batch.acknowledge() for batch in applier.follow(**given)],
                       {"binlogs": "logs", "until_now": True}),
    "import_dump": lambda: (applier.import_dump, {"dump": "dump.sql", "output": new(), "position": ("binlog.000001", 4),
                                                  "flavour": "mysql"}),
    "locate": lambda: (applier.locate, {"binlogs": "logs", "xid": 1}),
    "publish": lambda: (applier.publish, {"snapshot": "lake", "delta": new()}),
    "published": lambda: (applier.published, {"delta": "delta"}),
    "query": lambda: (applier.query, {"place": "lake", "sql": "SELECT 1"}),
    "replay": lambda: (applier.replay, {"binlogs": "logs", "output": new()}),
    "rewrite": lambda: (applier.rewrite, {"binlogs": "logs", "output": new(), "compress": True}),
    "summary": lambda: (applier.summary, {"binlogs": "logs"}),
    "sync": lambda: (lambda **given: list(applier.sync(**given)),
                     {"binlogs": "logs", "lake": "lake", "until_now": True, "every": 0.1}),
    "undo": lambda: (applier.undo, {"binlogs": "logs", "output": new(), "start": "binlog.000001:4"}),
    "verify": lambda: (applier.verify, {"snapshot": "lake", "against": "answers"}),
    "verify_sql": lambda: (applier.verify_sql, {"snapshot": "lake"}),
    "versions": lambda: (applier.versions, {"lake": "lake"}),
    "Snapshot": lambda: (applier.Snapshot, {"uri": "lake"}),
    "Snapshot.sql": lambda: (applier.Snapshot("lake").sql, {"query": "SELECT 1"}),
    "Snapshot.verify": lambda: (applier.Snapshot("lake").verify, {}),
    "Snapshot.views": lambda: (applier.Snapshot("lake").views, {}),
    "SnapshotTable.to_arrow": lambda: (applier.Snapshot("lake").tables["shop.item"].to_arrow, {}),
    "SnapshotTable.to_pandas": lambda: (applier.Snapshot("lake").tables["shop.item"].to_pandas, {}),
    "History.write": lambda: (applier.history("logs", "shop.item").write, {"output": new()}),
    "Writer": lambda: (lambda **given: applier.binlog.Writer(**given).close(), {"path": new()}),
    "Writer.query": lambda: (written(applier.binlog.Writer.query), {"sql": "SELECT 1"}),
    "Writer.insert": lambda: (written(applier.binlog.Writer.insert), {"table": "shop.item", "rows": [{"id": 1}]}),
    "Writer.delete": lambda: (written(applier.binlog.Writer.delete), {"table": "shop.item", "rows": [{"id": 1}]}),
    "Writer.update": lambda: (written(applier.binlog.Writer.update), {"table": "shop.item", "before": [{"id": 1}],
                                                                      "after": [{"id": 2}]}),
}


def target(name):
    owner, _, method = name.partition(".")
    found = getattr(applier, owner, None) or getattr(applier.binlog, owner)
    return getattr(found, method) if method else found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("arguments")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        Path("logs").mkdir()
        with applier.binlog.Writer("logs/binlog.000001") as log:
            log.query(CREATE, "shop")
            with log.transaction():
                log.insert("shop.item", {"id": [1], "n": [0], "s": ["x"]})
        Path("dump.sql").write_text(f"CREATE DATABASE shop; USE shop; {CREATE};")
        Path("answers").write_text("")
        applier.replay("logs", lake="lake")
        applier.publish("lake", delta="delta")
        shutil.copytree("lake", "kept")
        yield made


def test_every_public_function_is_here():
    functions = {name for name in applier.__all__ if inspect.isfunction(getattr(applier, name))}
    assert functions <= set(FUNCTIONS)


def meant(parameter):
    annotation = parameter.annotation.removesuffix(" | None")
    found = set() if annotation.startswith("Literal[") else MEANT[annotation]
    default = parameter.default
    found = found | {kind for kind, value in JUNK.items() if type(value) is type(default) and value == default}
    return found | {"list", "tuple"} if parameter.name == "ignore_tables" else found


def parameters(name):
    """Of a function, those of **flat by their names."""
    for parameter in inspect.signature(target(name)).parameters.values():
        if parameter.kind is not parameter.VAR_KEYWORD:
            yield parameter
            continue
        for key, kind in KeyNames.__annotations__.items():
            yield inspect.Parameter(key, parameter.KEYWORD_ONLY, default=None, annotation=kind.__forward_arg__)


@pytest.mark.by_turns(one_in=3)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::applier.TelemetryWarning")  # of files that cannot be written
def test_junk(name, folder):
    """Of each argument, whatever it does not take is a UsageError; what it takes raises no error of Python."""
    wrong = []
    for parameter in parameters(name):
        if parameter.name == "self":
            continue
        junk = JUNK if parameter.default is None else JUNK | {"none": None}
        for kind, value in junk.items():
            is_meant = kind in meant(parameter)
            if parameter.name in STARTS_JAVA and is_meant:
                continue
            function, arguments = FUNCTIONS[name]()
            try:
                result = function(**(arguments | {parameter.name: value}))
                if isinstance(result, Iterator):
                    next(result, None)
            except ApplierError as error:
                if not is_meant and not isinstance(error, UsageError):
                    wrong.append(f"{parameter.name}={kind}: {error!r}")
                continue
            except Exception as error:
                if name in ("query", "Snapshot.sql") and is_meant:
                    continue  # DuckDB's own
                wrong.append(f"{parameter.name}={kind}: {error!r}")
                continue
            if not is_meant:
                wrong.append(f"{parameter.name}={kind}: is ignored")
    assert wrong == []


def test_numbers_of_numpy_and_generators(folder):
    assert applier.summary("logs", top=np.int32(3)).transactions == 1
    made = applier.replay((path for path in ["logs"]), "made", tables=(name for name in ["shop.*"]),
                          define_from_log=np.bool_(False))
    assert made.snapshot.tables["shop.item"].to_arrow(np.array(["id"])).to_pylist() == [{"id": 1}]


def test_keys_are_one_value_or_named(tmp_path):
    """`keys` has what `keyring`, `key_file` and `key_file_secret` have, which are no arguments with it."""
    key_file = tmp_path / "keys"
    key_file.write_text(f"1;{'0a' * 16}\n")
    keys = applier.Keys(key_file=key_file)
    assert keys == applier.Keys(key_file=[str(key_file)]) and keys.key_file == (str(key_file),)
    [one], [other] = (logs({"binlogs": "logs", **given}) for given in (
        {"keys": keys}, {"flat": {"key_file": key_file, "keyring": None}}))
    assert one.keys == other.keys == keys
    with pytest.raises(UsageError, match="`keys` and `key_file` are both given"):
        applier.summary("logs", keys=keys, key_file=key_file)
    with pytest.raises(UsageError, match="`key_file_secret` cannot be 7"):
        applier.summary("logs", key_file_secret=7)
    with pytest.raises(TypeError, match=r"summary\(\) got an unexpected keyword argument 'key_files'"):
        applier.summary("logs", key_files="keys")


def test_a_server_is_one_value_or_two(tmp_path):
    file = tmp_path / "my.cnf"
    file.write_text("[client]\nuser=replica\n")
    url = "mysql://127.0.0.1:3307"
    assert address_of(applier.Server(url, file), None) == address_of(url, file)
    with pytest.raises(UsageError, match="is given twice"):
        applier.archive(applier.Server(url, file), tmp_path / "out", defaults_file=file)

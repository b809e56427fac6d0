"""Encrypted logs of real servers, whose keys were rotated in their middle, end with the servers' rows; keys go nowhere.

The recorder is record_encrypted.py. MySQL's second keyring does not have the first key any more.
"""

import io
import json
import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

import applier
import applier.binlog
from applier.binlog.locating import search
from applier.engine.executor import ThisProcess
from applier.errors import ArchiveError, EncryptedBinlog
from applier.io.encryption.keys import Keys
from applier.io.mapping import map_file
from applier.jobs import show
from applier.jobs.replay.job import replay_with
from applier.jobs.spark_source.options import parse
from applier.jobs.spark_source.source import BinlogReader
from applier.options import ReplayOptions
from tests.support.folders import RECORDED, ROOT
from tests.support.packing import pack_archive
from tests.support.real_server import differences

ITEM = "shop.item"


@dataclass(frozen=True)
class Encrypted:
    """A recorded archive and its files of keys."""

    name: str
    keyring: tuple[str, ...] = ()
    key_file: tuple[str, ...] = ()
    secret: str | None = None

    @property
    def folder(self):
        return RECORDED / "encrypted" / self.name

    @property
    def keys(self):
        """As functions take them."""
        return {"keyring": [str(self.folder / name) for name in self.keyring],
                "key_file": [str(self.folder / name) for name in self.key_file],
                "key_file_secret": None if self.secret is None else str(self.folder / self.secret)}

    @property
    def options(self):
        """As the command line takes them."""
        return [word for name, value in self.keys.items()
                for one in ([value] if isinstance(value, str) else value or [])
                for word in (f"--{name.replace('_', '-')}", one)]

    def located(self, *paths):
        return Keys(*self.keys.values()).of([str(path) for path in paths or [self.folder]])

    @property
    def secrets(self):
        """All keys, as bytes and as digits."""
        found = []
        for path in self.folder.glob("keys.*"):
            text = path.read_bytes()
            if text.startswith(b"{"):
                found += [element["data"] for element in json.loads(text)["elements"] if len(element["data"]) > 32]
            else:
                found += [line.partition(";")[2] for line in text.decode("latin-1").splitlines() if line[1:2] == ";"]
        raw = [bytes.fromhex(digits) for digits in found]
        secret = [(self.folder / self.secret).read_bytes().strip()] if self.secret else []
        return [*raw, *(digits.lower().encode() for digits in found), *(digits.upper().encode() for digits in found),
                *secret]


KEYS = ("keys.first", "keys.second")
CASES = [Encrypted("mysql", keyring=KEYS), Encrypted("mariadb-aes_cbc", key_file=KEYS[::-1]),
         Encrypted("mariadb-aes_ctr", key_file=KEYS, secret="secret.second")]
each_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


@pytest.mark.by_turns("options")
@each_case
@pytest.mark.parametrize("options", [{"route": "walk"}, {"route": "shuffle"}, {"pass_bytes": 20_000}])
def test_the_servers_rows(case, options, tmp_path):
    applier.replay(case.folder, tmp_path / "out", **case.keys, **options)
    assert differences(tmp_path / "out", case.folder / "expected") == []


@each_case
def test_packed_as_well(case, tmp_path):
    """And beside plain files: here the last one is what the first run of this archive made plain."""
    pack_archive(case.folder.glob("binlog.0*"), tmp_path / "logs", ["gzip", "xz", None])
    applier.replay(tmp_path / "logs", tmp_path / "out", **case.keys)
    assert differences(tmp_path / "out", case.folder / "expected") == []


@each_case
def test_a_rewritten_archive_is_plain(case, tmp_path):
    """What MariaDB says of the encryption is not in it, and no key is needed any more."""
    applier.rewrite(case.folder, tmp_path / "plain", image="minimal", compress=True, **case.keys)
    assert "START_ENCRYPTION" not in {event.name for event in applier.binlog.open(str(tmp_path / "plain"))}
    applier.replay(tmp_path / "plain", tmp_path / "out")
    assert differences(tmp_path / "out", case.folder / "expected") == []


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """MySQL's archive, decrypted."""
    folder, case = tmp_path_factory.mktemp("plain"), CASES[0]
    for path in case.folder.glob("binlog.0*"):
        (folder / path.name).write_bytes(map_file(case.located(path)[0]).array.tobytes())
    return str(folder)


def shown(files):
    text = io.TextIOWrapper(io.BytesIO())
    show.show(list(files), "json", text)
    return text.buffer.getvalue()


def spark_rows(logs, **keys):
    files = {"keyring": ",".join(keys.get("keyring", ())), "keyFile": ",".join(keys.get("key_file", ())),
             "keyFileSecret": keys.get("key_file_secret")}
    reader = BinlogReader(parse({"path": str(logs), "table": ITEM} | {name: value for name, value in files.items()
                                                                      if value}))
    return [row for part in reader.partitions() for batch in reader.read(pickle.loads(pickle.dumps(part)))
            for row in batch.to_pylist()]


VERBS = {
    "changes": lambda logs, **keys: applier.changes(logs, ITEM, **keys).to_arrow(),
    "history": lambda logs, **keys: applier.history(logs, ITEM, **keys).to_arrow(),
    "summary": lambda logs, **keys: applier.summary(logs, **keys).largest,
    "explain": lambda logs, **keys: applier.explain(logs, **keys).tables,
    "locate": lambda logs, **keys: applier.locate(logs, time=datetime(2026, 1, 1, tzinfo=UTC), **keys),
    "open": lambda logs, **keys: [(event.file, event.position, event.type)
                                  for event in applier.binlog.open(str(logs), **keys)],
    "show": lambda logs, **keys: shown(file.uri for file in applier.binlog.open(str(logs), **keys).files),
    "Spark source": spark_rows,
}


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_say_what_they_say_of_the_plain_log(verb, plain):
    case = CASES[0]
    found = VERBS[verb](case.folder, **case.keys)
    assert found and found == VERBS[verb](plain)


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_on_mariadb(verb):
    """Both ciphers' logs are of the same statements."""
    found, other = (VERBS[verb](one.folder, **one.keys) for one in CASES[1:])
    assert len(found) == len(other) > 0


def test_an_index_of_encrypted_files(tmp_path):
    for case in CASES[:2]:
        pack_archive(case.folder.glob("binlog.0*"), tmp_path / case.name, [None])
        [logs] = case.located(tmp_path / case.name)
        assert search.index(logs).n_read == 3 and search.index(logs).n_read == 0


@each_case
def test_without_the_keys(case, tmp_path):
    option = "--keyring FILE" if case.keyring else "--key-file FILE"
    for call in (lambda: applier.replay(case.folder, tmp_path / "out"), lambda: applier.locate(case.folder, xid=1),
                 lambda: shown([str(case.folder / "binlog.000001")]),
                 lambda: list(applier.binlog.open(str(case.folder)))):
        with pytest.raises(EncryptedBinlog, match=rf"the binlog is encrypted.*{option}.*--read-from-remote-server"):
            call()
    assert not (tmp_path / "out").exists()


@each_case
def test_without_the_key_of_one_file(case, tmp_path):
    """The error names the file, and for MySQL the key that does not exist."""
    first = str(case.folder / "keys.first")
    keys = {"keyring": first} if case.keyring else {"key_file": first}
    with pytest.raises(EncryptedBinlog, match=r"in none of the keyrings|none of the key files") as caught:
        applier.replay(case.folder, tmp_path / "out", **keys)
    assert Path(caught.value.file).name in ("binlog.000002", "binlog.000003")
    assert not case.keyring or "MySQLReplicationKey_" in caught.value.message
    stop = {"stop": ("binlog.000001", 5000)} if case.keyring else {"stop": ("binlog.000001", 4000)}
    applier.replay(case.folder, tmp_path / "part", **keys, **stop)  # what is not read needs no key


def test_another_servers_key_of_the_same_name(tmp_path):
    case, text = CASES[0], (CASES[0].folder / "keys.first").read_text()
    for name, broken, message in (("wrong", "00" * 32, "is not the one"), ("short", "00" * 16, "none of AES-256")):
        document = json.loads(text)
        document["elements"][0]["data"] = broken
        (tmp_path / name).write_text(json.dumps(document))
        with pytest.raises(EncryptedBinlog, match=message):
            applier.replay(case.folder, tmp_path / "out", keyring=tmp_path / name)


@pytest.mark.parametrize("damage, message", [
    (lambda data: data[:4] + b"\x02" + data[5:], "in a way that is not known"),
    (lambda data: data[:60], r"header .* is damaged"), (lambda data: data[:5] + bytes(600), r"header .* is damaged")])
def test_a_damaged_header_of_mysql(damage, message, tmp_path):
    case = CASES[0]
    (tmp_path / "binlog.000001").write_bytes(damage((case.folder / "binlog.000001").read_bytes()))
    with pytest.raises(ArchiveError, match=message):
        applier.replay(tmp_path / "binlog.000001", tmp_path / "out", **case.keys)


@each_case
@pytest.mark.parametrize("cut", [1, 33, 5000])
def test_a_log_that_is_cut_off(case, cut, tmp_path):
    """As the newest file of a server that crashed: it is replayed up to its last whole group."""
    data = (case.folder / "binlog.000001").read_bytes()
    (tmp_path / "binlog.000001").write_bytes(data[:-cut])
    made = applier.replay(tmp_path / "binlog.000001", tmp_path / "out", **case.keys)
    assert 0 < made.snapshot.position.offset <= len(data) - cut
    assert cut == 1 or made.report.notes


class _Sent(ThisProcess):
    """Tasks go through pickles, which are kept, as between a driver and workers."""

    def __init__(self):
        super().__init__(1)
        self.pickles = []

    def _send(self, tasks):
        self.pickles.append(pickle.dumps(tasks))
        return pickle.loads(self.pickles[-1])

    def outline(self, tasks, on_progress):
        return self._send(super().outline(self._send(tasks), on_progress))

    def walk(self, tasks, on_progress):
        return super().walk(self._send(tasks), on_progress)

    def shuffle(self, splits, units, on_progress):
        return super().shuffle(self._send(splits), self._send(units), on_progress)


@pytest.mark.by_turns("route")
@each_case
@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_no_key_is_in_a_task_or_a_snapshot(case, route, tmp_path):
    """Tasks name the files of keys, so that they can be read where they run."""
    sent = _Sent()
    replay_with(sent, ReplayOptions(case.located(), str(tmp_path / "out"), route=route))
    assert differences(tmp_path / "out", case.folder / "expected") == []
    written = [path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(sent.pickles) > 2 and any(b"keys.first" in data for data in sent.pickles)
    for secret in case.secrets:
        assert len(secret) >= 16 and not any(secret in data for data in [*sent.pickles, *written])


@pytest.mark.by_turns(one_in=3)
@each_case
def test_no_key_is_in_what_the_command_line_says_or_leaves(case, tmp_path):
    """On success, and in the error for a key that does not fit; files in use are this user's alone."""
    (tmp_path / "temporary").mkdir()
    environment = os.environ | {"TMPDIR": str(tmp_path / "temporary"), "PYTHONPATH": str(ROOT)}
    said = []
    for words in (case.options, case.options[:2]):
        run = subprocess.run([sys.executable, "-m", "applier", "replay", "--binlogs", str(case.folder), "--engine",
                              "local", "--output", str(tmp_path / f"out{len(said)}"), *words], env=environment,
                             capture_output=True)
        said += [run.stdout, run.stderr]
        assert run.returncode == (0 if words == case.options else 2), run.stderr
    assert list((tmp_path / "temporary").rglob("*")) == []
    said += [path.read_bytes() for path in (tmp_path / "out0").rglob("*") if path.is_file()]
    for secret in case.secrets:
        assert not any(secret in data for data in said)

"""Packed archives are what they were before they were packed, for every verb that reads logs."""

import io

import pytest

import applier
from applier.binlog.locating import search
from applier.jobs import show
from applier.jobs.spark_source.options import parse
from applier.jobs.spark_source.source import BinlogReader
from applier.snapshot import manifest
from tests.recorded.archives.demo_digest import ARCHIVE
from tests.support.packing import SUFFIXES, pack_archive
from tests.support.real_server import Case, differences, replayed

ORDERS = "shop.orders"


@pytest.mark.by_turns("name")
@pytest.mark.parametrize("name", ["many-files-mysql", "many-files-mariadb", "compressed-mysql"])
@pytest.mark.parametrize("packing", SUFFIXES)
def test_packed_cases_end_with_the_servers_rows(name, packing, tmp_path):
    """On both routes, in one pass and in several, and resumed within a packed file."""
    case = Case(name)
    pack_archive(case.binlogs, tmp_path / "logs", [packing])
    replayed(case, tmp_path / "plain")
    position = manifest.load(str(tmp_path / "plain")).position
    for number, options in enumerate(({"route": "walk"}, {"route": "shuffle"}, {"pass_bytes": 2000})):
        output = tmp_path / f"packed{number}"
        applier.replay(tmp_path / "logs", output, **options)
        assert differences(output, case.expected()) == []
        assert manifest.load(str(output)).position == position


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """The demo's archive, of which one file is as it was."""
    folder = tmp_path_factory.mktemp("packed") / "logs"
    pack_archive(ARCHIVE.glob("binlog.0*"), folder, ["zstd", None, "gzip"])
    return str(folder)


def shown(files):
    text = io.TextIOWrapper(io.BytesIO())
    show.show(files, "json", text)
    return text.buffer.getvalue()


VERBS = {
    "changes": lambda logs: applier.changes(logs, ORDERS).to_arrow(),
    "history": lambda logs: applier.history(logs, ORDERS).to_arrow(),
    "summary": lambda logs: applier.summary(logs).largest,
    "explain": lambda logs: applier.explain(logs).tables,
    "locate": lambda logs: applier.locate(logs, gtid="20810cc3-e548-11f1-a5e4-02fc00000001:900"),
    "open": lambda logs: [(event.file, event.position, event.type) for event in applier.binlog.open(logs)],
    "show": lambda logs: shown([file.uri for file in applier.binlog.open(logs).files]),
    "Spark source": lambda logs: [row for reader in [BinlogReader(parse({"path": logs, "table": ORDERS}))]
                                  for part in reader.partitions() for batch in reader.read(part)
                                  for row in batch.to_pylist()],
}


@pytest.mark.parametrize("verb", VERBS)
def test_verbs(packed, verb):
    assert VERBS[verb](packed) == VERBS[verb](str(ARCHIVE))


def test_an_index_of_packed_files(packed, tmp_path):
    """It has the plain file's positions, and stays good."""
    made = search.index(packed)
    assert (made.n_files, made.n_read) == (3, 3) and search.index(packed).n_read == 0
    gtid = "20810cc3-e548-11f1-a5e4-02fc00000001:900"
    assert applier.locate(packed, gtid=gtid) == applier.locate(str(ARCHIVE), gtid=gtid)


def test_positions_in_packed_files(packed, tmp_path):
    """Start, stop and base are places in the plain log, also where the packed file is smaller than that."""
    applier.replay(packed, tmp_path / "before", stop=("binlog.000003", 150_000), route="walk")
    place = manifest.load(str(tmp_path / "before")).position
    whole = applier.replay(packed, tmp_path / "after", base=tmp_path / "before")
    assert place.file == "binlog.000003" and place.offset > 100_000
    assert (whole.snapshot.position.file, whole.snapshot.position.offset) == ("binlog.000003", 176495)
    with pytest.raises(applier.errors.UsageError, match=r"past the end of binlog\.000003, which has 176539 bytes"):
        applier.replay(packed, tmp_path / "none", start=("binlog.000003", 176540))

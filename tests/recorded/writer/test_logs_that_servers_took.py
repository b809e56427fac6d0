"""applier.binlog.Writer's logs are the bytes that real servers took (made.py), and replays find the servers' rows."""

import pytest

import applier
import applier.binlog
from tests.recorded.writer import made

FLAVOURS = "mysql", "mariadb"
_OF_THE_FILE = "FORMAT_DESCRIPTION", "PREVIOUS_GTIDS", "GTID_LIST", "BINLOG_CHECKPOINT", "GTID"


def events(file):
    """Types and bodies of the events, those that were compressed as they were before."""
    for event in applier.binlog.open(str(file)):
        for one in list(event.events()) or [event]:
            if one.name not in _OF_THE_FILE:
                yield one.name, bytes(one.body)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_the_log_is_the_one_that_servers_took(flavour, tmp_path):
    plain, compressed = (tmp_path / what / f"{flavour}.000001" for what in ("plain", "compressed"))
    plain.parent.mkdir()
    compressed.parent.mkdir()
    made.write(plain, flavour, compress=False)
    made.write(compressed, flavour, compress=True)
    assert made.digest(plain) == (made.HERE / f"{flavour}.sha256").read_text().strip()
    assert list(events(plain)) == list(events(compressed))
    assert compressed.stat().st_size < plain.stat().st_size


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_replay_finds_the_servers_rows(flavour, compress, tmp_path):
    made.write(tmp_path / "made.000001", flavour, compress=compress)
    replayed = applier.replay(tmp_path / "made.000001", tmp_path / "replayed").snapshot
    held = applier.import_dump(made.HERE / f"{flavour}.sql", tmp_path / "held", position=("made.000001", 4)).snapshot
    rows, expected = (snapshot.tables["shop.item"].to_arrow() for snapshot in (replayed, held))
    assert rows.num_rows == made.N and rows.schema == expected.schema
    assert rows.equals(expected)

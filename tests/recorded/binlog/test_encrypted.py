"""Encrypted files of real servers: MySQL 9.7 with binlog_encryption=ON, MariaDB 10.11 with encrypt_binlog."""

from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from applier.binlog.archive.archive import open_archive
from applier.binlog.archive.reader import open_reader
from applier.binlog.locating.heads import read_head
from applier.binlog.outline.outline_pass import outline_file
from applier.errors import EncryptedBinlog
from applier.jobs.show import show

FILES = Path(__file__).parent / "encrypted"


@pytest.mark.parametrize("name, position, readable", [("mysql.000001", 0, 0), ("mariadb.000001", 256, 2)])
def test_every_reader_stops_where_it_begins(name, position, readable):
    """Nothing that is encrypted is treated as events; MariaDB's are whole up to the one that says so."""
    path, events = str(FILES / name), []
    printed = {kind: TextIOWrapper(BytesIO(), write_through=True) for kind in ("text", "json")}

    def read():
        for event in open_reader((path,)):
            events.append(event.name)

    readers = [read, lambda: outline_file(path), lambda: read_head(open_archive([path]).files[0])]
    readers += [lambda kind=kind, to=to: show([path], kind, to)
                for kind, to in printed.items()]
    for reader in readers:
        with pytest.raises(EncryptedBinlog, match="the binlog is encrypted") as caught:
            reader()
        assert (caught.value.file, caught.value.position) == (path, position)
        assert "--read-from-remote-server" in caught.value.hint
    assert events == ["FORMAT_DESCRIPTION", "START_ENCRYPTION"][:readable]
    assert printed["text"].buffer.getvalue().count(b"end_log_pos") == readable
    assert printed["json"].buffer.getvalue().count(b"\n") == readable

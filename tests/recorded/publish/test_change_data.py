"""The change data feed of recorded logs: by it, and by nothing less, a table becomes what the next version has."""

from collections import Counter
from pathlib import Path

import pytest

import applier
from applier.binlog.locating.groups import GroupPass
from tests.support import delta_readers, feeds
from tests.support.iceberg_readers import cells
from tests.support.real_server import Case

CASES = ["ddl-mysql", "key-moves-minimal", "fk-cascade-mariadb-minimal", "transactions-mariadb"]
VERSIONS = 4


def ends(logs):
    """Where to stop, so that all versions have about as many event groups."""
    found = [(group.file, group.end) for log in logs for groups in [GroupPass(log).groups()]
             for group in (groups[place] for place in range(len(groups)))]
    return [found[len(found) * (number + 1) // VERSIONS - 1] for number in range(VERSIONS)]


@pytest.mark.parametrize("name", CASES)
def test_the_feed_is_the_difference(name, tmp_path):
    """With minimal images and full ones, tables with keys and without, keys that change, rows that a foreign key
    changes, ALTERs, tables that are dropped and made again."""
    logs, before = list(map(str, Case(name).binlogs)), dict[Path, tuple]()
    compared = 0
    for end in ends(logs):
        applier.replay(logs, lake=tmp_path / "lake", stop=end, target_file_size=4096)
        applier.publish(tmp_path / "lake", delta=tmp_path / "delta", change_data=True)
        for place in {log.parent for log in (tmp_path / "delta").glob("*/*/_delta_log")}:
            version, table = delta_readers.version(str(place)), delta_readers.with_deltalake(str(place))
            old_version, schema, old = before.get(place, (-1, table.schema, Counter()))
            rows = Counter(cells(table))
            before[place] = version, table.schema, rows
            if version > old_version and (schema.names, schema.types) == (table.schema.names, table.schema.types):
                for reader in feeds.READERS:
                    changes = feeds.changes(reader(str(place), old_version + 1, version))
                    assert feeds.rows_of(changes, feeds.CAME) == rows - old
                    assert feeds.rows_of(changes, feeds.WENT) == old - rows
                    compared += 1
    assert compared > 8

"""A catalog of Iceberg that stands at a version of a lake keeps the files that it needs there."""

import pytest

import applier
from applier.snapshot import manifest
from tests.support.iceberg_readers import catalog as opened
from tests.support.small_logs import commit, insert, new_log, update


@pytest.fixture
def log(tmp_path):
    folder = tmp_path / "log"
    folder.mkdir()
    written = new_log(folder)
    written.query("CREATE TABLE other (id INT PRIMARY KEY)", "shop")
    ends = [commit(written, insert([(n, n, "x" * 20) for n in range(500)]))[1]]
    ends += [commit(written, update([(5, n, "x" * 20)], [(5, n + 1, "x" * 20)]))[1] for n in range(5, 8)]
    written.close()
    return str(folder), [("binlog.000001", end) for end in ends]


def test_what_a_catalog_stands_at_does_not_expire(log, tmp_path):
    """Of several publications the last one counts; where it left a table out, also those before."""
    lake, catalog = str(tmp_path / "lake"), f"sqlite:///{tmp_path}/catalog.db"

    def changed():
        """The number of the row that changes."""
        rows = opened(tmp_path).load_table("shop.item").scan().to_arrow().to_pylist()
        return next(row["n"] for row in rows if row["id"] == 5)

    for number, end in enumerate(log[1][:2], 1):
        applier.replay(log[0], lake=lake, stop=end, target_file_size=1000)
        if number == 1:
            applier.publish(lake, iceberg=catalog)
    assert applier.expire(lake, 1).versions == () and changed() == 5
    applier.publish(lake, iceberg=catalog)
    assert applier.expire(lake, 1).versions == (1,) and changed() == 6
    applier.replay(log[0], lake=lake, stop=log[1][2], target_file_size=1000)
    applier.publish(lake, iceberg=catalog, tables="shop.other")
    applier.replay(log[0], lake=lake, stop=log[1][3], target_file_size=1000)
    assert applier.expire(lake, 1).versions == (2,) and changed() == 6  # its files are needed, the version is not
    assert not applier.fsck(lake).damaged
    applier.publish(lake, iceberg=catalog)
    assert applier.expire(lake, 1).versions == (3,) and changed() == 8
    assert manifest.load(lake).uri.endswith("4") and not applier.fsck(lake).damaged

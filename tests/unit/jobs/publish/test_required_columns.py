"""NOT NULL columns in published tables: required fields in Iceberg, columns without nulls in Delta."""

import pyarrow as pa
import pytest
from deltalake import DeltaTable

import applier
from applier.mysql.values.zero_dates import ZERO_DAY
from tests.support import delta_readers, iceberg_readers

COLUMNS = ("CREATE TABLE k (id INT PRIMARY KEY, n VARCHAR(9) NOT NULL, d DATE NOT NULL, o INT, m INT NOT NULL, "
           "g INT GENERATED ALWAYS AS (m + 1) STORED NOT NULL)")
ZERO = pa.array([ZERO_DAY], pa.int32()).view(pa.date32())


@pytest.fixture(params=["iceberg", "delta"])
def published(tmp_path, log, replayed, request):
    """Publishes what the log has now; returns the columns that cannot be null, and what all readers find."""
    def run():
        out = tmp_path / f"out{replayed()}"
        if request.param == "iceberg":
            applier.publish(out, iceberg=f"sqlite:///{tmp_path}/catalog.db")
            table = iceberg_readers.catalog(tmp_path).load_table(("d", "k"))
            required = [field.name for field in table.schema().fields if field.required]
            found = [iceberg_readers.cells(reader(table)) for reader in iceberg_readers.READERS]
        else:
            applier.publish(out, delta=tmp_path / "delta", change_data=True)
            place = delta_readers.place(tmp_path / "delta", "d", "k")
            required = [field.name for field in DeltaTable(place).schema().fields if not field.nullable]
            found = [iceberg_readers.cells(reader(place)) for reader in delta_readers.READERS]
        assert found[1:] == found[:1] * (len(found) - 1)
        return required, found[0]

    return run


@pytest.fixture
def insert(log):
    def run(id_, n, m):
        with log.transaction():
            log.insert("d.k", {"id": [id_], "n": [n], "d": ZERO, "o": [None], "m": [m],
                               "g": [m + 1]})
    return run


def test_of_a_new_table(log, published, insert):
    """Not dates: an invalid one is null to readers."""
    log.query(COLUMNS, "d")
    insert(1, "a", 5)
    assert published() == (["id", "n", "m", "g"], ["(1, 'a', None, None, 5, 6)"])


def test_what_a_column_may_become(log, published, insert):
    """It may get nulls, in the commit of the first one, and then it stays so; an added column may have them."""
    log.query(COLUMNS, "d")
    insert(1, "a", 5)
    published()
    log.query("ALTER TABLE k MODIFY n VARCHAR(9)", "d")
    assert published() == (["id", "m", "g"], ["(1, 'a', None, None, 5, 6)"])
    log.query("ALTER TABLE k MODIFY m INT", "d")
    insert(2, None, 6)
    assert published() == (["id", "g"], ["(1, 'a', None, None, 5, 6)", "(2, None, None, None, 6, 7)"])
    with log.transaction():
        log.delete("d.k", {"id": [2], "n": [None], "d": ZERO, "o": [None], "m": [6], "g": [7]})
    log.query("ALTER TABLE k MODIFY n VARCHAR(9) NOT NULL, DROP COLUMN g, ADD COLUMN x INT NOT NULL DEFAULT 7", "d")
    assert published() == (["id"], ["(1, 'a', None, None, 5, 7)"])


def test_a_change_data_feed_over_it(tmp_path, log, replayed, insert):
    """Of the rows before and after."""
    log.query(COLUMNS, "d")
    insert(1, "a", 5)
    applier.publish(tmp_path / f"out{replayed()}", delta=tmp_path / "delta", change_data=True)
    log.query("ALTER TABLE k MODIFY n VARCHAR(9)", "d")
    with log.transaction():
        log.update("d.k", before={"id": [1], "n": ["a"], "d": ZERO, "o": [None], "m": [5], "g": [6]},
                   after={"id": [1], "n": [None], "d": ZERO, "o": [None], "m": [5], "g": [6]})
    [changed] = [table for table in applier.publish(tmp_path / f"out{replayed()}", delta=tmp_path / "delta").tables
                 if table.change == "changed"]
    assert (changed.columns_changed, changed.files_added, changed.files_removed) == (True, 1, 1)
    table = DeltaTable(delta_readers.place(tmp_path / "delta", "d", "k"))
    rows = table.load_cdf(0).read_all()
    assert sorted(zip(rows["_change_type"].to_pylist(), rows["n"].to_pylist(), strict=True)) == [
        ("insert", "a"), ("update_postimage", None), ("update_preimage", "a")]
    assert "mysql.position" in table.history(1)[0]


@pytest.mark.parametrize("key", ["DROP PRIMARY KEY, ADD PRIMARY KEY (m)", "DROP PRIMARY KEY, ADD PRIMARY KEY (o)"])
def test_fields_of_a_later_key(tmp_path, log, replayed, key):
    """They identify a row where they are required already."""
    log.query(COLUMNS, "d")
    catalog = f"sqlite:///{tmp_path}/catalog.db"
    applier.publish(tmp_path / f"out{replayed()}", iceberg=catalog)
    log.query(f"ALTER TABLE k {key}", "d")
    applier.publish(tmp_path / f"out{replayed()}", iceberg=catalog)
    schema = iceberg_readers.catalog(tmp_path).load_table(("d", "k")).schema()
    assert schema.identifier_field_names() == ({"m"} if "(m)" in key else set())
    assert not schema.find_field("o").required

"""`applier.rewrite`: which columns images have then, lengths and places, and what is refused."""

import gzip
from datetime import UTC, datetime

import pyarrow as pa
import pytest

import applier
import applier.binlog
from applier import cli
from applier.errors import ApplierError
from applier.io.progress import Silent
from applier.jobs.rewrite.proof import Replays
from applier.options import RewriteOptions
from tests.support.rewritten import outside_of_rows, plain_events, wrong_places

NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)


class Log:
    """An archive of one table, d.t, with full images; a column's values by its name."""

    def __init__(self, folder, columns, flavour="mysql"):
        self.path = folder / "log" / "binlog.000001"
        self.path.parent.mkdir()
        self.writer = applier.binlog.Writer(self.path, flavour=flavour, time=NOON)
        self.writer.query("CREATE DATABASE d")
        self.writer.query(f"CREATE TABLE t ({columns})", "d")

    def changed(self, *pairs):
        """Each pair is rows before and after, of one event: the rows come, change in one transaction, and go."""
        for before, after in pairs:
            with self.writer.transaction():
                self.writer.insert("d.t", before)
            with self.writer.transaction():
                self.writer.update("d.t", before, after)
            with self.writer.transaction():
                self.writer.delete("d.t", after)

    def rewritten(self, output, **options):
        """The columns of images, by their numbers, of each event: (before, after)."""
        self.writer.close()
        applier.rewrite(self.path.parent, output, **options)
        made = output / self.path.name
        assert wrong_places(made) == []
        assert outside_of_rows(made) == outside_of_rows(self.path)
        return images(made)


def images(*paths):
    return [(columns(event.content.before), columns(event.content.after)) for event in plain_events(*paths)
            if event.name.startswith(("WRITE_ROWS", "UPDATE_ROWS", "DELETE_ROWS"))]


def columns(bitmap):
    return None if bitmap is None else [n for n in range(8 * len(bitmap)) if bitmap[n >> 3] >> (n & 7) & 1]


ROW = {"id": [1, 2], "a": [10, 20], "b": ["x", "y"], "c": ["long", None]}
TABLE = "id INT {}, a INT {}, b VARCHAR(9) {}, c TEXT {}"


def test_minimal_images_have_the_key_and_what_changed(tmp_path):
    """RW-IMAGE, IMG-U, IMG-D: a column stays in the images of an event if one of its rows changes it."""
    log = Log(tmp_path, TABLE.format("PRIMARY KEY", "", "", ""))
    log.changed((ROW, ROW | {"a": [11, 20], "c": ["long", "now"]}), (ROW, ROW | {"id": [3, 2]}), (ROW, ROW))
    every = [0, 1, 2, 3]
    assert log.rewritten(tmp_path / "out", image="minimal") == [
        (None, every), ([0], [1, 3]), ([0], None),
        (None, every), ([0], [0]), ([0], None),
        (None, every), ([0], [0]), ([0], None)]


def test_noblob_images_leave_out_blobs(tmp_path):
    """BLOB-R2, BLOB-R3, BLOB-R4: unless they changed."""
    log = Log(tmp_path, TABLE.format("PRIMARY KEY", "", "", ""))
    log.changed((ROW, ROW | {"a": [11, 20]}), (ROW, ROW | {"c": ["long", "now"]}))
    every = [0, 1, 2, 3]
    assert log.rewritten(tmp_path / "out", image="noblob") == [
        (None, every), ([0, 1, 2], [0, 1, 2]), ([0, 1, 2], None),
        (None, every), ([0, 1, 2], [0, 1, 2, 3]), ([0, 1, 2], None)]


@pytest.mark.parametrize(("flavour", "keys", "before"), [
    ("mysql", ["", "", "", ""], [0, 1, 2, 3]),
    ("mysql", ["NOT NULL UNIQUE", "NOT NULL UNIQUE", "", ""], [0]),
    ("mariadb", ["NOT NULL UNIQUE", "NOT NULL UNIQUE", "", ""], [0, 1]),
    ("mysql", ["UNIQUE", "NOT NULL UNIQUE", "", ""], [1]),
    ("mysql", ["NOT NULL", "NOT NULL", "NOT NULL", ", UNIQUE (b(3)), UNIQUE (id, a)"], [0, 1]),
    ("mysql", ["NOT NULL", "NOT NULL", "NOT NULL", ", UNIQUE (b(3))"], [0, 1, 2, 3]),
    ("mysql", ["NOT NULL", "NOT NULL", "NOT NULL", ", PRIMARY KEY (b(3))"], [2]),
    ("mariadb", ["NOT NULL", "NOT NULL", "NOT NULL", ", PRIMARY KEY (b, a)"], [1, 2])])
def test_the_key_equivalent(flavour, keys, before, tmp_path):
    """PKE: the primary key, a key of whole columns without NULL, all columns."""
    log = Log(tmp_path, TABLE.format(*keys), flavour)
    log.changed((ROW, ROW | {"c": ["other", None]}))
    assert log.rewritten(tmp_path / "out", image="minimal")[1:] == [(before, [3]), (before, None)]


@pytest.mark.parametrize(("flavour", "more", "before"), [
    ("mariadb", ", g INT AS (a + 1) VIRTUAL", [0, 1, 2, 3]), ("mysql", ", g INT AS (a + 1) VIRTUAL", [0])])
def test_virtual_columns(flavour, more, before, tmp_path):
    """A MariaDB replica does not compute them, so images of such tables stay as they are."""
    log = Log(tmp_path, TABLE.format("PRIMARY KEY", "", "", more), flavour)
    log.changed((ROW, ROW | {"b": ["z", "y"]}))
    assert log.rewritten(tmp_path / "out", image="minimal")[2][0] == before


@pytest.mark.parametrize("n", [25, 400, 600, 2000, 9000])
def test_lengths_of_transactions(n, tmp_path):
    """The length in a GTID event takes more bytes the larger it is; it is that of the rewritten group."""
    log = Log(tmp_path, TABLE.format("PRIMARY KEY", "", "", ""))
    row = {"id": list(range(n)), "a": [0] * n, "b": ["x" * 9] * n, "c": ["y" * (n % 100)] * n}
    log.changed((row, row | {"a": [1] * n}))
    log.rewritten(tmp_path / "out", image="minimal")
    log.rewritten(tmp_path / "packed", image="minimal", compress=True)
    assert images(tmp_path / "packed" / log.path.name) == images(tmp_path / "out" / log.path.name)


def test_every_transaction_of_rows_is_compressed(tmp_path):
    """As a whole, from the first one on; statements are not."""
    log = Log(tmp_path, TABLE.format("PRIMARY KEY", "", "", ""))
    row = {"id": list(range(99)), "a": [0] * 99, "b": ["x" * 9] * 99, "c": ["y" * 9] * 99}
    log.changed((row, row | {"a": [1] * 99}))
    log.rewritten(tmp_path / "out", compress=True)
    groups = [event.name for event in applier.binlog.open(str(tmp_path / "out" / log.path.name))][2:]
    assert groups == ["GTID", "QUERY"] * 2 + ["GTID", "TRANSACTION_PAYLOAD"] * 3


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_a_key_that_comes_later(flavour, tmp_path):
    """PKE: the definition at the event decides, though the log's columns are the same."""
    log = Log(tmp_path, TABLE.format("NOT NULL", "", "", ""), flavour)
    log.changed((ROW, ROW | {"a": [0, 0]}))
    log.writer.query("ALTER TABLE t ADD PRIMARY KEY (id)", "d")
    log.changed((ROW, ROW | {"a": [0, 0]}))
    befores = [before for before, _ in log.rewritten(tmp_path / "out", image="minimal")]
    assert befores == [None, [0, 1, 2, 3], [0, 1, 2, 3], None, [0], [0]]


def test_an_archive_goes_on_from_a_base(tmp_path):
    """AP-SNAP: what comes before the base stays as it is; both archives are replayed from it."""
    log = Log(tmp_path, TABLE.format("PRIMARY KEY", "", "", ""))
    log.changed((ROW, ROW | {"a": [0, 0]}))
    stop = log.path.name, log.writer.position[1]
    log.changed((ROW, ROW | {"a": [0, 0]}))
    log.writer.close()
    applier.replay(log.path.parent, tmp_path / "base", stop=stop)
    found = log.rewritten(tmp_path / "out", image="minimal", base=tmp_path / "base")
    assert [before for before, _ in found] == [None, [0, 1, 2, 3], [0, 1, 2, 3], None, [0], [0]]


def test_a_torn_file_ends_before_its_last_group(tmp_path):
    """GRP-1: and a line says so."""
    log = Log(tmp_path, TABLE.format("PRIMARY KEY", "", "", ""))
    end = log.writer.position[1]
    log.changed((ROW, ROW | {"a": [0, 0]}))
    log.writer.close()
    log.path.write_bytes(log.path.read_bytes()[:end + 200])
    done = applier.rewrite(log.path.parent, tmp_path / "out", image="minimal")
    assert (tmp_path / "out" / log.path.name).read_bytes() == log.path.read_bytes()[:end]
    assert any(f"written up to {end}" in note for note in done.notes)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_who_may_read_the_new_archive(mode, tmp_path):
    """Those who may read the one that it is made of."""
    log = Log(tmp_path, TABLE.format(*["PRIMARY KEY"] + [""] * 3))
    log.changed((ROW, ROW | {"a": [1, 1]}))
    log.path.chmod(mode)
    log.rewritten(tmp_path / "new", image="minimal")
    assert (tmp_path / "new" / log.path.name).stat().st_mode & 0o777 == mode


def test_packed_files_become_plain_ones_with_an_index(tmp_path):
    """The index is one as servers have it, and names the archive."""
    log = Log(tmp_path, TABLE.format("PRIMARY KEY", "", "", ""))
    log.changed((ROW, ROW | {"a": [0, 0]}))
    log.writer.rotate(log.path.with_name("binlog.000002"))
    log.writer.close()
    plain = log.path.read_bytes()
    log.path.with_name("binlog.000001.gz").write_bytes(gzip.compress(plain))
    log.path.unlink()
    done = applier.rewrite(log.path.parent, tmp_path / "out", image="minimal")
    assert (done.files[0].name, done.files[0].bytes_before) == ("binlog.000001", len(plain))
    assert (tmp_path / "out" / "binlog.index").read_text() == "./binlog.000001\n./binlog.000002\n"
    replayed = applier.replay(tmp_path / "out" / "binlog.index", tmp_path / "snapshot")
    assert replayed.snapshot.position.gtid_set == done.proof.gtid_set


def test_the_proof_tells_other_rows(tmp_path):
    """RW-PROOF: what leaves other rows is no rewritten archive."""
    paths = []
    for number, value in enumerate((1, 2)):
        (tmp_path / str(number)).mkdir()
        log = Log(tmp_path / str(number), TABLE.format("PRIMARY KEY", "", "", ""))
        with log.writer.transaction():
            log.writer.insert("d.t", {"id": [1], "a": [value], "b": ["x"], "c": [None]})
        log.writer.close()
        paths.append(str(log.path))
    with Replays(RewriteOptions((paths[0],), "", compress=True), Silent()) as replays:
        replays.original()
        replays.rewritten((paths[1],))
        with pytest.raises(ApplierError, match=r"produces different rows .*d\.t"):
            replays.proof()


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_other_states_in_between_are_found(flavour, tmp_path):
    """RW-PROOF: the same counts of changes, and the same rows in the end, but not in between."""
    paths = []
    for number, value in enumerate((7, 7, 8)):
        folder = tmp_path / str(number)
        folder.mkdir()
        log = Log(folder, TABLE.format("PRIMARY KEY", "", "", ""), flavour)
        row = {"id": [1], "a": [1], "b": ["x"], "c": [None]}
        log.changed((row, row | {"a": [value]}))
        log.writer.query("DROP TABLE t", "d")
        log.writer.close()
        paths.append(str(log.path))
    for other, fails in ((1, False), (2, True)):
        with Replays(RewriteOptions((paths[0],), "", compress=True), Silent()) as replays:
            replays.original()
            replays.rewritten((paths[other],))
            if fails:
                with pytest.raises(ApplierError, match=r"different changes at .*d\.t"):
                    replays.proof()
            else:
                assert replays.proof().tables == 0 and replays.notes == []


def test_the_command(tmp_path, capsys):
    """What is written and proven is said; what is there is not written over; something is to be smaller."""
    log = Log(tmp_path, TABLE.format("PRIMARY KEY", "", "", ""))
    log.changed((ROW, ROW | {"a": [0, 0]}))
    log.writer.close()
    words = ["rewrite", "--binlogs", str(log.path), "--output", str(tmp_path / "out")]
    assert cli.main(words) == 2
    assert "give --image, --partial-json, --full-json, --compress" in capsys.readouterr().err
    assert cli.main([*words, "--image", "minimal", "--compress"]) == 0
    printed = capsys.readouterr().out
    assert "1 file, 5 event groups" in printed
    assert "proven: both archives were replayed, with 6 row changes; 1 tables with 0 rows are equal at GTID" in printed
    assert cli.main([*words, "--compress"]) == 2
    assert "the output already exists" in capsys.readouterr().err


def test_large_transactions(tmp_path):
    """Of more bytes than are written at a time, and than three bytes can count."""
    log = Log(tmp_path, TABLE.format("PRIMARY KEY", "", "", ""))
    n = 200_000
    rows = pa.table({"id": range(n), "a": range(n), "b": ["x" * 9] * n, "c": ["y" * 90] * n})
    with log.writer.transaction():
        log.writer.insert("d.t", rows)
    for first in range(0, n, n // 4):
        part = rows.slice(first, n // 4)
        with log.writer.transaction():
            log.writer.update("d.t", part, part.set_column(1, "a", pa.array([7] * part.num_rows, pa.int64())))
    found = log.rewritten(tmp_path / "out", image="minimal", compress=True)
    assert {tuple(after) for before, after in found if before} == {(1,)}

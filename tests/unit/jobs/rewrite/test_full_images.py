"""`applier.rewrite --image full`: what images get, and what they still lack."""

import pyarrow as pa
import pytest

import applier
from applier import cli
from applier.errors import UsageError
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from jsondiff.diff import Diff, Operation
from jsondiff.encode import encode
from jsondiff.path import parse
from jsondiff.wire import encode as diffs_of
from tests.support.rewritten import plain_events, wrong_places

FLAVOURS = pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
ARROW = {"id": pa.int32(), "a": pa.int32(), "b": pa.binary(), "j": pa.binary(), "v": pa.int32()}


class Log:
    """An archive of one table, d.t, whose images have what is given."""

    def __init__(self, folder, columns, flavour="mysql", **options):
        self.path = folder / "log" / "binlog.000001"
        self.path.parent.mkdir()
        self._columns, self._flavour = columns, flavour
        self.writer = BinlogWriter(self.path, flavour=flavour, **options)
        self.writer.query("CREATE DATABASE d")
        self.writer.query(f"CREATE TABLE t ({columns})", "d")
        self.define(columns)

    def define(self, columns):
        [made] = parse_statement(f"CREATE TABLE t ({columns})", default_database="d", flavour=self._flavour)
        self.table = made.definition

    def change(self, before=None, after=None, **options):
        images = [None if image is None else {name: pa.array(values, ARROW[name]) for name, values in image.items()}
                  for image in (before, after)]
        with self.writer.transaction():
            self.writer.rows(RowChanges(self.table, before=images[0], after=images[1], **options))

    def full(self, output, **options):
        """The rows events that are written, and the notes."""
        self.writer.close()
        done = applier.rewrite(self.path.parent, output, image="full", **options)
        assert wrong_places(output / self.path.name) == []
        return events(output / self.path.name), done.notes


def events(path):
    """Of each rows event its kind, the columns of its images by number, and the images."""
    found = []
    for event in plain_events(path):
        if event.name.endswith(("WRITE_ROWS", "UPDATE_ROWS", "DELETE_ROWS", "_ROWS_V1")):
            bitmaps = [bitmap for bitmap in (event.content.before, event.content.after) if bitmap is not None]
            columns = [[n for n in range(event.content.n_columns) if bitmap[n >> 3] >> (n & 7) & 1]
                       for bitmap in bitmaps]
            begin = (9 if event.name.endswith("_V1") else 11) + sum(map(len, bitmaps))
            found.append((event.name, columns, bytes(event.body)[begin:]))
    return found


def reference(folder, columns, changes, flavour="mysql"):
    """The events of a log with these changes, as they are."""
    folder.mkdir()
    log = Log(folder, columns, flavour)
    for change in changes:
        log.change(*change)
    log.writer.close()
    return events(log.path)


COLUMNS = "id INT PRIMARY KEY, a INT, b VARCHAR(9) DEFAULT 'd'"


@FLAVOURS
@pytest.mark.parametrize("compress", [False, True])
def test_images_get_what_they_lack(flavour, compress, tmp_path):
    """RW-FULL: of an insert what a replica fills in, of others what the row has; once more nothing changes."""
    log = Log(tmp_path, COLUMNS, flavour, compress=compress)
    log.change(None, {"id": [1, 2], "a": [10, None]})
    log.change({"id": [1, 2]}, {"b": [b"x", None]})
    log.change({"id": [2]}, {"id": [3]})
    log.change({"id": [3]}, {"a": [7]})
    log.change({"id": [1]})
    found, notes = log.full(tmp_path / "out")
    assert found == reference(tmp_path / "as", COLUMNS, [
        (None, {"id": [1, 2], "a": [10, None], "b": [b"d", b"d"]}),
        ({"id": [1, 2], "a": [10, None], "b": [b"d", b"d"]}, {"id": [1, 2], "a": [10, None], "b": [b"x", None]}),
        ({"id": [2], "a": [None], "b": [None]}, {"id": [3], "a": [None], "b": [None]}),
        ({"id": [3], "a": [None], "b": [None]}, {"id": [3], "a": [7], "b": [None]}),
        ({"id": [1], "a": [10], "b": [b"x"]}, None)], flavour)
    assert notes == ()
    applier.rewrite(tmp_path / "out", tmp_path / "again", image="full")
    assert (tmp_path / "again" / log.path.name).read_bytes() == (tmp_path / "out" / log.path.name).read_bytes()


@FLAVOURS
def test_rows_of_a_base(flavour, tmp_path):
    """RW-FULL, AP-SNAP: what comes before the base stays as it is."""
    log = Log(tmp_path, COLUMNS, flavour)
    log.change(None, {"id": [1], "a": [10]})
    stop = log.path.name, log.writer.position
    log.change({"id": [1]}, {"a": [11]})
    log.writer.close()
    applier.replay(log.path.parent, tmp_path / "base", stop=stop)
    found, _ = log.full(tmp_path / "out", base=tmp_path / "base")
    as_is = reference(tmp_path / "as", COLUMNS, [
        (None, {"id": [1], "a": [10]}),
        ({"id": [1], "a": [10], "b": [b"d"]}, {"id": [1], "a": [11], "b": [b"d"]})], flavour)
    assert found == as_is


def test_rows_without_a_key(tmp_path):
    """RW-FULL: before-images have all columns, and after-images get them."""
    columns = "id INT, a INT, b VARCHAR(9)"
    log = Log(tmp_path, columns)
    row = {"id": [1, 1], "a": [2, 2], "b": [b"x", b"x"]}
    log.change(None, row)
    log.change({name: values[:1] for name, values in row.items()}, {"a": [3]})
    found, _ = log.full(tmp_path / "out")
    assert found == reference(tmp_path / "as", columns, [
        (None, row), ({"id": [1], "a": [2], "b": [b"x"]}, {"id": [1], "a": [3], "b": [b"x"]})])


def test_rows_below_an_alter(tmp_path):
    """RW-FULL: the values that a statement made of the rows."""
    log = Log(tmp_path, COLUMNS)
    log.change(None, {"id": [1], "a": [10]})
    log.writer.query("ALTER TABLE t ADD v INT DEFAULT 5", "d")
    log.define(f"{COLUMNS}, v INT DEFAULT 5")
    log.change({"id": [1]}, {"a": [11]})
    found, _ = log.full(tmp_path / "out")
    whole = {"id": [1], "a": [10], "b": [b"d"], "v": [5]}
    assert found[1:] == reference(tmp_path / "as", f"{COLUMNS}, v INT DEFAULT 5", [(whole, whole | {"a": [11]})])


def test_documents_with_diffs(tmp_path):
    """RW-FULL, JD-WIRE: the document after the diffs that came to it, in which DECIMALs and the like are what they
    were; a diff stays one."""
    columns, first = "id INT PRIMARY KEY, j JSON, a INT", encode({"k": "long" * 20, "n": 1})
    diff = diffs_of([Diff(Operation.REPLACE, parse("$.n"), 2)])
    log = Log(tmp_path, columns)
    log.change(None, {"id": [1], "j": [first], "a": [0]})
    log.change({"id": [1]}, {"j": [diff]}, diffs=("j",))
    log.change({"id": [1]}, {"j": [diff], "a": [4]}, diffs=("j",))
    log.change({"id": [1]}, {"a": [5]})
    log.change({"id": [1]})
    found, notes = log.full(tmp_path / "out")
    assert notes == ()
    after = encode({"k": "long" * 20, "n": 2})
    assert [name for name, _, _ in found] == ["WRITE_ROWS", "PARTIAL_UPDATE_ROWS", "PARTIAL_UPDATE_ROWS", "UPDATE_ROWS",
                                           "DELETE_ROWS"]
    assert found[3:] == reference(tmp_path / "as", columns, [
        ({"id": [1], "j": [after], "a": [4]}, {"id": [1], "j": [after], "a": [5]}),
        ({"id": [1], "j": [after], "a": [5]}, None)])
    for (_, _, body), document in zip(found[1:3], (first, after), strict=True):
        assert document in body
        assert diff in body


def test_what_a_base_does_not_tell_stays_away(tmp_path):
    """RW-FULL: a snapshot has documents as text, which says not all types. A line says so; other columns come."""
    columns = "id INT PRIMARY KEY, j JSON, a INT, v INT AS (a + 1) VIRTUAL"
    log = Log(tmp_path, columns)
    log.change(None, {"id": [1, 2], "j": [encode({"n": 1}), None], "a": [0, 0]})
    stop = log.path.name, log.writer.position
    log.change({"id": [1]}, {"a": [1]})
    log.change({"id": [2]}, {"a": [1]})
    log.writer.close()
    applier.replay(log.path.parent, tmp_path / "base", stop=stop)
    found, notes = log.full(tmp_path / "out", base=tmp_path / "base")
    assert found[1:] == reference(tmp_path / "as", columns, [
        ({"id": [1], "a": [0]}, {"id": [1], "a": [1]}),
        ({"id": [2], "j": [None], "a": [0]}, {"id": [2], "j": [None], "a": [1]})])
    [note] = [note for note in notes if "lack" in note]
    assert note == "d.t: images still lack j (1 change), v (2 changes), which neither the log nor the base tells to " \
                   "the byte"


def test_mariadb_tables_with_virtual_columns_stay(tmp_path):
    """A replica does not compute them; a line names the table."""
    log = Log(tmp_path, "id INT PRIMARY KEY, a INT, v INT AS (a + 1) VIRTUAL", "mariadb")
    log.change(None, {"id": [1], "a": [0], "v": [1]})
    log.change({"id": [1]}, {"a": [1], "v": [2]})
    log.writer.close()
    before = events(log.path)
    found, notes = log.full(tmp_path / "out")
    assert found == before
    assert any("d.t" in note and "stay as they are" in note for note in notes)


def test_large_events(tmp_path):
    """An event becomes larger than what is written at a time."""
    log = Log(tmp_path, "id INT PRIMARY KEY, b MEDIUMBLOB, a INT")
    n = 300
    log.change(None, {"id": range(n), "b": [b"x" * 60_000] * n, "a": [0] * n})
    log.change({"id": range(n)}, {"a": [1] * n})
    found, _ = log.full(tmp_path / "out", compress=True)
    assert sum(len(images) for name, _, images in found if name == "UPDATE_ROWS") > 2 * n * 60_000


def test_the_command(tmp_path, capsys):
    """Full images are no smaller, so they go with no diffs."""
    log = Log(tmp_path, COLUMNS)
    log.change(None, {"id": [1]})
    log.writer.close()
    words = ["rewrite", "--binlogs", str(log.path), "--output", str(tmp_path / "out"), "--image", "full"]
    assert cli.main([*words, "--partial-json"]) == 2
    assert "leave out one of them" in capsys.readouterr().err
    assert cli.main(words) == 0
    assert "1 file" in capsys.readouterr().out
    with pytest.raises(UsageError):
        applier.rewrite(log.path.parent, tmp_path / "other", image="full", partial_json=True)

"""`applier publish --iceberg NAME`: a catalog of AWS Glue, as moto's server plays it, with its tables on S3."""

from datetime import timedelta

import pyiceberg.catalog
import pytest
from pyiceberg.utils.config import Config

import applier
from applier.errors import AnotherRun
from applier.jobs.publish.iceberg import commits as own
from tests.support import iceberg_readers as readers
from tests.support.object_store import object_store


@pytest.fixture
def glue(tmp_path, monkeypatch):
    """How readers open the catalog, whose name is `glue` in pyiceberg's configuration."""
    with object_store("lake") as endpoint:
        (tmp_path / ".pyiceberg.yaml").write_text("catalog:\n  glue:\n" + "".join(
            f"    {name}: {value}\n" for name, value in {
                "type": "glue", "warehouse": "s3://lake/warehouse", "s3.endpoint": endpoint, "s3.region": "us-east-1",
            }.items()))
        monkeypatch.setenv("PYICEBERG_HOME", str(tmp_path))
        monkeypatch.setattr("pyiceberg.catalog._ENV_CONFIG", Config())  # it is read at the import
        yield lambda: pyiceberg.catalog.load_catalog("glue")


@pytest.fixture
def follow(tmp_path, log):
    """Makes the lake's next version of what the log has now."""
    numbers = iter(range(2, 100))

    def run():
        log.rotate(tmp_path / f"binlog.{next(numbers):06}")
        return applier.replay(sorted(tmp_path.glob("binlog.*"))[:-1], lake="s3://lake/shop", merge_on_read=True,
                              engine="local").snapshot
    return run


def rows(catalog, snapshot):
    """What the catalog's tables have: as the snapshot's."""
    tables = {".".join(name): catalog.load_table(name) for namespace in catalog.list_namespaces()
              for name in catalog.list_tables(namespace)}
    found = {name: readers.cells(readers.with_pyiceberg(table)) for name, table in tables.items()}
    assert found == {name: readers.cells(table.to_arrow()) for name, table in snapshot.tables.items()}
    return tables


def test_tables_follow(log, follow, glue):
    """Rows, columns, names and tags; one table after the other. Tables keep the numbers of their columns."""
    first = follow()
    made = applier.publish("s3://lake/shop", iceberg="glue", tag="daily")
    assert (made.together, made.rows_together) == (False, False) and {one.change for one in made.tables} == {"created"}
    rows(glue(), first)
    with log.transaction():
        log.update("d.t", before={"id": [1], "v": ["a"]}, after={"id": [1], "v": ["c"]})
        log.insert("d.u", {"id": [7]})
    second = follow()
    applier.publish("s3://lake/shop", iceberg="glue")
    tables = rows(glue(), second)
    assert tables["d.t"].snapshot_by_name("daily").summary["mysql.position"] == made.position
    log.query("ALTER TABLE t RENAME COLUMN v TO w, ADD COLUMN n INT FIRST", "d")
    log.query("RENAME TABLE t TO moved", "d")
    log.query("DROP TABLE u", "d")
    third = follow()
    changed = applier.publish("s3://lake/shop", iceberg="glue")
    assert {(one.name, one.change, one.renamed_from) for one in changed.tables} == {
        ("d.moved", "changed", "d.t"), ("d.u", "dropped", None)}
    tables = rows(glue(), third)
    fields = tables["d.moved"].schema().fields
    assert [(field.field_id, field.name) for field in fields] == [(4, "n"), (1, "id"), (2, "w")]
    properties = glue().load_namespace_properties("d")
    assert (properties["applier.complete"], properties["mysql.position"]) == ("true", changed.position)
    assert [one.name for one in applier.published(iceberg="glue").tables] == ["d.moved"]


@pytest.mark.thorough
def test_orphans_on_s3(log, follow, glue, monkeypatch):
    """Only what nothing names goes, however young the rest is."""
    follow()
    applier.publish("s3://lake/shop", iceberg="glue")
    with log.transaction():
        log.update("d.t", before={"id": [1], "v": ["a"]}, after={"id": [1], "v": ["c"]})
    second = follow()
    applier.publish("s3://lake/shop", iceberg="glue")
    table, lost = glue().load_table(("d", "t")), []
    for name in ("metadata/lost.avro", "data/lost.deletes.parquet"):
        with table.io.new_output(f"{table.location()}/{name}").create() as stream:
            stream.write(b"?")
        lost.append(f"{table.location()}/{name}")
    assert applier.fsck("s3://lake/shop", iceberg="glue", quick=True, remove_orphans=True).orphans == (*lost[::-1],)
    monkeypatch.setattr("applier.jobs.publish.job.GRACE", timedelta(hours=-1))
    found = applier.fsck("s3://lake/shop", iceberg="glue", quick=True, remove_orphans=True)
    assert (found.orphans, found.removed) == ((), (*lost[::-1],))
    rows(glue(), second)
    assert applier.fsck("s3://lake/shop", iceberg="glue").damaged == ()


def test_of_two_publications_one_wins(log, follow, glue, monkeypatch):
    follow()
    applier.publish("s3://lake/shop", iceberg="glue")
    with log.transaction():
        log.insert("d.u", {"id": [7]})
    made, commit = follow(), own.commit

    def after_another(*arguments):
        monkeypatch.setattr("applier.jobs.publish.iceberg.publication.commit", commit)
        applier.publish("s3://lake/shop", iceberg="glue")
        return commit(*arguments)

    monkeypatch.setattr("applier.jobs.publish.iceberg.publication.commit", after_another)
    with pytest.raises(AnotherRun, match="the catalog has changed meanwhile"):
        applier.publish("s3://lake/shop", iceberg="glue")
    rows(glue(), made)

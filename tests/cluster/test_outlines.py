"""Outlines that Spark's tasks make, as on a cluster: those of this process."""

import shutil
from concurrent.futures import Future

import pytest

from applier.binlog.outline.outline import OutlineTask
from applier.binlog.outline.samples import sample_bytes
from applier.engine.executor import ThisProcess
from applier.engine.spark import executor
from applier.engine.spark.executor import OnSpark
from applier.errors import ArchiveError
from applier.schema.history.relevance import Relevance
from applier.schema.table_filter import EVERYTHING
from tests.support.folders import CASES

FILES = sorted((CASES / "many-files-mysql").glob("binlog.0*"))


@pytest.fixture(params=[1, 64])
def elsewhere(spark, monkeypatch, request):
    monkeypatch.setattr(executor, "GROUP_FILES", request.param)
    monkeypatch.setattr(executor, "is_local", lambda master: False)
    session = Future()
    session.set_result(spark)
    return OnSpark(session, "local[2]", print)


def tasks(files):
    return [OutlineTask(str(file), sample_bytes=sample_bytes(0, 1 << 40), relevance=Relevance(EVERYTHING.wanted))
            for file in files]


def test_a_task_outlines_one_file_or_several(elsewhere):
    """And progress counts files."""
    told = []
    found = elsewhere.outline(tasks(FILES), lambda *done: told.append(done))
    assert found == ThisProcess().outline(tasks(FILES), lambda *_: None) and len(found) > 2
    assert told[-1] == (len(FILES), len(FILES)) and all(total == len(FILES) for _, total in told)
    assert elsewhere.outline([], lambda *_: None) == []


def test_the_error_is_that_of_the_first_file_that_has_one(elsewhere, tmp_path):
    files = [tmp_path / file.name for file in FILES]
    for number, (file, copy) in enumerate(zip(FILES, files, strict=True)):
        shutil.copy(file, copy)
        if number in (1, len(FILES) - 1):
            data = bytearray(file.read_bytes())
            data[-40] ^= 1
            copy.write_bytes(data)
    with pytest.raises(ArchiveError) as error:
        elsewhere.outline(tasks(files), lambda *_: None)
    assert error.value.file == str(files[1])

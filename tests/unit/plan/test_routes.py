"""When changes are shuffled and not walked to."""

import dataclasses

from applier.plan import tasks
from applier.plan.tasks import log_segments, prefers_shuffle, walking_tasks
from tests.support.planning import Log, plan, table

T, U = table("t"), table("u")


def test_a_compressed_log_is_decoded_once_where_tasks_would_keep_too_much_of_it(tmp_path, monkeypatch):
    """What comes out of compressed events is in memory, not in a mapped file."""
    with Log(tmp_path / "b.000001") as log:
        for definition in (T, U):
            log.create(definition)
            log.insert(definition, *range(1000))
    span, _, versions = plan(tmp_path, [log.path])
    walks = walking_tasks(log_segments(span, versions), versions, 2)
    monkeypatch.setattr(tasks, "TASK_BYTES", 5_000)
    assert len(walks) == 2 and not prefers_shuffle(span, walks, versions)
    rows = span.outlines[0].row_bytes
    for inflated, shuffles in ((rows, True), (rows // 10, False)):
        outline = dataclasses.replace(span.outlines[0], inflated_bytes=inflated)
        compressed = dataclasses.replace(span, outlines=(outline,))
        assert prefers_shuffle(compressed, walks, versions) == shuffles
    assert not prefers_shuffle(compressed, walks[:1], versions)

"""A catalog of Iceberg holds what the published version of a lake that merges on read holds, whichever versions are
published in which order."""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import applier
from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.snapshot.lakes import version_name
from tests.support import iceberg_readers as readers
from tests.support.examples import examples
from tests.support.held_rows import held
from tests.support.histories import write_history
from tests.support.merging import mergings


@settings(max_examples=examples(8), suppress_health_check=list(HealthCheck))
@given(st.data(), mergings)
def test_versions_in_any_order(data, sizes):
    with tempfile.TemporaryDirectory() as name, sizes:
        folder = Path(name)
        history = write_history(data.draw, folder)
        ends = sorted(data.draw(st.sets(st.integers(0, len(history.states) - 1), min_size=2, max_size=8)))
        for number in ends:
            replay_with(ThisProcess(1), ReplayOptions(
                tuple(map(str, history.files)), stop_position=history.states[number][0], file_bytes=2000,
                lake=f"{folder}/lake", merge_on_read=True))
        order = data.draw(st.lists(st.integers(1, len(ends)), min_size=1, max_size=5)) + list(range(1, len(ends) + 1))
        for number in order:
            version = f"{folder}/lake/_versions/{version_name(number)}"
            applier.publish(version, iceberg=f"sqlite:///{folder}/catalog.db")
            catalog, rows = readers.catalog(folder), dict(held(version))
            assert readers.names(folder) == {".".join(table) for table in rows}
            for table, expected in rows.items():
                assert readers.cells(readers.with_pyiceberg(catalog.load_table(table))) == readers.cells(expected)

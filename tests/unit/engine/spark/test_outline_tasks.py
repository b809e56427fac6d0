"""Tasks of a cluster that outline files go by work: bytes and files."""

import pytest

from applier.binlog.outline.outline import OutlineTask
from applier.engine.spark.executor import GROUP_BYTES, GROUP_FILES, groups_by_work

MB = 1 << 20


@pytest.mark.parametrize("sizes, groups", [
    ([], []),
    ([1] * 10_000, [GROUP_FILES] * (10_000 // GROUP_FILES) + [10_000 % GROUP_FILES]),
    ([0] * (GROUP_FILES + 1), [GROUP_FILES, 1]),
    ([1024 * MB, 1024 * MB], [1, 1]),
    ([30 * MB, 30 * MB, 30 * MB, 100 * MB, MB, MB], [2, 1, 1, 2])])
def test_groups_of_files(sizes, groups):
    tasks = [OutlineTask(str(number), size=size) for number, size in enumerate(sizes)]
    found = groups_by_work(tasks)
    assert [len(group) for group in found] == groups and [task for group in found for task in group] == tasks
    assert all(len(group) == 1 or sum(task.size for task in group) <= GROUP_BYTES for group in found)

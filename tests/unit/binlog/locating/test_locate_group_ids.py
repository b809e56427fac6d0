"""Groups by their ids (GRP-3)."""

import pytest

from applier.binlog.locating.targets import ByGroupId
from applier.errors import ArchiveError
from tests.support.folders import CASES
from tests.support.group_id_logs import with_group_ids
from tests.support.plain_reading import find, read_plainly


def test_group_ids(way, tmp_path):
    """GRP-3, GRP-4."""
    following = 1000
    for file in sorted((CASES / "many-files-mysql").glob("binlog.0*")):
        following = with_group_ids(file, tmp_path / file.name, following)
    way(tmp_path)
    groups = read_plainly(CASES / "many-files-mysql")
    assert following == 1000 + len(groups)
    for number, group in enumerate(groups):
        [found] = find(tmp_path, ByGroupId(1000 + number))
        assert (found.file, found.gtid, found.group_id) == (group.file, group.gtid, 1000 + number)
    with pytest.raises(ArchiveError, match="id 999 is not"):
        find(tmp_path, ByGroupId(999))


def test_logs_without_group_ids():
    with pytest.raises(ArchiveError, match="have no group ids"):
        find(CASES / "many-files-mysql", ByGroupId(7))

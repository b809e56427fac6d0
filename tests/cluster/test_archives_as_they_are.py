"""Packed and encrypted logs in Spark's tasks: their workers make plain copies and read the keys."""

import pytest

from applier import cli
from tests.recorded.archives.demo_digest import ARCHIVE, expected, held
from tests.support.folders import RECORDED
from tests.support.packing import pack_archive
from tests.support.real_server import differences

pytestmark = pytest.mark.usefixtures("spark")

ON_SPARK = ["--engine", "spark", "--master", "local[2]"]


@pytest.mark.by_turns("route")
@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_packed_logs(route, tmp_path):
    pack_archive(ARCHIVE.glob("binlog.0*"), tmp_path / "logs", ["zstd", "gzip", None])
    assert cli.main(["replay", "--binlogs", str(tmp_path / "logs"), "--output", str(tmp_path / "out"), *ON_SPARK,
                     "--route", route]) == 0
    assert held(tmp_path / "out") == expected("end")


@pytest.mark.by_turns("route", one_in=2)
@pytest.mark.parametrize("name, option", [("mysql", "--keyring"), ("mariadb-aes_cbc", "--key-file")])
@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_encrypted_logs(name, option, route, tmp_path):
    folder = RECORDED / "encrypted" / name
    keys = [word for part in ("first", "second") for word in (option, str(folder / f"keys.{part}"))]
    assert cli.main(["replay", "--binlogs", str(folder), "--output", str(tmp_path / "out"), *ON_SPARK,
                     "--route", route, *keys]) == 0
    assert differences(tmp_path / "out", folder / "expected") == []

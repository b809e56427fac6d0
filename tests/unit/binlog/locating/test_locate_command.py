"""`applier locate` and `applier index`."""

from applier import cli
from tests.support.plain_reading import read_plainly


def test_the_commands(archive, capsys):
    group = read_plainly(archive)[5]
    assert cli.main(["locate", "--gtid", group.gtid, "--binlogs", str(archive)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[:3] == [f"start    {group.file}:{group.start}", f"end      {group.file}:{group.end}",
                       f"GTID     {group.gtid}"]
    assert out[3:] == ["time     2023-11-14 22:15:20 UTC", f"xid      {group.xid}"]
    assert cli.main(["index", str(archive)]) == 0
    assert "describes 5 files" in (said := capsys.readouterr().out) and "; 0 were read" in said
    for argv, code in [(["--xid", "77777"], 2), ([], 2), (["--gtid", "x"], 2), (["--group-id", "1"], 2)]:
        assert cli.main(["locate", "--binlogs", str(archive), *argv]) == code
    assert cli.main(["locate", "--binlogs", str(archive), "--datetime", "2023-11-14T22:15:20+00:00"]) == 0
    assert f"start    {read_plainly(archive)[5].file}:" in capsys.readouterr().out

"""Which server is connected to, and for how long one is waited for."""

import socket
import time
from contextlib import nullcontext

import pymysql
import pytest

import applier
from applier import cli
from applier.errors import NotInstalled, UsageError
from applier.jobs.server import connection
from applier.jobs.server.connection import ServerAddress, allow_long_answers, connect
from tests.support.login_server import SLOW, LoginServer


@pytest.fixture
def nobody():
    """A port where nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        yield free.getsockname()[1]


@pytest.mark.parametrize("verb", ["archive", "verify"])
@pytest.mark.parametrize("line", ["socket=PATH", "loose-socket = 'PATH'", "host=localhost\nsocket=PATH"])
def test_a_socket_of_the_option_file_is_not_asked_for_a_host(verb, line, nobody, tmp_path, snapshot, capsys):
    """Another server would be archived, or be called the same."""
    options = tmp_path / "my.cnf"
    with LoginServer(path=str(tmp_path / "s"), is_cached=True) as other:
        options.write_text("[client]\n" + line.replace("PATH", str(other.path)))
        url = f"mysql://me@127.0.0.1:{nobody}"
        words = ["verify", snapshot, "--server", url]
        if verb == "archive":
            words = ["archive", "--source", url, "--output", str(tmp_path / "out"), "--until-now"]
        assert cli.main([*words, "--defaults-file", str(options)]) == 2
    assert f"127.0.0.1:{nobody} cannot be reached" in capsys.readouterr().err and not other.connections


@pytest.fixture
def snapshot(tmp_path):
    """Any: the server is asked before it is read."""
    from tests.support.folders import CASES

    made = applier.replay(str(CASES / "many-files-mysql"), tmp_path / "snapshot", engine="local")
    return made.snapshot.uri


def test_errors_name_what_was_connected_to(tmp_path, nobody):
    (tmp_path / "my.cnf").write_text(f"[client]\nhost=127.0.0.1\nport={nobody}\n")
    with pytest.raises(UsageError, match=f"127.0.0.1:{nobody} cannot be reached: .*refused") as refused:
        connect(ServerAddress.parse("mysql://me@", str(tmp_path / "my.cnf")), "", {})
    assert refused.value.mysql_errno == 2003
    with pytest.raises(UsageError, match=rf"{tmp_path}/none cannot be reached.* 127\.0\.0\.1 means TCP"):
        connect(ServerAddress.parse(f"mysql://me@?socket={tmp_path}/none"), "", {})
    with pytest.raises(UsageError, match=r"a\.\.b:3306 cannot be reached"):
        connect(ServerAddress.parse("mysql://me@a..b"), "", {})


def test_a_server_that_says_nothing(monkeypatch, tmp_path):
    """It is not waited for without end."""
    monkeypatch.setattr(connection, "ANSWER_SECONDS", 0.2)
    for path in (None, str(tmp_path / "s")):
        with LoginServer(is_silent=True, path=path) as server:
            where = f"127.0.0.1:{server.port}" if path is None else f"?socket={path}"
            began = time.monotonic()
            with pytest.raises(UsageError, match=r"timed out|Lost connection"):
                connect(ServerAddress.parse(f"mysql://me@{where}"), "", {})
            assert time.monotonic() - began < 10


def test_a_server_that_says_little_at_a_time(monkeypatch):
    """A byte now and then does not make a login longer."""
    monkeypatch.setattr(connection, "ANSWER_SECONDS", 0.3)
    with LoginServer(drips_every=0.1) as server:
        began = time.monotonic()
        with pytest.raises(UsageError, match="Lost connection"):
            connect(ServerAddress.parse(f"mysql://me@127.0.0.1:{server.port}"), "", {})
        assert time.monotonic() - began < 5


def test_an_old_version_of_pymysql(monkeypatch):
    """It hands out passwords before any plugin is asked."""
    monkeypatch.setattr(pymysql, "VERSION", (1, 2, 0, "final"))
    with LoginServer() as server, pytest.raises(NotInstalled, match="too old"):
        connect(ServerAddress.parse(f"mysql://me@127.0.0.1:{server.port}"), "", {})
    assert not server.connections


def test_an_answer_about_a_table_may_take_longer(monkeypatch):
    monkeypatch.setattr(connection, "ANSWER_SECONDS", 0.2)
    for is_allowed in (False, True):
        with LoginServer(is_cached=True) as server:
            connected, errors = connect(ServerAddress.parse(f"mysql://me@127.0.0.1:{server.port}"), "", {})
            if is_allowed:
                allow_long_answers(connected)
            with nullcontext() if is_allowed else pytest.raises(errors, match="timed out"):
                connected.query(SLOW)

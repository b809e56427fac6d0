"""The address decides which server is asked; an option file says what it leaves out."""

import pytest

from applier.errors import UsageError
from applier.jobs.server.address import ServerAddress

FILE = "[client]\nhost=other\nport=3307\nsocket=/other.sock\nuser=other\npassword=secret\n"


@pytest.fixture
def parse(tmp_path, monkeypatch):
    for variable in ("MYSQL_PWD", "MYSQL_UNIX_PORT"):
        monkeypatch.delenv(variable, raising=False)

    def parsed(url, file=None):
        if file is not None:
            (tmp_path / "my.cnf").write_text(file)
        return ServerAddress.parse(url, None if file is None else str(tmp_path / "my.cnf"))

    return parsed


@pytest.mark.parametrize(("url", "file", "where"), [
    ("mysql://me@db1", None, "db1:3306"),
    ("mysql://me@db1/", None, "db1:3306"),
    ("mariadb://me@[::1]:5", None, "[::1]:5"),
    ("mysql://me@db1:1", FILE, "db1:1"),
    ("mysql://me@127.0.0.1:1", FILE, "127.0.0.1:1"),
    ("mysql://me@db1", FILE, "db1:3307"),
    ("mysql://", FILE, "other:3307"),
    ("mysql://me@:9", FILE, "other:9"),
    ("mysql://me@localhost", FILE, "/other.sock"),
    ("mysql://me@localhost:1", FILE, "localhost:1"),
    ("mysql://me@?socket=%2Ftmp%2Fa%20b%26c.sock", FILE, "/tmp/a b&c.sock"),
    ("mysql://me@localhost?socket=/a.sock", FILE, "/a.sock"),
    ("mysql://", "[client]\nsocket=/other.sock\n", "/other.sock"),
    ("mysql://", "[client]\nhost=localhost\nport=3307\nsocket=/other.sock\n", "/other.sock"),
    ("mysql://localhost", FILE + "protocol=TCP\n", "localhost:3307"),
    ("mysql://db1", FILE + "protocol=SOCKET\n", "db1:3307"),
    ("mysql://", "[client]\nhost=127.0.0.1\nsocket=/other.sock\n", "127.0.0.1:3306"),
])
def test_what_the_address_says_wins(url, file, where, parse):
    """And messages name what is asked."""
    assert str(parse(url, file)) == where


def test_localhost_without_a_socket_in_the_file(parse, monkeypatch):
    """The variable that the servers' clients read, or the path of the servers' packages."""
    assert parse("mysql://me@localhost").socket in ("/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock")
    monkeypatch.setenv("MYSQL_UNIX_PORT", "/variable.sock")
    assert parse("mysql://me@localhost").socket == "/variable.sock"


def test_who_asks(parse, monkeypatch):
    """The user of the address wins. The password of the file wins, as for the servers' clients: the one of the
    environment could be another server's."""
    assert parse("mysql://a%40b@db1", FILE).user == "a@b"
    assert parse("mysql://db1", FILE).user == "other"
    assert parse("mysql://db1").user is None
    monkeypatch.setenv("MYSQL_PWD", "pässword")
    assert parse("mysql://db1").password == "pässword".encode()
    assert parse("mysql://db1", FILE).password == b"secret"
    assert "secret" not in repr(parse("mysql://db1", FILE))


@pytest.mark.parametrize("url", [
    "http://h", "mysql://h:port", "mysql://h:0", "mysql://h/db", "mysql://h#x", "h:3306", "mysql://h?ssl=0",
    "mysql://?socket=", "mysql://?socket=/a&socket=/b", "mysql://?socket=%00", "mysql://a%0ab@h", "mysql://%ff@h",
    "mysql://h\x1b[31m",
])
def test_an_address_that_is_not_understood(url, parse):
    with pytest.raises(UsageError, match="server address is not valid"):
        parse(url)


@pytest.mark.parametrize("url", ["mysql://h?socket=/a", "mysql://localhost:1?socket=/a"])
def test_a_host_and_a_socket(url, parse):
    with pytest.raises(UsageError, match="both a host and a socket"):
        parse(url)


def test_a_password_in_the_address(parse):
    with pytest.raises(UsageError, match="contains a password") as refused:
        parse("mysql://a:hunter2@h")
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(("host", "is_here"), [
    ("localhost:1", True), ("127.0.0.1", True), ("127.9.9.9", True), ("[::1]", True), ("?socket=/a", True),
    ("localhost.example.org", False), ("0.0.0.0", False), ("10.0.0.1", False), ("[::ffff:127.0.0.1]", False),
])
def test_what_is_on_this_machine(host, is_here, parse):
    assert parse(f"mysql://me@{host}").is_on_this_machine == is_here


@pytest.mark.parametrize(("line", "said"), [
    ("port=99999", "not a port"), ("port=33o6", "not a port"), ("protocol=PIPE", "neither TCP nor SOCKET"),
    ("server-public-key-path=/no/such/key", "no such file"),
])
def test_words_that_cannot_be_followed(line, said, parse):
    with pytest.raises(UsageError, match=said):
        parse("mysql://db1", f"[client]\n{line}\n")


def test_a_public_key(parse, tmp_path):
    """It is checked before anybody is asked."""
    (tmp_path / "key.pem").write_text("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n")
    with pytest.raises(UsageError, match="RSA public key"):
        parse("mysql://db1", f"[client]\nserver-public-key-path={tmp_path}/key.pem\n")

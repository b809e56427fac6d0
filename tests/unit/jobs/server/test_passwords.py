"""A server that asks for a password gets it only over a connection that protects it."""

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from applier.errors import UsageError
from applier.jobs.server.connection import ServerAddress, connect
from tests.support.login_server import LoginServer, make_certificate, make_revocations

PASSWORD = "pässwörd€𝄞"
ELSEWHERE = "0.0.0.0"
"""It leads to this machine, but does not look so."""
CLEAR = ("mysql_clear_password", "dialog")
SHA2 = ("caching_sha2_password", "sha256_password")


@pytest.fixture
def log_in(tmp_path, monkeypatch):
    """Log in to a server, with these lines in the option file."""
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)

    def logged_in(server, *lines, host="127.0.0.1"):
        (tmp_path / "my.cnf").write_text("\n".join(["[client]", *lines]))
        where = f"{host}:{server.port}" if server.path is None else f"?socket={server.path}"
        connection, _ = connect(ServerAddress.parse(f"mysql://me@{where}", str(tmp_path / "my.cnf")), "", {})
        connection.close()

    return logged_in


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificates")
    return {host: make_certificate(folder / f"{host}.pem", host) for host in ("127.0.0.1", "db1")}


@pytest.mark.parametrize("plugin", CLEAR)
@pytest.mark.parametrize(("has_tls", "lines"), [
    (False, []), (True, []), (True, ["ssl-mode=REQUIRED"]), (True, ["ssl"]), (True, ["skip-ssl"]),
    (True, ["disable-ssl-verify-server-cert", "ssl"]),
])
def test_the_password_itself_needs_a_verified_certificate(plugin, has_tls, lines, log_in, certificates):
    certificate = certificates["127.0.0.1"] if has_tls else None
    with LoginServer(switches_to=plugin, certificate=certificate) as server, \
            pytest.raises(UsageError, match=f"{plugin}.* not verified") as refused:
        log_in(server, *lines)
    assert not server.learned and PASSWORD not in str(refused.value)
    assert f"127.0.0.1:{server.port}" in str(refused.value)


@pytest.mark.parametrize("plugin", CLEAR)
def test_a_socket_has_no_certificate(plugin, log_in, tmp_path):
    with LoginServer(switches_to=plugin, path=str(tmp_path / "s")) as server, pytest.raises(UsageError, match=plugin):
        log_in(server)
    assert not server.learned


@pytest.mark.parametrize("plugin", CLEAR + SHA2)
@pytest.mark.parametrize("mode", ["VERIFY_CA", "VERIFY_IDENTITY"])
def test_a_server_with_a_verified_certificate_gets_it(plugin, mode, log_in, certificates):
    """As UTF-8, as the servers' clients send it."""
    with LoginServer(switches_to=plugin, certificate=certificates["127.0.0.1"]) as server:
        log_in(server, f"ssl-ca={certificates['127.0.0.1']}", f"ssl-mode={mode}")
    assert server.learned == [PASSWORD.encode()]


@pytest.mark.parametrize("plugin", CLEAR + SHA2)
@pytest.mark.parametrize(("lines", "said"), [
    (["ssl-ca=MINE"], "Hostname mismatch|IP address mismatch|self-signed|not valid"),
    (["ssl-ca=OTHER"], "self-signed|certificate"),
    (["ssl-mode=VERIFY_CA", "ssl-ca=OTHER"], "self-signed|certificate"),
    (["ssl-verify-server-cert"], "self-signed"),
    (["loose_ssl_verify_server_cert=ON"], "self-signed"),
])
def test_an_impostor_with_a_certificate(plugin, lines, said, log_in, certificates):
    """One for another host, or that nobody signed: nothing is sent to it, not even the user's name."""
    files = {"MINE": certificates["db1"], "OTHER": certificates["127.0.0.1"]}
    lines = [line.replace(name, str(path)) for line in lines for name, path in files.items() if name in line] or lines
    if "ssl-mode" in lines[0]:
        lines.append("ssl-mode=VERIFY_CA")
    with LoginServer(switches_to=plugin, certificate=certificates["db1"]) as server, \
            pytest.raises(UsageError, match=said) as refused:
        log_in(server, *lines)
    assert not server.logins and not server.learned and "ssl-ca" in str(refused.value)


def test_a_revoked_certificate(log_in, certificates, tmp_path):
    lines = [f"ssl-ca={certificates['127.0.0.1']}", f"ssl-crl={tmp_path}/crl.pem"]
    with LoginServer(certificate=certificates["127.0.0.1"]) as server:
        make_revocations(tmp_path / "crl.pem", "127.0.0.1", is_revoked=True)
        with pytest.raises(UsageError, match="revoked"):
            log_in(server, *lines)
        assert not server.logins
        make_revocations(tmp_path / "crl.pem", "127.0.0.1", is_revoked=False)
        log_in(server, *lines)
    assert server.learned == [PASSWORD.encode()]


@pytest.mark.parametrize("lines", [["ssl"], ["ssl-mode=REQUIRED"], ["ssl-verify-server-cert"], ["ssl-ca=CA"],
                                   ["ssl-cert=CA"], ["tls-version=TLSv1.3"]])
def test_tls_that_is_asked_for_is_not_stripped(lines, log_in, certificates):
    with LoginServer() as server, pytest.raises(UsageError, match="SSL is required"):
        log_in(server, *[line.replace("CA", str(certificates["db1"])) for line in lines])
    assert not server.logins and not server.learned


@pytest.mark.parametrize("plugin", SHA2)
@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("lines", [[], ["skip-ssl"]])
def test_without_tls_a_servers_key_is_not_trusted(plugin, is_first, lines, log_in):
    """Whoever took TLS away could have made the key."""
    plugins = {"plugin": plugin} if is_first else {"plugin": "mysql_native_password", "switches_to": plugin}
    with LoginServer(**plugins) as server, pytest.raises(UsageError, match=f"{plugin}, .* not encrypted") as refused:
        log_in(server, *lines, host=ELSEWHERE)
    assert not server.learned and "get-server-public-key" in str(refused.value)


@pytest.mark.parametrize("plugin", SHA2)
@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize(("host", "lines"), [("127.0.0.1", []), (ELSEWHERE, ["get-server-public-key"])])
def test_where_a_servers_key_is_good_enough(plugin, is_first, host, lines, log_in):
    plugins = {"plugin": plugin} if is_first else {"plugin": "mysql_native_password", "switches_to": plugin}
    with LoginServer(**plugins) as server:
        log_in(server, *lines, host=host)
    assert server.learned == [PASSWORD.encode()]


@pytest.mark.parametrize("plugin", SHA2)
def test_a_key_of_ones_own(plugin, log_in, tmp_path):
    """It is used, whichever key the server sends."""
    path = tmp_path / "key.pem"
    with LoginServer(plugin) as server:
        path.write_bytes(server.public_key)
        log_in(server, f"server-public-key-path={path}", host=ELSEWHERE)
    assert server.learned == [PASSWORD.encode()]
    other = rsa.generate_private_key(65537, 2048).public_key()
    path.write_bytes(other.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo))
    with LoginServer(plugin) as server:
        with pytest.raises(UsageError):
            log_in(server, f"server-public-key-path={path}", host=ELSEWHERE)
        assert server.connections == 1
    assert not server.learned


@pytest.mark.parametrize("plugin", SHA2)
@pytest.mark.parametrize("key", [b"nonsense", b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"])
def test_a_key_that_is_none(plugin, key, log_in):
    with LoginServer(plugin, sends_as_key=key) as server, pytest.raises(UsageError, match=f"the protocol of {plugin}"):
        log_in(server)
    assert not server.learned


@pytest.mark.parametrize("plugin", SHA2)
def test_a_socket_needs_no_tls(plugin, log_in, tmp_path):
    with LoginServer(plugin, path=str(tmp_path / "s")) as server:
        log_in(server)
    assert server.learned == [PASSWORD.encode()]


@pytest.mark.parametrize("plugin", SHA2)
def test_tls_is_tried_by_default(plugin, log_in, certificates):
    with LoginServer(plugin, certificate=certificates["db1"]) as server:
        log_in(server, host=ELSEWHERE)
    assert server.learned == [PASSWORD.encode()]


def test_a_cached_password_is_not_sent(log_in):
    """The answer to a challenge is enough, and gives nothing away."""
    with LoginServer(is_cached=True) as server:
        log_in(server, host=ELSEWHERE)
    assert len(server.logins) == 1 and not server.learned


def test_the_oldest_plugin(log_in, certificates):
    with LoginServer(switches_to="mysql_old_password", certificate=certificates["127.0.0.1"]) as server, \
            pytest.raises(UsageError, match="mysql_old_password"):
        log_in(server, f"ssl-ca={certificates['127.0.0.1']}")
    assert not server.learned


@pytest.mark.parametrize("plugin", [*SHA2, "mysql_native_password"])
def test_no_password(plugin, log_in, monkeypatch):
    monkeypatch.setenv("MYSQL_PWD", "")
    with LoginServer("mysql_native_password", switches_to=plugin) as server:
        log_in(server, host=ELSEWHERE)
    assert set(server.learned) <= {b""}

"""What is used of PyMySQL beside its documentation is there: a version without it is named here, not by an attacker."""

import inspect
import socket

import pymysql
import pytest
from pymysql import _auth, connections
from pymysql.protocol import MysqlPacket

from applier.jobs.server.connection import ServerAddress, connect
from tests.support.login_server import LoginServer


@pytest.fixture(scope="module")
def connection():
    return connections.Connection(defer_connect=True, password=b"secret", unix_socket="/s", read_timeout=30)


@pytest.mark.parametrize("name", ["auth_plugin_map", "bind_address", "connect_timeout", "defer_connect", "read_timeout",
                                  "ssl", "ssl_disabled", "unix_socket", "write_timeout"])
def test_what_a_connection_is_made_with(name):
    assert name in inspect.signature(connections.Connection).parameters


def test_a_connection_takes_a_socket():
    assert "sock" in inspect.signature(connections.Connection.connect).parameters


@pytest.mark.parametrize("name", ["connect", "write_packet", "_create_ssl_ctx", "_read_packet", "_sock"])
def test_what_logging_in_uses(name):
    assert hasattr(connections.Connection, name)


def test_what_a_connection_has(connection):
    assert connection.password == b"secret" and connection.unix_socket == "/s"
    assert connection._read_timeout == 30


@pytest.mark.parametrize("name", ["get_all_data", "is_auth_switch_request", "is_ok_packet", "read_all"])
def test_what_a_packet_has(name):
    assert hasattr(MysqlPacket, name)


def test_how_passwords_are_hidden():
    assert len(_auth.scramble_caching_sha2(b"secret", b"saltsaltsaltsaltsalt")) == 32
    assert callable(_auth.sha2_rsa_encrypt)


def test_tls_is_tried_by_default_and_never_left_out_where_it_is_asked_for(connection):
    assert connection.ssl and not connection._ssl_required
    asked = connections.Connection(defer_connect=True, ssl=connection.ctx)
    assert asked.ssl and asked._ssl_required
    assert pymysql.constants.CLIENT.SSL == 0x800


def test_the_kernel_asks_whether_the_other_machine_is_there():
    with LoginServer(is_cached=True) as server:
        made, _ = connect(ServerAddress.parse(f"mysql://me@127.0.0.1:{server.port}"), "", {})
        assert made._sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        if hasattr(socket, "TCP_KEEPIDLE"):
            assert made._sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 30
        made.close()

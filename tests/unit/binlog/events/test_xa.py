"""Xids, as an XA_PREPARE event and a statement name them."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier.binlog.events.xa import parse_xa_decision, parse_xa_prepare
from applier.errors import ArchiveError


@given(st.binary(max_size=64), st.binary(max_size=64), st.integers(0, 2**32 - 1), st.booleans())
def test_an_event_and_a_statement_name_the_same_xid(gtrid, bqual, format_id, flag):
    """GRP-1"""
    body = struct.pack("<BIII", flag, format_id, len(gtrid), len(bqual)) + gtrid + bqual
    prepared = parse_xa_prepare(body)
    assert prepared.one_phase == flag
    for verb, commits in ((b"COMMIT", True), (b"ROLLBACK", False), (b"commit", True)):
        statement = b"XA %s X'%s',X'%s',%d" % (verb, gtrid.hex().encode(), bqual.hex().encode(), format_id)
        assert parse_xa_decision(statement) == (prepared.xid, commits)
    with pytest.raises(ArchiveError, match="malformed"):
        parse_xa_prepare(body[:-1] if len(body) > 13 else body[:12])


@pytest.mark.parametrize("sql", [b"XA COMMIT", b"XA COMMIT 'x'", b"XA COMMIT X'1',X'',1", b"XA PREPARE X'31',X'',1"])
def test_what_no_server_writes(sql):
    with pytest.raises(ArchiveError) as error:
        parse_xa_decision(sql)
    assert error.value.mysql_errno == 1610

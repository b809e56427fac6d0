"""Which texts are an INET4, INET6 or UUID, as MariaDB 10.11.19 read them under STRICT_ALL_TABLES."""

import pytest

from applier.mysql.values.addresses import packed

_U = "123e4567e89b12d3a456426655440000"


@pytest.mark.parametrize("base, text, value", [
    *(("inet4", text, "01020304") for text in ("1.2.3.4", "01.2.3.4", "001.2.3.4", "1.2.3.04")),
    ("inet4", "255.255.255.255", "ffffffff"), ("inet4", "00.0.0.0", "00000000"),
    *(("inet6", text, "00000000000000000000000001020304") for text in ("::1.2.3.4", "::01.2.3.4", "::1.2.3.04")),
    ("inet6", "::ffff:1.2.3.4", "00000000000000000000ffff01020304"), ("inet6", "::", "00" * 16),
    ("inet6", "1:2:3:4:5:6:1.2.3.4", "00010002000300040005000601020304"),
    ("inet6", "1:2:3:4:5:6:7::", "00010002000300040005000600070000"),
    ("inet6", "FE80::1", "fe800000000000000000000000000001"), ("inet6", "0001::", "0001" + "00" * 14),
    *(("uuid", text, _U) for text in (_U, _U.upper(), "123e4567-e89b-12d3-a456-426655440000",
                                      "1-2-3-e4567e89b12d3a456426655440000", "1---23e4567e89b12d3a456426655440000")),
])
def test_what_mariadb_reads(base, text, value):
    assert packed(text, base).hex() == value


@pytest.mark.parametrize("base, text", [
    *(("inet4", text) for text in ("", "1", "1.2.3", "0001.2.3.4", "256.0.0.0", "1..2.3", "1.2.3.4.", " 1.2.3.4",
                                   "1.2.3.4 ", "0x1.2.3.4", "::1.2.3.4", "１.2.3.4")),
    *(("inet6", text) for text in ("", "1", "1.2.3.4", "0.0.0.0", "::1%1", "::1.2.3.4%1", "fe80::1/64", " ::1", "::1 ",
                                   "00001::", "1::2::3", "1:2:3:4:5:6:7", "::ffff:0001.2.3.4", "1::1.2.3.4:5", "::0x1",
                                   "1:2:3:4:5:6:7:1.2.3.4", ":1.2.3.4", "::1.2.3.4.5", "::1.2.3.400")),
    *(("uuid", text) for text in ("", _U[1:], f"-{_U}", f"{_U}-", f" {_U}", f"{{{_U}}}", f"urn:uuid:{_U}", f"{_U}0",
                                  f"{_U[1:]}g")),
])
def test_what_mariadb_refuses(base, text):
    """Error 1292."""
    with pytest.raises(ValueError):
        packed(text, base)

"""Option files mean here what they mean to the servers' clients, and never less about TLS."""

import pytest

from applier.errors import UsageError
from applier.jobs.server.encryption import Encryption
from applier.jobs.server.option_file import OptionFile
from tests.support.login_server import make_certificate


@pytest.fixture
def read(tmp_path):
    def file_with(text, scheme="mysql"):
        (tmp_path / "my.cnf").write_bytes(text if isinstance(text, bytes) else text.encode())
        return OptionFile.read(str(tmp_path / "my.cnf"), scheme)

    return file_with


@pytest.mark.parametrize(("line", "password"), [
    ("password=abc", "abc"),
    ("  password  =  a b c \t", "a b c"), ("password='a b '", "a b "), ('password="a\'b"', "a'b"),
    ("password='a", "'a"), ("password='", "'"), ('password="abc\'', "\"abc'"), ("password=", ""), ("password=''", ""),
    ("PASSWORD=abc", "abc"),
    (r"password=a\sb\tc\nd\re\bf", "a b\tc\nd\re\bf"), (r"password=a\\b\"c\'d", "a\\b\"c'd"),
    (r"password=a\xb", r"a\xb"),
    ("password=a\\", "a\\"), ("password=abc#d", "abc"), ("password='abc#d' # why", "abc#d"),
    (r"password='a\'#b'", "a'#b"), ("password=a;b", "a;b"), ("password=a=b", "a=b"),
    ("password=pässwörd€𝄞", "pässwörd€𝄞"),
    ("loose-password=abc", "abc"), ("loose_password=abc", "abc"),
    ("password=a\npassword=b", "b"),
])
def test_values(line, password, read):
    assert read(f"# about\n; it\n\n[client]\n{line}\n").texts["password"] == password


def test_groups(read):
    """Those that each server's clients read; the last value wins, in whatever group it is."""
    text = ("[mysqld]\nuser=mysql\n[client]\nuser=a\n[client-server]\nuser=b\n[ client ]\nuser=c\n"
            "[client-mariadb ]\nhost=d\n")
    assert read(text).texts == {"user": "a"}
    assert read(text, "mariadb").texts == {"user": "b", "host": "d"}
    with pytest.raises(UsageError, match=r"line 2 .* about TLS") as refused:
        read("[client-mariadb]\nssl-verify-server-cert\n")
    assert "mariadb://" in str(refused.value)


@pytest.mark.parametrize(("line", "flag"), [
    ("ssl", True), ("ssl=1", True), ("ssl=ON", True), ("loose-ssl", True), ("enable-ssl", True), ("ssl=0", False),
    ("ssl=false", False), ("skip-ssl", False), ("disable_ssl", False), ("loose_skip_ssl", False), ("skip-ssl=0", True),
    ("enable-ssl=0", False), ("ssl\nssl=off", False),
])
def test_flags(line, flag, read):
    assert read(f"[client]\n{line}\n").flags == {"ssl": flag}


def test_words_of_other_programs(read):
    """They are ignored, as by each program those of others, and so is what they have no value for."""
    file = read("[client]\ndefault-character-set=utf8mb4\nno-auto-rehash\nloose-anything\nenable-cleartext-plugin\n")
    assert not file.texts and not file.flags


@pytest.mark.parametrize(("text", "said"), [
    ("password=hidden\n", "line 1 .* in no group"),
    ("[client\npassword=hidden", "without `]`"),
    ("[client]\npassword=hidden\n!include /etc/other.cnf\n", "line 3 .* not read"),
    ("!includedir /etc/hidden\n", "line 1 .* not read"),
    ("[client]\npassword\n", "password .* no value"),
    ("[client]\nssl-ca=\n", "ssl-ca .* no value"),
    ("[client]\nssl=hidden\n", "ssl .* neither ON nor OFF"),
    ("[client]\nssl-fp=hidden\n", "ssl-fp .* not supported"),
    ("[client]\nloose-tls-ciphersuites=hidden\n", "tls-ciphersuites .* not supported"),
    ("[client]\nssl-verify=1\n", "ssl-verify .* not supported"),
    ("[client]\nskip-ssl-ca\n", "skip-ssl-ca .* not supported"),
    ("[client]\nrestricted-auth=hidden\n", "restricted-auth .* not supported"),
    ("[client]\nhost=hidden\\n\n", "host .* cannot be printed"),
    (b"[client]\npassword=hidden\xff\n", "not UTF-8"),
    ("#" * (1 << 20) + "\n", "longer than"),
])
def test_a_file_that_cannot_be_followed(text, said, read):
    """The error has no value: it could be a password."""
    with pytest.raises(UsageError, match=said) as refused:
        read(text)
    assert "hidden" not in str(refused.value) and "my.cnf" in str(refused.value)


def test_a_file_that_is_not_there():
    with pytest.raises(UsageError, match="no such file"):
        OptionFile.read("/no/such/file", "mysql")


@pytest.mark.parametrize(("words", "mode"), [
    ("", "preferred"), ("ssl-mode=required", "required"), ("ssl-mode=DISABLED", "disabled"), ("skip-ssl", "disabled"),
    ("skip-ssl\nssl-ca=CA", "disabled"), ("ssl", "required"), ("ssl-ca=CA", "verify_identity"),
    ("ssl\nssl-ca=CA", "verify_identity"), ("ssl-mode=PREFERRED\nssl-ca=CA", "verify_identity"),
    ("ssl-mode=VERIFY_CA\nssl-ca=CA", "verify_ca"), ("ssl-capath=FOLDER", "verify_identity"),
    ("ssl-verify-server-cert", "verify_identity"), ("ssl-mode=VERIFY_CA\nssl-verify-server-cert", "verify_identity"),
    ("disable-ssl-verify-server-cert", "preferred"), ("disable-ssl-verify-server-cert\nssl", "required"),
    ("disable-ssl-verify-server-cert\nssl-ca=CA", "required"), ("ssl-mode=REQUIRED\nssl=1", "required"),
    ("ssl-mode=PREFERRED\nssl=1", "required"), ("ssl-cert=CA", "required"), ("ssl-key=CA", "required"),
    ("ssl-cipher=ECDHE-RSA-AES128-GCM-SHA256", "required"), ("tls-version=TLSv1.2,TLSv1.3", "required"),
    ("loose-ssl-mode=VERIFY_CA\nloose-ssl-ca=CA", "verify_ca"),
])
def test_how_strong_tls_is(words, mode, read, tmp_path):
    """As strong as the strongest word asks for; DISABLED where it is all that is said, or clear."""
    certificate = make_certificate(tmp_path / "ca.pem", "db1")
    file = read("[client]\n" + words.replace("CA", str(certificate), 9).replace(f"VERIFY_{certificate}", "VERIFY_CA")
                .replace("FOLDER", str(tmp_path)))
    found = Encryption.of(file)
    assert found.mode == mode and found.verifies == mode.startswith("verify")
    assert (found.context is None) == (mode in ("disabled", "preferred"))
    if found.context is not None:
        assert found.context.check_hostname == (mode == "verify_identity")


@pytest.mark.parametrize(("words", "said"), [
    ("ssl-mode=always", "ssl-mode is 'always'"),
    ("ssl-mode=DISABLED\nssl=1", "both disables TLS and asks"),
    ("ssl-mode=REQUIRED\nskip-ssl", "both disables TLS and asks"),
    ("skip-ssl\nssl-verify-server-cert", "both disables TLS and asks"),
    ("ssl-mode=VERIFY_IDENTITY", "neither ssl-ca nor ssl-capath"),
    ("ssl-mode=REQUIRED\nssl-ca=/dev/null", "does not verify"),
    ("ssl-mode=VERIFY_CA\nssl-ca=/dev/null\nssl-verify-server-cert=0", "ssl-verify-server-cert is off"),
    ("ssl-ca=/no/such/file", "cannot read what ssl-ca names"),
    ("ssl-key=/dev/null", "cannot prepare TLS"),
    ("ssl-cipher=nonsense", "cannot prepare TLS"),
    ("tls-version=TLSv1.1,TLSv1.2", "tls-version"),
    ("ssl-crl=/dev/null", "ssl-crl needs"),
])
def test_words_about_tls_that_cannot_be_followed(words, said, read):
    with pytest.raises(UsageError, match=said):
        Encryption.of(read(f"[client]\n{words}\n"))

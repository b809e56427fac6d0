"""Encrypted bytes become plain ones, a part at a time: MariaDB's events by a second, slow way, and files with keys."""

import hashlib
import json
import pickle
import random
import struct

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from applier.errors import EncryptedBinlog, UsageError
from applier.io.encryption import mariadb_decrypting
from applier.io.encryption.decrypting import Joined
from applier.io.encryption.keys import KeyedLocation, Keys, like
from applier.io.encryption.mariadb_decrypting import decrypted_mariadb
from applier.io.mapping import map_file

KEY, OTHER, NONCE = bytes(range(32)), bytes(range(16)), b"\xff" * 8 + b"none"


class Parts:
    """A stream that gives a few bytes at a time."""

    def __init__(self, data, most):
        self.data, self.at, self.most = data, 0, most

    def read(self, size):
        found = self.data[self.at:self.at + min(size, self.most)]
        self.at += len(found)
        return found


def event(position, size, kind=30):
    body = random.Random(position).randbytes(size - 19)
    return struct.pack("<IBIIIH", 1, kind, 7, size, position + size, 0) + body


def encrypted(plain, position, key, counts):
    """One event as the server encrypts it."""
    vector, aes = NONCE + struct.pack("<I", position), algorithms.AES(key)
    moved = plain[4:9] + plain[0:4] + plain[13:]
    if counts:
        done = Cipher(aes, modes.CTR(vector)).encryptor().update(moved)
    else:
        whole = len(moved) // 16 * 16
        mask = Cipher(aes, modes.ECB()).encryptor().update(vector)
        done = Cipher(aes, modes.CBC(vector)).encryptor().update(moved[:whole]) + bytes(
            byte ^ by for byte, by in zip(moved[whole:], mask))
    return done[5:9] + done[0:5] + plain[9:13] + done[9:]


def log(key, counts, sizes):
    """The start of a log, what comes after it, plain, and encrypted."""
    start = b"\xfebin" + event(4, 100, 15)
    start += struct.pack("<IBIIIH", 1, 164, 7, 40, 144, 0) + b"\x01\x01\0\0\0" + NONCE + bytes(4)
    plain = secret = b""
    for size in sizes:
        one = event(len(start) + len(plain), size)
        secret += encrypted(one, len(start) + len(plain), key, counts)
        plain += one
    return start, plain, secret


@pytest.fixture
def key_file(tmp_path):
    path = tmp_path / "keys"
    path.write_text(f"# the server's keys\n2;{OTHER.hex()}\n1;{KEY.hex()}  # of binlogs\n")
    return str(path)


SIZES = [40, *range(19, 90), 5000, 20, 33, 100_000, 64]


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("part, most", [(1, 7), (1000, 64), (1 << 20, 1 << 20)])
def test_events_of_mariadb(key_file, counts, part, most, monkeypatch):
    """Of every size around a cipher's blocks, however the stream gives them; counters go over the end of 64 bits."""
    monkeypatch.setattr(mariadb_decrypting, "PART_BYTES", part)
    start, plain, secret = log(KEY, counts, SIZES)
    stream = decrypted_mariadb(start + secret[:50], Parts(secret[50:], most), Keys((), (key_file,)), "uri")
    found = b""
    while got := stream.read(999):
        assert len(got) <= 999
        found += got
    assert found == start + plain


@pytest.mark.parametrize("kind, body", [(15, b"\4\0" + bytes(range(60))), (4, bytes(8) + b"binlog.000007")],
                         ids=["description", "rotate"])
def test_the_first_event_of_a_relay_log_needs_no_position_and_no_checksum(key_file, kind, body):
    """A description of the source's log, or a ROTATE, tells by what it says whether a key fits."""
    start, *_ = log(KEY, False, [])
    plain = struct.pack("<IBIIIH", 1, kind, 7, 19 + len(body), 0, 0) + body
    secret = encrypted(plain, len(start), KEY, False)
    assert read_all(decrypted_mariadb(start, Parts(secret, 1000), Keys((), (key_file,)), "uri")) == start + plain


@pytest.mark.parametrize("counts", [False, True])
def test_a_cut_off_event_keeps_its_header(key_file, counts):
    """And so it is seen to be cut off."""
    start, plain, secret = log(KEY, counts, [40, 200])
    for cut in (40 + 20, 40 + 25, 40 + 150, 40 + 12):
        found = read_all(decrypted_mariadb(start + secret[:40], Parts(secret[40:cut], 1000),
                                           Keys((), (key_file,)), "uri"))
        assert len(found) == len(start) + cut and found[:len(start) + 40] == start + plain[:40]
        assert cut < 40 + 20 or found[len(start) + 40:][:19] == plain[40:59]


@pytest.mark.parametrize("length", [0, 18, 0x7fffffff])
def test_damage_is_left_to_those_who_read_the_log(key_file, length):
    """Bytes from a length on that cannot be stay as they are, and no memory is treated as it."""
    start, plain, secret = log(KEY, False, [40, 50, 60])
    damaged = secret[:99] + length.to_bytes(4, "little") + secret[103:]
    found = read_all(decrypted_mariadb(start, Parts(damaged, 1000), Keys((), (key_file,)), "uri"))
    assert found[:len(start) + 90] == start + plain[:90] and len(found) == len(start) + 150
    assert found[len(start) + 90 + 9:][:4] == length.to_bytes(4, "little")


@pytest.mark.parametrize("counts", [False, True])
def test_wild_lengths_and_cuts(key_file, counts, monkeypatch):
    """Whatever the lengths of events say, as many bytes come out as went in, and those before the first are right."""
    start, plain, secret = log(KEY, counts, [40, 19, 90, 33, 64, 200, 21])
    ends, dice = [0, 40, 59, 149, 182, 246, 446, 467], random.Random(3)
    for turn in range(300):
        monkeypatch.setattr(mariadb_decrypting, "PART_BYTES", dice.choice([1, 30, 100, 1000]))
        place = dice.randrange(1, 7)
        wild = dice.choice([0, 1, 12, 13, 18, 19, 20, 70, 300, 5000, 1 << 30, (1 << 30) + (1 << 21), (1 << 32) - 1])
        at = ends[place] + 9
        damaged = (secret[:at] + wild.to_bytes(4, "little") + secret[at + 4:])[:dice.choice([at + 4, at + 30, 467])]
        found = read_all(decrypted_mariadb(start, Parts(damaged, 1 + dice.randrange(99)),
                                           Keys((), (key_file,)), "uri"))
        assert len(found) == len(start) + len(damaged), turn
        assert found[:len(start) + ends[place]] == start + plain[:ends[place]], turn


@pytest.mark.parametrize("length", [0, 5, 12, 18, (1 << 31) + 5])
def test_a_first_event_with_a_wild_length(key_file, length):
    """No key can be compared with it: its bytes stay, and whoever reads the log finds the damage."""
    start, _, secret = log(KEY, False, [40, 50])
    damaged = secret[:9] + length.to_bytes(4, "little") + secret[13:]
    assert read_all(decrypted_mariadb(start, Parts(damaged, 1000), Keys((), (key_file,)), "uri")) == start + damaged


def read_all(stream):
    return b"".join(iter(lambda: stream.read(1 << 20), b""))


def test_a_log_without_events_after_the_start(key_file):
    start, *_ = log(KEY, False, [])
    assert read_all(decrypted_mariadb(start, Parts(b"", 10), Keys((), (key_file,)), "uri")) == start


def test_the_first_key_that_fits(tmp_path, key_file):
    other = tmp_path / "other"
    other.write_text(f"1;{OTHER.hex()}\n")
    start, plain, secret = log(OTHER, True, SIZES)
    for files in ((key_file, str(other)), (str(other), key_file)):
        assert read_all(decrypted_mariadb(start, Parts(secret, 1000), Keys((), files), "uri")) == start + plain
    with pytest.raises(EncryptedBinlog, match="none of the key files has its key"):
        decrypted_mariadb(start, Parts(secret, 1000), Keys((), (key_file,)), "uri")
    with pytest.raises(EncryptedBinlog, match=r"there is no key file.*--key-file FILE"):
        decrypted_mariadb(start, Parts(secret, 1000), Keys(("/keyring",)), "uri")
    with pytest.raises(EncryptedBinlog, match="scheme 2, which is not known"):
        decrypted_mariadb(start.replace(b"\x01\x01\0\0\0\xff", b"\x02\x01\0\0\0\xff"), Parts(secret, 1000),
                          Keys((), (key_file,)), "uri")


def salted(text, password, digest):
    """As `openssl enc -aes-256-cbc -md DIGEST` encrypts a key file."""
    salt, derived, last = b"saltsalt", b"", b""
    while len(derived) < 48:
        last = hashlib.new(digest, last + password + salt).digest()
        derived += last
    padded = text + bytes([16 - len(text) % 16]) * (16 - len(text) % 16)
    cipher = Cipher(algorithms.AES(derived[:32]), modes.CBC(derived[32:48])).encryptor()
    return b"Salted__" + salt + cipher.update(padded)


@pytest.mark.parametrize("digest", ["sha1", "sha224", "sha256", "sha384", "sha512"])
def test_encrypted_key_files(tmp_path, digest):
    path, secret = tmp_path / "keys", tmp_path / "secret"
    path.write_bytes(salted(f"1;{KEY.hex()}\n".encode(), b"open it", digest))
    secret.write_text("open it\n")
    assert Keys((), (str(path),), str(secret)).binlog_keys() == [KEY]
    with pytest.raises(UsageError, match=r"the key file is encrypted.*--key-file-secret"):
        Keys((), (str(path),)).check()
    secret.write_text("another")
    with pytest.raises(UsageError, match="not encrypted with this secret"):
        Keys((), (str(path),), str(secret)).check()
    with pytest.raises(UsageError, match="without the key file"):
        Keys((), (), str(secret)).check()


def plugins_keyring(keys):
    """A file of the plugin keyring_file."""
    mask, data = b"*305=Ljt0*!@$Hnm(*-9-w;:", b"Keyring file version:2.0"
    for name, key in keys.items():
        hidden = bytes(byte ^ mask[i % 24] for i, byte in enumerate(key))
        fields = [name.encode(), b"AES", b"", hidden]
        size = 40 + sum(map(len, fields))
        data += struct.pack("<5Q", size + -size % 8, *map(len, fields)) + b"".join(fields) + bytes(-size % 8)
    return data + b"EOF" + hashlib.sha256(data).digest()


def test_keyrings_of_both_kinds(tmp_path):
    names = {"MySQLReplicationKey_u_1": KEY, "MySQLReplicationKey_u_2": KEY[::-1], "odd": b"x" * 13}
    component, plugin, empty = tmp_path / "component", tmp_path / "plugin", tmp_path / "empty"
    component.write_text(json.dumps({"version": "1.0", "elements": [
        {"user": "", "data_id": name, "data_type": "AES", "data": key.hex()} for name, key in names.items()]}))
    plugin.write_bytes(plugins_keyring(names))
    empty.write_bytes(plugins_keyring({}))
    for path in (component, plugin):
        keys = Keys((str(empty), str(path)))
        keys.check()
        assert {name: keys.master_key(name) for name in names} == names and keys.master_key("other") is None


@pytest.mark.parametrize("text", ["", "{}", '{"elements": [{"data_id": "a", "data": "0G"}]}', "[1]", "1;00\n",
                                  "Keyring file version:2.0\xff" + "\x7f" * 60])
def test_what_is_no_keyring(tmp_path, text):
    path = tmp_path / "vault.conf"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(UsageError, match=r"this is not a keyring.*mysqlbinlog --read-from-remote-server") as caught:
        Keys([str(path)], []).of(["/logs"])
    assert caught.value.file == str(path) and caught.value.__cause__ is None and caught.value.__context__ is None


@pytest.mark.parametrize("text", ["", "2;" + KEY.hex(), "1;zz", "1;00ff", "vault"])
def test_what_is_no_key_file(tmp_path, text):
    path = tmp_path / "keys"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"has no key 1.*mariadb-binlog --read-from-remote-server --raw"):
        Keys([], [str(path)]).of(["/logs"])
    with pytest.raises(UsageError, match=r"no such file.*every machine"):
        Keys([], [str(path) + "s"]).of(["/logs"])


def test_a_location_keeps_where_its_keys_are(key_file, tmp_path, monkeypatch):
    """Through pickles, too, which have the path only; without keys it is a plain one."""
    monkeypatch.chdir(tmp_path)
    [location] = Keys([], ["keys"]).of(["/logs"])
    sent = pickle.dumps(location)
    again = pickle.loads(sent)
    assert again == "/logs" and again.keys == Keys((), (key_file,)) and like(again, "/b").keys == again.keys
    assert KEY not in sent and KEY.hex().encode() not in sent
    assert Keys([], []).of(["/logs"]) == ("/logs",) and not isinstance(like("/logs", "/b"), KeyedLocation)


def test_a_file_without_its_keys_and_with_them_is_mapped_twice(key_file, tmp_path):
    start, plain, secret = log(KEY, False, SIZES)
    path = tmp_path / "binlog.000001"
    path.write_bytes(start + secret)
    [keyed] = Keys([], [key_file]).of([str(path)])
    for _ in range(2):
        assert map_file(str(path)).array.tobytes() == start + secret and not map_file(str(path)).is_decrypted
        assert map_file(keyed).array.tobytes() == start + plain and map_file(keyed).is_decrypted
    path.write_bytes(start[:104] + b"no")
    assert not map_file(keyed).is_decrypted and map_file(keyed).path == str(path)


def test_joined_streams():
    stream = Joined(b"abc", Parts(b"def", 2))
    assert [stream.read(2), stream.read(2), stream.read(9), stream.read(9), stream.read(1)] == [
        b"ab", b"c", b"de", b"f", b""]

"""The checked build of the kernels: a wild access is an exception that names the place."""

import ast
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from keysearch import kernel_cache

_KERNELS = '''
import numpy as np
from keysearch.checked import WildAccess
from keysearch.addresses import address_of
from keysearch.memory import (copy32, copy_bytes, inline, keep, kernel, load_byte, load_i64, store_u16)

@inline
def word(at):
    return load_i64(at)

@kernel
def total(at, n):
    sum = 0
    for i in range(n):
        sum += word(at + 8 * i)
    return sum

@kernel
def put(at):
    store_u16(at, 1)

@kernel
def copy(to, at, length):
    return copy_bytes(to, at, length)

@kernel
def copy_more(to, at):
    copy32(to, at)

@kernel
def byte(at):
    return load_byte(at)

@kernel
def item(array, i):
    return array[i]

@kernel
def of_its_own(at):
    array = np.arange(4)
    found = load_i64(address_of(array) + at)
    keep(array)
    return found

words, octets = np.arange(10), np.zeros(100, np.uint8)
at, to = address_of(words), address_of(octets)
'''


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """Runs statements behind these kernels in the checked build; what they print."""
    folder = tmp_path_factory.mktemp("checked")
    environment = os.environ | {"APPLIER_KERNELS": "checked", "NUMBA_CACHE_DIR": str(folder / "cache"),
                                "PYTHONPATH": str(kernel_cache.ROOT)}
    (folder / "kernels.py").write_text(_KERNELS)

    def run(statements):
        script = "from kernels import *\n" + textwrap.dedent(statements)
        done = subprocess.run([sys.executable, "-c", script], cwd=folder, env=environment, capture_output=True,
                              text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run


@pytest.mark.slow
def test_memory_that_is_registered_is_read_and_written(checked):
    """To its last byte; nothing is touched where the length is 0."""
    assert checked("""
        print(total(at, 10), put(to + 98), copy(to + 20, at, 80) - to, copy(0, 0, 0), byte(to + 99), item(words, -10))
        print(of_its_own(24), copy_more(to + 68, at + 48))
    """) == ["45 None 100 0 0 0", "3 None"]


_WILD = {
    "total(at, 11)": r"load of 8 bytes at 0x[0-9a-f]+, 0 bytes behind the end of the 80 bytes that .*kernels.py:46 "
                     r"registered, in word \(.*kernels.py:9\)",
    "total(at - 1, 1)": "load of 8 bytes at .*, 1 bytes before the start of the 80 bytes",
    "put(to + 99)": "store of 2 bytes at .*, 99 bytes behind the start of the 100 bytes",
    "put(0)": "store of 2 bytes at 0x0, ",
    "put(-1 << 63)": "store of 2 bytes at 0x8000000000000000, ",
    "put((1 << 63) - 1)": "store of 2 bytes at 0x7fffffffffffffff, ",
    "copy(to, at, 81)": "load of 81 bytes",
    "copy(to + 21, at, 80)": "store of 80 bytes",
    "copy(to, at, -1)": "store of -1 bytes",
    "copy_more(to + 69, at)": "store of 32 bytes",
    "copy_more(to, at + 49)": "load of 32 bytes",
    "byte(to + 100)": "load of 1 bytes",
    "of_its_own(25)": "load of 8 bytes at .*, 25 bytes behind the start of the 32 bytes that the kernel registered",
    "item(words, 10)": "index 10 of an array with 10 items",
}


@pytest.fixture(scope="module")
def said(checked):
    """What each of these calls raises, as text, by call."""
    lines = checked(f"""
        import pickle
        for call in {list(_WILD)}:
            try:
                eval(call)
            except WildAccess as error:
                assert str(pickle.loads(pickle.dumps(error))) == str(error)
                print(error)
            else:
                print("nothing")
    """)
    return dict(zip(_WILD, lines))


@pytest.mark.slow
@pytest.mark.parametrize("call", _WILD)
def test_a_wild_access_is_an_exception_that_names_the_place(said, call):
    assert re.match(_WILD[call], said[call])


@pytest.mark.slow
def test_memory_is_registered_as_long_as_its_owner_lives(checked):
    """A view is registered with its own bounds, as long as the memory lives that it looks at."""
    assert checked("""
        def is_wild(at):
            try:
                byte(at)
            except WildAccess:
                return True
            return False

        owner = np.zeros(64, np.uint8)
        inner = address_of(owner[8:16])
        print(is_wild(inner), is_wild(inner + 8))
        address_of(owner)
        print(is_wild(inner + 8))
        del owner
        print(is_wild(inner), is_wild(inner + 8))
    """) == ["False True", "False", "True True"]


@pytest.mark.slow
def test_many_places_are_found(checked):
    """Also when others among them are freed, and where they overlap."""
    assert checked("""
        rows = np.zeros((1500, 16), np.uint8)
        others = [np.zeros(40, np.uint8) for _ in range(1500)]
        for other in others:
            put(address_of(other) + 38)
        for row in rows[::-1]:
            address_of(row)
        del others[::2]
        for other in others:
            put(address_of(other) + 38)
        for row in rows:
            put(address_of(row) + 14)
        wild = 0
        for row in rows[::100]:
            try:
                put(address_of(row) + 15)
            except WildAccess:
                wild += 1
        print(wild)
    """) == ["15"]


def test_there_is_one_door_to_addresses():
    """`address_of`: what an address is taken by elsewhere, the checked build does not know of."""
    texts = {path: path.read_text() for top in ("applier", "jsondiff", "keysearch")
             for path in sorted((kernel_cache.ROOT / top).rglob("*.py")) if path.parent.name + path.stem not in _DOORS}
    others = [f"{path.name}:{node.lineno}" for path, text in texts.items() if ".ctypes" in text
              for node in ast.walk(ast.parse(text))
              if isinstance(node, ast.Attribute) and node.attr == "data" and isinstance(node.value, ast.Attribute)
              and node.value.attr == "ctypes"]
    assert others == []


_DOORS = ("keysearchaddresses", "keysearchmemory", "keysearchchecked")


def test_a_build_that_there_is_not_is_refused(tmp_path):
    environment = os.environ | {"APPLIER_KERNELS": "safe", "PYTHONPATH": str(kernel_cache.ROOT)}
    done = subprocess.run([sys.executable, "-c", "import keysearch.memory"], cwd=tmp_path, env=environment,
                          capture_output=True, text=True)
    assert done.returncode == 1 and "APPLIER_KERNELS=safe" in done.stderr


def test_the_builds_are_kept_apart(monkeypatch):
    monkeypatch.delenv("APPLIER_KERNELS", raising=False)
    plain = kernel_cache.directory()
    monkeypatch.setenv("APPLIER_KERNELS", "checked")
    assert Path(kernel_cache.directory()) == Path(plain + "-checked")

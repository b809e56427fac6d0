"""Whose folders compiled code is loaded from. That a path is another user's is simulated by being another user."""

import logging
import os
import shutil
import stat
import subprocess
import sys

import pytest

from keysearch import caches, kernel_cache
from tests.support.folders import open_folder

ANOTHER = 12345


@pytest.fixture
def tmp_path():
    """A folder that others can enter, which they cannot do with pytest's."""
    with open_folder() as folder:
        yield folder


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    """No folder is known yet, and the private one is below the test's own."""
    caches.usable.cache_clear()
    (tmp_path / "tmp").mkdir(mode=0o700)
    monkeypatch.setattr(caches.tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))
    monkeypatch.setenv("APPLIER_PRIVATE_CACHE", "")
    yield
    caches.usable.cache_clear()


@pytest.fixture
def cache(tmp_path):
    """A cache with a file that is fine."""
    folder = tmp_path / "cache" / "kernels"
    caches.make(str(folder / "module"))
    for made in (folder.parent, folder, folder / "module"):
        made.chmod(0o755)
    (folder / "module" / "a.nbi").write_bytes(b"")
    (folder / "module" / "a.nbi").chmod(0o600)
    return folder


def used(cache):
    """Where the files of the module go, as kernels are looked for."""
    folder = caches.usable(str(cache))
    return caches.usable(f"{folder}/module", is_below=True)


def test_what_is_made_is_for_its_user_only(tmp_path):
    before = os.umask(0)
    try:
        caches.make(str(tmp_path / "a" / "b"))
    finally:
        os.umask(before)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "a", tmp_path / "a" / "b")] == [0o700, 0o700]
    (tmp_path / "file").touch()
    with pytest.raises(OSError):
        caches.make(str(tmp_path / "file"))


def test_a_cache_of_this_user_is_used(cache, tmp_path, caplog):
    assert caches.usable(str(cache)) == str(cache)
    assert caches.usable(str(tmp_path / "none" / "kernels")) == str(tmp_path / "none" / "kernels")
    assert not (tmp_path / "none").exists() and not caplog.records


@pytest.mark.parametrize("part", [".", "module", "module/a.nbi", ".."])
@pytest.mark.parametrize("mode", [0o777, 0o722])
def test_what_others_can_write_is_not_used(cache, part, mode, caplog, tmp_path):
    """Neither the folder, nor one above it, nor a folder or a file in it. It is said once."""
    (cache / part).chmod(mode)
    private = f"{tmp_path}/tmp/applier-cache-{os.getuid()}"
    assert used(cache).startswith(f"{private}/") and used(cache).endswith("/module")
    assert stat.S_IMODE(os.stat(private).st_mode) == 0o700
    [record] = caplog.records
    assert record.levelno == logging.WARNING and str(cache) in record.getMessage()
    assert "can write to" in record.getMessage() and private in record.getMessage()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files to others")
@pytest.mark.parametrize("part", [".", "module", "module/a.nbi", ".."])
def test_what_belongs_to_others_is_not_used(cache, part, caplog):
    os.chown(cache / part, ANOTHER, ANOTHER)
    assert not used(cache).startswith(str(cache))
    assert f"the user {ANOTHER}" in caplog.text


def test_what_others_cannot_reach_may_have_any_mode(cache):
    """As where the umask is 0, and the cache was made for its user only."""
    (cache / "module" / "a.nbi").chmod(0o666)
    (cache / "module").chmod(0o700)
    cache.parent.chmod(0o700)
    cache.chmod(0o777)
    assert used(cache) == f"{cache}/module"


def test_who_is_another_user_does_not_use_it(cache, monkeypatch, caplog):
    """Everybody else's files are not this user's, root's are."""
    owner = os.getuid()
    monkeypatch.setattr(caches.os, "getuid", lambda: ANOTHER)
    assert (caches.why_untrusted(str(cache)) is None) == (owner == 0)
    assert caches.why_untrusted("/") is None


def test_a_sticky_directory_is_fine(cache):
    cache.parent.chmod(0o1777)
    assert caches.usable(str(cache)) == str(cache)


def test_symbolic_links_are_followed_on_the_way_and_refused_inside(cache, tmp_path):
    (tmp_path / "link").symlink_to("cache")
    assert caches.usable(str(tmp_path / "link" / "kernels")) == str(tmp_path / "link" / "kernels")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "into").symlink_to("open/../open/x")
    assert "can write to" in caches.why_untrusted(str(tmp_path / "into"))
    (tmp_path / "circle").symlink_to("circle")
    assert "circle" in caches.why_untrusted(str(tmp_path / "circle"))
    (cache / "module" / "b.nbi").symlink_to("a.nbi")
    assert not used(cache).startswith(str(cache))


def test_a_cache_that_cannot_be_made_is_a_private_one(tmp_path, monkeypatch, caplog):
    """As where a container runs as a user that the system does not know, whose home directory is root's."""
    (tmp_path / "file").touch()
    assert caches.usable(str(tmp_path / "file" / "kernels")).startswith(f"{tmp_path}/tmp/")
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(caches.os.path, "expanduser", lambda path: path)
    monkeypatch.setenv("APPLIER_PRIVATE_CACHE", "")
    assert caches.usable(caches.user_folder("kernels")).startswith(f"{tmp_path}/tmp/")
    assert "no home directory" in caplog.text


def test_a_private_folder_that_is_not_ones_own_is_not_used(cache, tmp_path):
    """Another one is made, whose name nobody knows, and the processes that this one starts use it, too."""
    cache.chmod(0o777)
    squatted = tmp_path / "tmp" / f"applier-cache-{os.getuid()}"
    squatted.mkdir()
    squatted.chmod(0o777)
    used = caches.usable(str(cache))
    assert not used.startswith(f"{squatted}/")
    caches.usable.cache_clear()
    assert caches.usable(str(cache)) == used


def test_a_cache_that_is_not_needed_is_worth_no_warning(tmp_path, caplog):
    """As that of kernels where a wheel brought all of them."""
    (tmp_path / "file").touch()
    assert caches.usable(str(tmp_path / "file" / "kernels"), is_needed=False).startswith(f"{tmp_path}/tmp/")
    assert not caplog.records


@pytest.mark.slow
@pytest.mark.parametrize("variable", ["XDG_CACHE_HOME", "NUMBA_CACHE_DIR"])
def test_no_kernel_is_loaded_that_another_user_could_have_written(tmp_path, variable):
    """Kernels are compiled all the same, found again in the next run, and only the first process says why."""
    source = ("from keysearch.memory import kernel\n\n\n@kernel\ndef add(n):\n    return n + 1\n"
              "\n\nadd(1)\nprint(sum(add.stats.cache_hits.values()), sum(add.stats.cache_misses.values()))\n")
    shutil.copytree(kernel_cache.ROOT / "keysearch", tmp_path / "sources" / "keysearch",
                    ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "sources" / "keysearch" / "crossing.py").write_text(source)
    bomb = tmp_path / "ran"

    def run():
        done = subprocess.run([sys.executable, "-c", "import keysearch.crossing"], cwd=tmp_path / "sources",
                              capture_output=True, text=True, check=True,
                              env={"PATH": "", variable: str(tmp_path / "shared"), "TMPDIR": str(tmp_path / "tmp")})
        return done.stdout.split(), done.stderr

    assert run() == (["0", "1"], "")
    payload = f"cos\nopen\n(V{bomb}\nI64\ntR.".encode()
    for index in (tmp_path / "shared").rglob("*.nbi"):
        index.write_bytes(payload)
    (tmp_path / "shared").chmod(0o777)
    first, note = run()
    assert first == ["0", "1"] and "shared" in note and note.count("\n") == 1
    assert run()[0] == ["1", "0"] and not bomb.exists()

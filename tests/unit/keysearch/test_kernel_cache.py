import shutil
import subprocess
import sys

import pytest

from keysearch import kernel_cache
from keysearch.kernel_cache import Digests


def test_what_compiled_code_depends_on(tmp_path):
    """A kernel holds the constants that it names, and they those that they are made of, wherever they stand; nothing of
    a package of which only modules are imported."""
    package = tmp_path / "applier"
    package.mkdir()
    (package / "__init__.py").write_text("VERSION = 1")
    texts = {
        "walk": "from applier import fields\nfrom applier.layout import (\n    WIDTH,\n)\n\n@kernel\ndef f(): ...",
        "layout": "from applier.sizes import BYTES\nWIDTH = 8 * BYTES", "sizes": "BYTES = 2", "fields": "FIRST = 0",
        "caller": "from applier.walk import f", "helper": "@inline\ndef help(): ...",
    }
    for name, text in texts.items():
        (package / f"{name}.py").write_text(text)
    assert Digests(tmp_path).sources("applier.walk") == [
        f"applier.{name}" for name in ("fields", "layout", "sizes", "walk")]
    before = {name: Digests(tmp_path).of(f"applier.{name}") for name in texts}
    assert len(set(before.values())) == len(texts)
    (package / "sizes.py").write_text("BYTES = 4")
    after = {name: Digests(tmp_path).of(f"applier.{name}") for name in texts}
    assert {name for name in texts if before[name] != after[name]} == {"walk", "layout", "sizes", "caller"}


@pytest.mark.thorough
@pytest.mark.slow
def test_the_same_sources_elsewhere_need_no_compiling(tmp_path):
    """Wherever a checkout lies, and whenever its files were written: what was compiled from the same text serves."""
    code = ("from keysearch.crossing import add\nadd(1)\n"
            "print(sum(add.stats.cache_hits.values()), sum(add.stats.cache_misses.values()))")
    for place in ("first", "second"):
        shutil.copytree(kernel_cache.ROOT / "keysearch", tmp_path / place / "keysearch",
                        ignore=shutil.ignore_patterns("__pycache__"))
        (tmp_path / place / "keysearch" / "crossing.py").write_text(
            "from keysearch.memory import kernel\n\n\n@kernel\ndef add(n):\n    return n + 1\n")
    counts = [subprocess.run([sys.executable, "-c", code], cwd=tmp_path / place, capture_output=True, text=True,
                             check=True, env={"PATH": "", "XDG_CACHE_HOME": str(tmp_path / "cache")}).stdout.split()
              for place in ("first", "second")]
    assert counts == [["0", "1"], ["1", "0"]]


@pytest.mark.thorough
@pytest.mark.slow
def test_what_came_with_the_package_is_loaded_and_never_written(tmp_path):
    """What is not in it is compiled, and kept for the user, who may be unable to keep it."""
    shutil.copytree(kernel_cache.ROOT / "keysearch", tmp_path / "keysearch",
                    ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "keysearch" / "crossing.py").write_text(
        "from keysearch.memory import kernel\n\n\n@kernel\ndef add(n):\n    return n + 1\n")

    def hits_and_misses(number, cache):
        code = (f"from keysearch.crossing import add\nadd({number})\n"
                "print(sum(add.stats.cache_hits.values()), sum(add.stats.cache_misses.values()))")
        return subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True,
                              env={"PATH": "", "XDG_CACHE_HOME": str(cache), "TMPDIR": str(tmp_path)}).stdout.split()

    def shipped():
        return {path: path.stat().st_mtime_ns for path in (tmp_path / "keysearch" / "compiled").rglob("*")}

    (tmp_path / "file").touch()
    nowhere = tmp_path / "file" / "cache"
    assert hits_and_misses(1, tmp_path / "cache") == ["0", "1"]
    shutil.move(tmp_path / "cache" / "mysql-binlog-applier", tmp_path / "keysearch" / "compiled")
    before = shipped()
    assert hits_and_misses(1, nowhere) == ["1", "0"]
    assert [hits_and_misses(1.5, tmp_path / "cache") for _ in range(2)] == [["0", "1"], ["1", "0"]]
    assert hits_and_misses(1.5, nowhere) == ["0", "1"]
    assert shipped() == before


@pytest.mark.slow
def test_of_processes_that_need_a_kernel_one_compiles_it(tmp_path):
    """The others wait for it, and load it."""
    shutil.copytree(kernel_cache.ROOT / "keysearch", tmp_path / "keysearch",
                    ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "keysearch" / "crossing.py").write_text(
        "from keysearch.memory import kernel\n\n\n@kernel\ndef add(n):\n    return n + 1\n")
    code = ("from keysearch.crossing import add\nprint('ready', flush=True)\ninput()\nadd(1)\n"
            "print(sum(add.stats.cache_hits.values()), sum(add.stats.cache_misses.values()))")
    processes = [subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdin=subprocess.PIPE, text=True,
                                  stdout=subprocess.PIPE, env={"PATH": "", "XDG_CACHE_HOME": str(tmp_path / "cache")})
                 for _ in range(3)]
    assert all(process.stdout.readline() == "ready\n" for process in processes)
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    assert sorted(process.communicate()[0] for process in processes) == ["0 1\n", "1 0\n", "1 0\n"]

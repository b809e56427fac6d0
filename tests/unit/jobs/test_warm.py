import subprocess
import sys
import threading
import time

import pytest

from applier.errors import UsageError
from applier.jobs import warm
from applier.kernels import catalogue as kernels
from keysearch import kernel_cache
from tests.support.folders import ARCHIVES, CASES, DUMPS


@pytest.mark.slow
def test_after_a_warm_up_a_replay_compiles_nothing(tmp_path):
    """A kernel that `exercise` does not reach, or with other types, would be compiled by several workers at once."""
    program = r"""if True:
        import os
        import sys
        import pyarrow as pa
        from applier.kernels import catalogue as kernels; from applier.jobs import warm
        from applier.engine.executor import ThisProcess
        from applier.mysql.charsets import to_utf8
        from applier.jobs.exporting.job import export_snapshot
        from applier.jobs.importing.job import import_dump
        from applier.options import ExportOptions, ImportOptions, ReplayOptions
        from applier.jobs.replay.job import replay_with
        from applier.jobs.show import show
        from jsondiff.binary import to_text
        from keysearch.keybytes import encode_keys
        warm.exercise()
        before = {k: len(k.signatures) for k in kernels.kernels()}
        folder, dumps, demo, *archives = sys.argv[1:]
        first = ReplayOptions((demo,), f"{folder}/first", stop_position=("binlog.000002", 745606))
        replay_with(ThisProcess(), first)
        replay_with(ThisProcess(), ReplayOptions((demo,), f"{folder}/second", base=first.output))
        for number, archive in enumerate(archives):
            replay_with(ThisProcess(), ReplayOptions((archive,), f"{folder}/{number}"))
        for number, dump in enumerate(dumps.split()):
            import_dump(ImportOptions(dump, f"{folder}/dump{number}"))
            for form in ("sql", "tsv"):
                export_snapshot(ExportOptions(f"{folder}/dump{number}", f"{folder}/{form}{number}", form))
                import_dump(ImportOptions(f"{folder}/{form}{number}", f"{folder}/{form}{number}again"))
        with open(os.devnull, "w") as nowhere:
            show(sorted(f"{archive}/{name}" for archive in (demo, *archives) for name in os.listdir(archive)
                        if name.startswith("binlog.0")), "text", nowhere)
        for column in (pa.array([], pa.binary()), pa.array([None, b""]), pa.array([b"\x04\x01"] * 2)[1:]):
            to_text(column)
            for charset in ("latin1", "sjis", "utf16"):
                to_utf8(column, charset)
            encode_keys([column, column], nullable=[True, True])
        late = [k for k, signatures in before.items() if signatures == 0 or len(k.signatures) > signatures]
        print(len(before), [f"{k.__module__}.{k.__name__}" for k in late])
    """
    archives = [ARCHIVES / "demo", *(CASES / name for name in (
        "mysql-types-json", "mysql-types-text", "mysql-types-number-time", "mysql-charsets", "mariadb-types",
        "compressed-mysql", "compressed-mariadb", "ddl-mysql-convert", "json-partial-odd", "row-metadata-full",
        "key-moves-minimal"))]
    dumps = sorted(DUMPS.glob("*/plain.sql.gz"))
    arguments = [str(tmp_path), " ".join(map(str, dumps)), *map(str, archives)]
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    count, late = done.stdout.split(" ", 1)
    assert int(count) > 20 and late == "[]\n"


def test_of_many_at_once_one_compiles_and_the_others_wait(tmp_path, monkeypatch):
    calls, begun, answers, notes = [], [], [], []

    def compilation():
        calls.append("begins")
        while len(begun) < 4:  # all have asked
            time.sleep(0.01)
        calls.append("ends")

    def ask():
        begun.append(1)
        answers.append((warm.ensure(notes.append), list(calls)))

    monkeypatch.setattr(kernel_cache, "directory", lambda: tmp_path / "cache")
    monkeypatch.setattr(warm, "compile_all", compilation)
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(notes) == 1
    assert sorted(compiled for compiled, _ in answers) == [False, False, False, True]
    assert all(done == ["begins", "ends"] for _, done in answers)
    assert not warm.ensure(notes.append) and len(notes) == 1


def test_what_a_wheel_brought_is_not_compiled(tmp_path, monkeypatch):
    """But all of it, if a module is another one."""
    calls = []
    monkeypatch.setattr(kernel_cache, "directory", lambda: tmp_path / "cache")
    monkeypatch.setattr(kernel_cache, "shipped", lambda folder: tmp_path / "shipped" / folder)
    monkeypatch.setattr(warm, "compile_all", lambda: calls.append(1))
    folders = list(map(kernel_cache.folder, kernels.modules()))
    for folder in folders:
        (tmp_path / "shipped" / folder).mkdir(parents=True)
    assert not warm.ensure() and not (tmp_path / "cache").exists()
    (tmp_path / "shipped" / folders[0]).rmdir()
    assert warm.ensure() and calls == [1]


def test_a_cache_that_cannot_be_made_is_told(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(kernel_cache, "directory", lambda: tmp_path / "file" / "cache")
    with pytest.raises(UsageError, match="XDG_CACHE_HOME"):
        warm.ensure()


def test_a_failed_compilation_leaves_no_stamp(tmp_path, monkeypatch):
    def fails():
        raise ZeroDivisionError

    monkeypatch.setattr(kernel_cache, "directory", lambda: tmp_path)
    monkeypatch.setattr(warm, "compile_all", fails)
    for _ in range(2):
        try:
            warm.ensure()
        except ZeroDivisionError:
            pass
        else:
            raise AssertionError("ensure() hid the failure")


def test_other_sources_are_compiled_anew(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(kernel_cache, "directory", lambda: tmp_path)
    monkeypatch.setattr(warm, "compile_all", lambda: calls.append(1))
    assert [warm.ensure() for _ in range(2)] == [True, False]
    monkeypatch.setattr(kernel_cache, "folder", lambda module: f"{module}-another")
    assert [warm.ensure() for _ in range(2)] == [True, False] and len(calls) == 2


def test_the_modules_of_all_kernels_are_known():
    assert {kernel.__module__ for kernel in kernels.kernels()} <= set(kernels.modules())

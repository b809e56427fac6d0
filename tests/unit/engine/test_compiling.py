import os
import subprocess
import sys
import threading
import time

import pytest

from applier.engine import compiling
from applier.engine.spark import daemon
from applier.errors import UsageError
from applier.kernels import catalogue as kernels
from applier.kernels import signatures
from keysearch import kernel_cache
from tests.support.folders import ARCHIVES, CASES, DUMPS, ROOT


@pytest.mark.thorough
@pytest.mark.slow
def test_all_types_that_kernels_are_called_with_are_known(tmp_path):
    """A kernel that the table lacks, or has with other types, would be compiled where it is called. Record it with
    `python -m tests.support.exercise`."""
    program = r"""if True:
        import os
        import sys
        import pyarrow as pa
        from applier.kernels import catalogue as kernels
        from applier.engine.executor import ThisProcess
        from applier.mysql.character_sets.charsets import to_utf8
        from applier.jobs.exporting.job import export_snapshot
        from applier.jobs.importing.job import import_dump
        from applier.options import ExportOptions, ImportOptions, ReplayOptions
        from applier.jobs.replay.job import replay_with
        from applier.jobs.show import show
        from jsondiff.binary import to_text
        from keysearch.keybytes import encode_keys
        from tests.support import exercise
        exercise.exercise()
        recorded = set(exercise.signatures.TABLE.read_text().splitlines())
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
        called = set(exercise.called())
        print(sorted(called ^ recorded))
    """
    archives = [ARCHIVES / "demo", *(CASES / name for name in (
        "mysql-types-json", "mysql-types-text", "mysql-types-number-time", "mysql-charsets", "mariadb-types",
        "compressed-mysql", "compressed-mariadb", "ddl-mysql-convert", "json-partial-odd", "row-metadata-full",
        "key-moves-minimal"))]
    dumps = sorted(DUMPS.glob("*/plain.sql.gz"))
    arguments = [str(tmp_path), " ".join(map(str, dumps)), *map(str, archives)]
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[]\n"


def test_the_table_has_all_kernels():
    """And what takes longest to compile comes first, so that no process is at it when all others have ended."""
    everything = signatures.signatures(signatures.modules())
    assert {signature.kernel for signature in everything} == set(kernels.kernels())
    assert [str(signature) for signature in everything] == signatures.TABLE.read_text().splitlines()


def test_jobs_compile_what_they_need():
    """Neither a replay nor show waits for dumps, nor a replay for what few need."""
    replay, show = compiling.modules_for("replay"), compiling.modules_for("show")
    assert "applier.apply.output.rows_kernel" in replay and "applier.jobs.show.kernels.events_text_kernel" in show
    assert not {"jsondiff.kernels.apply_kernel", "applier.apply.foreign_keys.cascade_kernel"} & set(replay)
    assert not [name for name in replay if name.startswith("applier.jobs.")]
    assert compiling.modules_for("outline") == ("applier.binlog.outline.kernels.outline_kernel",)
    assert compiling.modules_for("verify") == ("applier.snapshot.files.digest_kernel",)
    for job in ("import", "export", "show", "replay"):
        assert set(compiling.modules_for(job)) < set(compiling.modules_for(compiling.EVERYTHING))


@pytest.mark.slow
def test_kernels_are_compiled_in_processes_and_counted(tmp_path):
    """Each once, wherever it is called for; and whoever comes later has nothing to do."""
    program = r"""if True:
        import sys
        from applier.engine import compiling
        from applier.io.progress import Silent
        from applier.kernels.signatures import signatures
        class Counting(Silent):
            def phase(self, name, total, what): print(name, total, what)
            def update(self, done, rows=0): self.done = done
        modules = ("keysearch.keybytes_kernel", "applier.mysql.values.byte_columns_kernel")
        compiling.modules_for = lambda job: modules
        progress = Counting()
        print(compiling.is_ready("replay"), compiling.ensure("replay", progress), progress.done)
        assert all(s.is_compiled for s in signatures(modules))
        print(compiling.is_ready("replay"), compiling.ensure("replay", progress))
        print(sum(sum(s.kernel.stats.cache_misses.values()) for s in signatures(modules)))
    """

    def run():
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT,
                              env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)})
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    count = len(signatures.signatures(("keysearch.keybytes_kernel", "applier.mysql.values.byte_columns_kernel")))
    assert run() == [f"compile {count} kernels", f"False True {count}", "True False", "0"]
    kept = [file for file in tmp_path.rglob("*.nbc") if "keysearch.checked" not in str(file)]
    assert len(kept) == count


@pytest.mark.thorough
@pytest.mark.slow
def test_a_kernel_that_has_changed_is_left_to_its_caller(tmp_path):
    """The table is recorded again when its kernels are done; until then the others of it are compiled, and its module
    is not listed as compiled, so that the error is printed again."""
    program = r"""if True:
        from applier.engine import compiling
        from applier.kernels import signatures
        known = signatures.signatures(("keysearch.keybytes_kernel",))
        changed = known[0]._replace(types=known[0].types[1:])
        signatures.signatures = lambda modules: [changed, *known[1:3]]
        compiling.compile_missing(())
        print([signature.is_compiled for signature in known[:3]])
        compiling.modules_for = lambda job: ("keysearch.keybytes_kernel",)
        compiling.ensure("replay")
        print(compiling.is_ready("replay"))
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT,
                          env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)})
    assert done.stdout == "[False, True, True]\nFalse\n", done.stderr
    assert "Traceback" in done.stderr


def test_of_many_at_once_one_compiles_and_the_others_wait(tmp_path, monkeypatch):
    calls, begun, answers = [], [], []

    def compilation(modules, progress):
        calls.append("begins")
        while len(begun) < 4:  # all have asked
            time.sleep(0.01)
        calls.append("ends")
        return set()

    def ask():
        begun.append(1)
        answers.append((compiling.ensure("replay"), list(calls)))

    monkeypatch.setattr(kernel_cache, "directory", lambda: tmp_path / "cache")
    monkeypatch.setattr(compiling, "compile_all", compilation)
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(compiled for compiled, _ in answers) == [False, False, False, True]
    assert all(done == ["begins", "ends"] for _, done in answers)
    assert not compiling.ensure("replay")


def test_what_a_wheel_brought_is_not_compiled(tmp_path, monkeypatch):
    """But a module that is another one."""
    calls = []
    monkeypatch.setattr(kernel_cache, "directory", lambda: tmp_path / "cache")
    monkeypatch.setattr(kernel_cache, "shipped", lambda folder: tmp_path / "shipped" / folder)
    monkeypatch.setattr(compiling, "compile_all", lambda modules, progress: calls.append(modules) or set())
    folders = list(map(kernel_cache.folder, compiling.modules_for("replay")))
    for folder in folders:
        (tmp_path / "shipped" / folder).mkdir(parents=True)
    assert not compiling.ensure("replay") and not (tmp_path / "cache").exists()
    (tmp_path / "shipped" / folders[0]).rmdir()
    monkeypatch.setattr(kernel_cache, "directory", lambda: f"{tmp_path}/cache/")  # as another process asks
    assert compiling.ensure("replay") and calls == [compiling.modules_for("replay")[:1]]


def test_a_cache_that_cannot_be_made_is_told(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(kernel_cache, "directory", lambda: tmp_path / "file" / "cache")
    with pytest.raises(UsageError, match="XDG_CACHE_HOME"):
        compiling.ensure("replay")


def test_a_node_compiles_once(tmp_path):
    """However many daemons Spark starts there; each node has a cache of its own."""
    program = r"""if True:
        import sys
        from applier.engine import compiling
        from applier.engine.spark import daemon, forking, spark_private
        compiling.compile_all = lambda modules, progress: print("compiles", len(modules) > 10) or set()
        forking.preload = lambda: print("loads")
        spark_private.serve_forks = lambda: print("serves")
        daemon.main()
    """

    def daemons(node, count):
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / node)}
        started = [subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, env=environment, text=True,
                                    stdout=subprocess.PIPE) for _ in range(count)]
        return sorted(process.communicate()[0].split("\n", 1) for process in started)

    later, first = ["loads", "serves\n"], ["compiles True", "loads\nserves\n"]
    assert daemons("first", 2) == [first, later]
    assert daemons("second", 1) == [first]
    assert daemons("second", 1) == [later]


def test_a_node_whose_cache_cannot_be_made_serves_all_the_same(tmp_path, monkeypatch, capfd):
    (tmp_path / "file").touch()
    monkeypatch.setattr(kernel_cache, "directory", lambda: tmp_path / "file" / "cache")
    daemon.compile_kernels()
    assert "XDG_CACHE_HOME" in capfd.readouterr().err


def test_a_failed_compilation_leaves_no_stamp(tmp_path, monkeypatch):
    def fails(modules, progress):
        raise ZeroDivisionError

    monkeypatch.setattr(kernel_cache, "directory", lambda: tmp_path)
    monkeypatch.setattr(compiling, "compile_all", fails)
    for _ in range(2):
        try:
            compiling.ensure("replay")
        except ZeroDivisionError:
            pass
        else:
            raise AssertionError("ensure() hid the failure")


def test_other_sources_are_compiled_anew(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(kernel_cache, "directory", lambda: tmp_path)
    monkeypatch.setattr(compiling, "compile_all", lambda *_: calls.append(1) or set())
    assert [compiling.ensure("replay") for _ in range(2)] == [True, False]
    monkeypatch.setattr(kernel_cache, "folder", lambda module: f"{module}-another")
    monkeypatch.setattr(kernel_cache, "directory", lambda: f"{tmp_path}/")  # as for another process, nothing is known
    assert [compiling.ensure("replay") for _ in range(2)] == [True, False] and len(calls) == 2


def test_the_modules_of_all_kernels_are_known():
    assert {kernel.__module__ for kernel in kernels.kernels()} <= set(kernels.modules())

"""A wheel brings the compiled kernels: where it fits, nothing is compiled, by no verb and in no process.

Whatever is compiled is kept below the home folder of who runs it. Those are empty here, so what is in them is counted.
"""

import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from applier.kernels import catalogue
from keysearch import numba_private
from keysearch.processor import LEVELS, level_of
from tests.recorded.archives.demo_digest import ARCHIVE, expected, held
from tests.support import other_pythons, spark_servers
from tests.support.folders import DUMPS, ROOT

LEVEL = level_of(numba_private.host_features())
STOP = ["--stop-datetime", "2026-03-14T10:30:00+00:00"]
FOLDERS = ("applier", "jsondiff", "keysearch", "build-backend")
FILES = ("setup.cfg", "pyproject.toml", "constraints.txt", "README.md")

pytestmark = [pytest.mark.slow, pytest.mark.skipif(LEVEL is None, reason="no wheel has kernels for this processor")]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel as `pip install .` makes it: for this processor's level. What the kernels' cache of this user has is not
    compiled for it."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in FILES:
        shutil.copy(ROOT / file, source)
    pip("wheel", str(source), "--no-build-isolation", "--wheel-dir", str(made))
    [file] = made.iterdir()
    return file


def pip(command, *arguments):
    """pip, without a network."""
    done = subprocess.run([sys.executable, "-m", "pip", *command.split(), "--no-deps", "--no-index", "--quiet",
                           *arguments], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": ""})
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """The interpreter of an environment with the wheel alone, and what it needs as it is here; nobody may write to it,
    and nobody has."""
    folder = tmp_path_factory.mktemp("environment")
    interpreter = other_pythons.make(folder)
    pip(f"--python {interpreter} install", "--ignore-installed", str(wheel))
    subprocess.run(["chmod", "-R", "a-w", str(folder)], check=True)
    before = files(folder)
    yield interpreter
    assert files(folder) == before
    subprocess.run(["chmod", "-R", "u+w", str(folder)], check=True)


def test_manual_pages_and_completion_are_where_shells_look(python):
    """Below the prefix, as made from the declarations (tests/unit/cli/test_installed_pages.py)."""
    share = python.parent.parent / "share"
    assert "applier replay" in (share / "man/man1/applier-replay.1").read_text()
    for path in ("bash-completion/completions/applier", "zsh/site-functions/_applier",
                 "fish/vendor_completions.d/applier.fish"):
        assert "--stop-datetime" in (share / path).read_text() or "-l stop-datetime" in (share / path).read_text()


def files(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def compiled(home):
    """The kernels that were compiled by whom this home folder belongs to."""
    return sorted(path.name for path in home.rglob("*.nbc"))


@pytest.fixture
def run(python, tmp_path):
    """Runs the program with a home folder, `home` in the test's folder, that has nothing but Java's class archive at
    first, which takes long to make; what it says."""
    (tmp_path / "home" / ".cache").mkdir(parents=True)
    (tmp_path / "home" / ".cache" / "applier").symlink_to(Path.home() / ".cache" / "applier")

    def run(*words, **environment):
        done = subprocess.run([*without_root(), str(python.parent / "applier"), *map(str, words)], cwd=tmp_path,
                              capture_output=True, text=True, errors="replace",
                              env=clean(tmp_path / "home") | environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    return run


def without_root():
    """What goes before a command so that root, too, may write only where its owner may."""
    return ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"] if os.geteuid() == 0 else []


def clean(home):
    """An environment in which nothing of this one's checkout and caches is found."""
    names = ("PYTHON", "NUMBA_", "APPLIER_", "XDG_")
    return {name: value for name, value in os.environ.items() if not name.startswith(names)} | {
        "HOME": str(home), **spark_servers.ENVIRONMENT}


def test_the_wheel_is_for_this_python_and_these_packages(wheel, python):
    """Of which other versions may make other machine code, or other ways to keep it."""
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert wheel.name.endswith(f"-{tag}-{tag}-linux_x86_64.whl")
    code = ("import applier, importlib.metadata as of; print(applier.__file__); "
            "print(*of.requires('mysql-binlog-applier'), sep='\\n')")
    said = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True, cwd="/",
                          env=clean(ROOT)).stdout.splitlines()
    assert said[0].startswith(str(python.parents[1]))
    assert {f"numba=={version('numba')}", f"llvmlite=={version('llvmlite')}"} <= set(said)
    assert sum(line.startswith(("numba", "llvmlite")) for line in said) == 2


VERBS = """
import json, sys
from applier import cli
for words in map(json.loads, sys.stdin):
    code = cli.main(words)
    assert code == 0, words
"""
"""Of one process, since each takes seconds to import what verbs need: a verb a line."""


@pytest.mark.thorough
def test_no_verb_compiles(python, tmp_path):
    asked = []

    def run(*words):
        asked.append(json.dumps([*map(str, words)]))

    dump = DUMPS / "mysql" / "plain.sql.gz"
    before, latest = tmp_path / "before", tmp_path / "latest"
    binlog = ARCHIVE / "binlog.000002"
    run("replay", "--binlogs", ARCHIVE, *STOP, "--output", before, "--engine", "local")
    run("replay", "--binlogs", ARCHIVE, "--base", before, "--output", latest, "--engine", "spark", "--master",
        "local[2]", "--route", "shuffle")
    run("import", dump, "--output", tmp_path / "imported")
    for form in ("sql", "tsv"):
        run("export", tmp_path / "imported", "--format", form, "--output", tmp_path / form)
    run("export", before, "--engine", "spark", "--master", "local[2]", "--output", tmp_path / "by spark")
    run("import", tmp_path / "tsv", "--output", tmp_path / "again")
    run("status", latest)
    run("verify", latest)
    run("report", latest, "--html", tmp_path / "report.html")
    run("show", binlog)
    run("show", binlog, "--table", "shop.products", "--format", "json")
    run("explain", "--binlogs", ARCHIVE)
    run("locate", "--binlogs", ARCHIVE, "--datetime", "2026-03-14T10:30:00+00:00")
    shutil.copytree(ARCHIVE, tmp_path / "archive")
    run("index", tmp_path / "archive")
    (home := tmp_path / "home" / ".cache").mkdir(parents=True)
    (home / "applier").symlink_to(Path.home() / ".cache" / "applier")
    done = subprocess.run([*without_root(), str(python), "-c", VERBS], cwd=tmp_path, input="\n".join(asked),
                          capture_output=True, text=True, errors="replace", env=clean(tmp_path / "home"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert (held(before), held(latest)) == (expected("before_mistake"), expected("end"))
    assert compiled(tmp_path / "home") == []


@pytest.mark.thorough
def test_no_worker_of_a_cluster_compiles(run, python, tmp_path, tmp_path_factory):
    """Each with a home folder of its own."""
    homes = [tmp_path / f"home{number}" for number in range(spark_servers.N_WORKERS)]
    for home in homes:
        home.mkdir()
    workers = [{"HOME": str(home), "XDG_CACHE_HOME": "", "PYTHONPATH": ""} for home in homes]
    with spark_servers.cluster(tmp_path_factory.mktemp("cluster"), *workers) as master:
        for route in ("walk", "shuffle"):
            run("replay", "--binlogs", ARCHIVE, "--output", tmp_path / route, "--master", master, "--route", route)
            assert held(tmp_path / route) == expected("end")
    assert [compiled(home) for home in (tmp_path / "home", *homes)] == [[], [], []]


@pytest.mark.thorough
def test_a_wheel_among_the_python_files_of_spark_submit(wheel, tmp_path, tmp_path_factory):
    """It is unpacked by the driver and by each node, with its kernels, and nothing is compiled."""
    homes = [tmp_path / f"home{number}" for number in range(spark_servers.N_WORKERS + 1)]
    for home in homes:
        home.mkdir()
    environments = [{"HOME": str(home), "XDG_CACHE_HOME": "", "NUMBA_CACHE_DIR": "", "PYTHONPATH": ""}
                    for home in homes]
    with spark_servers.cluster(tmp_path_factory.mktemp("cluster"), *environments[1:]) as master:
        spark_servers.submitted(
            master, tmp_path, other_pythons.make(tmp_path / "python"), ["--py-files", wheel], {},
            ["--binlogs", ARCHIVE, "--route", "shuffle", "--output", tmp_path / "out"], **environments[0])
    assert held(tmp_path / "out") == expected("end")
    assert [len([*home.glob(".cache/mysql-binlog-applier/unpacked-*")]) for home in homes] == [1] * len(homes)
    assert [path for home in homes for path in home.rglob("*.nbc") if "unpacked-" not in str(path)] == []


def test_every_kernel_is_there_for_workers_to_load(python, tmp_path):
    """Before they are forked, without a call."""
    code = ("from applier.engine.spark.forking import load_kernels; from applier.kernels import catalogue; "
            "load_kernels(); print([k.__name__ for k in catalogue.kernels() if not k.signatures])")
    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, cwd="/", env=clean(tmp_path))
    assert done.stdout == "[]\n", done.stderr
    assert len(catalogue.kernels()) > 20


@pytest.mark.thorough
def test_what_the_wheel_does_not_fit_compiles_for_itself(run, tmp_path):
    """For another processor, kernels are compiled into the user's cache."""
    other = {"NUMBA_CPU_NAME": LEVEL.model, "NUMBA_CPU_FEATURES": f"{LEVEL.features},+cx8"}
    run("locate", "--binlogs", ARCHIVE, "--datetime", "2026-03-14T10:30:00+00:00", **other)
    assert compiled(tmp_path / "home")


def test_the_backend_builds_for_all_levels():
    """By the names that the package itself gives them."""
    sys.path.insert(0, str(ROOT / "build-backend"))
    import compiled_wheel

    assert [(level, compiled_wheel.FEATURES) for level in compiled_wheel.LEVELS] == [tuple(level) for level in LEVELS]

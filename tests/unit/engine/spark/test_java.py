"""Finding Java and launching it, judged with made-up runtimes; that the real one works, the session's tests show."""

import os
import stat
import time

import pytest

from applier.engine.spark import java, session
from applier.errors import ApplierError, UsageError
from tests.support.folders import open_folder


def runtime(directory, version, script="exit 1"):
    """A directory like a Java runtime's, whose `java` is a shell script."""
    executable = directory / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(f"#!/bin/sh\n{script}\n")
    executable.chmod(executable.stat().st_mode | stat.S_IXUSR)
    (directory / "release").write_text(f'IMPLEMENTOR="Somebody"\nJAVA_VERSION="{version}"\n')
    return executable


def test_java_home_wins(tmp_path, monkeypatch):
    executable = runtime(tmp_path / "jdk", "21.0.2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    assert java.find_java() == executable


def test_java_on_the_path_through_links(tmp_path, monkeypatch):
    executable = runtime(tmp_path / "jdk", "17.0.1")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(executable)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert java.find_java().resolve() == executable


@pytest.mark.parametrize("version, major", [("1.8.0_392", 8), ("11.0.21", 11)])
def test_old_java_is_refused_by_name(tmp_path, monkeypatch, version, major):
    runtime(tmp_path / "jdk", version)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    with pytest.raises(UsageError, match=f"is Java {major}") as error:
        java.find_java()
    assert "apt install" in error.value.hint


def test_missing_java_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="no java on the PATH") as error:
        java.find_java()
    assert "JAVA_HOME" in error.value.hint
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(UsageError, match="no bin/java"):
        java.find_java()


def test_a_client_of_spark_connect_needs_no_java(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(UsageError, match="no bin/java"):
        session.boot("local[2]")
    session.boot("sc://host:15002")


def test_configured_spark_is_left_to_start_its_own_way(monkeypatch):
    monkeypatch.delenv("SPARK_HOME", raising=False)
    assert java.plain_spark_home() is not None
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    assert java.plain_spark_home() is None


FAKE_DRIVER = r"""
case "$*" in
*launcher.Main*) printf '\0\n%s\0-cp\0jars\0org.apache.spark.deploy.SparkSubmit\0' "$0"; exit 0;;
esac
for word in "$@"; do case "$word" in -XX:ArchiveClassesAtExit=*) archive=${word#*=};; esac; done
echo started "$@"
printf '\000\000\004\322\000\000\000\006secret' > "$_PYSPARK_DRIVER_CONN_INFO_PATH.new"
mv "$_PYSPARK_DRIVER_CONN_INFO_PATH.new" "$_PYSPARK_DRIVER_CONN_INFO_PATH"
cat > /dev/null
if [ -n "$archive" ]; then echo classes > "$archive"; fi
"""


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """A runtime whose JVM answers as Spark's gateway does, a Spark home, and a cache directory of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "spark" / "jars").mkdir(parents=True)
    (tmp_path / "spark" / "jars" / "spark-core_2.13-4.3.0.jar").touch()
    return runtime(tmp_path / "jdk", "17", FAKE_DRIVER), tmp_path / "spark", tmp_path / "cache" / "applier" / "java"


def ended(gateway):
    gateway.process.stdin.close()
    assert gateway.process.wait(20) == 0
    return gateway.log_tail()


def suffixes(cache):
    return sorted(path.suffix for path in cache.iterdir())


def test_first_jvm_leaves_an_archive_that_the_next_one_uses(fake):
    executable, home, cache = fake
    first = java.launch(executable, home, {"spark.driver.memory": "1g"})
    assert first.connection() == (1234, "secret")
    first.mark_archive_usable()
    assert "ArchiveClassesAtExit" in ended(first)
    assert suffixes(cache) == [".jsa"]
    for memory in ("1g", "2g"):
        later = java.launch(executable, home, {"spark.driver.memory": memory})
        later.mark_archive_usable()
        assert "SharedArchiveFile" in ended(later)
    os.utime(executable)
    replaced = java.launch(executable, home, {"spark.driver.memory": "1g"})
    assert "ArchiveClassesAtExit" in ended(replaced), "another Java, another archive"


def test_archive_of_a_jvm_without_a_job_is_not_kept(fake):
    executable, home, cache = fake
    ended(java.launch(executable, home, {}))
    assert suffixes(cache) == []


def test_one_process_records_at_a_time(fake):
    executable, home, cache = fake
    first = java.launch(executable, home, {})
    second = java.launch(executable, home, {})
    assert "ArchiveClassesAtExit" not in ended(second)
    ended(first)
    claim = java.claimed(cache / "x.recording")
    assert java.claimed(cache / "x.recording") is None
    hours_ago = time.time() - 7200
    os.utime(claim, (hours_ago, hours_ago))
    assert java.claimed(cache / "x.recording") == claim, "a claim whose process was killed lapses"


@pytest.fixture
def open_cache(fake, monkeypatch):
    """A cache directory in a folder that others can enter."""
    with open_folder() as folder:
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        yield folder / "cache" / "applier" / "java"


@pytest.mark.parametrize("how", ["it cannot be made", "others can write to it", "others can write to an archive"])
def test_a_cache_that_others_can_write_is_not_mapped(fake, tmp_path, monkeypatch, how, open_cache):
    """A private directory is used."""
    executable, home, _ = fake
    cache = open_cache
    monkeypatch.setattr(java.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setenv("APPLIER_PRIVATE_CACHE", "")
    java.caches.usable.cache_clear()
    first = java.launch(executable, home, {})
    first.connection()
    first.mark_archive_usable()
    ended(first)
    [archive] = cache.glob("*.jsa")
    java.caches.usable.cache_clear()
    assert f"SharedArchiveFile={archive}" in ended(java.launch(executable, home, {}))
    for folder in (*cache.parents[:2], cache):
        folder.chmod(0o755)
    if how == "others can write to an archive":
        archive.chmod(0o666)
    elif how == "others can write to it":
        cache.chmod(0o777)
    else:
        (tmp_path / "file").touch()
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    java.caches.usable.cache_clear()
    words = ended(java.launch(executable, home, {}))
    assert str(archive.parent) not in words and f"ArchiveClassesAtExit={tmp_path}/applier-cache-" in words
    java.caches.usable.cache_clear()


def test_a_jvm_that_does_not_come_up_says_why(fake):
    executable, home, _ = fake
    executable.write_text(executable.read_text().replace("echo started", "echo no memory >&2; exit 3 #"))
    with pytest.raises(ApplierError, match="no memory"):
        java.launch(executable, home, {}).connection()

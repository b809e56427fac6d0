"""Finds Java, and starts Spark's driver JVM in about a second, where Spark's own scripts take several.

The driver's JVM parses and verifies some 15,000 classes. This module keeps an archive of the loaded ones (AppCDS),
which the first JVM writes as it ends, after the program that used it has gone. It is in the user's cache directory and
bound to this Java and this Spark: changing either makes a new one. It saves 5 s of CPU for each JVM, and with the
options of `settings.of_launch` 12 s: in the suite of every day, which starts some 40, at least 3 minutes.
"""

import atexit
import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from applier.engine.spark import spark_private
from applier.engine.spark.scratch import Scratch
from applier.errors import ApplierError, NotInstalled, UsageError
from keysearch import caches

OLDEST_JAVA = 17
OLDEST_SPARK = (3, 5)
START_SECONDS = 120
UNUSED_SECONDS = 14 * 86400

RECORDING_SECONDS = 600

_ANSWER = "gateway"

# $1 $2 $3: the archive being written, the lock file (not empty: keep the archive), its final path; then the command.
_THEN_KEEP_ARCHIVE = """
    new=$1 recording_lock=$2 place=$3; shift 3
    "$@"
    [ -s "$recording_lock" ] && mv "$new" "$place"
    rm -f "$new" "$recording_lock"
"""


@dataclass
class Gateway:
    """A driver JVM. Once it has reported its port, it ends when `process.stdin` closes, at the latest with this
    process.

    Before that it does not read stdin, and if the directory for its report is gone, it never will.
    """

    process: subprocess.Popen[bytes]
    log: IO[bytes]  # everything that the JVM and its Python workers print; without a name, so nothing is left behind
    recording_lock: Path | None  # locks the class archive that this JVM records: empty until a job has run
    directory: Scratch  # where it will report its port and secret

    def connection(self) -> tuple[int, str]:
        """Wait for its port and secret. Raises ApplierError, with its output, if it does not start.

        It writes them to another file and then renames that, so they are complete.
        """
        deadline = time.monotonic() + START_SECONDS
        with self.directory as directory:
            while not (answer := Path(directory, _ANSWER)).exists():
                if self.process.poll() is not None or time.monotonic() > deadline:
                    code = self.process.poll()
                    self.kill()
                    how = f" (killed by signal {-code})" if code is not None and code < 0 else ""
                    raise ApplierError(f"the Spark JVM did not start{how}:\n{self.log_tail()}".rstrip(":\n"))
                time.sleep(0.005)
            connection = spark_private.connection_of(answer.read_bytes())
        atexit.unregister(self.kill)
        return connection

    def kill(self) -> None:
        """Kill it, and the shell that may be around it."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def mark_archive_usable(self) -> None:
        """Allow the class archive to be kept: the classes loaded now are those that the next JVM will need."""
        if self.recording_lock is not None:
            self.recording_lock.write_text("a job has run\n")

    def log_tail(self, n_lines: int = 20) -> str:
        """The end of its log."""
        self.log.seek(0)
        return "\n".join(self.log.read().decode(errors="replace").splitlines()[-n_lines:])


def find_java() -> Path:
    """The `java` that Spark will run, from JAVA_HOME or else the PATH. Raises UsageError if it is missing or too old.
    """
    hint = f"install Java {OLDEST_JAVA} or newer (Debian: apt install openjdk-17-jre-headless) or set JAVA_HOME"
    if home := os.environ.get("JAVA_HOME"):
        java = Path(home, "bin", "java")
        if not java.is_file():
            raise UsageError(f"JAVA_HOME is {home}, which has no bin/java", hint=hint)
    elif found := shutil.which("java"):
        java = Path(found)
    else:
        raise UsageError("Spark needs Java, and there is no java on the PATH", hint=hint)
    version = version_of(java)
    if version is not None and version < OLDEST_JAVA:
        raise UsageError(f"Spark needs Java {OLDEST_JAVA} or newer, and {java} is Java {version}", hint=hint)
    return java


def spark_home() -> Path:
    """The home of pyspark. Raises NotInstalled where there is none."""
    home = spark_private.home()
    if home is None:
        raise NotInstalled("pyspark is not installed", hint="pip install 'mysql-binlog-applier[spark]'")
    found = spark_private.version(home)
    if found is not None and found < OLDEST_SPARK:
        has, needs = (".".join(map(str, numbers)) for numbers in (found, OLDEST_SPARK))
        raise NotInstalled(f"pyspark is {has}, and {needs} or newer is needed",
                           hint="pip install 'pyspark>=3.5,<5', in the version of the cluster")
    return home


def plain_spark_home() -> Path | None:
    """The home of pyspark's own Spark; None if another one is configured or its start is customised."""
    home = spark_home()
    configured = spark_private.CONFIGURED & os.environ.keys() or (home / "conf").exists()
    return None if configured or not spark_private.jars(home).is_dir() else home


def launch(java: Path, spark_home: Path, settings: dict[str, str]) -> Gateway:
    """Start a driver JVM with `settings` (spark.driver.*). It boots while the caller does something else."""
    command = _driver_command(java, spark_home, settings)
    recording_lock = None
    if archive := class_archive(java, spark_home):
        if archive.exists():
            os.utime(archive)
            command[1:1] = [f"-XX:SharedArchiveFile={archive}", "-Xshare:auto"]
        elif recording_lock := claimed(archive.with_suffix(".recording")):
            new = archive.with_suffix(".new")
            command[1:1] = [f"-XX:ArchiveClassesAtExit={new}"]
            command = ["/bin/sh", "-c", _THEN_KEEP_ARCHIVE, "sh", str(new), str(recording_lock), str(archive), *command]
    log = tempfile.TemporaryFile()
    directory = Scratch()
    told = spark_private.driver_environment(spark_home, os.path.join(directory.path, _ANSWER))
    environment = os.environ | told | {"JAVA_HOME": str(_home(java))}
    # A process group of its own: Ctrl-C is for us, and we then end the job in an orderly way.
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment, process_group=0)
    gateway = Gateway(process, log, recording_lock, directory)
    atexit.register(gateway.kill)
    return gateway


def class_archive(java: Path, spark_home: Path) -> Path | None:
    """Where the class archive is, or will be, of JVMs with a Spark's class path. It is good for any settings, and its
    name changes when anything changes that it depends on. None if it cannot be kept."""
    cache, jars, java = _cache_directory(), spark_private.jars(spark_home), java.resolve()
    facts = java, java.stat().st_mtime_ns, jars, jars.stat().st_mtime_ns
    return cache and cache / f"{hashlib.sha256(repr(facts).encode()).hexdigest()[:16]}.jsa"


def _driver_command(java: Path, spark_home: Path, settings: dict[str, str]) -> list[str]:
    """The command that Spark's launcher would run."""
    launcher = spark_private.launcher_command(java, spark_home, settings)
    environment = os.environ | spark_private.launcher_environment(spark_home) | {"JAVA_HOME": str(_home(java))}
    run = subprocess.run(launcher, env=environment, capture_output=True, text=True, check=False)
    words = spark_private.printed_command(run.stdout)
    if run.returncode != 0 or len(words) < 2:
        raise ApplierError(f"Spark's launcher failed:\n{run.stderr}")
    return words


def _cache_directory() -> Path | None:
    """The directory for archives (about 150 MB each), to which no other user can write; None if it cannot be made."""
    folder = caches.usable(caches.user_folder("applier", "java"))
    try:
        caches.make(folder)
    except OSError:
        return None
    return Path(folder) if os.access(folder, os.W_OK) else None


def claimed(recording_lock: Path) -> Path | None:
    """Take the lock file for recording an archive; None if another process has it, or was killed a short time ago.

    Also removes files of other versions of Java or Spark in the directory that were not used for a long time.
    """
    for path in recording_lock.parent.iterdir():
        keep_seconds = RECORDING_SECONDS if path.suffix in (".recording", ".new") else UNUSED_SECONDS
        try:
            if time.time() - path.stat().st_mtime > keep_seconds:
                path.unlink()
        except OSError:
            continue  # another process was quicker
    try:
        recording_lock.touch(exist_ok=False)
    except OSError:
        return None
    return recording_lock


def _home(java: Path) -> Path:
    return java.resolve().parent.parent


def version_of(java: Path) -> int | None:
    """A Java's major version, from the runtime's `release` file (running java itself would cost a start of it)."""
    try:
        lines = (_home(java) / "release").read_text().splitlines()
    except OSError:
        return None
    text = next((line.partition("=")[2].strip('"') for line in lines if line.startswith("JAVA_VERSION=")), "")
    numbers = text.split(".")
    major = numbers[1] if numbers[0] == "1" and len(numbers) > 1 else numbers[0]  # 1.8.0_392 is Java 8
    return int(major) if major.isdigit() else None


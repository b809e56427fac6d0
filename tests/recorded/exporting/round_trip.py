"""What an export holds, judged by real servers.

As `python -m tests.recorded.exporting.round_trip`:

    URL…        each recorded case and dump of the server's kind: made a snapshot, exported as sql and as tsv, loaded
                into the server
    --record    write digests.json of the files that were loaded like that

A URL is mysql://USER@HOST:PORT or mariadb://…, of a server on this machine whose data is nobody's: databases of the
cases are dropped, and local_infile is switched on. It logs in row format with full images. For a server in a chroot,
its root comes after the URL and a "+". What the server then holds is read from the binlog that it wrote of the load,
which has every value exactly, and compared with what the case's server held (expected/). A mysqldump of it, which is
what people restore from and dump again, is imported and compared as well; FLOAT apart, of which it keeps six digits.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from applier.engine.executor import ThisProcess
from applier.jobs.exporting.job import LOAD, export_snapshot
from applier.jobs.importing.job import import_dump
from applier.jobs.replay.job import replay_with
from applier.options import ExportOptions, ImportOptions, ReplayOptions
from applier.snapshot import manifest
from applier.snapshot.staging import SCHEMA
from tests.support.folders import DUMPS
from tests.support.real_server import Case, differences

DIGESTS = Path(__file__).with_name("digests.json")
CASE_NAMES = (
    "base-dump-mysql", "base-dump-mariadb", "generated-columns-mysql", "generated-columns-mariadb", "mariadb-types",
    "mariadb-types-text", "mysql-charsets", "mysql-types-json", "mysql-types-number-time", "mysql-types-text",
    "row-image-minimal", "wide-tables-mysql", "wide-tables-mariadb", "many-files-mariadb", "ddl-mysql-names",
    "ddl-mariadb", "mariadb-system-versioned", "zero-dates-mysql", "zero-dates-mariadb", "fk-cascade-mysql",
    "fk-cascade-mariadb",
)
FORMATS = ("sql", "tsv")


def sources() -> dict[str, tuple[str, Path]]:
    """What is exported: by name, the kind of server, and what it held."""
    found = {name: (Case(name).server, Case(name).expected()) for name in CASE_NAMES}
    return found | {f"dump-{path.name}": (path.name, path / "expected") for path in DUMPS.iterdir()}


def make_snapshot(name: str, output: Path) -> None:
    """The snapshot of a source."""
    if name.startswith("dump-"):
        import_dump(ImportOptions(str(DUMPS / name.removeprefix("dump-") / "plain.sql.gz"), str(output)))
        return
    case = Case(name)
    options = {}
    if (case.folder / "base.sql").exists():
        import_dump(ImportOptions(str(case.folder / "base.sql"), f"{output}-base"))
        options["base"] = f"{output}-base"
    replay_with(ThisProcess(), ReplayOptions(tuple(map(str, case.binlogs)), str(output), **options))


def digest(folder: Path) -> str:
    """Of all files of rows and the statements that load them, by name and content."""
    known = hashlib.blake2b(digest_size=16)
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in (LOAD, SCHEMA):
            text = path.read_bytes()
            known.update(f"{path.relative_to(folder)}\0{len(text)}\0".encode() + text)
    return known.hexdigest()


def load(server, folder: Path, databases: set[str]) -> str:
    """Load an export, after dropping what is there; the path of the binlog that the server wrote of it."""
    for database in databases:
        server.run(f"DROP DATABASE IF EXISTS `{database}`")
    server.run("SET GLOBAL local_infile = 1")
    server.run("FLUSH BINARY LOGS")
    log = server.run("SHOW BINARY LOGS")[-1][0]
    done = subprocess.run(["sh", str(folder / LOAD), *server.address], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    server.run("FLUSH BINARY LOGS")
    place = Path(server.run("SELECT @@log_bin_basename")[0][0]).with_name(log)
    return f"{server.root}{place}" if server.root else str(place)


def judge(server, name: str, folder: Path) -> list[str]:
    """Lines about what a server, into which the exports of a source were loaded, does not hold as it should."""
    expected = sources()[name][1]
    make_snapshot(name, folder / "snapshot")
    databases = {table.database for table in manifest.load(str(folder / "snapshot")).tables}
    wrong = [f"before: {line}" for line in differences(folder / "snapshot", expected)]
    for form in FORMATS:
        export_snapshot(ExportOptions(str(folder / "snapshot"), str(folder / form), form))
        log = load(server, folder / form, databases)
        replay_with(ThisProcess(), ReplayOptions((log,), str(folder / f"{form}-again")))
        wrong += [f"{form}: {line}" for line in differences(folder / f"{form}-again", expected)]
    if any(table.history for table in manifest.load(str(folder / "snapshot")).tables):
        return wrong  # a mysqldump lacks the times of rows
    dump = server.program("mysqldump", *server.address, "--databases", *sorted(databases), "--hex-blob")
    (folder / "dump.sql").write_bytes(dump.stdout)
    import_dump(ImportOptions(str(folder / "dump.sql"), str(folder / "dumped")))
    return wrong + [f"dumped: {line}" for line in differences(folder / "dumped", expected) if "floats" not in line]


def main(arguments: list[str]) -> int:
    """See above; 1 where something is wrong."""
    failed = 0
    if arguments == ["--record"]:
        digests = {}
        for name in sorted(sources()):
            with tempfile.TemporaryDirectory() as place:
                make_snapshot(name, Path(place) / "snapshot")
                for form in FORMATS:
                    export_snapshot(ExportOptions(f"{place}/snapshot", f"{place}/{form}", form))
                    digests[f"{name}.{form}"] = digest(Path(place) / form)
        DIGESTS.write_text(json.dumps(digests, indent=1) + "\n")
        return 0
    from tests.recorded.differential.real_replicas import Server

    for url in arguments:
        server = Server(url)
        for name, (kind, _) in sorted(sources().items()):
            if kind == server.flavour:
                with tempfile.TemporaryDirectory() as place:
                    wrong = judge(server, name, Path(place))
                print(name, "equal" if not wrong else "\n  ".join(["differs", *wrong]), flush=True)
                failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

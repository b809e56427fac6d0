"""A mutation fuzzer over real binlogs and dumps: whatever the bytes, every verb that reads them ends in an answer or an
ApplierError.

    python -m tests.fuzz.fuzz COUNT [FIRST [KIND…]]     mutants number FIRST (0) to FIRST + COUNT - 1 of each kind

    bytes     binlogs with any bytes changed, events repeated, dropped, cut
    events    binlogs with fields that no server writes (events.py): table maps, rows, payloads and what is in them
    dumps     SQL files with words where none belong (dumps.py)
    found     files that broke something once (hostile)
    some      all of these, one after another

Mutant number n of a kind is always the same. A child process takes them; where it crashes, hangs or raises anything
else, the mutant is named and kept, and the run continues after it. Checksums are made good again, so that damage
reaches the code behind them. Most files end where a memory page ends, and the child's memory where pages begin that it
may not touch (guard.c, which needs a C compiler), so that a read past an end is a crash.
"""

import faulthandler
import os
import random
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import traceback
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from tests.fuzz import dumps, events, guarded, verbs
from tests.support.folders import CASES, HOSTILE, ROOT

FOUND = sorted(path for path in HOSTILE.iterdir() if path.suffix != ".md")
SOURCES = ("mysql-types-number-time", "mysql-types-text", "mysql-types-json", "mysql-charsets", "mariadb-types",
           "mariadb-old-temporal", "wide-tables-mysql", "key-moves-full")
PAGE = 4096
FORMAT_DESCRIPTION, IGNORABLE, CHECKSUM = 15, 0x80, 4
EXTREMES = (b"\0", b"\xff", b"\xfb", b"\xfc", b"\xfd", b"\xfe", b"\0\0", b"\xff\xff", b"\xff\x7f", b"\0\x80",
            b"\xff" * 4, b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\xff" * 8, b"\xff" * 7 + b"\x7f", b"\0" * 7 + b"\x80")
SECONDS_FOR_ONE = 60
"""Of CPU time: a mutant takes a tenth of one."""
MOST_MEMORY = 12 << 30
ENOUGH, STEP = 20, 500


def mutant(number: int) -> bytes:
    """The bytes of a mutant: a real file with one to four kinds of damage."""
    dice = random.Random(number)
    data = bytearray(dice.choice(sources()))
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        dice.choice((_flip_bits, _flip_bits, _set_extreme, _set_extreme, _set_extreme, _change_length, _change_type,
                     _repeat_event, _drop_event, _truncate))(data, dice)
    return bytes(data)


@cache
def sources() -> tuple[bytes, ...]:
    files = [file for name in SOURCES for file in sorted((CASES / name).glob("binlog.0*"))]
    return tuple(_aligned(file.read_bytes()) for file in files)


def _aligned(data: bytes) -> bytes:
    """The file with an event more, to be skipped, so that it ends where a page ends."""
    second = list(_events(data))[1][0]
    room = -len(data) % PAGE
    if room < 19 + CHECKSUM:
        room += PAGE
    event = bytearray(struct.pack("<IBIIIH", 0, 250, 1, room, second + room, IGNORABLE) + bytes(room - 19))
    _seal(event, 0, room)
    return data[:second] + bytes(event) + data[second:]


def _events(data: bytes | bytearray) -> Iterator[tuple[int, int]]:
    """(start, end) of the events, as far as their lengths make sense."""
    at = 4
    while at + 19 + CHECKSUM <= len(data):
        size = int.from_bytes(data[at + 9:at + 13], "little")
        if size < 19 + CHECKSUM or at + size > len(data):
            return
        yield at, at + size
        at += size


def _seal(data: bytearray, start: int, end: int) -> None:
    """Make an event's checksum good; the in-use flag of a format description does not count."""
    event = bytearray(data[start:end - CHECKSUM])
    if event[4] == FORMAT_DESCRIPTION:
        event[17] &= ~1
    data[end - CHECKSUM:end] = zlib.crc32(event).to_bytes(4, "little")


def _pick(data: bytearray, dice: random.Random) -> tuple[int, int]:
    """An event; the rest of the file if it has no whole one."""
    return dice.choice(list(_events(data)) or [(min(4, len(data)), len(data))])


def _flip_bits(data: bytearray, dice: random.Random) -> None:
    start, end = _pick(data, dice)
    if end - CHECKSUM <= start:
        return
    for _ in range(dice.choice((1, 1, 2, 8))):
        data[dice.randrange(start, end - CHECKSUM)] ^= 1 << dice.randrange(8)
    _seal(data, start, end)


def _set_extreme(data: bytearray, dice: random.Random) -> None:
    """A field with the largest, smallest or a marker value; mostly early in the event, where the lengths are."""
    start, end = _pick(data, dice)
    value = dice.choice(EXTREMES)
    if end - CHECKSUM <= start + 13:
        return
    at = dice.randrange(start + 13, end - CHECKSUM)
    if dice.random() < 0.5:
        at = min(at, start + 19 + dice.randrange(60))
    stop = min(at + len(value), end - CHECKSUM)
    data[at:stop] = value[:stop - at]
    _seal(data, start, end)


def _change_length(data: bytearray, dice: random.Random) -> None:
    """An event that says it is longer or shorter than it is, sealed at the end that it claims if that can be."""
    start, end = _pick(data, dice)
    real = end - start
    size = dice.choice((0, 1, 18, 19, 22, 23, real - 1, real + 1, dice.randrange(2 * real), 2**31, 2**32 - 1))
    data[start + 9:start + 13] = size.to_bytes(4, "little")
    if 19 + CHECKSUM <= size <= len(data) - start:
        _seal(data, start, start + size)


def _change_type(data: bytearray, dice: random.Random) -> None:
    start, end = _pick(data, dice)
    known = dice.choice((2, 15, 16, 19, 23, 24, 25, 30, 31, 32, 33, 42, 162))
    data[start + 4] = dice.choice((dice.randrange(256), known))
    _seal(data, start, end)


def _repeat_event(data: bytearray, dice: random.Random) -> None:
    start, end = _pick(data, dice)
    at = _pick(data, dice)[0]
    data[at:at] = data[start:end]


def _drop_event(data: bytearray, dice: random.Random) -> None:
    start, end = _pick(data, dice)
    del data[start:end]


def _truncate(data: bytearray, dice: random.Random) -> None:
    """Cut anywhere, or where a page ends."""
    end = dice.randrange(1, len(data))
    del data[end if dice.random() < 0.5 else max(PAGE, end // PAGE * PAGE):]


def _found(number: int) -> bytes:
    return FOUND[number].read_bytes()


def _some(number: int) -> tuple[str, int]:
    """Which kind a mutant of any is, and its number among those: what was found, then the others in turn."""
    number -= len(FOUND)
    turns = "events", "bytes", "events", "dumps"
    return ("found", number + len(FOUND)) if number < 0 else (turns[number % 4], number)


def _of_any_kind(number: int) -> bytes:
    kind, number = _some(number)
    return KINDS[kind](number)


KINDS: dict[str, Callable[[int], bytes]] = {
    "bytes": mutant, "events": events.mutant, "dumps": dumps.mutant, "found": _found, "some": _of_any_kind}


def path_of(kind: str, number: int, folder: Path) -> Path:
    """Where a mutant lies while it is taken, and stays where it broke something."""
    if kind == "some":
        return path_of(*_some(number), folder)
    is_dump = kind == "dumps" or (kind == "found" and FOUND[number].suffix == ".sql")
    return folder / (f"{kind}-{number}.sql" if is_dump else f"{kind}.{number:06d}")


def run(kind: str, first: int, count: int, keep: Path, environment: dict[str, str] | None = None) -> list[str]:
    """Take mutants in child processes; a line for each that broke one. Their files stay in `keep`."""
    broken: list[str] = []
    at, last = first, first + count
    while at < last and len(broken) < ENOUGH:
        (keep / "done").write_text(str(at))
        (keep / "raised").write_text("")
        command = [sys.executable, "-X", "faulthandler", __file__, "--child", kind, str(at), str(last), str(keep)]
        child = subprocess.run(command, capture_output=True, text=True, errors="replace",
                               env=(environment or os.environ) | {"PYTHONPATH": str(ROOT)})
        raised = dict(line.split(" ", 1) for line in (keep / "raised").read_text().splitlines())
        number = int((keep / "done").read_text())
        if child.returncode:
            raised[str(number)] = f"exit code {child.returncode}: {_cause(child.stderr)}"
        broken += [f"{kind} {name}: {why} (kept as {path_of(kind, int(name), keep)})" for name, why in raised.items()]
        if child.returncode == 0:
            break
        at = number + 1
    return broken


def _cause(stderr: str) -> str:
    """What faulthandler says of the end of a child: the signal, and where the project's code was."""
    lines = [line.strip() for line in stderr.splitlines()]
    said = [line for line in lines if line.startswith(("Fatal", "Timeout", "Profiling", "Current", "Thread"))][:1]
    places = [line for line in lines if line.startswith("File") and str(ROOT) in line][:3]
    return " ".join([*said, *places]) or (lines or ["nothing was said"])[-1]


def _child(kind: str, first: int, last: int, folder: Path) -> None:
    """Take mutants one after another. One that takes too long (CPU time, whoever else is busy) ends the process."""
    from tests.support.exercise import exercise

    exercise()  # loading kernels is not what the clock is for
    faulthandler.register(signal.SIGPROF, chain=True)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    done = open(folder / "done", "r+")
    for number in range(first, last):
        done.seek(0)
        done.write(str(number))
        done.truncate()
        done.flush()
        path = path_of(kind, number, folder)
        path.write_bytes(KINDS[kind](number))
        signal.setitimer(signal.ITIMER_PROF, SECONDS_FOR_ONE)
        try:
            verbs.take(path, number)
        except Exception as error:
            with open(folder / "raised", "a") as raised:
                raised.write(f"{number} {_raised(error)}\n")
        else:
            path.unlink()
        signal.setitimer(signal.ITIMER_PROF, 0)


def _raised(error: Exception) -> str:
    """An error that is none of the project's, and where it came from, in one line."""
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)
              if str(ROOT) in frame.filename][-3:]
    return f"{type(error).__name__}: {error} at {' '.join(places)}".replace("\n", " ")[:400]


def main(count: int, first: int = 0, *kinds: str) -> int:
    """Fuzz in steps of 500 and say how it goes; 1 if a mutant broke something."""
    if unknown := set(kinds).difference(KINDS):
        print(f"fuzz: no such kind of mutants: {', '.join(unknown)}", file=sys.stderr)
        return 2
    keep = Path(tempfile.mkdtemp(prefix="applier-fuzz-"))
    try:
        environment = guarded.environment(keep)
    except guarded.NoCompiler as error:
        print(f"fuzz: {error}", file=sys.stderr)
        return 2
    broken: list[str] = []
    for at in range(first, first + count, STEP):
        step = min(STEP, first + count - at)
        for kind in kinds or ("bytes", "events", "dumps"):
            found = run(kind, at, step, keep, environment)
            broken += found
            done = f"{at + step - first} of {count} {kind}, {len(broken)} broke something"
            print(done, *found, sep="\n  ", flush=True)
    return 1 if broken else 0


if __name__ == "__main__":
    if sys.argv[1] == "--child":
        _child(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), Path(sys.argv[5]))
    else:
        sys.exit(main(*map(int, sys.argv[1:3]), *sys.argv[3:]))

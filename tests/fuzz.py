"""A mutation fuzzer over real binlogs: whatever the bytes, reading them ends in an answer or an ArchiveError, and
replaying them in a snapshot or an ApplierError.

    python tests/fuzz.py COUNT [FIRST]     mutants number FIRST (0) to FIRST + COUNT - 1

Mutant number n is always the same. A child process reads them; where it crashes, hangs or raises anything else, the
mutant is named and kept, and the run goes on after it. Checksums are made good again, so that damage reaches the code
behind them. Most files end where a memory page ends, so that a read past the end is a crash.
"""

import random
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path

CASES = Path(__file__).parent / "cases"
SOURCES = ("mysql-types-number-time", "mysql-types-text", "mysql-types-json", "mysql-charsets", "mariadb-types",
           "mariadb-old-temporal", "wide-tables-mysql", "key-moves-full")
PAGE = 4096
FORMAT_DESCRIPTION, IGNORABLE, CHECKSUM = 15, 0x80, 4
EXTREMES = (b"\0", b"\xff", b"\xfb", b"\xfc", b"\xfd", b"\xfe", b"\0\0", b"\xff\xff", b"\xff\x7f", b"\0\x80",
            b"\xff" * 4, b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\xff" * 8, b"\xff" * 7 + b"\x7f", b"\0" * 7 + b"\x80")
SECONDS_FOR_ONE = 20
ENOUGH = 20


def mutant(number: int) -> bytes:
    """The bytes of a mutant: a real file with one to four kinds of damage."""
    dice = random.Random(number)
    data = bytearray(dice.choice(_sources()))
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        dice.choice((_flip_bits, _flip_bits, _set_extreme, _set_extreme, _set_extreme, _change_length, _change_type,
                     _repeat_event, _drop_event, _truncate))(data, dice)
    return bytes(data)


def read(path: Path, number: int) -> str:
    """Read a file as a replay does; "ok", or what the error says. Anything but an ArchiveError is passed on."""
    from applier.binlog.outline_pass import outline_file
    from applier.errors import ArchiveError

    try:
        outline = outline_file(str(path))
        stretches = [(split.start, split.end) for split in outline.splits]
        answer = "ok"
    except ArchiveError as error:
        stretches, answer = [], str(error)
    stretches.append((4, path.stat().st_size))  # also without an outline, as if the file changed after it
    for start, end in stretches:
        try:
            _decode(path, start, end, number)
        except ArchiveError as error:
            answer = str(error)
    return answer


def replay(path: Path, number: int) -> str:
    """Replay a file as an archive of its own, by either route; "ok", or what the error says. Anything but an
    ApplierError is passed on."""
    from applier.apply.executor import ThisProcess
    from applier.errors import ApplierError
    from applier.options import ReplayOptions
    from applier.replay import replay_with
    from applier.snapshot import manifest
    from applier.table_filter import TableFilter

    output = path.with_name(f"snapshot-{number}")
    options = ReplayOptions((str(path),), str(output), filter=TableFilter(ignored=(("moves", "n"),)),
                            route=("walk", "shuffle")[number % 2])
    try:
        replay_with(ThisProcess(2), options)
        manifest.load(str(output))
    except ApplierError as error:
        assert not output.exists(), "there is a snapshot, and an error"
        return str(error)
    shutil.rmtree(output)
    return "ok"


def _decode(path: Path, start: int, end: int, number: int) -> None:
    from applier.binlog.changes import ChangeReader, TableBinding
    from applier.binlog.layout import plan_columns
    from applier.binlog.mapping import map_file

    def bind(table_map):
        plans = plan_columns(table_map)

        def take(batch):
            for image, rows in ((batch.before, batch.n_before), (batch.after, batch.n_after)):
                for wire_type, column in zip(table_map.types, image.columns):
                    _finish(column.arrow(rows), wire_type, number)

        return TableBinding(plans, list(plans), list(plans), take, rows=256)

    with closing(map_file(str(path))) as mapped:
        reader = ChangeReader(mapped, bind, checksum=True)
        try:
            reader.walk(start, end)
        finally:
            reader.flush()


def _finish(column, wire_type: int, number: int) -> None:
    import pyarrow as pa

    from applier.binlog.charsets import to_utf8
    from jsondiff.binary import JsonError, to_text

    column.validate(full=True)
    if wire_type == 245:
        try:
            to_text(column).validate(full=True)
        except JsonError:
            pass
    elif pa.types.is_binary(column.type):
        to_utf8(column, ("utf8mb4", "latin1", "sjis", "utf16")[number % 4]).validate(full=True)


@cache
def _sources() -> tuple[bytes, ...]:
    files = [file for name in SOURCES for file in sorted((CASES / name).glob("binlog.0*"))]
    return tuple(_aligned(file.read_bytes()) for file in files)


def _aligned(data: bytes) -> bytes:
    """The file with an event more, to be passed over, so that it ends where a page ends."""
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
    """An event; what there is of the file where it has no whole one."""
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


def run(first: int, count: int, keep: Path) -> list[str]:
    """Read mutants in child processes; a line for each that broke one. Their files stay in `keep`."""
    broken: list[str] = []
    at, last = first, first + count
    while at < last and len(broken) < ENOUGH:
        done = keep / "done"
        done.write_text(str(at))
        command = [sys.executable, "-X", "faulthandler", __file__, "--child", str(at), str(last), str(keep)]
        try:
            child = subprocess.run(command, capture_output=True, text=True,
                                   timeout=SECONDS_FOR_ONE + 120 + (last - at))
            if child.returncode == 0:
                break
            why = (child.stderr.strip().splitlines() or [f"exit code {child.returncode}"])[-1]
        except subprocess.TimeoutExpired:
            why = "hangs"
        number = int(done.read_text())
        broken.append(f"mutant {number}: {why} (kept as {keep / f'mutant-{number}'})")
        at = number + 1
    return broken


def _child(first: int, last: int, folder: Path) -> None:
    import faulthandler

    from applier import warm

    warm.exercise()  # loading kernels is not what the clock is for
    done = open(folder / "done", "r+")
    for number in range(first, last):
        done.seek(0)
        done.write(str(number))
        done.truncate()
        done.flush()
        path = folder / f"mutant-{number}"
        path.write_bytes(mutant(number))
        faulthandler.dump_traceback_later(SECONDS_FOR_ONE, exit=True)
        read(path, number)
        replay(path, number)
        faulthandler.cancel_dump_traceback_later()
        path.unlink()


def main(count: int, first: int = 0) -> int:
    """Fuzz in steps of 500 and say how it goes; 1 if a mutant broke something."""
    keep = Path(tempfile.mkdtemp(prefix="applier-fuzz-"))
    broken: list[str] = []
    for at in range(first, first + count, 500):
        step = min(500, first + count - at)
        found = run(at, step, keep)
        broken += found
        print(f"{at + step - first} of {count} mutants, {len(broken)} broke something", *found, sep="\n  ", flush=True)
    return 1 if broken else 0


if __name__ == "__main__":
    if sys.argv[1] == "--child":
        sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
        _child(int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
    else:
        sys.exit(main(*map(int, sys.argv[1:])))

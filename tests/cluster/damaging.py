"""Archives of real servers, damaged in every way that disks, copies and people have, and what a replay makes of them.

An attempt is a number, which always means the same damage. What counts as right: an error that names the fault, or a
snapshot that holds what the whole archive holds at the snapshot's own position.
"""

import random
import shutil
from collections.abc import Callable
from pathlib import Path

from applier.binlog.events.events import read_format
from applier.engine.executor import ThisProcess
from applier.errors import ApplierError, UsageError
from applier.io.mapping import map_file
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.snapshot import manifest
from tests.support.folders import CASES
from tests.support.small_parts import rows_of, same

SOURCES = ["transactions-mysql", "transactions-mariadb", "many-files-mysql", "many-files-mariadb", "compressed-mysql",
           "compressed-mariadb", "checksum-changes", "groups-mariadb", "transactions-mysql-nogtid"]
OTHERS = {"mysql": "key-moves-full", "mariadb": "mariadb-row-image-full"}
_BLOCK = 512


def damage(number: int, folder: Path) -> tuple[str, str]:
    """A damaged archive in a new folder: the case that it was, and what was done to it."""
    dice = random.Random(number)
    name = dice.choice(SOURCES)
    folder.mkdir(parents=True)
    files = [folder / file.name for file in sorted((CASES / name).glob("binlog.0*"))]
    for file in files:
        shutil.copyfile(CASES / name / file.name, file)
    return name, dice.choice(DAMAGES)(dice, files, name)


def _flipped_bit(dice: random.Random, files: list[Path], _: str) -> str:
    file = _checked(dice, files)
    data, bit = bytearray(file.read_bytes()), dice.randrange(8)
    at = dice.randrange(len(data))
    data[at] ^= 1 << bit
    file.write_bytes(data)
    return f"{file.name}: bit {bit} of byte {at} flipped"


def _zeroed_block(dice: random.Random, files: list[Path], _: str) -> str:
    file = _checked(dice, files)
    data = bytearray(file.read_bytes())
    at = dice.randrange(0, len(data), _BLOCK)
    data[at : at + _BLOCK] = bytes(len(data[at : at + _BLOCK]))
    file.write_bytes(data)
    return f"{file.name}: the block at {at} is zeros"


def _truncated(dice: random.Random, files: list[Path], _: str) -> str:
    file = dice.choice(files)
    size = dice.randrange(file.stat().st_size)
    file.write_bytes(file.read_bytes()[:size])
    return f"{file.name}: cut off at {size}"


def _missing(dice: random.Random, files: list[Path], _: str) -> str:
    file = dice.choice(files[1:] or files)
    file.unlink()
    return f"{file.name} is missing"


def _rotated_away(dice: random.Random, files: list[Path], _: str) -> str:
    gone = files[: dice.randrange(1, len(files))]
    for file in gone:
        file.unlink()
    return f"rotated away up to {gone[-1].name}"


def _swapped(dice: random.Random, files: list[Path], _: str) -> str:
    one, two = dice.sample(files, 2)
    held = one.read_bytes()
    one.write_bytes(two.read_bytes())
    two.write_bytes(held)
    return f"{one.name} and {two.name} are swapped"


def _of_another_server(dice: random.Random, files: list[Path], name: str) -> str:
    flavour = dice.choice([*OTHERS])
    other, file = CASES / OTHERS[flavour] / "binlog.000001", dice.choice(files)
    shutil.copyfile(other, file)
    return f"{file.name} is {other.parent.name}'s"


DAMAGES: list[Callable[[random.Random, list[Path], str], str]] = [
    _flipped_bit, _flipped_bit, _flipped_bit, _zeroed_block, _truncated, _truncated, _missing, _rotated_away, _swapped,
    _of_another_server]


def _checked(dice: random.Random, files: list[Path]) -> Path:
    """One of the files that have checksums: in others no one could tell."""
    return dice.choice([file for file in files if read_format(map_file(str(file))).checksum])


def attempt(number: int, folder: Path) -> tuple[str, bool]:
    """Damage and replay: a line that says what was tried and the outcome, and whether that is right."""
    name, done = damage(number, folder / "logs")
    line = f"damage {number}: {name}: {done}"
    try:
        result = _replay(folder / "logs", folder / "out")
    except ApplierError as error:
        whole = error.exit_code in (1, 2) and not isinstance(error, UsageError) and bool(error.where)
        names_it = any(file.name in str(error) for file in (CASES / name).glob("binlog.0*"))
        left = [path.name for path in folder.iterdir() if path.name != "logs"]
        return f"{line} → exit {error.exit_code}: {error}", whole and names_it and not left
    except Exception as error:
        return f"{line} → {type(error).__name__}: {error}", False
    position = manifest.load(str(folder / "out")).position
    if "rotated away" in done:  # what is there was made by what is left of the log
        return f"{line} → {'; '.join(result.notes)}", any("came before" in note for note in result.notes)
    try:
        _replay(CASES / name, folder / "true", stop_position=(position.file, position.offset))
    except ApplierError as error:
        return f"{line} → replayed to {position}, where the whole log is no place to stop: {error}", False
    right = same(rows_of(folder / "out"), rows_of(folder / "true")) and \
        manifest.load(str(folder / "true")).position.gtid_set == position.gtid_set
    return f"{line} → replayed to {position}{'' if right else ', with other rows'}", right


def _replay(logs: Path, output: Path, **options):
    return replay_with(ThisProcess(2), ReplayOptions((f"{logs}/binlog.0*",), str(output), **options))


def run(numbers: range, folder: Path, say: Callable[[str], None] = print) -> list[str]:
    """Attempts by number; the lines of those that went wrong, whose files stay in the folder."""
    wrong = []
    for number in numbers:
        line, right = attempt(number, folder / str(number))
        say(line if right else f"WRONG {line}")
        if right:
            shutil.rmtree(folder / str(number))
        else:
            wrong.append(line)
    return wrong

"""Whether two checkouts make the same snapshots of all recorded cases, to the byte.

    python tests/same_snapshots.py write FILE           digests of every file of a snapshot, of this checkout
    python tests/same_snapshots.py compare FILE FILE    say which cases differ; exit code 1 if any does

Every case is replayed on both routes and in both modes, in this process; an error counts by its text. Names of files
and the lineage have random parts, which are left out, and so are times and the folder of the cases, wherever a checkout
has it.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CASES = ROOT / "tests" / "recorded" / "cases"
_RANDOM = re.compile(rb"(part-\d+-)[0-9a-f]{12}")


def digests() -> dict[str, dict[str, str] | str]:
    """By case, route and mode: digests of the snapshot's files, or the error."""
    found: dict[str, dict[str, str] | str] = {}
    logs: dict[Path, list[str]] = {}
    for path in sorted(CASES.rglob("*.0*")):
        if re.fullmatch(r".*\.\d{6}", path.name):
            logs.setdefault(path.parent, []).append(str(path))
    for folder, files in logs.items():
        for route in ("walk", "shuffle"):
            for mode in ("strict", "idempotent"):
                with tempfile.TemporaryDirectory() as output:
                    found[f"{folder.relative_to(CASES)} {route} {mode}"] = _snapshot(files, output, route, mode)
    return found


def _snapshot(files: list[str], output: str, route: str, mode: str) -> dict[str, str] | str:
    from applier.engine.executor import ThisProcess
    from applier.errors import ApplierError
    from applier.jobs.replay.job import replay_with
    from applier.options import ReplayOptions

    try:
        replay_with(ThisProcess(1), ReplayOptions(tuple(files), f"{output}/out", route=route, exec_mode=mode))
    except ApplierError as error:
        return f"{type(error).__name__}: {error}".replace(output, "").replace(f"{CASES}/", "")
    paths = [path for path in sorted(Path(output, "out").rglob("*")) if path.is_file() and path.name != "_report.json"]
    return {_RANDOM.sub(rb"\1", str(path.relative_to(output)).encode()).decode(): _digest(path) for path in paths}


def _digest(path: Path) -> str:
    data = path.read_bytes()
    if path.name == "_snapshot.json":
        left_out = "others", "digest", "lineage"
        manifest = {name: value for name, value in json.loads(data).items() if name not in left_out}
        data = _RANDOM.sub(rb"\1", json.dumps(manifest).encode())
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def compare(one: dict[str, dict[str, str] | str], other: dict[str, dict[str, str] | str]) -> list[str]:
    """The cases that differ, or that only one has."""
    return sorted(case for case in one.keys() | other.keys() if one.get(case) != other.get(case))


def main(words: list[str]) -> int:
    if words[:1] == ["write"] and len(words) == 2:
        Path(words[1]).write_text(json.dumps(digests(), indent=1))
        return 0
    if words[:1] == ["compare"] and len(words) == 3:
        one, other = (json.loads(Path(word).read_text()) for word in words[1:])
        different = compare(one, other)
        print("\n".join([*different, f"{len(one)} cases, {len(different)} differ"]))
        return bool(different)
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main(sys.argv[1:]))

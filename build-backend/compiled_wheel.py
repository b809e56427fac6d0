"""The build backend (PEP 517): setuptools', whose wheels get manual pages, completion for shells and compiled kernels.

A wheel made here is for one Python and platform. It has the machine code of all kernels, where keysearch.kernel_cache
looks first, and asks for exactly the Numba and llvmlite that made it. The code is for this machine's processor level
(keysearch.processor), since most wheels are installed where they are made; `--config-settings levels=all`, or
`levels=x86-64-v3`, names others, which this machine must have, as kernels are compiled by being called. Kernels that
are in the cache of who builds it are taken from there.

A commit with the tag of a version makes that version only: what is built there has to say so (check_version).

On other machines than x86-64 the wheel is for all of them: kernels are compiled where it is installed.
"""

import base64
import configparser
import hashlib
import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

from setuptools import build_meta
from setuptools.build_meta import (  # noqa: F401
    build_editable,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
)

ROOT = Path(__file__).resolve().parents[1]
LEVELS = ("x86-64-v3", "x86-64-v2")
FEATURES = "+pclmul"
EXACT = ("numba", "llvmlite")
FOR_PAGES = ("typer",)
Settings = dict[str, str] | None


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """What setuptools needs, and, to compile, what the kernels are called with, in the versions of constraints.txt."""
    needed: list[str] = build_meta.get_requires_for_build_wheel(config_settings)
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg")
    lines = settings["options"]["install_requires"].splitlines()
    names = [re.split(r"[^\w-]", line)[0] for line in lines if line and not line.startswith("#")]
    pins = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().split() if "==" in line)
    return needed + [f"{name}=={pins[name]}" for name in (*names, "llvmlite")
                     if (_is_compiled() or name in FOR_PAGES)]


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Settings = None) -> str:
    name: str = build_meta.prepare_metadata_for_build_wheel(metadata_directory, config_settings)
    if _is_compiled():
        _pin(Path(metadata_directory) / name / "METADATA")
    return name


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    check_version(ROOT)
    name: str = build_meta.build_sdist(sdist_directory, config_settings)
    return name


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """Make setuptools' wheel, put pages and kernels in, and say what it is for."""
    check_version(ROOT)
    shutil.rmtree(ROOT / "build" / "lib", ignore_errors=True)  # setuptools would add modules that are gone
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / build_meta.build_wheel(folder, config_settings, metadata_directory)
        content = Path(folder) / "content"
        with zipfile.ZipFile(plain) as wheel:
            wheel.extractall(content)
        [info] = content.glob("*.dist-info")
        write_pages(content, info.with_suffix(".data") / "data" / "share")
        name: str = plain.name
        if _is_compiled():
            levels = (config_settings or {}).get("levels", "")
            _compile(content, LEVELS if levels == "all" else tuple(levels.split(",")))
            _pin(info / "METADATA")
            tag = _tag()
            _edit(info / "WHEEL", {"Root-Is-Purelib": "false", "Tag": tag})
            name = f"{plain.name.removesuffix('-py3-none-any.whl')}-{tag}.whl"
        else:
            print(f"no kernels are compiled for {platform.machine()}")
        _pack(content, info / "RECORD", Path(wheel_directory) / name)
    return name


def check_version(root: Path) -> None:
    """Exit if a checkout stands at the tag vX.Y.Z, and its code or its changelog is of another version.

    Without a tag, and outside a checkout, every version is right.
    """
    if not (root / ".git").exists() or not shutil.which("git"):
        return
    listed = subprocess.run(["git", "tag", "--points-at", "HEAD", "--list", "v[0-9]*"], cwd=root, capture_output=True,
                            text=True, check=True)
    tags = listed.stdout.split()
    found = re.search(r'^__version__ = "(.+)"$', (root / "applier" / "version.py").read_text(), re.MULTILINE)
    version = found[1] if found else ""
    if tags and tags != [f"v{version}"]:
        sys.exit(f"the commit has the tag {', '.join(tags)}, and applier.__version__ is {version}")
    if tags and f"\n## [{version}] - " not in (root / "CHANGELOG.md").read_text():
        sys.exit(f"the commit has the tag v{version}, and CHANGELOG.md has no section of that version")


def _is_compiled() -> bool:
    return platform.machine() == "x86_64"


def write_pages(content: Path, share: Path) -> None:
    """Write the manual pages and completions of an unpacked wheel's command line below a folder."""
    subprocess.run([sys.executable, "-m", "applier.cli.help.installed_pages", str(share)], cwd=content, check=True,
                   env=os.environ | _finding(content))


def _compile(content: Path, levels: tuple[str, ...]) -> None:
    """Compile the kernels of an unpacked wheel for each level, and put them in. "" is this machine's."""
    program = "import sys; from applier.jobs import warm; warm.ship(sys.argv[1])"
    for level in levels:
        print(f"kernels for {level or 'this machine'}", flush=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "APPLIER_"))}
        if level:
            environment |= {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": FEATURES}
        environment |= _finding(content)
        place = content / "keysearch" / "compiled"
        subprocess.run([sys.executable, "-c", program, str(place)], cwd=content, env=environment, check=True)


def _finding(content: Path) -> dict[str, str]:
    """The variables with which a program finds an unpacked wheel first, and what pip has installed to build it with."""
    path = os.pathsep.join(filter(None, (str(content), os.environ.get("PYTHONPATH"))))
    return {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


def _tag() -> str:
    """The wheel's tag: this Python, whose objects kernels look into, and this platform."""
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}{sys.abiflags}-{re.sub('[-.]', '_', sysconfig.get_platform())}"


def _pin(metadata: Path) -> None:
    """Have the metadata ask for exactly the packages that make the machine code."""
    head, blank, description = metadata.read_text().partition("\n\n")
    lines = [line for line in head.splitlines() if not re.match(rf"Requires-Dist: ({'|'.join(EXACT)})\b", line)]
    lines += [f"Requires-Dist: {name}=={importlib.metadata.version(name)}" for name in EXACT]
    metadata.write_text("\n".join(lines) + blank + description)


def _edit(file: Path, fields: dict[str, str]) -> None:
    """Set fields of a file of `Name: value` lines."""
    lines = [line.partition(": ") for line in file.read_text().splitlines()]
    file.write_text("".join(f"{name}: {fields.get(name, value)}\n" for name, _, value in lines if name))


def _pack(content: Path, record: Path, wheel: Path) -> None:
    """Write a wheel of a folder, with a record of its files."""
    files = sorted(path for path in content.rglob("*") if path.is_file() and path != record)
    lines = []
    for file in files:
        data = file.read_bytes()
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        lines.append(f"{file.relative_to(content).as_posix()},sha256={digest},{len(data)}\n")
    record.write_text("".join(lines) + f"{record.relative_to(content).as_posix()},,\n")
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in [*files, record]:
            packed.write(file, file.relative_to(content).as_posix())

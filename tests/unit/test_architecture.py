"""The structure that docs/ARCHITECTURE.md tells of is that of the code. `make lint` sees that imports go down."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.folders import ROOT

PAGE = ROOT / "docs" / "ARCHITECTURE.md"
TOPS = ("applier", "jsondiff", "keysearch")
PACKAGES = sorted(path.parent for top in TOPS for path in (ROOT / top).rglob("__init__.py"))


def dotted(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {dotted(path) for package in PACKAGES for path in package.glob("*.py")}


def imported(path):
    """The modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in MODULES else node.module


def exported(package):
    """What a package's __init__ has in __all__."""
    for node in ast.parse((package / "__init__.py").read_text()).body:
        if isinstance(node, ast.Assign) and [target.id for target in node.targets] == ["__all__"]:
            return set(ast.literal_eval(node.value))
    return set()


def test_the_drawing_is_that_of_the_code():
    sys.path.insert(0, str(PAGE.parent))
    import draw_packages

    assert draw_packages.drawing() in PAGE.read_text(), "run `make drawing`"


@pytest.mark.parametrize("package", [package for package in PACKAGES if package.name != "applier"], ids=dotted)
def test_other_packages_import_what_a_package_exports(package):
    """And whatever it says that it exports is there."""
    name, own = dotted(package), exported(package)
    users = (path for top in TOPS for path in (ROOT / top).rglob("*.py") if package not in path.parents)
    used = {module.removeprefix(f"{name}.").split(".")[0] for path in users for module in imported(path)
            if module.startswith(f"{name}.")}
    assert used <= own, f"{name}: others import {sorted(used - own)}, which are not in its __all__"
    there = {path.stem for path in package.iterdir()}
    for node in ast.walk(ast.parse((package / "__init__.py").read_text())):
        if isinstance(node, ast.FunctionDef):
            there.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            there |= {alias.name for alias in node.names}
    assert own <= there


def test_the_page_names_files_that_are_there():
    for path in re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.py|(?:[a-z_]+/)+)`", PAGE.read_text()):
        there = [ROOT / top / path for top in ("", "applier")]
        assert any(place.exists() for place in there) or any(ROOT.glob(f"applier/**/{path}")), path


def test_the_lint_of_imports_runs_on_all_packages():
    """A contract that names a package which is not there would hold for nothing."""
    lint = str(Path(sys.executable).parent / "lint-imports")
    run = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout

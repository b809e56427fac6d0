"""jsondiff and keysearch stand alone: their READMEs' examples run, and another jsondiff is told, not run."""

import doctest
import importlib
import subprocess
import sys

import pytest

from tests.support.folders import ROOT


@pytest.mark.parametrize("package", ["jsondiff", "keysearch"])
def test_examples_of_a_readme_run(package):
    results = doctest.testfile(str(ROOT / package / "README.md"), module_relative=False)
    assert results.attempted > 5 and not results.failed


@pytest.mark.parametrize("package", ["jsondiff", "keysearch"])
def test_all_names_of_a_package_can_be_imported(package):
    """Each is there when it is asked for, or is a module, and no other name is."""
    module = importlib.import_module(package)
    modules = {path.stem for path in (ROOT / package).glob("*.py")}
    assert set(module.__all__) - modules, "names to import from the package itself"
    assert all(getattr(module, name) is not None for name in set(module.__all__) - modules)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = module.nothing


def test_a_package_loads_what_it_is_asked_for():
    program = ("import sys; from keysearch import choose_access_path; from jsondiff import to_text; "
               "print({'numba', 'pyarrow', 'numpy'} & set(sys.modules))")
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert run.stdout == "set()\n"


def test_another_package_named_jsondiff_is_told(tmp_path):
    """One of that name on PyPI: it would else fail somewhere in the middle of a replay."""
    (tmp_path / "jsondiff").mkdir()
    (tmp_path / "jsondiff" / "__init__.py").write_text('__all__ = ["diff", "patch"]\n')
    program = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(ROOT)!r}]; import applier"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 1
    last = run.stderr.splitlines()[-1]
    assert last.startswith("ImportError: the jsondiff found at ") and str(tmp_path) in last
    assert "pip uninstall jsondiff" in last

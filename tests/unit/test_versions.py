"""A version has one number: in the code, in the tag, in the changelog (docs/RELEASING.md)."""

import re
import subprocess

import pytest

import applier
from tests.support.folders import ROOT


@pytest.fixture
def check_version(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "build-backend"))
    import compiled_wheel

    return compiled_wheel.check_version


@pytest.fixture
def checkout(tmp_path):
    """Makes a checkout with one commit: of a version, with these sections of the changelog and this tag."""

    def git(*words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=tmp_path, check=True,
                       capture_output=True)

    def make(version, *sections, tag=None):
        (tmp_path / "applier").mkdir()
        (tmp_path / "applier" / "version.py").write_text(f'"""Code."""\n__version__ = "{version}"\n')
        (tmp_path / "CHANGELOG.md").write_text("".join(f"\n## [{name}] - 2026-11-25\n" for name in sections))
        git("init", "-q")
        git("add", "-A")
        git("commit", "-q", "-m", "all")
        if tag:
            git("tag", tag)
        return tmp_path

    return make


def test_what_agrees_is_built(checkout, check_version):
    check_version(checkout("0.2.0", "0.2.0", "0.1.0", tag="v0.2.0"))


def test_a_commit_without_a_tag_of_a_version_may_have_any(checkout, check_version):
    check_version(checkout("0.2.0.dev0", tag="before-the-change"))


@pytest.mark.parametrize(("version", "sections", "message"), [
    ("0.1.0", ["0.2.0"], "the tag v0.2.0, and applier.__version__ is 0.1.0"),
    ("0.2.0.dev0", ["0.2.0"], "applier.__version__ is 0.2.0.dev0"),
    ("0.2.0", ["0.1.0"], "the tag v0.2.0, and CHANGELOG.md has no section"),
])
def test_what_a_tag_contradicts_is_not_built(checkout, check_version, version, sections, message):
    root = checkout(version, *sections, tag="v0.2.0")
    with pytest.raises(SystemExit, match=re.escape(message)):
        check_version(root)


def test_outside_a_checkout_there_is_no_tag(tmp_path, check_version):
    """As in an unpacked sdist."""
    check_version(tmp_path)


def test_this_version_is_one_by_the_rules_of_packages():
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+|rc\d+)?", applier.__version__)

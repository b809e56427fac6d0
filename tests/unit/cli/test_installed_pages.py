"""Manual pages and completion, which a wheel brings, are made of the verbs' declarations."""

import re
import shutil
import subprocess

import pytest
import typer

from applier import cli
from applier.cli.help.installed_pages import write

COMMANDS = typer.main.get_command(cli.app).commands


@pytest.fixture(scope="module")
def share(tmp_path_factory):
    folder = tmp_path_factory.mktemp("share")
    write(folder)
    return folder


def options(verb):
    return [next(name for name in param.opts if name.startswith("--")) for param in COMMANDS[verb].params
            if param.param_type_name == "option" and not param.hidden]


@pytest.mark.parametrize("verb", COMMANDS)
def test_each_verb_has_a_page_with_all_of_its_options(verb, share):
    page = (share / f"man/man1/applier-{verb}.1").read_text().replace("\\-", "-")
    assert page.startswith(f'.TH APPLIER-{verb.upper()} 1 ') and f"applier-{verb} (1)" in \
        (share / "man/man1/applier.1").read_text().replace("\\-", "-")
    for option in [*options(verb), "--help-all"]:
        assert re.search(rf"^\.BI? .*{option}\b", page, re.MULTILINE)


@pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff")
def test_troff_has_nothing_to_warn_of(share):
    for page in sorted((share / "man/man1").iterdir()):
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-K", "utf8", str(page)], capture_output=True,
                              text=True)
        warned = [line for line in done.stderr.splitlines() if "can't break line" not in line
                  and "cannot adjust line" not in line]
        assert done.returncode == 0 and not warned


def test_completion_of_all_shells_has_all_options(share):
    bash = (share / "bash-completion/completions/applier").read_text()
    zsh = (share / "zsh/site-functions/_applier").read_text()
    fish = (share / "fish/vendor_completions.d/applier.fish").read_text()
    for verb in COMMANDS:
        for option in options(verb):
            assert re.search(rf"^        {verb}\) options='.*{option}\b", bash, re.MULTILINE)
            assert f'__fish_seen_subcommand_from {verb}" -l {option[2:]} ' in fish
            assert f"{option}[" in zsh.partition(f"    {verb}) ")[2].partition(";;")[0]


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize("words, offered", [
    (["re"], {"replay", "report", "rewrite"}),
    (["-q", "sta"], {"status"}),
    (["replay", "--stop-d"], {"--stop-datetime"}),
    (["replay", "--route", ""], {"auto", "walk", "shuffle"}),
    (["changes", "--format", "d"], {"debezium"}),
    (["replay", "--stop-gtid", ""], set()),
    (["status", "./he"], {"./here"}),
])
def test_bash_offers_what_fits(words, offered, share, tmp_path):
    (tmp_path / "here").touch()
    program = 'source "$0"; COMP_WORDS=(applier "$@"); COMP_CWORD=$#; _applier; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "--norc", "-c", program, str(share / "bash-completion/completions/applier"), *words],
                          capture_output=True, text=True, cwd=tmp_path)
    assert set(done.stdout.split()) == offered and done.returncode == 0, done.stderr


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh")
def test_zsh_reads_it(share):
    subprocess.run(["zsh", "-fn", str(share / "zsh/site-functions/_applier")], check=True)


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish")
def test_fish_reads_it(share):
    subprocess.run(["fish", "-n", str(share / "fish/vendor_completions.d/applier.fish")], check=True)

"""Print the findings of a doctor: a table on a terminal, one line per check elsewhere, or JSON."""

from __future__ import annotations

from applier.cli.output.grids import Grid
from applier.cli.output.results import Result
from applier.cli.terminal import ResultConsole, words
from applier.jobs.doctor.result import NOTE, OK, PROBLEM, Diagnosis

_COLOURS = {OK: "green", NOTE: "yellow", PROBLEM: "bold red"}


def _print(console: ResultConsole, diagnosis: Diagnosis) -> None:
    problems = len(diagnosis.problems)
    verdict = "nothing stops a replay before its first row" if not problems else \
        "1 problem would stop a replay" if problems == 1 else f"{problems:,} problems would stop a replay"
    if not console.is_terminal:
        for check in diagnosis.checks:
            to_do = f"; to do: {check.to_do}" if check.to_do else ""
            console.say(f"{check.state}: {check.name}: {check.found}{to_do}", soft_wrap=True)
        console.say(verdict)
        return
    grid = Grid("", "", "found, and what to do")
    for check in diagnosis.checks:
        found = words(check.found)
        if check.to_do:
            found.append("\n").append(words(f"→ {check.to_do}", "cyan"))
        grid.add(words(check.state, _COLOURS[check.state]), check.name, found)
    grid.print(console)
    console.say((verdict, "bold red" if problems else "bold green"))


DIAGNOSIS = Result(_print, Diagnosis.to_json)

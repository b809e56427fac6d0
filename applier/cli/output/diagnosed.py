"""Print the findings of a doctor: a table on a terminal, one line per check elsewhere, or JSON."""

from __future__ import annotations

import sys

from applier.cli.output.documents import print_json
from applier.cli.output.grids import new_grid, result_console
from applier.cli.terminal import words
from applier.io.printable import printable
from applier.jobs.doctor.result import NOTE, OK, PROBLEM, Diagnosis

_COLOURS = {OK: "green", NOTE: "yellow", PROBLEM: "bold red"}


def print_diagnosis(diagnosis: Diagnosis, *, as_json: bool) -> None:
    """Print the findings to stdout."""
    if as_json:
        print_json(diagnosis.to_json())
        return
    problems = len(diagnosis.problems)
    verdict = "nothing stops a replay before its first row" if not problems else \
        "1 problem would stop a replay" if problems == 1 else f"{problems:,} problems would stop a replay"
    if not sys.stdout.isatty():
        for check in diagnosis.checks:
            to_do = f"; to do: {check.to_do}" if check.to_do else ""
            print(printable(f"{check.state}: {check.name}: {check.found}{to_do}"))
        print(verdict)
        return
    console, grid = result_console(), new_grid("", "", "found, and what to do")
    for check in diagnosis.checks:
        found = words(check.found)
        if check.to_do:
            found.append("\n").append(words(f"→ {check.to_do}", "cyan"))
        grid.add(words(check.state, _COLOURS[check.state]), check.name, found)
    grid.print(console)
    console.print(words(verdict, "bold red" if problems else "bold green"))

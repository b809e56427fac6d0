"""The command line as a whole; each module of verbs adds its own to it."""

from typing import Annotated

import typer

from applier import __version__

app = typer.Typer(
    name="applier", add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Turns an archive of MySQL or MariaDB binlogs into an exact Parquet snapshot of its tables, at any time.",
    epilog="Exit codes: 0 done; 1 the replay stopped as a replica would; 2 bad usage or unreadable input.",
)


@app.callback(invoke_without_command=True)
def _applier(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    if version:
        print(f"applier {__version__}")
        raise typer.Exit

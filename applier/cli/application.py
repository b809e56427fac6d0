"""The command line: the decorator `verb` registers a function as a verb, with the options that the registry lists.

All verbs have -h, --help-all, -q and -v, and help by groups.
"""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from applier.cli.help import help_pages
from applier.cli.loudness import Loudness, choose
from applier.options import check_engine
from applier.options.option import REQUIRED, Option, Verb
from applier.version import __version__

Context = Any
"""typer's own class of contexts, which it does not export."""


class _Common:
    """Add the options that all verbs have, which may also precede a verb."""

    _common: tuple[TyperOption, ...] = ()

    def get_params(self, ctx: Context) -> list[Any]:
        """Return the command's own options, --help, and the common ones."""
        own: list[Any] = super().get_params(ctx)  # type: ignore[misc]  # of TyperCommand or TyperGroup
        self._common = self._common or _common()
        return [*own, *self._common]


class Command(_Common, TyperCommand):
    """One verb, as a typer command."""

    verb: Verb

    def format_usage(self, ctx: Context, formatter: Any) -> None:
        """Write the first line of --help, which usage errors show, too."""
        formatter.write_usage(ctx.command_path, " ".join(help_pages.usage(self.verb)))

    def format_help(self, ctx: Context, formatter: Any) -> None:
        """Write the first screen."""
        formatter.write(help_pages.first_screen(self.verb, help_pages.width()))

    def whole_help(self) -> str:
        """Return the complete help."""
        return help_pages.whole(self.verb, help_pages.width())


class Commands(_Common, TyperGroup):
    """All verbs."""

    def format_help(self, ctx: Context, formatter: Any) -> None:
        """Write the verbs by group."""
        formatter.write(help_pages.overview())

    def whole_help(self) -> str:
        """Return the list of verbs, followed by the complete help of each."""
        return "\n".join([help_pages.overview(), *(help_pages.whole(verb, help_pages.width())
                                                   for verb in help_pages.verbs())])


app = typer.Typer(
    name="applier", cls=Commands, add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False,
    rich_markup_mode=None, context_settings={"help_option_names": ["--help", "-h"]})


def verb(verb: Verb) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that registers a function as a verb. The function gets arguments by their Python names; its
    docstring is the beginning of the help."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def run(**given: Any) -> None:
            arguments = verb.parsed(given)
            if "engine" in arguments:
                check_engine(arguments["engine"], arguments["master"], arguments["conf"] or {})
            function(**arguments)

        parameters = [_parameter(option) for option in verb.given]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what typer reads
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        app.command(name=verb.name, cls=type(verb.name, (Command,), {"verb": verb}))(run)
        help_pages.TEXTS[verb.name] = inspect.cleandoc(function.__doc__ or "")
        return function

    return decorate


def _parameter(option: Option) -> inspect.Parameter:
    """Return an option as a parameter for typer."""
    kind, default = option.kind, option.on_command_line
    typed: Any = Literal[kind.choices] if kind.choices else list[str] if kind.many else kind.typed
    is_required = default is REQUIRED
    if not is_required and (kind.many or default in (None, ())):
        typed, default = typed | None, None
    if option.is_argument:
        info = typer.Argument(metavar=option.shown_value, help=option.help, hidden=option.hidden)
    else:
        names = [option.names[0] + f"/{option.off}" * bool(option.off), *option.names[1:]]
        info = typer.Option(*names, metavar=option.value or kind.value or None, help=option.help, min=kind.least,
                            hidden=option.hidden)
    return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[typed, info],
                             default=inspect.Parameter.empty if is_required else default)


def _common() -> tuple[TyperOption, ...]:
    """Return the options that all verbs have in addition to --help."""
    return (
        _flag(["--help-all"], _print_whole_help),
        _flag(["-q", "--quiet"], lambda ctx: choose(Loudness.QUIET)),
        _flag(["-v", "--verbose"], lambda ctx: choose(Loudness.VERBOSE)),
        _flag(["-vv"], lambda ctx: choose(Loudness.VERY_VERBOSE)),
    )


def _flag(names: list[str], act: Callable[[Context], None]) -> TyperOption:
    def seen(ctx: Context, option: TyperOption, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            act(ctx)

    return TyperOption(param_decls=names, is_flag=True, expose_value=False, is_eager=True, callback=seen)


def _print_whole_help(ctx: Context) -> None:
    print(ctx.command.whole_help(), end="")
    raise typer.Exit


@app.callback(invoke_without_command=True)
def _applier(
    ctx: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        print(f"applier {__version__}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())
        raise typer.Exit(2)

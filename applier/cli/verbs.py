"""What all verbs have in common: help by groups, -h, --help-all, -q and -v. A verb joins with `@app.command()`."""

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from applier.cli import help_pages
from applier.cli.loudness import Loudness, choose

Context = Any
"""typer's own class of contexts; it does not say which one."""


class Verb(TyperCommand):
    """One verb."""

    _common: tuple[TyperOption, ...] = ()

    def get_params(self, ctx: Context) -> list[Any]:
        """The options of its own, then --help and what all verbs have."""
        own = super().get_params(ctx)
        self._common = self._common or _common(own[-1])
        return [*own, *self._common]

    def format_usage(self, ctx: Context, formatter: Any) -> None:
        """The line that --help begins with, and that errors of usage show."""
        formatter.write_usage(ctx.command_path, " ".join(help_pages.usage(self)))

    def format_help(self, ctx: Context, formatter: Any) -> None:
        """The first screen."""
        formatter.write(help_pages.first_screen(self, help_pages.width()))

    def whole_help(self) -> str:
        """All that there is to say."""
        return help_pages.whole(self, help_pages.width())


class Verbs(TyperGroup):
    """All verbs, and the options that may stand before one."""

    _common: tuple[TyperOption, ...] = ()

    def get_params(self, ctx: Context) -> list[Any]:
        """--version, --help and what all verbs have."""
        own = super().get_params(ctx)
        self._common = self._common or _common(own[-1])
        return [*own, *self._common]

    def format_help(self, ctx: Context, formatter: Any) -> None:
        """The verbs by what they are for."""
        formatter.write(help_pages.verbs(self))

    def whole_help(self) -> str:
        """The verbs, then all of each."""
        names = self.commands.values()
        return "\n".join([help_pages.verbs(self), *(help_pages.whole(verb, help_pages.width()) for verb in names)])


class Application(typer.Typer):
    """A command line whose verbs have these things in common."""

    def command(self, *args: Any, **settings: Any) -> Callable[..., Any]:
        """Make a function a verb."""
        return super().command(*args, cls=Verb, **settings)


def _common(help_option: Any) -> tuple[TyperOption, ...]:
    """The options that all verbs have beside --help."""
    return (
        _flag(help_option, ["--help-all"], _print_whole_help),
        _flag(help_option, ["-q", "--quiet"], lambda ctx: choose(Loudness.QUIET)),
        _flag(help_option, ["-v", "--verbose"], lambda ctx: choose(Loudness.VERBOSE)),
    )


def _flag(like: Any, names: list[str], act: Callable[[Context], None]) -> TyperOption:
    def seen(ctx: Context, option: TyperOption, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            act(ctx)

    return TyperOption(param_decls=names, is_flag=True, expose_value=False, is_eager=True, callback=seen,
                       type_descriptor=like.type_descriptor)


def _print_whole_help(ctx: Context) -> None:
    print(ctx.command.whole_help(), end="")
    raise typer.Exit

"""Completion for shells, out of the verbs' declarations: nothing of Python runs when somebody presses Tab."""

from collections.abc import Iterator
from typing import Any

from applier.cli.groups import VERBS
from applier.cli.help_pages import COMMON, names_of, options_of, short_text

_PATHS = ("PATH", "DIR", "FILE", "SNAPSHOT", "LAKE", "RESULT")
_MOST = 60
"""Characters of a description."""


def completions(group: Any) -> dict[str, str]:
    """The scripts, by the paths below `share` where shells look for them."""
    return {
        "bash-completion/completions/applier": _bash(group),
        "zsh/site-functions/_applier": _zsh(group),
        "fish/vendor_completions.d/applier.fish": _fish(group),
    }


def _bash(group: Any) -> str:
    lines = [
        "# Completion of applier for bash; made from its declarations.",
        "_applier() {",
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb= options= values= at",
        "    for ((at = 1; at < COMP_CWORD; at++)); do",
        "        [[ ${COMP_WORDS[at]} == -* ]] || { verb=${COMP_WORDS[at]}; break; }",
        "    done",
        "    COMPREPLY=()",
        "    case $verb:$before in",
    ]
    for name, verb in group.commands.items():
        for param in options_of(verb):
            if values := _values(param):
                lines.append(f"        {name}:{names_of(param)[0]}) values='{' '.join(values)}' ;;")
            elif not param.is_flag and not _is_path(param):
                lines.append(f"        {name}:{names_of(param)[0]}) return ;;")
    lines += ["    esac",
              "    if [[ -n $values ]]; then COMPREPLY=($(compgen -W \"$values\" -- \"$word\")); return; fi",
              "    case $verb in",
              f"        '') options='{' '.join(group.commands)} --version' ;;"]
    lines += [f"        {name}) options='{' '.join(names_of(param)[0] for param in options_of(verb))}' ;;"
              for name, verb in group.commands.items()]
    lines += ["    esac",
              "    if [[ -z $verb || $word == -* ]]; then",
              f"        COMPREPLY=($(compgen -W \"$options {' '.join(_everywhere())}\" -- \"$word\"))",
              "    else",
              "        compopt -o filenames 2>/dev/null",
              "        local IFS=$'\\n'",
              "        COMPREPLY=($(compgen -f -- \"$word\"))",
              "    fi",
              "}",
              "complete -F _applier applier"]
    return "\n".join([*lines, ""])


def _zsh(group: Any) -> str:
    lines = ["#compdef applier", "# Completion of applier for zsh; made from its declarations.", "",
             "local -a verbs", "verbs=("]
    lines += [f"    {_quoted(name + ':' + text)}" for name, text in _verb_texts(group)]
    lines += [")", "local verb= at",
              "for ((at = 2; at < CURRENT; at++)); do", "    [[ ${words[at]} == -* ]] || { verb=${words[at]}; break; }",
              "done", "if [[ -z $verb ]]; then", "    _describe verb verbs", "    return", "fi",
              "shift $((at - 1)) words", "(( CURRENT -= at - 1 ))", "case $verb in"]
    for name, verb in group.commands.items():
        lines.append(f"    {name}) _arguments \\")
        lines += [f"        {_quoted(_zsh_option(param))} \\" for param in options_of(verb)]
        lines += [f"        {_quoted(f'{option}[{_zsh_text(text)}]')} \\" for option, text in _everywhere().items()]
        lines.append("        '*: :_files' ;;")
    return "\n".join([*lines, "esac", ""])


def _zsh_option(param: Any) -> str:
    option, value = names_of(param)
    start = f"{'*' * param.multiple}{option}[{_zsh_text(_text(param))}]"
    if param.is_flag:
        return start
    values = _values(param)
    action = f"({' '.join(values)})" if values else "_files" if _is_path(param) else " "
    return f"{start}:{_zsh_text(value)}:{action}"


def _zsh_text(text: str) -> str:
    for character in "\\[]:":
        text = text.replace(character, "\\" + character)
    return text


def _fish(group: Any) -> str:
    lines = ["# Completion of applier for fish; made from its declarations.",
             f"set -l verbs {' '.join(group.commands)}"]
    lines += [f"complete -c applier -f -n \"not __fish_seen_subcommand_from $verbs\" -a {name} -d {_fish_quoted(text)}"
              for name, text in _verb_texts(group)]
    for name, verb in group.commands.items():
        for param in options_of(verb):
            values = _values(param)
            takes = "" if param.is_flag else f" -x -a {_fish_quoted(' '.join(values))}" if values else \
                " -r -F" if _is_path(param) else " -x"
            lines.append(f"complete -c applier -n \"__fish_seen_subcommand_from {name}\" -l {names_of(param)[0][2:]}"
                         f"{takes} -d {_fish_quoted(_text(param))}")
    for option, text in _everywhere().items():
        lines.append(f"complete -c applier -{'l' if option.startswith('--') else 's'} {option.lstrip('-')} "
                     f"-d {_fish_quoted(text)}")
    return "\n".join([*lines, ""])


def _verb_texts(group: Any) -> Iterator[tuple[str, str]]:
    for texts in VERBS.values():
        for name, text in texts.items():
            if name in group.commands:
                yield name, text


def _everywhere() -> dict[str, str]:
    return {option: text for options, text in COMMON.items() for option in options.split(", ")}


def _values(param: Any) -> list[str]:
    return [str(getattr(choice, "value", choice)) for choice in param.type_descriptor.choices or ()]


def _is_path(param: Any) -> bool:
    value = names_of(param)[1]
    return value.startswith(_PATHS) and ":" not in value


def _text(param: Any) -> str:
    return short_text(param.help or "", _MOST)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

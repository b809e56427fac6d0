"""Shell completions, generated from the verbs' declarations: no Python runs when the user presses Tab."""


from applier.cli.help.help_pages import COMMON, short_text, verbs
from applier.options.option import Option

_PATHS = ("PATH", "DIR", "FILE", "SNAPSHOT", "LAKE", "RESULT")
_MOST = 60
"""The maximum length of a description, in characters."""


def completions() -> dict[str, str]:
    """Return the scripts by their paths below `share`, where shells look for them."""
    return {
        "bash-completion/completions/applier": _bash(),
        "zsh/site-functions/_applier": _zsh(),
        "fish/vendor_completions.d/applier.fish": _fish(),
    }


def _bash() -> str:
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
    for verb in verbs():
        for option in verb.shown:
            if option.kind.choices:
                lines.append(f"        {verb.name}:{option.flag}) values='{' '.join(option.kind.choices)}' ;;")
            elif not _is_flag(option) and not _is_path(option):
                lines.append(f"        {verb.name}:{option.flag}) return ;;")
    lines += ["    esac",
              "    if [[ -n $values ]]; then COMPREPLY=($(compgen -W \"$values\" -- \"$word\")); return; fi",
              "    case $verb in",
              f"        '') options='{' '.join(verb.name for verb in verbs())} --version' ;;"]
    lines += [f"        {verb.name}) options='{' '.join(option.flag for option in verb.shown)}' ;;" for verb in verbs()]
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


def _zsh() -> str:
    lines = ["#compdef applier", "# Completion of applier for zsh; made from its declarations.", "",
             "local -a verbs", "verbs=("]
    lines += [f"    {_quoted(f'{verb.name}:{verb.summary}')}" for verb in verbs()]
    lines += [")", "local verb= at",
              "for ((at = 2; at < CURRENT; at++)); do", "    [[ ${words[at]} == -* ]] || { verb=${words[at]}; break; }",
              "done", "if [[ -z $verb ]]; then", "    _describe verb verbs", "    return", "fi",
              "shift $((at - 1)) words", "(( CURRENT -= at - 1 ))", "case $verb in"]
    for verb in verbs():
        lines.append(f"    {verb.name}) _arguments \\")
        lines += [f"        {_quoted(_zsh_option(option))} \\" for option in verb.shown]
        lines += [f"        {_quoted(f'{option}[{_zsh_text(text)}]')} \\" for option, text in _everywhere().items()]
        lines.append("        '*: :_files' ;;")
    return "\n".join([*lines, "esac", ""])


def _zsh_option(option: Option) -> str:
    start = f"{'*' * option.kind.many}{option.flag}[{_zsh_text(_text(option))}]"
    if _is_flag(option):
        return start
    choices = option.kind.choices
    action = f"({' '.join(choices)})" if choices else "_files" if _is_path(option) else " "
    return f"{start}:{_zsh_text(option.shown_value)}:{action}"


def _zsh_text(text: str) -> str:
    for character in "\\[]:":
        text = text.replace(character, "\\" + character)
    return text


def _fish() -> str:
    lines = ["# Completion of applier for fish; made from its declarations.",
             f"set -l verbs {' '.join(verb.name for verb in verbs())}"]
    lines += [f"complete -c applier -f -n \"not __fish_seen_subcommand_from $verbs\" -a {verb.name} "
              f"-d {_fish_quoted(verb.summary)}" for verb in verbs()]
    for verb in verbs():
        for option in verb.shown:
            choices = option.kind.choices
            takes = "" if _is_flag(option) else f" -x -a {_fish_quoted(' '.join(choices))}" if choices else \
                " -r -F" if _is_path(option) else " -x"
            lines.append(f"complete -c applier -n \"__fish_seen_subcommand_from {verb.name}\" -l {option.flag[2:]}"
                         f"{takes} -d {_fish_quoted(_text(option))}")
    for name, text in _everywhere().items():
        lines.append(f"complete -c applier -{'l' if name.startswith('--') else 's'} {name.lstrip('-')} "
                     f"-d {_fish_quoted(text)}")
    return "\n".join([*lines, ""])


def _everywhere() -> dict[str, str]:
    return {option: text for options, text in COMMON.items() for option in options.split(", ")}


def _is_flag(option: Option) -> bool:
    return option.kind.typed is bool


def _is_path(option: Option) -> bool:
    return option.shown_value.startswith(_PATHS) and ":" not in option.shown_value


def _text(option: Option) -> str:
    return short_text(option.help, _MOST)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

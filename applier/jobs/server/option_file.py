"""Option files of the servers' clients: the options about a connection, as these clients read them.

The last value of an option wins. `-` and `_` are the same in names; `loose-` is removed; `skip-` and `disable-` turn an
option off. Options that do not concern the connection are for other programs, and are ignored. An unknown TLS option
is an error: without it the connection could be weaker than the file asks for. Sources: MySQL Reference
Manual, "Using Option Files" and "Program Option Modifiers"; MariaDB documentation, "Configuring MariaDB with Option
Files".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from applier.errors import UsageError, reason
from applier.io.printable import printable
from applier.io.resolver import check_regular

TEXTS = frozenset((
    "host", "port", "socket", "protocol", "bind-address", "user", "password", "server-public-key-path", "ssl-mode",
    "ssl-ca", "ssl-capath", "ssl-cert", "ssl-key", "ssl-passphrase", "ssl-cipher", "ssl-crl", "ssl-crlpath",
    "tls-version",
))
"""Words with a value."""
FLAGS = frozenset(("ssl", "ssl-verify-server-cert", "get-server-public-key"))
"""Words that are on or off, and on without a value."""
_MAY_BE_EMPTY = frozenset(("host", "socket", "user", "password"))
_PROTECTS = re.compile("ssl|tls|pqc|restricted-auth|server-public-key")
"""The options about the protection of a connection have these words in their names."""
_SCHEMES = {"client": ("mysql", "mariadb"), "client-server": ("mariadb",), "client-mariadb": ("mariadb",)}
"""Groups that are read, with the schemes of addresses that read them, as each server's clients do."""
_PREFIXES = (("skip-", False), ("disable-", False), ("enable-", True))
_BOOLEANS = {"1": True, "on": True, "true": True, "0": False, "off": False, "false": False}
_MOST_CHARACTERS = 1 << 20
_SPACE = " \t\r\n\v\f"
_WITHOUT_COMMENT = re.compile(r"""(?:[^'"#]|'(?:\\.|[^'\\])*(?:'|\\?$)|"(?:\\.|[^"\\])*(?:"|\\?$))*""")
"""A line up to a `#` that is not within quotes."""
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "s": " ", "'": "'", '"': '"', "\\": "\\"}


@dataclass(frozen=True)
class OptionFile:
    """The words of some groups of a file. Without a file there are none."""

    path: str | None = None
    texts: dict[str, str] = field(default_factory=dict, repr=False)
    flags: dict[str, bool] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str, scheme: str) -> OptionFile:
        """Read the words of the groups that are for addresses of this scheme. Raise UsageError for a file that cannot
        be read or followed; the message has no value, which could be a password."""
        check_regular(path)
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read(_MOST_CHARACTERS + 1)
        except OSError as error:
            raise UsageError(f"cannot read the option file: {reason(error)}", file=path) from None
        except UnicodeError:
            raise UsageError("the option file is not UTF-8 text", file=path) from None
        found = cls(path)
        if len(text) > _MOST_CHARACTERS:
            raise found.refused(f"the option file is longer than {_MOST_CHARACTERS:,} characters")
        group = None
        for number, line in enumerate(text.split("\n"), 1):
            line = line.strip(_SPACE)
            if not line or line[0] in "#;":
                continue
            if line[0] == "!":
                raise found.refused(f"line {number} of the option file includes other files, which are not read",
                                    "copy the options that are needed into this file")
            if line[0] == "[":
                group, end, _ = line[1:].partition("]")
                group = group.rstrip(_SPACE)
                if not end:
                    raise found.refused(f"line {number} of the option file begins a group without `]`")
            elif group is None:
                raise found.refused(f"line {number} of the option file is in no group", "begin with a line [client]")
            elif scheme in _SCHEMES.get(group, ()):
                found._take(line)
            elif group in _SCHEMES and _PROTECTS.search(_name(line)):
                raise found.refused(f"line {number} of the option file is about TLS, in a group that {scheme}:// "
                                    "addresses do not read", f"use {_SCHEMES[group][0]}://, or move it to [client]")
        return found

    def refused(self, what: str, hint: str | None = None) -> UsageError:
        """Return the error for a file that cannot be followed."""
        return UsageError(what, file=self.path, hint=hint)

    def _take(self, line: str) -> None:
        """Keep a word of a line `name` or `name = value`."""
        name, value = _name(line), _value(line)
        for prefix, on in _PREFIXES:
            if name.startswith(prefix) and (rest := name.removeprefix(prefix)) in FLAGS:
                name, value = rest, str(int(on != (value == "0")))
        if name in FLAGS:
            switched = _BOOLEANS.get("1" if value is None else value.lower())
            if switched is None:
                raise self.refused(f"{name} in the option file is neither ON nor OFF")
            self.flags[name] = switched
        elif name in TEXTS:
            if value is None or (not value and name not in _MAY_BE_EMPTY):
                raise self.refused(f"{name} in the option file has no value")
            if name != "password" and not value.isprintable():
                raise self.refused(f"{name} in the option file has characters that cannot be printed")
            self.texts[name] = value
        elif _PROTECTS.search(name):
            raise self.refused(f"{printable(name.split()[0][:64])} in the option file is not supported",
                               "remove it, or protect the connection by ssl-mode and ssl-ca")


def _name(line: str) -> str:
    """Return an option's name in the normal spelling."""
    return _split(line)[0].rstrip(_SPACE).lower().replace("_", "-").removeprefix("loose-")


def _value(line: str) -> str | None:
    """Return a word's value, without the quotes around it and with its escapes replaced; None if it has none."""
    _, equals, value = _split(line)
    if not equals:
        return None
    value = value.strip(_SPACE)
    if len(value) > 1 and value[0] in "'\"" and value[-1] == value[0]:
        value = value[1:-1]
    return _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[0]), value)


def _split(line: str) -> tuple[str, str, str]:
    without_comment = _WITHOUT_COMMENT.match(line)
    assert without_comment is not None  # it matches any text
    return without_comment[0].partition("=")

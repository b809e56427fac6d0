"""How the servers' command line clients divide a file into statements and commands of their own, by their character
sets: a model of MySQL 9.7's `mysql` and MariaDB 10.11's `mariadb` in batch mode, without the project's code.

Both read line by line, and byte by byte in a line. A sequence that is a character of several bytes in their own
character set is skipped as a whole. A backslash outside of quotes begins a command, and at the start of a statement a
line may name one; in quotes it takes the next byte with it, in backquotes in MySQL's client only. SET NAMES changes
nothing.
"""

from collections.abc import Callable

_COMMANDS = frozenset(b"?acdeghnpqrstuwxCGPRTW!.-#")


def _within(byte: int, *ranges: tuple[int, int]) -> bool:
    return any(low <= byte <= high for low, high in ranges)


def _double(leads: tuple[tuple[int, int], ...], trails: tuple[tuple[int, int], ...]) -> Callable[[bytes, int], int]:
    def length(line: bytes, at: int) -> int:
        return 2 * (at + 1 < len(line) and _within(line[at], *leads) and _within(line[at + 1], *trails))
    return length


_GBK = _double(((0x81, 0xFE),), ((0x40, 0x7E), (0x80, 0xFE)))
_SJIS = _double(((0x81, 0x9F), (0xE0, 0xFC)), ((0x40, 0x7E), (0x80, 0xFC)))


def _gb18030(line: bytes, at: int) -> int:
    four = line[at:at + 4]
    if len(four) == 4 and all(_within(byte, (0x81, 0xFE) if place % 2 == 0 else (0x30, 0x39))
                              for place, byte in enumerate(four)):
        return 4
    return _GBK(line, at)


def _ujis(line: bytes, at: int) -> int:
    if line[at] == 0x8F:
        more = line[at + 1:at + 3]
        return 3 * (len(more) == 2 and all(_within(byte, (0xA1, 0xFE)) for byte in more))
    return _double(((0x8E, 0x8E),), ((0xA0, 0xDF),))(line, at) or _double(((0xA1, 0xFE),), ((0xA1, 0xFE),))(line, at)


def _utf8(line: bytes, at: int) -> int:
    size = 2 * _within(line[at], (0xC2, 0xDF)) + 3 * _within(line[at], (0xE0, 0xEF)) + \
        4 * _within(line[at], (0xF0, 0xF4))
    more = line[at + 1:at + size]
    return size * (size > 0 and len(more) == size - 1 and all(_within(byte, (0x80, 0xBF)) for byte in more))


CHARSETS: dict[str, Callable[[bytes, int], int]] = {
    "utf8mb4": _utf8, "latin1": lambda line, at: 0, "gbk": _GBK, "gb18030": _gb18030,
    "gb2312": _double(((0xA1, 0xF7),), ((0xA1, 0xFE),)), "sjis": _SJIS, "cp932": _SJIS,
    "big5": _double(((0xA1, 0xF9),), ((0x40, 0x7E), (0xA1, 0xFE))), "ujis": _ujis, "eucjpms": _ujis,
    "euckr": _double(((0x81, 0xFE),), ((0x41, 0x5A), (0x61, 0x7A), (0x81, 0xFE)))}
"""Of each character set that both clients can have: the length of the character at an offset of a line; 0 for a single
byte. Source: the servers' strings/ctype-*.c."""


def divided(text: bytes, charset: str, flavour: str, *, backslash: bool = True) -> tuple[list[bytes], list[bytes]]:
    """Return the statements that a client sends, without comments, and its own commands that it runs, each with the
    rest of its line. The rest at the end is a statement; without `backslash` the session has NO_BACKSLASH_ESCAPES."""
    size, statements, commands = CHARSETS[charset], list[bytes](), list[bytes]()
    buffer, quote, comment = bytearray(), 0, False
    for line in text.split(b"\n"):
        if not buffer.strip() and not quote and not comment and line.strip().lower().startswith(
                (b"delimiter", b"source", b"system", b"tee", b"pager", b"\\")):
            commands.append(line)
            continue
        at = 0
        while at < len(line):
            byte = line[at]
            if length := size(line, at):
                buffer += line[at:at + length] * (not comment)
                at += length
            elif comment:
                comment = line[at:at + 2] != b"*/"
                at += 1 if comment else 2
            elif byte == 0x5C and (backslash or not quote) and not (quote == 0x60 and flavour == "mariadb"):
                if at + 1 == len(line):
                    break
                if quote or line[at + 1] == 0x4E:
                    taken = 1 if quote == 0x60 == line[at + 1] else 2
                    buffer += line[at:at + taken]
                    at += taken
                    continue
                if line[at + 1] in _COMMANDS:
                    commands.append(line[at:])
                at += 2
            elif not quote and byte == 0x3B:
                statements.append(_visible(buffer, charset))
                buffer.clear()
                at += 1
            elif not quote and (byte == 0x23 or line[at:at + 3] in (b"-- ", b"--")):
                break
            elif not quote and line[at:at + 2] == b"/*" and not line[at + 2:].startswith((b"!", b"M!")):
                comment = True
                at += 2
            else:
                if byte == quote:
                    quote = 0
                elif not quote and byte in b"'\"`":
                    quote = byte
                buffer.append(byte)
                at += 1
        buffer += b"\n"
    return [*statements, *([_visible(buffer, charset)] if buffer.strip() else [])], commands


def _visible(statement: bytearray, charset: str) -> bytes:
    """Return a statement without its trailing characters that the client does not see: bytes beyond ASCII, mostly."""
    text = bytes(statement).strip()
    return text if charset == "utf8mb4" else text.rstrip(bytes([*range(0x21), *range(0x7F, 0x100)]))

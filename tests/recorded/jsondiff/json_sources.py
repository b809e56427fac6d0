"""What record_documents.py asks a server for: JSON texts good and bad, and SQL expressions of documents."""

import decimal
import json
import math
import random
import struct
from fractions import Fraction

import pymysql

RANDOM = random.Random(7)


def doubles() -> list[float]:
    values = [struct.unpack("<d", RANDOM.randbytes(8))[0] for _ in range(3000)]
    values = [v for v in values if v == v and abs(v) != float("inf")]
    values += [m * 10.0**e for e in range(-30, 31) for m in (1, -1, 1.5, -9.999999999999999, 7.25)]
    values += [2.0**e for e in range(-1074, 1024)] + [float(f"1e{e}") for e in range(-323, 309)]
    values += [float(text) for n in range(1, 18) for text in ("1" * n, "9" * n, "1" * n + ".5", "0." + "0" * n + "17")]
    return values + [v for k in range(53) for v in (2.0**k + 1, 1 + 2.0**-k, 2.0**53 - 2**k)]


def random_text(size: int) -> str:
    return "".join(RANDOM.choice('aé日😀"\\\n\x01\x1f\x7f/ z') for _ in range(size))


def random_document(depth: int = 0):
    match RANDOM.randrange(9 if depth < 6 else 7):
        case 0:
            return RANDOM.choice([None, True, False])
        case 1:
            return RANDOM.randrange(-100, 100)
        case 2:
            return RANDOM.choice([-1, 1]) * RANDOM.getrandbits(RANDOM.randrange(1, 64))
        case 3:
            return RANDOM.getrandbits(64)
        case 4:
            return RANDOM.uniform(-1e6, 1e6)
        case 7:
            return [random_document(depth + 1) for _ in range(RANDOM.randrange(6))]
        case 8:
            return {random_text(RANDOM.randrange(6)): random_document(depth + 1) for _ in range(RANDOM.randrange(6))}
    return random_text(RANDOM.randrange(20))


def sql_values() -> list[str]:
    """SQL expressions whose values JSON has no type for."""
    out = []
    for size in "1,0 1,1 5,2 9,0 9,9 10,1 18,9 19,10 27,4 65,30 65,0 30,30 40,22".split():
        precision, scale = map(int, size.split(","))
        for turn in range(6):
            digits = str(RANDOM.getrandbits(300))[: RANDOM.randrange(1, precision + 1)] if turn else "9" * precision
            value = decimal.Decimal(0 if turn == 1 else digits).scaleb(-scale, decimal.Context(prec=70))
            out.append(f"CAST('{-value if turn > 3 else value:f}' AS DECIMAL({precision},{scale}))")
    out += [f"DATE'{d}'" for d in ("0001-01-01", "9999-12-31", "2024-02-29", "1970-01-01")]
    times = "00:00:00 -00:00:01 838:59:59 -838:59:59 99:00:00.000001 -12:34:56.999999".split()
    out += [f"TIME'{t}'" for t in times]
    datetimes = ("0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "2024-02-29 12:34:56.000001")
    out += [f"TIMESTAMP'{t}'" for t in datetimes]
    out += ["CAST('0000-00-00' AS DATE)", "CAST('0000-00-00 00:00:00' AS DATETIME)", "b'1'", "x'ff'"]
    lengths = [*range(12), *range(54, 61), *range(113, 117), 171, 1000]
    out += [f"CAST(x'{RANDOM.randbytes(n).hex()}' AS BINARY)" for n in lengths]
    return out


def documents() -> list[str]:
    """SQL expressions of JSON documents of every type and both formats."""
    numbers, values = doubles(), sql_values()
    out = ["'" + json.dumps(numbers[i : i + 200]) + "'" for i in range(0, len(numbers), 200)]
    random_ones = [json.dumps([random_document(), random_document()]) for _ in range(300)]
    out += ["'" + pymysql.converters.escape_string(text) + "'" for text in random_ones]
    out += ["JSON_ARRAY(" + ",".join(values[i : i + 7]) + ")" for i in range(0, len(values), 7)]
    out += [f"JSON_OBJECT('k', {value})" for value in values[::5]]
    out += ["'" + "[" * 100 + "]" * 100 + "'"]
    inside = "1,70000,-70000,4000000000,5000000000,1.5,true,null,JSON_OBJECT('a',70000),JSON_ARRAY()"
    out += [f"JSON_ARRAY(REPEAT('q',70000),{inside})"]
    out += ["""JSON_OBJECT('l',REPEAT('é"',33000),'b',JSON_ARRAY(-2147483648,4294967295))"""]
    for size in (65_522, 65_523, 65_524):  # where an array becomes large, which makes what it is in large
        out += [f"JSON_ARRAY(REPEAT('q',{size}),70000)", f"JSON_ARRAY(JSON_OBJECT('a',REPEAT('q',{size})),70000,1)"]
    return out


NUMBERS = """
    -0 -0.0 -0e0 01 1. .5 1e 1e+ +1 - -a NaN Infinity -Infinity 1E5 1e+5 1e-5 1.0E-05 100000000000000000000e-20
    0.1e309 1e400 -1e400 0e400 0e308 0e309 0.0e309 0.0e310 -0e309 1e-400 0e-99999999999 1e99999999999 0e00000309
    1e5000000000 1000e306 1e308 1.8e308 4.9e-324 2e-324 2147483647 2147483648 -2147483648 -2147483649 4294967295
    4294967296 5000000000 9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809
    18446744073709551615 18446744073709551616
"""
STRINGS = r"""
    "\ud800" "\udc00" "\ud83d\ude00" "\ud83dx" "\ud83d\n" "\ud83d\u0041" "\uD83D\uDE00" "\ud83d "\u0000" "\u12g4" "\u12"
    "\x" "\" "\ "abc " "\/\b\f\n\r\t"
"""
CONTAINERS = """
    [1,] [1,2 [ { [1]x []] [,1] {"a":1,} {a:1} {'a':1} {"a" {"a": {"a":1 {"a"1} {1:2} {"a":1,2} ] } , : nul tru fals
    null0 {"b":1,"a":2,"aa":3,"":4} {"a":1,"a":2} {"a":2,"b":1,"a":{"b":1},"b":[]} {"é":1,"z":2,"ab":3,"😀":4}
"""
ODD_TEXTS = [
    *(NUMBERS + STRINGS + CONTAINERS).split(),
    *("", " ", "\t\n\r ", "\v1", "1\f", "\u00a01", "\ufeff1", "null\0x", "null \0", "\0", '"a\0b"', "[1\0]"),
    *('"\x01"', '"\n"', '"\x7f"', '"\u2028"', '"\ufffe"', "// 1", "/* */ 1"),
    *("[1 2]", '{"a" 1}', '{"a":1 "b":2}', " [ 1 , 2 ] "),
    *("[" * 100 + "]" * 100, "[" * 101 + "]" * 101, "[" * 101, '{"a":' * 101, "[" * 100 + "x", "[" * 100 + "{}"),
    *("[" * 99 + "{}" + "]" * 99, '{"a":[' * 50 + "1" + "]}" * 50, '{"' + "k" * 65_535 + '":1}'),
    *('{"' + "k" * 65_536 + '":1}', "9" * 309, "9" * 308, "1" + "0" * 308, "1" + "0" * 309, "0." + "0" * 400 + "1e400"),
    *("1" * 5000, "0." + "1" * 5000),
]


def texts() -> list[str]:
    """JSON texts that no server prints like this: rare ones, spaced and escaped ones, numbers, and damaged ones."""
    spelled = [spell(random_document()) for _ in range(1500)]
    damaged = [damage(text) for text in spelled if len(text) < 300]
    numbers = [text for value in doubles()[:900] for text in spellings(value)]
    return ODD_TEXTS + spelled + damaged + [f"[{', '.join(numbers[i : i + 30])}]" for i in range(0, len(numbers), 30)]


def spell(value) -> str:
    """Some JSON text of a value."""
    space = RANDOM.choice(["", "", " ", "\n\t", "  \r"])
    if isinstance(value, dict):
        members = [f"{spell(key)}{space}:{spell(element)}" for key, element in value.items()]
        members += [f"{spell(key)}: {spell(RANDOM.randrange(9))}" for key in value if RANDOM.random() < 0.1]
        RANDOM.shuffle(members)
        return space + "{" + f"{space},".join(members) + space + "}"
    if isinstance(value, list):
        return "[" + f",{space}".join(map(spell, value)) + space + "]"
    if isinstance(value, str):
        return '"' + "".join(map(spell_character, value)) + '"' + space
    if isinstance(value, float):
        return RANDOM.choice([repr(value), f"{value:.3f}", f"{value:.20E}", f"{value:g}", f"{value:.0f}"])
    return json.dumps(value) + space


def spell_character(character: str) -> str:
    if character == "/" and RANDOM.random() < 0.5:
        return "\\/"
    if RANDOM.random() < 0.2:
        escaped = json.dumps(character)[1:-1] if character > "\x7f" else f"\\u{ord(character):04x}"
        return escaped if RANDOM.random() < 0.5 else escaped.upper().replace("\\U", "\\u")
    return json.dumps(character, ensure_ascii=False)[1:-1]


def damage(text: str) -> str:
    at = RANDOM.randrange(len(text))
    put = RANDOM.choice(["", "", *'"\\{}[],:0e.-n\x02', "\\u12", "\\ud800"])
    return text[:at] + put + text[at + RANDOM.randrange(3) :]


def spellings(value: float) -> list[str]:
    """Texts of numbers near a double: itself, the middle between it and the next, and what is close to it."""
    following = math.nextafter(value, math.inf)
    if math.isinf(following):
        return [repr(value)]
    middle = (Fraction(value) + Fraction(following)) / 2
    with decimal.localcontext(prec=1200):
        exact = decimal.Decimal(middle.numerator) / middle.denominator
        step = decimal.Decimal((0, (1,), exact.adjusted() - RANDOM.choice([15, 17, 19, 40, 800])))
        near = [exact, exact + step, exact - step]
        forms = ("e", ".30e", "f") if middle > 1 else ("e", ".30e")
        return [repr(value), *(f"{RANDOM.choice(near):{form}}" for form in forms)]


FRACTIONS = """
    0.1 -0.1 0.10 0.5 1.5 -0.0 -0e0 1e-30 1e-31 123456789.125 0.30000000000000004 0.3 1e22 1e40 1.7e308
"""
WORDS = "2024-02-29", "2024-02-29 00:00:00", "2024-02-29 12:00:00.5", "12:00:00", "-12:00:00", "ab", "1", "true"
TIMES = """
    DATE'2024-02-29' TIMESTAMP'2024-02-29|00:00:00' TIMESTAMP'2024-02-29|12:00:00.5' TIME'12:00:00' TIME'-12:00:00' b'1'
"""


def comparable() -> list[str]:
    """SQL expressions of documents of which many are equal and many more nearly so. They need the table `typed`."""
    numbers = [0, 1, -1, 7, 10, 2**53, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1, -(2**63), 10**15, 10**18, 10**19]
    out = ["'null'", "'true'", "'false'", "'\"\"'", "'[]'", "'{}'"]
    for number in numbers:
        out += [f"'{number}'", f"CAST({number}e0 AS JSON)", f"CAST({number}.00 AS JSON)"]
        out += [f"CAST(CAST({number} AS DECIMAL({size})) AS JSON)" for size in ("65,0", "60,30")]
        out += [f"CAST(CAST({number} AS UNSIGNED) AS JSON)"] if number >= 0 else []
    for text in FRACTIONS.split():
        out += [f"'{text}'", f"CAST(CAST('{text}' AS DECIMAL(65,30)) AS JSON)", f"'{float(text)!r}'"]
    for text in WORDS:
        out += [f"JSON_QUOTE('{text}')", f"CAST(CAST('{text}' AS BINARY) AS JSON)"]
    out += [f"CAST({value.replace('|', ' ')} AS JSON)" for value in TIMES.split()]
    out += [f"(SELECT CAST({column} AS JSON) FROM typed)" for column in "ts dt dt0 d t bl vb bi b y".split()]
    scalars = out[:40]
    for _ in range(150):
        values = [f"CAST({value} AS JSON)" for value in RANDOM.sample(scalars, RANDOM.randrange(1, 3))]
        members = ", ".join(f"'{name}', {value}" for name, value in zip(RANDOM.sample("abc", len(values)), values))
        out += [f"JSON_ARRAY({', '.join(values)})", f"JSON_OBJECT({members})", f"JSON_ARRAY(JSON_OBJECT({members}))"]
    return out

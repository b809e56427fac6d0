"""Table definitions: JSON and CREATE TABLE text read back equal."""

import json
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.mysql.character_sets.labels import labels_in
from applier.mysql.types import ColumnType
from applier.schema.ddl.ddl import parse_statement
from applier.schema.definition import TableDefinition
from applier.schema.table_parts import Column, Default, Key, KeyPart
from tests.support.examples import examples

_names = st.text(min_size=1, max_size=8).filter(lambda name: name.strip() == name and "\0" not in name)
_member = st.text(max_size=6).map(lambda text: text.rstrip(" "))
_charsets = st.sampled_from([("utf8mb4", "utf8mb4_bin"), ("latin1", "latin1_swedish_ci"), ("ucs2", "ucs2_bin"),
                             ("utf8mb3", "utf8mb3_general_ci")])


_BASES = ("int bigint decimal float double bit date datetime timestamp time year char varchar text longtext enum set "
          "binary varbinary tinyblob blob point").split()
_OWN_BASES = {"mysql": ["json", "vector"], "mariadb": ["inet4", "inet6", "uuid"]}


@st.composite
def column_types(draw, flavour):
    base = draw(st.sampled_from([*_BASES, *_OWN_BASES[flavour]]))
    if base in ("int", "bigint"):
        return ColumnType(base, unsigned=draw(st.booleans()), length=draw(st.none() | st.integers(1, 20)))
    if base == "decimal":
        precision = draw(st.integers(1, 65))
        return ColumnType(base, precision=precision, scale=draw(st.integers(0, min(precision, 30))),
                          unsigned=draw(st.booleans()))
    if base in ("float", "double") and draw(st.booleans()):
        return ColumnType(base, precision=draw(st.integers(5, 50)), scale=draw(st.integers(0, 5)))
    if base == "bit":
        return ColumnType(base, length=draw(st.integers(1, 64)))
    if base in ("datetime", "timestamp", "time"):
        return ColumnType(base, fsp=draw(st.integers(0, 6)))
    if base in ("binary", "varbinary", "vector"):
        return ColumnType(base, length=draw(st.integers(1, 255)))
    if base in ("char", "varchar", "text", "longtext", "enum", "set"):
        charset, collation = draw(_charsets)
        members = tuple(draw(st.lists(_member, min_size=1, max_size=5))) if base in ("enum", "set") else ()
        members = labels_in(charset, members)  # as a server has them
        length = draw(st.integers(0, 255)) if base in ("char", "varchar") else None
        compressed = flavour == "mariadb" and base in ("varchar", "text", "longtext") and draw(st.booleans())
        return ColumnType(base, length=length, charset=charset, collation=collation, members=members,
                          compressed=compressed)
    return ColumnType(base, srid=draw(st.none() | st.integers(0, 9999)) if base == "point" else None)


_defaults = st.one_of(
    st.none(), st.just(Default("null")), st.builds(Default, st.just("string"), st.text(max_size=9)),
    st.builds(Default, st.just("number"), st.sampled_from(["0", "-1.50", "3e5"])),
    st.builds(Default, st.just("bytes"), st.binary(max_size=4).map(bytes.hex)),
    st.just(Default("now", "CURRENT_TIMESTAMP(3)")), st.just(Default("expression", "(1 + 2) * `a``b`")))


@st.composite
def columns(draw, name, flavour):
    column_type = draw(column_types(flavour))
    default = draw(_defaults)
    if column_type.base == "timestamp" and default and default.kind in ("string", "number", "bytes"):
        default = None  # is converted to UTC: see test_column_grammar
    if flavour == "mysql" and default == Default("string", "") and column_type.base.endswith(("text", "blob")):
        default = None  # is none there
    generated = draw(st.sampled_from([None, None, None, "stored", "virtual"]))
    nullable = draw(st.booleans()) or (generated is not None and flavour == "mariadb")
    return Column(name, column_type, nullable, None if generated else default,
                  draw(st.sampled_from([None, "CURRENT_TIMESTAMP"])), False, generated,
                  "concat('a', `x`)" if generated else None, draw(st.booleans()), draw(st.text(max_size=9)))


@st.composite
def definitions(draw):
    flavour = draw(st.sampled_from(["mysql", "mariadb"]))
    names = draw(st.lists(_names, min_size=1, max_size=5, unique_by=str.casefold))
    made = [draw(columns(name, flavour)) for name in names]
    keys = []
    if draw(st.booleans()):
        made[0] = Column(names[0], ColumnType("int"), nullable=False, auto_increment=draw(st.booleans()))
        keys.append(Key("PRIMARY", "primary", (KeyPart(names[0], None, draw(st.booleans())),)))
    if draw(st.booleans()):
        kind = draw(st.sampled_from(["unique", "key", "fulltext", "spatial"]))
        # Of any other prefix the server, and so the parser, makes the whole column.
        takes_one = kind in ("unique", "key") and made[-1].type.base.endswith(("text", "blob"))
        prefix = draw(st.none() | st.integers(1, 9)) if takes_one else None
        if kind in ("unique", "key") and made[-1].type.base == "point":
            prefix = 25  # that servers give it
        parts = (KeyPart(names[-1], prefix), KeyPart(None, None, True, "lower(`x`)"))
        keys.append(Key(draw(_names), kind, parts, draw(st.booleans())))
    charset, collation = draw(_charsets)
    return TableDefinition(draw(_names), draw(_names), tuple(made), tuple(keys), charset, collation,
                           draw(st.sampled_from([None, "InnoDB"])), flavour)


@pytest.mark.slow
@settings(max_examples=examples(100))
@given(definitions())
def test_reads_back_equal(definition):
    """to_sql is a statement that the parser makes the same definition of; to_json and pickle lose nothing."""
    [change] = parse_statement(definition.to_sql(), flavour=definition.flavour)
    assert change.definition == definition
    assert TableDefinition.from_json(json.loads(json.dumps(definition.to_json()))) == definition
    assert pickle.loads(pickle.dumps(definition)) == definition


def test_what_is_asked_of_it():
    table = TableDefinition("d", "t", (
        Column("Id", ColumnType("int"), nullable=False),
        Column("v", ColumnType("int"), generated="virtual", expression="Id"),
        Column("s", ColumnType("int"), generated="stored", expression="Id"),
    ), (Key("PRIMARY", "primary", (KeyPart("Id"),)),))
    assert [column.name for column in table.stored_columns] == ["Id", "s"]
    assert table.primary_key.parts == (KeyPart("Id"),)
    assert table.column_index("iD") == 0 and table.column("S").generated == "stored"
    assert table.full_name == "d.t"
    with pytest.raises(KeyError):
        table.column("none")


@pytest.mark.parametrize(("text", "sql"), [("x'4142'", "0x4142"), ("b'101'", "0x05"), ("x''", "b''"),
                                           ("_latin1 x'e4'", "0xe4"), ("(_latin1 x'e4')", "_latin1 X'e4'")])
def test_a_default_in_bits_is_a_number_where_one_is_wanted(text, sql):
    """MariaDB refuses INT DEFAULT x'05' and takes 0x05; x'00 41' and 0x0041 are the same two bytes."""
    [change] = parse_statement(f"CREATE TABLE d.t (v VARBINARY(9) DEFAULT {text})")
    assert change.definition.columns[0].default.sql() == sql


def test_mariadb_takes_quoted_hexadecimal_digits_for_text():
    """INT DEFAULT X'35' is 5 there, and 53 in MySQL."""
    [change] = parse_statement("CREATE TABLE d.t (n INT DEFAULT x'35', m INT DEFAULT 0x35)", flavour="mariadb")
    assert [column.default.sql() for column in change.definition.columns] == ["(X'35')", "0x35"]

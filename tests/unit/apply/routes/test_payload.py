"""Changes in a payload: what went in comes out, images lie in the payload's own memory, and say where they are from."""

import ctypes
import decimal
import gc

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.apply.routes.packing import Rows, Unpacked, header_of, packed
from applier.apply.routes.payload import (
    ArrivedBatch,
    Header,
    column_types,
    key_types,
    keyed,
    rows_to_send,
    to_header,
    together,
)
from applier.apply.search.change_keys import change_keys
from applier.apply.tables.logged_table import LoggedTable
from applier.binlog.rows.changes import ChangeReader, ImageLayout, ImageLayouts, TableBinding
from applier.binlog.rows.image_pointers import addresses_of, layouts_of
from applier.columns.table_key import table_key
from keysearch.addresses import address_of
from tests.support.examples import examples
from tests.support.replica_model import ABSENT, DELETE, INSERT, UPDATE, Event, Table
from tests.support.replica_model import m as row_model

INT = Table("id bigint unsigned DEFAULT 3, a int, b blob, PRIMARY KEY (id)", ["bigint", "int", "blob2"],
            (3, None, None), (0,))
TWO = Table("k varbinary(255), id int, b blob, PRIMARY KEY (k, id)", ["varchar(255)", "int", "blob2"],
            (b"", 0, None), (0, 1))
VALUES = {"bigint": st.integers(0, 9), "int": st.integers(-5, 5), "varchar(255)": st.sampled_from((b"", b"k\0", b"kk")),
          "blob2": st.none() | st.binary(max_size=40)}


@st.composite
def events(draw, table):
    """Events with any images; only keys are always there, where they must be."""
    found = []
    for _ in range(draw(st.integers(1, 6))):
        operation = draw(st.integers(0, 2))
        bits = [draw(st.tuples(*[st.integers(0, 1)] * 3)) for _ in range(2)]
        before = None if operation == INSERT else tuple(int(bit or c in table.key) for c, bit in enumerate(bits[0]))
        after = None if operation == DELETE else \
            tuple(int(bit or (operation == INSERT and c in table.key)) for c, bit in enumerate(bits[1]))

        def row(present):
            return None if present is None else tuple(
                draw(VALUES[kind.name]) if here else ABSENT for kind, here in zip(table.kinds, present, strict=True))

        rows = [(row(before), row(after)) for _ in range(draw(st.integers(1, 4)))]
        found.append(Event(operation, before, after, rows))
    return found


def sent_by(table, events, picked=lambda n: np.arange(n), payload_bytes=1 << 20):
    """What the events send to one unit, with (kind, place, image, its columns) of each change that was picked."""
    logged, rows, sent, read = LoggedTable(table.definition), [], [], []
    file = row_model.as_file(row_model.table_map_event(7, table.body), *(event.encode(table) for event in events))

    def bind(table_map):
        reading = logged.bind_table_map(table_map)
        keys = change_keys(table_key(table.definition), table.definition, table_map)
        read[:] = [reading, keys]
        wanted = keys.wanted(reading.plans)
        binding = TableBinding(reading.plans, wanted, wanted, take, rows=5)
        binding.layouts = reading.layouts
        return binding

    def take(batch):
        picks = picked(batch.n)
        rows.append(rows_to_send(batch, picks, *read[1].columns(batch)))
        for i in picks:
            pointer, length = batch.images[i], int(batch.image_lengths[i])
            image = None if pointer < 0 else ctypes.string_at(addresses_of(int(pointer)), length) or b"\0"
            present = () if image is None else read[0].layouts.known[layouts_of(pointer)].present
            sent.append((int(batch.kinds[i]), int(batch.positions[i]), image, present))

    reader = ChangeReader(file, bind, checksum=False)
    reader.walk(4, file.size)
    reader.flush()
    header = to_header(file.uri, table.body, read[0].layouts)
    receivers = np.zeros(sum(len(some.lengths) for some in rows), np.int64)
    return [payload.as_buffer() for units, payloads in packed(rows, receivers, header, payload_bytes)
            for _, payload in zip(units, payloads, strict=True)], sent


def arrived(table, payloads, layouts=None, rows=8192):
    """These payloads as a unit takes them."""
    types = column_types(key_types(table_key(table.definition), table.definition), before_images=False)
    return [ArrivedBatch(Header.read(header), types, buffers, counts, len(header), layouts or ImageLayouts([]))
            for header, buffers, counts in together(payloads, rows)]


@pytest.mark.parametrize("table", [INT, TWO], ids=["int", "bytes"])
@settings(max_examples=examples(40))
@given(data=st.data())
def test_what_goes_in_comes_out(table, data):
    """EV-MAT: kinds, places, images to the byte with their columns, however the receiver numbers layouts; in order.
    An image without any byte has a place of its own, too."""
    made = data.draw(events(table))
    every = data.draw(st.integers(1, 3))
    size = data.draw(st.sampled_from((1, 200, 1 << 20)))
    payloads, sent = sent_by(table, made, lambda n: np.arange(0, n, every), size)
    layouts = ImageLayouts([])
    layouts.number(ImageLayout((2,)))  # the receiver knows another one first
    found = []
    for batch in arrived(table, payloads, layouts, data.draw(st.sampled_from((1, 5, 8192)))):
        assert batch.file.uri == "binlog.000001"
        for kind, place, pointer in zip(batch.kinds, batch.positions, batch.images, strict=True):
            image, present = None, ()
            if pointer >= 0:
                at = addresses_of(int(pointer))
                image = ctypes.string_at(at, len(sent[len(found)][2]))
                present = layouts.known[layouts_of(int(pointer))].present
                [memory] = [one for one in batch.memory if one.address <= at < one.address + one.size]
                assert memory.position_of(at) == place
            found.append((int(kind), int(place), image, present))
    assert found == sent
    assert all(Header.read(header).table_map == table.body for header, _, _ in together(payloads, 1))


def test_each_receiver_gets_its_own_rows_in_their_order():
    """Whatever is packed together: columns of every width, strings, images; in payloads that have their bytes, or one
    row."""
    rng, n = np.random.default_rng(3), 500
    receivers = rng.integers(0, 40, n)
    images = [bytes([number % 251]) * int(size) for number, size in enumerate(rng.integers(0, 60, n))]
    images[17] = b"x" * 5000
    decimals = [decimal.Decimal(number) for number in range(n)]
    columns = [pa.array(range(n), pa.int64()), pa.array([str(number) for number in range(n)]),
               pa.array([number % 7 for number in range(n)], pa.uint8()), pa.array(decimals, pa.decimal128(20, 0))]
    data = np.frombuffer(b"".join(images), np.uint8)
    lengths = np.array([*map(len, images)])
    addresses = address_of(data) + np.cumsum(lengths) - lengths
    parts = [Rows([column.slice(start, 250) for column in columns], addresses[start:start + 250],
                  lengths[start:start + 250], data) for start in (0, 250)]
    found = {}
    for numbers, payloads in packed(parts, receivers, b"header", 400):
        for receiver, payload in zip(numbers.tolist(), payloads, strict=True):
            found.setdefault(receiver, []).append(payload.as_buffer())
    assert sorted(found) == sorted(set(receivers.tolist()))
    for receiver, payloads in found.items():
        counts = [header_of(payload)[0] for payload in payloads]
        assert all(payload.size < 400 + 110 or count == 1 for payload, count in zip(payloads, counts, strict=True))
        assert {header_of(payload)[1] for payload in payloads} == {b"header"}
        rows = np.flatnonzero(receivers == receiver)
        unpacked = Unpacked([column.type for column in columns], payloads, counts, len(b"header"))
        assert [column.to_pylist() for column in unpacked.columns] == [column.take(pa.array(rows)).to_pylist()
                                                                       for column in columns]
        assert [ctypes.string_at(int(address), int(length)) for address, length in
                zip(unpacked.addresses, unpacked.lengths, strict=True)] == [images[row] for row in rows]


def test_the_keys_of_changes():
    """BIGINT UNSIGNED in its own order; what an update leaves out stays, what an insert leaves out is the default."""
    made = [Event(INSERT, None, (0, 1, 0), [(None, (ABSENT, 1, ABSENT))]),
            Event(UPDATE, (1, 0, 0), (0, 1, 0), [((-1, ABSENT, ABSENT), (ABSENT, 2, ABSENT))]),
            Event(DELETE, (1, 0, 0), None, [((7, ABSENT, ABSENT), None)])]
    payloads, _ = sent_by(INT, made)
    [batch] = arrived(INT, payloads)
    taken = keyed(table_key(INT.definition), batch)
    images = ((0, True), (1, False), (1, True), (2, False))
    texts = [taken.texts.texts(np.array([change]), after)[0] for change, after in images]
    assert texts == ["3", str(2**64 - 1), str(2**64 - 1), "7"]
    keys = taken.keys
    assert keys.absent is None
    assert keys.before.tolist()[1:] == [2**63 - 1, 7 - 2**63] and keys.after.tolist()[:2] == [3 - 2**63, 2**63 - 1]


def test_images_live_as_long_as_the_payloads_memory():
    """The buffer that came is all that images need, and nobody else has to hold it."""
    made = [Event(INSERT, None, (1, 1, 1), [(None, (n, n, bytes([n]) * 40)) for n in range(100)])]
    payloads, sent = sent_by(INT, made)
    batches = arrived(INT, payloads)
    memory = [one for batch in batches for one in batch.memory]
    del payloads
    gc.collect()
    churn = [pa.array(np.full(1000, n)) for n in range(200)]
    images = [ctypes.string_at(addresses_of(int(pointer)), len(image)) for pointer, (_, _, image, _) in
              zip((pointer for batch in batches for pointer in batch.images), sent, strict=True)]
    assert images == [image for _, _, image, _ in sent]
    assert all(one.size for one in memory) and churn

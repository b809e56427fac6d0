"""Records the demo archive: a web shop's two days on a real MySQL server, with a mistake at 10:30 on the second one.

    python -m tests.recorded.archives.record_demo PORT DATADIR

PORT is a fresh MySQL 8.4+ server with binary logs named binlog.* and --max-binlog-size=1M (root, no password), DATADIR
its data directory. Writes the binlogs and expected.json (row counts and digests of what the server held just before the
mistake and at the end) beside this file, under demo/. Needs PyMySQL. The same seed gives the same rows; server UUIDs
and so GTIDs differ.
"""

import json
import random
import shutil
import sys
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pymysql

from tests.recorded.archives.demo_digest import ARCHIVE, digest

MISTAKE_AT = datetime(2026, 3, 14, 10, 30, tzinfo=UTC)
SCHEMA = """
CREATE DATABASE shop DEFAULT CHARACTER SET utf8mb4
CREATE TABLE shop.customers (
  id INT UNSIGNED NOT NULL AUTO_INCREMENT, name VARCHAR(80) NOT NULL, email VARCHAR(120) NOT NULL, city VARCHAR(60),
  preferences JSON, created_at TIMESTAMP(3) NOT NULL, PRIMARY KEY (id), UNIQUE KEY email (email))
CREATE TABLE shop.products (
  sku CHAR(8) CHARACTER SET ascii NOT NULL, name VARCHAR(80) NOT NULL, price DECIMAL(10,2) NOT NULL,
  category ENUM('audio','video','office','outdoor') NOT NULL, labels SET('new','sale','eco','fragile') NOT NULL,
  weight_kg DOUBLE, PRIMARY KEY (sku))
CREATE TABLE shop.stock (
  sku CHAR(8) CHARACTER SET ascii NOT NULL, warehouse TINYINT UNSIGNED NOT NULL, units INT NOT NULL,
  PRIMARY KEY (sku, warehouse))
CREATE TABLE shop.orders (
  id BIGINT NOT NULL AUTO_INCREMENT, customer_id INT UNSIGNED NOT NULL, status ENUM('new','paid','sent','cancelled')
  NOT NULL DEFAULT 'new', total DECIMAL(12,2) NOT NULL, placed_at DATETIME NOT NULL, note TEXT, PRIMARY KEY (id),
  KEY customer (customer_id))
CREATE TABLE shop.order_items (
  order_id BIGINT NOT NULL, line SMALLINT NOT NULL, sku CHAR(8) CHARACTER SET ascii NOT NULL, units INT NOT NULL,
  price DECIMAL(10,2) NOT NULL, PRIMARY KEY (order_id, line))
CREATE TABLE shop.carts (
  token BINARY(16) NOT NULL, customer_id INT UNSIGNED, units INT NOT NULL, seen_at DATETIME NOT NULL,
  PRIMARY KEY (token))
"""
FIRST = ("Ana Björn Chloé Dóra Emil Fatma Goran Hana Ivo Jürgen Katarína Łukasz Mei Nuno Olga Paweł 花子 Søren Tamás "
         "Zoë").split()
LAST = ("Almeida Åberg Brontë Dvořák Êvo Fischer García Horváth Ионов Jensen Kowalska 李 Müller Nagy O’Brien "
        "佐藤").split()
CITIES = ["København", "Kraków", "Lisboa", "München", "Malmö", "東京", "Zürich", None]
THINGS = {"audio": ["headphones", "speaker", "microphone"], "video": ["camera", "projector", "tripod"],
          "office": ["desk lamp", "keyboard", "chair"], "outdoor": ["tent", "stove", "backpack"]}
NOTES = [None, None, None, "please ring twice", "gift wrap 🎁", "leave with the neighbour", "invoice to the office"]


class Shop:
    """The shop's clock and its one connection; every transaction happens at the time on the clock."""

    def __init__(self, port: int) -> None:
        self.dice = random.Random(20260314)
        self.now = datetime(2026, 3, 13, 7, tzinfo=UTC)
        self.connection = pymysql.connect(host="127.0.0.1", port=port, user="root", charset="utf8mb4", autocommit=False)
        self.cursor = self.connection.cursor()
        self.cursor.execute("SET time_zone = '+00:00'")
        self.prices: dict[str, Decimal] = {}
        self.open_orders: list[int] = []
        self.carts: list[bytes] = []
        self.customers = 0

    def run(self, sql: str, *rows: tuple) -> None:
        if len(rows) > 1:
            self.cursor.executemany(sql, rows)
        else:
            self.cursor.execute(sql, rows[0] if rows else None)

    def commit(self, seconds: float) -> None:
        self.connection.commit()
        self.now += timedelta(seconds=seconds)
        self.cursor.execute("SET timestamp = %s", (self.now.timestamp(),))

    def naive(self) -> datetime:
        return self.now.replace(tzinfo=None, microsecond=0)

    def open_doors(self) -> None:
        self.commit(0)
        for statement in SCHEMA.strip().replace("\n  ", " ").splitlines():
            self.run(statement)
            self.commit(1)
        products, stock = [], []
        for number in range(140):
            category = self.dice.choice(list(THINGS))
            sku, price = f"{category[:2].upper()}{number:05d}", Decimal(self.dice.randrange(490, 49900)) / 100
            self.prices[sku] = price
            labels = ",".join(label for label in ("new", "sale", "eco", "fragile") if self.dice.random() < 0.25)
            name = f"{self.dice.choice(['Nord', 'Čapka', 'Solé', 'Ærø'])} {self.dice.choice(THINGS[category])} {number}"
            products.append((sku, name, price, category, labels, round(self.dice.uniform(0.1, 30), 3)))
            stock += [(sku, warehouse, self.dice.randrange(200, 900)) for warehouse in (1, 2, 3)]
        self.run("INSERT INTO shop.products VALUES (%s,%s,%s,%s,%s,%s)", *products)
        self.run("INSERT INTO shop.stock VALUES (%s,%s,%s)", *stock)
        self.commit(60)
        for _ in range(5):
            self.new_customers(60)

    def new_customers(self, count: int) -> None:
        rows = []
        for _ in range(count):
            self.customers += 1
            first, last = self.dice.choice(FIRST), self.dice.choice(LAST)
            likes = json.dumps({"newsletter": self.dice.random() < 0.4, "size": self.dice.choice(["S", "M", "L", None]),
                                "likes": self.dice.sample(list(THINGS), 2),
                                "discount": self.dice.choice([0, 2.5, 10.0])})
            rows.append((f"{first} {last}", f"customer{self.customers}@example.org", self.dice.choice(CITIES),
                         None if self.dice.random() < 0.3 else likes, self.naive()))
        self.run("INSERT INTO shop.customers (name, email, city, preferences, created_at) VALUES (%s,%s,%s,%s,%s)",
                 *rows)
        self.commit(30)

    def order(self) -> None:
        picks = self.dice.sample(list(self.prices), self.dice.randrange(1, 5))
        lines = [(sku, self.dice.randrange(1, 4), self.prices[sku]) for sku in picks]
        self.run("INSERT INTO shop.orders (customer_id, total, placed_at, note) VALUES (%s,%s,%s,%s)",
                 (self.dice.randrange(1, self.customers + 1), sum(units * price for _, units, price in lines),
                  self.naive(), self.dice.choice(NOTES)))
        number = self.cursor.lastrowid
        self.run("INSERT INTO shop.order_items VALUES (%s,%s,%s,%s,%s)",
                 *[(number, line, sku, units, price) for line, (sku, units, price) in enumerate(lines, 1)])
        for sku, units, _ in lines:
            self.run("UPDATE shop.stock SET units = units - %s WHERE sku = %s AND warehouse = %s",
                     (units, sku, self.dice.randrange(1, 4)))
        self.open_orders.append(number)
        self.commit(self.dice.uniform(10, 100))

    def move_orders_on(self) -> None:
        self.dice.shuffle(self.open_orders)
        done, self.open_orders = self.open_orders[:12], self.open_orders[12:]
        for number in done:
            status = self.dice.choice(["paid", "paid", "sent", "sent", "cancelled"])
            self.run("UPDATE shop.orders SET status = %s WHERE id = %s", (status, number))
            if status == "cancelled" and self.dice.random() < 0.5:
                self.run("DELETE FROM shop.order_items WHERE order_id = %s", (number,))
                self.run("DELETE FROM shop.orders WHERE id = %s", (number,))
        self.commit(20)

    def carts_come_and_go(self) -> None:
        fresh = [self.dice.randbytes(15) + self.dice.choice([b"\0", b"x"]) for _ in range(6)]
        self.run("INSERT INTO shop.carts VALUES (%s,%s,%s,%s)",
                 *[(token, self.dice.choice([None, 7, 19]), self.dice.randrange(1, 9), self.naive())
                   for token in fresh])
        self.carts += fresh
        for token in self.dice.sample(self.carts, min(5, len(self.carts))):
            self.carts.remove(token)
            self.run("DELETE FROM shop.carts WHERE token = %s", (token,))
        self.commit(5)

    def trade_until(self, end: datetime) -> None:
        while self.now < end:
            for _ in range(10):
                self.order()
                if self.now >= end:
                    return
            self.dice.choice([self.move_orders_on, self.move_orders_on, self.carts_come_and_go,
                              lambda: self.new_customers(2)])()

    def mistake(self) -> None:
        """A WHERE that was forgotten. The statement is logged beside its rows, so that `applier show` has it."""
        self.now = MISTAKE_AT
        self.run("SET SESSION binlog_rows_query_log_events = ON")
        self.commit(0)
        self.run("UPDATE shop.products SET price = 0.01 /* WHERE sku = 'AU00042' */")
        self.connection.commit()
        self.run("SET SESSION binlog_rows_query_log_events = OFF")
        self.prices = dict.fromkeys(self.prices, Decimal("0.01"))

    def held(self) -> dict[str, dict[str, object]]:
        """For each table its row count and the digest of its rows in key order, cells as `repr` shows them."""
        self.cursor.execute("SHOW TABLES FROM shop")
        answer = {}
        for (table,) in self.cursor.fetchall():
            self.cursor.execute(f"SELECT * FROM shop.{table} ORDER BY 1, 2")
            rows = self.cursor.fetchall()
            answer[f"shop.{table}"] = {"rows": len(rows), "sha256": digest(rows)}
        self.connection.commit()
        return answer


def main(port: int, datadir: Path) -> None:
    shop = Shop(port)
    shop.open_doors()
    shop.run("SET SESSION binlog_rows_query_log_events = OFF")
    shop.trade_until(datetime(2026, 3, 14, 4, tzinfo=UTC))
    shop.run("SET SESSION binlog_row_image = MINIMAL")
    shop.trade_until(MISTAKE_AT)
    before = shop.held()
    shop.mistake()
    shop.run("SET SESSION binlog_row_image = FULL")
    shop.commit(5)
    shop.trade_until(datetime(2026, 3, 14, 18, tzinfo=UTC))
    after = shop.held()
    shop.run("FLUSH BINARY LOGS")

    ARCHIVE.mkdir(exist_ok=True)
    for old in ARCHIVE.glob("binlog.*"):
        old.unlink()
    files = sorted(datadir.glob("binlog.0*"))[:-1]  # the last one is still open
    for file in files:
        shutil.copyfile(file, ARCHIVE / file.name)
    expected = {"mistake_at": MISTAKE_AT.isoformat(), "before_mistake": before, "end": after}
    (ARCHIVE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))

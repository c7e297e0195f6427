#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The queries of a data warehouse: the thirteen of the Star Schema Benchmark.

    test_warehouse.py [--rows N] [--device D] BINARY

The texts are those of tools/ssb.sql; the data is our own, small and from a seed,
shaped as theirs is. Each answer is compared with another engine's: DuckDB where
its Python package is there, sqlite3 always.
"""
import argparse
import random
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

REGIONS = ('AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST')
NATIONS = {'AFRICA': ('KENYA', 'MOROCCO'), 'AMERICA': ('UNITED STATES', 'BRAZIL', 'PERU'),
           'ASIA': ('CHINA', 'INDIA', 'JAPAN'), 'EUROPE': ('UNITED KINGDOM', 'FRANCE', 'GERMANY'),
           'MIDDLE EAST': ('EGYPT', 'IRAN')}
MONTHS = ('Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec')

SCHEMA = """
CREATE TABLE date (d_datekey INTEGER PRIMARY KEY, d_year INTEGER, d_yearmonthnum INTEGER,
    d_yearmonth TEXT, d_weeknuminyear INTEGER);
CREATE TABLE customer (c_custkey INTEGER PRIMARY KEY, c_city TEXT, c_nation TEXT, c_region TEXT);
CREATE TABLE supplier (s_suppkey INTEGER PRIMARY KEY, s_city TEXT, s_nation TEXT, s_region TEXT);
CREATE TABLE part (p_partkey INTEGER PRIMARY KEY, p_mfgr TEXT, p_category TEXT, p_brand1 TEXT);
CREATE TABLE lineorder (lo_orderkey INTEGER, lo_custkey INTEGER, lo_partkey INTEGER,
    lo_suppkey INTEGER, lo_orderdate INTEGER, lo_quantity INTEGER, lo_extendedprice INTEGER,
    lo_discount INTEGER, lo_revenue INTEGER, lo_supplycost INTEGER);
"""

SSB = Path(__file__).resolve().parents[2] / 'tools' / 'ssb.sql'
FLIGHTS = (3, 3, 4, 3)  # queries in each


def ssb():
    """{name: query}; the third flight leaves the order of equal sums open."""
    names = [f'{flight}.{number}' for flight, count in enumerate(FLIGHTS, 1)
             for number in range(1, count + 1)]
    return {f'SSB {name}': sql + (', 1, 2' if name[0] == '3' else '')
            for name, sql in zip(names, SSB.read_text().splitlines())}


# ------------------------------------------------------------------ data --

def place(rng, region=None):
    """(city, nation, region); a city is its nation's first letters and a digit."""
    region = region or rng.choice(REGIONS)
    nation = rng.choice(NATIONS[region])
    return f'{nation:9.9}{rng.choice((1, 5, rng.randrange(10)))}', nation, region


def dates():
    """A row for each day of 1992 to 1998, months of 28 days."""
    return [(year * 10000 + month * 100 + day, year, year * 100 + month,
             f'{MONTHS[month - 1]}{year}', (month * 28 + day) // 7 - 3)
            for year in range(1992, 1999) for month in range(1, 13) for day in range(1, 29)]


def part(rng, number):
    maker, category = rng.choice((1, 2, rng.randrange(1, 6))), rng.randrange(1, 6)
    brand = rng.choice((21, rng.randrange(1, 41)))
    return (number, f'MFGR#{maker}', f'MFGR#{maker}{category}', f'MFGR#{maker}{category}{brand}')


def order(rng, number, tables):
    price, discount = rng.randrange(90_000, 10_000_000), rng.randrange(11)
    day = rng.choice((19971201 + rng.randrange(28), *[rng.choice(tables['date'])[0]] * 3))
    return (number, rng.choice(tables['customer'])[0], rng.choice(tables['part'])[0],
            rng.choice(tables['supplier'])[0], day,
            rng.randrange(1, 51), price, discount, price * (100 - discount) // 100, price * 6 // 10)


def make_tables(rows):
    """{table: rows}."""
    rng = random.Random(1992)
    few = max(20, rows // 100)
    tables = {'date': dates(),
              'customer': [(i, *place(rng)) for i in range(1, few)],
              'supplier': [(i, *place(rng)) for i in range(1, few // 2)],
              'part': [part(rng, i) for i in range(1, few)]}
    tables['lineorder'] = [order(rng, i // 4, tables) for i in range(rows)]
    return tables


# --------------------------------------------------------------- engines --

def write_files(tables, folder):
    """A CSV file for each table."""
    for name, rows in tables.items():
        text = '\n'.join(','.join(map(str, row)) for row in rows) + '\n'
        Path(folder, name + '.csv').write_text(text)


class Shell:
    """vdbq, by its shell."""

    def __init__(self, options, tables, folder):
        self.command = [*options.binary.split(), '--batch', '--no-sync', '--mode', 'tabs',
                        '--no-header', '--device', options.device, str(Path(folder, 'test.vdb'))]
        self.folder = folder
        self.text(SCHEMA + ''.join(f'INSERT INTO {name} VALUES ' + ', '.join(map(row_sql, rows))
                                   + ';\n' for name, rows in tables.items()))

    def text(self, sql):
        done = subprocess.run(self.command, input=sql, capture_output=True, text=True, check=False)
        if done.returncode or done.stderr:
            raise RuntimeError(done.stderr[:600] or f'exit code {done.returncode}')
        return done.stdout

    def rows(self, sql):
        return [tuple(map(value, line.split('\t'))) for line in self.text(sql + ';').splitlines()]


def row_sql(row):
    """A row as SQL."""
    return '(' + ', '.join(f"'{v}'" if isinstance(v, str) else str(v) for v in row) + ')'


def value(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


class Sqlite:
    name = 'sqlite3'

    def __init__(self, tables):
        self.connection = sqlite3.connect(':memory:')
        self.connection.executescript(SCHEMA)
        for name, rows in tables.items():
            self.connection.executemany(
                f'INSERT INTO {name} VALUES ({", ".join("?" * len(rows[0]))})', rows)

    def rows(self, sql):
        return self.connection.execute(sql).fetchall()


class DuckDB:
    name = 'DuckDB'

    def __init__(self, tables, folder):
        import duckdb
        self.connection = duckdb.connect()
        self.connection.execute(SCHEMA)
        for name in tables:
            self.connection.execute(f"COPY {name} FROM '{folder}/{name}.csv' (HEADER false)")

    def rows(self, sql):
        rows = self.connection.execute(sql).fetchall()
        return [tuple(v if isinstance(v, (str, int)) or v is None else float(v) for v in row)
                for row in rows]


def peers(tables, folder):
    """The engines to compare with."""
    write_files(tables, folder)
    made = [Sqlite(tables)]
    try:
        made.append(DuckDB(tables, folder))
    except ImportError:
        print('DuckDB is not here: left out')
    return made


# --------------------------------------------------------------- compare --

def same(ours, theirs):
    return len(ours) == len(theirs) and all(
        len(a) == len(b) and all(map(near, a, b)) for a, b in zip(ours, theirs))


def near(a, b):
    if isinstance(a, str) or isinstance(b, str) or b is None:
        return a == b or (b is None and a == '')
    return abs(a - b) <= 1e-9 * max(1.0, abs(a), abs(b))


def check(name, sql, shell, others):
    """'' or what is wrong."""
    try:
        ours = shell.rows(sql)
    except RuntimeError as error:
        return f'{name}: {error}'
    for peer in others:
        theirs = peer.rows(sql)
        if not same(ours, theirs):
            return f'{name}: {len(ours)} rows {ours[:3]}, {peer.name}: {len(theirs)} {theirs[:3]}'
    return ''


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary')
    parser.add_argument('--rows', type=int, default=20_000, help='of the large table')
    parser.add_argument('--device', default='host')
    return parser.parse_args()


def main():
    options = arguments()
    queries = ssb()
    tables, faults = make_tables(options.rows), []
    with tempfile.TemporaryDirectory(prefix='warehouse') as folder:
        others = peers(tables, folder)
        shell = Shell(options, tables, folder)
        for name, sql in queries.items():
            faults.append(check(name, sql, shell, others))
            print(name, 'differs' if faults[-1] else f'{len(others[0].rows(sql))} rows')
    faults = list(filter(None, faults))
    print('\n'.join(faults))
    print(f'{len(queries) - len(faults)} passed, {len(faults)} failed')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())

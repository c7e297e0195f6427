#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The queries of data warehouses: SSB's thirteen and TPC-H's first and sixth.

    test_warehouse.py [--rows N] [--device D] BINARY

The texts are written from the public specifications; the data is our own,
small and from a seed, shaped as theirs is. Each answer is compared with
another engine's: DuckDB where its Python package is there, sqlite3 always.
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
CREATE TABLE date_dim (d_datekey INTEGER PRIMARY KEY, d_year INTEGER, d_yearmonthnum INTEGER,
    d_yearmonth TEXT, d_weeknuminyear INTEGER);
CREATE TABLE customer (c_custkey INTEGER PRIMARY KEY, c_city TEXT, c_nation TEXT, c_region TEXT);
CREATE TABLE supplier (s_suppkey INTEGER PRIMARY KEY, s_city TEXT, s_nation TEXT, s_region TEXT);
CREATE TABLE part (p_partkey INTEGER PRIMARY KEY, p_mfgr TEXT, p_category TEXT, p_brand1 TEXT);
CREATE TABLE lineorder (lo_orderkey INTEGER, lo_custkey INTEGER, lo_partkey INTEGER,
    lo_suppkey INTEGER, lo_orderdate INTEGER, lo_quantity INTEGER, lo_extendedprice INTEGER,
    lo_discount INTEGER, lo_revenue INTEGER, lo_supplycost INTEGER);
CREATE TABLE lineitem (l_orderkey INTEGER, l_quantity DECIMAL(15,2),
    l_extendedprice DECIMAL(15,2), l_discount DECIMAL(15,2), l_tax DECIMAL(15,2),
    l_returnflag TEXT, l_linestatus TEXT, l_shipdate DATE);
"""

FLIGHT_1 = """SELECT sum(lo_extendedprice * lo_discount) AS revenue
FROM lineorder, date_dim WHERE lo_orderdate = d_datekey AND """
FLIGHT_2 = """SELECT sum(lo_revenue), d_year, p_brand1 FROM lineorder, date_dim, part, supplier
WHERE lo_orderdate = d_datekey AND lo_partkey = p_partkey AND lo_suppkey = s_suppkey AND {}
GROUP BY d_year, p_brand1 ORDER BY d_year, p_brand1"""
FLIGHT_3 = """SELECT {0}, d_year, sum(lo_revenue) AS revenue
FROM customer, lineorder, supplier, date_dim
WHERE lo_custkey = c_custkey AND lo_suppkey = s_suppkey AND lo_orderdate = d_datekey AND {1}
GROUP BY {0}, d_year ORDER BY d_year ASC, revenue DESC, {0}"""
FLIGHT_4 = """SELECT d_year, {0}, sum(lo_revenue - lo_supplycost) AS profit
FROM date_dim, customer, supplier, part, lineorder
WHERE lo_custkey = c_custkey AND lo_suppkey = s_suppkey AND lo_partkey = p_partkey
AND lo_orderdate = d_datekey AND {1} GROUP BY d_year, {0} ORDER BY d_year, {0}"""
CITIES = "('UNITED KI1', 'UNITED KI5')"

QUERIES = {
    'SSB 1.1': FLIGHT_1 + 'd_year = 1993 AND lo_discount BETWEEN 1 AND 3 AND lo_quantity < 25',
    'SSB 1.2': FLIGHT_1 + 'd_yearmonthnum = 199401 AND lo_discount BETWEEN 4 AND 6 '
                          'AND lo_quantity BETWEEN 26 AND 35',
    'SSB 1.3': FLIGHT_1 + 'd_weeknuminyear = 6 AND d_year = 1994 AND lo_discount BETWEEN 5 AND 7 '
                          'AND lo_quantity BETWEEN 26 AND 35',
    'SSB 2.1': FLIGHT_2.format("p_category = 'MFGR#12' AND s_region = 'AMERICA'"),
    'SSB 2.2': FLIGHT_2.format("p_brand1 BETWEEN 'MFGR#2221' AND 'MFGR#2228' "
                               "AND s_region = 'ASIA'"),
    'SSB 2.3': FLIGHT_2.format("p_brand1 = 'MFGR#2221' AND s_region = 'EUROPE'"),
    'SSB 3.1': FLIGHT_3.format('c_nation, s_nation', "c_region = 'ASIA' AND s_region = 'ASIA' "
                               'AND d_year >= 1992 AND d_year <= 1997'),
    'SSB 3.2': FLIGHT_3.format('c_city, s_city', "c_nation = 'UNITED STATES' "
                               "AND s_nation = 'UNITED STATES' "
                               'AND d_year >= 1992 AND d_year <= 1997'),
    'SSB 3.3': FLIGHT_3.format('c_city, s_city', f'c_city IN {CITIES} AND s_city IN {CITIES} '
                               'AND d_year >= 1992 AND d_year <= 1997'),
    'SSB 3.4': FLIGHT_3.format('c_city, s_city', "(c_city = 'UNITED KI1' OR c_city = 'UNITED KI5')"
                               f" AND s_city IN {CITIES} AND d_yearmonth = 'Dec1997'"),
    'SSB 4.1': FLIGHT_4.format('c_nation', "c_region = 'AMERICA' AND s_region = 'AMERICA' "
                               "AND (p_mfgr = 'MFGR#1' OR p_mfgr = 'MFGR#2')"),
    'SSB 4.2': FLIGHT_4.format('s_nation, p_category', "c_region = 'AMERICA' "
                               "AND s_region = 'AMERICA' AND (d_year = 1997 OR d_year = 1998) "
                               "AND (p_mfgr = 'MFGR#1' OR p_mfgr = 'MFGR#2')"),
    'SSB 4.3': FLIGHT_4.format('s_city, p_brand1', "c_region = 'AMERICA' "
                               "AND s_nation = 'UNITED STATES' "
                               "AND (d_year = 1997 OR d_year = 1998) AND p_category = 'MFGR#14'"),
    'TPC-H 1': """SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice),
sum(l_extendedprice * (1 - l_discount)),
sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)),
avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*)
FROM lineitem WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL '90' DAY
GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus""",
    'TPC-H 6': """SELECT sum(l_extendedprice * l_discount) AS revenue FROM lineitem
WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1994-01-01' + INTERVAL '1' YEAR
AND l_discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01 AND l_quantity < 24""",
}

# What sqlite3 has no types for is a text or a float there.
FOR_SQLITE = {"DATE '1998-12-01' - INTERVAL '90' DAY": "'1998-09-02'",
              "DATE '1994-01-01' + INTERVAL '1' YEAR": "'1995-01-01'",
              "DATE '1994-01-01'": "'1994-01-01'",
              '0.06 - 0.01 AND 0.06 + 0.01': '0.049999 AND 0.070001'}


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
    day = rng.choice((19971201 + rng.randrange(28), *[rng.choice(tables['date_dim'])[0]] * 3))
    return (number, rng.choice(tables['customer'])[0], rng.choice(tables['part'])[0],
            rng.choice(tables['supplier'])[0], day,
            rng.randrange(1, 51), price, discount, price * (100 - discount) // 100, price * 6 // 10)


def item(rng, number):
    day = f'{rng.randrange(1992, 1999)}-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}'
    late = day > '1995-06-17'
    return (number, rng.randrange(1, 51) * 1.0, rng.randrange(90_000, 10_000_000) / 100,
            rng.randrange(11) / 100, rng.randrange(9) / 100,
            'N' if late else rng.choice('AR'), 'O' if late else 'F', day)


def make_tables(rows):
    """{table: rows}."""
    rng = random.Random(1992)
    few = max(20, rows // 100)
    tables = {'date_dim': dates(),
              'customer': [(i, *place(rng)) for i in range(1, few)],
              'supplier': [(i, *place(rng)) for i in range(1, few // 2)],
              'part': [part(rng, i) for i in range(1, few)]}
    tables['lineorder'] = [order(rng, i // 4, tables) for i in range(rows)]
    tables['lineitem'] = [item(rng, i // 4) for i in range(rows)]
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
    """A row as SQL; the only texts with two dashes are dates."""
    cells = [str(v) if not isinstance(v, str) else
             f"DATE '{v}'" if v.count('-') == 2 else f"'{v}'" for v in row]
    return f'({", ".join(cells)})'


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
        for ours, theirs in FOR_SQLITE.items():
            sql = sql.replace(ours, theirs)
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
    parser.add_argument('--rows', type=int, default=20_000, help='of the two large tables')
    parser.add_argument('--device', default='host')
    return parser.parse_args()


def main():
    options = arguments()
    tables, faults = make_tables(options.rows), []
    with tempfile.TemporaryDirectory(prefix='warehouse') as folder:
        others = peers(tables, folder)
        shell = Shell(options, tables, folder)
        for name, sql in QUERIES.items():
            faults.append(check(name, sql, shell, others))
            print(name, 'differs' if faults[-1] else f'{len(others[0].rows(sql))} rows')
    faults = list(filter(None, faults))
    print('\n'.join(faults))
    print(f'{len(QUERIES) - len(faults)} passed, {len(faults)} failed')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())

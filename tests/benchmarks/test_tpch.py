#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""TPC-H: the generator's data, the 22 queries, and the benchmark.

    test_tpch.py BUILD

The tables of the scale 0.01 are checked against the specification (tpch_data.py);
the answers are compared with sqlite3's and, where it is there, DuckDB's.
"""
import csv
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import traceback
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / 'tools'))
import answers
import figures
import measure
import tpch
import tpch_data
import tpch_figures

SCALE = '0.01'
INDEXES = ('part (p_partkey)', 'supplier (s_suppkey)', 'partsupp (ps_partkey, ps_suppkey)',
           'customer (c_custkey)', 'orders (o_orderkey)', 'orders (o_custkey)',
           'lineitem (l_orderkey)', 'lineitem (l_partkey, l_suppkey)')


# ------------------------------------------------------------------ data --

def generate(*arguments):
    return subprocess.run([BUILD / 'tools' / 'generate', *map(str, arguments)],
                          capture_output=True, text=True, check=False)


def shell(sql, form='tabs'):
    return subprocess.run([BUILD / 'vdbq', '--readonly', '--mode', form, '--no-header',
                           '--device', 'host', DATA / 'db', sql],
                          capture_output=True, text=True, check=True).stdout


def make_data():
    """The tables in a database and, by other threads, as CSV."""
    for name, threads in (('one', 1), ('three', 3)):
        (DATA / name).mkdir()
        done = generate('--tpch', SCALE, '--threads', threads, '--csv', DATA / name,
                        *(('--db', DATA / 'db') if name == 'three' else ()))
        assert done.returncode == 0, done.stderr
    LITE.execute('pragma case_sensitive_like = on')
    for statement in shell('.schema').splitlines():
        LITE.execute(statement)
        fill(statement.split()[2].strip('"'))
    for index in INDEXES:
        LITE.execute(f'create index "{index}" on {index}')


def fill(table):
    """Fills one of sqlite3's tables from the database, so that what is checked is stored."""
    rows = [line.split('\t') for line in shell(f'select * from {table}').splitlines()]
    LITE.executemany(f'insert into {table} values ({", ".join("?" * len(rows[0]))})', rows)


def case_threads_do_not_matter():
    """Nor does where the rows go."""
    for table in (*tpch_data.ROWS, 'lineitem'):
        text = (DATA / 'one' / f'{table}.csv').read_text()
        assert text == (DATA / 'three' / f'{table}.csv').read_text(), table
        stored = shell(f'select * from {table}', 'csv')
        assert [*csv.reader(text.splitlines())][1:] == [*csv.reader(stored.splitlines())], table


def case_seeds_matter():
    with tempfile.TemporaryDirectory(prefix='vdbq-tpch-') as folder:
        assert generate('--tpch', SCALE, '--seed', 43, '--csv', folder).returncode == 0
        for table in ('part', 'orders', 'lineitem'):
            assert Path(folder, f'{table}.csv').read_text() != \
                (DATA / 'one' / f'{table}.csv').read_text(), table


def case_data_is_as_specified():
    faults = list(tpch_data.faults(LITE))
    assert not faults, '\n'.join(faults)


def case_bad_options():
    assert generate('--tpch', SCALE, '--ssb', SCALE, '--csv', DATA).returncode == 2
    for scale, said in (('0.001', 'same supplier twice'), ('0', 'usage'), ('x', 'usage')):
        done = generate('--tpch', scale, '--csv', DATA)
        assert done.returncode == 2 and said in done.stderr, (scale, done)


# --------------------------------------------------------------- queries --

def case_constants():
    """All of a query's are drawn, they differ from seed to seed, and reach their bounds."""
    rng = random.Random(1)
    for number in tpch.NUMBERS:
        drawn = [tpch.DRAW[number](rng, SCALE) for _ in range(600)]
        assert set(drawn[0]) == tpch.names(number), (number, drawn[0])
        assert '[' not in tpch.query(number, rng, SCALE), number
        assert len({str(one) for one in drawn}) > 3 or number == 18, number
        for name, values in DOMAINS.get(number, {}).items():
            found = {one[name] for one in drawn}
            assert (min(found), max(found)) == values, (number, name, min(found), max(found))
        if number in (7, 12):
            assert all(len(set(one.values())) == len(one) for one in drawn), number
    assert tpch.queries(random.Random(7), 1) == tpch.queries(random.Random(7), 1)
    assert len(set(tpch.different(6, random.Random(7), 1, 20))) == 20
    assert len(set(tpch.different(18, random.Random(7), 1, 6))) == 4
    assert tpch.fraction('300') == '0.000000333333', tpch.fraction('300')


DOMAINS = {  # least and most of 600
    1: {'DELTA': (60, 120)}, 2: {'SIZE': (1, 50)}, 3: {'DATE': ('1995-03-01', '1995-03-31')},
    4: {'DATE': ('1993-01-01', '1997-10-01')}, 5: {'DATE': ('1993-01-01', '1997-01-01')},
    6: {'DISCOUNT': ('0.02', '0.09'), 'QUANTITY': (24, 25)},
    10: {'DATE': ('1993-02-01', '1995-01-01')}, 14: {'DATE': ('1993-01-01', '1997-12-01')},
    15: {'DATE': ('1993-01-01', '1997-10-01')}, 18: {'QUANTITY': (312, 315)},
    16: {'BRAND': ('Brand#11', 'Brand#55'), 'SIZE1': (1, 50), 'SIZE8': (1, 50)},
    19: {'QUANTITY1': (1, 10), 'QUANTITY2': (10, 20), 'QUANTITY3': (20, 30)},
    22: {'I1': (10, 34), 'I7': (10, 34)}}


def case_answers():
    """All 22, of two draws, are sqlite3's and DuckDB's."""
    peers = [('sqlite3', LITE, for_sqlite)]
    if duckdb := open_duckdb():
        peers.append(('DuckDB', duckdb, tpch.for_duckdb))
    for seed in (1, 2):
        for number, sql in tpch.queries(random.Random(seed), SCALE).items():
            ours = [line.split('\t') for line in shell(sql).splitlines()]
            for name, db, dialect in peers:
                cursor = db.execute(dialect(sql))
                names = [column[0] for column in cursor.description]
                differs = answers.difference(sql, ours, names, cursor.fetchall())
                assert not differs, f'query {number} on {name}: {differs}\n{sql}'


def case_many_cores():
    """A launch on many cores gives many short batches, which are put together for what reads
    them: each query gives the host's rows in the host's order. POCL is told of cores that the
    machine lacks, which it must not bind its threads to."""
    many = DATA / 'many'
    done = generate('--tpch', '0.06', '--db', many)
    assert done.returncode == 0, done.stderr
    cores = dict(os.environ, POCL_MAX_PTHREAD_COUNT='9', POCL_AFFINITY='0')
    texts = tpch.queries(random.Random(3), 0.06).values()
    for sql in [*texts, 'select count(*), sum(x) from (select l_quantity x from lineitem '
                'where l_orderkey % 3 > 0 order by l_extendedprice, l_comment limit 50000)']:
        rows = [subprocess.run([BUILD / 'vdbq', '--readonly', '--mode', 'csv', '--device', device,
                                many, sql], capture_output=True, text=True, check=True,
                               env=cores).stdout for device in ('host', 'cpu')]
        assert rows[0] == rows[1], (sql, *rows)


def open_duckdb():
    """DuckDB with the tables; None: not here."""
    try:
        import duckdb
    except ImportError:
        print('DuckDB is not here: left out')
        return None
    db = duckdb.connect()
    for statement in shell('.schema').splitlines():
        table = statement.split()[2].strip('"')
        db.execute(statement)
        db.execute(f"copy {table} from '{DATA / 'one' / table}.csv' (header true)")
    return db


def for_sqlite(sql):
    """Days are texts there, hundredths floats."""
    sql = re.sub(r"date '([\d-]+)'(?: ([+-]) interval '(\d+)' (\w+)(?: \(3\))?)?", plain_day, sql)
    sql = re.sub(r'extract\(year from (\w+)\)', r"cast(strftime('%Y', \1) as integer)", sql)
    sql = re.sub(r'substring\((\w+) from 1 for 2\)', r'substr(\1, 1, 2)', sql)
    sql = re.sub(r'between (0\.\d+) - 0\.01 and \1 \+ 0\.01',
                 lambda found: f'between {float(found[1]) - 0.0101} and '
                               f'{float(found[1]) + 0.0101}', sql)
    return sql.replace('count(o_orderkey)', 'count(o_orderkey) as c_count').replace(
        'c_orders (c_custkey, c_count)', 'c_orders')


def plain_day(found):
    """The day that an expression is, as a text."""
    day, sign, number, unit = date.fromisoformat(found[1]), *found.groups()[1:]
    if unit == 'day':
        day += timedelta(int(number)) * (1 if sign == '+' else -1)
    elif unit:
        months = day.month - 1 + int(number) * (12 if unit == 'year' else 1)
        day = day.replace(year=day.year + months // 12, month=months % 12 + 1)
    return f"'{day}'"


# --------------------------------------------------------------- compare --

SORTED = 'select a, b, c from t order by b desc, a limit 3'
THEIRS = [(1, Decimal('2.50'), 'x'), (2, Decimal('1.25'), None), (3, Decimal('1.25'), 'z')]


def case_equal_answers():
    ours = [['1', '2.5', 'x'], ['2', '1.2500000000001', ''], ['3', '1.25', 'z']]
    assert answers.difference(SORTED, ours, ['a', 'b', 'c'], THEIRS) == ''
    tied = [ours[0], ours[2], ours[1]]
    assert answers.difference('select a, b, c from t order by b desc', tied,
                              ['a', 'b', 'c'], THEIRS) == ''
    assert answers.difference(SORTED, [], ['a', 'b', 'c'], []) == ''


def case_rows_that_a_limit_leaves_open():
    """Others may come, but those of the whole answer alone, and none more often."""
    sql = 'select a, b from t order by a LIMIT 2 offset 1'
    whole = [(1, 'x'), (1, 'y'), (1, 'y'), (2, 'z')]
    asked = []

    def unlimited(text):
        asked.append(text)
        return whole

    def differs(ours, query=sql):
        return answers.difference(query, ours, ['a', 'b'], whole[:2], unlimited)

    assert differs([(1, 'y'), (1, 'y')]) == '' and asked == ['select a, b from t order by a']
    assert differs([(1, 'x'), (1, 'x')]) and differs([(1, 'w'), (1, 'y')])
    assert differs([(1, 'x'), (2, 'z')]) and differs([(1, 'y')])
    assert differs([(1, 'y'), (1, 'y')], 'select a, b from t order by a')


def case_differences_are_found():
    """A value, a row, a column or an order that is wrong is told."""
    good = [['1', '2.5', 'x'], ['2', '1.25', ''], ['3', '1.25', 'z']]
    bad = {'row': good[:2], 'more': [*good, good[0]], 'order': [good[1], good[0], good[2]],
           'tie': [good[0], good[2], good[1]], 'integer': [['1', '2.5', 'x'], ['2', '1.25', ''],
                                                           ['4', '1.25', 'z']],
           'number': [['1', '2.5001', 'x'], *good[1:]], 'text': [['1', '2.5', 'X'], *good[1:]],
           'null': [good[0], ['2', '', ''], good[2]], 'word': [['1', 'x', 'x'], *good[1:]],
           'not null': [good[0], ['2', '1.25', '0'], good[2]],
           'column': [row[:2] for row in good], 'twice': [good[0], good[1], good[1]]}
    for name, ours in bad.items():
        differs = answers.difference(SORTED, ours, ['a', 'b', 'c'], THEIRS)
        assert differs.startswith('DIFFERENT'), name


# ------------------------------------------------------------- benchmark --

def run_benchmark(*arguments):
    return subprocess.run([sys.executable, ROOT / 'tools' / 'benchmark-tpch', '--build-dir', BUILD,
                           '--db', DATA / 'db', '--scale', SCALE, '--device', 'host', '--runs',
                           '1', '--json', DATA / 'kept.jsonl', '--plot', DATA / 'plot.svg',
                           '--machine', 'box', *arguments],
                          capture_output=True, text=True, check=False, timeout=300)


def case_small_run():
    """On two numbers of cores; the seed is kept, and another one each time."""
    done = run_benchmark('--cores', '1,2', '--queries', '1,6,14')
    assert done.returncode == 0 and 'DIFFERENT' not in done.stdout, done.stdout + done.stderr
    one, two = figures.read(DATA / 'kept.jsonl')
    assert one['name'] == ['1', '6', '14'] and (one['threads'], two['threads']) == (1, 2)
    assert None not in one['total_ms'] and one['answer_rows'] == [4, 1, 1]
    if one['peer_ms'][0] is not None:
        assert done.stdout.count('EQUAL') == 6, done.stdout
    ElementTree.parse(DATA / 'plot.svg')
    assert one['seed'] == int(re.search(r'--seed (\d+)', done.stdout)[1])
    run_benchmark('--queries', '6', '--no-duckdb')
    assert one['seed'] != figures.read(DATA / 'kept.jsonl')[0]['seed']
    assert 'seed 5\n' in run_benchmark('--queries', '6', '--no-duckdb', '--seed', '5',
                                        '--cpu-time').stdout


def case_faults_are_told():
    """A query without an end, and one that fails, are told, and the exit code says so."""
    done = run_benchmark('--queries', '1,6', '--limit', '0.0001', '--no-duckdb')
    assert done.returncode == 1 and done.stdout.count('no end in 0.0001 s') >= 2, done.stdout
    for words in (('--queries', '1,23'), ('--queries', 'x'), ('--cores', '0')):
        done = run_benchmark(*words)
        assert done.returncode == 2 and 'separated by commas' in done.stderr, (words, done)
    options = measure.argparse.Namespace(benchmark=BUILD / 'tools' / 'vdbq-benchmark',
                                         device='host', mode='auto')
    good, bad = measure.run_once(options, DATA / 'db', ['select 1', 'select x', 'select 2'], 60, 0)
    assert good['rows'] == 1 and good['total_ms'] >= good['plan_ms'] > 0, good
    assert list(bad) == ['fault'] and 'x' in bad['fault'], bad
    assert measure.watched(['sleep', '60'], 0.2, 1) == ([], 'no end in 0.2 s')


def case_table_and_plot():
    record = {'label': 'cpu', 'scale': '1', 'threads': 2, 'cpu_time': False,
              'name': ['1', '2', '3'], 'total_ms': [4.0, None, 1.0], 'peer_ms': [2.0, 8.0, 8.0],
              'fault': ['', 'no end in 60 s', '']}
    rows = list(tpch_figures.table([record, record | {'threads': 1, 'peer_ms': [None] * 3,
                                                       'cpu_time': True}]))
    assert rows[0][:4] == ['query', 'cpu SF 1, 2 cores: vdbq', 'DuckDB', 'DuckDB / vdbq'], rows
    assert rows[0][4] == 'cpu SF 1, 1 core, CPU time: vdbq', rows[0]
    assert rows[1] == ['1', '4.00', '2.00', '0.50x', '4.00', '', ''], rows[1]
    assert rows[2] == ['2', 'no end in 60 s', '8.00', '', 'no end in 60 s', '', ''], rows[2]
    assert rows[4][1:] == ['2.00', '4.00', '2.00x', '2.00', '', ''], rows[4]
    svg = tpch_figures.plot([record])
    ElementTree.fromstring(svg)
    assert svg.count('<rect') == 1 + 2 + 6 and 'no end in 60 s' in svg


def main():
    """Runs the cases."""
    passed = failed = 0
    make_data()
    for name, case in list(globals().items()):
        if not name.startswith('case_'):
            continue
        try:
            case()
            passed += 1
            print(f'ok      {name[5:]}', flush=True)
        except Exception:  # a case that breaks is a case that fails
            failed += 1
            print(f'FAILED  {name[5:]}', flush=True)
            traceback.print_exc(limit=-2, file=sys.stdout)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    BUILD = Path(sys.argv[1]).resolve()
    LITE = sqlite3.connect(':memory:')
    with tempfile.TemporaryDirectory(prefix='vdbq-tpch-') as made:
        DATA = Path(made)
        sys.exit(main())

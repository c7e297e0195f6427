#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Queries on several devices of one process: the rows, their order, their bits and the
errors of one device; what is told where one cannot be opened.

    test_several.py BUILD [PART...]

The parts are the functions below whose names begin with "test_". POCL gives two CPU
devices; where there is no POCL all pass over. The last line is "N passed, N failed".
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from test_cluster import DISTINCT, run_chosen

ROOT = Path(__file__).resolve().parents[2]
CHOICES = ('host+cpu', 'cpu:0,1', 'cpu:all+host')
ENVIRONMENT = os.environ | {'POCL_DEVICES': 'pthread pthread', 'VDBQ_TABLET_ROWS': '1000'}


def run(device, database, sql, **variables):
    """(stdout, stderr) of the shell that reads SQL on a device."""
    done = subprocess.run([BUILD / 'vdbq', '--batch', '--csv', '--device', device, database],
                          input=sql, capture_output=True, text=True, check=False, timeout=300,
                          env=ENVIRONMENT | variables)
    return done.stdout, done.stderr


def make_table(database, rows=20000):
    """A table t of many tablets."""
    lines = [f'{i},{i % 7},{i * 0.1!r},w{i % 13}\n' for i in range(1, rows + 1)]
    with tempfile.NamedTemporaryFile('w', suffix='.csv') as file:
        file.write('id,k,x,s\n' + ''.join(lines))
        file.flush()
        run('host', database, 'create table t (id integer primary key, k integer, x double, '
            f"s text);\ncopy t from '{file.name}' with (header);\n")


def same(sql, database, choices=CHOICES, **variables):
    """Several devices say what one says."""
    wanted = run('host', database, sql, **variables)
    for device in choices:
        got = run(device, database, sql, **variables)
        assert got == wanted, f'{device}:\n{got}\nnot\n{wanted}'


def test_answers():
    database = FOLDER / 'answers.vdb'
    make_table(database)
    sql = """
        select sum(x), avg(x), count(*), min(s), max(upper(s)) from t;
        select k, sum(x), min(s), max(s), count(distinct s) from t group by k;
        select upper(s), lower(s), count(*) from t group by 1, 2 having count(*) > 1538;
        select * from t where id % 1999 = 0;
        select id, s from t order by s desc, x limit 5 offset 3;
        select id from t limit 3 offset 9000;
        select id, sum(k) over (order by id) from t where id % 4000 = 1;
        select a.id, b.s from t a join t b on a.id = b.id + 1 where a.k = 3 and b.k = 2 limit 4;
        select count(*) from t where x > (select avg(x) from t);
        select sum(x), count(*), min(s) from t where id < 0;
        select 9223372036854775807 + id from t where id = 3 or id = 17000;
        select id, case when id > 12000 then 9223372036854775807 + id end from t where id > 11997;
        select nothing from t;
        """
    same(sql, database)
    same(sql, database, VDBQ_STEPS='device', choices=('cpu:0,1',))
    same(sql, database, VDBQ_MODE='cached', choices=('cpu:0,1',))
    same(sql, database, VDBQ_MEMORY='300M', choices=('host+cpu',))


def test_distinct():
    """Aggregates of DISTINCT values: the queries of several processes."""
    database = FOLDER / 'distinct.vdb'
    make_table(database)
    same(DISTINCT, database)
    same(DISTINCT, database, VDBQ_STEPS='device', choices=('cpu:0,1',))


def test_changes():
    """Changes are the first device's; the others see them with the next query."""
    script = """
        select sum(x) from t;
        insert into t values (100000, 1, 0.5, 'new');
        select sum(x), max(s) from t;
        begin;
        delete from t where id % 2 = 0;
        select sum(x), count(*) from t;
        rollback;
        update t set x = x + 1 where id > 15000;
        create table u as select k, sum(x) as x from t group by k;
        select * from u order by k;
        select sum(x), count(*) from t;
        """
    said = []
    for device in ('host', 'cpu:0,1', 'host+cpu'):
        database = FOLDER / f'changes {device}.vdb'
        make_table(database, rows=8000)
        said.append(run(device, database, script))
    assert said[0] == said[1] == said[2], said


def test_explain():
    database = FOLDER / 'explain.vdb'
    make_table(database)
    text = run('cpu:0,1', database, '.mode list\n'
               'explain analyze select k, sum(x) from t group by k;\n'
               'explain select count(distinct k), count(*) from t;\n')[0]
    for wanted in ('; devices   2\n', ';   cpu:0 ', ';   cpu:1 ', '10000 rows and ',
                   '####################', '; rows      20000 read, 7 returned',
                   '; devices   the first of 2 alone: an aggregate is of DISTINCT values, '
                   'another of all\n'):
        assert wanted in text, (wanted, text)
    text = run('cpu:0,1', ':memory:', '.mode list\ncreate table t (a integer);\n'
               'explain select a from t;\n')[0]
    assert '; devices   the first of 2 alone: the database is in memory\n' in text, text


def test_refused():
    """A device that cannot be opened is named; a list that is none is told of."""
    database = FOLDER / 'refused.vdb'
    make_table(database, rows=3000)
    for device, wanted in (('cpu:0,7', "device 'cpu:7' matches none"),
                           ('cpu:7,0', "device 'cpu:7' matches none"),
                           ('host+nothing_such', "device 'nothing_such' matches none"),
                           ('cpu:0,0', "device 'cpu:0,0' names 'cpu:0' twice"),
                           ('cpu+', "device 'cpu+': a device is missing")):
        for sql in ('select sum(x) from t;\n', f'.device {device}\n'):
            out, errors = run(device, database, sql)
            assert out == '' and wanted in errors, (device, out, errors)


def test_settings():
    """Devices are chosen anew between queries."""
    database = FOLDER / 'settings.vdb'
    make_table(database, rows=6000)
    query = 'select k, sum(x) from t group by k;\n'
    script = ''.join(f'.device {device}\n{query}'
                     for device in ('host', 'cpu:0,1', 'cpu', 'host+cpu', 'cpu:0,1'))
    out, errors = run('host', database, script)
    wanted = run('host', database, query)[0]
    assert errors == '' and out == wanted * 5, (out, errors)


def checked(*command):
    """Runs a test of its own."""
    done = subprocess.run([sys.executable, *map(str, command)], cwd=ROOT, capture_output=True,
                          text=True, check=False, env=ENVIRONMENT | {'VDBQ_TABLET_ROWS': '3'})
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_slt():
    """SQL tests with tablets of three rows; what runs where is told otherwise."""
    files = [file for room in ('groups', 'order', 'subqueries')
             for file in sorted((ROOT / 'tests' / 'sql' / room).glob('*.slt'))]
    checked('tests/slt.py', '--no-explain', '--device', 'host+cpu', BUILD / 'vdbq', *files)


def test_random():
    """Random tables and queries, beside one device and sqlite3."""
    for seed, other in enumerate(('host+cpu', 'cpu:0,1')):
        checked('tests/differential.py', '--seed', seed, '--queries', 500, '--joins', '0.4',
                '--subqueries', '0.1', '--other', other, BUILD / 'vdbq')


if __name__ == '__main__':
    BUILD = Path(sys.argv[1]).resolve()
    LISTED = subprocess.run([BUILD / 'vdbq', '--devices'], capture_output=True, text=True,
                            check=False, env=ENVIRONMENT).stdout
    if '0:1 ' not in LISTED:
        print('POCL gives no two devices here: passed over\n0 passed, 0 failed')
        sys.exit(0)
    with tempfile.TemporaryDirectory(prefix='several') as made:
        FOLDER = Path(made)
        sys.exit(run_chosen(globals()))

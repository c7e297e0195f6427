#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Queries on several ranks: the rows, their order, their bits and the errors of one
process; what is told where ranks do not see the same file.

    test_cluster.py BUILD [PART...]

The parts are the functions below whose names begin with "test_". The last line is
"N passed, N failed".
"""
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / 'tools'))
import tpch

RANKS = ROOT / 'tests' / 'cluster' / 'ranks'
ENVIRONMENT = os.environ | {'VDBQ_DEVICE': 'host', 'OMPI_ALLOW_RUN_AS_ROOT': '1',
                            'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1'}
BUILD = FOLDER = None  # the folder of the build, and one of the test's own: run_parts()
SEED = int(os.environ.get('CLUSTER_SEED', '7'))  # of what is drawn at random


def run(command, sql, **variables):
    """(stdout, the shell's lines of stderr) of a shell that reads SQL."""
    done = subprocess.run([*map(str, command)], input=sql, capture_output=True, text=True,
                          check=False, timeout=300, env=ENVIRONMENT | variables)
    errors, own = [], False
    for line in done.stderr.splitlines():
        own = not line.startswith('---') and (own or line.startswith('error'))
        errors += [line] if own else []
    return done.stdout, '\n'.join(errors)


def alone(database, *options):
    return [BUILD / 'vdbq', '--batch', '--csv', *options, database]


def ranks(count, database, *options):
    return [RANKS, count, *alone(database, *options)]


def make_table(database, rows=20000, tablet_rows=1000):
    """A table t of many tablets."""
    lines = [f'{i},{i % 7},{i * 0.1!r},w{i % 13}\n' for i in range(1, rows + 1)]
    with tempfile.NamedTemporaryFile('w', suffix='.csv') as file:
        file.write('id,k,x,s\n' + ''.join(lines))
        file.flush()
        run(alone(database), 'create table t (id integer primary key, k integer, x double, '
            f"s text);\ncopy t from '{file.name}' with (header);\n",
            VDBQ_TABLET_ROWS=str(tablet_rows))


def make_tpch(database):
    """The tables of TPC-H, of many tablets."""
    subprocess.run([BUILD / 'tools' / 'generate', '--tpch', '0.1', '--db', database],
                   check=True, capture_output=True, env=ENVIRONMENT | {'VDBQ_TABLET_ROWS': '30000'})


def same(sql, database, counts=(1, 2, 3, 5), **variables):
    """Several ranks say what one process says."""
    wanted = run(alone(database), sql)
    for count in counts:
        got = run(ranks(count, database), sql, **variables)
        assert got == wanted, f'{count} ranks:\n{got}\nnot\n{wanted}'


# ------------------------------------------------------------ answers --

def test_answers():
    database = FOLDER / 'answers.vdb'
    make_table(database)
    same("""
        select sum(x), avg(x), count(*), min(s), max(upper(s)) from t;
        select k, sum(x), min(s), max(s), count(distinct s) from t group by k;
        select bit_and(id | 5), bit_or(-id), bit_xor(id * 7919) from t where id % 3 < 2;
        select s, bit_and(k - 9), bit_or(id), bit_xor(id) filter (where k < 4) from t group by s;
        select id % 4999, bit_or(k), bit_xor(k) from t group by 1 order by 1 limit 9;
        select k, mode(s), count(*), max(id) from t where id % 13 <> k group by k;
        select mode(k), sum(id) from t; select s, mode(id % 5), mode(k) from t group by s;
        select mode(k), count(*) from t where id < 0;
        select s, count(*) from t where id > 19500 group by s;
        select upper(s), lower(s), count(*) from t group by 1, 2 having count(*) > 1538;
        select * from t where id % 1999 = 0;
        select id, s from t order by s desc, x limit 5 offset 3;
        select id from t limit 3 offset 9000;
        select id, sum(k) over (order by id) from t where id % 4000 = 1;
        select a.id, b.s from t a join t b on a.id = b.id + 1 where a.k = 3 and b.k = 2 limit 4;
        select k from t union all select id from t where id > 19998 order by 1 limit 3;
        select count(*) from t where x > (select avg(x) from t);
        select * from t where id < 0;
        select sum(x), count(*), min(s) from t where id < 0;
        """, database)


DISTINCT = """
    select count(distinct k), sum(distinct k), avg(distinct k), min(k), max(distinct k) from t;
    select count(distinct x) from t where x is not null;
    select sum(distinct x), avg(distinct x), total(distinct x) from t where id % 3 = 0;
    select k, count(distinct s) from t group by k;
    select bit_xor(distinct id % 501), bit_and(distinct k + 8), bit_or(k), count(distinct s) from t;
    select s, bit_xor(distinct k), bit_xor(k), bit_or(k), count(distinct k) from t group by s;
    select s, count(distinct k), min(k), max(k) from t group by s having count(distinct k) > 6;
    select k, count(distinct id % 501) c from t where k <> 4 group by k order by c desc, k limit 3;
    select s, count(distinct case when id % 5 < 3 then k end), sum(distinct k) from t group by s;
    select case when k < 5 then k end n, count(distinct case when id % 2 = 1 then s end)
        from t group by n;
    select case when id > 3 then 0 else id end n, count(distinct id) from t group by n;
    select count(distinct k) filter (where id % 4 = 1), sum(distinct k) filter (where k > 2) from t;
    select upper(s), count(distinct lower(s)) from t group by 1;
    select a.k, count(distinct b.s) from t a join t b on a.id = b.id + 1 group by a.k;
    select count(distinct k), sum(distinct x) from t where id < 0;
    select k, count(distinct x) from t where id > 19990 group by k;
    select case when id % 2 = 0 then 0e0 else -0e0 end z, count(distinct case when id % 3 = 0
        then 0e0 when id % 3 = 1 then -0e0 end) from t group by z;
    select k, sum(distinct cast(id as bigint) * 4611686018427387904) from t group by k;
    select count(distinct k), count(*), sum(x) from t;
    select count(distinct k), count(distinct s), count(distinct x) from t;
    """


def test_distinct():
    """Aggregates of DISTINCT values: pairs of groups and values are merged."""
    database = FOLDER / 'distinct.vdb'
    make_table(database)
    same(DISTINCT, database)


def test_many_distinct():
    """So many that bringing them together takes longer than one rank alone does."""
    database = FOLDER / 'many distinct.vdb'
    make_table(database, rows=70000, tablet_rows=5000)
    same('select count(distinct id) from t;\nselect k, count(distinct id) from t group by k;\n',
         database, counts=(2,))
    text = run(ranks(2, database, '--mode', 'list'),
               'explain select count(distinct id) from t;\n'
               'explain select k, count(distinct s) from t group by k;\n')[0]
    told = [line for line in text.splitlines() if line.startswith('; cluster')]
    assert told == ['; cluster   rank 0 of 2 alone: an aggregate is of too many DISTINCT values',
                    '; cluster   on 2 ranks'], text


def test_errors():
    """The first failure in the order of rows, and rows before it."""
    database = FOLDER / 'errors.vdb'
    make_table(database)
    same("""
        select 9223372036854775807 + id from t where id = 3 or id = 17000;
        select id, case when id > 12000 then 9223372036854775807 + id end from t where id > 11997;
        select case when id > 19000 then 9223372036854775807 + id else 0 end from t limit 2;
        select sum(9223372036854775807 - k) from t;
        select k, sum(cast(id as bigint) * 4611686018427387904) from t group by k;
        select nothing from t;
        select count(*) from t where s = 'w1';
        """, database)


def test_changes():
    """Changes are rank 0's; the others see them with the next query."""
    script = """
        select sum(x) from t;
        insert into t values (100000, 1, 0.5, 'new');
        select sum(x), max(s) from t;
        begin;
        delete from t where id % 2 = 0;
        select sum(x), count(*) from t;
        explain select sum(x) from t;
        rollback;
        update t set x = x + 1 where id > 15000;
        select sum(x), count(*) from t;
        drop table t;
        """
    for count in (1, 3):
        make_table(FOLDER / f'changes{count}.vdb', rows=8000, tablet_rows=500)
    wanted = run(alone(FOLDER / 'changes1.vdb'), script)
    got = run(ranks(3, FOLDER / 'changes3.vdb'), script)
    said = [line for line in got[0].splitlines() if 'cluster' in line]
    assert said == ['"; cluster   rank 0 of 3 alone: a transaction is open"'], said
    assert (got[0].replace(said[0] + '\n', ''), got[1]) == wanted, (got, wanted)


def test_explain():
    database = FOLDER / 'explain.vdb'
    make_table(database)
    text = run(ranks(3, database, '--mode', 'list'),
               'explain analyze select k, sum(x) from t group by k;\n'
               'explain select count(distinct k), count(*) from t;\n'
               'explain select count(distinct k), sum(distinct x) from t;\n'
               'explain select k, count(distinct s) from t group by k;\n')[0]
    for wanted in ('; cluster   on 3 ranks\n', ';   rank 0 ', ';   rank 2 ', 'gather from 3 ranks',
                   'scan of table t, a share on each of 3 ranks',
                   '; cluster   rank 0 of 3 alone: an aggregate is of DISTINCT values, '
                   'another of all\n', 'groups of each rank by 2 columns:',
                   '; cluster   rank 0 of 3 alone: aggregates are of DISTINCT values of '
                   'several columns\n'):
        assert wanted in text, (wanted, text)


def test_timeline():
    """A letter for each slot of a rank's time, which sum up to what it spent."""
    database = FOLDER / 'timeline.vdb'
    make_table(database, rows=200000, tablet_rows=20000)
    text = run(ranks(3, database, '--mode', 'list'),
               'explain analyze select id % 90001 k, count(*) from t group by k '
               'order by 2, 1 limit 3;\n',
               VDBQ_EXCHANGE='on')[0]
    slot = float(re.search(r'; timeline .* each letter ([0-9.]+) ms\n', text).group(1))
    lines = re.findall(r';   rank (\d+) +c ([0-9.]+) x ([0-9.]+) w ([0-9.]+) m ([0-9.]+) r '
                       r'([0-9.]+)  ([cxwmr.]+)\n', text)
    spent = [[float(ms) for ms in line]
             for line in re.findall('compute {0}, exchange {0}, wait {0}, merge {0}, rest {0}'
                                    .format('([0-9.]+) ms'), text)]
    assert [line[0] for line in lines] == ['0', '1', '2'] and len(spent) == 3, text
    for (_, compute, exchange, *_, letters), works in zip(lines, spent):
        assert float(compute) > 0 and float(exchange) > 0, text
        assert 0 < len(letters) <= 64 and {'c', 'x'} <= set(letters), text
        assert len(letters) * slot >= sum(works) - 2 * slot, text


def test_tpch():
    """The 22 queries."""
    database = FOLDER / 'tpch.vdb'
    make_tpch(database)
    sql = ';\n'.join(tpch.queries(random.Random(1), 0.1).values()) + ';\n'
    same(sql, database, counts=(3,))


def checked(*command, **variables):
    """Runs a test of its own; its last line counts."""
    done = subprocess.run([sys.executable, *map(str, command)], cwd=ROOT, capture_output=True,
                          text=True, check=False,
                          env=ENVIRONMENT | {'VDBQ_TABLET_ROWS': '3'} | variables)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_slt():
    """SQL tests with tablets of three rows; what runs where is told otherwise."""
    files = [file for room in ('groups', 'order', 'subqueries')
             for file in sorted((ROOT / 'tests' / 'sql' / room).glob('*.slt'))]
    checked('tests/slt.py', '--no-explain', '--device', 'host', f'{RANKS} 2 {BUILD}/vdbq', *files)


def test_random():
    """Random tables and queries, beside one process and sqlite3."""
    for count, queries, exchange in ((2, 600, 'auto'), (3, 600, 'on'), (5, 300, 'on')):
        checked('tests/differential.py', '--seed', count, '--queries', queries, '--joins', '0.4',
                '--subqueries', '0.1', '--other-binary', f'{RANKS} {count} {BUILD}/vdbq',
                BUILD / 'vdbq', VDBQ_EXCHANGE=exchange)


# ------------------------------------------------------------ refused --

def on_each(command, folder, sql):
    """Ranks with a folder each, as three machines have them that share no files."""
    line = f'cd {folder}/$OMPI_COMM_WORLD_RANK && exec {command}'
    return run(['mpirun', '--oversubscribe', '-n', '3', 'bash', '-c', line], sql)


def test_other_files():
    """Ranks that see other files are told of, and so is a version."""
    folder, first = FOLDER / 'each', FOLDER / 'first.vdb'
    make_table(first, rows=3000, tablet_rows=300)
    for rank in range(3):
        (folder / str(rank)).mkdir(parents=True)
        (folder / str(rank) / 'x.vdb').write_bytes(first.read_bytes())
    command = f'{BUILD}/vdbq --cluster --batch --csv x.vdb'
    text, errors = on_each(command, folder, 'select sum(k) from t;\n'
                           "insert into t values (9999, 1, 1, 'x');\nselect sum(k) from t;\n")
    assert text.startswith('sum(k)\n'), text
    assert 'sees another state of the database' in errors, errors
    run(alone(folder / '1' / 'x.vdb'), 'create table u (a text);\n')
    text, errors = on_each(command, folder, 'select 1;\n')
    assert text == '' and errors.startswith('error: rank 1 (') and \
        'sees CREATE TABLE u' in errors and 'rank 0 no more tables' in errors, errors
    (folder / '1' / 'x.vdb').write_bytes(first.read_bytes())
    (folder / '2' / 'x.vdb').unlink()
    text, errors = on_each(command, folder, 'select 1;\n')
    assert errors.startswith('error: rank 2 (') and 'No such file' in errors, errors
    assert text == '', text


def test_refused():
    """What --cluster needs."""
    for words, wanted in ((['--cluster'], 'needs a database file'),
                          (['--cluster', ':memory:'], 'in memory')):
        _, errors = run(['mpirun', '--oversubscribe', '-n', '2', BUILD / 'vdbq', *words],
                        'select 1;\n')
        assert wanted in errors, errors


def run_chosen(names):
    """Runs the parts of a test that the command line names, or all; the exit status."""
    tests = {name[5:]: test for name, test in names.items() if name.startswith('test_')}
    chosen, failed = sys.argv[2:] or list(tests), 0
    for name in chosen:
        start = time.monotonic()
        try:
            tests[name]()
        except Exception:  # whatever it is, the others run, too
            failed += 1
            traceback.print_exc()
        print(f'{name}: {time.monotonic() - start:.1f} s', flush=True)
    print(f'{len(chosen) - failed} passed, {failed} failed')
    return 1 if failed else 0


def run_parts(names):
    """The same with the build that the command line names, and a folder."""
    global BUILD, FOLDER
    BUILD = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix='cluster') as made:
        FOLDER = Path(made)
        return run_chosen(names)


if __name__ == '__main__':
    sys.exit(run_parts(globals()))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Growth of memory: what a connection has done before takes none.

    growth.py [options] BINARY

Scripts do the same to a table again and again, 20 times in one process and 80 times in
another: tablets, words and rows that nobody can see any more must leave, so that the
second process has had little more memory at once than the first. With --verbose there
is a line for each script: both peaks in MiB. The last line is "N passed, N failed".
"""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SCHEMA = """create table t as select n as id, n % 7 as b, n * 0.5 as d,
    'name ' || n || case when n < {long} then repeat('x', 100) else '' end as s
    from range({rows}) as r(n)"""
SCRIPTS = {
    'update of all': ('update t set b = b + 1;',),
    'update of texts': ("update t set s = substr(s, 2) || 'y' where id < {long};",),
    'update of some': ('update t set b = b + {i} where id % 10 = {i} % 10;',),
    'rollback': ('begin;', 'update t set b = b + 1;', 'select sum(b) from t;', 'rollback;'),
    'rows that go and come': ('delete from t where id < {long};',
                              "insert into t select n, 1, 2, 'x' || n from range({long}) as r(n);"),
    'tables that go and come': ('create table u as select * from t;',
                                'select max(s), sum(b) from u;', 'drop table u;'),
    'indexes': ('create index i on t(s);', "select count(*) from t where s like 'name 1%';",
                'drop index i;'),
    'queries': ("select count(distinct s) from t where s like '%{i}%' and b <> {i};",
                'select b, count(*) from t join (select id as other from t where id < {i}) '
                'on other = id group by b;'),
    'single rows': ("insert into t values ({i} - 1000, 1, 2, 'one');",
                    "select max(s) from t where b = 1;", 'delete from t where id = {i} - 1000;'),
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary')
    parser.add_argument('--rows', type=int, default=200000, help='of the table (%(default)s)')
    parser.add_argument('--times', type=int, default=20, help='that are few (%(default)s)')
    parser.add_argument('--more', type=float, default=12,
                        help='MiB that four times as many may take more (%(default)s)')
    parser.add_argument('--device', default='host')
    parser.add_argument('--only', help='scripts whose names begin so')
    parser.add_argument('--verbose', action='store_true')
    return parser.parse_args()


def peak(options, statements, times):
    """The most MiB that a process had which did it so often; None: it failed."""
    sizes = {'rows': options.rows, 'long': options.rows // 4}
    with tempfile.TemporaryDirectory() as folder:
        database, script = Path(folder) / 'growth.db', Path(folder) / 'script.sql'
        told = Path(folder) / 'peak'
        subprocess.run([options.binary, '--no-sync', database, SCHEMA.format(**sizes)],
                       check=True)
        script.write_text('\n'.join(statement.format(i=i, **sizes) for i in range(times)
                                    for statement in statements), 'utf-8')
        # A process begins with the peak of the one that starts it: that of "time" is small.
        run = subprocess.run(['time', '-q', '-f', '%M', '-o', told, options.binary, '--no-sync',
                              database, '-f', script], stdout=subprocess.DEVNULL,
                             env=os.environ | {'VDBQ_DEVICE': options.device})
        return int(told.read_text('utf-8')) / 1024 if run.returncode == 0 else None


def peaks(options, name, statements):
    """Those of few times and of many; None: a process failed."""
    few = peak(options, statements, options.times)
    many = peak(options, statements, 4 * options.times)
    if few is None or many is None:
        return None
    if options.verbose:
        print(f'{name:24} {few:7.0f} {many:7.0f} MiB', flush=True)
    return few, many


def judge(options, name, statements):
    """What is wrong with a script; None: nothing. Which threads hold what at once is
    chance: what leaves does so in one of three tries."""
    for _ in range(3):
        found = peaks(options, name, statements)
        if found is None:
            return 'failed'
        few, many = found
        if many <= few + options.more:
            return None
    return f'peak of {many:.0f} MiB, and of {few:.0f} with a quarter of the statements'


def main():
    options = arguments()
    passed = failed = 0
    for name, statements in SCRIPTS.items():
        if options.only and not name.startswith(options.only):
            continue
        wrong = judge(options, name, statements)
        if wrong:
            print(f'{name}: {wrong}', flush=True)
        passed, failed = passed + (not wrong), failed + bool(wrong)
    print(f'{passed} passed, {failed} failed')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())

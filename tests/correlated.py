#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random queries with subqueries that ask for values of the queries around them.

    correlated.py [options] BINARY

Each query (correlated/queries.py) runs over small tables with NULLs and
duplicates: as it is planned, with subqueries run once for each value and nothing
left out (VDBQ_PASSES), and on sqlite3. All rows must be the same; with and
without the passes they come in the same order. With them no step runs once for
each value. The last line is "N passed, N
failed"; what sqlite3 refuses counts as neither.

With --time queries run on tables of 100,000 rows against DuckDB, and those that
compare worst, or do not end, are told.
"""
import argparse
import random
import re
import shlex
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

from correlated.queries import COLUMNS, TABLES, Queries
from correlated.tables import small_tables, statements
from differential.checks import same
from differential.engines import Died, Vdbq, rows_of

NAMES = [column.split()[0] for column in COLUMNS.split(', ')]
WITHOUT = (('VDBQ_PASSES',
            '-unnest,-filter partitions,-refuse nulls,-drop unread,-ungroup,-facts,'
            '-join answers,-share'),)
FAILURES_MAX = 10


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary', help='the shell, split like a command line')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--from', type=int, default=0, dest='first', help='the first query')
    parser.add_argument('--queries', type=int, default=600)
    parser.add_argument('--set', type=int, default=50, help='for each set of tables')
    parser.add_argument('--device', default='host')
    parser.add_argument('--timeout', type=float, default=20, help='of a query, in seconds')
    parser.add_argument('--print', action='store_true', help='the queries, as they run')
    parser.add_argument('--time', action='store_true', help='against DuckDB, on large tables')
    parser.add_argument('--rows', type=int, default=100_000, help='of a large table')
    return parser.parse_args()


# --------------------------------------------------------------- tables --

def large_tables(rng, rows):
    def row(number):
        values = [number, rng.randrange(rows // 4), rng.randrange(100), rng.randrange(1000),
                  f'{rng.randrange(4000) / 8}', f"'word{rng.randrange(500)}'"]
        return [v if i == 0 or rng.random() > 0.02 else None for i, v in enumerate(values)]
    return {name: [row(i + 1) for i in range(rows)] for name in TABLES}


def is_applied(shell, sql):
    """Whether a step runs once for each value."""
    return re.search(rb'of an inner query[^"]*parameter', shell.answer('EXPLAIN ' + sql)[0])


# ---------------------------------------------------------------- equal --

class Sqlite:
    """sqlite3 in memory, which gives up after some work."""

    def __init__(self, tables):
        self.connection = sqlite3.connect(':memory:', isolation_level=None)
        for sql in statements(tables):
            self.connection.execute(sql)

    def run(self, sql):
        end = time.monotonic() + 10
        self.connection.set_progress_handler(lambda: time.monotonic() > end, 100_000)
        return self.connection.execute(sql).fetchall()


class Check:
    """Queries on small tables."""

    def __init__(self, options):
        self.options = options
        self.shells = [(Vdbq(options, options.device), settings) for settings in ((), WITHOUT)]
        self.passed, self.failed, self.refused = 0, 0, 0

    def begin(self, tables):
        self.tables, self.peer = tables, Sqlite(tables)
        for shell, settings in self.shells:
            shell.reset((), (), settings)
            for name in TABLES:
                shell.answer(f'DROP TABLE IF EXISTS {name}')
            for sql in statements(tables):
                shell.run(sql)

    def query(self, name, sql):
        try:
            wanted = self.peer.run(sql)
        except sqlite3.Error:
            self.refused += 1
            return
        try:
            answers = [shell.answer(sql) for shell, _ in self.shells]
        except Died as error:
            self.fail(name, sql, str(error))
            self.begin(self.tables)
            return
        rows, message = answers[0]
        if message:
            self.fail(name, sql, message)
        elif answers[0] != answers[1]:
            self.fail(name, sql, f'with the pass:\n{rows.decode()}without:\n'
                      f'{answers[1][0].decode()}{answers[1][1]}')
        elif not same(rows_of(rows), wanted, False):
            self.fail(name, sql, f'got {rows_of(rows)[:20]}\nwanted {wanted[:20]}')
        elif is_applied(self.shells[0][0], sql):
            self.fail(name, sql, 'a step runs once for each value')
        else:
            self.passed += 1

    def fail(self, name, sql, text):
        self.failed += 1
        print(f'query {name}: {text}\n  {sql}\n', flush=True)

    def run(self):
        options = self.options
        for number in range(options.first, options.first + options.queries):
            if number % options.set == 0 or number == options.first:
                group = number // options.set
                self.begin(small_tables(random.Random(f'tables {options.seed} {group}')))
            sql = Queries(random.Random(f'{options.seed} {number}')).statement()
            if options.print:
                print(sql, flush=True)
            self.query(number, sql)
            if self.failed >= FAILURES_MAX:
                break
        for shell, _ in self.shells:
            shell.close()
        print(f'{self.refused} refused by sqlite3')
        print(f'{self.passed} passed, {self.failed} failed')
        return self.failed > 0


# ----------------------------------------------------------------- time --

class File(Vdbq):
    """A shell on a database that stays when it ends."""

    def fill(self, tables):
        self.start(())
        for sql in statements(tables):
            self.run(sql)

    def again(self):
        """A new process."""
        self.close()
        path = shlex.quote(f'{self.folder.name}/test.vdb')
        self.errors, self.errors_read = tempfile.TemporaryFile(), 0
        command = [*shlex.split(self.options.binary), '--batch', '--mode', 'quote', '--device',
                   self.device, path]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, bufsize=0, start_new_session=True)
        self.poll.register(self.process.stdout)


class Duck:
    """DuckDB in memory, interrupted when it takes too long."""

    def __init__(self, tables, timeout):
        import duckdb
        self.connection, self.timeout = duckdb.connect(), timeout
        self.connection.execute("SET default_null_order = 'nulls_first_on_asc_last_on_desc'")
        self.connection.execute('SET scalar_subquery_error_on_multiple_rows = false')
        for name, rows in tables.items():
            self.connection.execute(f'CREATE TABLE {name} ({COLUMNS})')
            with tempfile.NamedTemporaryFile('w', suffix='.csv') as file:
                for row in rows:
                    file.write(','.join('' if v is None else str(v).strip("'") for v in row) + '\n')
                file.flush()
                self.connection.execute(f"COPY {name} FROM '{file.name}' (HEADER false)")

    def run(self, sql):
        timer = threading.Timer(self.timeout, self.connection.interrupt)
        timer.start()
        try:
            return [tuple(map(number, row)) for row in self.connection.execute(sql).fetchall()]
        finally:
            timer.cancel()


def number(value):
    return value if value is None or isinstance(value, (int, str)) else float(value)


def summed(sql):
    """What is to be computed of each result, in one row."""
    count = sql.split(' FROM ')[0].count(' AS c')
    count = next(i for i in range(9, 0, -1) if f' AS c{i - 1}' in sql) if count < 2 else count
    return ('SELECT count(*), ' + ', '.join(f'count(c{i}), min(c{i}), max(c{i})'
                                            for i in range(count)) + f' FROM ({sql}) q')


def timed(run, sql):
    """(seconds, rows, error): the better of two runs that are short."""
    best, rows = None, None
    for _ in range(2):
        begin = time.monotonic()
        try:
            rows = run(sql)
        except Exception as error:  # whatever the engine raises
            return time.monotonic() - begin, None, str(error).split('\n')[0]
        took = time.monotonic() - begin
        best = took if best is None else min(best, took)
        if took > 1:
            break
    return best, rows, None


def time_all(options):
    tables = large_tables(random.Random(options.seed), options.rows)
    shell, duck = File(options, options.device), Duck(tables, options.timeout)
    shell.fill(tables)
    results = []
    for i in range(options.first, options.first + options.queries):
        sql = summed(Queries(random.Random(f'{options.seed} {i}'), large=True).statement())
        theirs, wanted, refused = timed(duck.run, sql)
        ours, got, error = timed(shell.run, sql)
        if shell.process is None:
            shell.again()
        applied = is_applied(shell, sql) is not None
        different = error is None and refused is None and not same(got, wanted, False)
        results.append((ours / theirs, ours, theirs, i, error, refused, different, applied, sql))
        print(f'{i}: {ours * 1000:.1f} ms, DuckDB {theirs * 1000:.1f} ms'
              + (' applied' if applied else '') + (f' error: {error}' if error else '')
              + (f' DuckDB: {refused}' if refused else '')
              + (f' different: {got} {wanted}' if different else ''), flush=True)
    shell.close()
    report(results, options)


def report(results, options):
    for result in sorted(results, reverse=True)[:12]:
        ratio, ours, theirs, i, _, _, _, _, sql = result
        print(f'{ratio:.1f} times ({ours * 1000:.0f} / {theirs * 1000:.0f} ms), {i}: {sql}')
    slow = [r for r in results if r[0] > 10 and r[1] > 0.1]
    ended = [r for r in results if r[1] < options.timeout and r[4] is None]
    print(f'{len(results)} queries: {len(results) - len(ended)} do not end in {options.timeout} s '
          f'or fail (DuckDB: {sum(r[5] is not None for r in results)}), {len(slow)} take over 10 '
          f'times as long and over 100 ms, {sum(r[7] for r in results)} run a step once for each '
          f'value, {sum(r[6] for r in results)} have other rows')


def main():
    options = arguments()
    if options.time:
        time_all(options)
        return 0
    return Check(options).run()


if __name__ == '__main__':
    sys.exit(main())

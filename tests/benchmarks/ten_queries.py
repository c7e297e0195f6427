#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the ten benchmark queries with sqlite3, row by row, in order.

    ten_queries.py SHELL GENERATE [ROWS]

Both get the same CSV file (100,000 rows); sqlite3 the exact double of each
float. Every device, mode and build that this machine has for the CPU, and
the host, must give the same rows in the same order.
"""
import csv
import os
import sqlite3
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

QUERIES = Path(__file__).resolve().parents[2] / 'tools' / 'ten.sql'
# (device, mode, build)
MODES = ('serial', 'streamed', 'mapped', 'cached')
CONFIGURATIONS = [('host', mode, 'interpreted') for mode in MODES] + [
    ('cpu', mode, build) for mode in MODES
    for build in ('interpreted', 'specialised')]


def as_float(text):
    """The double that equals the 32-bit float nearest to what `text` says."""
    return struct.unpack('f', struct.pack('f', float(text)))[0]


def read_rows(lines, floats_from):
    """Rows of CSV text as tuples; columns from `floats_from` on are floats."""
    return [(*map(int, row[:floats_from]), *map(as_float, row[floats_from:]))
            for row in csv.reader(lines)]


def expected_answers(schema, rows, queries):
    """sqlite3's answers, in order of id."""
    db = sqlite3.connect(':memory:')
    db.execute(schema)
    db.executemany('insert into test values (?,?,?,?,?,?,?)', rows)
    return [db.execute(query + ' order by id').fetchall() for query in queries]


def run_shell(shell, database, text, **settings):
    """What the shell prints for `text` on its standard input."""
    environment = os.environ | {f'VDBQ_{name.upper()}': v for name, v in settings.items()}
    result = subprocess.run([shell, '--batch', '--mode', 'quote', database], input=text,
                            text=True, capture_output=True, env=environment, check=False)
    if result.returncode or 'error' in result.stderr:
        sys.exit(f'{settings}: exit code {result.returncode}: {result.stderr}\n'
                 f'0 passed, 1 failed')
    return result.stdout


def check(shell, database, query, expected, settings):
    """'' if the shell's rows are the expected ones, else the first difference."""
    floats_from = len(expected[0]) if 'uniformi' in query or 'normali' in query else 1
    answer = run_shell(shell, database, query + ';\n', **settings)
    rows = read_rows(answer.splitlines(), floats_from)
    if rows == expected:
        return ''
    first = next((i for i, pair in enumerate(zip(rows, expected)) if pair[0] != pair[1]),
                 min(len(rows), len(expected)))
    return (f'{len(rows)} rows, expected {len(expected)}; row {first}: '
            f'{rows[first:first + 1]}, expected {expected[first:first + 1]}')


def main():
    shell, generate = sys.argv[1:3]
    count = sys.argv[3] if len(sys.argv) > 3 else '100000'
    queries = QUERIES.read_text().splitlines()
    schema = subprocess.run([generate, '--schema'], check=True, capture_output=True,
                            text=True).stdout
    failed = 0
    with tempfile.TemporaryDirectory(prefix='ten') as folder:
        table, database = os.path.join(folder, 'test.csv'), os.path.join(folder, 'test.vdb')
        subprocess.run([generate, '--rows', count, '--csv', table], check=True)
        run_shell(shell, database, f'{schema}.import {table} test\n')
        with open(table, newline='') as file:
            next(file)
            expected = expected_answers(schema, read_rows(file, 4), queries)
        for device, mode, build in CONFIGURATIONS:
            settings = {'device': device, 'mode': mode, 'build': build}
            for number, query in enumerate(queries):
                fault = check(shell, database, query, expected[number], settings)
                if fault:
                    print(f'query {number}, {device}, {mode}, {build}: {fault}')
                    failed += 1
    print(f'{len(CONFIGURATIONS) * len(queries) - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

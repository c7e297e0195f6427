#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Peaks of memory: what holds more than VDBQ_MEMORY keeps near it.

    peaks.py [options] BINARY

Each query runs in a process of its own, without a limit and with VDBQ_MEMORY, and each
change likewise, of a copy of the tables. Both answers, and what the changes have made,
must be the same bytes, and with the limit the most memory that the process ever had
may be only so much above that of one that counts the rows of the same table
(--above, --above-texts, --above-changes). With --verbose there is a line for each: the
peaks above counting in MiB with and without the limit, the seconds with and without it,
and their ratio. The last line is "N passed, N failed".
"""
import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from queries import CHANGES, QUERIES, SCHEMA, in_list, numbers_csv, texts_csv

MIB = 1 << 20


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary')
    parser.add_argument('--rows', type=int, default=8000000, help='of each table (%(default)s)')
    parser.add_argument('--memory', type=int, default=64, help='VDBQ_MEMORY, MiB (%(default)s)')
    parser.add_argument('--above', type=float, default=70,
                        help='MiB that a peak may be above that of counting (%(default)s)')
    parser.add_argument('--above-texts', type=float, default=70,
                        help='the same of queries of texts (%(default)s)')
    parser.add_argument('--above-changes', type=float, default=70,
                        help='the same of changes (%(default)s)')
    parser.add_argument('--device', default='host')
    parser.add_argument('--only', help='those whose names begin so')
    parser.add_argument('--database', type=Path, help='where tables are kept for the next time')
    parser.add_argument('--limited', action='store_true', help='only with VDBQ_MEMORY')
    parser.add_argument('--verbose', action='store_true')
    return parser.parse_args()


class Run:
    """What a process that ran a query answered, and what it took."""

    def __init__(self, options, database, sql, memory, access='--readonly'):
        environment = os.environ | {'VDBQ_DEVICE': options.device}
        if memory:
            environment['VDBQ_MEMORY'] = f'{memory}M'
        self.answer = hashlib.blake2b()
        begin = time.monotonic()
        with tempfile.NamedTemporaryFile('w', suffix='.sql') as script:
            script.write(sql)
            script.flush()
            # A process begins with the peak of the one that starts it: that of "time" is small.
            with tempfile.NamedTemporaryFile('r') as peak:
                process = subprocess.Popen(['time', '-q', '-f', '%M', '-o', peak.name,
                                            options.binary, access, '-m', 'csv', database,
                                            '-f', script.name],
                                           env=environment, stdout=subprocess.PIPE)
                while part := process.stdout.read(MIB):
                    self.answer.update(part)
                self.failed = process.wait() != 0
                self.peak = int(peak.read()) / 1024
        self.seconds = time.monotonic() - begin


class Change(Run):
    """The same of a change of a copy; what it has made is a part of the answer."""

    def __init__(self, options, database, query, memory):
        with tempfile.TemporaryDirectory(dir=database.parent) as folder:
            copy = Path(folder) / 'copy.db'
            shutil.copyfile(database, copy)
            super().__init__(options, copy, query.sql.format(**files(database)), memory,
                             '--no-sync')
            made = Run(options, copy, query.look, 0)
        self.answer.update(made.answer.digest())
        self.failed |= made.failed


def run_query(options, database, query, memory):
    if query.look:
        return Change(options, database, query, memory)
    return Run(options, database, query.sql, memory)


def files(database):
    """Those that the tables are read from."""
    return {table: database.with_suffix(f'.{table}.csv') for table in ('numbers', 'texts')}


def make(options, database):
    """The tables, of some eight tablets each however many rows they have."""
    rows = min(max(options.rows // 8, 1 << 10), 1 << 20)
    environment = os.environ | {'VDBQ_TABLET_ROWS': str(rows)}
    subprocess.run([options.binary, '--no-sync', database, SCHEMA], check=True)
    for table, write in (('numbers', numbers_csv), ('texts', texts_csv)):
        path = files(database)[table]
        with open(path, 'w') as file:
            write(file, options.rows)
        subprocess.run([options.binary, '--no-sync', database,
                        f"copy {table} from '{path}' (header off)"],
                       check=True, stdout=subprocess.DEVNULL, env=environment)


def judge(options, database, query, counting):
    """Runs a query both ways; what is wrong with it, or None."""
    limited = run_query(options, database, query, options.memory)
    free = limited if options.limited else run_query(options, database, query, 0)
    above = limited.peak - counting
    if options.verbose:
        print(f'{query.name:24} {above:7.0f} {free.peak - counting:7.0f} MiB '
              f'{limited.seconds:7.2f} {free.seconds:7.2f} s '
              f'{limited.seconds / free.seconds:5.2f}', flush=True)
    if limited.failed or free.failed:
        return 'failed'
    if limited.answer.digest() != free.answer.digest():
        return 'another answer with VDBQ_MEMORY than without'
    most = (options.above_changes if query.look else
            options.above_texts if query.table == 'texts' else options.above)
    if above > most:
        return f'peak of {above:.0f} MiB above counting, more than {most:g}'
    return None


def run(options, database):
    """All queries and changes; how many passed and failed."""
    passed = failed = 0
    counting = {table: Run(options, database, f'select count(*) from {table}',
                           options.memory).peak for table in ('numbers', 'texts')}
    for query in QUERIES + in_list(options.rows // 8) + CHANGES:
        if options.only and not query.name.startswith(options.only):
            continue
        wrong = judge(options, database, query, counting[query.table])
        if wrong:
            print(f'{query.name}: {wrong}\n    {query.sql[:200]}', flush=True)
        passed, failed = passed + (not wrong), failed + bool(wrong)
    return passed, failed


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as folder:
        database = options.database or Path(folder) / 'memory.db'
        if not database.exists():
            make(options, database)
        passed, failed = run(options, database)
    print(f'{passed} passed, {failed} failed')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())

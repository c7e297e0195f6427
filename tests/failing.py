#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs SQL tests while memory runs out.

    failing.py [options] BINARY FILE...

BINARY is tests/failing of a hostile build. Of the statements of each .slt file,
a share that hangs on the seed is tried with calls for memory that fail. Of the
others, those run that may change something, in files of which any is tried:
slt.py runs all in this build. The last line is "N passed, N failed".
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import slt
from shell_options import FILE_SECONDS

NAME = re.compile(r'create\s+(?:temp(?:orary)?\s+)?(?:table|view)\s+(?:if\s+not\s+exists\s+)?'
                  r'("[^"]+"|`[^`]+`|\[[^\]]+\]|\w+)', re.I)
# What changes nothing.
QUERY = re.compile(r'\s*(?:select|values|from|explain)\b', re.I)
# Answers that are different each time, or after a statement that failed.
ANY_ANSWER = re.compile(r'random|analyze|now|current_|date\s*\(\s*\)|julianday\s*\(\s*\)'
                        r'|changes\s*\(|last_insert_rowid', re.I)


def record(kind, text):
    sql = text.encode()
    return f'{kind} {len(sql)}\n'.encode() + sql + b'\n'


def records(path, options):
    """What tests/failing reads, of one file; nothing where none is tried."""
    made = list(all_records(path, options))
    return made if any(item.startswith(b'try ') for item in made) else []


def all_records(path, options):
    """The same, whether or not one is tried."""
    chance = random.Random(f'{options.seed} {path.name}')
    seen = set()
    for item in slt.read_records(path):
        if item.skip or item.kind not in ('statement', 'query') or ANY_ANSWER.search(item.sql):
            continue
        name = NAME.search(item.sql)
        if name and name.group(1) not in seen:
            seen.add(name.group(1))
            yield record('look', f'select * from {name.group(1)}')
        if chance.random() < options.share:
            yield record('try', item.sql)
        elif item.kind == 'statement' or not QUERY.match(item.sql):
            yield record('run', item.sql)


def run_file(path, options):
    """(passed, failed, what it said) of a file."""
    chosen = records(path, options)
    if not chosen:
        return 0, 0, ''
    with tempfile.TemporaryDirectory(prefix='failing') as folder:
        try:
            done = subprocess.run([options.binary, str(options.seed), str(options.tries),
                                   os.path.join(folder, 'tried.vdb')],
                                  input=b''.join(chosen), capture_output=True,
                                  timeout=options.timeout, check=False)
        except subprocess.TimeoutExpired as expired:
            said = (expired.stdout or b'').decode(errors='replace')
            return 0, 1, f'{path}: {said}no end in {options.timeout} s\n'
    said = done.stdout.decode(errors='replace')
    count = re.search(r'(\d+) passed, (\d+) failed\s*\Z', said)
    good, bad = map(int, count.groups()) if count else (0, 1)
    if done.returncode and not bad:
        bad = 1  # the sanitizers': a leak, for instance
    return good, bad, f'{path}: {said}{done.stderr.decode(errors="replace")}' if bad else ''


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary')
    parser.add_argument('file', nargs='+', type=Path)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--share', type=float, default=0.1, help='of statements that are tried')
    parser.add_argument('--tries', type=int, default=20, help='calls of each that fail')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('--timeout', type=float, default=FILE_SECONDS, help='seconds a file')
    return parser.parse_args()


def main():
    options = arguments()
    slt.Record.names = [*slt.Record.names, 'hostile']
    good = bad = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for passed, failed, said in pool.map(lambda path: run_file(path, options), options.file):
            good, bad = good + passed, bad + failed
            print(said, end='')
    print(f'{good} passed, {bad} failed')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())

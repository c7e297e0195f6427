#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Statements of growing length: planning must not grow faster than their square.

    growth.py [options] BINARY

A family makes a statement of any length: names of WITH or views of which each
reads the one before it twice, joins in a chain whose ON has subqueries about both
sides, queries inside of one another. Each is planned (EXPLAIN) at several
lengths. It fails where twice the length takes more than four times the processor
time, or the steps are more than four times as many. A machine that is busy takes
more of it now and then, never less: what looks like growth is measured again, both
lengths in turns, and the fastest runs count. --most ends what has no growth but
takes far too long on any machine. The shortest ones run, too, and the rows must be those of
sqlite3. The last line is "N passed, N failed".
"""
import argparse
import os
import random
import shlex
import sqlite3
import subprocess
import sys
import tempfile

LENGTHS = (5, 10, 20, 40)
RUN = (4, 12)         # lengths at which rows are compared
TRIES = 8             # of which the fastest counts, where it looks slow
NOISE = 0.04          # seconds of processor time that mean nothing
STEPS = 1500          # that are few: trees of up to 1,000 nodes are copied
TIMES, MORE = 4, 1.25  # twice the length: so many times as long, and how much more is noise

ROWS = ((1, 2, 3), (2, 3, 1), (3, 5, None), (4, 1, 2), (5, 4, 3))
TABLE = 'CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER, x INTEGER)'
INSERT = 'INSERT INTO t VALUES ' + ', '.join(
    f'({row[0]}, {row[1]}, {"NULL" if row[2] is None else row[2]})' for row in ROWS)

# Queries of id, k and x that read {p} twice; k has each id once, so that rows stay as many.
LEVELS = {
    'join': 'SELECT a.id, a.k, b.x FROM {p} a JOIN {p} b ON a.id = b.k',
    'filtered': 'SELECT a.id, a.k, b.x + 1 AS x FROM {p} a, {p} b WHERE a.id = b.k AND a.id > 0',
    'left': 'SELECT a.id, a.k, b.x FROM {p} a LEFT JOIN {p} b ON a.id = b.k AND b.x < 9',
    'full': 'SELECT COALESCE(a.id, b.id) AS id, a.k, b.x FROM {p} a FULL JOIN {p} b ON a.id = b.k',
    'union': 'SELECT id, k, x FROM {p} UNION SELECT id, k, x FROM {p} WHERE x IS NULL',
    'except': 'SELECT id, k, x FROM {p} EXCEPT SELECT id, k, x FROM {p} WHERE id > 90',
    'group': 'SELECT a.id, max(a.k) AS k, min(b.x) AS x FROM {p} a JOIN {p} b ON a.id = b.k '
             'GROUP BY a.id',
    'distinct': 'SELECT DISTINCT a.id, a.k, b.x FROM {p} a JOIN {p} b ON a.id = b.k',
    'limit': 'SELECT a.id, a.k, b.x FROM {p} a JOIN {p} b ON a.id = b.k ORDER BY 1 LIMIT 9',
    'window': 'SELECT a.id, a.k, rank() OVER (ORDER BY b.x, b.id) AS x '
              'FROM {p} a JOIN {p} b ON a.id = b.k',
    'scalar': 'SELECT id, k, (SELECT max(x) FROM {p}) - id AS x FROM {p}',
    'exists': 'SELECT id, k, x FROM {p} a WHERE EXISTS (SELECT 1 FROM {p} b WHERE b.k = a.id)',
    'in': 'SELECT id, k, x FROM {p} WHERE id IN (SELECT k FROM {p})',
    'correlated': 'SELECT id, k, (SELECT max(b.x) FROM {p} b WHERE b.id <= a.k) AS x FROM {p} a'}

# A subquery of ON about both sides of a join: {a} is one of the left side.
ASKED = {
    'scalar': '{b}.x > (SELECT min(u.x) FROM t u WHERE u.k <> {a}.x AND u.id <= {b}.id)',
    'exists': 'EXISTS (SELECT 1 FROM t u WHERE u.k = {a}.k AND u.x <= {b}.x)',
    'in': '{b}.x IN (SELECT u.x FROM t u WHERE u.id >= {a}.id)',
    'not in': '{b}.id NOT IN (SELECT u.x FROM t u WHERE u.id > {a}.id + {b}.k)'}

# A query of id, k and x over one that stands in it.
NESTS = {
    'computed': 'SELECT id, k, (SELECT max(u.x) FROM t u WHERE u.id <= d.k AND u.k > d.id) AS x '
                'FROM ({q}) d',
    'refused': 'SELECT id, k, x FROM ({q}) d '
               'WHERE EXISTS (SELECT 1 FROM t u WHERE u.k <= d.id AND u.id >= d.k) OR d.id > 0',
    'grouped': 'SELECT id, max(k) AS k, min(x) AS x FROM ({q}) d GROUP BY id',
    'twice': 'SELECT d.id, d.k, e.x FROM ({q}) d JOIN t e ON d.id = e.k',
    'asked': 'SELECT v.id, v.k, (SELECT min(x) FROM ({q}) d WHERE d.id <= v.k) AS x FROM t v'}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary', help='the shell, split like a command line')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--mixed', type=int, default=4, help='families of mixed levels')
    parser.add_argument('--family', default='', help='those with this in their names')
    parser.add_argument('--most', type=float, default=1.0, help='seconds to plan in')
    parser.add_argument('--device', default='host')
    parser.add_argument('--print', action='store_true', help='what each length takes')
    return parser.parse_args()


# ------------------------------------------------------------- families --
# A family is a function of a length to (statements before, query, statements for sqlite3
# before, its query): it would plan names of names as slowly.

def last(name):
    return f'SELECT id, k, x FROM {name} ORDER BY 1, 2, 3'


def levels(forms, length):
    """(name, query) of each level."""
    before = [('c0', 'SELECT id, k, x FROM t')]
    for i in range(length):
        before.append((f'c{i + 1}', forms[i % len(forms)].format(p=f'c{i}')))
    return before


def tables_of(made):
    return [f'CREATE TABLE {name} AS {query}' for name, query in made]


def with_names(forms):
    def family(length):
        made = levels(forms, length)
        names = ', '.join(f'{name} AS ({query})' for name, query in made)
        return [], f'WITH {names} {last(made[-1][0])}', tables_of(made), last(made[-1][0])
    return family


def views(forms):
    def family(length):
        made = levels(forms, length)
        return ([f'CREATE VIEW {name} AS {query}' for name, query in made], last(made[-1][0]),
                tables_of(made), last(made[-1][0]))
    return family


def chain(kind, asked):
    def family(length):
        query = 'SELECT t0.id, t0.k, t0.x FROM t t0'
        for i in range(length):
            a, b = f't{i}', f't{i + 1}'
            query += f' {kind} JOIN t {b} ON {a}.k = {b}.id AND {asked.format(a=a, b=b)}'
        query += ' ORDER BY 1, 2, 3'
        return [], query, [], query
    return family


def nest(forms):
    def family(length):
        query = 'SELECT id, k, x FROM t'
        for i in range(length):
            query = forms[i % len(forms)].format(q=query)
        query += ' ORDER BY 1, 2, 3'
        return [], query, [], query
    return family


def families(rng, mixed):
    made = {}
    for name, form in LEVELS.items():
        made[f'with {name}'] = with_names([form])
    made['views join'] = views([LEVELS['join']])
    made['views group'] = views([LEVELS['group']])
    for kind in 'LEFT', 'RIGHT', 'FULL':
        for name, asked in ASKED.items():
            made[f'chain {kind} {name}'] = chain(kind, asked)
    for name, form in NESTS.items():
        made[f'nest {name}'] = nest([form])
    for i in range(mixed):
        made[f'with mixed {i}'] = with_names(rng.choices(list(LEVELS.values()), k=7))
        made[f'nest mixed {i}'] = nest(rng.choices(list(NESTS.values()), k=5))
    return made


# ----------------------------------------------------------------- runs --

def run(options, statements):
    """(what is printed, seconds of processor time)"""
    with tempfile.TemporaryFile('w+') as sql, tempfile.TemporaryFile('w+') as out:
        sql.write(';\n'.join(statements) + ';\n')
        sql.seek(0)
        child = subprocess.Popen(shlex.split(options.binary) + ['--mode', 'list'], stdin=sql,
                                 stdout=out, stderr=subprocess.STDOUT,
                                 env=os.environ | {'VDBQ_DEVICE': options.device})
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status
        out.seek(0)
        text = out.read()
    if status != 0 or 'error:' in text:
        raise ValueError(f'status {status}: {text[-300:]}')
    # Their sum is exact; which part is the system's is not known for short runs.
    return text, usage.ru_utime + usage.ru_stime


def planned(options, family, length):
    """(seconds, steps) of a statement of that length."""
    before, query, _, _ = family(length)
    before = [TABLE, INSERT] + before
    text, seconds = run(options, before + ['EXPLAIN ' + query])
    if seconds > NOISE:
        seconds = max(seconds - run(options, before)[1], 0)
    return seconds, text.count('; step ')


def differs(options, family, length):
    """What is wrong with the rows; None: nothing."""
    before, query, before_there, query_there = family(length)
    with sqlite3.connect(':memory:') as there:
        for statement in [TABLE, INSERT] + before_there:
            there.execute(statement)
        try:
            rows = there.execute(query_there).fetchall()
        except sqlite3.OperationalError: # its parser's stack is small
            return None
        expected = [''.join('|' * (i > 0) + ('' if value is None else str(value))
                            for i, value in enumerate(row))
                    for row in rows]
    text, _ = run(options, [TABLE, INSERT] + before + [query])
    got = text.splitlines()[1:]
    return None if got == expected else f'length {length}: {got[:6]} for {expected[:6]}'


# --------------------------------------------------------------- checks --

def is_slow(options, seconds, half_seconds):
    """Whether a length takes too long, by itself or beside its half (None: there is none)."""
    return seconds > options.most or \
        half_seconds is not None and seconds > TIMES * MORE * half_seconds + NOISE


def least_seconds(options, family, length, seconds, half_seconds):
    """The same two times, of the fastest runs where the first ones look slow."""
    for _ in range(TRIES - 1):
        if not is_slow(options, seconds, half_seconds):
            break
        seconds = min(seconds, planned(options, family, length)[0])
        if half_seconds is not None:
            half_seconds = min(half_seconds, planned(options, family, length // 2)[0])
    return seconds, half_seconds


def grows(options, family, lengths):
    """What grows too fast; None: nothing. Each length is twice the one before."""
    half_seconds = half_steps = None
    for length in lengths:
        seconds, steps = planned(options, family, length)
        seconds, half_seconds = least_seconds(options, family, length, seconds, half_seconds)
        if options.print:
            print(f'    {length:4} {seconds * 1000:8.1f} ms {steps:7} steps')
        if is_slow(options, seconds, half_seconds):
            return f'length {length} is planned in {seconds:.3f} s, half of it in ' \
                   f'{half_seconds or 0:.3f} s'
        if half_steps is not None and steps > TIMES * half_steps + STEPS:
            return f'length {length}: {steps} steps after {half_steps}'
        half_seconds, half_steps = seconds, steps
    return None


def check(options, name, family):
    """What is wrong with a family; None: nothing."""
    try:
        for length in RUN:
            wrong = differs(options, family, length)
            if wrong is not None:
                return wrong
        return grows(options, family, LENGTHS)
    except ValueError as error:
        return str(error)


def main():
    options = arguments()
    failed = passed = 0
    for name, family in families(random.Random(options.seed), options.mixed).items():
        if options.family not in name:
            continue
        if options.print:
            print(name, flush=True)
        wrong = check(options, name, family)
        if wrong is not None:
            print(f'{name}: {wrong}', flush=True)
        failed, passed = failed + (wrong is not None), passed + (wrong is None)
    print(f'{passed} passed, {failed} failed')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random comparisons of numbers of different types, beside exact fractions.

    extremes.py BINARY [--seed N] [--sets N] [--device DEVICE]

Columns hold the least and the largest numbers of their types, those that are one
beside what a float can hold, and NULLs. Each set asks for them in joins, IN, values
of subqueries, conditions and CASE, with settings and indexes of its own. A DECIMAL
beside a float, and a literal beside a FLOAT, are rounded: they are not asked for.
The last line is "N passed, N failed".
"""
import argparse
import math
import operator
import os
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from differential.engines import rows_of, some_settings  # noqa: E402
from shell_options import HANG_SECONDS  # noqa: E402

QUERIES, SHOWN = 40, 8
WHOLE = (0, 1, -1, 5, 2**24 + 1, 2**31 - 1, -2**31)
TYPES = {  # by the letter that names the column
    'i': ('BIGINT', (*WHOLE, 2**31, 2**53, 2**53 + 1, -2**53 - 1, 2**63 - 1, -2**63, 10**18)),
    'e': ('INTEGER', WHOLE),
    'z': ('SMALLINT', (0, 1, -1, 5, 32767, -32768)),
    'd': ('DOUBLE', (0.0, -0.0, 1.0, 0.5, 2.0**53, -2.0**53, 2.0**63, -2.0**63, 1e300, 5e-324,
                     2.0**24 + 1, 2.0**31, 0.1, 32767.5, 5.0)),
    'f': ('FLOAT', (0.0, -0.0, 1.0, 0.5, 2.0**24, 2.0**63, -2.0**63, 2.0**31, 5.0)),
    'm': ('DECIMAL(18,4)', (Fraction(0), Fraction(-1), Fraction(1, 2), Fraction(1, 10), Fraction(5),
                            Fraction(10**18 - 1, 10**4), Fraction(50001, 10**4),
                            Fraction(2**31)))}
NAMES = ''.join(TYPES)
OPERATORS = {'=': operator.eq, '<>': operator.ne, '<': operator.lt, '<=': operator.le,
             '>': operator.gt, '>=': operator.ge}


def literal(name, value):
    if value is None:
        return 'NULL'
    if name == 'm':
        digits = f'{abs(int(value * 10**4)):05}'
        text = f'{"-" * (value < 0)}{digits[:-4]}.{digits[-4:]}'
        return f'CAST({text!r} AS DECIMAL(18,4))'
    return '(-9223372036854775807 - 1)' if value == -2**63 and name == 'i' else repr(value)


def number(rng, name):
    """A number, often one beside another."""
    value = rng.choice(TYPES[name][1])
    if name == 'i' and rng.random() < 0.3:
        return max(-2**63, min(2**63 - 1, value + rng.randrange(-2, 3)))
    if name == 'd' and value and rng.random() < 0.2:
        return math.nextafter(value, rng.choice((-math.inf, math.inf)))
    return value


def table(rng, name):
    """(statements, rows as a dictionary by column)"""
    nulls, count = rng.choice((0, 0.1, 0.3)), rng.choice((1, 5, 40, 70))
    rows = [{'id': i} | {c: None if rng.random() < nulls else number(rng, c) for c in NAMES}
            for i in range(count)]
    values = ', '.join(f'({row["id"]}, {", ".join(literal(c, row[c]) for c in NAMES)})'
                       for row in rows)
    columns = ', '.join(f'{c} {TYPES[c][0]}' for c in NAMES)
    made = [f'CREATE TABLE {name} (id INTEGER, {columns})', f'INSERT INTO {name} VALUES {values}']
    if rng.random() < 0.4:
        made.append(f'CREATE INDEX index_{name} ON {name} ({rng.choice(NAMES)})')
    exact = [{c: None if v is None else Fraction(v) if c != 'id' else v for c, v in row.items()}
             for row in rows]
    return made, exact


class Questions:
    """Queries over two tables, each with the rows that it has to give."""

    def __init__(self, rng, left, right):
        self.rng, self.left, self.right = rng, left, right

    def question(self):
        """(SQL, rows)"""
        self.a, self.b = self.rng.choice(NAMES), self.rng.choice(NAMES)
        if {self.a, self.b} in ({'d', 'm'}, {'f', 'm'}):
            self.b = self.a
        self.word = self.rng.choice(('=', *OPERATORS))
        return self.rng.choice((self.joined, self.outer, self.among, self.counted, self.least,
                                self.beside, self.literally, self.listed))()

    def holds(self, x, y):
        return x is not None and y is not None and OPERATORS[self.word](x, y)

    def partners(self, row):
        return [other for other in self.right if self.holds(row[self.a], other[self.b])]

    def joined(self):
        return (f'SELECT l.id, r.id FROM l JOIN r ON l.{self.a} {self.word} r.{self.b}',
                [(row['id'], other['id']) for row in self.left for other in self.partners(row)])

    def outer(self):
        return (f'SELECT l.id, r.id FROM l LEFT JOIN r ON l.{self.a} {self.word} r.{self.b}',
                [(row['id'], other['id']) for row in self.left
                 for other in self.partners(row) or [{'id': None}]])

    def among(self):
        self.word = '='
        return (f'SELECT id FROM l WHERE {self.a} IN (SELECT {self.b} FROM r)',
                [(row['id'],) for row in self.left if self.partners(row)])

    def counted(self):
        return (f'SELECT id, (SELECT count(*) FROM r WHERE l.{self.a} {self.word} r.{self.b}) '
                'FROM l', [(row['id'], len(self.partners(row))) for row in self.left])

    def least(self):
        return (f'SELECT id, (SELECT min(r.id) FROM r WHERE l.{self.a} {self.word} r.{self.b}) '
                'FROM l', [(row['id'], min((other['id'] for other in self.partners(row)),
                                           default=None)) for row in self.left])

    def beside(self):
        a, b = self.a, self.b
        return (f'SELECT id, {a} {self.word} {b}, {a} IS {b}, CASE {a} WHEN {b} THEN 1 END FROM l',
                [(row['id'], None if None in (row[a], row[b]) else self.holds(row[a], row[b]) + 0,
                  (row[a] == row[b]) + 0,
                  1 if row[a] is not None and row[a] == row[b] else None) for row in self.left])

    def constant(self):
        """(SQL, value) of a literal"""
        if self.a == 'f':
            self.a = 'd'
        name = self.b if 'f' != self.b and {self.a, self.b} != {'d', 'm'} else self.a
        value = number(self.rng, name)
        return literal(name, value), Fraction(value)

    def literally(self):
        text, value = self.constant()
        return (f'SELECT id FROM l WHERE {self.a} {self.word} {text}',
                [(row['id'],) for row in self.left if self.holds(row[self.a], value)])

    def listed(self):
        some = [self.constant() for _ in range(3)]
        return (f'SELECT id FROM l WHERE {self.a} IN ({", ".join(text for text, _ in some)})',
                [(row['id'],) for row in self.left if row[self.a] in [value for _, value in some]])


def answers(options, settings, script, queries):
    """Of each query its rows."""
    marked = [part for query in queries for part in (query, "SELECT '--'")]
    done = subprocess.run([options.binary, '--device', options.device, '--batch', '--mode',
                           'quote', ':memory:'], input=(';\n'.join(script + marked) + ';').encode(),
                          capture_output=True, check=False, timeout=HANG_SECONDS,
                          env=os.environ | dict(settings))
    found = done.stdout.split(b"'--'\n")[:-1]
    if done.returncode != 0 or len(found) != len(queries):
        sys.exit(done.stderr.decode()[:800])
    return [rows_of(answer) for answer in found]


def key(row):
    return [(value is not None, value or 0) for value in row]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--sets', type=int, default=40)
    parser.add_argument('--device', default='host')
    options = parser.parse_args()
    passed = failed = 0
    for number_of_set in range(options.sets):
        rng = random.Random(f'{options.seed} {number_of_set}')
        (script, left), (more, right) = table(rng, 'l'), table(rng, 'r')
        settings = some_settings(rng, options.device)
        asked = [Questions(rng, left, right).question() for _ in range(QUERIES)]
        got = answers(options, settings, script + more, [sql for sql, _ in asked])
        for (sql, wanted), rows in zip(asked, got, strict=True):
            good = sorted(rows, key=key) == sorted(wanted, key=key)
            passed, failed = passed + good, failed + (not good)
            if not good and failed <= SHOWN:
                print(f'-- {settings}\n' + ';\n'.join([*script, *more, sql]),
                      f'\n  {rows}, not {wanted}')
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

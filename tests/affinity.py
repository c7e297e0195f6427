#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random comparisons of texts and numbers on vdbq and on sqlite3.

    affinity.py [options] BINARY

Tables have columns of all kinds of numbers and texts that look like them, or
nearly; queries compare columns, casts, literals and what is computed of them
in every place where SQL compares: operators, IS, BETWEEN, IN, CASE, NULLIF,
joins, EXISTS, through views, WITH and subqueries. All answers must be the
same; an error of vdbq alone is a difference, too. The last line is
"N passed, N failed". The same options give the same queries.
"""
import argparse
import multiprocessing
import random
import sys
import time

from differential.engines import Died, Refused, Sqlite, Vdbq
from shell_options import HANG_SECONDS

TEXTS = ('10', ' 10 ', '\t10\n', '1e1', '10.0', '10.', '.5', '0.5', '+5', '-5', '5', '05', '0x10',
         '', ' ', 'abc', '10abc', '1e', 'e1', '.', '-', '--5', '- 5', '1 0', 'inf', 'nan', '-0',
         '0', '0.0', '1e400', '-1e400', '9007199254740992', '9007199254740993',
         '9007199254740993.0', '9223372036854775807', '9223372036854775808',
         '-9223372036854775808', '-9223372036854775809', '1e18', '2.5', '-2.5', '2', '3', '100',
         '1_0', 'ä', '10\u00a0')
INTEGERS = (0, 1, 2, 3, 5, 10, -5, 16, 100, -1, 2**31 - 1, -2**31)
BIG = INTEGERS + (2**53, 2**53 + 1, -2**53 - 1, 2**53 - 1, 2**63 - 1, -2**63, 2**63 - 512, 10**18)
REALS = (0.0, 10.0, 0.5, 2.5, -2.5, 5.0, -5.0, 1e18, 9007199254740992.0, 9223372036854775808.0,
         -9223372036854775808.0, 1e300, -1e300, 2.0, 3.0, 100.0, 16.0)
SHORT_REALS = tuple(r for r in REALS if r == float(f'{r:.15g}'))  # whose texts are the same
COLUMNS = {'i': ('INTEGER', INTEGERS), 'j': ('INTEGER', INTEGERS), 'b': ('BIGINT', BIG),
           'r': ('DOUBLE', REALS), 'q': ('REAL', SHORT_REALS), 's': ('TEXT', TEXTS),
           'u': ('TEXT', TEXTS)}
OPERATORS = ('=', '<>', '<', '<=', '>', '>=', 'IS', 'IS NOT', '=', '==', '!=')
SETTINGS = {'VDBQ_TABLET_ROWS': ('0', '1', '2', '3', '64'), 'VDBQ_SKIP': ('on', 'off'),
            'VDBQ_ENCODING': ('auto', 'plain', 'packed'), 'VDBQ_STEPS': ('auto', 'device', 'host')}


def literal(value):
    if value is None:
        return 'NULL'
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return f'({value!r})' if value == -2**63 else repr(value)


def is_exact(value):
    """Whether what looks like an integer is a double, too: x IN (SELECT ...) of sqlite3 takes
    texts and integers for that beside a REAL column, = and IN of a list do not."""
    try:
        return value is None or float(int(value)) == int(value)
    except (ValueError, OverflowError):
        return True


class Table:
    """Rows with a number of their own, id, and some of the columns; `k` has
    another type in every table."""

    def __init__(self, rng, name, count, allowed):
        self.name = name
        self.columns = ['k'] + rng.sample(sorted(COLUMNS), rng.randrange(3, 7))
        self.key = rng.choice(('i', 'b', 'r', 's', 's'))
        self.indexed = rng.choice(self.columns) if rng.random() < 0.3 else None
        few = rng.random() < 0.5
        pools = [[v for v in self.pool(c) if allowed(v)] for c in self.columns]
        pools = [rng.sample(p, 4) if few else p for p in pools]
        self.rows = [[None if rng.random() < 0.1 else rng.choice(p) for p in pools]
                     for _ in range(count)]

    def kind(self, column):
        return COLUMNS[self.key if column == 'k' else column][0]

    def pool(self, column):
        return COLUMNS[self.key if column == 'k' else column][1]

    def statements(self, dialect):
        del dialect
        made = [f'CREATE TABLE {self.name} (id INTEGER PRIMARY KEY, '
                + ', '.join(f'{c} {self.kind(c)}' for c in self.columns) + ')']
        if self.rows:
            made.append(f'INSERT INTO {self.name} VALUES ' + ', '.join(
                f'({n}, {", ".join(map(literal, row))})' for n, row in enumerate(self.rows, 1)))
        if self.indexed:
            made.append(f'CREATE INDEX x{self.name} ON {self.name} ({self.indexed})')
        return made


class Source:
    """What stands in FROM: its text, and what its columns hold."""

    def __init__(self, text, name, numbers, texts):
        self.text, self.name, self.numbers, self.texts = text, name, numbers, texts


class Comparisons:
    """Random queries over tables."""

    def __init__(self, rng, tables, allowed, in_queries):
        self.rng, self.tables, self.in_queries = rng, tables, in_queries
        self.words, self.integers, self.reals = ([v for v in pool if allowed(v)]
                                                 for pool in (TEXTS, BIG, REALS))

    def names(self, table, before):
        kinds = {c: table.kind(c) for c in table.columns}
        return ([before + c for c, k in kinds.items() if k != 'TEXT'],
                [before + c for c, k in kinds.items() if k == 'TEXT'])

    def source(self, name):
        """A table, or a query over one whose columns are columns, casts or computed."""
        rng, table = self.rng, self.rng.choice(self.tables)
        if rng.random() < 0.6:
            return Source(f'{table.name} AS {name}', name, *self.names(table, name + '.'))
        inner = Source('', '', *self.names(table, ''))
        items = {c: c for c in table.columns}
        for number in range(rng.randrange(1, 4)):
            items[f'n{number}'] = self.number(inner, 1)
            items[f't{number}'] = self.text(inner, 1)
        query = 'SELECT id, ' + ', '.join(f'{e} AS {a}' for a, e in items.items())
        query += f' FROM {table.name}'
        if rng.random() < 0.2:
            query += f' WHERE {self.condition([inner], 1)}'
        if rng.random() < 0.2:
            query += ' LIMIT 100'
        numbers, texts = self.names(table, name + '.')
        numbers += [f'{name}.{a}' for a in items if a[0] == 'n']
        texts += [f'{name}.{a}' for a in items if a[0] == 't']
        return Source(f'({query}) AS {name}', name, numbers, texts)

    def number(self, source, depth=2):
        rng, numbers = self.rng, source.numbers
        way = rng.random()
        if numbers and way < 0.5 or depth == 0:
            return rng.choice(numbers) if numbers else '10'
        if way < 0.7:
            return literal(rng.choice(self.integers + self.reals))
        if way < 0.78 and numbers:
            return '+' + rng.choice(numbers)
        return rng.choice((
            lambda: f'(length({self.text(source, depth - 1)}) * 5)',
            lambda: f'CAST({self.number(source, depth - 1)} AS REAL)',
            lambda: f'CAST(length({self.text(source, depth - 1)}) AS INTEGER)',
            lambda: 'coalesce({0}, {0})'.format(self.number(source, 0)),  # of one type
            lambda: f'CASE WHEN {self.condition([source], 0)} THEN 10 ELSE 2 END',
            lambda: self.scalar('number')))()

    def text(self, source, depth=2):
        rng, texts = self.rng, source.texts
        way = rng.random()
        if texts and way < 0.5 or depth == 0:
            return rng.choice(texts) if texts else "'10'"
        if way < 0.75:
            return literal(rng.choice(self.words))
        if way < 0.8 and texts:
            return '+' + rng.choice(texts)
        return rng.choice((
            lambda: f"({self.text(source, depth - 1)} || '')",
            lambda: f"({self.text(source, depth - 1)} || '0')",
            lambda: f'upper({self.text(source, depth - 1)})',
            lambda: f'CAST(length({self.text(source, depth - 1)}) AS TEXT)',
            lambda: f'CAST({self.text(source, depth - 1)} AS TEXT)',
            lambda: f'coalesce({self.text(source, 0)}, {self.text(source, 0)})',
            lambda: self.scalar('text')))()

    def scalar(self, kind):
        """A subquery of one value."""
        table = self.rng.choice(self.tables)
        value = getattr(self, kind)(Source('', '', *self.names(table, 'z.')), 0)
        if self.rng.random() < 0.3:
            return f'(SELECT min({value}) FROM {table.name} AS z)'
        return f'(SELECT {value} FROM {table.name} AS z ORDER BY id LIMIT 1)'

    def any(self, sources, depth=2):
        source = self.rng.choice(sources)
        return self.rng.choice((self.number, self.text))(source, depth)

    def column(self, kind):
        """A query of one column, and whether it is all of a table."""
        table = self.rng.choice(self.tables)
        value = getattr(self, kind)(Source('', '', *self.names(table, 'w.')), 1)
        return f'SELECT {value} FROM {table.name} AS w'

    def items(self):
        rng = self.rng
        count = rng.randrange(64, 80) if rng.random() < 0.2 else rng.randrange(1, 5)
        pool = rng.choice((self.words, self.integers, self.integers + self.reals,
                           self.words + self.integers + self.reals, self.words + [None]))
        return ', '.join(literal(rng.choice(pool)) for _ in range(count))

    def condition(self, sources, depth=2):
        rng, inner = self.rng, max(0, depth - 1)
        left = self.any(sources, inner)
        no = rng.choice(('', '', 'NOT '))
        way = rng.random()
        if way < 0.5 or depth == 0:
            return f'{left} {rng.choice(OPERATORS)} {self.any(sources, inner)}'
        if way < 0.6:
            return (f'{left} {no}BETWEEN {self.any(sources, inner)} AND '
                    f'{self.any(sources, inner)}')
        if way < 0.72:
            return f'{left} {no}IN ({self.items()})'
        if way < 0.76:
            return f'{left} {no}IN ({self.any(sources, 0)}, {self.any(sources, 0)})'
        if way < 0.88 and self.in_queries:
            return f'{left} {no}IN ({self.column(rng.choice(("number", "text")))})'
        if way < 0.92:
            return (f'CASE {left} WHEN {self.any(sources, 0)} THEN 1 '
                    f'WHEN {self.any(sources, 0)} THEN 0 ELSE NULL END')
        if way < 0.95:
            return f'nullif({left}, {self.any(sources, inner)}) IS NULL'
        table = rng.choice(self.tables)
        other = Source('', '', *self.names(table, 'y.'))
        return (f'{no}EXISTS (SELECT 1 FROM {table.name} AS y '
                f'WHERE {self.any(sources, 0)} = {self.any([other], 0)})')

    def query(self):
        return self.rng.choice((self.filtered, self.filtered, self.joined, self.joined,
                                self.grouped, self.used, self.named))()

    def filtered(self):
        rng, source = self.rng, self.source('a')
        results = ', '.join(f'({self.condition([source])}) AS p{i}'
                            for i in range(rng.randrange(1, 4)))
        query = f'SELECT a.id, {results} FROM {source.text}'
        if rng.random() < 0.7:
            query += f' WHERE {rng.choice(("", "NOT "))}({self.condition([source])})'
            if rng.random() < 0.3:
                query += f' {rng.choice(("AND", "OR"))} {self.condition([source])}'
        return query

    def joined(self):
        rng, left, right = self.rng, self.source('a'), self.source('b')
        join = rng.choice(('JOIN', 'JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN'))
        on = f'{self.any([left], 1)} {rng.choice(OPERATORS)} {self.any([right], 1)}'
        if rng.random() < 0.3:
            on += f' AND {self.condition([left, right], 1)}'
        query = f'SELECT a.id, b.id FROM {left.text} {join} {right.text} ON {on}'
        if rng.random() < 0.3:
            query += f' WHERE {self.condition([left, right], 1)}'
        return query

    def used(self):
        """USING and NATURAL over columns of one name and different types."""
        left, right = self.rng.choice(self.tables), self.rng.choice(self.tables)
        if self.rng.random() < 0.5:
            return (f'SELECT a.id, b.id FROM {left.name} AS a '
                    f'{self.rng.choice(("", "LEFT "))}JOIN {right.name} AS b USING (k)')
        return (f'SELECT count(*) FROM (SELECT k FROM {left.name}) AS a '
                f'NATURAL JOIN (SELECT k FROM {right.name}) AS b')

    def grouped(self):
        source = self.source('a')
        key = self.rng.choice(source.numbers + source.texts)
        # sqlite3 gives count(*) itself as a text where IN compares it with texts.
        having = self.condition([Source('', '', ['(count(*) + 0)', 'max(a.id)'],
                                        ["max('10')"])], 1)
        if self.rng.random() < 0.5:
            having = f'{key} {self.rng.choice(OPERATORS)} {self.any([source], 0)}'
            return (f'SELECT count(*), ({having}) FROM {source.text} GROUP BY 2')
        return f'SELECT count(*) FROM {source.text} GROUP BY {key} HAVING {having}'

    def named(self):
        """Through WITH."""
        table = self.rng.choice(self.tables)
        names = Source('', '', *self.names(table, 'c.'))
        return (f'WITH c AS (SELECT * FROM {table.name}) SELECT c.id FROM c '
                f'WHERE {self.condition([names])}')


def same(ours, theirs):
    key = repr
    return sorted(map(key, ours)) == sorted(map(key, theirs))


def answer(engine, sql):
    try:
        return engine.run(sql)
    except Refused as error:
        return str(error)


def judge(vdbq, peer, sql):
    """None, what is wrong, or '' where sqlite3 gives no answer."""
    theirs = answer(peer, sql)
    if isinstance(theirs, str):
        return ''
    ours = answer(vdbq, sql)
    if isinstance(ours, str):
        return f'vdbq: {ours}'
    return None if same(ours, theirs) else f'vdbq: {ours}\nsqlite3: {theirs}'


def reduced(vdbq, peer, tables, settings, sql):
    """The tables with fewer rows that still differ."""
    for table in tables:
        for number in reversed(range(len(table.rows))):
            row = table.rows.pop(number)
            vdbq.reset(tables, (), settings)
            peer.reset(tables)
            if not judge(vdbq, peer, sql):
                table.rows.insert(number, row)
    vdbq.reset(tables, (), settings)
    peer.reset(tables)
    return judge(vdbq, peer, sql)


def work(options, numbers):
    vdbq, peer = Vdbq(options, options.device), Sqlite()
    passed, failed, refused = 0, 0, 0
    for number in numbers:
        rng = random.Random(f'{options.seed} {number}')
        exact = rng.random() < 0.5
        allowed = is_exact if exact else lambda _: True
        tables = [Table(rng, f't{i}', rng.choice((0, 1, 3, 8, 20, 70)), allowed)
                  for i in range(rng.randrange(1, 4))]
        settings = tuple((name, rng.choice(values)) for name, values in SETTINGS.items())
        peer.reset(tables)
        vdbq.reset(tables, (), settings)
        queries = Comparisons(rng, tables, allowed, exact)
        for at in range(options.set):
            sql = queries.query()
            try:
                wrong = judge(vdbq, peer, sql)
                if wrong and failed < options.differences:
                    wrong = reduced(vdbq, peer, tables, settings, sql) or wrong
            except Died as death:
                wrong = str(death)
                vdbq.reset(tables, (), settings)
            passed, failed, refused = (passed + (wrong is None), failed + bool(wrong),
                                       refused + (wrong == ''))
            if wrong and failed <= options.differences:
                lines = [f'-- {options.seed} {number}.{at} {settings}']
                lines += [s + ';' for t in tables for s in t.statements('')]
                print('\n'.join(lines + [sql + ';', wrong]) + '\n', flush=True)
                break
    vdbq.close()
    return passed, failed, refused


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary', help='the shell, split like a command line')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--queries', type=int, default=10000, help='in all (%(default)s)')
    parser.add_argument('--set', type=int, default=50, help='for each set of tables')
    parser.add_argument('--device', default='host')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--timeout', type=float, default=HANG_SECONDS,
                        help='of one query, in seconds')
    parser.add_argument('--differences', type=int, default=5, help='that are shown by each job')
    options = parser.parse_args()
    begin = time.monotonic()
    sets = range(max(1, options.queries // options.set))
    shares = [(options, sets[i::options.jobs]) for i in range(options.jobs)]
    with multiprocessing.Pool(options.jobs) as pool:
        answers = pool.starmap(work, shares)
    passed, failed, refused = (sum(a[i] for a in answers) for i in range(3))
    print(f'{refused} without an answer of sqlite3, in {time.monotonic() - begin:.0f} s')
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random queries whose answers hang on collations, on vdbq and on sqlite3.

    collations.py [options] BINARY

Tables have columns with and without a collation, and texts that differ in case and
in blanks at the end alone. Each number has tables of its own, made from the seed and
the number. PLACES are the places of SQL where a collation counts: a place that
asked no query is a failure, too. A statement that differs is printed with its tables.
The last line is "N passed, N failed".
"""
import argparse
import collections
import random
import sys

from engines import Died, Refused, Sqlite, Vdbq, some_settings

TEXTS = ('a', 'A', 'ab', 'AB', 'Ab', 'aB', 'b', 'B', 'b ', 'B  ', 'a ', ' a', '', ' ', 'z', 'Z',
         'AB ', 'ab  ', 'é', 'É', '_', '[', 'a_b', 'A[b', 'abc', 'ABC', 'abC ', '1', '1  ')
COLLATIONS = ('NOCASE', 'RTRIM', 'BINARY')
COLUMNS = {'n': 'COLLATE NOCASE', 'm': 'COLLATE NOCASE', 'r': 'COLLATE RTRIM', 'b': '',
           'c': 'COLLATE BINARY'}
COMPARISONS = ('=', '=', '=', '<>', '<', '<=', '>', '>=', 'IS', 'IS NOT')
RULES = ('n UNIQUE', 'r UNIQUE', 'n PRIMARY KEY', 'b UNIQUE', 'UNIQUE (n, r)', 'UNIQUE (b, n)',
         'INDEX b COLLATE NOCASE', 'INDEX n COLLATE BINARY', 'INDEX r, b COLLATE NOCASE')
SHOWN = 10


class Table:
    """A number, an integer that few rows share, and texts."""

    def __init__(self, name, rows):
        self.name, self.rows = name, rows

    def statements(self, dialect):
        del dialect
        columns = ', '.join(f'{name} TEXT {words}' for name, words in COLUMNS.items())
        made = [f'CREATE TABLE {self.name} (id INTEGER, k INTEGER, {columns})']
        if self.rows:
            rows = ', '.join(f"({', '.join(map(literal, row))})" for row in self.rows)
            made.append(f'INSERT INTO {self.name} VALUES {rows}')
        return made


def literal(value):
    if value is None or isinstance(value, int):
        return 'NULL' if value is None else str(value)
    return "'" + value.replace("'", "''") + "'"


class Maker:
    """Makes tables and statements."""

    def __init__(self, rng):
        self.rng = rng
        self.tables = [self.table(f't{i}') for i in range(2)]

    def table(self, name):
        words = self.rng.sample(TEXTS, self.rng.choice((4, 8, len(TEXTS))))
        nulls = self.rng.choice((0, 0.1, 0.3))
        rows = self.rng.choice((0, 1, 3, 8, 12, 12, 30, 70))
        return Table(name, [(i, self.rng.randrange(3), *(
            None if self.rng.random() < nulls else self.rng.choice(words) for _ in COLUMNS))
            for i in range(rows)])

    def some(self, *choices):
        return self.rng.choice(choices)()

    # ------------------------------------------------------------ expressions

    def collate(self):
        return ' COLLATE ' + self.rng.choice(COLLATIONS)

    def maybe(self, text, share=0.3):
        return text if self.rng.random() < share else ''

    def column(self, names=tuple(COLUMNS)):
        return self.qualifier + self.rng.choice(names)

    def constant(self):
        return literal(self.rng.choice((*TEXTS, None) if self.rng.random() < 0.1 else TEXTS))

    def text(self, depth=1):
        """An expression that gives a text."""
        share = self.rng.random()
        if share < 0.55 or depth == 0:
            return self.column()
        if share < 0.7:
            return f'{self.column()}{self.collate()}'
        if share < 0.8:
            return self.constant() + self.maybe(self.collate())
        return self.computed(depth - 1)

    def computed(self, depth):
        one, two = self.text(depth), self.text(depth)
        return self.rng.choice((
            f'+{one}', f'CAST({one} AS TEXT)', f'({one} || {two})', f'substr({one}, 1, 2)',
            f'coalesce({one}, {two})', f'nullif({one}, {two})', f'min({one}, {two})',
            f'max({one}, {two}, {self.text(depth)})', f'({one}){self.collate()}',
            f'iif({self.condition(0)}, {one}, {two})', f'lower({one})',
            f'CAST({self.qualifier}k AS TEXT)',
            f'CASE {one} WHEN {two} THEN {self.column()} ELSE {self.text(depth)} END'))

    def condition(self, depth=1):
        """An expression that is true or not."""
        one, two = self.text(depth), self.text(depth)
        no = self.maybe('NOT ')
        number = self.rng.choice(('k + 0', '2'))  # sqlite3 makes numbers of texts beside a column
        return self.rng.choice((
            f'{one} {self.rng.choice(COMPARISONS)} {two}',
            f'{one} {self.rng.choice(COMPARISONS)} {number.replace("k", self.qualifier + "k")}',
            f'{one} IN (SELECT {number} FROM t1)',
            f'{one} {self.rng.choice(COMPARISONS)} {two}',
            f'{one} {no}BETWEEN {two} AND {self.text(depth)}',
            f'{one} {no}IN ({self.listed(depth)})',
            f'{one} {no}IN (SELECT {self.rng.choice(tuple(COLUMNS))}{self.maybe(self.collate())} '
            f'FROM t1 AS o)'))

    def listed(self, depth):
        if self.rng.random() < 0.1:  # so many that they become rows
            return ', '.join(literal(self.rng.choice(TEXTS)) for _ in range(70))
        return ', '.join(self.some(self.constant, self.column, lambda: self.computed(depth))
                         for _ in range(self.rng.randrange(1, 4)))

    def order(self, *expressions):
        return ', '.join(e + self.rng.choice(('', '', ' DESC', ' NULLS LAST'))
                         for e in expressions)

    def where(self):
        return self.maybe(f' WHERE {self.condition()}', 0.4)

    # ------------------------------------------------------------- statements

    qualifier = ''

    def query(self, place):
        """A query, and how answers are compared: 'list', or 'set' without an order."""
        self.qualifier = ''
        return getattr(self, 'of_' + place)()

    def of_compare(self):
        return f'SELECT id, {self.condition()}, {self.condition(2)} FROM t0 ORDER BY id', 'list'

    def of_where(self):
        return f'SELECT id, {self.text()} FROM t0 WHERE {self.condition(2)} ORDER BY id', 'list'

    def of_order(self):
        keys = self.order(self.text(), self.text())
        limit = self.maybe(f' LIMIT {self.rng.randrange(9)}')
        return f'SELECT id, n AS x, b FROM t0{self.where()} ORDER BY {keys}, id{limit}', 'list'

    def of_order_by_result(self):
        key = self.rng.choice(('x', '2', 'x' + self.collate(), '2' + self.collate()))
        return f'SELECT id, {self.text()} AS x FROM t0 ORDER BY {self.order(key)}, 1', 'list'

    def of_distinct(self):
        return f'SELECT DISTINCT {self.text()}, {self.text()} FROM t0{self.where()}', 'set'

    def of_distinct_order(self):
        key = self.rng.choice(('x', '1', 'x' + self.collate(), '1' + self.collate()))
        return f'SELECT DISTINCT {self.column()} AS x FROM t0 ORDER BY {key}', 'list'

    def of_group(self):
        keys = ', '.join(self.text() for _ in range(self.rng.randrange(1, 3)))
        shown = self.rng.choice((self.column(), keys, 'min(id), max(id)'))
        return (f'SELECT {shown}, count(*), sum(k), count({self.text()}) FROM t0{self.where()} '
                f'GROUP BY {keys}{self.having()}'), 'set'

    def having(self):
        return self.maybe(f' HAVING count(*) > 1 OR {self.condition(0)}')

    def of_group_by_number(self):
        number = '1' + self.maybe(self.collate())
        return f'SELECT {self.text()} AS x, count(*) FROM t0 GROUP BY {number}', 'set'

    def of_extremes(self):
        group = self.maybe(f' GROUP BY {self.text()}', 0.5)
        kept = self.maybe(f' FILTER (WHERE {self.condition()})')
        return (f'SELECT min({self.text()}){kept}, max({self.text()}), min({self.column()}), '
                f'max({self.column()}) FROM t0{self.where()}{group}'), 'set'

    def of_having(self):
        return (f'SELECT n, count(*) FROM t0 GROUP BY n HAVING '
                f'max({self.column()}{self.maybe(self.collate())}) '
                f'{self.rng.choice(COMPARISONS)} {self.text()} OR min(id) < 0'), 'set'

    def of_count_distinct(self):
        group = self.maybe(' GROUP BY k', 0.5)
        return (f'SELECT count(DISTINCT {self.text()}), count(DISTINCT {self.column()}), '
                f'count(DISTINCT {self.text()}) FROM t0{self.where()}{group}'), 'set'

    def of_window(self):
        parts = self.maybe(f'PARTITION BY {self.text()} ', 0.6)
        call = self.rng.choice(('rank()', 'dense_rank()', 'row_number()', 'count(*)',
                                f'first_value({self.column()})', f'lag({self.column()})'))
        return (f'SELECT id, {call} OVER ({parts}ORDER BY {self.order(self.text())}'
                f'{self.maybe(", id", 0.5)}) FROM t0 ORDER BY id'), 'list'

    def of_window_extremes(self):
        parts = self.maybe(f'PARTITION BY {self.text()} ', 0.6)
        order = self.maybe(f'ORDER BY {self.order(self.text())}{self.maybe(", id", 0.5)}', 0.7)
        kept = self.maybe(f' FILTER (WHERE {self.condition()})')
        call = f'{self.rng.choice(("min", "max"))}({self.text()}){kept}'
        return f'SELECT id, {call} OVER ({parts}{order}) FROM t0 ORDER BY id', 'list'

    def of_join(self):
        self.qualifier = ''
        sides = []
        for self.qualifier in ('t0.', 't1.'):
            sides.append(self.text())
        self.rng.shuffle(sides)
        self.qualifier = 't1.'
        more = self.maybe(f' AND {self.condition()}')
        kind = self.rng.choice(('JOIN', 'LEFT JOIN', 'JOIN', 'FULL JOIN'))
        return (f'SELECT t0.id, t1.id FROM t0 {kind} t1 ON '
                f'{sides[0]} {self.rng.choice(COMPARISONS[:8])} {sides[1]}{more}'), 'set'

    def of_using(self):
        kind = self.rng.choice(('JOIN', 'LEFT JOIN', 'JOIN', 'RIGHT JOIN', 'FULL JOIN'))
        names = ', '.join(self.rng.sample(tuple(COLUMNS), self.rng.randrange(1, 3)))
        name = self.rng.choice(names.split(', '))
        as_right = f'(SELECT id AS i, {self.rng.choice(tuple(COLUMNS))} AS {name} FROM t1)'
        if self.rng.random() < 0.5:
            return f'SELECT t0.id, i FROM t0 {kind} {as_right} AS o USING ({name})', 'set'
        return f'SELECT t0.id, t1.id FROM t0 {kind} t1 USING ({names})', 'set'

    def of_natural(self):
        left, right = self.rng.choice(tuple(COLUMNS)), self.rng.choice(tuple(COLUMNS))
        return (f'SELECT i, j FROM (SELECT id AS i, {left} AS x FROM t0) NATURAL JOIN '
                f'(SELECT id AS j, {right} AS x FROM t1)'), 'set'

    def of_sets(self):
        """Which of equal texts sqlite3 shows is not said: only how many there are."""
        parts = [f'SELECT {self.text()} FROM {self.rng.choice(("t0", "t1"))}' for _ in range(3)]
        words = [self.rng.choice(('UNION', 'INTERSECT', 'EXCEPT', 'UNION ALL')) for _ in range(2)]
        counted = 'count(*)'
        if self.rng.random() < 0.2:
            words, counted = ['UNION ALL'] * 2, 'count(DISTINCT x)'
        query = parts[0] + ''.join(f' {w} {p}' for w, p in zip(words, parts[1:]))
        return f'WITH q(x) AS ({query}) SELECT lower(rtrim(x)), {counted} FROM q GROUP BY 1', 'set'

    def of_sets_of_columns(self):
        word = self.rng.choice(('UNION', 'INTERSECT', 'EXCEPT'))
        query = f'SELECT {self.column()}, k FROM t0 {word} SELECT {self.column()}, k FROM t1'
        return (f'WITH q(x, y) AS ({query}) SELECT lower(rtrim(x)), y, count(*) FROM q '
                'GROUP BY 1, 2'), 'set'

    def of_sets_ordered(self):
        key = self.rng.choice(('1', 'x', 'x' + self.collate(), '1' + self.collate()))
        return (f'SELECT {self.text(0)} AS x, id FROM t0 UNION ALL SELECT {self.text()}, id + 100 '
                f'FROM t1 ORDER BY {self.order(key)}, 2'), 'list'

    def of_derived(self):
        """Columns of queries, of WITH and of views have the collations of what they show."""
        columns = ', '.join(f'{self.text()} AS {name}' for name in COLUMNS)
        rest = f"{self.maybe(' ORDER BY id LIMIT 100')}"
        inner = f'SELECT id, k, {columns} FROM t0{rest}'
        self.qualifier = 's.'
        return self.rng.choice((
            f'SELECT id, {self.condition()} FROM ({inner}) AS s ORDER BY id',
            f'SELECT id, {self.text()} FROM ({inner}) AS s WHERE {self.condition()} ORDER BY id',
            f'WITH s AS ({inner}) SELECT id FROM s ORDER BY {self.order(self.text())}, id',
            f'SELECT id, {self.text()} FROM v AS s WHERE {self.condition()} ORDER BY id')), 'list'

    def of_derived_group(self):
        inner = f'SELECT {self.text()} AS x, k FROM t0'
        return self.rng.choice((
            f'SELECT count(*), sum(k) FROM ({inner}) GROUP BY x',
            f'SELECT count(DISTINCT x) FROM ({inner})',
            f'SELECT DISTINCT x FROM ({inner})', f'SELECT min(x), max(x) FROM ({inner})',
            f'SELECT count(*) FROM (SELECT DISTINCT x FROM ({inner}) WHERE x <> \'a\')')), 'set'

    def of_correlated(self):
        self.qualifier = self.rng.choice(('o.', 't0.'))
        one = self.text()
        self.qualifier = 't0.'
        condition = f'{one} {self.rng.choice(COMPARISONS)} {self.text()}'
        if self.rng.random() < 0.5:
            condition = f'o.{self.rng.choice("nmrbc")} = {self.text()}'
        return self.rng.choice((
            f'SELECT id FROM t0 WHERE {self.maybe("NOT ")}EXISTS (SELECT 1 FROM t1 AS o WHERE '
            f'{condition}) ORDER BY id',
            f'SELECT id, (SELECT count(*) FROM t1 AS o WHERE {condition}) FROM t0 ORDER BY id',
            f'SELECT id, (SELECT min(o.{self.rng.choice("nrb")}) FROM t1 AS o WHERE {condition}) '
            f'FROM t0 ORDER BY id',
            f'SELECT id, {self.text()} IN (SELECT o.{self.rng.choice("nmrbc")} FROM t1 AS o WHERE '
            f'{condition}) FROM t0 ORDER BY id')), 'list'

    # ---------------------------------------------------------------- changes

    def changes(self):
        """Statements on a table that may refuse texts that are equal."""
        rule = self.rng.choice(RULES)
        texts = {'n': 'COLLATE NOCASE', 'r': 'COLLATE RTRIM', 'b': ''}
        column, _, words = rule.partition(' ')
        if column in texts:
            texts[column] += ' ' + words
        body = ', '.join(f'{name} TEXT {words}' for name, words in texts.items())
        body += f', {rule}' if rule.startswith('UNIQUE') else ''
        yield f'CREATE TABLE u (id INTEGER, {body})'
        index = f'CREATE UNIQUE INDEX i ON u ({rule[6:]})' if rule.startswith('INDEX') else None
        if index and self.rng.random() < 0.7:
            yield index
        for _ in range(12):
            yield self.change()
        if index:
            yield index

    def change(self):
        rows = ', '.join(f'({self.rng.randrange(100)}, {self.row()})'
                         for _ in range(self.rng.choice((1, 1, 2, 3))))
        name = self.rng.choice('nrb')
        return self.rng.choice((
            f'INSERT INTO u VALUES {rows}', f'INSERT INTO u VALUES {rows}',
            f'INSERT OR IGNORE INTO u VALUES {rows}', f'INSERT OR REPLACE INTO u VALUES {rows}',
            f"UPDATE u SET {name} = {self.constant()} WHERE {self.rng.choice('nrb')} = "
            f'{self.constant()}', f'UPDATE u SET {name} = upper({name})',
            f"DELETE FROM u WHERE {self.rng.choice('nrb')} = {self.constant()}"))

    def row(self):
        return ', '.join(literal(self.rng.choice(TEXTS[:14])) for _ in range(3))


PLACES = [name[3:] for name in dir(Maker) if name.startswith('of_')]


class Run:
    """Tables of one number on both engines."""

    def __init__(self, options, number, vdbq, peer):
        self.rng = random.Random(f'{options.seed} {number}')
        self.maker, self.number, self.options = Maker(self.rng), number, options
        self.engines = vdbq, peer
        self.counts, self.failures = collections.Counter(), []
        settings = some_settings(self.rng, options.device)
        view = 'SELECT id, k, n, m, r, b AS b, n || c AS c FROM t0'
        for engine in self.engines:
            engine.reset(self.maker.tables, (), settings)
            try:
                engine.run('DROP VIEW v')
            except Refused:
                pass
            engine.run(f'CREATE VIEW v AS {view}')
        # The Bloom filters of sqlite3's own indexes take what RTRIM makes equal for different.
        peer.run('PRAGMA automatic_index = OFF')

    def both(self, sql):
        """The answers, or that there is none."""
        answers = []
        for engine in self.engines:
            try:
                answers.append(engine.run(sql))
            except Refused as error:
                answers.append(str(error))
        return answers

    def query(self, place):
        sql, compared = self.maker.query(place)
        ours, theirs = self.both(sql)
        if isinstance(theirs, str) and not isinstance(ours, str):
            return
        self.counts[place] += 1
        if isinstance(ours, str) or isinstance(theirs, str) or as_said(ours, compared) \
                != as_said(theirs, compared):
            self.failures.append((sql, ours, theirs))

    def change(self):
        done = []
        for sql in self.maker.changes():
            done.append(sql)
            ours, theirs = self.both(sql)
            rows = self.both('SELECT id, n, r, b FROM u ORDER BY id, b, n, r')
            self.counts['changes'] += 1
            if isinstance(ours, str) != isinstance(theirs, str) or rows[0] != rows[1]:
                self.failures.append((';\n'.join(done), (ours, rows[0]), (theirs, rows[1])))
                break
        self.both('DROP TABLE u')

    def run(self):
        for _ in range(self.options.set):
            self.query(self.options.only or self.rng.choice(PLACES))
        if not self.options.only:
            self.change()

    def show(self):
        for sql, ours, theirs in self.failures[:SHOWN]:
            made = [line for t in self.maker.tables for line in t.statements('')]
            print(f'-- number {self.number}', *made, sql, sep=';\n', end=';\n')
            print(f'-- vdbq:    {ours}\n-- sqlite3: {theirs}', flush=True)


def as_said(rows, compared):
    if compared == 'set':
        return sorted(rows, key=repr)
    return rows


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--queries', type=int, default=3000, help='in all (%(default)s)')
    parser.add_argument('--set', type=int, default=60, help='for each number')
    parser.add_argument('--from', type=int, default=0, dest='first', help='the first number')
    parser.add_argument('--device', default='host')
    parser.add_argument('--timeout', type=float, default=120, help='of one query, in seconds')
    parser.add_argument('--only', choices=PLACES)
    return parser.parse_args()


def main():
    options = arguments()
    vdbq, peer = Vdbq(options, options.device), Sqlite()
    counts, failed = collections.Counter(), 0
    for number in range(options.first, options.first + -(-options.queries // options.set)):
        try:
            run = Run(options, number, vdbq, peer)
            run.run()
        except Died as error:
            print(f'-- number {number}: {error}')
            failed += 1
            break
        run.show()
        counts += run.counts
        failed += len(run.failures)
        if failed > SHOWN:
            break
    for place in PLACES if not options.only and failed == 0 else ():
        if counts[place] == 0:
            print(f'no query of {place}')
            failed += 1
    vdbq.close()
    print(f'{sum(counts.values()) - failed} passed, {failed} failed')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())

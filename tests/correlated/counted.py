# SPDX-License-Identifier: MIT
"""Random queries of what each row of one side of a LEFT JOIN has of the other: groups by
a key of the left side, over the tables of correlated/tables.py."""
from .queries import TABLES

KEYS = ('{l}.id', '{l}.id', '{l}.id', '{l}.id, {l}.s', '{l}.g, {l}.id', '{l}.id + 1, {l}.id',
        '{l}.k')  # the last one is not unique
LINKS = ('{l}.id = {r}.k', '{l}.id = {r}.k', '{l}.k = {r}.k', '{l}.g = {r}.g', '{l}.s = {r}.s',
         '{l}.id = {r}.k AND {l}.g = {r}.g', '{l}.k = {r}.id', '{l}.d = {r}.d',
         '{l}.id + 1 = {r}.k')
MORE = ('{r}.v > {n}', '{r}.s IS NULL', "{r}.s <> 'y'", '{r}.d < {n}', '{l}.v > {n}',
        '{l}.v <> {r}.v', '{l}.v < {r}.v', 'coalesce({r}.v, 0) = {n}')
VALUES = ('{r}.v', '{r}.v', '{r}.id', '{r}.d', '{r}.g', '{r}.v * 2')
# Sums that differ in a constant.
SHIFTED = ('sum({r}.v + {n})', 'sum({r}.v - 3)', 'sum({n} + {r}.g)', 'sum({r}.g)', 'sum({l}.v + 1)',
           'sum({r}.v + 1) FILTER (WHERE {l}.g > 2)')
# Values of rows without a partner, and of both sides: they are known after the join alone.
LATE_VALUES = ('coalesce({r}.v, 1)', '{r}.v + {l}.v', 'CASE WHEN {r}.v > {n} THEN {r}.g END',
               '{l}.v')
FUNCTIONS = ('count', 'count', 'sum', 'sum', 'min', 'max', 'avg', 'total')


class Queries:
    def __init__(self, rng):
        self.rng = rng

    def some(self, *templates):
        """One of the templates, about the two sides and a small number."""
        return self.rng.choice(templates).format(l='l', r='r', n=self.rng.randrange(8))

    def left(self):
        """A side whose column `id` has no value twice, or none that is known not to."""
        table, other = self.rng.choice(TABLES), self.rng.choice(TABLES)
        return self.some(*[f'{table} l'] * 5,
                         f'(SELECT * FROM {table} WHERE v > {{n}}) l',
                         f'(SELECT k AS id, max(g) AS k, min(v) AS g, count(*) AS v, max(d) AS d, '
                         f'max(s) AS s FROM {table} WHERE k IS NOT NULL GROUP BY k) l',
                         f'(SELECT a.id, b.k, a.g, b.v, a.d, a.s FROM {table} a '
                         f'LEFT JOIN {other} b ON b.id = a.k) l')

    def right(self):
        table, other = self.rng.choice(TABLES), self.rng.choice(TABLES)
        return self.some(*[f'{table} r'] * 5,
                         f'(SELECT * FROM {table} WHERE v > {{n}}) r',
                         f'(SELECT * FROM {table} UNION ALL SELECT * FROM {other}) r',
                         f'(SELECT a.id, b.k, a.g, b.v, a.d, b.s FROM {table} a '
                         f'JOIN {other} b ON b.g = a.g) r')

    def aggregate(self):
        late = self.rng.random() < 0.15
        function = self.rng.choice(FUNCTIONS)
        value = self.some(*LATE_VALUES if late else VALUES)
        call = self.rng.choice(('count(*)', f'{function}({value})', f'{function}({value})',
                                f'{function}(DISTINCT {value})', 'max({r}.s)', 'count({r}.s)'))
        over = ''
        if self.rng.random() < 0.2:
            over = f' FILTER (WHERE {self.some(*MORE, "{r}.k IS NULL")})'
        return self.some(call + over)

    def statement(self):
        """A query of results c0, c1 ..., with groups in the order of the left rows, or sorted."""
        keys = self.some(*KEYS)
        results = keys.split(', ') + [self.aggregate() for _ in range(
            self.rng.choice((1, 1, 2, 3)))]
        if self.rng.random() < 0.2:
            results += [self.some(*SHIFTED) for _ in range(4)]
        named = ', '.join(f'{result} AS c{i}' for i, result in enumerate(results))
        condition = self.some(*LINKS) + (f' AND {self.some(*MORE)}' if self.rng.random() < 0.3
                                         else '')
        where = self.some('', '', '', '', '', ' WHERE {l}.v > {n}', ' WHERE {l}.g IS NOT NULL',
                          ' WHERE {r}.v > {n}')
        having = self.rng.choice(('', '', f' HAVING {self.aggregate()} > 1',
                                  f' HAVING {self.aggregate()} IS NULL'))
        order = self.some('', '', f' ORDER BY {len(results)}, 1', ' LIMIT {n}')
        return (f'SELECT {named} FROM {self.left()} LEFT JOIN {self.right()} ON {condition}{where} '
                f'GROUP BY {keys}{having}{order}')

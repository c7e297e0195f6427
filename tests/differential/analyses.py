# SPDX-License-Identifier: MIT
"""Random queries as reports have them: several windows over one table at once, each
of another order and frame; groups by many keys with many aggregates; texts that are
made row by row and used at once."""
from .expressions import Scope, exactly_added
from .nodes import EMPTY, Node, listed
from .queries import Made, Queries
from .subqueries import renamed

COLUMNS_MOST = 9  # that a query of windows uses: those that tie are the same in all
KEYS = (1, 2, 3, 4, 6, 9, 12)
SMALL = 2**40     # keys that a distance is added to, and what is summed
DIRECTIONS = ('', '', ' DESC', ' NULLS LAST', ' DESC NULLS FIRST', ' NULLS FIRST')
UNITS = {'Y': ('DAY',), 'W': ('DAY', 'HOUR', 'SECOND')}
# What is asked of all texts that are made of rows, and of one row's.
OF_TEXTS = (('min({0})', 'T'), ('max({0})', 'T'), ('count(DISTINCT {0})', 'I'),
            ('max(substr({0}, 2, 3))', 'T'), ('min(trim({0}))', 'T'), ('sum(length({0}))', 'I'),
            ("count(CASE WHEN {0} > 'b' THEN 1 END)", 'I'),
            ("count(CASE WHEN '1' >= {0} THEN 1 END)", 'I'),
            ("count(CASE WHEN substr({0}, 1, 1) <> 'a' THEN 1 END)", 'I'))
OF_TEXT = (('{0}', 'T'), ('{0}', 'T'), ('substr({0}, 2, 3)', 'T'), ('length({0})', 'I'),
           ("CASE WHEN {0} <= 'k' THEN 1 ELSE 0 END", 'I'))
FILTERED = ('count', 'sum', 'avg')  # also min and max, whose constants sqlite3 does not filter


class Analyses(Queries):
    """Makes queries of one seed over relations, with windows and groups."""

    def query(self):
        chance = self.rng.random()
        made = self.windows() if chance < 0.4 else self.groups() if chance < 0.75 \
            else self.texts()
        return self.ordered(made) if self.rng.random() < 0.4 else made.node

    def one_table(self):
        """(source, columns, rows, WHERE) of one thing of FROM."""
        source, columns, rows, _ = self.source(500)
        where = self.where(Scope(columns)) if self.rng.random() < 0.3 else EMPTY
        return source, columns, rows, where

    def some(self, columns, counts):
        return self.rng.sample(columns, min(len(columns), self.rng.choice(counts)))

    def filtering(self, columns, call):
        """FILTER of a call, or nothing."""
        known = FILTERED + ('min', 'max', 'mode', 'bit') if self.peer == 'duckdb' else FILTERED
        if not call.startswith(known) or self.rng.random() < 0.75:
            return EMPTY
        return Node(' FILTER (WHERE {0})', self.expressions.make('B', 1, Scope(columns)))

    # -------------------------------------------------------------- windows --

    def windows(self):
        source, columns, rows, where = self.one_table()
        columns = self.some(columns, (COLUMNS_MOST,))
        # Of rows that are the same in all columns, two windows may have either first.
        self.whole_left = 1
        if self.rng.random() < 0.5:
            source, columns = self.distinct(source, columns, where)
            where, self.whole_left = EMPTY, COLUMNS_MOST
        items = self.some(columns, (1, 2)) + [self.window(columns) for _ in range(
            self.rng.choice((1, 2, 3, 5)))]
        node = Node('SELECT {0} FROM {1} {2}', self.items(items), source, where, type='Q')
        return Made(node, self.results(items), rows)

    def distinct(self, source, columns, where):
        """The rows without those that are there twice, and their columns."""
        alias = self.alias()
        names = [renamed(c, f'{alias}.c{i}') for i, c in enumerate(columns)]
        return Node(f'(SELECT DISTINCT {{0}} FROM {{1}} {{2}}) AS {alias}', self.items(columns),
                    source, where, type='S'), names

    def window(self, columns):
        """A call over a window of its own."""
        scope, order = Scope(columns), self.some(columns, (1, 1, 2))
        frame, whole = self.frame(order)
        self.whole_left -= whole
        if whole:
            order += self.rng.sample([c for c in columns if c not in order],
                                     len(columns) - len(order))
        call = self.window_place(scope) if whole and self.rng.random() < 0.4 \
            else self.window_call(scope, True)
        narrowed = self.filtering(columns, call.template)
        # sqlite3 3.40 takes NULLs that come last for far away, not for peers.
        directions = DIRECTIONS if self.peer == 'duckdb' else DIRECTIONS[:3]
        terms = [Node(f'{{0}}{self.rng.choice(directions)}', c) for c in order]
        by = self.some(columns, (0, 1, 1, 2))
        over = Node('PARTITION BY {0} ORDER BY {1}{2}', listed(by), listed(terms), frame) if by \
            else Node('ORDER BY {0}{1}', listed(terms), frame)
        return Node('{0}{1} OVER ({2})', call, narrowed, over, type=call.type, bound=call.bound,
                    grain=call.grain)

    def frame(self, order):
        """A frame, and whether rows that tie must be the same in all columns."""
        chance, free = self.rng.random(), self.whole_left > 0
        if chance < 0.15:
            return EMPTY, free and self.rng.random() < 0.5
        if chance < 0.55 and free:
            return self.between('ROWS', [str(n) for n in (0, 1, 2, 9, 70)]), True
        key = order[0]
        distances = self.distances(key) if len(order) == 1 else ()
        return self.between('RANGE', distances), False

    def distances(self, key):
        """Distances of RANGE by what a key is, ascending."""
        numbers = (0, 1, 3, 40)
        if key.type in UNITS and self.peer == 'duckdb':
            unit = self.rng.choice(UNITS[key.type])
            return [f"INTERVAL '{n}' {unit}" for n in numbers]
        if key.type == 'M' and self.peer == 'duckdb':
            return [f'{n}.25' for n in numbers]
        if key.type == 'D':
            return [f'{n}.5' for n in numbers]
        return [str(n) for n in numbers] if key.type == 'I' and key.bound < SMALL else ()

    def between(self, unit, distances):
        places = ['UNBOUNDED PRECEDING', *(f'{n} PRECEDING' for n in reversed(distances)),
                  'CURRENT ROW', *(f'{n} FOLLOWING' for n in distances), 'UNBOUNDED FOLLOWING']
        begin = self.rng.randrange(len(places) - 1)
        end = self.rng.randrange(max(begin, 1), len(places))
        return Node(f' {unit} BETWEEN {places[begin]} AND {places[end]}')

    # --------------------------------------------------------------- groups --

    def groups(self):
        source, columns, rows, where = self.one_table()
        keys = self.some(columns, KEYS)
        items = keys + [self.aggregate(columns) for _ in range(self.rng.choice((1, 2, 3, 6)))]
        node = Node('SELECT {0} FROM {1} {2} GROUP BY {3}', self.items(items), source, where,
                    listed(keys), type='Q')
        return Made(node, self.results(items), rows)

    def aggregate(self, columns):
        """Of a column, maybe of some rows alone."""
        column = self.rng.choice(columns)
        exact = column.bound < SMALL and exactly_added(column)
        forms = [('count(*)', 'I'), ('count({0})', 'I'), ('count(DISTINCT {0})', 'I'),
                 ('min({0})', column.type), ('max({0})', column.type)]
        if column.type in 'ID' and exact:
            forms += [('sum({0})', column.type), ('avg({0})', 'D'), ('sum(DISTINCT {0})',
                                                                    column.type)]
        if self.peer == 'duckdb':
            forms += self.forms_of_duckdb(column, exact)
        text, kind = self.rng.choice(forms)
        narrowed = self.filtering(columns, text)
        return Node(text + '{1}', column, narrowed, type=kind, bound=column.bound * 2.0**17,
                    grain=None)

    @staticmethod
    def forms_of_duckdb(column, exact):
        """Aggregates that sqlite3 has not."""
        forms = [('bool_or({0} IS NULL)', 'B'), ('mode({0})', column.type)]
        if column.type in 'ITYW':
            forms += [('quantile_disc({0}, 0.5)', column.type), ('arg_min({0}, {0})', column.type)]
        if column.type == 'I' and column.bound < SMALL:
            forms += [('bit_and({0})', 'I'), ('bit_or({0})', 'I'), ('bit_xor({0})', 'I'),
                      ('bit_xor(DISTINCT {0})', 'I')]
        if column.type in 'ID' and exact:
            forms += [('median({0})', 'D'), ('quantile_cont({0}, 0.25)', 'D')]
        if column.type == 'T':
            forms.append(("string_agg({0}, '-' ORDER BY {0})", 'T'))
        return forms

    # ---------------------------------------------------------------- texts --

    def texts(self):
        """What is asked of texts that are made of two columns: of all rows', or of each."""
        source, columns, rows, where = self.one_table()
        parts = [c for c in columns if c.type == 'T'] \
            + [Node('CAST({0} AS TEXT)', c, type='T') for c in columns if c.type == 'I']
        if not parts:
            return self.groups()
        made = Node('({0} || {1})', self.rng.choice(parts), self.rng.choice(parts), type='T')
        forms = OF_TEXTS if self.rng.random() < 0.6 else OF_TEXT
        chosen = [self.rng.choice(forms) for _ in range(self.rng.choice((1, 2, 3)))]
        items = [Node(text, made, type=kind, bound=2**40, grain=1) for text, kind in chosen]
        node = Node('SELECT {0} FROM {1} {2}', self.items(items), source, where, type='Q')
        return Made(node, self.results(items), rows)

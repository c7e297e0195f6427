# SPDX-License-Identifier: MIT
"""Random queries that stand in expressions: values, EXISTS and IN, with and
without NULLs; over columns of the queries around them, one level and more;
with LIMIT, aggregates, GROUP BY and set operators; and in LIMIT and OFFSET
themselves. Each gives the same in every engine whatever order its rows come
in."""
from .expressions import Scope
from .nodes import CONSTANT, EMPTY, Node, listed, optional

FEW = 70      # rows of a FROM in a value
MANY = 200    # ... in EXISTS and IN


def renamed(column, text):
    """A column by another name."""
    return Node(text, type=column.type, bound=column.bound, grain=column.grain,
                column=True if column.uses_columns() else CONSTANT)


class Subqueries:
    """A part of Queries."""

    def visible(self, scope):
        """The columns around a subquery that it may use: those with a
        qualifier, since another may be the subquery's own column."""
        if self.rng.random() < 0.4:
            return []
        return [c for c in [*scope.columns, *scope.outer] if c.column and '.' in c.template]

    def subquery(self, kind, scope):
        """Any kind of subquery with a value of that type, or None."""
        if kind == 'F':  # a scalar of it meets others as a DOUBLE
            return None
        if kind != 'B' or self.rng.random() < 0.2:
            return self.scalar(kind, scope)
        if self.rng.random() < 0.5:
            return self.exists(scope)
        other = self.expressions.some_type(scope, 'IDTYB')
        return self.among(self.expressions.make(other, 0, scope), other, scope)

    # ------------------------------------------------------------- values --

    def scalar(self, kind, scope):
        """A subquery that gives one value: an aggregate, or one row of an order."""
        forms = [self.total_of, self.total_of, self.first_row]
        if self.share:
            forms += [self.first_group, self.first_of_both, self.without_from]
            if scope.inner is not None:
                forms += [self.outer_total] * 3
        return self.nested(lambda: self.rng.choice(forms)(kind, scope))

    def rows_of(self, scope, rows_max, share):
        """(source, columns, where) of a subquery."""
        source, columns, _ = self.sources(rows_max)
        inner = Scope(columns, self.visible(scope), queries=self.inside() if self.share else None)
        return source, columns, self.where(inner) if self.rng.random() < share else EMPTY

    def value_of(self, kind, columns, scope):
        """A value of a row of a subquery."""
        outer = self.visible(scope) if self.share else ()
        return self.expressions.make(kind, 1, Scope(columns, outer))

    @staticmethod
    def valued(template, value, *parts):
        return Node(template, value, *parts, type=value.type, bound=value.bound, grain=value.grain)

    def total_of(self, kind, scope):
        source, columns, where = self.rows_of(scope, FEW, 0.8)
        value = self.expressions.aggregate(kind, Scope(columns))
        if value is None:
            return None
        having = EMPTY
        if self.share and self.rng.random() < 0.2:
            having = Node(f'HAVING count(*) > {self.rng.choice((0, 1, 5))}')
        return self.valued('(SELECT {0} FROM {1} {2} {3})', value, source, where, having)

    def last(self, offset=0.2):
        """An ORDER BY of the only column and one row of it."""
        return Node(f'ORDER BY 1{self.rng.choice(("", " DESC"))} {{0}}',
                    self.limited((1,), (0, 1, 3), offset))

    def first_row(self, kind, scope):
        source, columns, where = self.rows_of(scope, FEW, 0.8)
        word = self.rng.choice(('', '', 'DISTINCT ')) if self.share else ''
        # sqlite3 gives the first row all the same where an OFFSET is behind a DISTINCT.
        last = self.last(0.0 if word and self.peer != 'duckdb' else 0.2)
        return self.valued(f'(SELECT {word}{{0}} FROM {{1}} {{2}} {{3}})',
                           self.value_of(kind, columns, scope), source, where, last)

    def first_group(self, kind, scope):
        source, columns, where = self.rows_of(scope, FEW, 0.5)
        value = self.expressions.aggregate(kind, Scope(columns))
        if value is None:
            return None
        return self.valued('(SELECT {0} FROM {1} {2} GROUP BY {3} {4} {5})', value, source, where,
                           self.rng.choice(columns), self.some_groups(columns, scope), self.last())

    def some_groups(self, columns, scope):
        """A HAVING, which may look at the queries around."""
        if self.rng.random() < 0.6:
            return EMPTY
        over = Scope([], self.visible(scope), Scope(columns))
        return optional('HAVING {0}', self.expressions.make('B', 1, over))

    def first_of_both(self, kind, scope):
        parts = []
        for _ in range(2):
            source, columns, where = self.rows_of(scope, FEW, 0.5)
            value = self.value_of(kind, columns, scope)
            parts.append(self.valued('SELECT {0} FROM {1} {2}', value, source, where))
        word = self.rng.choice(('UNION', 'UNION ALL', 'EXCEPT', 'INTERSECT'))
        made = self.expressions.like_first('', parts, kind)
        made.template, made.parts = f'({{0}} {word} {{1}} {{2}})', (*parts, self.last())
        return made

    def without_from(self, kind, scope):
        outer = self.visible(scope)
        value = self.expressions.make(kind, 1, Scope([], outer, queries=self.inside()))
        where = EMPTY
        if self.rng.random() < 0.4:
            where = Node('WHERE {0}', self.expressions.make(
                'B', 1, Scope([], outer, queries=self.inside())))
        return self.valued('(SELECT {0} {1})', value, where)

    def outer_total(self, kind, scope):
        """An aggregate over columns of the query around, which it belongs to."""
        value = self.expressions.aggregate(kind, Scope(
            [c for c in scope.inner.columns if '.' in c.template] or scope.inner.columns[:1]), 0)
        # sqlite3 forgets columns of what is constant anyway: only a plain one tells whose it is.
        argument = value.parts[0] if value is not None and value.parts else EMPTY
        if not argument.column or not qualified(value):
            return None
        if self.rng.random() < 0.5:
            return self.valued('(SELECT {0})', value)
        source, _, _ = self.sources(FEW)
        return self.valued('(SELECT {0} FROM {1} LIMIT 1)', value, source)

    # ---------------------------------------------------- LIMIT and OFFSET --

    def limited(self, limits, offsets=(), share=0.0):
        """A LIMIT, with an OFFSET in that share of cases, of which a few stand alone."""
        offset = EMPTY
        if self.rng.random() < share:
            offset = Node(' OFFSET {0}', self.number_of_rows(offsets))
            if self.rng.random() < 0.2:
                return Node({'': '{0}', 'sqlite': 'LIMIT -1{0}'}, offset)
        return Node('LIMIT {0}{1}', self.number_of_rows(limits), offset)

    def number_of_rows(self, numbers):
        """One of these, or a query that counts; DuckDB has none in inner queries."""
        number = self.rng.choice(numbers)
        has = self.inside() and not (self.nesting and self.peer == 'duckdb')
        if not has or self.rng.random() < 0.7:
            return Node(str(number))
        if self.rng.random() < 0.3:
            return Node(f'(SELECT {number})')

        def make():
            source, columns, _ = self.sources(FEW)
            where = self.where(Scope(columns, queries=self.inside() if self.share else None))
            text = self.rng.choice((f'(SELECT count(*) % 4 + {number} FROM {{0}} {{1}})',
                                    f'{number} + (SELECT count(*) FROM {{0}} {{1}})',
                                    f'(SELECT {number} FROM {{0}} {{1}} UNION SELECT {number})',
                                    '(SELECT count(*) - 2 FROM {0} {1})'))
            return Node(text, source, where)
        return self.nested(make)

    # ------------------------------------------------------ EXISTS and IN --

    def exists(self, scope):
        def make():
            source, columns, where = self.rows_of(scope, MANY, 1)
            word = self.rng.choice(('EXISTS', 'NOT EXISTS'))
            what, tail = Node(self.rng.choice(('1', '*'))), EMPTY
            form = self.rng.random() if self.share else 1
            if form < 0.15:
                what = Node('count(*)')
                tail = self.some_groups(columns, scope)
            elif form < 0.3:
                what = Node('1')
                tail = Node('GROUP BY {0} {1}', self.rng.choice(columns),
                            self.some_groups(columns, scope))
            elif form < 0.45:
                tail = self.limited((0, 1, 2, 3), (1, 5), 0.4)
            return Node(f'({word} (SELECT {{0}} FROM {{1}} {{2}} {{3}}))', what, source, where,
                        tail, type='B', bound=1)
        return self.nested(make)

    def among(self, value, kind, scope):
        """value IN (SELECT ...)."""
        def make():
            if self.rng.random() < 0.25:
                node = self.select([kind], MANY).node
            else:
                node = self.column_of(kind, scope)
            word = self.rng.choice(('IN', 'IN', 'NOT IN'))
            if self.expressions.peer == 'duckdb' and kind != 'B' and self.rng.random() < 0.4:
                word = ' '.join((self.rng.choice('= <> < <= > >='.split()),
                                 self.rng.choice(('ANY', 'ALL', 'SOME'))))
            return Node(f'({{0}} {word} ({{1}}))', value, node, type='B', bound=1)
        return self.nested(make)

    def among_rows(self, row, kinds, scope):
        """(a, b) IN (SELECT x, y ...)."""
        def make():
            source, columns, where = self.rows_of(scope, FEW, 0.7)
            items = listed([self.value_of(kind, columns, scope) for kind in kinds])
            word = self.rng.choice(('IN', 'IN', 'NOT IN'))
            return Node(f'({{0}} {word} (SELECT {{1}} FROM {{2}} {{3}}))', row, items, source,
                        where, type='B', bound=1)
        return self.nested(make)

    def column_of(self, kind, scope):
        """A query of one column."""
        source, columns, where = self.rows_of(scope, MANY, 0.7)
        if not self.share or self.rng.random() < 0.5:
            item = self.value_of(kind, columns, scope)
            return Node('SELECT {0} FROM {1} {2}', item, source, where, type='Q')
        item = self.expressions.aggregate(kind, Scope(columns))
        if item is not None and self.rng.random() < 0.6:
            groups = EMPTY
            if self.rng.random() < 0.6:
                groups = Node('GROUP BY {0} {1}', self.rng.choice(columns),
                              self.some_groups(columns, scope))
            return Node('SELECT {0} FROM {1} {2} {3}', item, source, where, groups, type='Q')
        item = self.value_of(kind, columns, scope)
        return Node('SELECT {0} FROM {1} {2} ORDER BY 1 {3}', item, source, where,
                    self.limited((0, 1, 2, 3), (1,), 0.25), type='Q')

    # ------------------------------------------------------------- VALUES --

    def rows_of_values(self, alias):
        """(node, columns, rows) of a VALUES in FROM, whose values may be queries."""
        kinds = [self.rng.choice('IIDTYB') for _ in range(self.rng.randrange(1, 4))]
        scope = Scope([], queries=self.inside())
        rows = [self.nested(lambda: [self.expressions.make(kind, 1, scope) for kind in kinds])
                for _ in range(self.rng.choice((1, 2, 3, 5)))]
        made = [Node('(' + ', '.join(['{}'] * len(kinds)) + ')', *row) for row in rows]
        names = ', '.join(f'c{i}' for i in range(len(kinds)))
        picked = ', '.join(f'column{i + 1} AS c{i}' for i in range(len(kinds)))
        node = Node({'': f'(SELECT {picked} FROM (VALUES {{0}})) AS {alias}',
                     'duckdb': f'(VALUES {{0}}) AS {alias}({names})'}, listed(made), type='S')
        columns = []
        for i, kind in enumerate(kinds):
            grains = [row[i].grain for row in rows]
            columns.append(Node(f'{alias}.c{i}', type=kind, bound=max(r[i].bound for r in rows),
                                grain=None if None in grains else max(grains), column=True))
        return node, columns, len(rows)


def qualified(node):
    """Whether every column in it says of which table it is."""
    return '.' in node.template if node.column else all(map(qualified, node.parts))

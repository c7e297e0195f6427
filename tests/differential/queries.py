# SPDX-License-Identifier: MIT
"""Random queries over tables and views."""
from .expressions import Expressions, Scope, exactly_added
from .nodes import EMPTY, Node, listed, optional
from .subqueries import Subqueries, renamed
from .tables import column_node

PRODUCT_MAX = 6000  # rows of all tables of a FROM, multiplied
PRODUCT_FEW = 600   # ... where many queries stand in others
WINDOW_TYPES = 'IDTY'
GROUP_CALLS = ('count(*)', 'count({0})', 'count(DISTINCT {0})', 'sum({0})', 'sum(DISTINCT {0})',
               'min({0})', 'max({0})', 'count(*) FILTER (WHERE {0} > 0)')
BIT_CALLS = ('bit_and({0})', 'bit_or({0})', 'bit_xor({0})')  # sqlite3 has none
PLAIN_OPERATORS = ('UNION', 'UNION ALL', 'EXCEPT', 'INTERSECT')
SET_OPERATORS = {'duckdb': PLAIN_OPERATORS + ('EXCEPT ALL', 'INTERSECT ALL')}


class Relation:
    """What FROM may name: its columns without a qualifier and its rows about."""

    def __init__(self, name, columns, rows, is_table=True):
        self.name, self.columns, self.rows, self.is_table = name, columns, rows, is_table


class Made:
    """A query and the columns that it gives; `scope`: what ORDER BY may use besides."""

    def __init__(self, node, columns, rows, scope=None):
        self.node, self.columns, self.rows, self.scope = node, columns, rows, scope


class Queries(Subqueries):
    """Makes queries of one seed over relations. `share`: how often a query
    stands where a value may."""

    def __init__(self, rng, relations, peer='sqlite', share=0.0):
        self.rng, self.relations, self.peer, self.share = rng, relations, peer, share
        self.expressions = Expressions(rng, peer, share)
        self.product_max = PRODUCT_FEW if share else PRODUCT_MAX
        self.aliases, self.nesting = 0, 0

    def inside(self):
        """What makes the queries in expressions here; None: there are none."""
        return self if self.nesting < (3 if self.share else 2) else None

    # --------------------------------------------------------------- FROM --

    def alias(self):
        self.aliases += 1
        return f'a{self.aliases}'

    def source(self, rows_max):
        """(node, columns, rows, relation) of one thing of FROM."""
        fitting = [r for r in self.relations if r.rows <= rows_max] or \
            [min(self.relations, key=lambda r: r.rows)]
        alias = self.alias()
        if self.share and self.nesting < 2 and self.rng.random() < 0.1:
            return (*self.rows_of_values(alias), None)
        if self.peer == 'duckdb' and self.rng.random() < 0.05:
            return (*self.series(alias), None)
        if self.nesting < 2 and self.rng.random() < 0.12:
            made = self.nested(lambda: self.select(rows_max=rows_max))
            node = Node(f'({{0}}) AS {alias}', made.node, type='S')
            return node, [renamed(c, f'{alias}.{c.template}') for c in made.columns], made.rows, \
                None
        relation = self.rng.choice(fitting)
        node = Node(f'{relation.name} AS {alias}', type='S')
        return node, [renamed(c, f'{alias}.{c.template}') for c in relation.columns], \
            relation.rows, relation

    def series(self, alias):
        """(node, columns, rows) of whole numbers from FROM."""
        low, high = self.rng.randrange(-3, 3), self.rng.randrange(-3, 12)
        step = self.rng.choice(('', '', ', 1', ', 2', ', -1'))
        node = Node(f'{self.rng.choice(("range", "generate_series"))}({low}, {high}{step}) '
                    f'AS {alias}(i)', type='S')
        return node, [Node(f'{alias}.i', type='I', bound=12, column=True)], 15

    def nested(self, make):
        self.nesting += 1
        try:
            return make()
        finally:
            self.nesting -= 1

    def sources(self, rows_max=None, outer=()):
        """(node, columns, rows) of a FROM."""
        rows_max = rows_max or self.product_max
        node, columns, rows, relation = self.source(rows_max)
        first, count = relation, self.rng.choice((1, 1, 1, 2, 2, 3))
        if self.nesting:
            count = min(count, self.rng.choice((1, 1, 2)))
        for number in range(1, count):
            if number == 1 and first is not None and first.is_table and self.rng.random() < 0.2:
                made = self.natural(node, columns, rows, first, rows_max)
                if made is not None:
                    return made
            right, right_columns, right_rows, _ = self.source(max(1, rows_max // max(1, rows)))
            if rows * right_rows > rows_max:
                break
            node = self.join(node, right, columns, right_columns, outer)
            columns, rows = columns + right_columns, max(rows * right_rows, rows + right_rows)
        return node, columns, rows

    def join(self, left, right, left_columns, right_columns, outer):
        word = self.rng.choice((',', 'CROSS JOIN', 'JOIN', 'JOIN', 'INNER JOIN', 'LEFT JOIN',
                                'LEFT JOIN', 'LEFT OUTER JOIN', 'RIGHT JOIN', 'FULL JOIN'))
        if word in (',', 'CROSS JOIN'):
            # DuckDB binds a comma looser than JOIN, sqlite3 and vdbq do not.
            return Node({'': f'{{0}}{"" if word == "," else " "}{word} {{1}}',
                         'duckdb': '{0} CROSS JOIN {1}'}, left, right, type='S')
        scope = Scope(left_columns + right_columns, queries=self.inside() if self.share else None)
        pairs = [(a, b) for a in left_columns for b in right_columns
                 if a.type == b.type or (a.type in 'ID' and b.type in 'ID'
                                         and max(a.bound, b.bound) < 2**50)]
        terms = []
        chance = self.rng.random()
        if pairs and chance < 0.7:
            terms.append(Node('{0} = {1}', *self.rng.choice(pairs), type='B'))
        if chance > 0.6:
            terms += self.bounds(left_columns, right_columns)
        if not terms or (self.rng.random() < 0.35 and word != 'FULL JOIN'):
            made = self.expressions.make('B', 2, scope)
            # sqlite3 3.40: a constant ON is taken for a WHERE of all joins.
            if all(part.uses_columns() for part in conjuncts(made)):
                terms.append(made)
        if not terms:
            terms.append(Node('{0} IS NOT NULL', self.rng.choice(left_columns), type='B'))
        return Node(f'{{0}} {word} {{1}} ON {{2}}', left, right, listed(terms, ' AND '), type='S')

    def bounds(self, left_columns, right_columns):
        """Bounds on a value of one side by values of the other; maybe none."""
        sides = [left_columns, right_columns]
        self.rng.shuffle(sides)
        of = self.rng.choice(sides[0])
        by = [c for c in sides[1] if c.type == of.type and c.bound < 2**50]
        if not by or of.type not in 'IDYWM' or of.bound >= 2**50:
            return []
        templates = ['{0} < {1}', '{0} >= {1}', '{0} BETWEEN {1} AND {2}',
                     '{1} < {0} AND {0} <= {2}']
        if of.type in 'ID':
            width = self.rng.choice((0, 1, 3, 20, -1))
            templates += [f'abs({{0}} - {{1}}) < {width}', f'{{0}} - {{1}} >= {width}',
                          f'{width} = {{0}} - {{1}}',
                          f'{width} >= abs({{1}} - {{0}})',
                          f'{{0}} BETWEEN {{1}} - {width} AND {{1}} + {width}',
                          f'({{0}} - {{1}}) < {width} AND ({{0}} - {{1}}) > -{abs(width)}']
        if of.type == 'M':
            templates += moved_bounds(self.rng.choice((0, 50, 125)))
        if of.type == 'Y':
            templates += moved_days(self.rng.choice((0, 1, 30, 400)))
        return [Node(self.rng.choice(templates), of, self.rng.choice(by), self.rng.choice(by),
                     type='B')]

    def natural(self, node, columns, rows, first, rows_max):
        """A join by names: the shared columns have no qualifier any more."""
        others = [r for r in self.relations if r.is_table and r.rows * rows <= rows_max]
        if not others:
            return None
        second, alias = self.rng.choice(others), self.alias()
        names = [c.template for c in second.columns]
        shared = [c.template for c in first.columns if c.template in names]
        if not shared:
            return None
        word = self.rng.choice(('JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN', 'INNER JOIN'))
        right = Node(f'{second.name} AS {alias}', type='S')
        if self.rng.random() < 0.5:
            joined = Node(f'{{0}} NATURAL {word} {{1}}', node, right, type='S')
        else:
            shared = self.rng.sample(shared, self.rng.randrange(1, len(shared) + 1))
            joined = Node(f'{{0}} {word} {{1}} USING ({", ".join(shared)})', node, right, type='S')
        kept = [column_node(name) for name in shared]
        kept += [c for c in columns if c.template.split('.')[1] not in shared]
        kept += [renamed(c, f'{alias}.{c.template}') for c in second.columns
                 if c.template not in shared]
        return joined, kept, max(rows * second.rows, rows + second.rows)

    # ------------------------------------------------------------- SELECT --

    def query(self):
        """A whole query."""
        made = self.compound() if self.rng.random() < 0.12 else self.select()
        node = made.node
        if self.rng.random() < 0.06:
            node = self.with_names()
            made = Made(node, self.with_columns, 0)
        return self.ordered(made) if self.rng.random() < 0.5 else node

    def with_names(self):
        """WITH w AS (...) SELECT ... FROM w."""
        inner = self.nested(self.select)
        name = f'w{self.aliases}'
        relation = Relation(name, inner.columns, inner.rows, False)
        outer = Queries(self.rng, [relation], self.peer, self.share)
        outer.aliases = 100
        made = outer.select()
        self.with_columns = made.columns
        return Node(f'WITH {name} AS ({{0}}) {{1}}', inner.node, made.node, type='Q')

    def ordered(self, made):
        """ORDER BY some columns and then all, so that no two rows tie."""
        node, width = made.node, len(made.columns)
        positions = list(range(1, width + 1))
        self.rng.shuffle(positions)
        terms = [Node(f'{p}{self.rng.choice(("", "", " DESC", " ASC"))}'
                      f'{self.rng.choice(("", "", "", " NULLS FIRST", " NULLS LAST"))}')
                 for p in positions]
        if made.scope and self.share and self.rng.random() < 0.4:
            made = self.expressions.make(self.rng.choice('ITBY'), 1, made.scope)
            terms[:0] = [made] if made.uses_columns() else []
        order = Node('{0} ORDER BY {1}', node, Node(', '.join(['{}'] * len(terms)), *terms),
                     type='Q')
        if self.rng.random() < 0.4:
            limit = self.limited((0, 1, 2, 3, 10, 64), (0, 1, 5), 0.3)
            order = Node('{0} {1}', order, optional('{0}', limit), type='Q')
        return order

    def groups_united(self):
        """Groups of the same rows by two keys and by one of these; None: no numbers there."""
        source, columns, rows = self.sources()
        numbers = [c for c in columns if c.type == 'I']
        if not numbers:
            return None
        where = self.where(Scope(columns)) if self.rng.random() < 0.3 else EMPTY
        key, other, x = self.rng.choice(columns), self.rng.choice(columns), self.rng.choice(numbers)
        parts, width = [], self.rng.choice((1, 2, 3))
        calls = GROUP_CALLS + BIT_CALLS if self.peer == 'duckdb' else GROUP_CALLS
        for keys in self.rng.choice((([key, other], [key]), ([key], [other, key]))):
            items = [key, *(Node(self.rng.choice(calls), x, type='I', bound=x.bound * rows)
                            for _ in range(width))]
            parts.append(Node('SELECT {0} FROM {1} {2} GROUP BY {3}', self.items(items), source,
                              where, listed(keys), type='Q'))
        return Made(Node('{0} UNION ALL {1}', *parts, type='Q'), self.results(items), rows * 2)

    def compound(self):
        united = self.groups_united() if self.nesting == 0 and self.rng.random() < 0.2 else None
        if united is not None:
            return united
        kinds = [self.rng.choice('IIDTBYM') for _ in range(self.rng.randrange(1, 4))]
        parts = [self.nested(lambda: self.select(kinds)) for _ in range(
            self.rng.choice((2, 2, 2, 3)))]
        words = [self.rng.choice(SET_OPERATORS.get(self.peer, PLAIN_OPERATORS)) for _ in parts]
        if len(parts) == 3 and any(word.startswith('INTERSECT') for word in words[:2]):
            parts.pop()
        node = parts[0].node
        for part, word in zip(parts[1:], words):
            node = Node(f'{{0}} {word} {{1}}', node, part.node, type='Q')
        columns = [Node(f'c{i}', type=kind, bound=max(p.columns[i].bound for p in parts),
                        grain=coarsest([p.columns[i].grain for p in parts]), column=True)
                   for i, kind in enumerate(kinds)]
        return Made(node, columns, sum(p.rows for p in parts))

    def select(self, kinds=None, rows_max=None, outer=()):
        """SELECT up to HAVING; its columns are c0, c1 and so on."""
        if self.share and self.rng.random() < 0.04:
            return self.without_tables(kinds, Scope([], outer, queries=self.inside()))
        source, columns, rows = self.sources(rows_max)
        scope = Scope(columns, outer, queries=self.inside())
        where = EMPTY
        if self.rng.random() < 0.6:
            where = self.where(scope)
        form = self.rng.random()
        if form < 0.25:
            return self.grouped(source, scope, where, kinds, rows)
        if form < 0.37:
            return self.totals(source, scope, where, kinds)
        word = 'SELECT DISTINCT' if form < 0.5 else 'SELECT'
        window = form > 0.9 and not outer and self.nesting == 0 and kinds is None
        call, clauses = self.windowed(scope) if window else (None, EMPTY)
        items = [call if window and i == 0 else
                 self.expressions.make(kind, self.rng.choice((0, 1, 1, 2, 3)), scope)
                 for i, kind in enumerate(kinds or self.some_kinds(scope))]
        distinct = word != 'SELECT'
        if distinct and self.peer == 'duckdb' and self.rng.random() < 0.3:
            word += f' ON ({", ".join(str(i + 1) for i in range(len(items)))})'
        node = Node(f'{word} {{0}} FROM {{1}} {{2}} {{3}}', self.items(items), source, where,
                    clauses, type='Q')
        return Made(node, self.results(items), rows, None if distinct else scope)

    def without_tables(self, kinds, scope):
        """SELECT without FROM: one row, or none where its condition does not hold."""
        items = [self.expressions.make(kind, 1, scope) for kind in kinds or self.some_kinds(scope)]
        where = self.where(scope) if self.rng.random() < 0.7 else EMPTY
        return Made(Node('SELECT {0} {1}', self.items(items), where, type='Q'),
                    self.results(items), 1)

    def where(self, scope):
        terms = [self.expressions.make('B', self.rng.choice((1, 2, 3)), scope)
                 for _ in range(self.rng.choice((1, 1, 2)))]
        if self.peer == 'sqlite' and self.rng.random() < 0.04:
            terms[-1] = self.beside_random(terms[-1])
        return optional('WHERE {0}', listed(terms, ' AND '))

    def beside_random(self, term):
        """The same, but that it asks for a random number, too."""
        return Node(self.rng.choice(('(random() IS NULL OR {0})', '(random() IS NOT NULL AND {0})',
                                     '({0} AND random() <> random())')), term, type='B')

    def some_kinds(self, scope):
        return [self.expressions.some_type(scope) for _ in range(self.rng.randrange(1, 5))]

    @staticmethod
    def items(items):
        return listed([Node(f'{{0}} AS c{i}', item) for i, item in enumerate(items)])

    @staticmethod
    def results(items):
        return [renamed(item, f'c{i}') for i, item in enumerate(items)]

    def below(self, scope):
        """The rows that are grouped: keys, arguments of aggregates."""
        return Scope(scope.columns, queries=self.inside() if self.share else None)

    def keys(self, scope):
        """Expressions to group by: columns, or made of columns."""
        found = []
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            key = self.rng.choice(scope.columns)
            # sqlite3 takes (0 AND x) for the 0th column.
            if key.type != 'B' and self.rng.random() < 0.3:
                made = self.expressions.make(key.type, 1, self.below(scope))
                key = made if made.uses_columns() else key
            found.append(key)
        return found

    def grouped(self, source, scope, where, kinds, rows):
        keys = self.keys(scope)
        bare = [k for k in keys if k.column]
        inner = self.below(scope)
        over = Scope(keys, scope.outer, inner, scope.queries if len(bare) == len(keys) else None)
        items = [self.expressions.make(kind, self.rng.choice((0, 0, 1, 2)), over)
                 for kind in kinds or self.some_kinds(over)]
        having = EMPTY
        if self.rng.random() < 0.3:
            having = optional('HAVING {0}', self.expressions.make('B', 2, over))
        # Two keys that are the same once they are simplified are one to vdbq.
        groupings = self.peer == 'duckdb' and self.rng.random() < 0.35 and len(bare) == len(keys)
        if groupings and kinds is None:
            items.append(Node('grouping({0})', listed(keys), type='I', bound=7))
        node = Node('SELECT {0} FROM {1} {2} GROUP BY {3} {4}', self.items(items), source, where,
                    self.groupings(keys) if groupings else listed(keys), having, type='Q')
        return Made(node, self.results(items), rows * 8 if groupings else rows, over)

    def groupings(self, keys):
        """Several groupings by these keys, all of which are in one."""
        form = self.rng.choice(('ROLLUP ({0})', 'CUBE ({0})', 'GROUPING SETS (({0}), {1})',
                                'GROUPING SETS (CUBE ({0}), ())', '{1}, ROLLUP ({0})',
                                'GROUPING SETS ((), {1}, ROLLUP ({0}))'))
        return Node(form, listed(keys), self.rng.choice(keys))

    def totals(self, source, scope, where, kinds):
        """Aggregates without GROUP BY: one row."""
        over = Scope([], scope.outer, self.below(scope), self.inside() if self.share else None)
        items = []
        for kind in kinds or [self.expressions.some_type(scope) for _ in range(
                self.rng.randrange(1, 4))]:
            made = self.expressions.make(kind, 0, over)
            items.append(made)
        if not any('(' in item.sql('sqlite') for item in items) or not any(map(aggregates, items)):
            counted = Node('count(*)', type='I', bound=10**6)
            if kinds is None:
                items.append(counted)
            else:
                having = Node('HAVING count(*) >= 0')
                node = Node('SELECT {0} FROM {1} {2} GROUP BY {3} {4}', self.items(items), source,
                            where, scope.columns[0], having, type='Q')
                return Made(node, self.results(items), 100)
        node = Node('SELECT {0} FROM {1} {2}', self.items(items), source, where, type='Q')
        return Made(node, self.results(items), 1)

    # ------------------------------------------------------------ windows --

    def windowed(self, scope):
        """A window function whose value ties cannot change, and the clauses that it needs."""
        inner = Scope(scope.columns)
        by = [self.rng.choice(scope.columns) for _ in range(self.rng.choice((0, 1, 1, 2)))]
        order = [self.rng.choice(scope.columns) for _ in range(self.rng.choice((0, 1, 2)))]
        whole = len(scope.columns) <= 8 and self.rng.random() < 0.4
        if whole:
            order = self.rng.sample(scope.columns, len(scope.columns))
        call = self.window_place(inner) if whole else self.window_call(inner, bool(order))
        parts = []
        over = ''
        if by:
            over += ' PARTITION BY {0}'
            parts.append(listed(by))
        if order:
            over += f' ORDER BY {{{len(parts)}}}'
            terms = [Node(f'{{0}}{self.rng.choice(("", "", " DESC"))}', c) for c in order]
            parts.append(listed(terms))
        if order:
            over += self.window_frame(whole, order)
        return self.placed(scope, call, Node(over.strip(), *parts))

    def placed(self, scope, call, over):
        """The call over that window, by a name or not, and clauses: WINDOW, QUALIFY."""
        named = self.rng.random() < 0.3
        text = '{0} OVER w' if named else '{0} OVER ({1})'
        parts = [call] if named else [call, over]
        made = Node(text, *parts, type=call.type, bound=call.bound, grain=call.grain)
        clauses = [Node('WINDOW w AS ({0})', over)] if named else []
        if self.peer == 'duckdb' and self.rng.random() < 0.5:
            test = self.expressions.make('B', 1, Scope(scope.columns))
            clauses.append(Node('QUALIFY ({0}) IS NULL OR {1}', made, test))
        return made, listed(clauses, ' ')

    def window_frame(self, whole, order):
        """No frame, or one: of ROWS where rows that tie are the same in all columns."""
        if self.rng.random() < 0.5:
            return ''
        unit = self.rng.choice(('ROWS', 'RANGE')) if whole else 'RANGE'
        n = self.rng.choice((0, 1, 2, 9, 70))
        far = len(order) == 1 and order[0].type in 'ID' and order[0].bound < 2**40
        places = ['UNBOUNDED PRECEDING', 'CURRENT ROW', 'UNBOUNDED FOLLOWING']
        if unit == 'ROWS' or far and self.rng.random() < 0.6:
            places[1:2] = [f'{n + 1} PRECEDING', f'{n} PRECEDING', 'CURRENT ROW',
                           f'{n} FOLLOWING', f'{n + 2} FOLLOWING']
        begin = self.rng.randrange(len(places) - 1)
        end = self.rng.randrange(max(begin, 1), len(places))
        if end == begin or self.rng.random() < 0.2 and begin <= places.index('CURRENT ROW'):
            end = max(begin, places.index('CURRENT ROW'))
        return f' {unit} BETWEEN {places[begin]} AND {places[end]}'

    def window_place(self, inner):
        """A function of a row's place: rows that tie are the same in all columns."""
        word = self.rng.choice(('row_number', 'ntile', 'lag', 'lead', 'first_value', 'last_value',
                                'nth_value'))
        if word == 'row_number':
            return Node('row_number()', type='I', bound=10**6)
        if word == 'ntile':
            return Node(f'ntile({self.rng.choice((1, 2, 3, 7, 1000))})', type='I', bound=1000)
        kind = self.rng.choice(WINDOW_TYPES)
        a = self.expressions.make(kind, 1, inner)
        more = self.rng.choice(('', ', 1', ', 2', ', 0')) if word in ('lag', 'lead') else ''
        more = self.rng.choice((', 1', ', 2', ', 5')) if word == 'nth_value' else more
        return Node(f'{word}({{0}}{more})', a, type=kind, bound=a.bound, grain=a.grain)

    def window_call(self, inner, ordered):
        if ordered and self.rng.random() < 0.2:
            return Node(self.rng.choice(('percent_rank()', 'cume_dist()')), type='D', bound=1)
        if ordered and self.rng.random() < 0.5:
            return Node(self.rng.choice(('rank()', 'dense_rank()')), type='I', bound=10**6)
        for _ in range(9):
            kind = self.rng.choice(WINDOW_TYPES)
            word = self.rng.choice(('count', 'sum', 'min', 'max', 'avg') + (
                ('bit_and', 'bit_or', 'bit_xor') if self.peer == 'duckdb' else ()))
            a = self.expressions.make(kind, 1, inner)
            if word in ('sum', 'avg') and (kind not in 'ID' or not exactly_added(a)
                                           or a.bound > 2**30):
                continue
            if word.startswith('bit') and (kind != 'I' or a.bound > 2**62):
                continue
            result = {'count': 'I', 'avg': 'D'}.get(word, kind)
            return Node(f'{word}({{0}})', a, type=result, bound=max(a.bound, 1) * 2**17,
                        grain=None if word == 'avg' else a.grain)
        return Node('count(*)', type='I', bound=10**6)

    # ----------------------------------------------------------- partition --

    def parts(self):
        """(items, source, condition, result letters) for TLP and NoREC."""
        source, columns, _ = self.sources()
        scope = Scope(columns, queries=self)
        items = [self.expressions.make(kind, 1, scope) for kind in self.some_kinds(scope)]
        return self.items(items), source, self.expressions.make('B', 3, scope), columns

    # -------------------------------------------------------------- changes --

    def change(self, tables):
        """A statement that changes a table, and the table."""
        table = self.rng.choice(tables)
        columns = [column_node(c) for c in table.columns]
        scope = Scope(columns, queries=self.elsewhere(table))
        what = self.rng.random()
        where = optional('WHERE {0}', self.expressions.make('B', 2, scope))
        if what < 0.3:
            return Node(f'DELETE FROM {table.name} {{0}}', where, type='change'), table
        if what < 0.7:
            chosen = self.rng.sample(columns, min(len(columns), self.rng.choice((1, 1, 2))))
            sets = [Node(f'{c.template} = {{0}}', self.value_for(c, scope)) for c in chosen]
            return Node(f'UPDATE {table.name} SET {{0}} {{1}}', listed(sets), where,
                        type='change'), table
        other = self.rng.choice([t for t in tables if len(t.rows) <= 70])
        scope = Scope([column_node(c) for c in other.columns])
        by_name = self.rng.random() < 0.4
        if by_name:
            self.rng.shuffle(columns)
        names = [c.template for c in columns]
        items = listed([self.value_for(c, scope) for c in columns])
        where = optional('WHERE {0}', self.expressions.make('B', 2, scope))
        items.separator, items.template = None, ', '.join(
            f'{{}} AS {name}' if by_name else '{}' for name in names)
        listing = f' ({", ".join(names)})' if by_name else ''
        rows = f'SELECT {{0}} FROM {other.name} {{1}}'
        return Node({'': f'INSERT INTO {table.name}{" BY NAME" if by_name else ""} {rows}',
                     'sqlite': f'INSERT INTO {table.name}{listing} {rows}'}, items, where,
                    type='change'), table

    def elsewhere(self, table):
        """Queries over all tables but one, whose rows change meanwhile."""
        others = [r for r in self.relations if r.is_table and r.name != table.name]
        return Queries(self.rng, others, self.peer, self.share) if others else None

    def value_for(self, column, scope):
        """A value that a column can hold; the least of `e` has no opposite there."""
        bound = column.bound - (column.template == 'e')
        for depth in (2, 1, 0):
            made = self.expressions.make(column.type, depth, scope)
            exact = column.type not in 'DF' or (made.grain is not None
                                                and made.grain <= column.grain)
            if made.bound <= bound and exact:
                return made
        own = [c for c in scope.columns if c.template == column.template]
        return own[0] if own else Node('NULL', type=column.type)


def moved_bounds(hundredths):
    """Bounds of a DECIMAL, which sqlite3 has as hundredths."""
    number = f'{hundredths / 100:.2f}'
    return [{'': text.replace('#', number), 'sqlite': text.replace('#', str(hundredths))}
            for text in ('{0} - {1} < #', '# <= {1} - {0}', 'abs({0} - {1}) <= #',
                         '{0} = {1} + #', '{0} BETWEEN {1} - # AND {2} + #')]


def moved_days(days):
    """Bounds of a DATE, which sqlite3 has as a text."""
    away = '(julianday({0}) - julianday({1}))'
    return [{'': text.format('({0} - {1})'), 'sqlite': text.format(away)}
            for text in (f'{{}} < {days}', f'{days} = {{}}', f'abs({{}}) <= {days}')]


def conjuncts(node):
    """The terms of an AND; rows that are equal are one of their values, to sqlite3."""
    if node.template == '({0} AND {1})':
        return [term for part in node.parts for term in conjuncts(part)]
    if node.template in ('({0} = {1})', '({0} IS {1})') and node.parts[0].template == '({0})':
        rows = [row.parts[0].parts for row in node.parts]
        return [Node('({0} = {1})', a, b) for a, b in zip(*rows)]
    return [node]


def coarsest(grains):
    return None if None in grains else max(grains)


def aggregates(node):
    """Whether there is an aggregate in it."""
    head = node.template if isinstance(node.template, str) else node.template.get('', '')
    return head.startswith(('count(', 'sum(', 'avg(', 'total(', 'min({0})', 'max({0})')) or \
        any(map(aggregates, node.parts))

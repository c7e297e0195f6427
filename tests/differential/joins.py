# SPDX-License-Identifier: MIT
"""Random queries that are joins above all: up to six tables and queries in
FROM, of which a table may be there twice, joined on keys of one type or of
two, on several keys, on bounds, on OR; by names; and with rows that there
must or must not be elsewhere."""
from .expressions import Scope
from .nodes import EMPTY, Node, listed, optional
from .queries import Made, Queries, conjuncts, renamed
from .tables import column_node

ROWS_MAX = 20000  # of a join, as it is guessed
WORDS = ('JOIN', 'JOIN', 'INNER JOIN', 'LEFT JOIN', 'LEFT JOIN', 'LEFT JOIN', 'RIGHT JOIN',
         'FULL JOIN')
FILTERS = ('SEMI JOIN', 'ANTI JOIN')  # which sqlite3 does not know
SMALL = 2**50  # numbers below can be DOUBLE and are still exact

# Keys of two types: {(type, type): what is equal there}.
MIXED = {
    'ID': '{0} = {1}', 'DF': '{0} = {1}', 'IF': '{0} = {1}',
    'IM': {'': '{0} = {1}', 'sqlite': '{0} * 100 = {1}'},
    'YW': {'': '{0} = {1}', 'sqlite': "({0} || ' 00:00:00') = {1}"},
}
# Keys of one type: {type: what is equal there}, besides {0} = {1}.
MADE = {
    'I': ('{0} + 1 = {1}', '{0} = abs({1})', '{0} % 5 = {1}', '{0} = {1} - {2}',
          '{0} + {2} = {1}', 'CAST({0} AS TEXT) = CAST({1} AS TEXT)'),
    'D': ('{0} = abs({1})', '{0} + 0.5 = {1}'),
    'T': ("{0} || 'a' = {1}", '{0} = trim({1})', '{0} || {2} = {1}',
          "replace({0}, CAST({2} AS TEXT), '') = {1}"),
    'M': ('{0} = abs({1})',), 'Y': (), 'W': (), 'B': (), 'F': (),
}


class Joins(Queries):
    """Makes queries of one seed over relations, with joins."""

    def __init__(self, rng, relations, peer='sqlite', share=0.0):
        super().__init__(rng, relations, peer, share)
        self.rows_max = self.product_max if share else ROWS_MAX

    # -------------------------------------------------------------- sources --

    def one_source(self, rows_max):
        """(node, columns, rows) of one thing of FROM."""
        if self.nesting < 2 and self.rng.random() < 0.15:
            made = self.nested(lambda: self.derived(rows_max))
            alias = self.alias()
            columns = [renamed(c, f'{alias}.{c.template}') for c in made.columns]
            return Node(f'({{0}}) AS {alias}', made.node, type='S'), columns, made.rows
        fitting = [r for r in self.relations if r.rows <= rows_max] or \
            [min(self.relations, key=lambda r: r.rows)]
        relation, alias = self.rng.choice(fitting), self.alias()
        columns = [renamed(c, f'{alias}.{c.template}') for c in relation.columns]
        return Node(f'{relation.name} AS {alias}', type='S'), columns, relation.rows

    def derived(self, rows_max):
        """A query whose rows are joined: groups, distinct rows, the first rows."""
        chance = self.rng.random()
        if chance < 0.3:
            return self.select(rows_max=rows_max)
        source, columns, rows = self.one_source(rows_max)
        chosen = self.rng.sample(columns, min(len(columns), self.rng.choice((1, 1, 2, 3))))
        if chance < 0.6:
            counted = Node('count(*)', type='I', bound=10**6)
            node = Node('SELECT {0} FROM {1} GROUP BY {2}', self.items([*chosen, counted]), source,
                        listed(chosen), type='Q')
            return Made(node, self.results([*chosen, counted]), rows)
        if chance < 0.8:
            node = Node('SELECT DISTINCT {0} FROM {1}', self.items(chosen), source, type='Q')
            return Made(node, self.results(chosen), rows)
        node = Node('SELECT {0} FROM {1}', self.items(columns), source, type='Q')
        terms = ', '.join(str(i + 1) for i in range(len(columns)))
        limit = self.rng.choice((0, 1, 3, 10))
        node = Node(f'{{0}} ORDER BY {terms} LIMIT {limit}', node, type='Q')
        return Made(node, self.results(columns), limit)

    def chain(self, count, rows_max):
        """(node, columns, rows) of several sources, each joined to those before."""
        node, columns, rows = self.one_source(rows_max)
        for _ in range(1, count):
            right, right_columns, right_rows = self.one_source(max(1, rows_max // max(1, rows)))
            if rows * right_rows > 4 * rows_max:
                break
            word = self.rng.choice(WORDS + FILTERS if self.peer == 'duckdb' else WORDS)
            on = self.condition(columns, right_columns, word)
            node = Node(f'{{0}} {word} {{1}} ON {{2}}', node, right, on, type='S')
            if word in FILTERS:
                continue
            columns = columns + right_columns
            rows = max(rows, right_rows, rows * right_rows // 3)
        return node, columns, rows

    def listed_tables(self, rows_max):
        """Tables between commas; WHERE joins them."""
        node, columns, rows = self.one_source(rows_max)
        terms = []
        for _ in range(self.rng.choice((1, 2, 2, 3))):
            right, right_columns, right_rows = self.one_source(max(1, rows_max // max(1, rows)))
            if rows * right_rows > 4 * rows_max:
                break
            if self.rng.random() < 0.9:
                terms.append(self.condition(columns, right_columns, ','))
            node = Node({'': '{0}, {1}', 'duckdb': '{0} CROSS JOIN {1}'}, node, right, type='S')
            columns = columns + right_columns
            rows = max(rows, right_rows, rows * right_rows // 3)
        return node, columns, rows, terms

    def by_names(self, rows_max):
        """(node, columns, rows) of tables with columns of the same names, or None."""
        tables = [r for r in self.relations if r.is_table]
        if len(tables) < 2:
            return None
        first = self.rng.choice(tables)
        alias = self.alias()
        node, rows = Node(f'{first.name} AS {alias}', type='S'), first.rows
        columns = [renamed(c, f'{alias}.{c.template}') for c in first.columns]
        for number in range(self.rng.choice((1, 2, 2, 3))):
            made = self.one_more(node, columns, rows, rows_max, number == 0)
            if made is None:
                break
            node, columns, rows = made
        return (node, columns, rows) if ' AS ' not in node.template else None

    def one_more(self, node, columns, rows, rows_max, first):
        """One more table by names. Only the first join may keep rows of the right:
        engines part about what its columns are then to the next."""
        second = self.rng.choice([r for r in self.relations if r.is_table])
        names = [c.template.split('.')[-1] for c in columns]
        both = [c.template for c in second.columns if c.template in names]
        if not both or rows * second.rows > rows_max \
                or any(names.count(name) > 1 for name in both):
            return None
        word, alias = self.rng.choice(WORDS if first else WORDS[:5]), self.alias()
        right = Node(f'{second.name} AS {alias}', type='S')
        if self.rng.random() < 0.5:
            joined = Node(f'{{0}} NATURAL {word} {{1}}', node, right, type='S')
        else:
            # A name alone must stay the name of one column.
            alone = [c.template for c in columns if c.template in both]
            both = alone + self.rng.sample([name for name in both if name not in alone],
                                           self.rng.randint(not alone, len(both) - len(alone)))
            joined = Node(f'{{0}} {word} {{1}} USING ({", ".join(both)})', node, right, type='S')
        kept = [column_node(name) for name in both]
        kept += [c for c in columns if c.template.split('.')[-1] not in both]
        kept += [renamed(c, f'{alias}.{c.template}') for c in second.columns
                 if c.template not in both]
        return joined, kept, max(rows, second.rows, rows * second.rows // 3)

    # ----------------------------------------------------------- conditions --

    def equality(self, left, right):
        """Something of one side equal to something of the other, or None."""
        sides = [left, right]
        self.rng.shuffle(sides)
        pairs = [(a, b) for a in sides[0] for b in sides[1]
                 if a.type == b.type or (a.type + b.type in MIXED
                                         and max(a.bound, b.bound) < SMALL)]
        if not pairs:
            return None
        a, b = self.rng.choice(pairs)
        if a.type != b.type:
            return Node(MIXED[a.type + b.type], a, b, type='B')
        templates = ['{0} = {1}']
        if MADE[a.type] and self.rng.random() < 0.2 and max(a.bound, b.bound) < SMALL:
            templates = MADE[a.type]
        elif self.rng.random() < 0.08:
            templates = [{'': '{0} IS NOT DISTINCT FROM {1}'}]
        third = [c for c in sides[0] if c.type == 'I' and c.bound < SMALL]
        template = self.rng.choice(templates)
        if '{2}' in template and not third:
            template = '{0} = {1}'
        return Node(template, a, b, self.rng.choice(third) if third else EMPTY, type='B')

    def test(self, side):
        """Something of one side alone."""
        a = self.rng.choice(side)
        b = self.rng.choice([c for c in side if c.type == a.type])
        return Node(self.rng.choice(('{0} <= {1}', '{0} <> {1}', '{0} > {1}')), a, b, type='B')

    def branches(self, left, right):
        """An OR of which each branch says something of both sides."""
        ways = [listed([self.test(left), self.test(right)], ' AND ')
                for _ in range(self.rng.choice((2, 2, 3)))]
        return Node('({0})', listed([Node('({0})', way) for way in ways], ' OR '))

    def condition(self, left, right, word):
        """What joins two sides: a list of terms."""
        terms = [self.equality(left, right)
                 for _ in range(self.rng.choice((0, 1, 1, 1, 1, 1, 2, 2, 3)))]
        terms = [t for t in terms if t is not None]
        chance = self.rng.random()
        if chance < 0.2:
            terms += self.bounds(left, right)
        elif chance < 0.3:
            ways = [t for t in (self.equality(left, right), self.equality(left, right),
                                *self.bounds(left, right)) if t is not None]
            if len(ways) > 1:
                terms.append(Node('({0})', listed(ways, ' OR ')))
        elif chance < 0.45:
            terms.append(self.branches(left, right))
        if not terms or self.rng.random() < 0.25:
            side = self.rng.choice((left, right, left + right))
            made = self.expressions.make('B', 2, self.below(Scope(side)))
            # sqlite3 3.40: a constant ON is taken for a WHERE of all joins.
            if all(part.uses_columns() for part in conjuncts(made)):
                terms.append(made)
        if word == 'FULL JOIN' and self.peer == 'duckdb':
            terms = terms[:1]
        if not terms:
            terms.append(Node('{0} IS NOT NULL', self.rng.choice(left), type='B'))
        return listed(terms, ' AND ')

    def elsewhere_rows(self, columns):
        """A condition on rows of other tables that belong to a row, or None."""
        # A name alone means a column of the tables there, if they have one.
        columns = [c for c in columns if '.' in c.template]
        return self.nested(lambda: self.elsewhere_term(columns)) if columns else None

    def elsewhere_term(self, columns):
        source, inner, _ = self.chain(self.rng.choice((1, 1, 1, 2)), 200)
        known = self.rng.random() < 0.7
        where = optional('WHERE {0}', self.condition(columns, inner, '')) if known else EMPTY
        form = self.rng.random()
        if form < 0.4 and known:
            word = self.rng.choice(('EXISTS', 'NOT EXISTS'))
            return Node(f'({word} (SELECT 1 FROM {{0}} {{1}}))', source, where, type='B')
        pairs = [(a, b) for a in columns for b in inner if a.type == b.type]
        if not pairs:
            return None
        word = self.rng.choice(('IN', 'NOT IN'))
        a, b = self.rng.choice(pairs)
        if form < 0.85:
            return Node(f'({{0}} {word} (SELECT {{1}} FROM {{2}} {{3}}))', a, b, source, where,
                        type='B')
        value = Node('(SELECT max({0}) FROM {1} {2})', b, source, where, type=b.type)
        return Node('({0} = {1})', a, value, type='B')

    # ---------------------------------------------------------------- query --

    def query(self):
        made = self.joined()
        return self.ordered(made) if self.rng.random() < 0.3 else made.node

    def from_where(self):
        """(node, columns, rows, terms of WHERE)"""
        form = self.rng.random()
        if form < 0.15:
            made = self.by_names(self.rows_max)
            if made is not None:
                return *made, []
        if form < 0.4:
            return self.listed_tables(self.rows_max)
        return *self.chain(self.rng.choice((1, 2, 2, 3, 3, 4, 5, 6)), self.rows_max), []

    def joined(self):
        source, columns, rows, terms = self.from_where()
        if self.rng.random() < 0.3:
            terms.append(self.expressions.make('B', 2, self.below(Scope(columns))))
        for _ in range(self.rng.choice((0, 0, 0, 1, 1, 2))):
            term = self.elsewhere_rows(columns)
            if term is not None:
                terms.append(term)
        where = optional('WHERE {0}', listed(terms, ' AND ')) if terms else EMPTY
        return self.results_of(source, self.below(Scope(columns)), where, rows)

    def results_of(self, source, scope, where, rows):
        form = self.rng.random()
        if form < 0.2:
            return self.totals(source, scope, where, None)
        if form < 0.4:
            return self.grouped(source, scope, where, None, rows)
        columns = scope.columns
        items = self.rng.sample(columns, min(len(columns), self.rng.randrange(1, 7)))
        if form > 0.9:
            items.append(self.elsewhere_rows(columns) or columns[0])
        word = 'SELECT DISTINCT' if form < 0.5 else 'SELECT'
        node = Node(f'{word} {{0}} FROM {{1}} {{2}}', self.items(items), source, where, type='Q')
        return Made(node, self.results(items), rows)

# SPDX-License-Identifier: MIT
"""Random typed expressions.

What engines are known to do differently is not made, or is written for each:

  both peers   integer overflow is an error in vdbq: magnitudes are kept small
               an integer beyond 2^53 beside a float: not made
               floats as text, or text that is no number as a number: not made
               sum and avg of floats whose sum is not exact: not made
  sqlite3      BOOLEAN is 0 or 1; DATE and TIMESTAMP are texts; DECIMAL is an integer
  duckdb       7 / 2 is 3.5: written //; x / 0.0 is infinite: nullif
               7 / 0 is an error: switched off
               LIKE minds case: written ILIKE; lower() knows all letters: not made
               least() passes over NULLs: not made; total() is missing: not made
               substr from 0 or from the end: not made; CAST to integer rounds: trunc
"""
from .nodes import Node, listed
from .tables import COLUMNS, literal, random_value

INTEGER_MAX = 2**61
EXACT_BITS = 50
SUM_ROWS = 2**16  # more rows than any query of ours adds up
COMPARISONS = ('=', '<>', '<', '<=', '>', '>=')


class Scope:
    """What an expression may use: columns, those of the queries around it,
    aggregates over `inner`, and subqueries by `queries`."""

    def __init__(self, columns, outer=(), inner=None, queries=None):
        self.columns, self.outer, self.inner, self.queries = columns, outer, inner, queries

    def of_type(self, kind):
        return [c for c in self.columns if c.type == kind], [c for c in self.outer
                                                             if c.type == kind]


def constant(rng, kind):
    """A literal of a type."""
    if kind == 'I':
        value = rng.choice((0, 1, 2, 3, 5, 10, -1, -2, 64, 100))
        return Node(str(value), type='I', bound=abs(value) + 1)
    if kind in 'DF':
        value = rng.choice((0.0, 0.5, 1.0, 1.5, -2.25, 10.0, 3.0, 0.125 if kind == 'D' else 0.25))
        text = {'': repr(value) if kind == 'D' else f'CAST({value!r} AS FLOAT)',
                'sqlite': repr(value),
                'duckdb': f'CAST({value!r} AS {"DOUBLE" if kind == "D" else "FLOAT"})'}
        return Node(text, type=kind, bound=abs(value) + 1, grain=3)
    name = rng.choice([c for c in COLUMNS if COLUMNS[c][0] == kind])
    value = random_value(rng, name)
    texts = {d: literal(kind, value, d) for d in ('', 'sqlite', 'duckdb')}
    if kind == 'M':  # 0.01 alone is a DOUBLE
        texts = {d: text if d == 'sqlite' else f'CAST({text} AS DECIMAL(9,2))'
                 for d, text in texts.items()}
    return Node(texts, type=kind, bound=COLUMNS[name][2], grain=0)


class Expressions:
    """Makes expressions of one seed for one peer."""

    def __init__(self, rng, peer='sqlite', share=0.0):
        self.rng, self.peer, self.share = rng, peer, share
        self.makers = {kind: [getattr(self, name) for name in names] for kind, names in {
            'I': ('add', 'add', 'multiply', 'divide', 'remainder', 'negative', 'absolute',
                  'length', 'truncated', 'tried', 'extreme', 'truth_number', 'days', 'year',
                  'position', 'sign', 'bits'),
            'D': ('add', 'multiply', 'divide', 'negative', 'absolute', 'widened', 'rounded',
                  'widened_float', 'extreme', 'mixed'),
            'F': ('negative', 'float_sum'),
            'T': ('joined', 'folded', 'part', 'replaced', 'trimmed', 'number_text', 'extreme',
                  'newer'),
            'B': (*('compared',) * 6, *('logical',) * 4, 'opposite', 'null_test', 'between',
                  'among', 'rows', 'rows', 'like', 'same', 'exists', 'in_query',
                  'holds'),
            'Y': ('moved', 'extreme', 'months'), 'W': ('extreme',),
            'M': ('add', 'negative', 'decimal_times'),
        }.items()}

    # -------------------------------------------------------------- entry --

    def make(self, kind, depth, scope):
        """An expression of a type over a scope."""
        if self.share and scope.queries is not None \
                and self.rng.random() < self.share / (1 + 2 * scope.queries.nesting):
            made = scope.queries.subquery(kind, scope)
            if made is not None:
                return made
        if depth <= 0 or self.rng.random() < 0.15:
            return self.leaf(kind, scope, depth)
        if self.rng.random() < 0.2:
            return self.anything(kind, depth - 1, scope)
        for _ in range(4):
            made = self.rng.choice(self.makers[kind])(kind, depth - 1, scope)
            if made is not None:
                return made
        return self.leaf(kind, scope, depth)

    def leaf(self, kind, scope, depth=0):
        if scope.inner is not None and self.rng.random() < 0.6:
            made = self.aggregate(kind, scope.inner, min(depth, 1))
            if made is not None:
                return made
        inner, outer = scope.of_type(kind)
        if outer and self.rng.random() < 0.4:
            return self.rng.choice(outer)
        if inner and self.rng.random() < 0.85:
            return self.rng.choice(inner)
        if outer and self.rng.random() < 0.3:
            return self.rng.choice(outer)
        return constant(self.rng, kind)

    def some_type(self, scope, kinds='IIIDDFTTTBYWM'):
        """A type that the scope has a column of, as a rule."""
        if scope.columns and self.rng.random() < 0.85:
            kind = self.rng.choice(scope.columns).type
            if kind in kinds:
                return kind
        return self.rng.choice(kinds)

    def two(self, kind, depth, scope):
        return self.make(kind, depth, scope), self.make(kind, depth, scope)

    def like_first(self, template, nodes, kind):
        """An expression that gives one of the nodes."""
        grains = [n.grain for n in nodes]
        return Node(template, *nodes, type=kind, bound=max(n.bound for n in nodes),
                    grain=None if None in grains else max(grains))

    # ----------------------------------------------------------- any type --

    def anything(self, kind, depth, scope):
        """CASE, COALESCE and others, which there are for every type."""
        what = self.rng.randrange(7)
        if what == 0 and scope.queries is not None and kind != 'F':
            made = scope.queries.scalar(kind, scope)
            if made is not None:
                return made
        if what <= 2:
            return self.case(kind, depth, scope)
        if what == 3:
            return self.simple_case(kind, depth, scope)
        a, b = self.two(kind, depth, scope)
        if what == 4:
            word = self.rng.choice(('COALESCE', 'IFNULL'))
            return self.like_first({'': word + '({0}, {1})', 'duckdb': 'coalesce({0}, {1})'},
                                   (a, b), kind)
        if what == 5:
            return self.like_first('NULLIF({0}, {1})', (a, b), kind)
        test = self.make('B', depth, scope)
        made = self.like_first({'': 'IIF({0}, {1}, {2})',
                                'duckdb': 'CASE WHEN {0} THEN {1} ELSE {2} END'},
                               (test, a, b), kind)
        made.bound = max(a.bound, b.bound)
        return made

    def case(self, kind, depth, scope):
        whens = [(self.make('B', depth, scope), self.make(kind, depth, scope))
                 for _ in range(self.rng.randrange(1, 3))]
        otherwise = [self.make(kind, depth, scope)] * (self.rng.random() < 0.7)
        nodes = [n for pair in whens for n in pair] + otherwise
        template = 'CASE' + ''.join(f' WHEN {{{2 * i}}} THEN {{{2 * i + 1}}}'
                                    for i in range(len(whens)))
        template += f' ELSE {{{2 * len(whens)}}} END' if otherwise else ' END'
        return self.like_first(template, nodes, kind)

    def simple_case(self, kind, depth, scope):
        other = self.some_type(scope, 'IDTBYW')
        nodes = [self.make(other, depth, scope), self.make(other, 0, scope),
                 self.make(kind, depth, scope), self.make(kind, depth, scope)]
        if other in 'ID' and max(nodes[0].bound, nodes[1].bound) > 2**53:
            return nodes[2]
        made = self.like_first('CASE {0} WHEN {1} THEN {2} ELSE {3} END', nodes, kind)
        made.bound = max(nodes[2].bound, nodes[3].bound)
        return made

    # ------------------------------------------------------------ numbers --

    def number(self, template, kind, bound, grain, *parts):
        """A node, or None where the number might grow too large."""
        if bound > (INTEGER_MAX if kind == 'I' else 10**13 if kind == 'M' else 1e30):
            return None
        if kind == 'D' and grain is not None and bound.bit_length() + grain > EXACT_BITS \
                if isinstance(bound, int) else False:
            grain = None
        if grain is not None and kind == 'D' and (bound * 2.0 ** grain) > 2.0 ** EXACT_BITS:
            grain = None
        return Node(template, *parts, type=kind, bound=bound, grain=grain)

    @staticmethod
    def finer(a, b):
        return None if a.grain is None or b.grain is None else max(a.grain, b.grain)

    def add(self, kind, depth, scope):
        a, b = self.two(kind, depth, scope)
        sign = self.rng.choice('+-')
        return self.number(f'({{0}} {sign} {{1}})', kind, a.bound + b.bound, self.finer(a, b), a, b)

    def multiply(self, kind, depth, scope):
        a, b = self.two(kind, depth, scope)
        grain = None if None in (a.grain, b.grain) else a.grain + b.grain
        return self.number('({0} * {1})', kind, a.bound * b.bound, grain, a, b)

    def divide(self, kind, depth, scope):
        a, b = self.two(kind, depth, scope)
        if kind == 'I':
            return self.number({'': '({0} / {1})', 'duckdb': '({0} // {1})'}, kind, a.bound, 0,
                               a, b)
        return self.number({'': '({0} / {1})', 'duckdb': '({0} / nullif({1}, 0))'}, kind,
                           a.bound * 2**20, None, a, b) if b.grain is not None else None

    def remainder(self, kind, depth, scope):
        a, b = self.two(kind, depth, scope)
        return self.number('({0} % {1})', kind, a.bound, 0, a, b)

    def negative(self, kind, depth, scope):
        a = self.make(kind, depth, scope)
        return self.number('(- {0})', kind, a.bound, a.grain, a)

    def absolute(self, kind, depth, scope):
        a = self.make(kind, depth, scope)
        return self.number('abs({0})', kind, a.bound, a.grain, a)

    def sign(self, kind, depth, scope):
        a = self.make('I', depth, scope)
        return self.number('sign({0})', kind, 1, 0, a) if a.bound < 2**53 else None

    def bits(self, kind, depth, scope):
        a, b = self.make('I', depth, scope), self.make('I', 0, scope)
        if self.peer == 'duckdb' or self.rng.random() < 0.6:
            word = self.rng.choice('&|')
            return self.number(f'({{0}} {word} {{1}})', kind, 2 * max(a.bound, b.bound), 0, a, b)
        if self.rng.random() < 0.3:
            return self.number('(~{0})', kind, a.bound + 1, 0, a)
        return self.number('({0} >> ({1} & 63))', kind, a.bound, 0, a, b)

    def length(self, kind, depth, scope):
        return Node('length({0})', self.make('T', depth, scope), type='I', bound=1000)

    def position(self, kind, depth, scope):
        text = self.rng.choice((
            'instr({0}, {1})', {'': 'position(({1}) IN {0})', 'sqlite': 'instr({0}, {1})'}))
        return Node(text, *self.two('T', depth, scope), type='I', bound=1000)

    def truncated(self, kind, depth, scope):
        a = self.make('D', depth, scope)
        if a.bound > 2**50:
            return None
        return Node({'': 'CAST({0} AS BIGINT)', 'duckdb': 'CAST(trunc({0}) AS BIGINT)'}, a,
                    type='I', bound=int(a.bound) + 1)

    def tried(self, kind, depth, scope):
        a = self.make(self.rng.choice('IT'), depth, scope)
        return Node('TRY_CAST({0} AS SMALLINT)', a, type='I', bound=2**15) \
            if self.peer == 'duckdb' else None

    def widened(self, kind, depth, scope):
        a = self.make('I', depth, scope)
        if a.bound > 2**50:
            return None
        return self.number({'': 'CAST({0} AS DOUBLE)', 'sqlite': 'CAST({0} AS REAL)'}, 'D',
                           a.bound, 0, a)

    def mixed(self, kind, depth, scope):
        a, b = self.make('I', depth, scope), self.make('D', depth, scope)
        if a.bound > 2**50:
            return None
        return self.number('({0} + {1})', 'D', a.bound + b.bound, b.grain, a, b)

    def widened_float(self, kind, depth, scope):
        a = self.make('F', depth, scope)
        return self.number({'': 'CAST({0} AS DOUBLE)', 'sqlite': '{0}'}, 'D', a.bound, a.grain, a)

    def float_sum(self, kind, depth, scope):
        a, b = self.make('F', 0, scope), self.make('F', 0, scope)
        return Node('({0} + {1})', a, b, type='F', bound=a.bound + b.bound, grain=3) \
            if a.bound + b.bound < 2**12 else None

    def rounded(self, kind, depth, scope):
        a = self.make('D', depth, scope)
        word = self.rng.choice(('floor', 'ceil', 'round'))
        if a.bound > 2**50 or (word == 'round' and a.grain is None):
            return None
        return self.number(f'{word}({{0}})', 'D', a.bound + 1, 0, a)

    def extreme(self, kind, depth, scope):
        a, b = self.two(kind, depth, scope)
        if self.peer == 'duckdb':
            return None
        word = self.rng.choice(('min', 'max'))
        return self.like_first(f'{word}({{0}}, {{1}})', (a, b), kind)

    def truth_number(self, kind, depth, scope):
        return Node('CAST({0} AS INTEGER)', self.make('B', depth, scope), type='I', bound=1)

    def days(self, kind, depth, scope):
        a, b = self.two('Y', 0, scope)
        return Node({'': '({0} - {1})', 'duckdb': "date_diff('day', {1}, {0})",
                     'sqlite': 'CAST(julianday({0}) - julianday({1}) AS INTEGER)'}, a, b,
                    type='I', bound=10**7)

    def year(self, kind, depth, scope):
        part, letter = self.rng.choice((('YEAR', 'Y'), ('MONTH', 'm'), ('DAY', 'd')))
        a = self.make(self.rng.choice('YW'), 0, scope)
        return Node({'': f'EXTRACT({part} FROM {{0}})',
                     'sqlite': f"CAST(strftime('%{letter}', {{0}}) AS INTEGER)"}, a,
                    type='I', bound=10**4)

    def decimal_times(self, kind, depth, scope):
        a, b = self.make('M', depth, scope), self.make('I', 0, scope)
        return self.number('({0} * {1})', 'M', a.bound * b.bound, 0, a, b) \
            if b.bound < 1000 else None

    # --------------------------------------------------------------- text --

    def joined(self, kind, depth, scope):
        return Node('({0} || {1})', *self.two('T', min(depth, 1), scope), type='T')

    def folded(self, kind, depth, scope):
        word = self.rng.choice(('lower', 'upper'))
        return None if self.peer == 'duckdb' else \
            Node(f'{word}({{0}})', self.make('T', depth, scope), type='T')

    def part(self, kind, depth, scope):
        a = self.make('T', depth, scope)
        from_first = self.peer == 'duckdb'
        start = self.rng.randrange(1 if from_first else -4, 5)
        size = f', {self.rng.randrange(0 if from_first else -2, 4)}' * (self.rng.random() < 0.7)
        return Node(f'substr({{0}}, {start}{size})', a, type='T')

    def replaced(self, kind, depth, scope):
        a, b = self.two('T', 0, scope)
        return Node('replace({0}, {1}, {2})', self.make('T', min(depth, 1), scope),
                    Node("'a'", type='T'), b, type='T') if a else None

    def trimmed(self, kind, depth, scope):
        word = self.rng.choice(('trim', 'ltrim', 'rtrim'))
        chars = self.rng.choice(('', ", 'a'", ", 'ab'"))
        return Node(f'{word}({{0}}{chars})', self.make('T', depth, scope), type='T')

    def number_text(self, kind, depth, scope):
        return Node('CAST({0} AS TEXT)', self.make('I', depth, scope), type='T')

    def newer(self, kind, depth, scope):
        """Functions that sqlite3 3.40 has not."""
        form = self.rng.choice(('reverse({{0}})', 'left({{0}}, {n})', 'right({{0}}, {n})',
                                'repeat({{0}}, {n})', "lpad({{0}}, {n}, 'xy')",
                                "rpad({{0}}, {n}, 'z')", "split_part({{0}}, 'a', {m})"))
        if self.peer == 'sqlite':
            return None
        n = self.rng.randrange(4)
        return Node(form.format(n=n, m=n + 1), self.make('T', min(depth, 1), scope), type='T')

    def holds(self, kind, depth, scope):
        if self.peer == 'sqlite':
            return None
        word = self.rng.choice(('starts_with', 'ends_with', 'contains'))
        return Node(f'{word}({{0}}, {{1}})', *self.two('T', min(depth, 1), scope), type='B',
                    bound=1)

    # -------------------------------------------------------------- dates --

    def moved(self, kind, depth, scope):
        columns = [c for c in scope.columns if c.type == 'Y']
        if not columns:
            return None
        days = self.rng.randrange(-400, 400)
        return Node({'': f'({{0}} + {days})', 'sqlite': f"date({{0}}, '{days} days')",
                     'duckdb': f'CAST({{0}} + {days} AS DATE)'},
                    Node('nullif(nullif({0}, {1}), {2})', self.rng.choice(columns),
                         self.day('0001-01-01'), self.day('9999-12-31'), type='Y'), type='Y')

    def months(self, kind, depth, scope):
        """A date some months or years away, on that month's last day at most."""
        columns = [c for c in scope.columns if c.type == 'Y']
        if self.peer == 'sqlite' or not columns:
            return None
        unit = self.rng.choice(('MONTH', 'YEAR', 'DAY'))
        sign, count = self.rng.choice('+-'), self.rng.randrange(30)
        inner = Node('nullif(nullif({0}, {1}), {2})', self.rng.choice(columns),
                     self.day('0001-01-01'), self.day('9999-12-31'), type='Y')
        text = f"{{0}} {sign} INTERVAL '{count}' {unit}"
        return Node({'': f'({text})', 'duckdb': f'CAST({text} AS DATE)'}, inner, type='Y')

    @staticmethod
    def day(text):
        return Node({d: literal('Y', text, d) for d in ('', 'sqlite', 'duckdb')}, type='Y')

    # -------------------------------------------------------------- truth --

    def comparable(self, depth, scope, count=2):
        """Expressions of one type that may be compared."""
        kind = self.some_type(scope)
        nodes = [self.make(kind, depth if i == 0 else min(depth, 1), scope) for i in range(count)]
        if kind == 'I' and self.rng.random() < 0.15 and nodes[0].bound < 2**50:
            nodes[1] = self.make('D', min(depth, 1), scope)
        return nodes

    def compared(self, kind, depth, scope):
        return Node(f'({{0}} {self.rng.choice(COMPARISONS)} {{1}})',
                    *self.comparable(depth, scope), type='B', bound=1)

    def same(self, kind, depth, scope):
        word = self.rng.choice(('IS DISTINCT FROM', 'IS NOT DISTINCT FROM', 'IS', 'IS NOT'))
        duck = {'IS': 'IS NOT DISTINCT FROM', 'IS NOT': 'IS DISTINCT FROM'}.get(word, word)
        return Node({'': f'({{0}} {word} {{1}})', 'duckdb': f'({{0}} {duck} {{1}})'},
                    *self.comparable(depth, scope), type='B', bound=1)

    def logical(self, kind, depth, scope):
        word = self.rng.choice(('AND', 'OR'))
        return Node(f'({{0}} {word} {{1}})', *self.two('B', depth, scope), type='B', bound=1)

    def opposite(self, kind, depth, scope):
        return Node('(NOT {0})', self.make('B', depth, scope), type='B', bound=1)

    def null_test(self, kind, depth, scope):
        a = self.make(self.some_type(scope), depth, scope)
        word = self.rng.choice(('IS NULL', 'IS NOT NULL', 'ISNULL', 'NOTNULL'))
        return Node(f'({{0}} {word})', a, type='B', bound=1)

    def between(self, kind, depth, scope):
        word = self.rng.choice(('BETWEEN', 'NOT BETWEEN'))
        return Node(f'({{0}} {word} {{1}} AND {{2}})', *self.comparable(depth, scope, 3),
                    type='B', bound=1)

    def among(self, kind, depth, scope):
        word = self.rng.choice(('IN', 'NOT IN'))
        kind = self.some_type(scope)
        first = self.make(kind, depth, scope)
        items = [constant(self.rng, kind) if self.rng.random() < 0.8 else self.make(kind, 0, scope)
                 for _ in range(self.rng.randrange(1, 5))]
        if self.rng.random() < 0.15 or len(items) == 1:
            items.append(Node('NULL'))  # to older versions of sqlite3 a query alone is no list
        return Node(f'({{0}} {word} ({{1}}))', first, listed(items), type='B', bound=1)

    def rows(self, kind, depth, scope):
        """Rows of values that are compared. DuckDB orders what is NULL in a row."""
        if self.peer != 'sqlite':
            return None
        kinds = [self.some_type(scope, 'IDTYB') for _ in range(self.rng.choice((2, 2, 2, 3)))]

        def row(depth, scope=scope):
            return Node('({0})', listed([self.make(kind, depth, scope) for kind in kinds]))
        form = self.rng.choice((*'= <> < <= > >='.split(), 'IS', 'IS NOT', 'between', 'in', 'in',
                                'values', 'case', 'query'))
        word = self.rng.choice(('', 'NOT '))
        if form == 'query':
            return scope.queries and scope.queries.among_rows(row(0), kinds, scope)
        if form == 'between':
            return Node(f'({{0}} {word}BETWEEN {{1}} AND {{2}})', row(0), row(0), row(0), type='B',
                        bound=1)
        if form in ('in', 'values'):
            inside = Scope(scope.columns, scope.outer, queries=scope.queries)  # no aggregates
            rows = listed([row(0, inside) for _ in range(self.rng.randrange(1, 5))])
            return Node(f"({{0}} {word}IN (VALUES {{1}}))", row(0), rows, type='B', bound=1)
        if form == 'case':
            return Node('(CASE {0} WHEN {1} THEN 1 = 1 WHEN {2} THEN 1 = 0 END)', row(0), row(0),
                        row(0), type='B', bound=1)
        return Node(f'({{0}} {form} {{1}})', row(depth), row(0), type='B', bound=1)

    def like(self, kind, depth, scope):
        pattern = self.rng.choice(('a%', '%a', '%b%', '_', '__', 'a_', '%', '', 'A%', '_b%', 'ab',
                                   '%a_%', 'a%b'))
        word = self.rng.choice(('LIKE', 'NOT LIKE'))
        return Node({'': f"({{0}} {word} '{pattern}')",
                     'duckdb': f"({{0}} {word.replace('LIKE', 'ILIKE')} '{pattern}')"},
                    self.make('T', depth, scope), type='B', bound=1)

    def exists(self, kind, depth, scope):
        return scope.queries.exists(scope) if scope.queries is not None else None

    def in_query(self, kind, depth, scope):
        if scope.queries is None:
            return None
        other = self.some_type(scope, 'IDTYB')
        return scope.queries.among(self.make(other, min(depth, 1), scope), other, scope)

    # --------------------------------------------------------- aggregates --

    def aggregate(self, kind, inner, depth=1):
        """An aggregate with a value of that type, or None."""
        makers = {'I': (self.counted, self.counted, self.summed, self.least), 'D': (
            self.average, self.summed, self.least), 'M': (self.summed, self.least)}
        made = self.rng.choice(makers.get(kind, (self.least,)))(kind, inner, depth)
        if made is not None and self.rng.random() < 0.2:
            made = Node('{0} FILTER (WHERE {1})', made, self.make('B', 1, inner), type=kind,
                        bound=made.bound, grain=made.grain)
        return made

    def distinct(self, share=0.25):
        return 'DISTINCT ' if self.rng.random() < share else ''

    def counted(self, kind, inner, depth):
        if self.rng.random() < 0.4:
            return Node('count(*)', type='I', bound=SUM_ROWS)
        a = self.make(self.some_type(inner), depth, inner)
        return Node(f'count({self.distinct(0.4)}{{0}})', a, type='I', bound=SUM_ROWS)

    def summed(self, kind, inner, depth):
        a = self.make(kind, depth, inner)
        bound = a.bound * SUM_ROWS
        if bound > (10**13 if kind == 'M' else 2**61) or not exactly_added(a):
            return None
        return Node(f'sum({self.distinct(0.15)}{{0}})', a, type=kind, bound=bound, grain=a.grain)

    def spread(self, inner, depth):
        a = self.make('I', depth, inner)
        word = self.rng.choice(('var_pop', 'var_samp', 'stddev_pop', 'stddev_samp'))
        return Node(f'{word}({{0}})', a, type='D', bound=a.bound ** 2, grain=None) \
            if a.bound < 2**10 else None

    def average(self, kind, inner, depth):
        if self.peer == 'duckdb' and self.rng.random() < 0.3:
            return self.spread(inner, depth)
        a = self.make(self.rng.choice('ID'), depth, inner)
        if a.bound > 2**30 or not exactly_added(a):
            return None
        if self.rng.random() < 0.25 and self.peer != 'duckdb':
            return Node('total({0})', a, type='D', bound=a.bound * SUM_ROWS, grain=a.grain)
        return Node(f'avg({self.distinct(0.15)}{{0}})', a, type='D', bound=a.bound, grain=None)

    def least(self, kind, inner, depth):
        a = self.make(kind, depth, inner)
        if kind == 'T' and self.peer == 'duckdb' and self.rng.random() < 0.4:
            word = self.rng.choice(('', 'DISTINCT '))
            return Node(f"string_agg({word}{{0}}, ',' ORDER BY {{0}} DESC)", a, type='T',
                        bound=a.bound)
        return Node(f'{self.rng.choice(("min", "max"))}({{0}})', a, type=kind, bound=a.bound,
                    grain=a.grain)


def exactly_added(node):
    """Whether a sum of it is the same in every order."""
    if node.type not in 'DF':
        return True
    return node.grain is not None and node.bound * SUM_ROWS * 2.0 ** node.grain < 2.0 ** 52

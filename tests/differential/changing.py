# SPDX-License-Identifier: MIT
"""Random statements that change a database, and queries between them.

What sqlite3 does otherwise is written otherwise for it: the bounds of an
INTEGER are a CHECK there, an UPDATE of a unique column is a DELETE and an
INSERT (keys may change places here), CREATE TABLE AS gives its columns types.
Where it hangs on the order of rows which of two stays, the rows have one.
"""
from .expressions import Scope
from .history import PARTS
from .nodes import EMPTY, Node, is_ordered, listed, optional, result_types
from .queries import Queries, Relation
from .tables import COLUMNS, SQLITE_TYPES, literal, random_value

KEY_BOUND = 10**6
ROWS_MANY = 140     # of a table: then rows are deleted rather than added
TEXT_MOST = 60      # characters of a text that is made of texts
CHECKS = {'INTEGER': '{0} BETWEEN -2147483648 AND 2147483647',
          'SMALLINT': '{0} BETWEEN -32768 AND 32767',
          'BIGINT': "typeof({0}) IN ('integer', 'null')"}
TOO_LARGE = {'INTEGER': ('2147483648', '-2147483649'), 'SMALLINT': ('32768', '-99999'),
             'BIGINT': ('9223372036854775808',)}
SPECIAL = ('', ' ', 'NULL', "it's", 'ä', 'Ä', 'ß', 'äö', '日本語', '日本',
           '😀', '😀😀', '\u0301', 'zz', 'z', '\x7f', '10', '9', 'A', 'a', '%', '_')


def column_node(name, qualifier=''):
    """A column; keys grow larger here than tables.py has them."""
    kind, _, bound = COLUMNS[name]
    text = f'{qualifier}.{name}' if qualifier else name
    return Node(text, type=kind, bound=KEY_BOUND if name == 'p' else bound,
                grain={'d': 3, 'f': 2}.get(name, 0), column=True)


class Keys(tuple):
    """The columns that a unique index of expressions or of some rows reads."""

    def __new__(cls, columns, target):
        made = super().__new__(cls, columns)
        made.target = target  # as CREATE INDEX and ON CONFLICT write it
        return made


# What indexes are of that both compute alike, by the columns that are read: keys and
# conditions.
TERMS = {'p': ('p / 2', 'p'), 'k': ('k * 3 + 1', 'k'), 'i': ('abs(i)', 'i % 20'),
         'z': ('z + 1',), 'b': ('b % 100', '-b'), 's': ("s || 'x'", 'substr(s, 1, 2)', 's'),
         't': ('length(t)', 't'), 'ki': ('k + i', 'k * 1000 + i'), 'sk': ("s || ':' || k",)}
WHERES = {'p': ('p > 5',), 'k': ('k > 3', 'k IS NOT NULL', 'k IN (1, 2, 5)'), 'i': ('i < 10',),
          'e': ('e IS NOT NULL',), 'b': ('b > 100',), 's': ("s >= 'a'", "s <> 'b'"),
          'x': ('x > 0',), 'd': ('d > 0',)}


# Conditions of CHECKs, which few rows break, by the columns that they read.
RULES = (('k', 'k <> 5'), ('i', 'i % 31 <> 7'), ('e', 'e % 37 <> 1 OR e IS NULL'),
         ('b', 'b % 23 <> 4'), ('x', 'x % 29 <> 3'), ('d', 'd < 900'), ('s', "s <> 'b'"),
         ('t', 'length(t) <> 3'), ('ki', 'k <> i'), ('sk', "s <> 'z' OR k > 2"))

# Columns of one type, by names that say the same of their values, or less.
OTHER_NAMES = {'k': 'ie', 'i': 'e', 'b': 'x', 's': 't', 't': 's'}


class Shape:
    """What a table is; never changed, but made anew."""

    def __init__(self, name, columns, unique=(), key=(), needed=(), defaults=(),
                 checks=()):
        self.name, self.columns = name, columns
        self.unique = unique        # tuples of columns; Keys
        self.key = key              # the primary key's, of at most one column
        self.needed = needed        # the columns that are NOT NULL
        self.defaults = dict(defaults)
        self.checks = checks        # of RULES

    def indexed(self, unique):
        return Shape(self.name, self.columns, unique, self.key, self.needed, self.defaults,
                     self.checks)

    def nodes(self):
        return [column_node(c) for c in self.columns]

    def added(self, column, default):
        return Shape(self.name, (*self.columns, column), self.unique, self.key, self.needed,
                     {**self.defaults, **({column: default} if default is not None else {})},
                     self.checks)

    def dropped(self, column):
        return Shape(self.name, tuple(c for c in self.columns if c != column), self.unique,
                     self.key, tuple(c for c in self.needed if c != column),
                     {c: value for c, value in self.defaults.items() if c != column},
                     self.checks)

    def renamed(self, name):
        return Shape(name, self.columns, self.unique, self.key, self.needed, self.defaults,
                     self.checks)

    def recalled(self, column, to):
        """With a column of another name; no Keys read it."""
        def other(names):
            return tuple(to if c == column else c for c in names)
        unique = tuple(columns if isinstance(columns, Keys) else other(columns)
                       for columns in self.unique)
        return Shape(self.name, other(self.columns), unique, self.key, other(self.needed),
                     {to if c == column else c: value for c, value in self.defaults.items()},
                     self.checks)

    def keyed(self):
        """The columns of which no two rows may have the same."""
        return {c for columns in (*self.unique, self.key) for c in columns}

    def create(self, dialect):
        return f'CREATE TABLE {self.name} ({self.body(dialect)})'

    def body(self, dialect):
        parts = [self.column(c, dialect) for c in self.columns]
        parts += [f'UNIQUE ({", ".join(columns)})' for columns in self.unique
                  if not isinstance(columns, Keys)]
        parts += [f'CHECK ({condition})' for _, condition in self.checks]
        return ', '.join(parts)

    def column(self, name, dialect):
        kind, type_name, _ = COLUMNS[name]
        made = f'{name} {type_name}'
        if dialect == 'sqlite':
            made = f'{name} {SQLITE_TYPES.get(type_name, type_name)}'
            if type_name in CHECKS:
                made += f' CHECK ({CHECKS[type_name].format(name)})'
        if name in self.key:
            made += ' NOT NULL UNIQUE' if dialect == 'sqlite' else ' PRIMARY KEY'
        elif name in self.needed:
            made += ' NOT NULL'
        if name in self.defaults:
            made += f' DEFAULT {literal(kind, self.defaults[name], dialect)}'
        return made


def made_key(shape):
    """The primary key, if INSERT makes it where rows do not say it."""
    return next((c for c in shape.key if COLUMNS[c][0] == 'I' and c not in shape.defaults), None)


def next_key(shape, key, place):
    """The key that the row at that place gets."""
    return f'(SELECT coalesce(max({key}), 0) FROM {shape.name}) + {place}'


class Update(Node):
    """UPDATE: of keys, sqlite3 takes the rows out and puts them in again, so that all see
    the rows as they were and are judged as they are in the end."""
    __slots__ = ('shape',)

    def __init__(self, shape, sets, where):
        super().__init__('UPDATE', sets, where)
        self.shape = shape

    def with_parts(self, parts):
        return Update(self.shape, *parts)

    def sql(self, dialect):
        sets, where = self.parts
        made = {s.template.split(' = ')[0]: s for s in sets.parts}
        name = self.shape.name
        if dialect != 'sqlite' or not set(made) & self.shape.keyed():
            return f'UPDATE {name} SET {sets.sql(dialect)} {where.sql(dialect)}'
        values = [made[c].sql(dialect).split(' = ', 1)[1] if c in made else c
                  for c in self.shape.columns]
        return PARTS.join((
            f'CREATE TEMP TABLE moved AS SELECT rowid AS r, {", ".join(values)} FROM {name} '
            + where.sql(dialect),
            f'DELETE FROM {name} WHERE rowid IN (SELECT r FROM temp.moved)',
            f'INSERT INTO {name} (rowid, {", ".join(self.shape.columns)}) '
            'SELECT * FROM temp.moved', 'DROP TABLE temp.moved'))


TEMPORARY = 'm'  # what names of temporary tables begin with


class Schema:
    """Tables and views by name, indexes by name with (table, columns or None)."""

    def __init__(self, tables=None, views=None, indexes=None):
        self.tables, self.views, self.indexes = tables or {}, views or {}, indexes or {}

    def copy(self):
        return Schema(dict(self.tables), dict(self.views), dict(self.indexes))

    def kept(self):
        """What stays when its connection is closed where all views are temporary."""
        return Schema({name: shape for name, shape in self.tables.items()
                       if name[0] != TEMPORARY}, {},
                      {name: about for name, about in self.indexes.items()
                       if about[0][0] != TEMPORARY})


class Values:
    """Values of one history: its texts are few, many, or all different."""

    def __init__(self, rng):
        self.rng, self.last = rng, rng.randrange(1000)
        stem = rng.choice(('w', 'word', 'Wort-ä', '日', ''))
        self.words = [f'{stem}{i}' for i in range(rng.choice((2, 5, 30, 200)))]

    def fresh(self):
        """A key that no row has yet, as a rule."""
        self.last += self.rng.choice((1, 1, 1, 2, 30))
        return self.last

    def text(self):
        share = self.rng.random()
        if share < 0.5:
            return self.rng.choice(self.words)
        if share < 0.65:
            return f'{self.fresh()}{self.rng.choice(self.words)}'
        if share < 0.72:
            return self.rng.choice(('x', 'bc', 'ü', '😀')) * self.rng.randrange(20, 400)
        return self.rng.choice(SPECIAL) if share < 0.9 else random_value(self.rng, 't')

    def value(self, name, shape):
        """A value of a column, None for NULL."""
        rng = self.rng
        must = name in shape.needed or name in shape.key
        if rng.random() < (0.004 if must else 0.12):
            return None
        if name == 'p':
            return self.fresh() if rng.random() < 0.9 else rng.randrange(1, self.last + 2)
        if COLUMNS[name][0] == 'T':
            return self.text()
        return random_value(rng, name)


class Changes:
    """Statements over a schema. `count` gives the rows of a table or view."""

    def __init__(self, rng, values, schema, count):
        self.rng, self.values, self.schema, self.count = rng, values, schema, count

    # --------------------------------------------------------------- pieces --

    def table(self):
        return self.rng.choice(list(self.schema.tables.values()))

    def relations(self, without=None):
        made = [Relation(s.name, s.nodes(), self.count(s.name))
                for s in self.schema.tables.values() if s.name != without]
        if without is None:
            made += [Relation(name, columns, self.count(name), False)
                     for name, columns in self.schema.views.items()]
        return made

    def scope(self, shape):
        """The table's columns; subqueries are over the others, for its own rows change."""
        others = self.relations(shape.name) if self.rng.random() < 0.3 else ()
        return Scope(shape.nodes(), queries=Queries(self.rng, others) if others else None)

    def where(self, shape, scope):
        chance = self.rng.random()
        words = [c for c in shape.columns if COLUMNS[c][0] == 'T']
        if chance < 0.3 and words:
            return optional('WHERE {0}', self.about_text(self.rng.choice(words)))
        if chance < 0.55 and 'p' in shape.columns:
            low = self.rng.randrange(self.values.last + 1)
            text = self.rng.choice((f'p = {low}', f'p > {low}', f'p % 5 = {low % 5}',
                                    f'p BETWEEN {low} AND {low + 20}', f'p < {low}'))
            return optional('WHERE {0}', Node(text, type='B'))
        if chance < 0.7:
            others = self.about_others(shape)
            if others:
                return optional('WHERE {0}', others)
        return optional('WHERE {0}', Queries(self.rng, [], 'sqlite').expressions.make(
            'B', self.rng.choice((1, 2)), scope))

    def about_others(self, shape):
        """Rows that others have something to do with, by a column that both have."""
        rng = self.rng
        pairs = [(other.name, c) for other in self.schema.tables.values()
                 if other.name != shape.name and self.count(other.name) < 2000
                 for c in other.columns if c in shape.columns]
        if not pairs:
            return None
        other, c = rng.choice(pairs)
        low = rng.randrange(self.values.last + 1)
        some = f' WHERE p BETWEEN {low} AND {low + 9}' * (
            'p' in self.schema.tables[other].columns and rng.random() < 0.6)
        return Node(rng.choice((
            f'{c} IN (SELECT {c} FROM {other}{some})',
            f'{c} NOT IN (SELECT {c} FROM {other}{some})',
            f'{c} = (SELECT max({c}) FROM {other}{some})',
            f'EXISTS (SELECT 1 FROM {other} AS o WHERE o.{c} = {shape.name}.{c})',
            f'NOT EXISTS (SELECT 1 FROM {other} AS o WHERE o.{c} = {shape.name}.{c})')), type='B')

    def about_text(self, column):
        value = literal('T', self.values.text(), '')
        other = literal('T', self.values.text(), '')
        return Node(self.rng.choice((
            f'{column} = {value}', f'{column} <> {value}', f'{column} < {value}',
            f'{column} >= {value}', f'{column} IN ({value}, {other})',
            f'{column} NOT IN ({value}, {other})', f'{column} IS NULL',
            f"{column} LIKE '%{self.rng.choice('awä1_')}%'", f'length({column}) > 4',
            f'{column} BETWEEN {value} AND {other}', f'{column} || {value} = {other}')), type='B')

    def value_for(self, column, shape, scope):
        """A value that a column of the table can hold."""
        if column.type == 'T':
            made = Queries(self.rng, []).expressions.make('T', 1, scope)
            return made if made.column else Node(f'substr({{0}}, 1, {TEXT_MOST})', made, type='T')
        return Queries(self.rng, []).value_for(column, scope)

    # --------------------------------------------------------------- INSERT --

    def insert(self):
        shape, rng = self.table(), self.rng
        chance = rng.random()
        if chance < 0.03:
            made, key = f'INSERT INTO {shape.name} DEFAULT VALUES', made_key(shape)
            keyed = f'INSERT INTO {shape.name} ({key}) VALUES ({next_key(shape, key, 1)})'
            return Node({'': made, 'sqlite': keyed if key else made})
        verb = rng.choice(('INSERT', 'INSERT', 'INSERT', 'INSERT OR REPLACE', 'REPLACE',
                           'INSERT OR IGNORE'))
        if chance < 0.65:
            return self.insert_values(shape, verb)
        return self.insert_select(shape, verb)

    def insert_values(self, shape, verb):
        rng, columns, names = self.rng, list(shape.columns), ''
        if rng.random() < 0.3:
            columns = rng.sample(columns, rng.randrange(1, len(columns) + 1))
            names = f' ({", ".join(columns)})'
        if verb != 'INSERT':
            columns, names = list(shape.columns), ''
        count = rng.choice((1, 1, 1, 2, 3, 5, 8)) if rng.random() < 0.9 else rng.randrange(90)
        # Of rows that have all no key each gets one, which sqlite3 does not do here.
        rows = [self.row(shape, columns, verb if i else 'IGNORE') for i in range(count + 1)]
        if rng.random() < 0.05 and verb == 'INSERT':
            rows.append(self.bad_row(shape, columns))
        head, key = f'{verb} INTO {shape.name}', made_key(shape)
        if key is None or key in columns:
            return Node(f'{head}{names} VALUES {{0}}', listed(rows))
        rows = [Node({'': row.template,
                      'sqlite': f'({next_key(shape, key, i + 1)}, {row.template[1:]}'}, *row.parts)
                for i, row in enumerate(rows)]
        return Node({'': f'{head}{names} VALUES {{0}}',
                     'sqlite': f'{head} ({key}, {", ".join(columns)}) VALUES {{0}}'},
                    listed(rows))

    def row(self, shape, columns, verb):
        made = []
        for name in columns:
            value = self.values.value(name, shape)
            # sqlite3 passes a row without a key over.
            while value is None and verb != 'INSERT' and name in shape.key:
                value = self.values.value(name, shape)
            made.append(Node({d: literal(COLUMNS[name][0], value, d) for d in ('', 'sqlite')}))
        return Node('(' + ', '.join(['{}'] * len(made)) + ')', *made)

    def bad_row(self, shape, columns):
        """A row that does not fit: one value too large, or one too many."""
        large = [c for c in columns if COLUMNS[c][1] in TOO_LARGE]
        row = self.row(shape, columns, 'INSERT')
        if not large or self.rng.random() < 0.2:
            return Node('(' + ', '.join(['{}'] * len(row.parts)) + ', 1)', *row.parts)
        at = columns.index(self.rng.choice(large))
        bad = Node(self.rng.choice(TOO_LARGE[COLUMNS[columns[at]][1]]))
        return row.with_parts((*row.parts[:at], bad, *row.parts[at + 1:]))

    def insert_select(self, shape, verb):
        rng = self.rng
        sources = [s for s in self.schema.tables.values() if self.count(s.name) < ROWS_MANY]
        if not sources:
            return self.delete(shape)
        other = rng.choice(sources)
        scope = self.scope(other)
        items = [self.key_for(c, other) if c.template == 'p' else self.value_for(c, shape, scope)
                 for c in shape.nodes()]
        where = self.where(other, scope) if rng.random() < 0.7 else EMPTY
        order = ''
        if verb != 'INSERT':
            items = [self.never_null(item, c) if c in shape.key else item
                     for item, c in zip(items, shape.columns)]
            order = ' ORDER BY ' + ', '.join(map(str, range(1, len(items) + 1)))
        return Node(f'{verb} INTO {shape.name} SELECT {{0}} FROM {other.name} {{1}}{order}',
                    Node(', '.join(['{}'] * len(items)), *items), where)

    def never_null(self, node, column):
        kind = COLUMNS[column][0]
        value = random_value(self.rng, column)
        last = Node({d: literal(kind, value, d) for d in ('', 'sqlite')}, type=kind)
        return Node('coalesce({0}, {1})', node, last, type=kind)

    def key_for(self, column, other):
        """Keys that are new, as a rule."""
        if 'p' not in other.columns:
            return Node(str(self.values.fresh()), type='I')
        if self.values.last > KEY_BOUND // 3:
            self.values.last = 0
        move = self.rng.choice((0, self.values.last + 1, self.values.last + 1))
        self.values.last += move
        return Node(f'p + {move}' if move else 'p', type='I')

    # --------------------------------------------------------------- others --

    def update(self):
        shape, rng = self.table(), self.rng
        scope = self.scope(shape)
        chosen = rng.sample(shape.nodes(), min(len(shape.columns), rng.choice((1, 1, 1, 2))))
        sets = [Node(f'{c.template} = {{0}}', self.new_value(c, shape, scope)) for c in chosen]
        where = self.where(shape, scope) if rng.random() < 0.8 else EMPTY
        if rng.random() < 0.02:
            large = self.too_large(shape)
            sets, where = ([large], EMPTY) if large else (sets, where)
        return Update(shape, listed(sets), where)

    def too_large(self, shape):
        large = [c for c in shape.columns if COLUMNS[c][1] in TOO_LARGE]
        if not large or not self.count(shape.name):
            return None
        return Node(f'{large[0]} = {TOO_LARGE[COLUMNS[large[0]][1]][0]}')

    def new_value(self, column, shape, scope):
        rng = self.rng
        if column.template == 'p':
            return Node(rng.choice((f'p + {self.values.last + 1}', '0 - p', '100 - p', 'p + 1',
                                    str(self.values.fresh()))), type='I')
        if column.type == 'T' and rng.random() < 0.6:
            value = literal('T', self.values.text(), '')
            name = column.template
            others = [c for c in shape.columns if COLUMNS[c][0] == 'T']
            return Node(rng.choice((value, value, f'upper({name})', f'{rng.choice(others)}',
                                    f'substr({name} || {value}, 1, {TEXT_MOST})',
                                    f'(SELECT min({name}) FROM {shape.name})',
                                    f'replace({name}, {value}, \'r\')')), type='T')
        if rng.random() < 0.25:
            value = self.values.value(column.template, shape)
            return Node({d: literal(column.type, value, d) for d in ('', 'sqlite')})
        return self.value_for(column, shape, scope)

    def delete(self, shape=None):
        shape = shape or self.table()
        many = self.count(shape.name) > ROWS_MANY
        where = self.where(shape, self.scope(shape))
        if self.rng.random() < (0.3 if many else 0.04):
            where = EMPTY
        return Node(f'DELETE FROM {shape.name} {{0}}', where)

    # -------------------------------------------------------------- queries --

    def query(self):
        """A step's kind, node and letters."""
        chance = self.rng.random()
        if chance < 0.35:
            return self.whole(self.table())
        if chance < 0.6:
            made = self.of_texts()
            if made:
                return made
        if chance < 0.65:
            return self.of_catalogue()
        node = Queries(self.rng, self.relations()).query()
        return ('ordered' if is_ordered(node) else 'read'), node, result_types(node)

    @staticmethod
    def whole(shape):
        letters = [COLUMNS[c][0] for c in shape.columns]
        return 'read', Node(f'SELECT * FROM {shape.name}'), letters

    def of_catalogue(self):
        """What there is, but for the indexes that an engine makes for itself."""
        own = "m.name NOT LIKE 'sqlite_%'"
        forms = ((f'SELECT m.type, m.name, m.tbl_name FROM sqlite_master m WHERE {own}', 'TTT'),
                 (f'SELECT type, count(*) FROM main.sqlite_schema m WHERE {own} GROUP BY type',
                  'TI'),
                 ('SELECT m.name, p.cid, p.name FROM sqlite_master m '
                  "JOIN pragma_table_info(m.name) p WHERE m.type = 'table'", 'TIT'),
                 ('SELECT name, (SELECT count(*) FROM pragma_table_info(m.name)) '
                  "FROM sqlite_master m WHERE type = 'table'", 'TI'),
                 ('SELECT m.name, i.name, x.name FROM sqlite_master m, '
                  'pragma_index_list(m.name) i, pragma_index_info(i.name) x '
                  "WHERE m.type = 'table' AND i.origin = 'c'", 'TTT'))
        text, letters = self.rng.choice(forms)
        return 'read', Node(text), letters

    def of_texts(self):
        """Groups, orders, joins and functions of texts."""
        shape, rng = self.table(), self.rng
        words = [c for c in shape.columns if COLUMNS[c][0] == 'T']
        if not words:
            return None
        s, t, name = rng.choice(words), rng.choice(words), shape.name
        other = self.table()
        others = [c for c in other.columns if COLUMNS[c][0] == 'T']
        forms = [(f'SELECT {s}, count(*), min({t}), max({t}) FROM {name} GROUP BY {s}', 'TITT'),
                 (f'SELECT DISTINCT {s}, {t} FROM {name}', 'TT'),
                 (f'SELECT DISTINCT upper({s}) FROM {name}', 'T'),
                 (f'SELECT count(DISTINCT {s}), count({t}), max({s} || {t}) FROM {name}', 'IIT'),
                 (f'SELECT {s} || {t}, length({s}), substr({t}, 2, 3) FROM {name}', 'TIT'),
                 (f'SELECT length({s}), min({s}) FROM {name} GROUP BY length({s})', 'IT')]
        if others and self.count(name) * self.count(other.name) < 6000:
            u = rng.choice(others)
            forms += [(f'SELECT a.{s}, b.{u} FROM {name} AS a {rng.choice(("", "LEFT "))}'
                       f'JOIN {other.name} AS b ON a.{s} = b.{u}', 'TT'),
                      (f'SELECT {s} FROM {name} WHERE {s} IN (SELECT {u} FROM {other.name})', 'T'),
                      (f'SELECT {s} FROM {name} UNION SELECT {u} FROM {other.name}', 'T'),
                      (f'SELECT {s} FROM {name} EXCEPT SELECT {u} FROM {other.name}', 'T')]
        text, letters = rng.choice(forms)
        where = EMPTY
        if ' FROM ' + name in text and text.endswith(name) and rng.random() < 0.5:
            where = optional('WHERE {0}', self.about_text(rng.choice((s, t))))
        if rng.random() < 0.4:
            orders = [str(i + 1) + rng.choice(('', ' DESC')) for i in range(len(letters))]
            return 'ordered', Node(f'{text} {{0}} ORDER BY {", ".join(orders)}', where), letters
        return 'read', Node(f'{text} {{0}}', where), letters

    # --------------------------------------------------------------- schema --

    def new_table(self, name, allowed):
        """(node, shape) of a CREATE TABLE."""
        rng = self.rng
        columns = ['p'] * (rng.random() < 0.75)
        for some, counts in (('st', (0, 1, 1, 2)), (COLUMNS, (0, 1, 1, 2, 3, 5))):
            known = [c for c in some if c in allowed and c not in (*columns, 'p')]
            columns += rng.sample(known, min(len(known), rng.choice(counts)))
        columns = columns or [allowed[-1]]
        rng.shuffle(columns)
        key = ('p',) if 'p' in columns and rng.random() < 0.5 else ()
        words = [c for c in columns if c in 'st']
        unique = []
        if words and rng.random() < 0.12:
            unique.append((rng.choice(words),))
        if rng.random() < 0.1:
            unique.append(tuple(rng.sample(columns, min(2, len(columns)))))
        needed = [c for c in columns if rng.random() < 0.1]
        defaults = {c: self.values.text() if c in 'st' else random_value(rng, c)
                    for c in columns if rng.random() < 0.15}
        known = [rule for rule in RULES if set(rule[0]) <= set(columns)]
        checks = rng.sample(known, min(len(known), rng.choice((0, 0, 0, 1, 2))))
        shape = Shape(name, tuple(columns), tuple(unique), key, tuple(needed), defaults,
                      tuple(checks))
        return Node({d: shape.create(d) for d in ('', 'sqlite')}), shape

    def new_table_as(self, name):
        rng, other = self.rng, self.table()
        columns = rng.sample(other.columns, rng.randrange(1, len(other.columns) + 1))
        shape = Shape(name, tuple(columns))
        items = [f'{c} || {literal("T", self.values.text(), "")} AS {c}'
                 if c in 'st' and rng.random() < 0.3 else c for c in columns]
        where = self.where(other, self.scope(other)) if rng.random() < 0.6 else EMPTY
        rows = f'SELECT {", ".join(items)} FROM {other.name} {{0}}'
        return Node({'': f'CREATE TABLE {name} AS {rows}',
                     'sqlite': shape.create('sqlite') + PARTS + f'INSERT INTO {name} {rows}'},
                    where), shape

    def new_view(self, name):
        """(node, columns) of a CREATE VIEW."""
        made = Queries(self.rng, [r for r in self.relations() if r.is_table]).select()
        return Node(f'CREATE VIEW {name} AS {{0}}', made.node), made.columns

    def keys(self, shape):
        """Keys of a table; None: it has no such columns."""
        rng = self.rng
        terms = [(of, term) for of, some in TERMS.items() if set(of) <= set(shape.columns)
                 for term in some]
        wheres = [(of, where) for of, some in WHERES.items() if of in shape.columns
                  for where in some]
        if not terms:
            return None
        chosen = rng.sample(terms, min(len(terms), rng.choice((1, 1, 2))))
        where = rng.sample(wheres, min(len(wheres), rng.choice((0, 1, 1, 2))))
        target = f'({", ".join(term for _, term in chosen)})'
        if where:
            target += ' WHERE ' + ' AND '.join(part for _, part in where)
        elif all(term in shape.columns for _, term in chosen):
            return None
        return Keys(sorted({c for of, _ in (*chosen, *where) for c in of}), target)

    def new_index(self, name):
        """(node, shape of its table, columns or Keys, whether it is unique) of a CREATE INDEX."""
        shape, rng = self.table(), self.rng
        columns = tuple(rng.sample(shape.columns, min(len(shape.columns), rng.choice((1, 1, 2)))))
        unique = rng.random() < 0.4
        keys = self.keys(shape) if rng.random() < 0.5 else None
        if keys:
            node = Node(f'CREATE {"UNIQUE " if unique else ""}INDEX {name} ON {shape.name} '
                        f'{keys.target}')
            return node, shape, keys, unique
        node = Node(f'CREATE {"UNIQUE " if unique else ""}INDEX {name} ON {shape.name} '
                    f'({", ".join(columns)})')
        return node, shape, columns, unique

    def alteration(self, shape, free, indexes, allowed):
        """(node, shape) of an ALTER TABLE, perhaps to the name `free`; `indexes` are what
        those of the table are of. There are no views."""
        rng = self.rng
        checked = {c for columns, _ in shape.checks for c in columns}
        by_name = {c for columns in indexes if isinstance(columns, Keys) for c in columns} | checked
        fixed = {c for columns in indexes for c in columns} | shape.keyed() | checked
        new = [c for c in allowed if c not in shape.columns and c != 'p']
        old = [c for c in shape.columns if c not in fixed] if len(shape.columns) > 1 else []
        pairs = [(c, to) for c in shape.columns if c not in by_name
                 for to in OTHER_NAMES.get(c, '') if to not in shape.columns and to in allowed]
        forms = ['table'] + ['add'] * (2 * bool(new)) + ['drop'] * (2 * bool(old)) + \
            ['column'] * (2 * bool(pairs))
        form, start = rng.choice(forms), f'ALTER TABLE {shape.name}'
        if form == 'add':
            column = rng.choice(new)
            made = shape.added(column, self.values.value(column, shape)
                               if rng.random() < 0.6 else None)
            return Node({d: f'{start} ADD COLUMN {made.column(column, d)}'
                         for d in ('', 'sqlite')}), made
        if form == 'drop':
            column = rng.choice(old)
            return Node(f'{start} DROP COLUMN {column}'), shape.dropped(column)
        if form == 'column':
            column, to = rng.choice(pairs)
            return Node(f'{start} RENAME COLUMN {column} TO {to}'), shape.recalled(column, to)
        return Node(f'{start} RENAME TO {free}'), shape.renamed(free)

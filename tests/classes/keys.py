# SPDX-License-Identifier: MIT
"""Floats at their edges, and NULL, as keys of everything that compares: zeros
of both signs, infinities, the least and the greatest numbers. What is no number
is NULL. sqlite3 means the same, but keeps no -0.0 in a table: only that these
are equal is compared with it."""
import re

from .script import Query, Script, insert

DOUBLES = ('0.0', '-0.0', '0.0', '-0.0', '1e999', '-1e999', 'NULL', 'NULL', '1.5', '-1.5', '3.0',
           '5e-324', '-5e-324', '1.7976931348623157e308', '-1.7976931348623157e308',
           '2.2250738585072014e-308')
FLOATS = ('0.0', '-0.0', '0.0', '-0.0', '1e999', '-1e999', 'NULL', 'NULL', '1.5', '-1.5', '3.0',
          '1.1754943508222875e-38', '3.4028234663852886e38', '-3.4028234663852886e38')
CONSTANTS = ('0.0', '-0.0', '0', '1e999', '-1e999', '1.5', '3', '5e-324', '-5e-324', 'NULL',
             '1.7976931348623157e308', '-3')
COLUMNS = ('d', 'd', 'd', 'f', 'f', 'd2', 'f2')
COMPARED = ('=', '<>', '<', '<=', '>', '>=', 'IS', 'IS NOT')


class Keys:
    def __init__(self, rng):
        self.rng = rng

    # ------------------------------------------------------------- tables --

    def rows(self):
        rng = self.rng
        count = rng.choice((1, 2, 5, 20, 64, 65, 90))
        few = [rng.sample(values, rng.choice((1, 2, 4, len(values))))
               for values in (DOUBLES, FLOATS, DOUBLES, FLOATS)]
        return [[str(i + 1), *(rng.choice(values) for values in few),
                 rng.choice(('0', '1', '3', 'NULL')), rng.choice(("'a'", "'b'", 'NULL'))]
                for i in range(count)]

    def script(self, queries):
        columns = 'id {0}, d {1}, f {2}, d2 {1}, f2 {2}, i {0}, s TEXT'
        lines = [insert(name, self.rows())[0] for name in ('ta', 'tb')]
        lines.append('INSERT INTO constants VALUES ' + ', '.join(
            f'({i}, {value})' for i, value in enumerate(CONSTANTS)))
        extra = ['CREATE INDEX xa ON ta (d)', 'CREATE INDEX xb ON tb (f, d)'] \
            if self.rng.random() < 0.3 else []

        def made(types):
            return [f'CREATE TABLE {name} ({columns.format(*types)})' for name in ('ta', 'tb')] + \
                [f'CREATE TABLE constants (id {types[0]}, x {types[1]})'] + lines + extra
        changes = self.rng.random() < 0.5
        asked = self.changes() if changes else []
        asked += [self.query() for _ in range(queries - len(asked))]
        unique = self.rng.choice(('u DOUBLE UNIQUE', 'u FLOAT UNIQUE', 'u DOUBLE PRIMARY KEY'))
        more = f'CREATE TABLE tu ({unique}, n INTEGER)'
        return Script([*made(('INTEGER', 'DOUBLE', 'FLOAT')), more], asked,
                      [*made(('INTEGER', 'REAL', 'REAL')),
                       'CREATE TABLE tu (u REAL UNIQUE' +
                       (' NOT NULL' if 'PRIMARY' in unique else '') + ', n INTEGER)'])

    # -------------------------------------------------------- expressions --

    def key(self, of=''):
        """(expression, whether sqlite3 computes the same)"""
        column = of + self.rng.choice(COLUMNS)
        chance = self.rng.random()
        if chance < 0.6:
            return column, True
        other = of + self.rng.choice(COLUMNS)
        return self.rng.choice((
            (f'-{column}', True), (f'{column} * -1', True), (f'{column} * 0.0', True),
            (f'{column} - {column}', True), (f'coalesce({column}, -0.0)', True),
            (f'nullif({column}, 0)', True), (f'cast({column} as double)', False),
            (f'{column} + 0.0', False), (f'{column} + {other}', False),
            (f'{column} / {other}', False), (f'{column} * {other}', False),
            (f'case when {of}id % 2 = 0 then {column} else -0.0 end', True),
            (f'-abs({column})', True), (f'{column} - {other}', False),
            (f'sqrt({column})', False), (f'round({column})', False),
            (f'least({column}, {other})', False), (f'greatest({column}, -0.0)', False)))

    def keys(self, of='', most=2):
        """Some keys, one at least."""
        made = [self.key(of) for _ in range(self.rng.choice((1, 1, most)))]
        if self.rng.random() < 0.3:
            made.insert(self.rng.randrange(2), (of + self.rng.choice('is'), True))
        return ', '.join(k for k, _ in made), all(known for _, known in made)

    def comparison(self, of=''):
        """(condition, whether sqlite3 computes the same)"""
        rng, (left, known) = self.rng, self.key(of)
        form = rng.random()
        if form < 0.45:
            return f'{left} {rng.choice(COMPARED)} {rng.choice(CONSTANTS)}', known
        if form < 0.6:
            word = rng.choice(('BETWEEN', 'NOT BETWEEN'))
            return f'{left} {word} {rng.choice(CONSTANTS)} AND {rng.choice(CONSTANTS)}', known
        if form < 0.8:
            values = ', '.join(rng.sample(CONSTANTS, rng.randrange(1, 5)))
            return f'{left} {rng.choice(("IN", "NOT IN"))} ({values})', known
        right, also = self.key(of)
        return f'{left} {rng.choice(COMPARED)} {right}', known and also

    def where(self, of=''):
        if self.rng.random() < 0.6:
            return '', True
        text, known = self.comparison(of)
        return f' WHERE {text}', known

    # -------------------------------------------------------------- queries --

    def query(self):
        return self.rng.choice((self.grouped, self.grouped, self.distinct, self.several,
                                self.joined, self.joined, self.joined, self.half_joined,
                                self.sorted, self.sorted, self.extremes, self.windows,
                                self.windows, self.filtered, self.filtered, self.constant,
                                self.chosen))()

    def asked(self, sql, known, **more):
        # A constant that meets a FLOAT becomes one; sqlite3 has none.
        known = known and not ('e-324' in sql and re.search(r'\bf2?\b', sql))
        return Query(sql, peer=sql if known else None, **more)

    def filtered(self):
        text, known = self.comparison()
        return self.asked(f'SELECT id, d, f FROM ta WHERE {text}', known)

    def grouped(self):
        keys, known = self.keys()
        where, also = self.where()
        having = self.rng.choice(('', '', ' HAVING count(*) > 1', ' HAVING min(id) > 2'))
        value, third = self.key()
        call = self.rng.choice((f'min({value})', f'max({value})', f'count({value})',
                                f'count(DISTINCT {value})'))
        return self.asked(f'SELECT {keys}, count(*), min(id), sum(id), {call} FROM ta{where} '
                          f'GROUP BY {", ".join(str(i + 1) for i in range(commas(keys) + 1))}'
                          f'{having}', known and also and third)

    def distinct(self):
        keys, known = self.keys()
        where, also = self.where()
        return self.asked(f'SELECT DISTINCT {keys} FROM ta{where}', known and also)

    def several(self):
        word = self.rng.choice(('UNION', 'UNION ALL', 'INTERSECT', 'EXCEPT'))
        (a, known), (b, also) = self.key(), self.key()
        return self.asked(f'SELECT {a}, i FROM ta {word} SELECT {b}, i FROM tb', known and also) \
            if self.rng.random() < 0.5 else \
            self.asked(f'SELECT {a} FROM ta {word} SELECT {b} FROM tb', known and also)

    def on(self):
        """(condition of a join, whether sqlite3 computes the same)"""
        rng, (a, known), (b, also) = self.rng, self.key('p.'), self.key('q.')
        form = rng.random()
        if form < 0.5:
            text = f'{a} = {b}'
        elif form < 0.6:
            text = f'p.i = q.i AND {a} = {b}'
        elif form < 0.65:
            text = f'p.{rng.choice("df")} = q.i'
        elif form < 0.7:
            text = f'{a} IS {b}'
        elif form < 0.85:
            text = f'{a} {rng.choice(("<", "<=", ">", ">="))} {b}'
        else:
            text = rng.choice((f'{a} BETWEEN {b} - 1 AND {b} + 1', f'{a} BETWEEN q.d AND q.d2',
                               f'abs({a} - {b}) < 1', f'p.s = q.s AND {a} <= {b}'))
        if rng.random() < 0.15:
            third, more = self.comparison(rng.choice(('p.', 'q.')))
            return f'{text} AND {third}', known and also and more
        return text, known and also

    def joined(self):
        word = self.rng.choice(('JOIN', 'JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN', ','))
        on, known = self.on()
        items = self.rng.choice(('p.id, q.id, p.d, q.d, q.f', 'count(*), min(p.id), max(q.id)',
                                 'p.f, count(*)'))
        tail = ' GROUP BY p.f' if items == 'p.f, count(*)' else ''
        if word == ',':
            return self.asked(f'SELECT {items} FROM ta p, tb q WHERE {on}{tail}', known,
                              planned=True)
        return self.asked(f'SELECT {items} FROM ta p {word} tb q ON {on}{tail}', known,
                          planned=True)

    def half_joined(self):
        on, known = self.on()
        (a, also), (b, more) = self.key('p.'), self.key()
        no = self.rng.choice(('', 'NOT '))
        if self.rng.random() < 0.5:
            return self.asked(f'SELECT p.id FROM ta p WHERE {no}EXISTS '
                              f'(SELECT 1 FROM tb q WHERE {on})', known)
        return self.asked(f'SELECT p.id, {a} {no}IN (SELECT {b} FROM tb) FROM ta p',
                          also and more)

    def sorted(self):
        terms = []
        known = True
        for _ in range(self.rng.choice((1, 1, 2))):
            key, also = self.key()
            known = known and also
            terms.append(key + self.rng.choice(('', ' DESC')) +
                         self.rng.choice(('', '', ' NULLS FIRST', ' NULLS LAST')))
        limit = self.rng.choice(('', '', ' LIMIT 3', ' LIMIT 7 OFFSET 2'))
        tail = ', id' if self.rng.random() < 0.8 else ''
        return self.asked(f'SELECT id, d, f FROM ta ORDER BY {", ".join(terms)}{tail}{limit}',
                          known and tail, ordered=True)

    def extremes(self):
        (a, known), (b, also) = self.key(), self.key()
        where, more = self.where()
        sums = self.rng.random() < 0.4
        calls = f'sum({a}), avg({b}), total({a})' if sums else \
            f'min({a}), max({a}), min({b}), max({b}), count({a}), count(DISTINCT {b})'
        return self.asked(f'SELECT {calls} FROM ta{where}', known and also and more and not sums)

    def windows(self):
        (a, known), (b, also) = self.key(), self.key()
        tail = self.rng.choice(('', ', id'))
        order = f'ORDER BY {b}{self.rng.choice(("", " DESC"))}{tail}'
        part = self.rng.choice((f'PARTITION BY {a} {order}', order, f'PARTITION BY {a}'))
        calls = ['count(*)', 'sum(i)', f'min({a})', f'max({b})']
        if 'ORDER' in part:
            calls += ['rank()', 'dense_rank()']
        if tail and 'ORDER' in part:
            calls += ['row_number()', f'lag({a})', f'lead({b}, 2)', f'first_value({a})']
        call = self.rng.choice(calls)
        return self.asked(f'SELECT id, {call} OVER ({part}) FROM ta', known and also)

    def constant(self):
        """The same of constants and of a table of them."""
        a, b = (self.rng.randrange(len(CONSTANTS)) for _ in range(2))
        template = self.rng.choice((
            '{0} = {1}', '{0} < {1}', '{0} >= {1}', '{0} IS {1}', '{0} <> {1}', '-{0}',
            '{0} * -1.0', '{0} - {1}', '{0} + {1}', '{0} * {1}', '{0} / {1}', 'abs({0})',
            'round({0})', 'nullif({0}, {1})', 'least({0}, {1})', 'greatest({0}, {1})',
            '{0} BETWEEN {1} AND {0}', '{0} IN ({1}, 0.0)', 'sqrt({0})', 'floor({0})',
            'CASE WHEN {0} THEN 1 ELSE 2 END', '{0} AND {1}', 'sign({0})', 'cast({0} as float)'))
        first, second = (f'cast({CONSTANTS[i]} as double)' for i in (a, b))
        return Query('SELECT ' + template.format(first, second), model=[
            f'SELECT {template.format("p.x", "q.x")} FROM constants p, constants q '
            f'WHERE p.id = {a} AND q.id = {b}'])

    def chosen(self):
        (a, known), (b, also) = self.key(), self.key()
        constant = self.rng.choice(CONSTANTS)
        return self.rng.choice((
            self.asked(f'SELECT id, CASE {a} WHEN {constant} THEN 1 WHEN {b} THEN 2 ELSE 3 END '
                       'FROM ta', known and also),
            self.asked(f'SELECT id, coalesce({a}, {b}, {constant}) FROM ta', False),
            self.asked(f'SELECT id, {a} = {b}, {a} < {b}, {a} IS {b} FROM ta', known and also),
            self.asked(f'SELECT id FROM ta WHERE {a} = (SELECT min({b}) FROM ta)',
                       known and also)))

    def changes(self):
        """What is unique, and what changes find."""
        made = []
        for i in range(8):
            word = self.rng.choice(('INSERT', 'INSERT', 'INSERT OR IGNORE', 'REPLACE'))
            value = self.rng.choice(('0.0', '-0.0', '1e999', '-1e999', 'NULL', '1.5', '3.0'))
            made.append(Query(f'{word} INTO tu VALUES ({value}, {i})'))
            made.append(self.asked('SELECT n, u FROM tu ORDER BY n', False))
        constant = self.rng.choice(CONSTANTS)
        made.append(Query(f'UPDATE tu SET n = n + 100 WHERE u = {constant}'))
        made.append(Query(f'DELETE FROM tu WHERE u IN ({constant}, 1.5)'))
        made.append(Query('SELECT n, u FROM tu'))
        made.append(Query('SELECT n FROM tu WHERE u = -0.0'))
        return made


def commas(keys):
    """Those between keys, not those of calls."""
    depth = count = 0
    for letter in keys:
        depth += (letter == '(') - (letter == ')')
        count += letter == ',' and depth == 0
    return count

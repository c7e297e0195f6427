# SPDX-License-Identifier: MIT
"""Tables of no row, of one, of NULLs alone and of one value at every place:
sides of joins and of set operations, subqueries of each kind, groups, windows,
limits, what changes read, and queries that read no column at all."""
from .script import Query, Script, insert

COLUMNS = ('k', 'v', 's', 'd', 'y')
TYPED = 'k INTEGER, v BIGINT, s TEXT, d DOUBLE, y DATE'
TABLES = {
    'none': [], 'one': [('1', '5', "'a'", '1.5', "'2024-01-31'")],
    'void': [('NULL',) * 5], 'nulls': [('NULL',) * 5] * 5,
    'same': [('1', '5', "'a'", '1.5', "'2024-01-31'")] * 4,
    'some': [('1', '5', "'a'", '1.5', "'2024-01-31'"), ('NULL', '7', "'b'", '-0.5', 'NULL'),
             ('2', 'NULL', 'NULL', '1.5', "'2024-01-31'"),
             ('1', '-5', "''", 'NULL', "'2023-01-01'"), ('3', '5', "'a'", '2.5', 'NULL')]}
JOINS = ('JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN')
AGGREGATES = ('count(*)', 'count({0})', 'sum({1})', 'min({0})', 'max({0})', 'avg({1})',
              'total({1})', 'count(DISTINCT {0})', 'sum(DISTINCT {1})',
              'count(*) FILTER (WHERE {1} > 0)', 'sum({1}) FILTER (WHERE {0} IS NULL)')


class Empty:
    def __init__(self, rng):
        self.rng = rng

    def column(self, of=''):
        return of + self.rng.choice(COLUMNS)

    def number(self, of=''):
        return of + self.rng.choice(('k', 'v', 'd'))

    def table(self):
        return self.rng.choice(('none', 'none', *TABLES))

    def source(self):
        """A table, or a query that gives as many columns."""
        name = self.table()
        chance = self.rng.random()
        columns = ', '.join(COLUMNS)
        if chance < 0.6:
            return name
        if chance < 0.7:
            return f'(SELECT {columns} FROM {name} WHERE {self.condition()})'
        if chance < 0.8:
            return f'(SELECT {columns} FROM {name} LIMIT 0)'
        if chance < 0.9:
            return f'(SELECT {columns} FROM {name} UNION ALL SELECT {columns} FROM {self.table()})'
        return f'(SELECT DISTINCT {columns} FROM {name})'

    def condition(self, of=''):
        return self.rng.choice((f'{self.number(of)} > 0', f'{self.column(of)} IS NULL', '1 = 0',
                                f'{self.column(of)} IS NOT NULL', '1 = 1', 'NULL',
                                f'{self.number(of)} < -100', f"{of}s = 'a'", f"{of}s LIKE 'zz%'",
                                f'{of}k IN (SELECT k FROM {self.table()})',
                                f'EXISTS (SELECT 1 FROM {self.table()})',
                                f'{of}v = (SELECT v FROM {self.table()} WHERE v = 7)'))

    def where(self, of=''):
        return f' WHERE {self.condition(of)}' if self.rng.random() < 0.4 else ''

    def calls(self, of=''):
        return ', '.join(call.format(self.column(of), self.number(of))
                         for call in self.rng.sample(AGGREGATES, self.rng.randrange(1, 4)))

    # -------------------------------------------------------------- queries --

    def query(self):
        sql = self.rng.choice((self.totals, self.totals, self.grouped, self.grouped, self.joined,
                               self.joined, self.joined, self.joined, self.half_joined,
                               self.several, self.several, self.nested, self.nested,
                               self.windows, self.windows, self.columnless, self.columnless,
                               self.limited, self.plain))()
        return Query(sql, peer=sql, planned=True)

    def plain(self):
        return f'SELECT {self.column()}, {self.column()} FROM {self.source()}{self.where()}'

    def totals(self):
        having = self.rng.choice(('', '', '', ' HAVING count(*) > 0',
                                  ' HAVING count(*) = 0', ' HAVING max(k) IS NULL'))
        return f'SELECT {self.calls()} FROM {self.source()}{self.where()}{having}'

    def grouped(self):
        key = self.rng.choice((self.column(), f'{self.column()}, {self.column()}', 'k + 1',
                               'k IS NULL'))
        having = self.rng.choice(('', '', ' HAVING count(*) > 1', ' HAVING sum(v) IS NULL'))
        return f'SELECT {key}, {self.calls()} FROM {self.source()}{self.where()} ' \
            f'GROUP BY {key}{having}'

    def on(self):
        rng = self.rng
        return rng.choice((f'p.{(c := rng.choice(COLUMNS))} = q.{c}', 'p.k = q.k', 'p.k = q.k',
                           'p.k = q.k AND p.s = q.s', 'p.v < q.v', 'p.d BETWEEN q.d - 1 AND q.d',
                           'p.k + q.k > 2', 'p.s IS q.s', 'p.k = q.k AND p.v > 0',
                           'p.k = q.k AND q.v > 100', 'p.k = q.k OR p.v = q.v',
                           'p.v <> q.v', 'p.k * q.v < 100'))

    def joined(self):
        items = self.rng.choice(('p.k, q.v, p.s', 'count(*)', 'count(q.k), sum(p.v)', 'q.s, p.d',
                                 '1'))
        form = self.rng.random()
        left, right = f'{self.source()} p', f'{self.source()} q'
        if form < 0.15:
            return f'SELECT {items} FROM {left}, {right}{self.where("p.")}'
        if form < 0.3:
            return f'SELECT k, count(*) FROM {self.table()} {self.rng.choice(JOINS)} ' \
                f'{self.table()} x USING (k) GROUP BY k'
        tail = self.where(self.rng.choice(('p.', 'q.')))
        if form < 0.5:
            return f'SELECT {items} FROM {left} {self.rng.choice(JOINS)} {right} ON {self.on()} ' \
                f'LEFT JOIN {self.source()} r ON r.k = q.k{tail}'
        return f'SELECT {items} FROM {left} {self.rng.choice(JOINS)} {right} ON {self.on()}{tail}'

    def half_joined(self):
        no = self.rng.choice(('', 'NOT '))
        c = self.rng.choice(COLUMNS)
        return self.rng.choice((
            f'SELECT p.k, p.v FROM {self.source()} p WHERE {no}EXISTS (SELECT 1 FROM '
            f'{self.source()} q WHERE {self.on()})',
            f'SELECT p.k, p.{c} {no}IN (SELECT {c} FROM {self.source()} q{self.where("q.")}) '
            f'FROM {self.source()} p',
            f'SELECT count(*) FROM {self.source()} p WHERE p.{c} {no}IN (SELECT {c} FROM '
            f'{self.source()} q)'))

    def several(self):
        c = self.rng.choice((self.column(), f'{self.column()}, {self.column()}', '1'))
        word, other = (self.rng.choice(('UNION', 'UNION ALL', 'INTERSECT', 'EXCEPT'))
                       for _ in range(2))
        sql = f'SELECT {c} FROM {self.source()} {word} SELECT {c} FROM {self.source()}'
        if self.rng.random() < 0.3:
            sql += f' {other} SELECT {c} FROM {self.source()}'
        return sql if self.rng.random() < 0.7 else f'SELECT count(*) FROM ({sql})'

    def nested(self):
        number = self.number()
        return self.rng.choice((
            f'SELECT (SELECT max({number}) FROM {self.source()}{self.where()})',
            f'SELECT k, (SELECT count(*) FROM {self.source()} q WHERE q.k = p.k) '
            f'FROM {self.source()} p',
            f'SELECT k, (SELECT sum(q.v) FROM {self.source()} q WHERE q.k = p.k) '
            f'FROM {self.source()} p',
            f'SELECT k, (SELECT min(q.s) FROM {self.source()} q WHERE q.v < p.v) '
            f'FROM {self.source()} p',
            f'SELECT count(*) FROM (SELECT {self.calls()} FROM {self.source()} '
            f'GROUP BY {self.column()}) x',
            f'SELECT * FROM (SELECT {number} AS n, count(*) AS c FROM {self.source()} '
            'GROUP BY 1) x WHERE c > 0',
            f'SELECT EXISTS (SELECT 1 FROM {self.source()}{self.where()}), '
            f'k IN (SELECT k FROM {self.source()}) FROM {self.source()}',
            f'WITH w AS (SELECT k, v FROM {self.source()}) SELECT count(*), sum(a.v) FROM w a '
            'LEFT JOIN w b ON a.k = b.k'))

    def windows(self):
        part = self.rng.choice(('', f'PARTITION BY {self.column()}'))
        order = self.rng.choice(('', f'ORDER BY {self.number()}'))
        call = self.rng.choice(('count(*)', 'sum(v)', 'min(s)', 'max(d)', 'avg(k)', 'rank()',
                                'dense_rank()') if order else
                               ('count(*)', 'sum(v)', 'min(y)', 'count(k)'))
        return f'SELECT {self.column()}, {call} OVER ({part} {order}) FROM {self.source()}' \
            f'{self.where()}'

    def columnless(self):
        return self.rng.choice((
            f'SELECT count(*) FROM {self.source()}{self.where()}', 'SELECT count(*)',
            'SELECT 1, NULL', f'SELECT 1 FROM {self.source()}{self.where()}',
            f'SELECT count(*) FROM {self.source()} p, {self.source()} q',
            f'SELECT count(*) FROM {self.source()} p CROSS JOIN {self.source()} q, '
            f'{self.source()} r', 'SELECT sum(1), min(NULL), max(2)', 'SELECT 1 WHERE 1 = 0',
            f'SELECT count(*) FROM (SELECT 1 FROM {self.source()}{self.where()}) x',
            f'SELECT DISTINCT 1 FROM {self.source()}', f'SELECT 1 FROM {self.table()} LIMIT 2',
            f'SELECT NULL FROM {self.source()} GROUP BY k', 'SELECT 1 UNION SELECT NULL',
            f'SELECT count(*) FROM {self.source()} HAVING count(*) > 0',
            f'SELECT EXISTS (SELECT 1 FROM {self.source()})', 'SELECT 1 LIMIT 0',
            f'SELECT 1 FROM {self.source()} HAVING 1 = 1', 'SELECT count(*) WHERE 1 = 0',
            f'SELECT count(*) FROM {self.source()} p LEFT JOIN {self.source()} q ON p.k = q.k '
            'WHERE q.k IS NULL', f'SELECT 7 FROM {self.source()} ORDER BY 1'))

    def limited(self):
        tail = self.rng.choice(('LIMIT 0', 'LIMIT 1', 'LIMIT 2 OFFSET 1', 'LIMIT 5 OFFSET 100',
                                'LIMIT -1 OFFSET 3'))
        return f'SELECT count(*) FROM (SELECT k FROM {self.source()} ORDER BY k {tail}) x' \
            if self.rng.random() < 0.5 else \
            f'SELECT max(v) FROM {self.source()} GROUP BY k ORDER BY 1 {tail}'

    def changes(self):
        """What reads rows of such tables and changes another."""
        columns = ', '.join(COLUMNS)
        both = [
            'DELETE FROM target WHERE k = 3 OR k IS NULL',
            f'INSERT INTO target SELECT {columns} FROM {self.source()}{self.where()}',
            f'UPDATE target SET v = k{self.where()}', f'DELETE FROM target{self.where()}',
            f'INSERT INTO target SELECT {columns} FROM target{self.where()}',
            f'UPDATE target SET v = (SELECT max(v) FROM {self.table()})',
            f'INSERT INTO target (k, v) SELECT count(*), sum(v) FROM {self.source()} GROUP BY k']
        made = []
        for i, statement in enumerate(self.rng.sample(both, 4)):
            made.append(Query(statement, peer=statement))
            made.append(Query(f'CREATE TABLE made{i} AS SELECT k, count(*) AS c, max(s) AS s FROM '
                              f'{self.source()} GROUP BY k'))
            for sql in (f'SELECT {columns} FROM target', 'SELECT count(*), sum(v) FROM target'):
                made.append(Query(sql, peer=sql))
            made.append(Query(f'SELECT * FROM made{i}'))
        return made

    def script(self, queries):
        setup = []
        for name, rows in TABLES.items():
            setup += [f'CREATE TABLE {name} ({TYPED})', *insert(name, rows)]
        setup += [f'CREATE TABLE target ({TYPED})',
                  *insert('target', TABLES[self.rng.choice(('none', 'some'))])]
        asked = self.changes() if self.rng.random() < 0.3 else []
        asked += [self.query() for _ in range(queries - len(asked))]
        return Script(setup, asked, [in_sqlite(line) for line in setup])


def in_sqlite(statement):
    for ours, theirs in (('BIGINT', 'INTEGER'), ('DOUBLE', 'REAL'), ('DATE', 'TEXT')):
        statement = statement.replace(ours, theirs)
    return statement

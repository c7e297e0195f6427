# SPDX-License-Identifier: MIT
"""Which error is raised: the first in serial order, and the rows before it
come. Tables have rows for which some expressions fail; queries read some of
these rows. A row's expressions are the same over a table of that row alone,
which is the model for queries of one table."""
from .script import Query, Script, insert

BIG = 9223372036854775807
COLUMNS = 'id INTEGER, g INTEGER, a BIGINT, b BIGINT, d DOUBLE, s TEXT, y DATE'
# Expressions that fail for some rows, each at a place and with words of its own.
FAILING = ('{0}a + {0}b', '{0}a - {0}b', '{0}a * {0}b', '-{0}a', 'abs({0}a)', '{0}a / {0}b',
           'cast({0}a as integer)', 'cast({0}d as integer)', 'cast({0}d as bigint)',
           'cast({0}d as float)', 'cast({0}a as smallint)', 'cast({0}s as smallint)',
           'cast({0}s as boolean)', "cast({0}s as date)", 'cast({0}s as decimal(4,1))',
           "{0}y + interval '5000' year", '{0}a * 3 + 1', '{0}a + 1 - 2',
           'length(lpad({0}s, {0}b, {0}s))', "length(repeat('abc', {0}b))")
SAFE = ('{0}id', '{0}g', '{0}a', '{0}id + {0}g', '{0}d', '{0}s', '{0}g * 2')


class Errors:
    def __init__(self, rng):
        self.rng = rng

    # ------------------------------------------------------------- tables --

    def number(self):
        return str(self.rng.choice((0, 1, 2, 3, -1, 5, 100, 40000, 3000000000,
                                    *((BIG, -BIG, f'(-{BIG} - 1)', BIG - 1)
                                      if self.rng.random() < self.wild else (7,)))))

    def row(self, number):
        choice = self.rng.choice
        wild = self.rng.random() < self.wild
        text = choice(("'x'", "'99999'", "'2024-01-01'", "'yes'", "'1.25'", "''")) if wild \
            else choice(("'1'", "'0'", "'12'"))
        values = [str(number), str(self.rng.randrange(4)), self.number(), self.number(),
                  choice(('1e300', '-1e19', '3e9', '1e39')) if wild else choice(('0.5', '2.0')),
                  text, choice(("DATE '9990-01-01'", "DATE '2024-02-29'", "DATE '4999-12-31'"))]
        return [v if i == 0 or self.rng.random() > self.nulls else 'NULL'
                for i, v in enumerate(values)]

    def rows(self):
        self.wild = self.rng.choice((0.02, 0.1, 0.1, 0.3))
        self.nulls = self.rng.choice((0, 0.1))
        count = self.rng.choice((1, 2, 5, 9, 20, 64, 65, 70, 130, 200))
        return [self.row(i + 1) for i in range(count)]

    # -------------------------------------------------------- expressions --

    def failing(self, of=''):
        return self.rng.choice(FAILING).format(of)

    def value(self, of=''):
        chance = self.rng.random()
        if chance < 0.45:
            return self.failing(of)
        if chance < 0.55:
            return f'case when {self.condition(of)} then {of}id else {of}g end'
        if chance < 0.65:
            return f'case when {self.safe_condition(of)} then {self.failing(of)} end'
        if chance < 0.7:
            return f'coalesce({of}g, {self.failing(of)})'
        return self.rng.choice(SAFE).format(of)

    def safe_condition(self, of=''):
        rng = self.rng
        return rng.choice((f'{of}id < {rng.randrange(1, 80)}', f'{of}g = {rng.randrange(4)}',
                           f'{of}id > {rng.randrange(1, 60)}', f'{of}a < 1000',
                           f'{of}id between {rng.randrange(1, 30)} and {rng.randrange(5, 90)}',
                           f'{of}g is not null', f"{of}s = '1'", f"{of}s like '1%'",
                           f'{of}id % 7 <> 3', f'{of}id <> {rng.randrange(1, 20)}'))

    def condition(self, of=''):
        chance = self.rng.random()
        if chance < 0.4:
            return self.safe_condition(of)
        if chance < 0.6:
            return f'{self.failing(of)} is not null'
        if chance < 0.75:
            return f'{of}a + {of}b > {self.rng.randrange(5)}'
        word = self.rng.choice((' and ', ' and ', ' or '))
        return f'({self.condition(of)}{word}{self.condition(of)})'

    def where(self, of=''):
        return f' where {self.condition(of)}' if self.rng.random() < 0.6 else ''

    def limit(self):
        """(text, rows)"""
        chance = self.rng.random()
        if chance < 0.5:
            return '', None
        rows = self.rng.choice((0, 1, 2, 5, 10, 64, 65))
        return f' limit {rows}', rows

    # -------------------------------------------------------------- queries --

    def plain(self):
        """Of one table; the model is that of its rows one by one."""
        items = ', '.join(['id'] + [self.value() for _ in range(self.rng.choice((1, 1, 2, 3)))])
        where = self.where()
        limit, most = self.limit()
        model = None
        if len(self.single) > 0:
            model = [f'select {items} from {name}{where}' for name in self.single]
        return Query(f'select {items} from ta{where}{limit}', model=model, limit=most)

    def source(self):
        """(FROM, qualifiers)"""
        word = self.rng.choice(('join', 'join', 'left join', 'right join', 'full join',
                                'cross join'))
        if word == 'cross join':
            return 'ta p cross join tb q', ('p.', 'q.')
        on = self.rng.choice(('p.g = q.g', 'p.id = q.id', 'p.id = q.id and p.g = q.g',
                              'p.a = q.a', 'p.d < q.d', 'p.id between q.id and q.id + 2',
                              'p.id < q.g', 'p.s = q.s', 'p.a + p.b = q.a',
                              f'p.id = q.id and {self.condition("p.")}',
                              f'p.g = q.g and {self.condition("q.")}'))
        return f'ta p {word} tb q on {on}', ('p.', 'q.')

    def joined(self):
        source, names = self.source()
        items = ', '.join(['p.id', 'q.id'] +
                          [self.value(self.rng.choice(names)) for _ in range(2)])
        limit, _ = self.limit()
        return Query(f'select {items} from {source}{self.where(self.rng.choice(names))}{limit}',
                     planned=True)

    def half_joined(self):
        inner = self.rng.choice((
            f'{self.rng.choice(("", "not "))}exists (select 1 from tb q where q.g = p.g'
            f' and {self.condition("q.")})',
            f'p.g {self.rng.choice(("", "not "))}in (select {self.value("q.")} from tb q'
            f'{self.where("q.")})',
            f'p.id < (select max({self.value("q.")}) from tb q{self.where("q.")})',
            f'p.id > (select count({self.failing("q.")}) from tb q where q.g = p.g)'))
        limit, _ = self.limit()
        return Query(f'select p.id, {self.value("p.")} from ta p where {inner}{limit}',
                     planned=True)

    def grouped(self):
        form = self.rng.random()
        limit, _ = self.limit()
        calls = [f'{word}({self.value()})' for word in self.rng.sample(
            ('sum', 'count', 'min', 'max', 'count', 'avg'), self.rng.choice((1, 2)))]
        if form < 0.4:
            return Query(f'select {", ".join(calls)} from ta{self.where()}')
        if form < 0.7:
            having = f' having {calls[0]} > 1' if self.rng.random() < 0.3 else ''
            return Query(f'select g, {", ".join(calls)} from ta{self.where()} group by g'
                         f'{having}{limit}')
        if form < 0.85:
            return Query(f'select {self.value()}, count(*) from ta{self.where()} group by 1{limit}')
        return Query(f'select distinct {self.value()}, g from ta{self.where()}{limit}')

    def sorted(self):
        limit, _ = self.limit()
        if self.rng.random() < 0.6:
            return Query(f'select id, {self.value()} from ta{self.where()} '
                         f'order by {self.value()}, id{limit}')
        return Query(f'select id, {self.value()}, '
                     f'{self.rng.choice(("sum", "min", "count"))}({self.value()}) over '
                     f'(partition by g order by id) from ta{self.where()}{limit}')

    def several(self):
        word = self.rng.choice(('union all', 'union all', 'union', 'intersect', 'except'))
        limit, _ = self.limit()
        return Query(f'select id, {self.value()} from ta{self.where()} {word} '
                     f'select id, {self.value()} from tb{self.where()}{limit}')

    def nested(self):
        limit, most = self.limit()
        inner = f'select id, g, a, b, {self.value()} as v from ta{self.where()}{limit}'
        outer, _ = self.limit()
        item = self.rng.choice(('v', 'a + b', 'count(*)', 'a * g', '(select max(a + b) from tb)'))
        return Query(f'select {item} from ({inner}) x'
                     f'{self.rng.choice(("", " where g < 2", " where a - b <> 1"))}{outer}')

    def query(self):
        return self.rng.choice((self.plain, self.plain, self.plain, self.plain, self.joined,
                                self.joined, self.half_joined, self.grouped, self.sorted,
                                self.several, self.nested))()

    def changing(self):
        """A change that may fail, and what is there then."""
        statement = self.rng.choice((
            f'insert into tc select id, {self.failing()} from ta{self.where()}',
            f'update td set a = {self.value()}{self.where()}',
            f'delete from td{self.where()}'))
        return [Query(statement), Query('select count(*), sum(id), max(v) from tc'),
                Query('select id, a from td')]

    def script(self, queries):
        rows = self.rows()
        setup = [f'CREATE TABLE ta ({COLUMNS})', *insert('ta', rows)]
        self.single = [f't{i:x}' for i in range(len(rows))] if len(rows) <= 9 else []
        for name, row in zip(self.single, rows):
            setup += [f'CREATE TABLE {name} ({COLUMNS})', *insert(name, [row])]
        setup += [f'CREATE TABLE tb ({COLUMNS})', *insert('tb', self.rows()[:70]),
                  'CREATE TABLE tc (id INTEGER, v BIGINT)', f'CREATE TABLE td ({COLUMNS})',
                  'INSERT INTO td SELECT * FROM ta']
        made = []
        while len(made) < queries:
            made += self.changing() if self.rng.random() < 0.06 else [self.query()]
        return Script(setup, made)

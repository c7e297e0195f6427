#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random prepared statements that run again and again, beside sqlite3.

    prepared.py [options] LIBRARY

A set is a database with two tables, indexes and some prepared queries and changes.
These run in any order, each with other parameters every time, in transactions and
savepoints and without; some runs are left before their last row. So a plan is good
for many values, is hoped with and put off, and is made anew where tables change.
Answers are compared with sqlite3's: in their order where SQL fixes it, else as bags,
and what a LIMIT leaves of equal rows as some of all. After each change so are the
count of rows that it changed, and from time to time all rows of the tables.

A difference is told with the runs that led to it. Sets of which too few statements hope
for few rows are a failure: they test nothing of that. The last line is "N passed, N
failed". The same options give the same statements.
"""
import argparse
import collections
import ctypes
import multiprocessing
import os
import random
import re
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor

TABLET_ROWS = ('0', '64', '700', '5000')
WORDS = ('', 'a', 'A', 'b', 'ab', 'Ab', 'é', 'zz', 'fig', 'Fig 9', '%', '日本')
COLUMNS = ('id', 'i', 'b', 's', 'c', 'd')
ROW, DONE, BIGINT, TEXT, REALS = 100, 101, 2, 5, (3, 4)
NO_SYNC, CREATE = 4, 1
HOPES = 'few rows are hoped for'
HOPING_LEAST = 1  # statements of a set hope so on the average
SHOWN_RUNS = 12  # of those that led to a difference


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('library', help='libvdbq.so')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--sets', type=int, default=20)
    parser.add_argument('--from', type=int, default=0, dest='first', help='the first set')
    parser.add_argument('--runs', type=int, default=400, help='of a set (%(default)s)')
    parser.add_argument('--rows', type=int, default=60000, help='of a table, at most')
    parser.add_argument('--device', default='host')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--print', action='store_true', help='the statements, as they run')
    return parser.parse_args()


# ----------------------------------------------------------------- engines --

class Refused(Exception):
    """The engine gave an error."""


class Wrong(Exception):
    """The engines differ."""


class Failure(ctypes.Structure):
    """The head of struct vdbq_error."""
    _fields_ = [('status', ctypes.c_int), ('message', ctypes.c_char_p)]


class Vdbq:
    """A connection by the library's calls; statements stay prepared."""

    def __init__(self, library):
        self.call = ctypes.CDLL(library)
        self.call.vdbq_error.restype = ctypes.POINTER(Failure)
        self.call.vdbq_query_text.restype = ctypes.c_char_p
        self.call.vdbq_query_double.restype = ctypes.c_double
        self.call.vdbq_query_int64.restype = ctypes.c_int64
        self.call.vdbq_query_is_null.restype = ctypes.c_bool
        self.db = ctypes.c_void_p()
        self.check(self.call.vdbq_open(None, CREATE | NO_SYNC, ctypes.byref(self.db)))

    def check(self, status):
        if status not in (0, ROW, DONE):
            raise Refused(self.call.vdbq_error(self.db)[0].message.decode())
        return status

    def execute(self, sql):
        self.check(self.call.vdbq_execute(self.db, sql.encode()))

    def prepare(self, sql):
        query, text = ctypes.c_void_p(), sql.encode()
        self.check(self.call.vdbq_prepare(self.db, text, ctypes.c_ssize_t(-1),
                                          ctypes.byref(query), None))
        return query

    def bind(self, query, values):
        for number, value in enumerate(values, 1):
            if value is None:
                status = self.call.vdbq_bind_null(query, number)
            elif isinstance(value, int):
                status = self.call.vdbq_bind_int64(query, number, ctypes.c_int64(value))
            elif isinstance(value, float):
                status = self.call.vdbq_bind_double(query, number, ctypes.c_double(value))
            else:
                status = self.call.vdbq_bind_text(query, number, value.encode(),
                                                  ctypes.c_ssize_t(-1))
            self.check(status)

    def value(self, query, column):
        kind = self.call.vdbq_query_column_type(query, column)
        if self.call.vdbq_query_is_null(query, column):
            return None
        if kind == TEXT:
            return self.call.vdbq_query_text(query, column).decode()
        if kind in REALS:
            return self.call.vdbq_query_double(query, column)
        return self.call.vdbq_query_int64(query, column)

    def run(self, query, values, most=None):
        """The rows, `most` of them at most: the others are left."""
        self.bind(query, values)
        self.check(self.call.vdbq_query_run(query))
        columns, rows = range(self.call.vdbq_query_columns(query)), []
        while columns and (most is None or len(rows) < most) and \
                self.check(self.call.vdbq_query_row(query)) == ROW:
            rows.append(tuple(self.value(query, column) for column in columns))
        return rows

    def ask(self, sql, values=()):
        """The rows of a statement that runs once."""
        query = self.prepare(sql)
        try:
            return self.run(query, values)
        finally:
            self.call.vdbq_query_close(query)


class Sqlite:
    """sqlite3 in memory."""

    def __init__(self):
        self.connection = sqlite3.connect(':memory:', isolation_level=None)

    def run(self, sql, values=()):
        """The rows; of the values those that the statement has."""
        count = max(map(int, re.findall(r'\?(\d+)', sql)), default=0)
        try:
            return self.connection.execute(sql, values[:count]).fetchall()
        except (sqlite3.Error, OverflowError) as error:
            raise Refused(str(error)) from None


# -------------------------------------------------------------- statements --

class Statement:
    """A statement with numbered parameters. `all`: the same query without its LIMIT, where
    rows that it leaves out may be like those it gives; `keys`: how many columns at the
    front the order is by, None where it is not fixed; `lite`: as sqlite3 has it."""

    def __init__(self, sql, kinds, keys=None, every=None, lite=None, change=False):
        self.sql, self.kinds, self.keys, self.every = sql, kinds, keys, every
        self.lite, self.change = lite or sql, change
        self.query = self.name = None


class Maker:
    """Makes statements about t and u."""

    def __init__(self, rng, made_keys, value):
        self.rng, self.made_keys, self.value = rng, made_keys, value
        self.kinds = []

    def p(self, kind):
        """A new parameter; or a constant, of which plans know more."""
        if self.rng.random() < 0.3 and kind != 'new':
            return literal(self.value(kind))
        self.kinds.append(kind)
        return f'?{len(self.kinds)}'

    def put(self, text):
        """A text with new parameters where it says <kind>."""
        return re.sub(r'<(\w+)>', lambda found: self.p(found[1]), text)

    def part(self, at=''):
        rng = self.rng
        kind = rng.choice('iibdsid')
        name = 'id' if rng.random() < 0.25 else kind
        made = rng.choice((self.compared, self.compared, self.between, self.among, self.either,
                           self.of_texts, self.of_texts, self.computed, self.asked))
        return made(at, name)

    def compared(self, at, name):
        return f'{at}{name} {self.rng.choice(("=", "<", ">", ">=", "<=", ">"))} {self.p(name)}'

    def between(self, at, name):
        return f'{at}{name} between {self.p(name)} and {self.p(name)}'

    def among(self, at, name):
        items = ', '.join(self.p(name) for _ in range(self.rng.choice((1, 2, 3, 70))))
        return f'{at}{name} in ({items})'

    def either(self, at, name):
        low = self.p(name)
        if self.rng.random() < 0.4:
            return f'({at}{name} > {low} or {at}{name} = {low} and {at}id > {self.p("id")})'
        if self.rng.random() < 0.4:
            return f'({at}{name}, {at}id) > ({low}, {self.p("id")})'
        return f'({at}{name} = {low} or {at}id = {self.p("id")})'

    def of_texts(self, at, name):
        name = self.rng.choice('sc')
        return self.put(self.rng.choice((
            f"{at}{name} like '%{self.rng.randrange(10)}%'", f"{at}{name} like <like>",
            f"upper({at}{name}) like '%{self.rng.randrange(100)}'", f'{at}{name} is null',
            f'length({at}{name}) > 3', f'{at}{name} is not null',
            f"{at}{name} || {at}id like '%77%'",
            f'{at}{name} >= <s>', f"coalesce({at}s, {at}c) < <s>")))

    def computed(self, at, name):
        return self.put(self.rng.choice((f'{at}b % 7 = {self.rng.randrange(7)}',
                                f'{at}id > <id> + 3', f'{at}i + {at}id > <id>',
                                f'{at}d * 2 > <i>', f'not {at}i = <i>')))

    def asked(self, at, name):
        """What is asked of the other table."""
        return self.put(self.rng.choice((
            f'{at}i in (select u.i from u where u.b > <b>)',
            f'{at}s not in (select u.s from u where u.s > <s> and u.s is not null)',
            f'exists (select 1 from u where u.i = {at}i and u.d > <d>)',
            f'{at}id > (select max(u.id) from u where u.i = <i>)',
            f'{at}{name} >= (select min(u.{name}) from u where u.b < <b>)')))

    def where(self, at=''):
        parts = [self.part(at) for _ in range(self.rng.choice((0, 1, 1, 1, 2, 2, 3)))]
        return ' where ' + ' and '.join(parts) if parts else ''

    def shown(self, at=''):
        """A value of a row."""
        return self.rng.choice((
            *(f'{at}{name}' for name in COLUMNS), f"{at}s || '-' || {at}id", f'upper({at}s)',
            f'substr({at}c, 2)', f'coalesce({at}s, {at}c)', f'{at}i + {at}b', f'length({at}s)',
            f"case when {at}i > 5 then {at}s else {at}c end", f"replace({at}s, 'a', 'bb')",
            f'{at}c || {at}s', f"{at}s like '%a%'", f"printf('%d-%s', {at}id, {at}s)"))

    def limited(self, sql, keys):
        """A query with a LIMIT behind its order."""
        kind = self.rng.choice(('', '', '', 'offset', 'offset', '%'))
        if kind == '%':
            share = self.rng.choice((0, 1, 10, 50, 100))
            few = f'(select count(*) * {share} / 100 from ({sql}))'
            return Statement(f'{sql} limit {share}%', self.kinds, keys, sql, f'{sql} limit {few}')
        tail = self.put(' limit <count> offset <offset>' if kind else ' limit <count>')
        return Statement(sql + tail, self.kinds, keys, sql)

    def rows(self):
        """Rows of one table, maybe the first ones."""
        rng = self.rng
        values = [self.shown() for _ in range(rng.randrange(1, 4))]
        keys = [rng.choice(('id', 'i', 'b', 's', 'd', 'c')) for _ in range(rng.randrange(3))]
        if rng.random() < 0.6:
            keys.append('id')
        turned = [key + rng.choice(('', '', ' desc')) for key in keys]
        sql = f'select {", ".join(keys + values)} from {rng.choice("tttu")}{self.where()}'
        if keys:
            sql += f' order by {", ".join(turned)}'
        return self.limited(sql, len(keys)) if rng.random() < 0.8 else \
            Statement(sql, self.kinds, len(keys))

    def aggregate(self):
        return self.rng.choice(('count(*)', 'count(distinct s)', 'count(distinct i)', 'sum(b)',
                                'count(distinct b)', 'min(s)', 'max(c)', 'max(id)', 'min(id)',
                                'sum(d)', 'count(distinct d)', 'min(d)', 'sum(distinct i)',
                                'count(c)', "max(s || 'x')", 'count(distinct upper(s))'))

    def sought(self):
        """Rows at one end of an index, or behind a value in its order."""
        rng = self.rng
        name = rng.choice(('id', 'id', 'i', 'b', 's', 'd'))
        turn = rng.choice(('', ' desc'))
        parts = [self.put(f'{name} {rng.choice("<>")} <{name}>')]
        if rng.random() < 0.6:
            parts.append(self.part())
        where = ' where ' + ' and '.join(parts)
        if rng.random() < 0.2:
            values = f'{rng.choice(("min", "max"))}({name})'
            return Statement(f'select {values} from t{where}', self.kinds)
        sql = f'select {name}, id, {self.shown()}, {self.shown()} from t{where}'
        if rng.random() < 0.2:
            return Statement(sql, self.kinds)
        return self.limited(f'{sql} order by {name}{turn}, id{turn}', 2)

    def groups(self):
        rng = self.rng
        values = ', '.join(self.aggregate() for _ in range(rng.randrange(1, 5)))
        where = self.where()
        if rng.random() < 0.4:
            return Statement(f'select {values} from t{where}', self.kinds)
        keys = rng.choice(('i', 's', 'c', 'b % 10', 'i, s', 'substr(s, 1, 1)', 'id', 'd', 'b'))
        having = self.put(rng.choice(('', '', ' having count(*) > <few>')))
        sql = f'select {keys}, {values} from t{where} group by {keys}{having}'
        if rng.random() < 0.4:
            return self.limited(f'{sql} order by {keys}', keys.count(', ') + 1 - ('(' in keys) * 2)
        return Statement(sql, self.kinds)

    def joined(self):
        rng = self.rng
        kind = rng.choice(('join', 'join', 'left join'))
        equal = rng.choice(('t.i = u.i', 't.s = u.s', 't.c = u.s', 't.id = u.id', 't.b = u.b', ''))
        other = rng.choice(('t.b < u.b', 't.id > u.id', 't.s < u.s', 't.d <> u.d', 't.d >= u.d',
                            't.id between u.id and u.id + 5', ''))
        on = ' and '.join(part for part in (equal, other) if part) or 't.id = u.id'
        where = self.where('t.')
        if rng.random() < 0.6:
            values = rng.choice(('count(*)', 'count(*), sum(t.b), min(u.s)', 'max(t.s), max(u.s)',
                                 'count(distinct u.s), count(distinct t.i)'))
            return Statement(f'select {values} from t {kind} u on {on}{where}', self.kinds)
        shown = f'{self.shown("t.")}, {self.shown("u.")}'
        sql = f'select t.id, u.id, {shown} from t {kind} u on {on}{where}'
        return self.limited(f'{sql} order by t.id, u.id', 2) if rng.random() < 0.6 else \
            self.limited(sql, 0)

    def sets(self):
        rng = self.rng
        columns = rng.choice(('i', 's', 'i, s', 'c', 'd', 'id', 'b % 20', 's, c', 'i, d'))
        sql = f'select {columns} from {rng.choice("tu")}{self.where()} ' \
            f'{rng.choice(("except", "intersect", "union"))} ' \
            f'select {columns} from {rng.choice("tu")}{self.where()}'
        if rng.random() < 0.3:
            sql = f'select count(*) from ({sql})'
        elif rng.random() < 0.3:
            return self.limited(sql, 0)
        return Statement(sql, self.kinds)

    # -------------------------------------------------------------- changes

    def given(self):
        """Values of a new row, but for its key."""
        return [self.p(name) for name in COLUMNS[1:]]

    def insert(self):
        """Rows of values, whose key is made if nobody says it."""
        rng, count = self.rng, self.rng.choice((1, 1, 1, 2, 5))
        rows, lite = [], []
        said = not self.made_keys or rng.random() < 0.4
        for _ in range(count):
            row = ([self.p('new')] if said else []) + self.given()
            lite.append(f'({", ".join(row)})')
            if rng.random() < 0.3:
                self.kinds[-1:] = [] if row[-1] == f'?{len(self.kinds)}' else self.kinds[-1:]
                row[-1], lite[-1] = 'default', f'({", ".join(row[:-1])}, 1.5)'
            rows.append(f'({", ".join(row)})')
        kind = rng.choice(('insert', 'insert or ignore', 'insert or replace', 'insert'))
        names = ', '.join(COLUMNS if said else COLUMNS[1:])
        tail = rng.choice(('', '', ' returning id, s'))
        if said and self.made_keys and kind == 'insert' and rng.random() < 0.4:
            tail = ' on conflict (id) do update set i = excluded.i, s = t.s || excluded.s' + tail
        text = f'{kind} into t ({names}) values '
        return Statement(text + ', '.join(rows) + tail, self.kinds,
                         lite=text + ', '.join(lite) + tail, change=True)

    def copied(self):
        """Rows of a query, in an order that gives keys."""
        where = self.where()
        key = 'id + 1000000' if not self.made_keys else ''
        names = ', '.join(COLUMNS[not key:])
        shown = ', '.join(([key] if key else []) + list(COLUMNS[1:]))
        into = 'u' if key else 't'
        return Statement(f'insert into {into} ({names}) select {shown} from u{where} '
                         f'order by id limit {self.p("count")}', self.kinds, change=True)

    def picked(self):
        """The condition of a change, and its order and LIMIT where it has one, as vdbq and as
        sqlite3 have it."""
        where = self.where()
        if self.rng.random() < 0.5:
            return where, where
        keys = self.rng.choice(('id', 'i, id', 's desc, id', 'd desc, id desc'))
        tail = f'{where} order by {keys} limit {self.p("count")}'
        if self.rng.random() < 0.3:
            tail += f' offset {self.p("offset")}'
        return tail, f' where id in (select id from t{tail})'

    def update(self):
        name, value = self.rng.choice((
            ('i', '<i>'), ('b', 'b + 1'), ('s', "s || 'x'"), ('s', '<s>'),
            ('d', 'default'), ('c', "coalesce(c, 's') || i"), ('d', 'd + 0.5'), ('i', 'i + 1'),
            ('c', 's'), ('i', '(select max(u.i) from u where u.id < t.id)')))
        value = self.put(value)
        where, lite = self.picked()
        tail = self.rng.choice(('', '', ' returning id, i, s'))
        text = f'update t set {name} = '
        known = '1.5' if value == 'default' else value
        return Statement(text + value + where + tail, self.kinds,
                         lite=text + known + lite + tail, change=True)

    def delete(self):
        where, lite = self.picked()
        if where == '':
            where = lite = f' where id = {self.p("id")}'
        tail = self.rng.choice(('', '', ' returning id, s'))
        return Statement(f'delete from t{where}{tail}', self.kinds,
                         lite=f'delete from t{lite}{tail}', change=True)

    def query(self):
        self.kinds = []
        return self.rng.choice((self.rows, self.rows, self.sought, self.sought, self.groups,
                                self.joined, self.sets))()

    def change(self):
        self.kinds = []
        return self.rng.choice((self.insert, self.insert, self.copied, self.update, self.update,
                                self.delete))()


# --------------------------------------------------------------------- set --

class Set:
    """A database, its statements, and what they came to."""

    def __init__(self, options, number):
        self.options, self.rng = options, random.Random(f'{options.seed} {number}')
        os.environ['VDBQ_TABLET_ROWS'] = self.rng.choice(TABLET_ROWS)
        os.environ['VDBQ_DEVICE'] = options.device
        self.vdbq, self.lite = Vdbq(options.library), Sqlite()
        self.runs = collections.deque(maxlen=SHOWN_RUNS)
        self.next, self.depth, self.passed = 1, 0, 0
        self.hoping = 0  # statements whose first plan hopes for few rows
        self.width = self.rng.choice((3, 30, 3000))
        self.nulls = self.rng.choice((0, 0.05, 0.3))

    def both(self, sql):
        self.note(sql, ())
        self.vdbq.execute(sql)
        self.lite.run(sql)

    def note(self, sql, values):
        self.runs.append(f'{sql}  {list(values)}' if values else sql)
        if self.options.print:
            print(self.runs[-1], flush=True)

    # ------------------------------------------------------------- values

    def value(self, kind):
        """A value of a column, or of a parameter that is compared with it; may be NULL."""
        rng = self.rng
        if kind == 'new':
            return self.fresh()
        if kind == 'id':
            return rng.choice((rng.randrange(self.next + 5), self.next - rng.randrange(20), 3, 0))
        if kind in ('count', 'offset', 'few'):
            most = {'count': (0, 1, 2, 5, 20, 1000, -1), 'offset': (0, 0, 1, 7, 300)}
            return rng.choice(most.get(kind, (0, 1, 3)))
        if rng.random() < self.nulls:
            return None
        number = rng.randrange(self.width)
        if kind == 'like':
            return rng.choice(('%', '')) + rng.choice((*WORDS, str(number))) + '%'
        if kind in 'sc':
            return rng.choice(WORDS) + str(number) if rng.random() < 0.8 else rng.choice(WORDS)
        if kind == 'd':
            return number / 4 - 3
        return number if kind == 'i' else number * 1000003 - 2**33 * (number % 2)

    def fresh(self):
        """A key that is new, or now and then one that may be there."""
        if self.depth >= 0 and self.keyed and self.rng.random() < 0.1:
            return self.rng.randrange(1, self.next + 1)
        self.next += self.rng.choice((1, 1, 1, 50))
        return self.next

    # ------------------------------------------------------------- set-up

    def fill(self, table, count):
        for first in range(0, count, 500):
            rows = []
            for number in range(first, min(first + 500, count)):
                rows.append([number + 1, *map(self.value, COLUMNS[1:])])
            sql = f'insert into {table} values ' + ', '.join(
                '(' + ', '.join(map(literal, row)) + ')' for row in rows)
            self.vdbq.execute(sql)
            self.lite.run(sql)
        self.next = max(self.next, count + 1)

    def start(self):
        rng = self.rng
        key = rng.choice(('integer primary key', 'integer primary key', 'integer not null unique',
                          'integer'))
        self.keyed = key != 'integer'
        for table in 'tu':
            self.both(f'create table {table} (id {key}, i integer, b bigint, s text, c text, '
                      'd double default 1.5)')
        counts = [count for count in (0, 300, 3000, 3000, 20000, 20000, 60000)
                  if count <= self.options.rows]
        for _ in range(rng.randrange(3)):
            self.index()
        self.fill('t', rng.choice(counts))
        self.fill('u', rng.choice((0, 5, 60)))
        for _ in range(rng.randrange(3)):
            self.index()
        maker = Maker(rng, 'primary' in key, self.value)
        self.queries = [maker.query() for _ in range(14)]
        self.changes = [maker.change() for _ in range(8)]
        for number, made in enumerate(self.queries + self.changes):
            if made.kinds and rng.random() < 0.2:
                made.name = f'p{number}'
                self.vdbq.execute(f'prepare {made.name} as {made.sql}')

    def index(self):
        names = self.rng.sample(COLUMNS, self.rng.choice((1, 1, 2, 3)))
        kind = self.rng.choice('ttu')
        self.both(f'create index x{self.rng.randrange(10**9)} on {kind} ({", ".join(names)})')

    # ---------------------------------------------------------------- runs

    def run(self):
        self.start()
        for _ in range(self.options.runs):
            share = self.rng.random()
            if share < 0.7:
                self.try_one(self.rng.choice(self.queries))
            elif share < 0.88:
                self.try_one(self.rng.choice(self.changes))
            elif share < 0.97:
                self.bound()
            else:
                self.look()
            self.passed += 1
        self.look()

    def bound(self):
        """Begins, marks or ends a transaction; seldom makes an index."""
        if self.depth == 0:
            if self.rng.random() < 0.1:
                self.index()
            self.both('begin')
            self.depth = 1
            return
        kind = self.rng.choice(('commit', 'rollback', 'savepoint', 'savepoint', 'to', 'release'))
        if kind in ('to', 'release') and self.depth == 1:
            kind = 'savepoint'
        if kind == 'savepoint':
            self.depth += 1
            self.both(f'savepoint s{self.depth}')
        elif kind == 'to':
            self.both(f'rollback to s{self.depth}')
        elif kind == 'release':
            self.both(f'release s{self.depth}')
            self.depth -= 1
        else:
            self.both(kind)
            self.depth = 0

    def try_one(self, statement):
        values = [self.value(kind) for kind in statement.kinds]
        self.note(statement.sql, values)
        most = self.rng.choice((0, 1, 3)) if self.rng.random() < 0.1 and not statement.change \
            else None
        got = self.outcome(lambda: self.asked(statement, values, most))
        wanted = self.outcome(lambda: self.lite.run(statement.lite, values))
        if isinstance(got, str) or isinstance(wanted, str):
            if isinstance(got, str) != isinstance(wanted, str):
                raise Wrong(f'vdbq: {str(got)[:300]}\nsqlite3: {str(wanted)[:300]}')
            return
        self.compare(statement, values, got, wanted, most)
        if statement.change:
            self.same('changes()', self.vdbq.ask('select changes()'),
                      self.lite.run('select changes()'))

    @staticmethod
    def outcome(call):
        """Rows, or what the error says."""
        try:
            return call()
        except Refused as error:
            return f'error: {error}'

    def asked(self, statement, values, most):
        """Runs a statement, which stays prepared, by its handle or by its name."""
        if statement.query is None:
            plan = self.vdbq.ask(f'explain {statement.sql}', values)
            self.hoping += any(HOPES in line[-1] for line in plan)
            statement.query = self.vdbq.prepare(statement.sql)
        if statement.name and values and most is None:
            given = ', '.join(map(literal, values))
            return self.vdbq.ask(f'execute {statement.name}({given})')
        return self.vdbq.run(statement.query, values, most)

    def compare(self, statement, values, got, wanted, most):
        keys, ordered = statement.keys or 0, wanted if most is None else wanted[:most]
        self.same('count of rows', len(got), len(ordered))
        if keys:
            self.same('order', [row[:keys] for row in got], [row[:keys] for row in ordered])
        every = wanted
        if statement.every is not None:
            every = self.lite.run(statement.every, values)
        extra = collections.Counter(got) - collections.Counter(every)
        if extra:
            raise Wrong(f'rows that are not there: {list(extra.items())[:5]}')

    def same(self, what, got, wanted):
        if got != wanted:
            raise Wrong(f'{what}\nvdbq:    {str(got)[:400]}\nsqlite3: {str(wanted)[:400]}')

    def look(self):
        """Compares the tables."""
        for table in 'tu':
            sql = f'select * from {table} order by id, i, b, s, c, d'
            self.same(f'rows of {table}', self.vdbq.ask(sql), self.lite.run(sql))


def literal(value):
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return 'null' if value is None else repr(value)


# --------------------------------------------------------------- processes --

def work(options, number, pipe):
    made = Set(options, number)
    try:
        made.run()
        pipe.send((made.passed, made.hoping, ''))
    except (Wrong, Refused) as found:
        runs = '\n'.join(made.runs)
        rows = os.environ['VDBQ_TABLET_ROWS']
        pipe.send((made.passed, made.hoping, f'tablets of {rows} rows\n{runs}\n{found}'))


def run_set(job):
    """(runs that were right, statements that hope, what went wrong or '') of a set, in a
    process that may die."""
    options, number = job
    mine, its = multiprocessing.Pipe(False)
    process = multiprocessing.Process(target=work, args=(options, number, its))
    process.start()
    its.close()
    try:
        passed, hoping, fault = mine.recv()
    except EOFError:
        passed, hoping, fault = 0, 0, 'the process died'
    process.join()
    return passed, hoping, fault and f'-- set {number} of seed {options.seed}: {fault}\n'


def main():
    options = arguments()
    passed = failed = hoping = 0
    jobs = [(options, number) for number in range(options.first, options.first + options.sets)]
    with ThreadPoolExecutor(options.jobs) as pool:
        for count, hopes, fault in pool.map(run_set, jobs):
            passed += count
            hoping += hopes
            if fault:
                failed += 1
                print(fault, flush=True)
    print(f'{hoping} statements hope for few rows')
    if hoping < HOPING_LEAST * options.sets:
        print(f'that is less than {HOPING_LEAST} a set')
        failed += 1
    print(f'{passed} passed, {failed} failed')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())

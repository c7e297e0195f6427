#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random tables and queries, with indexes that are used and without.

    indexes.py [options] BINARY

Tables of all types, with NULLs and values that come often, get random indexes,
and are changed: rows are inserted, updated and deleted, in transactions that end
either way, and the file is opened again. Between the changes, queries ask for
values of indexed columns, of which some are parameters, or computed of these. Each
script runs in a shell that uses indexes and in one that does not (VDBQ_PASSES): both
must print the same bytes. Where a query is about integers and texts alone, sqlite3
must give the same rows, too.

A set in which too few queries use an index is a failure: it tests nothing. The
last line is "N passed, N failed".
"""
import argparse
import csv
import io
import multiprocessing
import os
import random
import re
import shlex
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from shell_options import HANG_SECONDS  # noqa: E402

COLUMNS = {'i': 'integer', 'b': 'bigint', 'h': 'smallint', 's': 'text', 'd': 'double',
           'f': 'float', 'n': 'decimal(9,2)', 'y': 'date', 't': 'timestamp', 'o': 'boolean',
           'c': 'text collate nocase'}
SHARED = 'ibhs'  # what sqlite3 compares and prints alike
# What indexes of expressions are of, by the columns that they read: some that sqlite3
# computes alike, and others.
EXPRESSIONS = {'i': ('i * 2', 'i + 1', 'i % 7', 'coalesce(i, 5)', 'case when i > 5 then i end'),
               'h': ('h * 3 + 1', 'h % 10', '-h'), 'b': ('b / 2', 'b % 1000'),
               's': ('lower(s)', 'length(s)', 'substr(s, 1, 2)', 'upper(s)'),
               'd': ('d * 2', 'd + 0.5'), 'f': ('f * 2',), 'n': ('n + 1', 'n * 2'),
               'y': ('year(y)', 'month(y)'), 't': ('day(t)',), 'o': ('not o',),
               'c': ('length(c)', 'lower(c)'), 'ih': ('i + h', 'i * 10 + h'),
               'ib': ('i - b % 100',), 'is': ("s || '-' || i", 'i + length(s)')}
# What may become a parameter: a whole number or a text, that is no date's.
LITERAL = re.compile(r"(?:date|timestamp) '[^']*'|'[^']*'|(?<![\w.])\d+(?![\w.])")
CONDITION = re.compile(r'(?<= where )(.*?)(?= order by | limit |$)')
USED_SHARE = 0.12  # of the queries use an index, at least
REOPEN = '-- reopened'
WITHOUT = '-use indexes'


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary', help='the shell, split like a command line')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--sets', type=int, default=60)
    parser.add_argument('--rows', type=int, default=3000, help='of a table, at most')
    parser.add_argument('--device', default='host')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    return parser.parse_args()


class Values:
    """Values of a column: few different ones, or many, or extreme ones; or they ascend."""

    def __init__(self, rng, column):
        self.rng = rng
        self.column = column
        self.width = rng.choice((3, 300, 1000, 30000))
        self.nulls = rng.choice((0, 0, 0.1, 0.5))
        self.far = rng.random() < 0.2
        self.step = rng.choice((1, 7, 40))
        self.ascends = rng.random() < 0.25
        self.count = 0  # of those of rows

    def number(self, comes=False):
        if self.ascends:
            self.count += comes
            return (self.count if comes else self.rng.randrange(self.count + 1)) // self.step
        return self.rng.randrange(-self.width // 4, self.width)

    def one(self, comes=False):
        """A value as SQL writes it, not NULL; of a row that comes, or as a query has it."""
        rng, number = self.rng, self.number(comes)
        if self.column == 'o':
            return rng.choice(('true', 'false'))
        if self.column == 'h':
            return str(number if abs(number) < 32768 else 32767)
        if self.column == 'b' and self.far and rng.random() < 0.1:
            return str(rng.choice((2**63 - 1, -2**63 + 1, 2**40, -2**40)))
        if self.column == 'i' and self.far and rng.random() < 0.1:
            return str(rng.choice((2**31 - 1, -2**31)))
        if self.column in 'ib':
            return str(number)
        if self.column in 'sc':
            return "'%s%d'" % (rng.choice(('', 'a', 'A', 'é', 'zz ')), number)
        if self.column in 'df':
            return rng.choice(('%d', '%d.5', '%d.25', '-%d.0', '%de3')) % abs(number)
        if self.column == 'n':
            return '%d.%02d' % (number, rng.randrange(100))
        day = "%04d-%02d-%02d" % (1990 + abs(number) % 40, 1 + abs(number) % 12,
                                  1 + abs(number) % 28)
        return f"date '{day}'" if self.column == 'y' else f"timestamp '{day} 0{number % 10}:00:00'"

    def any(self):
        return 'NULL' if self.rng.random() < self.nulls else self.one(comes=True)


class Script:
    """The statements of one set, and what sqlite3 says of its queries."""

    def __init__(self, options, number):
        self.rng = random.Random(f'{options.seed} {number}')
        self.most = options.rows
        self.lite = sqlite3.connect(':memory:', isolation_level=None)
        self.lines = []
        self.queries = []  # (number of the line, rows of sqlite3 or None)
        names = self.rng.sample(sorted(COLUMNS), self.rng.randrange(3, len(COLUMNS) + 1))
        self.values = {name: Values(self.rng, name) for name in names}
        self.key = self.rng.choice((None, 'k', 'k', 'k2'))
        self.next_key = 0
        self.indexed = [self.key] if self.key else []  # columns that are the first of an index
        self.orders = []  # (columns that equal a value, columns of the order behind them)
        self.keys = []  # (terms, condition) of indexes of expressions and of some rows
        self.shared = all(name in SHARED for name in names)

    def do(self, sql, lite=None):
        self.lines.append(sql + ';')
        if self.shared:
            self.lite.execute(lite or sql)

    def row(self):
        values = [value.any() for value in self.values.values()]
        if self.key:
            self.next_key += self.rng.choice((1, 1, 1, 7)) if self.key == 'k2' else 1
            values.insert(0, str(self.next_key * 7919 % 1000003 if self.key == 'k2'
                                 else self.next_key))
        return '(' + ', '.join(values) + ')'

    def insert(self, count):
        for first in range(0, count, 500):
            rows = ', '.join(self.row() for _ in range(min(500, count - first)))
            self.do(f'insert into t values {rows}')

    def create(self):
        columns = [f'{name} {COLUMNS[name]}' for name in self.values]
        if self.key:
            columns.insert(0, f'{self.key} integer primary key')
        self.do(f'create table t ({", ".join(columns)})')
        few = [f'{name} {COLUMNS[name]}' for name in self.values]
        self.do(f'create table u ({", ".join(few)})')

    def insert_few(self):
        rows = ['(' + ', '.join(value.any() for value in self.values.values()) + ')'
                for _ in range(self.rng.choice((1, 3, 12)))]
        self.do(f'insert into u values {", ".join(rows)}')

    def index(self):
        if self.rng.random() < 0.5:
            self.index_keys()
            return
        names = list(self.values) + ([self.key] if self.key else [])
        chosen = self.rng.sample(names, min(len(names), self.rng.choice((1, 1, 2, 2, 3, 4))))
        self.indexed.append(chosen[0])
        at = self.rng.randrange(min(len(chosen), 3))
        self.orders.append((chosen[:at], chosen[at:self.rng.randrange(at + 1, len(chosen) + 1)]))
        self.do(f'create index x{len(self.lines)} on t ({", ".join(chosen)})')

    # ------------------------------------------- expressions and conditions

    def expression(self):
        """An expression over columns that there are; or a column."""
        fits = [e for of, some in EXPRESSIONS.items() if set(of) <= set(self.values)
                for e in some]
        return self.rng.choice(fits) if fits and self.rng.random() < 0.8 else \
            self.rng.choice(list(self.values))

    def part(self):
        """A part of an index's condition, as (column, operator, constant)."""
        name = self.rng.choice(list(self.values))
        kind = self.rng.choice(('>', '<', '>=', '<=', '=', '<>', 'is not', 'in'))
        if kind == 'is not':
            return name, kind, 'null'
        if kind == 'in':
            return name, kind, '(%s)' % ', '.join(self.constant(name) for _ in range(3))
        return name, kind, self.constant(name)

    def index_keys(self):
        """An index of expressions, or of some rows, or both."""
        rng = self.rng
        terms = [self.expression() for _ in range(rng.choice((1, 1, 1, 2, 3)))]
        where = [self.part() for _ in range(rng.choice((0, 0, 1, 1, 2)))]
        if not where and all(term in self.values for term in terms):
            where = [self.part()]
        self.keys.append((terms, where))
        sql = f'create index x{len(self.lines)} on t ({", ".join(terms)})'
        if where:
            sql += ' where ' + ' and '.join(' '.join(part) for part in where)
        self.do(sql)

    def value_of(self, term):
        """A constant that an expression may have: of some row, or near."""
        if term in self.values or term == self.key:
            return self.constant(term)
        of = next((of for of, some in EXPRESSIONS.items() if term in some))
        text = term
        for column in sorted(of):
            text = re.sub(rf'\b{column}\b', lambda _, c=column: f'({self.constant(c)})', text)
        return f'({text})'

    def stronger(self, part):
        """A part of a query that implies one of an index, or does not."""
        name, kind, constant = part
        rng = self.rng
        if rng.random() < 0.5:
            return ' '.join(part)
        if kind == 'is not':
            return f'{name} {rng.choice(("=", ">", "<", "<>"))} {self.constant(name)}'
        if kind == 'in':
            return f'{name} = ' + rng.choice(constant[1:-1].split(', '))
        return f'{name} {rng.choice((kind, kind, "=", "<", ">"))} {self.constant(name)}'

    def keyed(self):
        """What is asked of an index of expressions or of some rows."""
        rng = self.rng
        terms, where = rng.choice(self.keys)
        asked = []
        for term in terms[:rng.randrange(1, len(terms) + 1)]:
            kind = rng.choice(('=', '=', '=', '<', '>', '>=', 'in', 'between', 'none'))
            if kind == 'in':
                asked.append(f'{term} in ({self.value_of(term)}, {self.value_of(term)})')
            elif kind == 'between':
                asked.append(f'{term} between {self.value_of(term)} and {self.value_of(term)}')
            elif kind != 'none':
                asked.append(f'{term} {kind} {self.value_of(term)}')
        asked += [self.stronger(part) for part in where if rng.random() < 0.9]
        rng.shuffle(asked)
        return ' and '.join(asked) or '1 = 1'

    # -------------------------------------------------------------- queries

    def constant(self, name):
        if name == self.key:
            return str(self.rng.randrange(self.next_key + 3) if name == 'k'
                       else self.rng.randrange(self.next_key + 3) * 7919 % 1000003)
        return self.values[name].one()

    def condition(self, name):
        rng = self.rng
        if self.keys and rng.random() < 0.4:
            return self.keyed()
        kind = rng.choice(('=', '=', '=', '=', 'in', 'in', 'between', '<', '<=', '>', '>=',
                           'turned', 'many', 'null', 'not', 'computed', 'starts', 'starts',
                           'answer', 'answer'))
        if kind == 'in':
            items = [self.constant(name) for _ in range(rng.randrange(1, 6))]
            return f'{name} in ({", ".join(items)})'
        if kind == 'many':
            most = rng.choice((90, 90, 90, 600))  # several of a search's batches
            items = [self.constant(name) for _ in range(rng.randrange(60, most))]
            return f'{name} in ({", ".join(items)})'
        if kind == 'between':
            return f'{name} between {self.constant(name)} and {self.constant(name)}'
        if kind == 'answer':
            return self.answer(name)
        if kind == 'turned':
            return f'{self.constant(name)} {rng.choice(("=", "<", ">="))} {name}'
        if kind == 'null':
            return f'{name} is null'
        if kind == 'not':
            return f'not {name} = {self.constant(name)}'
        if kind == 'starts' and name in 'sc':
            return self.start(name)
        if kind == 'computed' and name in 'ihk':
            return f'{name} + 1 = {self.constant(name)}'
        if kind in ('computed', 'starts'):
            kind = '='
        return f'{name} {kind} {self.constant(name)}'

    def answer(self, name):
        """A column compared with what a query answers: known of a whole table, or not."""
        rng = self.rng
        prefix, order = rng.choice(self.orders or [([], [name])])
        where = ''
        if rng.random() < 0.3:  # behind columns that equal a value
            name = order[0]
            where = ''.join(f'{name} = {self.constant(name)} and ' for name in prefix)
        if rng.random() < 0.2:
            return where + f'{name} between {self.value(name)} and {self.value(name)}'
        kind = rng.choice(('=', '<', '<=', '>', '>=', '>='))
        if rng.random() < 0.2:
            return where + f'{self.value(name)} {kind} {name}'
        return where + f'{name} {kind} {self.value(name)}'

    def value(self, name):
        """A query that has one value, or none, of those of a column, or near them."""
        rng = self.rng
        table = 't' if name == self.key else rng.choice('ttu')
        of = rng.choice(list(self.values))
        asked = f' where {of} {rng.choice(("<>", ">", "="))} {self.constant(of)}' \
            if rng.random() < 0.6 else ''
        near = rng.choice(('', ' - 3', ' + 2')) if name in ('i', 'h', 'd', 'k', 'k2') else ''
        kind = rng.choice(('min', 'max', 'min', 'max', 'max', 'first', 'last', 'row'))
        if kind == 'row' and self.key:
            return f'(select {name}{near} from t where {self.key} = {self.constant(self.key)})'
        if kind in ('first', 'last', 'row'):
            turn = ' desc' if kind == 'last' else ''
            return f'(select {name}{near} from {table}{asked} order by {name}{turn} limit 1)'
        if rng.random() < 0.3:
            return f'(select {kind}({name}) from {table}{asked}){near}'
        return f'(select {kind}({name}){near} from {table}{asked})'

    def rows(self, names):
        """Several columns compared with rows at once."""
        rng = self.rng
        columns = rng.choice(self.orders)[1] if self.orders and rng.random() < 0.6 else []
        columns = [*columns, *rng.sample(names, min(len(names), 3))]
        columns = list(dict.fromkeys(columns))[:rng.choice((2, 2, 2, 3))]
        if rng.random() < 0.3:
            rng.shuffle(columns)
        left = f'({", ".join(columns)})'

        def row():
            return f'({", ".join(self.constant(name) for name in columns)})'
        kind = rng.choice(('in', 'in', 'in', 'many', 'query', 'query', '=', '<', '>=', 'between'))
        if len(columns) < 2:
            return self.condition(columns[0])
        if kind == 'query' and self.key not in columns:
            return f'{left} {rng.choice(("", "not "))}in (select {", ".join(columns)} from u)'
        if kind in ('in', 'many', 'query'):
            count = rng.randrange(65, 90) if kind == 'many' else rng.randrange(1, 6)
            return f'{left} in (values {", ".join(row() for _ in range(count))})'
        return f'{left} between {row()} and {row()}' if kind == 'between' else \
            f'{left} {kind} {row()}'

    def bound(self, order):
        """What is behind or before a value, or a row of several: a page of a list."""
        rng = self.rng
        if len(order) < 2 or rng.random() < 0.3:
            return f'{order[0]} {rng.choice((">", "<=", "="))} {self.value_of(order[0])}'
        kind = rng.choice(('>', '>', '<', '<', '>=', '<='))
        values = [self.value_of(term) for term in order]
        if len(order) == 2 and rng.random() < 0.3:
            return (f'({order[0]} {kind[0]} {values[0]} or '
                    f'{order[0]} = {values[0]} and {order[1]} {kind} {values[1]})')
        return f'({", ".join(order)}) {kind} ({", ".join(values)})'

    def rest(self, name):
        """What most rows have, or some, or next to none."""
        rng = self.rng
        if name in 'sc' and rng.random() < 0.7:
            return f"{name} like '%{rng.choice('123456789aZé')}{rng.choice(('', '1', '_'))}%'"
        if rng.random() < 0.3:
            return f'{name} in ({", ".join(self.constant(name) for _ in range(3))})'
        return f'{name} {rng.choice(("<>", ">", "<=", "=", "is not"))} {self.constant(name)}'

    def ends(self, names, shown):
        """The first rows of an order, or the least and the greatest value."""
        rng = self.rng
        prefix, order = rng.choice(self.orders or [([], [names[0]])])
        where = ' and '.join(f'{name} = {self.constant(name)}' for name in prefix)
        if self.keys and rng.random() < 0.4:
            order, parts = rng.choice(self.keys)
            where = ' and '.join(' '.join(part) for part in parts)
            shown = rng.choice((shown, ', '.join(order)))
        if rng.random() < 0.4:
            bound = self.bound(order)
            where = f'{where} and {bound}' if where else bound
        if rng.random() < 0.5:  # the index does not know of all that leaves rows out
            where += ' and ' * bool(where) + self.rest(rng.choice(names))
        where = f' where {where}' if where else ''
        if rng.random() < 0.3:
            called = rng.choice(('min({0})', 'max({0})', 'min({0}), max({0})'))
            return f'select {called.format(order[0])} from t{where}', ''
        turn = rng.choice(('', '', ' desc'))
        terms = [name + turn + rng.choice(('', '', '', ' nulls first', ' nulls last'))
                 for name in order]
        if rng.random() < 0.4:  # the order goes on where the index does not
            terms = terms[:rng.randrange(1, len(terms) + 1)]
            terms += [rng.choice((self.expression(), rng.choice(names)))
                      + rng.choice(('', turn, ' desc', ' nulls last'))
                      for _ in range(rng.choice((1, 1, 2)))]
        tail = f' order by {", ".join(terms)} limit {rng.choice((1, 2, 5, 40))}'
        tail += rng.choice(('', '', f' offset {rng.randrange(7)}'))
        return f'select {shown} from t{where}{tail}', tail

    def join(self, names):
        """A join of few rows with the table."""
        rng = self.rng
        name = rng.choice(self.indexed or names)
        if name == self.key:
            name = rng.choice(list(self.values))
        on = f't.{name} = u.{name}'
        if self.keys and rng.random() < 0.4:
            terms, where = rng.choice(self.keys)
            on = ' = '.join(self.qualified(terms[0], table) for table in 'tu')
            on = ' and '.join((on, *(f't.{" ".join(part)}' for part in where)))
        if rng.random() < 0.2:
            on += f' and t.{(other := rng.choice(list(self.values)))} = u.{other}'
        return rng.choice((
            f'select t.*, u.{name} from u join t on {on}',
            f'select t.*, u.{name} from t join u on {on}',
            f'select u.*, t.{name} from u left join t on {on}',
            f'select count(*), max(t.{name}) from u, t where {on}',
            f'select * from t where {name} in (select {name} from u)',
            f'select * from t where exists (select 1 from u where {on})',
            f'select * from u where not exists (select 1 from t where {on})',
            f'select * from u where {name} not in (select {name} from t)',
            f'select t.* from t join u on {on} join u as v on v.{name} = u.{name}'))

    def qualified(self, term, table):
        """An expression over columns of a table."""
        if self.key and re.search(rf'\b{self.key}\b', term):
            term = list(self.values)[0]
        of = next((of for of, some in EXPRESSIONS.items() if term in some), term)
        for column in sorted(of):
            term = re.sub(rf'\b{column}\b', f'{table}.{column}', term)
        return term

    def start(self, name):
        """What a text begins with, or looks like."""
        rng = self.rng
        text = self.constant(name)[1:-1]
        start = text[:rng.randrange(1, len(text) + 1)]
        if not self.shared and rng.random() < 0.3:
            return f"starts_with({name}, '{start}')"
        if rng.random() < 0.4:
            return f"{name} glob '{start}{rng.choice(('*', '*', '*', '', '?', '*1*', '[0-9]*'))}'"
        if rng.random() < 0.3:
            start = start.swapcase()
        return f"{name} like '{start}{rng.choice(('%', '%', '%', '', '_', '%1', '_%'))}'"

    def query(self):
        rng = self.rng
        names = list(self.values) + ([self.key] if self.key else [])
        asked = rng.choices(self.indexed * 3 + names, k=rng.choice((1, 1, 2, 2, 3)))
        where = ' and '.join(self.condition(name) for name in asked)
        if rng.random() < 0.15:
            where = self.rows(names) if rng.random() < 0.7 else f'{self.rows(names)} and {where}'
        if rng.random() < 0.1:
            order = rng.choice(self.orders)[1] if self.orders else []
            where = self.bound(list(dict.fromkeys([*order, *rng.sample(names, 1)]))[:3])
        shown = rng.choice(('*', ', '.join(rng.sample(names, rng.randrange(1, len(names) + 1)))))
        if rng.random() < 0.15:
            shown = 'count(*), min(%s), max(%s)' % (rng.choice(names), rng.choice(names))
        tail = rng.choice(('', '', '', f' order by {rng.choice(names)} limit 5'))
        sql = f'select {shown} from t where {where}{tail}'
        if rng.random() < 0.25:
            sql, tail = self.ends(names, shown)
        elif rng.random() < 0.2:
            sql, tail = self.join(names), ''
        if rng.random() < 0.1:
            sql = f'select count(*) from t join t as u on t.{names[0]} = u.{names[0]} where ' + \
                ' and '.join(f't.{part}' for part in [f'{names[0]} = {self.constant(names[0])}'])
        self.ask(sql, self.shared and not tail)

    def parameter(self, literal, given):
        """A parameter in place of a literal, or what is computed of it and gives that."""
        rng = self.rng
        name = f'p{len(given)}'
        if rng.random() < 0.5 or literal.startswith(('date', 'timestamp')):
            return literal
        if literal.startswith("'"):
            given[name] = literal[1:-1]
            return f':{name}'
        near = rng.choice((0, 0, 1, 3))
        given[name] = int(literal) - near
        return f'(:{name} + {near})' if near else f':{name}'

    def ask(self, sql, compared):
        """Adds a query; `compared`: with sqlite3, too."""
        rows, given = None, {}
        if self.rng.random() < 0.4:
            sql = CONDITION.sub(
                lambda part: LITERAL.sub(
                    lambda found: self.parameter(found[0], given), part[0]),
                sql, count=1)
        if compared:
            rows = sorted(map(shown_row, self.lite.execute(sql, given).fetchall()))
        for name, value in given.items():
            shown = f'"\'{value}\'"' if isinstance(value, str) else value
            self.lines.append(f'.parameter set :{name} {shown}')
        self.lines.append(f".print @{len(self.queries)}")
        self.lines.append(sql + ';')
        self.lines.append(f"explain {sql};")
        self.queries.append((sql, rows))

    def look_up_often(self):
        """Look-ups of one column, so many that runs stay in memory and sieves are made."""
        name = self.rng.choice(self.indexed or list(self.values))
        for _ in range(self.rng.choice((20, 250))):
            items = ', '.join(self.constant(name) for _ in range(self.rng.choice((1, 1, 1, 3))))
            self.ask(f'select * from t where {name} in ({items})', self.shared)

    def insert_often(self):
        """Rows one by one, of which some have a key that is there."""
        for _ in range(self.rng.choice((20, 120)) if self.key else 0):
            row = self.row()
            if self.rng.random() < 0.3:
                row = f'({self.constant(self.key)},' + row.split(',', 1)[1]
                self.next_key += 3  # keys that constant() may have had
            self.do(f'insert or ignore into t values {row}')
        self.ask('select count(*) from t', self.shared)

    def update_often(self):
        """Rows that get new keys one by one, and look-ups between."""
        rng = self.rng
        for _ in range(rng.choice((10, 60)) if self.key else 0):
            name = rng.choice(list(self.values))
            self.do(f'update t set {name} = {self.values[name].any()} '
                    f'where {self.key} = {self.constant(self.key)}')
            if rng.random() < 0.4:
                self.ask(f'select * from t where {name} = {self.constant(name)}', self.shared)

    def change(self):
        rng = self.rng
        kind = rng.choice(('insert', 'insert', 'update', 'delete', 'rollback', 'commit', 'index',
                           'reopen', 'few'))
        name = rng.choice(list(self.values))
        where = self.condition(rng.choice(list(self.values)))
        if kind == 'insert':
            self.insert(rng.choice((1, 3, 200)))
        elif kind == 'few':
            self.insert_few()
        elif kind == 'update':
            self.do(f'update t set {name} = {self.values[name].any()} where {where}')
        elif kind == 'delete':
            self.do(f'delete from t where {where}')
        elif kind == 'index':
            self.index()
        elif kind == 'reopen':
            self.lines.append(REOPEN)
        else:
            self.do('begin')
            self.insert(rng.choice((1, 50)))
            self.query()
            self.do(f'update t set {name} = {self.values[name].any()} where {where}')
            self.query()
            self.do(kind)

    def make(self):
        self.create()
        for _ in range(self.rng.randrange(3)):
            self.index()
        self.insert(self.rng.choice((self.most, self.most, self.most // 2, 5)))
        self.insert_few()
        for _ in range(self.rng.randrange(4)):
            self.index()
        for number in range(12):
            if self.rng.random() < (0.04 if number else 0.3):
                self.look_up_often()
                self.insert_often()
                self.update_often()
            for _ in range(self.rng.randrange(1, 5)):
                self.query()
            self.change()
        return self


def shown_row(row):
    return ['' if value is None else str(value) for value in row]


def run(options, script, passes, tablet_rows):
    """What the shell prints, part by part: the file is opened again for each."""
    environment = os.environ | {'VDBQ_DEVICE': options.device, 'VDBQ_PASSES': passes,
                                'VDBQ_TABLET_ROWS': str(tablet_rows)}
    printed, parts = [], [[]]
    for line in script.lines:
        if line == REOPEN:
            parts.append([])
        else:
            parts[-1].append(line)
    with tempfile.TemporaryDirectory() as folder:
        for part in parts:
            done = subprocess.run([*shlex.split(options.binary), f'{folder}/t.vdb'],
                                  input='\n'.join([*part, '']), env=environment,
                                  timeout=HANG_SECONDS, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            printed.append(done.stdout)
            if done.returncode < 0:
                printed.append(f'\ndied: {-done.returncode}\n')
    return ''.join(printed)


def answers(printed):
    """Of each query what it printed, and whether its plan uses an index."""
    found = []
    for text in printed.split('@')[1:]:
        lines = text.split('\n', 1)[1]
        rows, _, plan = lines.partition('program\n')
        found.append((rows, 'seek in' in plan))
    return found


def compare(script, used, scanned):
    """What differs; None: nothing."""
    if len(used) != len(script.queries) or len(scanned) != len(script.queries):
        return f'{len(used)} and {len(scanned)} answers to {len(script.queries)} queries'
    for (sql, wanted), (rows, _), (other, seeks) in zip(script.queries, used, scanned):
        if seeks:
            return f'{sql}\nuses an index without the pass'
        if rows != other:
            return f'{sql}\nwith indexes:\n{rows}\nwithout:\n{other}'
        if wanted is not None:
            got = sorted([row or [''] for row in csv.reader(io.StringIO(rows))][1:])
            if got != wanted:
                return f'{sql}\nvdbq:\n{got}\nsqlite3:\n{wanted}'
    return None


def work(job):
    options, number = job
    script = Script(options, number).make()
    tablet_rows = script.rng.choice((0, 64, 700))
    used = answers(run(options, script, '', tablet_rows))
    scanned = answers(run(options, script, WITHOUT, tablet_rows))
    fault = compare(script, used, scanned)
    if fault is not None:
        path = Path(tempfile.gettempdir()) / f'indexes_{options.seed}_{number}.sql'
        path.write_text('\n'.join(script.lines) + '\n')
        fault = f'set {number}, tablets of {tablet_rows} rows, {path}:\n{fault}'
    return len(script.queries), sum(seeks for _, seeks in used), fault


def main():
    options = arguments()
    queries = used = failed = 0
    with multiprocessing.Pool(options.jobs) as pool:
        jobs = [(options, number) for number in range(options.sets)]
        for count, seeks, fault in pool.imap(work, jobs):
            queries += count
            used += seeks
            if fault is not None:
                failed += 1
                print(fault)
    print(f'{used} of {queries} queries use an index')
    if used < queries * USED_SHARE:
        print(f'that is less than {USED_SHARE:.0%}')
        failed += 1
    print(f'{queries} passed, {failed} failed')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())

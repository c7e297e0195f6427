#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random joins of tables of thousands of rows, with and without the passes of the
planner that leave rows out of joins early, group them early, and fetch columns late.

    reduced.py [options] BINARY

The passes (PASSES) do something only where estimates say that it pays, so small
tables do not try them. Each query runs with all passes, without each of these,
and without all of them (VDBQ_PASSES): the same rows in the same order. A pass that
changes no plan is a failure. The last line is "N passed, N failed".
"""
import argparse
import os
import random
import subprocess
import sys

PASSES = ('follow', 'semi late', 'reduce', 'group early', 'fetch late')
COLUMNS = ('k', 'm', 's', 'd', 'id')
MARK = 'the next query'
TABLES = '''
create table digit (v integer);
insert into digit values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
create table big (id integer primary key, k integer, m integer, s text, d decimal(8, 2), w integer);
insert into big select id, nullif(id * 7 % 3000, 13), nullif(id % 97, id % 5),
    case when id % 11 = 0 then null else 'w' || (id % 700) end, (id % 900) / 4.0, id % 13
    from (select a.v + 10 * b.v + 100 * c.v + 1000 * e.v + 10000 * f.v as id
        from digit a, digit b, digit c, digit e, digit f where f.v < 2) x order by id;
create table mid (id integer primary key, k integer, m integer, s text, d decimal(8, 2), w integer);
insert into mid select id, nullif(id % 2000, 17), id % 41, 'w' || (id % 300), (id % 300) / 2.0,
    id % 7 from big where id < 6000 order by id;
create table few (id integer primary key, k integer, m integer, s text, d decimal(8, 2), w integer);
insert into few select * from big where id % 1501 = 3 order by id;
insert into few values (100001, null, null, null, null, 1), (100002, 21, 3, 'w9', 2.5, 2),
    (100003, 21, 3, 'w9', 2.5, 3), (100004, -5, -5, 'none', -1, 4);
create table none (id integer primary key, k integer, m integer, s text, d decimal(8, 2), w
    integer);
'''


class Queries:
    """Joins of two or three tables or queries, with conditions and EXISTS."""

    def __init__(self, seed):
        self.chance = random.Random(seed)

    def table(self):
        return self.chance.choice(('big', 'mid', 'few', 'few', 'none'))

    def relation(self, name):
        table, key, kind = self.table(), self.chance.choice(COLUMNS), self.chance.random()
        if kind < 0.45:
            return f'{table} {name}'
        if kind < 0.75:
            where = self.chance.choice(('', 'where w < 5', 'where w > 2', 'where k is not null'))
            others = ''.join(f', max({c}) as {c}' for c in COLUMNS if c != key)
            return f'(select {key}{others}, count(*) w from {table} {where} group by {key}) {name}'
        if kind < 0.85:
            return f'(select distinct k, m, s, d, id, w from {table} where w < 6) {name}'
        if kind < 0.93:
            return (f'(select x.* from {table} x where exists (select 1 from {self.table()} y '
                    f'where y.{key} = x.{key} and y.w > x.w)) {name}')
        return (f'(select x.* from {table} x join {self.table()} y on y.id = x.id and y.w > 2) '
                f'{name}')

    def condition(self, name):
        return name + '.' + self.chance.choice((
            'k = 21', 'k between 10 and 60', "s in ('w9', 'w3', 'w1')", 'd < 3', 'w > 3',
            'id < 400', 'm = 3', 'k + 1 > 100', "s like 'w1%'", 'w >= 0', 'w >= 0'))

    def key(self, left, right):
        column = self.chance.choice(COLUMNS)
        return f'{left}.{column} = {right}.{column if self.chance.random() < 0.9 else "id"}'

    def joined(self):
        kind, word = self.chance.random(), self.chance.choice(('', '', 'left', 'right'))
        first = f'{self.relation("a")} {word} join {self.relation("b")} on {self.key("a", "b")}'
        if kind < 0.3:
            return f'{first} and {self.condition(self.chance.choice("ab"))}'
        if kind < 0.55:
            return f'{first} {word} join {self.relation("c")} on {self.key("b", "c")}'
        return first if kind < 0.75 else f'{self.relation("a")} join few b on {self.key("a", "b")}'

    def partner(self):
        word, column = self.chance.choice(('exists', 'not exists')), self.chance.choice(('k', 's'))
        return (f'{word} (select 1 from {self.table()} z where z.{column} = a.{column} '
                f'and z.w {self.chance.choice(("<>", "<", ">"))} a.w)')

    def aggregate(self):
        column = self.chance.choice(COLUMNS)
        value = f'b.{column}' if column == 's' else self.chance.choice((
            f'b.{column}', f'b.{column}', f'b.{column}', f'b.{column} * 2',
            f'coalesce(b.{column}, 1)', f'b.{column} + a.w'))
        function = self.chance.choice(('count', 'count', 'min', 'max') + (
            () if column == 's' else ('sum', 'avg', 'total')))
        rows = self.chance.choice((f'{function}({value})', f'{function}({value})', 'count(*)',
                                   f'count(distinct {value})'))
        return rows + self.chance.choice(('', '', '', f' filter (where {self.condition("b")})',
                                          ' filter (where b.k is null)'))

    def counted(self):
        """What each row of one side has of the other."""
        keys = self.chance.choice(('a.id', 'a.id', 'a.id, a.s', 'a.k, a.id', 'a.id + 1, a.id',
                                   'a.k'))
        results = [keys] + [self.aggregate() for _ in range(self.chance.choice((1, 1, 2, 4)))]
        where = self.chance.choice(('', '', f'where {self.condition("a")}'))
        having = self.chance.choice(('', '', f'having {self.aggregate()} > 1'))
        return (f'select {", ".join(results)} from {self.table()} a left join '
                f'{self.relation("b")} on {self.key("a", "b")} {where} group by {keys} {having} '
                'limit 3000')

    def query(self):
        if self.chance.random() < 0.25:
            return self.counted()
        where = [self.condition('a'), self.condition('b')]
        where += [self.partner() for _ in range(self.chance.choice((0, 0, 1, 2)))]
        results, rest = self.chance.choice((
            ('a.id, a.k, b.w', 'limit 3000'), ('a.id, b.id, a.s', 'limit 3000'),
            ('a.s, b.s, b.d, a.s t', f'order by a.w, b.w desc limit {self.chance.choice((3, 90))}'),
            ('a.id, a.s, b.k, max(b.w)', 'group by a.id, a.s, b.k order by 4, 1, 3 limit 40'),
            ('count(*), sum(a.w), sum(b.id)', ''), ('a.k, count(*), max(b.id)', 'group by a.k')))
        return f'select {results} from {self.joined()} where {" and ".join(where)} {rest}'


def answers(options, queries, passes, explain=''):
    """The lines of each query's answer."""
    environment = {**os.environ, 'VDBQ_PASSES': ','.join(f'-{name}' for name in passes)}
    script = TABLES + ''.join(f"select '{MARK}';\n{explain}{query};\n" for query in queries)
    done = subprocess.run([*options.binary.split(), '--device', options.device, '--batch', '--csv',
                           '--no-header'], input=script, text=True, capture_output=True,
                          env=environment, check=False)
    parts = done.stdout.split(MARK + '\n')[1:]
    if len(parts) != len(queries):
        sys.exit(f'{len(parts)} answers to {len(queries)} queries\n{done.stderr[-2000:]}')
    return parts


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary', help='the shell, split like a command line')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--queries', type=int, default=100, help='(%(default)s)')
    parser.add_argument('--device', default='host')
    options = parser.parse_args()
    chance = Queries(options.seed)
    queries = [chance.query() for _ in range(options.queries)]
    right = answers(options, queries, PASSES)
    plans = answers(options, queries, (), 'explain ')
    failed = 0
    for passes in ((),) + tuple((name,) for name in PASSES):
        different = [query for query, rows, others
                     in zip(queries, answers(options, queries, passes), right) if rows != others]
        for query in different[:3]:
            print(f'without {passes}: other rows:\n  {query}')
        changed = sum(a != b for a, b in zip(plans, answers(options, queries, passes, 'explain ')))
        if passes and not changed:
            print(f'no plan needs "{passes[0]}"')
        failed += len(different) + (bool(passes) and not changed)
        print(f'{changed} plans are others without {passes}')
    print(f'{(1 + len(PASSES)) * len(queries) - failed} passed, {failed} failed')
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()

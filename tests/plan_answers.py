#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the planner turns into something else gives the same rows.

    tests/plan_answers.py BINARY [OPTION...]

Each pair of queries means the same; the planner knows a better way for the
first one and none for the second, which is written so that it cannot be
turned round. Both run over several tables of random rows with many NULLs.
"""
import random
import re
import subprocess
import sys

# How the second query keeps its form: a condition inside of a CASE is no
# condition of WHERE, and nothing goes into or comes out of a LIMIT.
ALL = 'limit 1000000000'


def opaque(condition):
    return f'case when {condition} then 1 else 0 end = 1'


def exists_pairs():
    for word in ('exists', 'not exists'):
        for inner in (
                'select * from b where b.k = a.k',
                'select b.x from b where b.k = a.k and b.x < a.x',
                'select 1 from b where a.k = b.k and b.s <> a.s and b.x > 2',
                'select 1 from b where b.k + 1 = a.k + a.x',
                'select distinct k from b where b.k = a.k',
                'select k, count(*) from b where b.k = a.k group by k',
                'select k from b where b.x = a.x group by k having count(*) > 1',
                'select 1 from b join c on b.k = c.k where c.x = a.x',
                'select 1 from b join c on b.k = c.k where c.x = a.x and b.s = a.s',
                'select 1 from b left join c on b.k = c.k where b.x = a.x',
                'select 1 from b left join c on b.k = c.k where c.x = a.x',
                'select 1 from b, c where b.k = a.k and c.k = a.x and b.x < c.x',
                'select 1 from b where b.k = a.k order by x',
                'select 1 from b where b.k = a.k limit 1',
                'select 1 from b where b.k = a.k limit 0',
                'select 1 from b where b.k = a.k limit 3 offset 1',
                'select 1 from b where b.k = a.k union all select 1 from c where c.k = a.x',
                'select max(x) from b where b.k = a.k',
                'select 1 from (select k as j, x + 1 as y from b) t where t.j = a.k and t.y > a.x',
                'select 1 from b where b.k = a.k and exists (select 1 from c where c.k = b.x)',
                'select 1 from b where b.k = a.k and exists '
                '(select 1 from c where c.k = b.x and c.x = a.x)',
                'select 1 from b where b.k = a.k and b.x > '
                '(select avg(x) from c where c.k = b.k)',
                'select 1 from b where b.k = a.k or b.x = a.x',
                'select 1 from b where b.k is a.k and b.x = 1',
                'select 1 from b where b.s = a.s',
                'select 1 from b where b.k = a.k and b.s like a.s'):
            condition = f'{word} ({inner})'
            yield (f'select * from a where {condition}',
                   f'select * from a where {opaque(condition)}')
            yield (f'select a.*, d.x from a, d where a.k = d.k and {condition}',
                   f'select a.*, d.x from a, d where a.k = d.k and {opaque(condition)}')


def in_pairs():
    for word in ('in', 'not in'):
        for operand, inner in (
                ('a.k', 'select k from b'),
                ('a.k', 'select k from b where b.x = a.x'),
                ('a.k', 'select k from b where b.x = a.x and k is not null'),
                ('a.n', 'select n from b'),
                ('a.n', 'select n from b where b.x = a.x'),
                ('a.n + 1', 'select n from b where b.n > a.n - 3 and b.k = a.k'),
                ('a.s', 'select s from b where b.k = a.k'),
                ('a.k', 'select max(k) from b where b.x = a.x'),
                ('a.k', 'select count(*) from b where b.x = a.x'),
                ('a.k', 'select k from b where b.x = a.x limit 1'),
                ('a.k', 'select x from b where b.k = a.k group by x'),
                ('a.k', 'select k from b group by k having sum(x) > 5'),
                ('a.big', 'select k from b where b.s = a.s')):
            condition = f'{operand} {word} ({inner})'
            yield (f'select * from a where {condition}',
                   f'select * from a where {opaque(condition)}')
            yield (f'select * from a where not ({condition}) and a.x > 1',
                   f'select * from a where {opaque("not (" + condition + ")")} and a.x > 1')


def value_pairs():
    for value in ('sum(x)', 'count(*)', 'count(x)', 'avg(x)', 'min(s)', 'max(x) + 1',
                  'count(*) + 1', 'sum(x) is null', 'coalesce(sum(x), -1)', 'total(x)',
                  "coalesce(max(s), 'none')", 'count(distinct x)', 'sum(d)', 'min(k) * count(*)',
                  'case when count(*) > 1 then 5 end', 'sum(x) filter (where x > 2)'):
        for where in ('b.k = a.k', 'b.k = a.k and b.x > 1', 'b.k = a.k and b.x = a.x',
                      'b.k + b.x = a.k', 'b.s = a.s', 'b.k = a.k and b.x < a.x',
                      'b.k = a.big and b.x is not null', 'b.k = a.k and b.k = a.x'):
            inner = f'select {value} from b where {where}'
            yield (f'select a.k, a.x, ({inner}) from a',
                   f'select a.k, a.x, ({inner} {ALL}) from a')
        inner = f'select {value} from b where b.k = a.k'
        yield (f'select a.k, a.x from a where a.x < ({inner})' if value[0] not in 'mc'
               else f'select a.k from a where ({inner}) is not null',
               f'select a.k, a.x from a where a.x < ({inner} {ALL})' if value[0] not in 'mc'
               else f'select a.k from a where ({inner} {ALL}) is not null')


def derived_pairs():
    for query, condition in (
            ('select k, x, x + n as y from a', 'y > 3 and k = 2'),
            ('select k, x, x + n as y from a where s is not null', 'y > 3 or k = 2'),
            ('select k, sum(x) as y from a group by k', 'k > 2'),
            ('select k, sum(x) as y from a group by k', 'y > 2 and k < 4'),
            ('select sum(x) as y, 1 as k from a', 'k = 2'),
            ('select sum(x) as y, 1 as k from a', 'y > 2 and k = 1'),
            ('select distinct k, x as y from a', 'k + y > 3'),
            ('select k, x as y from a union all select x, k from b', 'k > 1 and y < 5'),
            ('select k, x as y from a union select x, k from b', 'k > 1 and y < 5'),
            ('select k, x as y from a except select x, k from b', 'k > 1'),
            ('select k, x as y from a intersect select x, k from b', 'y > 1'),
            ('select k, x as y from a order by x', 'k > 1'),
            ('select a.k, b.x as y from a left join b on a.k = b.k', 'k > 1'),
            ('select a.k, b.x as y from a left join b on a.k = b.k', 'y > 1'),
            ('select a.k, b.x as y from a left join b on a.k = b.k', 'y is null'),
            ('select a.k, b.x as y from a left join b on a.k = b.k', 'y is not null'),
            ('select a.k, b.x as y from a left join b on a.k = b.k', 'y + 1 > 2 and k < 4'),
            ('select a.k, b.x as y from a left join b on a.k = b.k', 'y > 1 or k = 2'),
            ('select a.k, b.x as y from a left join b on a.k = b.k', 'not y > 1'),
            ('select a.k, b.x as y from a left join b on a.k = b.k', 'coalesce(y, 7) > 3'),
            ('select b.k, a.x as y from a right join b on a.k = b.k', 'y > 1'),
            ('select b.k, a.x as y from a right join b on a.k = b.k', 'k > 1'),
            ('select a.k, b.x as y from a full join b on a.k = b.k', 'k > 1'),
            ('select a.k, b.x as y from a full join b on a.k = b.k', 'y > 1'),
            ('select a.k, b.x as y from a full join b on a.k = b.k', 'y > 1 and k > 1'),
            ('select a.k, b.x as y from a left join b on a.k = b.k and b.x > 2 and a.x < 4',
             'y < 5'),
            ('select a.k, b.x as y from a left join b on a.k = b.k and b.x > 2', 'k > 0'),
            ('select k, upper(s) as y from a', "y > 'B'"),
            ('select k, s || k as y from a', "y > 'b' and k > 1"),
            ('select k, (select max(x) from b where b.k = a.k) as y from a', 'k > 1'),
            ('select k, (select max(x) from b where b.k = a.k) as y from a', 'y > 1'),
            ('select k, sum(x) over (partition by k) as y from a', 'k > 1'),
            ('select k, row_number() over (order by id) as y from a', 'k > 1')):
        yield (f'select k, y from ({query}) t where {condition}',
               f'select k, y from ({query} {ALL}) t where {condition}')


def outer_pairs():
    for join, condition in (
            ('a left join b on a.k = b.k', 'b.x = 2'),
            ('a left join b on a.k = b.k', 'b.x = a.x'),
            ('a left join b on a.k = b.k left join c on c.k = b.x', 'c.x > 1'),
            ('a left join b on a.k = b.k left join c on c.k = b.x', 'b.x > 1'),
            ('a left join b on a.k = b.k left join c on c.k = a.x', 'c.x > 1 and a.k < 5'),
            ('a full join b on a.k = b.k', 'a.x > b.x'),
            ('a right join b on a.k = b.k', 'a.x in (1, 2, 3)'),
            ('a left join (b join c on b.k = c.k) on a.k = b.k', 'c.x between 1 and 4'),
            ('a left join b on a.k = b.k', 'b.x is not 2'),
            ('a left join b on a.k = b.k', 'case when b.x = 2 then 1 else 0 end = 0'),
            ('a left join b on a.k = b.k', '(b.x > 1 and a.x > 1) or (b.x < 3 and a.x < 3)'),
            ('a, b', '(a.k = b.k and a.x > 2) or (a.k = b.k and b.x < 2)'),
            ('a, b', '(a.k = b.k and a.x > 2 and b.s = \'a\') or '
             '(b.x < 2 and a.k = b.k) or a.k = b.k'),
            ('a, b, c', 'a.k = b.k and (b.x = c.x and a.s = c.s or c.x = b.x and 1 = 1)'),
            ('a, b', '(a.x = 1 and b.x = 2) or (a.x = 2 and b.x = 1)'),
            ('a, b', 'a.k = b.k and 1 = 1 and 2 > 1'),
            ('a, b', 'a.k = b.k and 1 = 2'),
            ('a, b', 'a.k = b.k and null')):
        columns = 'a.*, b.*' + (', c.*' if ' c' in join else '')
        yield (f'select {columns} from {join} where {condition}',
               f'select {columns} from {join} where {opaque(condition)}')


def on_pairs():
    for join in ('left', 'right', 'full'):
        for condition in (
                'a.k = b.k and b.x > 2', 'a.k = b.k and a.x > 2', 'a.k + 1 = b.k', 'b.x > 2',
                'a.x > 2', '1 = 1', '1 = 2', 'null', 'a.k = b.k and a.big = b.n',
                'a.k = b.k and b.x in (select k from c)', 'a.k = b.k and a.x in (select k from c)',
                'a.k = b.k and exists (select 1 from c where c.k = b.x)',
                'a.k = b.k and not exists (select 1 from c where c.k = a.x)',
                "a.k = b.k and a.s || 'x' = 'ax'", "a.k = b.k and b.s || b.s > 'bb'",
                '(a.k = b.k and a.x = 1) or (a.k = b.k and b.x = 1)',
                'a.x between 1 and 3 and a.k = b.k'):
            plain = f'a {join} join b on {condition}'
            hidden = f'a {join} join b on {opaque(condition)}' if '(select' not in condition \
                else None
            for where in ('', ' where b.n > 2', ' where a.n < 3', ' where a.n = b.n'):
                if hidden and '||' not in condition:
                    yield (f'select * from {plain}{where}', f'select * from {hidden}{where}')
                if where:
                    yield (f'select * from {plain}{where}',
                           f'select * from {plain} where {opaque(where[7:])}')
    for join, kept in (('left', 'a'), ('right', 'b'), ('full', 'ab')):
        for condition in ('a.k = b.k and (a.x + b.x) in (select n from c)',
                          'a.k = b.k and exists (select 1 from c where c.k = b.x and c.x = a.x)',
                          "a.s || b.s > 'bb'"):
            alone = {'a': f'select a.id, null from a where not exists '
                          f'(select 1 from b where {condition})',
                     'b': f'select null, b.id from b where not exists '
                          f'(select 1 from a where {condition})'}
            union = ' union all '.join([f'select a.id, b.id from a, b where {opaque(condition)}']
                                       + [alone[side] for side in kept])
            yield f'select a.id, b.id from a {join} join b on {condition}', union
            yield (f'select a.id, b.id from a {join} join b on {condition} where a.id > b.k',
                   f'select a.id, b.id from a {join} join b on {condition} '
                   f'where {opaque("a.id > b.k")}')


def order_pairs():
    """Joins of several tables, and the pairs of rows of two and two that a CASE keeps."""
    shapes = (
        ('a.k = b.k', 'a.x = c.x', 'a.n = d.n'),                                        # a star
        ('a.k = b.k', 'b.x = c.x', 'c.n = d.n'),                                        # a chain
        ('a.k = b.k', 'a.k = c.k', 'b.k = c.k', 'a.k = d.k', 'b.k = d.k', 'c.k = d.k'),  # a clique
        ('a.k = b.k', 'a.x = b.x', 'b.k = c.k', 'b.x = c.x', 'd.id = a.id'),
        ('a.k = b.k', 'a.k + b.x = c.k', 'd.id = c.id + a.x - b.x'),
        ('a.k = b.k', 'c.x = d.x', 'a.n < c.n'))
    filters = ((), ('b.x = 2',), ("c.s = 'a'",), ('d.x between 1 and 3', 'b.n > 1'), ('a.id < 5',),
               ('d.id = 3',), ('a.x is null',), ('c.k in (1, 2)', 'a.n + b.n < 9'))

    def two(tables, where):
        columns = ', '.join(f'{t}.{c} as {t}_{c}' for t in tables
                            for c in ('id', 'k', 'x', 'n', 's'))
        return f'(select {columns} from {", ".join(tables)} {where} {ALL})'

    for first, *others in (shape + extra for shape in shapes for extra in filters):
        late = re.sub(r'\b([abcd])\.(\w+)', r'\1_\2', ' and '.join(others))
        apart = (f'select a_id, b_id, c_id, d_id from {two("ab", "where " + first)} l, '
                 f'{two("cd", "")} r where {opaque(late)}')
        for tables in ('a, b, c, d', 'd, c, b, a', 'c, a, d, b'):
            yield (f'select a.id, b.id, c.id, d.id from {tables} '
                   f'where {" and ".join([first, *others])}', apart)


def follow_pairs():
    """What is said of one side of a key, and follows for the other side."""
    shapes = ('select * from a, b where {key} and {fact}',
              'select * from a, b, c where {key} and b.k = c.k and c.x < 4 and {fact}',
              'select * from a left join b on {key} where {fact}',
              'select * from a left join b on {key} and {fact}',
              'select * from a right join b on {key} and {fact}',
              'select * from a full join b on {key} where {fact}',
              'select * from a where {fact} and exists (select 1 from b where {key} and b.x > a.x)',
              'select * from a where {fact} and not exists '
              '(select 1 from b where {key} and b.x > a.x)',
              'select * from a, (select k, n, s, d, big, count(*) from b '
              'group by k, n, s, d, big) b where {key} and {fact}')
    facts = {'k': ('a.k = 2', 'a.k in (1, 4)', 'a.k between 1 and 3', 'a.k <> 2 and a.k + 1 > 2',
                   'a.k = 2.5', 'a.k is not null', 'a.k is null'),
             's': ("a.s = 'b'", "a.s >= 'b'", "a.s like 'a%'", "a.s in ('a', 'c')"),
             'd': ('a.d = 2', 'a.d > 100.5'), 'big': ('a.big = 2', 'a.big * 2 < 7')}
    for key, tests in facts.items():
        for shape in shapes:
            for fact in tests:
                yield (shape.format(key=f'a.{key} = b.{key}', fact=fact),
                       shape.format(key=f'a.{key} = b.{key}', fact=opaque(fact)))
    for fact in facts['k']:
        for other in ('big', 'd', 's'):
            yield (f'select * from a, b where a.k = b.{other} and {fact}',
                   f'select * from a, b where a.k = b.{other} and {opaque(fact)}')


def list_pairs():
    numbers = [str(n) for n in range(0, 140, 2)]
    words = ["'a'", "'b'"] + [f"'w{n}'" for n in range(80)]
    shapes = ('select * from a where {}', 'select id, {} from a',
              'select a.k, count(*) from a group by a.k, a.x, a.n, a.big, a.s, a.d having {}',
              'select * from a where not ({})',
              'select * from a left join b on a.id = b.id and {}')
    for word, join in (('in', ' or '), ('not in', ' and ')):
        for operand, items in (('a.k', numbers), ('a.n', numbers), ('a.s', words),
                               ('a.big', numbers + ['5000000000']), ('a.k', numbers + ['null']),
                               ('a.s', words + ['null']), ('a.x + a.n', numbers),
                               ('a.d', numbers), ('a.k', numbers + ['2.5'])):
            parts = [f'{operand} {word} ({", ".join(items[i:i + 20])})'
                     for i in range(0, len(items), 20)]
            for shape in shapes:
                yield (shape.format(f'({operand} {word} ({", ".join(items)}))'),
                       shape.format(f'({join.join(parts)})'))


def left_out_pairs():
    """What nobody reads, groups of one row, outer joins that need not be such,
    facts of a table: the second query reads, groups and joins."""
    yield ('select a.id, a.s from a left join b on b.id = a.k',
           'select id, s from (select a.*, b.id as j from a left join b on b.id = a.k) t '
           f'where {opaque("j is null or j >= 0")}')
    yield ('select distinct a.s, a.x from a left join b on b.k = a.k',
           f'select s, x from (select a.s, a.x from a {ALL}) t group by s, x')
    yield ('select id, x from (select id, x, count(*) over (partition by k order by s) as n, '
           'upper(s) as u, (select max(x) from b) as m, k in (select k from b) as i from a) t',
           'select id, x from a')
    for keys in ('id', 'id, s', 'x, id, k'):
        sums = f'{keys}, sum(x), count(s), count(*), min(d), max(big)'
        yield (f'select {sums} from a group by {keys}',
               f'select {sums} from (select * from a union all select * from a where n < 0) t '
               f'group by {keys}')
        yield (f'select distinct {keys} from a', f'select {keys} from a')
    for first in ('left', 'right', 'full'):
        for last in ('left', 'inner'):
            for where in ('b.x = c.x', 'b.x > c.x and a.k is not null', 'c.s = a.s',
                          'b.k + c.k < 5', 'coalesce(b.x, 1) = c.x', 'b.x = 1 or b.k = 2'):
                source = f'a {first} join b on a.k = b.k {last} join c on c.k = b.x'
                yield (f'select a.id, b.id, c.id from {source} where {where}',
                       f'select a.id, b.id, c.id from {source} where {opaque(where)}')
    for condition in ('k = 2', 'k is null', 'k > 1 and x < 3', 'k + x = 4', 's = \'a\' and k = 1'):
        inner = ('select id, k, x, s, row_number() over (partition by k, x order by id) as r, '
                 'count(*) over (partition by x, k) as n from a')
        yield (f'select * from ({inner}) t where {condition}',
               f'select * from ({inner}) t where {opaque(condition)}')
    for what in ('count(*)', 'count(x)', 'min(id), max(k)', 'min(d), max(d), count(d)',
                 'max(big), min(n)'):
        yield (f'select {what} from a', f'select {what} from (select * from a {ALL}) t')


def table(name, rows, chance):
    def value(most, nulls=0.2):
        return 'null' if chance.random() < nulls else str(chance.randint(0, most))

    lines = [f'create table {name} (id int primary key, k int, x int, n int, big bigint, '
             's text, d decimal(9, 2));']
    for i in range(rows):
        word = 'null' if chance.random() < 0.2 else "'" + chance.choice('abc') + "'"
        lines.append(f'insert into {name} values ({i}, {value(5)}, {value(5)}, {value(5, 0)}, '
                     f'{value(6)}, {word}, {value(300)});')
    return lines


def answers(command, script, count):
    """The rows of each query, sorted; a failure is one, too."""
    done = subprocess.run(command, input=script, text=True, capture_output=True, check=False)
    parts = done.stdout.split('next query\n')
    if len(parts) != count + 1:
        sys.exit(f'{len(parts)} answers to {count} queries\n{done.stderr[-2000:]}')
    return [sorted(part.splitlines()) for part in parts[1:]]


def main():
    command = sys.argv[1:] + ['--batch', '--csv', '--no-header']
    pairs = [pair for make in (exists_pairs, in_pairs, value_pairs, derived_pairs, outer_pairs,
                               on_pairs, order_pairs, follow_pairs, list_pairs, left_out_pairs)
             for pair in make()]
    good = bad = 0
    for seed, rows in ((1, 0), (2, 1), (3, 12), (4, 40)):
        chance = random.Random(seed)
        script = [line for name in 'abcd'
                  for line in table(name, 0 if rows == 12 and name == 'c' else rows, chance)]
        for pair in pairs:
            for query in pair:
                script += ["select 'next query';", query + ';']
        got = answers(command, '\n'.join(script) + '\n', 2 * len(pairs))
        for i, pair in enumerate(pairs):
            if got[2 * i] == got[2 * i + 1]:
                good += 1
                continue
            bad += 1
            print(f'seed {seed}:\n  {pair[0][:200]}\n  {pair[1][:200]}\n'
                  f'  {got[2 * i][:8]}\n  {got[2 * i + 1][:8]}')
    print(f'{good} passed, {bad} failed')
    sys.exit(bad > 0)


if __name__ == '__main__':
    main()

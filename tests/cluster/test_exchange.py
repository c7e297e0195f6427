#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Joins whose sides are exchanged among ranks: the rows, their order, their bits and the
errors of one process; what EXPLAIN says of it.

    test_exchange.py BUILD [PART...]

The parts are the functions below whose names begin with "test_". The last line is
"N passed, N failed".
"""
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import test_cluster as cluster
from test_cluster import alone, ranks, run, same, tpch

# Nobody can tell in which order the rows came.
EXCHANGED = """
    select count(*) from a join b on a.k = b.k;
    select sum(x), avg(x), total(y), min(a.n), max(b.n), count(b.f) from a join b on a.k = b.k;
    select count(*), sum(x) from a join b on a.k = b.k and a.n = b.n where x > 0.3;
    select count(*), sum(y) from a join b on a.k = b.k and a.n < b.n;
    select count(*), count(b.n), sum(x), sum(y) from a left join b on a.k = b.k;
    select count(*), count(y) from a left join b on a.k = b.k and b.n > 40 where a.n < 70;
    select count(*), sum(x) from a where not exists (select 1 from b where b.k = a.k and b.n > a.n);
    select count(*), sum(x) from a where exists (select 1 from b where b.k = a.k and b.n > a.n);
    select count(*), sum(x) from a where not exists
        (select 1 from b where b.k = a.k and b.n + a.n > 90);
    select count(*), sum(x) from a where exists
        (select 1 from b where b.k = a.k and b.n + a.n > 90);
    select count(*), sum(b.n) from a join b on a.f = b.f;
    select count(*) from a join b on a.d = b.d and a.k = b.k;
    select count(*), sum(c.k) from a join b on a.k = b.k left join c on c.k = a.n;
    select count(*) from a join b on a.k = b.k where b.n < 0;
    select count(*), sum(x) from a join b on a.k = b.k where a.n < 0;
    select count(*), max(a.n) from skew a join b on a.k = b.k;
    select count(*), max(a.n) from a join skew b on a.k = b.k;
    """

# Texts travel as keys, as rows and in groups.
TEXTS = """
    select count(*), sum(x), max(a.t), min(b.s) from a join b on a.t = b.t;
    select count(*), max(b.s) from a left join b on a.t = b.t and a.s = b.s;
    select count(*), min(a.t) from a where not exists (select 1 from b where b.t = a.t);
    select count(*) from a join b on a.t = b.t and a.k = b.k and a.s < b.s;
    select a.t, b.t, a.s, b.s, a.n, y from a join b on a.t = b.t;
    select a.t, b.t, b.s, y from a join b on a.k = b.k and a.s = b.s;
    select a.t, b.t, b.s from a left join b on a.k = b.k and b.n > 40 where a.n < 30;
    select a.s, b.s, count(*), min(a.t), max(b.t), count(b.s) from a join b on a.t = b.t
        group by a.s, b.s;
    select b.t, count(*), sum(x) from a join b on a.k = b.k group by b.t having count(*) > 1;
    select a.s || b.s z, count(*) from a join b on a.k = b.k group by z;
    select a.t, b.s from a join b on a.k = b.k order by b.t desc, a.n limit 20 offset 3;
    select upper(a.t), b.t like 't1%', length(b.s) from a join b on a.t = b.t order by a.t limit 99;
    select distinct b.s, a.s from a join b on a.k = b.k;
    select a.s, b.t from few a join one b on a.s = b.s and a.n = b.n;
    select a.n, b.n from a join b on a.t = b.t where b.s = 'w3' and a.t > 't4';
    select a.t from a join b on a.t = b.t where b.n < 0;
    select e.t, b.t from (select k, case when n < 0 then s end t from a) e join b on e.k = b.k
        where b.n < 9;
    """

# Groups of which each rank has its own.
GROUPS = """
    select k, count(*), sum(x), min(t), max(s) from a group by k;
    select t, count(*), avg(x), min(f), max(f) from a group by t;
    select distinct n, s, d from a;
    select distinct t from b limit 20 offset 700;
    select f, count(*), sum(n) from a group by f;
    select k, sum(x) z from a group by k order by z desc limit 9 offset 2;
    select t, s, max(n) from b group by t, s having max(n) > 60 and count(*) < 4;
    select k % 500 as m, n, count(*) * 2 + 1 from a group by m, n having sum(n) % 3 = 1;
    select count(*), max(c) from (select k, count(*) c from b group by k);
    select c, count(*) from (select k, count(*) c from b group by k) group by c;
    select c, count(*), sum(z) from (select t, count(*) c, avg(x) z from a group by t)
        group by c order by c;
    select count(distinct k), count(*) from a;
    select count(distinct t) from b;
    select sum(distinct n), count(distinct n) filter (where n % 3 = 1) from a;
    select n, count(distinct k), count(*), sum(x) from a group by n;
    select n, count(distinct k), count(distinct t), max(s) from a group by n;
    select s, count(distinct k) from a group by s;
    select k, string_agg(s, ',') from b group by k;
    select k, median(y) from b group by k limit 50;
    select n, d, first(x), count(*) from a group by n, d;
    select g.n, g.z, c.k from (select n, sum(x) z from a group by n) g join c on c.k = g.n;
    select g.n, b.y from (select n, k, count(*) z from a group by n, k) g join b on b.k = g.k
        where g.n < 9;
    select k, count(*), row_number() over (order by count(*)) from b group by k limit 40;
    select k, count(*) from a where n < 0 group by k;
    select a.n, b.s, count(*) from a join b on a.k = b.k where a.f is not null group by a.n, b.s;
    select k, n, count(*) from few group by k, n union all select n, k, 1 from one where n < 3;
    select n from a group by n having count(*) > (select min(k) from c) + 117;
    """

# Rows, or first rows of groups, have an order.
ORDERED = """
    select * from a join b on a.k = b.k and a.n < 20;
    select a.n, b.n, x, y from a join b on a.k = b.k where a.n + b.n < 40;
    select a.k, a.n, x, b.k, b.n, y from a join b on a.k = b.k;
    select a.k, x, a.f, a.d, b.k, y, b.f, b.d from a join b on a.k = b.k;
    select a.k, a.n, b.k, b.n, c.k from a join b on a.k = b.k join c on c.k = a.n;
    select a.n, b.n, y from a left join b on a.k = b.k and b.n > 40 where a.n < 30;
    select a.n, x from a where exists (select 1 from b where b.k = a.k and b.n > a.n);
    select a.* from a where not exists (select 1 from b where b.k = a.k and b.n > a.n) and a.n < 9;
    select a.n, y from a join b on a.k = b.k order by a.n, b.n desc;
    select a.n, y from a join b on a.k = b.k order by a.n desc limit 20 offset 40;
    select a.n, y from a join b on a.k = b.k limit 30 offset 5000;
    select a.n, y from a join b on a.k = b.k limit 0;
    select a.n, y, c.k from a join b on a.k = b.k left join c on c.k = a.n where b.n < 9;
    select a.n, y, p.v from a join b on a.k = b.k join p on p.k = a.n;
    select p.v, b.n, sum(y) from a join b on a.k = b.k join p on p.k = b.n group by p.v, b.n;
    select distinct a.n, b.n from a join b on a.k = b.k;
    select a.n, count(*), sum(x), avg(y), max(b.n), min(a.d) from a join b on a.k = b.k
        group by a.n;
    select b.n, count(*) from a join b on a.k = b.k group by b.n;
    select b.n, count(*) from a left join b on a.k = b.k group by b.n having count(*) > 80;
    select a.n + b.n, sum(x) from a join b on a.k = b.k group by 1 order by 2 limit 12;
    select b.d, count(*) c from a join b on a.k = b.k group by b.d order by c;
    select b.n, count(*) from skew a join b on a.k = b.k group by b.n;
    select b.n, a.d, sum(y) from a join b on a.n = b.n where a.n < 9 group by b.n, a.d;
    select b.n % 7, b.d, min(a.k) from a join b on a.n = b.n where a.n < 9 group by 1, 2;
    select a.n, row_number() over (order by y) from a join b on a.k = b.k where a.n < 9;
    select count(*) from (select distinct b.n, a.d from a join b on a.k = b.k);
    select sum(x), z from (select x, a.n + b.n z from a join b on a.k = b.k limit 700) group by z;
    select a.n from a join b on a.k = b.k where a.n < 0;
    select a.n, count(*) from a join b on a.k = b.k where b.n < 0 group by a.n;
    select a.d, case when a.n < 50 then a.k end z, count(*) from a join b on a.k = b.k
        group by 1, 2;
    select a.n, y from few a join b on a.k = b.k;
    select b.n, count(*) from few a left join b on a.k = b.k group by b.n;
    select a.n, b.n from one a join few b on a.k = b.k;
    select b.n, a.n, count(*) from one a join a b on a.k = b.k group by b.n, a.n;
    select a.n, b.n from one a left join few b on a.k = b.k and a.n < b.n where a.n < 20;
    """


# Two scans or more, of which each is shared out behind the other.
BROADCAST = """
    select count(*), sum(x) from a where x > (select avg(x) from a);
    select count(*), sum(y) from b where y > (select avg(x) from a where n < 40);
    select n, x from a where x > (select max(y) * 0.99 from b);
    select k, x from a where k in (select k from b where n > 95) and n < 50;
    select count(*), sum(x) from a
        where not exists (select 1 from b where b.k = a.k and b.n = 3);
    select t, x from a where t in (select t from b where n = 5) order by x limit 50;
    select s, count(*) from a where k in (select k from b where y < 0.1) group by s;
    select k, sum(x) from a where t in (select t from b where n < 9) group by k;
    select count(*) from a
        where n > (select avg(n) from b where k in (select k from a where n < 3));
    select b.n, count(*) from b join (select n, max(x) m from a group by n) g
        on g.n = b.n and y > m * 0.9 group by b.n;
    select b.s, b.t from b join (select s, min(t) m from a group by s) g on g.m = b.t;
    select count(*) from (select n, count(*) c from a group by n) g
        join b on b.n = g.n and b.n < c;
    with w as (select k, n, x from a where n < 5)
        select count(*), sum(x) from w where x > (select avg(x) from w);
    with w as (select k, n, x from a where n < 5)
        select w.k, b.y from w join b on b.k = w.k where w.x > (select avg(x) from w);
    select count(*) from a where k in (select k from b where n < 0);
    select a.n, count(distinct b.n) from a join b on a.k = b.k
        where a.x > (select avg(y) from b) group by a.n;
    select n, x from a where x > (select avg(y) from b) limit 7 offset 20;
    select d, f, max(s) from a where k in (select k from b where s = 'w3' or t is null)
        group by d, f;
    select n, x - (select avg(x) from a i where i.n = o.n) from a o where n < 4;
    select o.k, o.x from a o where x = (select max(x) from a i where i.n = o.n);
    select count(*) from b where y > (select avg(x) from a) and k in (select k from skew);
    select n, row_number() over (order by x) from a where x > (select avg(y) + 0.4 from b);
    select (select max(x) from a), (select min(y) from b), count(*) from skew;
    """


def make_joined(database):
    """Tables a and b of many tablets with keys of 64 bits, of which some are NULL and
    none follows from the place of its row; skew, half of whose rows have one key; few, of
    two tablets, one, whose rows have one key; c."""
    state = random.Random(7)

    def key(i):
        return '' if i % 97 == 0 else str((i * 0x9E3779B97F4A7C15 + 12345) % 2 ** 62)

    def line(i, k):
        real = ('', '-0.0', '0.0', 'nan', f'{k % 50}.5')[i % 5]
        text = '' if i % 89 == 0 else f't{key(k)}' if k % 13 else f'\u00e9{k % 50}'
        return (f'{key(k)},{i % 101},{state.random()!r},{real},{2000 + k % 30}-01-01,'
                f'w{i % 7},{text}\n')

    shuffled = [state.randrange(9000) for _ in range(9000)]
    tables = {'a': [line(i, i) for i in range(12000)],
              'b': [line(i, k) for i, k in enumerate(shuffled)],
              'skew': [line(i, 5 if i % 2 else i) for i in range(6000)],
              'few': [line(i, i % 50) for i in range(1400)],
              'one': [line(i, 5) for i in range(2100)]}
    for name, lines in tables.items():
        value = 'y' if name == 'b' else 'x'
        with tempfile.NamedTemporaryFile('w', suffix='.csv') as file:
            file.write(f'k,n,{value},f,d,s,t\n' + ''.join(lines))
            file.flush()
            run(alone(database), f'create table {name} (k bigint, n integer, {value} double, '
                f"f double, d date, s text, t text);\n"
                f"copy {name} from '{file.name}' with (header);\n",
                VDBQ_TABLET_ROWS='700')
    run(alone(database), 'create table c (k integer); insert into c values (1), (2), (2), (60); '
        'create table p (k integer primary key, v integer); '
        'insert into p values (1, 5), (2, 7), (60, 5), (61, 9);')


def exchanges(sql, database, **variables):
    """How often EXPLAIN shows rows that go to other ranks, and what it says of it."""
    text = run(ranks(2, database, '--mode', 'list'), f'explain {sql}', **variables)[0]
    told = [line for line in text.splitlines() if line.startswith('; exchange')]
    return text.count(': exchange among 2 ranks'), told[0] if told else ''


def statements_of(script):
    return [sql.strip() + ';' for sql in script.split(';') if sql.strip()]


def exchanged(statements, database, sides):
    """Which of them show rows that go to other ranks, of so many steps each at least."""
    script = ''.join(f"select 'next';\nexplain {sql}\n" for sql in statements)
    text = run(ranks(2, database, '--mode', 'list'), script, VDBQ_EXCHANGE='on')[0]
    found = [part.count(': exchange among 2 ranks') for part in text.split("'next'\n")[1:]]
    assert len(found) == len(statements) and set(found) <= {0, 1, 2}, (found, text)
    return [sql for sql, count in zip(statements, found) if count >= sides]


def test_exchange():
    """Both sides of a join go to the ranks that their keys hash to."""
    database = cluster.FOLDER / 'exchange.vdb'
    make_joined(database)
    for script, least in ((EXCHANGED, 11), (ORDERED, 26), (TEXTS, 15)):
        same(script, database, VDBQ_EXCHANGE='on')
        same(script, database, counts=(3,), VDBQ_EXCHANGE='on', VDBQ_MEMORY='200K')
        statements = statements_of(script)
        found = exchanged(statements, database, 2)
        assert len(found) >= least, set(statements) - set(found)


def test_groups():
    """Rows go to the rank that the keys of their groups hash to."""
    database = cluster.FOLDER / 'groups.vdb'
    make_joined(database)
    same(GROUPS, database, VDBQ_EXCHANGE='on')
    same(GROUPS, database, counts=(3,), VDBQ_EXCHANGE='on', VDBQ_MEMORY='200K')
    statements = statements_of(GROUPS)
    found = exchanged(statements, database, 1)
    assert len(found) >= 20, set(statements) - set(found)


def test_broadcast():
    """All rows, or groups, of one scan go to each rank, which has a share of the next."""
    database = cluster.FOLDER / 'broadcast.vdb'
    make_joined(database)
    same(BROADCAST, database, VDBQ_EXCHANGE='on')
    same(BROADCAST, database, counts=(3,), VDBQ_EXCHANGE='on', VDBQ_MEMORY='200K')
    same(BROADCAST, database, counts=(2, 3), VDBQ_EXCHANGE='off')
    script = ''.join(f"select 'next';\nexplain {sql}\n" for sql in statements_of(BROADCAST))
    text = run(ranks(2, database, '--mode', 'list'), script, VDBQ_EXCHANGE='on')[0]
    plans = text.split("'next'\n")[1:]
    found = [plan.count('exchange among 2 ranks, all rows to each') for plan in plans]
    assert sum(count > 0 for count in found) >= 16 and max(found) >= 2, found
    for plan, count in zip(plans, found):
        shares = plan.count('a share on each of 2 ranks')
        assert shares > count or count == 0, plan
    text = run(ranks(2, database, '--mode', 'list'), script, VDBQ_EXCHANGE='off')[0]
    assert 'all rows to each' not in text


def test_broadcast_tpch():
    """The 22 queries, however many of their scans are shared out."""
    database = cluster.FOLDER / 'tpch.vdb'
    cluster.make_tpch(database)
    sql = ';\n'.join(tpch.queries(random.Random(2), 0.1).values()) + ';\n'
    same(sql, database, counts=(2, 5), VDBQ_EXCHANGE='on')
    same(sql, database, counts=(3,), VDBQ_EXCHANGE='on', VDBQ_MEMORY='8M')


# Pairs of tables with some hundred to some thousand pairs of rows.
PAIRS = ('a b', 'b a', 'skew b', 'b skew', 'few a', 'a few', 'few few', 'one few', 'few one')
VALUES = ('a.n', 'b.n', 'a.d', 'b.d', 'a.k', 'b.k', 'a.n % 5', 'a.n + b.n', 'a.n - b.n',
          'a.s', 'b.s', 'a.t', 'b.t')
FLOATS = ('a.f', 'b.f', 'a.x', 'b.x')
AGGREGATES = ('count(*)', 'count(b.f)', 'sum(a.x)', 'avg(b.x)', 'min(a.n)', 'max(b.k)',
              'sum(b.n) filter (where a.n > 30)', 'min(b.d)', 'total(a.f)',
              'max(a.t)', 'min(b.s)')


def random_join(state):
    """FROM and WHERE; the right side is b, or nothing but a condition."""
    left, right = (f'(select k, n, f, d, s, t, {"y" if name == "b" else "x"} x from {name})'
                   for name in state.choice(PAIRS).split())
    on = state.choice(('a.k = b.k', 'a.t = b.t'))
    on += state.choice(('', '', ' and a.n < b.n', ' and a.n = b.n', ' and a.s = b.s',
                                     ' and a.n + b.n > 90', ' and b.n > 60'))
    where = state.choice(('', '', '', ' where a.n < 40', ' where a.n % 3 = 1', ' where a.n < 0'))
    if state.random() < 0.2:
        negated = state.choice(('', 'not '))
        exists = f'{negated}exists (select 1 from {right} b where {on})'
        return f'{left} a {where or " where true"} and {exists}', False
    third = state.choice(('', '', '', ' left join c on c.k = a.n', ' join c on c.k = a.n % 3'))
    return f'{left} a {state.choice(("join", "left join"))} {right} b on {on}{third}{where}', True


def random_query(state):
    source, both = random_join(state)
    values = [value for value in VALUES if both or 'b.' not in value]
    picked = state.sample(values, state.randrange(1, 4))
    if state.random() < 0.5:
        aggregates = [call for call in AGGREGATES if both or 'b.' not in call]
        columns = picked + state.sample(aggregates, state.randrange(3))
        tail = ' group by ' + ', '.join(map(str, range(1, len(picked) + 1)))
    else:
        columns = picked + [value for value in FLOATS
                            if (both or 'b.' not in value) and state.random() < 0.3]
        tail = ''
    if state.random() < 0.4:
        tail += f' order by {state.randrange(len(columns)) + 1}{state.choice(("", " desc"))}'
    if state.random() < 0.3:
        tail += f' limit {state.randrange(400)} offset {state.choice((0, 3, 300))}'
    distinct = 'distinct ' if state.random() < 0.1 else ''
    return f'select {distinct}{", ".join(columns)} from {source}{tail};'


def test_exchange_random():
    """Random joins with rows, groups, orders and limits."""
    database = cluster.FOLDER / 'exchange random.vdb'
    make_joined(database)
    state = random.Random(11)
    statements = [random_query(state) for _ in range(400)]
    script = ''.join(f"select 'next';\n{sql}\n" for sql in statements)
    wanted = run(alone(database), script)
    assert not wanted[1], wanted[1]
    for count in (2, 3, 5):
        got = run(ranks(count, database), script, VDBQ_EXCHANGE='on')
        for sql, one, other in zip(statements, *(text.split('next\n')[1:]
                                                 for text in (wanted[0], got[0]))):
            assert one == other, f'{count} ranks: {sql}\n{other}\nnot\n{one}'
        assert got == wanted, got[1]
    assert len(exchanged(statements, database, 2)) > 300
    assert len(exchanged(statements, database, 1)) > 340


def test_exchange_told():
    """EXPLAIN says whether rows are exchanged, and why."""
    database = cluster.FOLDER / 'told.vdb'
    make_joined(database)
    join = 'from a join b on a.k = b.k;'
    done = '; exchange  of both sides of a join by its keys: it is set to on'
    assert exchanges(f'select count(*) {join}', database) == (
        0, '; exchange  no: costs more than to build one side of the join on each rank')
    assert exchanges(f'select count(*) {join}', database, VDBQ_EXCHANGE='on') == (
        2, done)
    order = '; exchange  no: what comes of the join depends on the order of rows'
    whole = '; exchange  of rows that each rank gets all of: it is set to on'
    for sql in (f'select a.n, y {join}', f'select a.n, sum(y) {join[:-1]} group by a.n;',
                f'select a.n, y {join[:-1]} order by y limit 4;'):
        assert exchanges(sql, database, VDBQ_EXCHANGE='on') == (2, done), sql
    for sql in (f'select min(y) {join}', f'select sum(a.k * b.k) {join}',
                f'select a.k * b.k {join}'):
        assert exchanges(sql, database) == (0, order), sql
        assert exchanges(sql, database, VDBQ_EXCHANGE='on') == (1, whole), sql
    groups = '; exchange  of rows by the keys of their groups: it is set to on'
    for sql, count in ((f'select a.f, sum(y) {join[:-1]} group by a.f;', 2),
                       (f'select a.n, max(y) {join[:-1]} group by a.n;', 2),
                       (f'select count(distinct a.n) {join}', 2),
                       ('select k, avg(x) from a group by k;', 1)):
        assert exchanges(sql, database, VDBQ_EXCHANGE='on') == (count, groups), sql
    assert exchanges('select k, avg(x) from a group by k;', database) == (
        0, '; exchange  no: costs more than to bring the groups of all ranks together')
    assert exchanges('select k, sum(n), sum(k) from a group by k;', database,
                     VDBQ_EXCHANGE='on') == (
        0, '; exchange  no: which sum of groups fails first depends on their order')
    late = '(select k, n * 100000000000000000 z from a) a join b on a.k = b.k and z > b.n;'
    assert exchanges(f'select z, y from {late}', database) == (
        0, '; exchange  no: rows in front of one that fails would come late')
    assert exchanges(f'select max(b.s) {join}', database, VDBQ_EXCHANGE='on') == (2, done)
    assert exchanges('select count(*) from a;', database, VDBQ_EXCHANGE='on') == (0, '')


def test_chosen():
    """By price alone: many groups, and joins with few different texts, are exchanged."""
    database = cluster.FOLDER / 'chosen.vdb'
    with tempfile.NamedTemporaryFile('w', suffix='.csv') as file:
        file.write('k,s,t\n' + ''.join(f'{i * 7919 % 400009},w{i % 7},t{i}\n'
                                       for i in range(400000)))
        file.flush()
        run(alone(database), 'create table t (k bigint, s text, t text);\n'
            f"copy t from '{file.name}' with (header);\n", VDBQ_TABLET_ROWS='40000')
    wanted = {'select k, count(*) from t group by k limit 5000;': 1,
              'select count(*), max(c) from (select k, count(*) c from t group by k);': 1,
              'select k, max(s) z from t group by k order by k limit 9 offset 70000;': 1,
              'select k % 9 z, count(*) from t group by z;': 0,
              'select t, count(*) from t group by t limit 10;': 0,
              'select max(b.s) from t a join t b on a.k = b.k;': 2,
              'select count(*) from t a join t b on a.t = b.t;': 0}
    same(''.join(wanted), database, counts=(2, 3))
    for sql, sides in wanted.items():
        assert exchanges(sql, database)[0] == sides, (sql, exchanges(sql, database))


def test_broadcast_chosen():
    """By price alone: where a large table is scanned twice, the second scan is shared out,
    too, but not for most of its rows."""
    database = cluster.FOLDER / 'broadcast chosen.vdb'
    subprocess.run([cluster.BUILD / 'tools' / 'generate', '--keys', 'unique', '--rows', '800000',
                    '--db', database], check=True,
                   env=cluster.ENVIRONMENT | {'VDBQ_TABLET_ROWS': '100000'})
    wanted = {'select count(*), sum(v) from test where v > (select avg(v) from test);': 1,
              'select count(*), sum(a.v) from test a join test b on a.k = b.k;': 0}
    same(''.join(wanted), database, counts=(2, 3))
    for sql, count in wanted.items():
        found = exchanges(sql, database)
        assert (count == 1) == ('each rank gets all of: costs less' in found[1]), (sql, found)


def test_exchange_errors():
    """A row that fails on its way to other ranks fails the statement as in one process,
    and others go on."""
    database = cluster.FOLDER / 'exchange errors.vdb'
    make_joined(database)
    same("""
        select count(*) from a join b on a.k = b.k and cast(1000000000 as integer) * b.n > 0;
        select count(*) from a join b on a.k = b.k where a.n * 2000000000000000000 > b.n;
        select count(*) from (select k, n * 100000000000000000 z from a) a
            join (select k, n * 200000000000000000 z from b) b on a.k = b.k and a.z = b.z;
        select count(*) from (select k, n * 100000000000000000 z from a) a
            join b on a.k = b.k and a.z = b.n;
        select count(*), sum(x) from a join b on a.k = b.k;
        select b.n, count(*) from (select k, n * 100000000000000000 z from a) a
            join b on a.k = b.k group by b.n;
        select a.z from (select k, n * 100000000000000000 z from a) a
            join b on a.k = b.k order by b.n;
        select a.z, b.n from (select k, n * 100000000000000000 z from a) a
            join b on a.k = b.k;
        select a.n, b.z from a join (select k, n * 100000000000000000 z from b) b on a.k = b.k;
        select a.n, y from a join b on a.k = b.k limit 5;
        select n * 100000000000000000 z, count(*) from a group by z;
        select k, sum(n * 100000000000000000) from a group by k;
        select n % 2 z, sum(cast(n as bigint) * 40000000000000000) from a group by z;
        select n % 50 z, sum(k) from a group by z limit 3;
        select z * 1000000000000000000 from (select n z, count(*) from a group by n) limit 3;
        select n, count(*) from a group by n having n * 1000000000000000000 > 3;
        select n, count(*) from a group by n order by 2 limit 3;
        select n, sum(case when n = 99 then 9e18::bigint else 1 end) from a group by n limit 0;
        select n, sum(case when n = 98 then 9e18::bigint else 1 end) from a group by n limit 1;
        """, database, VDBQ_EXCHANGE='on')


def test_broadcast_errors():
    """A row that fails is the statement's failure where one process comes to it, and
    where that stops before it, nothing has failed."""
    database = cluster.FOLDER / 'broadcast errors.vdb'
    make_joined(database)
    big = 'n * 100000000000000000'
    same(f"""
        select count(*) from b where n > (select max({big}) from a);
        select count(*) from b where n > (select max({big}) from a where n < 9);
        select count(*) from a where k in (select k + {big} from b);
        select k from a where k in (select k + {big} from b) limit 3;
        select k from a where n < 0 and k in (select {big} from b);
        select count(*) from a where n > (select avg(n) from b) and {big} > 1;
        select n, {big} from a where x > (select avg(y) from b) limit 40;
        select n, {big} from a where x > (select avg(y) from b);
        with w as (select n, {big} z, x from a where n > 3)
            select count(*) from w where x > (select avg(x) from w);
        with w as (select n, {big} z, x from a where n > 3)
            select z from w where x > (select avg(x) from w) limit 5;
        with w as (select k, {big} z from a) select b.n, z from w join b on b.k = w.k limit 5;
        select s, sum(n * 400000000000000000) from a where x > (select avg(y) from b) group by s;
        select (select sum({big}) from a), (select sum(n * 300000000000000000) from b);
        select count(*), sum(x) from a where x > (select avg(x) from a);
        """, database, VDBQ_EXCHANGE='on')


if __name__ == '__main__':
    sys.exit(cluster.run_parts(globals()))

# SPDX-License-Identifier: MIT
"""The tables, queries and changes of tests/memory/peaks.py.

Numbers: `id` in order, `b` the same numbers in no order, `x` of 1,000 values.
Texts: `t1` all different, of 20 to 60 bytes, in no order; `t2` those of other rows, but
one in eight the row's own; `g` of 100 values.
"""
import collections
import random

HEX = '%016x'

SCHEMA = '''
create table numbers (id integer, b integer, x double);
create table texts (id integer, t1 text, t2 text, g text);
'''

# `table` is the one whose rows are counted; `look` shows what a change has made.
Query = collections.namedtuple('Query', 'name table sql look', defaults=(None,))

QUERIES = tuple(Query(*row) for row in (
    # rows of numbers
    ('order', 'numbers', 'select id from numbers order by b'),
    ('order all', 'numbers', 'select * from numbers order by x desc, b'),
    ('group', 'numbers', 'select id, count(*) from numbers group by id'),
    ('group expression', 'numbers', 'select b % 3000017, count(*), sum(x) from numbers group by 1'),
    ('distinct', 'numbers', 'select distinct b from numbers'),
    ('count distinct', 'numbers', 'select count(distinct b) from numbers'),
    ('window', 'numbers', 'select id, row_number() over (order by b) from numbers'),
    ('union', 'numbers', 'select id from numbers union select b from numbers'),
    ('join', 'numbers', 'select count(*) from numbers a join numbers c on a.id = c.b'),
    ('join rows', 'numbers', 'select a.x, c.id from numbers a join numbers c on a.id = c.b'),
    ('join expression', 'numbers',
     'select count(*) from numbers a join numbers c on a.id + 1 = c.b - 1'),
    ('recursion', 'numbers',
     'with recursive r(n, d) as (select b, 0 from numbers where id % 4 = 0 '
     'union select n, d + 1 from r where d < 3) select count(*), sum(n) from r'),
    # rows of texts
    ('text order', 'texts', 'select t1 from texts order by t1'),
    ('text order two', 'texts', 'select id from texts order by g, t2, t1'),
    ('text distinct', 'texts', 'select distinct t1 from texts'),
    ('text count distinct', 'texts', 'select count(distinct t1), count(distinct t2) from texts'),
    ('text group', 'texts', 'select t1, count(*), min(t2) from texts group by t1'),
    ('text min max', 'texts', 'select min(t1), max(t2) from texts'),
    ('text group min', 'texts', 'select g, min(t1), max(t2) from texts group by g'),
    ('text group expression', 'texts',
     'select substr(t1, 1, 12), count(*) from texts group by 1'),
    ('text window', 'texts', 'select id, row_number() over (order by t1) from texts'),
    ('text window partition', 'texts',
     'select id, lag(t1) over (partition by t2 order by id) from texts'),
    ('text union', 'texts', 'select t1 from texts union select t2 from texts'),
    ('text union all', 'texts', 'select t1 from texts union all select t2 from texts'),
    ('text except', 'texts', 'select t1 from texts except select t2 from texts'),
    ('text join', 'texts', 'select count(*) from texts a join texts c on a.t1 = c.t2'),
    ('text join rows', 'texts',
     'select a.t1, c.t2, c.t1 from texts a join texts c on a.t1 = c.t2'),
    ('text join expression', 'texts',
     "select count(*) from texts a join texts c on a.t1 || 'x' = c.t2 || 'x'"),
    ('text join condition', 'texts',
     'select count(*) from texts a join texts c on a.id = c.id where a.t1 < c.t2'),
    ('text in', 'texts', 'select count(*) from texts where t1 in (select t2 from texts)'),
    ('text compare', 'texts', 'select count(*) from texts where t1 < t2'),
    ('text equal', 'texts', 'select count(*) from texts where t1 = t2'),
    ('text compare rows', 'texts', 'select id, t1, t2 from texts where t1 >= t2'),
    ('text between', 'texts', 'select count(*) from texts where t1 between g and t2'),
    ('text case', 'texts',
     'select count(case when t1 < t2 then t1 else t2 end) from texts'),
    ('text case rows', 'texts', 'select case when id % 2 = 0 then t1 else t2 end from texts'),
    ('text greatest', 'texts', 'select max(t1, t2) from texts'),
    ('text coalesce', 'texts', "select coalesce(nullif(t1, t2), 'same') from texts"),
    ('text concat', 'texts', 'select t1 || t2 from texts'),
    ('text concat distinct', 'texts', 'select distinct t1 || t2 from texts'),
    ('text concat order', 'texts', 'select t1 || g as k from texts order by k'),
    ('text concat twice', 'texts', "select t1 || g || '-' || t2 from texts"),
    ('text concat compare', 'texts', "select count(*) from texts where t1 || 'a' < t2"),
    ('text upper', 'texts', 'select upper(t1) from texts'),
    ('text upper group', 'texts', 'select upper(t1), count(*) from texts group by 1'),
    ('text joined', 'texts', "select string_agg(g, ',') from texts"),
    ('text joined order', 'texts', "select string_agg(g, ',' order by id desc) from texts"),
    ('text joined beside', 'texts',
     "select id % 3, string_agg(g, ',' order by id desc), count(*) from texts group by 1"),
    ('text like', 'texts', "select count(*) from texts where t1 like '%ab%c%'"),
))

# {numbers} and {texts} are the files that the tables were read from.
CHANGES = tuple(Query(*row) for row in (
    ('copy', 'numbers', "copy numbers from '{numbers}' (header off)", 'select * from numbers'),
    ('create as', 'numbers', 'create table made as select * from numbers',
     'select * from made'),
    ('update all', 'numbers', 'update numbers set b = b + 1', 'select * from numbers'),
    ('index', 'numbers', 'create index by_b on numbers (b)',
     'select id from numbers where b between 1000 and 2000 order by b'),
    ('text copy', 'texts', "copy texts from '{texts}' (header off)", 'select * from texts'),
    ('text create as', 'texts', 'create table made as select * from texts',
     'select * from made'),
    ('text insert', 'texts', 'insert into texts select * from texts', 'select * from texts'),
    ('text update all', 'texts', "update texts set t1 = t1 || 'x'", 'select * from texts'),
    ('text update swap', 'texts', 'update texts set t1 = t2, t2 = t1', 'select * from texts'),
    ('text index', 'texts', 'create index by_t on texts (t1)',
     "select id from texts where t1 >= '77' and t1 < '78' order by t1"),
    ('text index two', 'texts', 'create index by_gt on texts (g, t2)',
     "select id from texts where g = 'g7' and t2 < '1' order by t2"),
))


def in_list(length):
    """A query with so many literals."""
    literals = ','.join(str(number * 8) for number in range(length))
    return (Query('in list', 'numbers', f'select count(*) from numbers where b in ({literals})'),)


def texts(chance, rows):
    """So many different ones of 20 to 60 bytes."""
    fill = '%0480x' % chance.getrandbits(1920)
    for row in range(rows):
        word = HEX % (row * 0x9e3779b97f4a7c15 & 0xffffffffffffffff)
        start = row * 7919 % 400
        yield word + fill[start:start + 4 + row * 31 % 41]


def numbers_csv(file, rows):
    for row in range(rows):
        file.write('%d,%d,%g\n' % (row, row * 7919 % rows, row % 1000 / 8))


def texts_csv(file, rows):
    words = list(texts(random.Random(1), rows))
    for row, word in enumerate(words):
        other = word if row % 8 == 3 else words[row * 7919 % rows]
        file.write('%d,%s,%s,g%d\n' % (row, word, other, row % 100))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Part files by the hash of columns, and tables that are whole in each: the rows, their
order, their bits and the errors of the database that they were made of, by one process
and by ranks; which joins and groups are co-located; what is told of layouts, and of numbers
of rows, that are damaged.

    test_hash.py BUILD [PART...]

The parts are the functions below whose names begin with "test_". The last line is
"N passed, N failed".
"""
import ctypes
import random
import re
import shutil
import sys

sys.dont_write_bytecode = True
import test_cluster as cluster
from test_cluster import alone, ranks, run
from test_parts import distribute

# Keys of several types, some NULL, some values twice; `few` has few rows.
TABLES = """
    create table a (k bigint, s text, d date, m decimal(9,2), n integer, x double,
        c text collate nocase);
    insert into a select nullif(r % 499, 7), 't' || nullif(r % 61, 5),
        date '2024-01-01' + r % 300, cast(r % 77 as decimal(9,2)) / 4, r % 100, r * 0.1,
        case when r % 7 < 3 then 'W' else 'w' end || (r % 23)
        from range(0, 9000, 1) as g(r);
    create table b (n integer, k smallint, s text, d date, m decimal(9,2), y double);
    insert into b select r % 90, nullif(r % 601, 11), 't' || (r % 47),
        date '2024-03-01' + r % 400, cast(r % 50 as decimal(9,2)) / 4, r * 0.3
        from range(0, 4000, 1) as g(r);
    create table p (k integer primary key, s text unique, z integer default (2 + 3));
    insert into p select r * 3, 't' || r, r % 9 from range(0, 1200, 1) as g(r);
    create index ps on p (z);
    create unique index pe on p (k + 1) where z < 5;
    create view pv as select * from p where k % 2 = 0;
    create table few (k integer, s text);
    insert into few values (1, 't1'), (2, null), (null, 't3');
    create table one (k bigint, s text);
    insert into one select 3, 't3' from range(0, 1500, 1) as g(r);
    create table none (k integer, s text);
    update a set n = -n where k = 3;
    delete from b where n = 4;
    """
LAYOUTS = ('a by hash (k) b by hash (k) p by hash (k) one by hash (k) few by hash (k)'
           ' none by hash (k)',
           'a by hash (k, s) b by hash (k, s) p by hash (s) few one by hash (s)',
           'a by hash (s) b by hash (s) p by hash (s) one by hash (s) few broadcast',
           'a by hash (d) b by hash (d) p broadcast none broadcast',
           'a by hash (m) b by hash (m) p by hash (z) few by hash (s)',
           'a by hash (k) b by hash (s) p by hash (k)', 'b by hash (k) p',
           'a broadcast b p by hash(k)')
COLUMNS = {'a': 'k s d m n x c', 'b': 'n k s d m y', 'p': 'k s z', 'few': 'k s', 'one': 'k s',
           'none': 'k s'}
FIXED = """
    select a.k, count(*), sum(b.n), min(p.s) from a join b on a.k = b.k left join p on p.k = a.k
        group by a.k;
    select a.n, b.n from a left join b on a.k = b.k and a.s = b.s where a.n < 9;
    select k, s, count(distinct n), sum(distinct n), sum(x) from a group by k, s having sum(n) > 60;
    select d, max(s), sum(x) from a group by d order by 3 desc limit 5;
    select m, count(*) from b group by m order by m;
    select count(*) from (select k, count(*) c from a group by k) where c > 17;
    select c, count(*) from (select s, count(*) c from a group by s) group by c;
    select count(*), sum(n) from a where exists (select 1 from b where b.k = a.k and b.n > a.n);
    select count(*), sum(n) from a where not exists (select 1 from b where b.s = a.s);
    select count(*) from a where k not in (select k from b);
    select count(*) from a where k in (select k from p where z = 3);
    select p.z, count(*) from p left join a on p.k = a.k group by p.z;
    select p.k, p.z, sum(a.n) from a join p on a.k = p.k group by p.k, p.z;
    select b.k, count(*) from a left join b on a.k = b.k group by b.k;
    select count(*) from a full join b on a.k = b.k and a.s = b.s;
    select b.n from a right join b on a.k = b.k and a.n = b.n where b.n < 5;
    select count(*) from a join b on a.k is not distinct from b.k;
    select nullif(k, 3), count(*) from a group by 1;
    select k + 1, count(*) from a group by 1 limit 9;
    select 1 / (a.n - 3) from a join b on a.k = b.k;
    select a.n, 1 / (b.n - 3) from a join b on a.k = b.k;
    select count(*) from one join a on one.k = a.k;
    select one.s, count(*) from a join one on one.s = a.s group by one.s;
    select count(*) from none join a on none.k = a.k;
    select none.s, 1 / (a.n - 3) from a join none on a.k = none.k;
    select few.s, a.n from a join few on a.k = few.k where a.n < 20;
    select a.k, count(*) from a, b, p where a.k = b.k and b.k = p.k and a.n > b.n group by a.k;
    select k, sum(n * 4611686018427387904) from a group by k;
    select k from a union select k from b except select k from p;
    select k, x, row_number() over (partition by k order by x) from a where n < 5;
    select count(*) from a where n > (select avg(n) from b) and k = 3;
    select * from p where k = 33;
    select * from a where s = 't3' and n < 30;
    select rowid, k from b where n = 7 limit 4;
    select s from p where k + 1 = 31 and z < 5;
    select pv.s, a.n from pv join a on pv.k = a.k where a.n < 20;
    select a.rowid, b.rowid, b.n from a join b on a.k = b.k and a.s = b.s where a.n < 30;
    select p.rowid, a.rowid from a join p on a.k = p.k where p.z = 3;
    select c, count(*), sum(n) from a group by c order by c;
    select c, k, count(*) from a group by k, c order by k, c limit 40;
    select n, k, count(*), sum(x) from a group by n, k order by 3 desc, 1, 2 limit 20;
    select a.n, count(*), sum(b.n) from a join b on a.k = b.k group by a.n order by 1;
    select k, any_value(s), min(x), arg_min(n, d) from a group by k order by k limit 30;
    """


def make(name, tablet_rows=700):
    database = cluster.FOLDER / name
    text, errors = run(alone(database), TABLES, VDBQ_TABLET_ROWS=str(tablet_rows))
    assert (text, errors) == ('', ''), text + errors
    return database


def pick_on(random_, one, other):
    """A condition that joins two tables: equal columns, and at times more."""
    shared = [c for c in COLUMNS[one].split() if c in COLUMNS[other].split()]
    keys = random_.sample(shared, min(len(shared), random_.choice((1, 1, 1, 2, 2, 3))))
    parts = [f'{one}.{c} = {other}.{c}' for c in keys]
    if random_.random() < 0.2:
        parts.append(f"{one}.s < {other}.s || 'a'")
    return ' and '.join(parts)


def pick_seen(random_, columns, source):
    """A query of rows, or groups, that shows in which order they came."""
    one, other, third = (random_.choice(columns) for _ in range(3))
    number = random_.choice([c for c in columns if c[-1] in 'knz'])
    ends = random_.choice(('', ' limit 11', ' limit 5 offset 40', f' order by {other}',
                           f' order by {other} desc, {third} limit 30', f' order by {one} limit 7'))
    groups = random_.choice(('', f' group by {other}', f' group by {other}, {third}'))
    return random_.choice((
        f'select {one}, {other}, {third} from {source}{ends}',
        f'select distinct {one}, {other} from {source}{ends}',
        f'select {one}, row_number() over () from {source}{ends}',
        f'select {one}, row_number() over (partition by {other} order by {third}) from {source}',
        f"select string_agg(c, '-') from (select {one} c from {source} limit 500)",
        f"select {'' if not groups else other + ', '}string_agg({one}, ';') from {source}{groups}",
        f"select {'' if not groups else other + ', '}arg_min({one}, {number}), "
        f'arg_max({number}, {one}), any_value({one}) from {source}{groups}',
        f'select {other}, min({one}), sum({number}) from {source} group by {other}'
        f'{random_.choice(("", " limit 5", " order by 3 desc limit 9", " order by 2"))}',
        f'select {one}, 1000 / ({number} - 17) from {source}{ends}',
        f'select {other}, sum(1000 / ({number} - 17)) from {source} group by {other}',
        f'select {number}, count(*) from {source} group by {number} order by 2, 1 desc limit 8',
        f'select c, count(*) from (select {other}, count(*) c from {source} group by {other})'
        f' group by c',
    ))


def pick_query(random_):
    """A query of joins and groups without an order, or with one that leaves some open."""
    tables = random_.sample(['a', 'b', 'p', 'few', 'one', 'none'], random_.choice((1, 2, 2, 3)))
    source = tables[0]
    for i, table in enumerate(tables[1:], 1):
        kind = random_.choice(('join', 'join', 'join', 'left join', 'right join', 'full join'))
        source += f' {kind} {table} on {pick_on(random_, random_.choice(tables[:i]), table)}'
    columns = [f'{t}.{c}' for t in tables for c in COLUMNS[t].split()]
    where = ''
    if random_.random() < 0.4:
        where = f' where {random_.choice(tables)}.k % {random_.choice((2, 3, 7))} = 1'
    if random_.random() < 0.3:
        other = random_.choice(('a', 'b', 'p'))
        column = random_.choice(('k', 's'))
        where += (' and' if where else ' where') + \
            f' {random_.choice(("", "not "))}exists (select 1 from {other} o' \
            f' where o.{column} = {tables[0]}.{column})'
    if random_.random() < 0.35:
        return pick_seen(random_, columns, f'{source}{where}')
    if random_.random() < 0.6:
        keys = random_.sample(columns, random_.choice((1, 1, 2)))
        made = random_.choice(columns)
        return f'select {", ".join(keys)}, count(*), count({random_.choice(("", "distinct "))}' \
            f'{made}), min({made}) from {source}{where} group by {", ".join(keys)}' + \
            random_.choice(('', '', ' having count(*) > 2', ' limit 7', ' order by 1, 2 limit 9'))
    if len(tables) > 1:
        return f'select count(*), min({random_.choice(columns)}) from {source}{where}'
    return f'select {", ".join(columns)} from {source}{where} limit 300'


def put_together(parts):
    """The rows of all parts of a table by hash, in the order of their numbers, which are
    the last column and ascend in each part."""
    rows = []
    for part in parts:
        lines = part[1:]
        numbers = [int(line.rsplit(',', 1)[1]) for line in lines]
        assert numbers == sorted(set(numbers)), numbers
        rows += zip(numbers, (line.rsplit(',', 1)[0] for line in lines))
    rows.sort()
    assert [number for number, _ in rows] == list(range(len(rows))), rows
    return [row for _, row in rows]


def test_rows():
    """A folder has the rows of the database, and a part those of its keys with numbers."""
    database = make('rows.vdb')
    for number, layout in enumerate(LAYOUTS):
        folder = distribute(database, f'rows{number}', 3, layout)
        whole = [t for t in COLUMNS if re.search(rf'\b{t}\b(?! *by)', layout)]
        for table in COLUMNS:
            sql = f'select * from {table};\n'
            wanted = run(alone(database), sql)[0].splitlines()
            assert run(alone(folder), sql)[0].splitlines() == wanted, (layout, table)
            parts = [run(alone(folder / f'part.{k}'), sql)[0].splitlines() for k in range(3)]
            if table in whole:
                assert all(part == wanted for part in parts), (layout, table)
            elif re.search(rf'\b{table} by', layout):
                assert all(part[0] == wanted[0] + ',row_number' for part in parts), parts
                assert put_together(parts) == wanted[1:], (layout, table)
            else:
                assert parts[0] + parts[1][1:] + parts[2][1:] == wanted, (layout, table)
        told = run(alone(folder), '.tablets\n')[0]
        assert told.count('by hash (') == layout.count('by hash'), told
        assert told.count('whole in each of 3 parts') == len(whole), told
        for file in (folder, *(folder / f'part.{k}' for k in range(3))):
            assert run(alone(file), '.check\n') == ('ok\n', ''), file


def test_keys():
    """Equal keys are in one part, whatever type an integer has, and so are NULLs."""
    folder = distribute(make('keys.vdb'), 'keys', 5, LAYOUTS[0])
    at = {}
    for part in range(5):
        for table in COLUMNS:
            text, _ = run(alone(folder / f'part.{part}'), f'select distinct k from {table};\n')
            for key in text.splitlines()[1:]:
                assert at.setdefault(key, part) == part, (key, table)
    assert len(at) > 900 and len(set(at.values())) == 5, at


def test_answers():
    """Ranks, and one process, say of a folder what one process says of the database."""
    database = make('answers.vdb')
    random_ = random.Random(7)
    for number, layout in enumerate(LAYOUTS):
        sql = FIXED + ''.join(f'{pick_query(random_)};\n' for _ in range(40))
        count = (3, 2, 5, 1)[number % 4]
        folder = distribute(database, f'answers{number}', count, layout)
        wanted = run(alone(database), sql)
        assert wanted[0].count('\n') > 1000, wanted
        got = run(alone(folder), sql)
        assert got == wanted, f'{layout}: alone:\n{first_difference(got, wanted)}'
        plans = FIXED.replace('    select', '    explain select')
        assert run(alone(folder), plans) == run(alone(database), plans), layout
        for exchange in ('auto', 'on') if count > 1 else ('auto',):
            got = run(ranks(count, folder), sql, VDBQ_EXCHANGE=exchange)
            assert got == wanted, f'{layout}: {count} {exchange}:\n{first_difference(got, wanted)}'


def first_difference(got, wanted):
    for one, other in zip(got, wanted):
        for line, (left, right) in enumerate(zip(one.splitlines(), other.splitlines())):
            if left != right:
                return f'line {line}: {left}\nnot {right}'
    return f'{len(got[0])} {got[1]}\nnot {len(wanted[0])} {wanted[1]}'


def test_order():
    """Any number of ranks gives the rows of the database in its order."""
    database = make('order.vdb', 300)
    random_ = random.Random(cluster.SEED)
    for number, layout in enumerate(LAYOUTS):
        sql = ''.join(f'{pick_query(random_)};\n' for _ in range(60))
        wanted = run(alone(database), sql)
        for count in random_.sample((1, 2, 3, 5), 2):
            folder = distribute(database, f'order{number}_{count}', count, layout, tablet_rows=150)
            for command in (alone(folder), ranks(count, folder)):
                got = run(command, sql, VDBQ_EXCHANGE=random_.choice(('auto', 'on', 'off')))
                assert got == wanted, f'{cluster.SEED}: {layout}: {command}:\n' \
                    f'{first_difference(got, wanted)}'


PLANS = (
    (0, 'select count(*), sum(b.n) from a join b on a.k = b.k', 'part'),
    (0, 'select a.n, b.n from a join b on a.k = b.k and a.s = b.s', 'part'),
    (0, 'select p.s, a.n from a join p on a.k = p.k where a.n < 50', 'part'),
    (0, 'select count(*) from a where exists (select 1 from b where b.k = a.k and b.n > a.n)',
     'part'),
    (0, 'select k, sum(x) from a group by k', 'group'),
    (0, 'select s, k, count(distinct n) from a group by s, k', 'group'),
    (0, 'select a.k, count(*) from a join b on a.k = b.k group by a.k', 'part group'),
    (0, 'select count(*) from a join b on a.k + 1 = b.k', ''),
    (0, 'select count(*) from a join b on a.s = b.s', ''),
    (0, 'select count(*) from a join b on a.k is not distinct from b.k', ''),
    (0, 'select s, sum(x) from a group by s', ''),
    (0, 'select b.k, count(*) from a left join b on a.k = b.k group by b.k', 'part'),
    (0, 'select nullif(k, 3), count(*) from a group by 1', ''),
    (1, 'select count(*) from a join b on a.k = b.k and a.s = b.s', 'part'),
    (1, 'select count(*) from a join b on a.k = b.s and a.s = b.s', ''),
    (1, 'select count(*) from a join b on a.k = b.k', ''),
    (1, 'select k, count(*) from a group by k', ''),
    (3, 'select a.n, b.n from a join b on a.d = b.d', 'part'),
    (4, 'select count(*) from a join b on a.m = b.m', 'part'),
    (5, 'select count(*) from a join b on a.k = b.k', ''),
)


def test_plans():
    """EXPLAIN says what is co-located, and that is not what would be wrong."""
    database = make('plans.vdb')
    folders = {}
    for number, sql, wanted in PLANS:
        if number not in folders:
            folders[number] = distribute(database, f'plans{number}', 3, LAYOUTS[number])
        plan, errors = run(ranks(3, folders[number]), f'explain {sql};\n')
        assert errors == '', errors
        got = ('part' if 'co-located: its part on each of 3 ranks' in plan else '',
               'group' if 'co-located: group by' in plan else '')
        assert ' '.join(filter(None, got)) == wanted, f'{sql}: {wanted}\n{plan}'
        assert not wanted or 'exchange among' not in plan, plan


def test_everywhere():
    """Of a table that is whole in each part a rank reads its own part's rows, and sends none."""
    folder = distribute(make('own.vdb'), 'own', 3, 'b p')
    lines = (folder / 'layout').read_text().splitlines()
    ranges = [[int(word) for word in line.split()[1:]] for line in lines
              if line.startswith('range')]
    assert any(part == 3 for _, _, part in ranges), ranges
    for k in range(3):
        here = cluster.FOLDER / 'each_whole' / str(k) / 'x'
        shutil.copytree(folder, here)
        for file in ('whole', *(f'part.{other}' for other in range(3) if other != k)):
            data = bytearray((here / file).read_bytes())
            for offset, size, part in ranges:
                if part == 3:
                    data[offset:offset + size] = bytes(size)
            (here / file).write_bytes(data)
    sql = """
        select b.n, count(*), sum(a.x) from a join b on a.k = b.k group by b.n;
        select p.z, count(*) from a join p on a.k = p.k group by p.z;
        """
    command = f'env VDBQ_EXCHANGE=on {cluster.BUILD}/vdbq --cluster --batch --csv x'
    got = cluster.on_each(command, cluster.FOLDER / 'each_whole', sql)
    assert got == run(alone(folder), sql), got
    for query in ('select count(*) from a join b on a.k = b.k',
                  'select count(*) from b, p where b.k = p.k',
                  'select count(*) from a where n > (select avg(n) from b)'):
        plan, _ = run(ranks(3, folder), f'explain {query};\n', VDBQ_EXCHANGE='on')
        assert 'exchange among' not in plan, plan


def turned(data, pages):
    """Bytes of which all bits of some pages of 4096 bytes are the other ones."""
    data = bytearray(data)
    for page in pages:
        data[page * 4096:(page + 1) * 4096] = bytes(
            255 - byte for byte in data[page * 4096:(page + 1) * 4096])
    return data


def test_own():
    """Who counts, or joins where rows are, reads no rows of a table by hash in `whole`."""
    folder = distribute(make('counts.vdb', 3000), 'counts', 2, 'a by hash (k) b by hash (k)')
    whole = folder / 'whole'
    data = whole.read_bytes()
    everything = 'select sum(n) from a;\nselect sum(n) from b;\n'
    fine, rows = run(alone(folder), everything), []
    for page in range(2, len(data) // 4096):
        whole.write_bytes(turned(data, [page]))
        text, errors = run(alone(folder), everything)
        rows += [page] if (text, errors) != fine and 'table' in errors else []
    assert rows, fine
    counts = 'select count(*), sum(n) from a where k > 3;\n' \
        'select a.n, b.n from a join b on a.k = b.k where a.n < 9;\n' \
        'select k, sum(x) from a group by k;\nselect n, count(*) from b group by n order by n;\n'
    whole.write_bytes(data)
    fine = run(alone(folder), counts)
    whole.write_bytes(turned(data, rows))
    assert run(ranks(2, folder), counts) == fine
    _, errors = run(ranks(2, folder), 'select n from a;\n')
    assert 'checksum' in errors, errors


def xxh3(data):
    library = ctypes.CDLL('libxxhash.so.0')
    library.XXH3_64bits.restype = ctypes.c_uint64
    library.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    return f'{library.XXH3_64bits(data, len(data)):016x}'


def summed(text):
    """A layout whose last line fits."""
    body = text[:text.index('end ')].encode()
    return body + f'end {xxh3(body)}\n'.encode()


def test_layouts():
    """Layouts whose sums are right, but which say what is not so."""
    folder = distribute(make('layouts.vdb'), 'layouts', 3,
                        LAYOUTS[0].replace('few by hash (k)', 'few'))
    layout = folder / 'layout'
    text = layout.read_text()
    layout.write_bytes(summed(text))
    sql = 'select count(*) from a join b on a.k = b.k;\n'
    fine = run(alone(folder), sql)
    assert fine[1] == '', fine
    table, number, state = re.search(r'^(table (\d+) 1 \d+) ([0-9a-f ]+)$', text, re.M).groups()
    whole = re.search(r'^table \d+ 0$', text, re.M)[0]
    each = next(line for line in text.splitlines()
                if line.startswith('range') and line.endswith(' 3'))
    for old, new in ((table, f'table {number} 1 4000000'), (table, f'table {number} 1 7'),
                     (table, f'table {number} 1 5'), (table, f'table {number} 1 6'),
                     (table, f'table {number} 0'), (table, f'table {number} 9 0 0 0 0 0 0 0 0 0'),
                     (table, f'table {number} 2 0'), (table, 'table 99 1 0'),
                     (table, f'{table} {state}\n{table}'), (table, f'table {number}'),
                     (table, f'table {number} 18446744073709551615 0'),
                     (f'{table} {state}', f'table {number} 0'), (f' {state}', ''),
                     (each, each[:-1] + '0'), (each, each[:-1] + '4'),
                     (each, each[:-1] + '4294967296'), (f'{each}\n', ''),
                     (whole, f'{whole}\n{whole}')):
        assert old in text, old
        layout.write_bytes(summed(text.replace(old, new, 1)))
        for command in (alone(folder), ranks(3, folder)):
            got, errors = run(command, sql)
            assert got == '' and 'layout' in errors and 'damaged' in errors, f'{new}: {got}{errors}'
    layout.write_bytes(summed(text.replace(state, state[::-1])))
    for command in (alone(folder), ranks(3, folder)):
        assert run(command, sql) == fine, command
    layout.write_bytes(summed(text.replace('vdbq parts 4', 'vdbq parts 3')))
    _, errors = run(alone(folder), sql)
    assert 'another version of vdbq' in errors and 'distribute the database again' in errors, errors


NUMBERS = (
    (0, 'update a set row_number = -1 where row_number = {least}', 'number that no row has'),
    (1, 'update a set row_number = 9000 where row_number = {most}', 'number that no row has'),
    (2, 'update a set row_number = 9000000000000000000 where row_number = {most}',
     'number that no row has'),
    (0, 'update a set row_number = {most} - row_number + {least}', 'do not ascend'),
    (1, 'update a set row_number = row_number - 3000 where row_number > {most} - 700',
     'do not ascend'),
    (1, 'delete from a where row_number = {least}', 'more rows in all parts, or less'),
    (2, 'insert into a select * from a where row_number = {most}', ''),
    (1, 'alter table a drop column d', 'has other columns'),
    (1, 'alter table a drop column row_number', 'has other columns'),
    (0, 'drop table a', 'has other columns'),
)
SWAPPED = 'update a set row_number = case row_number when {one} then {other} else {one} end ' \
    'where row_number in ({one}, {other})'


def change_part(folder, part, sql):
    """Changes a part, and has the layout know it so."""
    file = folder / f'part.{part}'
    text, errors = run(alone(file), f'{sql};\nvacuum;\n', VDBQ_TABLET_ROWS='700')
    assert errors == '', f'{sql}: {text}{errors}'
    lines = (folder / 'layout').read_text().splitlines(keepends=True)
    lines[4 + part] = f'part {xxh3(file.read_bytes()[:8192])}\n'
    (folder / 'layout').write_bytes(summed(''.join(lines)))


def numbers_of(folder, part):
    text, _ = run(alone(folder / f'part.{part}'), 'select row_number from a;\n')
    return [int(line) for line in text.splitlines()[1:]]


def test_numbers():
    """Numbers of rows that are not those of the table are told of."""
    made = distribute(make('numbers.vdb'), 'numbers', 3, 'a by hash (k) b by hash (k)')
    sql = 'select a.n, b.n from a join b on a.k = b.k;\n'
    fine = run(ranks(3, made), sql)
    assert fine[1] == '' and run(alone(made), '.check\n')[0] == 'ok\n', fine
    for number, (part, change, wanted) in enumerate(NUMBERS):
        folder = cluster.FOLDER / f'numbers{number}'
        shutil.copytree(made, folder)
        has = numbers_of(folder, part)
        change_part(folder, part, change.format(least=has[0], most=has[-1]))
        got, errors = run(ranks(3, folder), sql)
        assert got == '' and f'part.{part}: it is damaged' in errors.replace(
            'part.0', f'part.{part}') and wanted in errors, f'{change}: {got[:200]}{errors}'
        assert run(alone(folder), sql) == fine, change
        assert 'it is damaged' in run(alone(folder), '.check\n')[0], change


def test_swapped():
    """Numbers of which each is one of the table's, but not in its place, or there twice."""
    made = distribute(make('swapped.vdb'), 'swapped', 3, 'a by hash (k) b by hash (k)')
    sql = 'select a.n, b.n from a join b on a.k = b.k;\n'
    fine = run(ranks(3, made), sql)
    first, second = numbers_of(made, 0), numbers_of(made, 1)
    twice = next(number for number in first[5:] if number - 1 in second)
    for name, change, wanted in (
            ('fall', SWAPPED.format(one=first[100], other=first[101]), 'less than one before it'),
            ('twice', f'update a set row_number = {twice - 1} where row_number = {twice}',
             'which another row has')):
        folder = cluster.FOLDER / f'swapped_{name}'
        shutil.copytree(made, folder)
        change_part(folder, 0, change)
        got, errors = run(ranks(3, folder), sql)
        assert got != fine[0] and 'numbers of rows do not ascend' in errors, (name, errors)
        assert run(alone(folder), sql) == fine, name
        assert wanted in run(alone(folder), '.check\n')[0], name


def test_making():
    """What .distribute refuses, and that nothing of it stays."""
    database = make('making.vdb')
    folder = cluster.FOLDER / 'made'
    for words, wanted in (('a by hash (x)', 'column x of table a has no hash'),
                          ('a by hash (q)', 'no column q in table a'),
                          ('a by hash (k) b a', 'table a is named twice'),
                          ('q by hash (k)', 'no table q'),
                          (f'a by hash ({", ".join("k" * 9)})', 'a hash is of 8 columns'),
                          *((f'a {words}', '.distribute FOLDER N') for words in (
                              'by', 'by hash', 'by hash k', 'by hash ()', 'by hash (k',
                              'by hash (k,)', 'by hash (,k)', 'by runs'))):
        _, errors = run(alone(database), f'.distribute {folder} 2 {words}\n')
        assert wanted in errors, f'{words}: {errors}'
        assert not folder.exists(), words
    run(alone(database), 'create table numbered (row_number integer, k integer, '
        'Row_Number_ text);\ninsert into numbered values (7, 8, null);\n')
    distribute(database, 'numbered', 1, 'numbered by hash (k, row_number)')
    text, _ = run(alone(cluster.FOLDER / 'numbered' / 'part.0'), 'select * from numbered;\n')
    assert text == 'row_number,k,Row_Number_,row_number__\n7,8,,0\n', text
    run(alone(database), 'create table "two words" ("a key" text collate nocase, "b key" text);\n')
    _, errors = run(alone(database), f".distribute {folder} 2 'two words' by hash (a key)\n")
    assert 'column a key of table two words has no hash' in errors, errors
    _, errors = run(alone(database), f".distribute {folder} 2 'two words' BY HASH ( b key )\n")
    assert errors == '' and sorted(file.name for file in folder.iterdir()) == \
        ['layout', 'part.0', 'part.1', 'whole'], errors


if __name__ == '__main__':
    sys.exit(cluster.run_parts(globals()))

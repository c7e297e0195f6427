#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Databases of part files: the rows, their order, their bits and the errors of the one
file that they were made of; each part by itself; what is told of parts that are missing,
damaged, or another database's.

    test_parts.py BUILD [PART...]

The parts are the functions below whose names begin with "test_". The last line is
"N passed, N failed".
"""
import shutil
import sys

sys.dont_write_bytecode = True
import test_cluster as cluster
from test_cluster import alone, ranks, run

TABLES = """
    create table u (k integer, name text);
    insert into u select r, 'n' || r from range(0, 7, 1) as g(r);
    create table empty (k integer);
    create table late (k integer, y double unique);
    insert into late select r % 5, r * 0.3 from range(0, 4000, 1) as g(r);
    update late set y = -y where k = 3 and y > 1100;
    delete from t where id % 1000 = 3;
    create index ts on t (s, x);
    create view v as select k, count(*) c, sum(x) sx from t group by k;
    """
QUERIES = """
    select sum(x), avg(x), count(*), min(s), max(upper(s)) from t;
    select k, sum(x), min(s), max(s), count(distinct s) from t group by k;
    select upper(s), lower(s), count(*) from t group by 1, 2 having count(*) > 1500;
    select * from t where id % 999 = 0;
    select id, s from t order by s desc, x limit 5 offset 3;
    select id from t limit 3 offset 9000;
    select id, x from t where s = 'w3' and x > 1990.5;
    select id, s from t where id in (3, 4, 1003, 19999);
    select name, count(*), sum(x) from t join u on t.k = u.k group by name;
    select t.id, late.y from t join late on t.id = late.k order by y, id limit 9;
    select count(*), sum(y) from late join t on late.y = t.x;
    select u.name, t.id from u left join t on u.k = t.id;
    select id from t where x > (select avg(x) from t) and k = 3 limit 5;
    select count(*) from t where not exists (select 1 from late where late.y = t.x);
    select id, row_number() over (partition by k order by x desc) from t where id < 30;
    select * from v order by c, k;
    select count(*), max(k) from empty;
    select k from t union select k from late;
    select 1 / (id - 15555) from t;
    select count(distinct x), count(distinct k) from t;
    """


def make(name, rows=20000, tablet_rows=1000):
    """A database whose tables have many tablets."""
    database = cluster.FOLDER / name
    cluster.make_table(database, rows, tablet_rows)
    text, errors = run(alone(database), TABLES, VDBQ_TABLET_ROWS=str(tablet_rows))
    assert (text, errors) == ('', ''), text + errors
    return database


def distribute(database, name, *words, tablet_rows=700):
    """The folder of part files that the shell makes."""
    folder = cluster.FOLDER / name
    text, errors = run(alone(database), f".distribute '{folder}' {' '.join(map(str, words))}\n",
                       VDBQ_TABLET_ROWS=str(tablet_rows))
    assert (text, errors) == ('', ''), text + errors
    return folder


def test_answers():
    """Ranks, and one process, say of a folder what they say of the file."""
    for name, rows, layouts in (('many', 20000, ((1, ()), (2, ('u', 'late')), (3, ()))),
                                ('few', 1500, ((3, ()),))):
        database = make(f'{name}.vdb', rows)
        wanted = run(alone(database), QUERIES)
        assert wanted[0].count('\n') > 100, wanted
        for count, whole in layouts:
            folder = distribute(database, f'{name}{count}', count, *whole)
            for exchange in ('auto', 'on') if count > 1 else ('auto',):
                got = run(ranks(count, folder), QUERIES, VDBQ_EXCHANGE=exchange)
                assert got == wanted, f'{folder} {exchange}:\n{got}\nnot\n{wanted}'
            assert run(alone(folder), QUERIES) == wanted, folder


def test_shares():
    """A rank scans its own part, and each part is a database of these rows."""
    database = make('shares.vdb')
    folder = distribute(database, 'shares', 3, 'u')
    everything = run(alone(database), 'select * from t;\n')[0].splitlines()[1:]
    parts = []
    for k in range(3):
        part = folder / f'part.{k}'
        text, errors = run(alone(part), 'select * from t;\n')
        assert errors == '', errors
        assert text.count('\n') > 5000, text[:200]
        parts += text.splitlines()[1:]
        assert run(alone(part), '.check\n')[0] == 'ok\n', part
        assert run(alone(part), 'select count(*) c from u;\n')[0] == 'c\n7\n', part
        assert part.stat().st_blocks < 0.9 * database.stat().st_blocks, part.stat()
    assert parts == everything
    assert run(alone(folder), '.check\n')[0] == 'ok\n'


def damage(folder, *parts):
    """Turns all bits of the tablets of some parts."""
    layout = (folder / 'layout').read_text().splitlines()
    ranges = [[int(word) for word in line.split()[1:]] for line in layout
              if line.startswith('range')]
    for k in parts:
        data = bytearray((folder / f'part.{k}').read_bytes())
        for offset, size, part in ranges:
            if part == k:
                data[offset:offset + size] = bytes(255 - byte
                                                   for byte in data[offset:offset + size])
        (folder / f'part.{k}').write_bytes(data)


def test_own_part():
    """Of a table that is shared out a rank reads its own part, and no numbers of others."""
    database = make('own.vdb')
    folder = distribute(database, 'own', 3, 'u')
    for k in range(3):
        here = cluster.FOLDER / 'each_own' / str(k) / 'x'
        shutil.copytree(folder, here)
        damage(here, *(other for other in range(3) if other != k))
    command = f'{cluster.BUILD}/vdbq --cluster --batch --csv x'
    sql = """
        select k, sum(x), min(id) from t group by k;
        select name, count(*) from t join u on t.k = u.k group by name;
        select id, k from t order by x desc limit 5;
        select id from t where id % 100 = 7;
        """
    wanted = run(alone(database), sql)
    got = cluster.on_each(command, cluster.FOLDER / 'each_own', sql)
    assert got == wanted, got
    text, errors = cluster.on_each(command, cluster.FOLDER / 'each_own',
                                   'select max(k) from t;\nselect min(s) from t;\n')
    assert text == 'max(k)\n6\n' and 'checksum' in errors, text + errors


CHANGES = """
    insert into t select id + 100000, k, x, s || '!' from t where id % 50 = 1;
    update t set x = -x, s = null where id % 700 = 5;
    delete from t where k = 2 and id % 3 = 0;
    insert into u values (9, 'n9'), (10, null);
    update t set k = 6 where id between 4000 and 4100;
    insert into late values (7, 0.9), (7, 100000.5);
    insert into late values (7, 0.3);
    insert into t values (5, 1, 1, 'twice');
    replace into t values (1, 1, 1, 'first'), (300000, 2, 2, 'last');
    insert into t values (2, 1, 1, 'x') on conflict (id) do update set s = 'found';
    begin; truncate u; savepoint one; insert into u values (3, 'three'); drop table late;
    rollback to one; insert into u values (4, 'four'); commit;
    begin; update t set x = 0; drop view v; rollback;
    create table more as select k, count(*) n, sum(x) sx from t group by k;
    select * from more order by k;
    alter table more rename to most;
    alter table most add column z integer default 4;
    create unique index mk on most (k, n);
    insert into most select k, n, sx, z from most where k = 3;
    drop view v;
    create view v as select k, count(*) c, sum(x) sx from t where x > 0 group by k;
    """


def test_changes():
    """A folder by runs changes as the file does: the same rows in the same order."""
    database = make('changed.vdb')
    before = run(alone(database), QUERIES)
    for count, whole in ((1, ()), (2, ('u', 'late')), (5, ('t',))):
        folder = distribute(database, f'changed{count}', count, *whole)
        other = shutil.copytree(folder, cluster.FOLDER / f'other{count}')
        file = shutil.copy(database, cluster.FOLDER / f'changed{count}.vdb')
        script = CHANGES + QUERIES + CHANGES.replace('into t select id + 1', 'into t select id + 4')
        wanted = run(alone(file), script, VDBQ_TABLET_ROWS='1000')
        assert wanted[0].count('\n') > 100 and wanted[1].count('error') in range(2, 12), wanted
        for there, command in ((folder, alone(folder)), (other, ranks(count, other))):
            assert run(command, script, VDBQ_TABLET_ROWS='1000') == wanted, command
            for after in (alone(there), ranks(count, there)):
                assert run(after, QUERIES) == run(alone(file), QUERIES), after
            assert run(alone(there), '.check\n') == ('ok\n', ''), there
    assert run(alone(database), QUERIES) == before


def fails(command, *wanted):
    """A query fails, and says all this."""
    text, errors = run(command, 'select sum(x), min(s) from t;\n')
    assert text == '' and all(word in errors for word in wanted), text + errors


def test_refused():
    """Parts that are missing, damaged, changed, or another database's."""
    database = make('first.vdb', 3000)
    folder = distribute(database, 'first', 2)
    other = distribute(make('other.vdb', 3000), 'other', 2)
    for count in (1, 3):
        fails(ranks(count, folder), 'has 2 parts', f'the number of ranks is {count}',
              'mpirun -n 2')
    spare = folder / 'spare'
    part = folder / 'part.1'
    part.rename(spare)
    for command in (ranks(2, folder), alone(folder)):
        fails(command, 'part.1: part 1 of 2 cannot be opened: No such file')
    shutil.copy(other / 'part.1', part)
    fails(ranks(2, folder), 'part.1: not part 1 of 2 of the database', 'distribute the database')
    shutil.copy(spare, part)
    run(alone(part), "insert into u values (9, 'x');\n")
    fails(ranks(2, folder), 'part.1: not part 1 of 2 of the database', 'was changed')
    shutil.copy(spare, part)
    fine = run(ranks(2, folder), 'select sum(x), min(s) from t;\n')
    assert fine == run(alone(database), 'select sum(x), min(s) from t;\n'), fine
    damage(folder, 1)
    fails(ranks(2, folder), 'first', 'checksum')


def test_layouts():
    """A layout that is cut, or of which a byte is another one, is no layout."""
    folder = distribute(make('layouts.vdb', 3000), 'layouts', 2)
    layout = folder / 'layout'
    whole = layout.read_bytes()
    for at in (*range(0, len(whole), len(whole) // 40), len(whole) - 1):
        other = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:]
        for damaged in (whole[:at], other, whole[:at] + b'9' + whole[at:]):
            layout.write_bytes(damaged)
            fails(alone(folder), 'layout: ')
    layout.write_bytes(whole)
    assert run(alone(folder), 'select count(*) c from t;\n') == ('c\n2997\n', '')


def test_making():
    """What .distribute refuses, and that nothing of it stays."""
    database = make('making.vdb', 3000)
    folder = cluster.FOLDER / 'made'
    for words, wanted in ((f'{folder} 2 nothing', 'no table nothing'),
                          (f'{folder} 0', '.distribute FOLDER N'),
                          (f'{folder} two', '.distribute FOLDER N'),
                          (f'{folder} 5000', '1 to 4096 parts'),
                          (f'{database} 2', 'File exists'),
                          (f'{folder}/in 2', 'No such file')):
        _, errors = run(alone(database), f'.distribute {words}\n')
        assert wanted in errors, errors
        assert not folder.exists(), words
    _, errors = run(alone(database), f'begin;\n.distribute {folder} 2\n')
    assert 'inside a transaction' in errors and not folder.exists(), errors


if __name__ == '__main__':
    sys.exit(cluster.run_parts(globals()))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Part files that change: random statements on folders and on the file that they were made
of, with equal rows in one order; of ranks the rows, their bits and the errors of one process;
what stays as it was, what is co-located then, kills, several writers, folders made of folders.

    test_part_changes.py BUILD [PART...]

The parts are the functions below whose names begin with "test_". The last line is
"N passed, N failed".
"""
import random
import re
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import test_cluster as cluster
from test_cluster import alone, ranks, run
from test_hash import COLUMNS, FIXED, LAYOUTS, first_difference, make, pick_query, summed
from test_parts import damage, distribute

# How tables of test_hash.TABLES lie: as there, by runs, and broadcast.
ALL_LAYOUTS = (*LAYOUTS, '', 'a b p few one none')
DEFAULTS = {'k': '{n}', 's': "'t{n}'", 'd': "date '2024-01-01' + {n}", 'm': '{n} / 4.0',
            'n': '{n}', 'x': '{n} * 0.5', 'y': '{n} * 0.25', 'z': '{n} % 9', 'c': "'W{n}'"}


class Change:
    """Random statements of changes."""

    def __init__(self, seed):
        self.random, self.number = random.Random(seed), 20000
        self.few = True  # changes that leave tablets where they are, as a rule

    def values(self, table):
        self.number += 1
        small = self.random.random() < 0.5 and table != 'p'
        number = self.random.randrange(600) if small else self.number
        return ', '.join(DEFAULTS[c].format(n=number) for c in COLUMNS[table].split())

    def where(self, table):
        """A few rows, or many."""
        low = self.random.randrange(500)
        few = f'k between {low} and {low + self.random.choice((0, 0, 3))}'
        return self.random.choice((few, few, f"s = 't{low % 61}'", f'k % 3 = {low % 3}',
                                   'k is null', f'k % 100 = {low % 100}'))

    def insert(self, table):
        if self.random.random() < 0.3:
            other = self.random.choice(('a', 'b'))
            return f'insert into {table} ({"k, s" if table != "p" else "k"}) select ' + \
                (f'k, s from {other} where {self.where(other)}' if table != 'p' else
                 f'max(k) + {10**5 + self.random.randrange(10**6)} from {other}')
        rows = self.random.choice((1, 1, 2, 30))
        return f'insert into {table} values ' + \
            ', '.join(f'({self.values(table)})' for _ in range(rows))

    def update(self, table):
        columns = [c for c in COLUMNS[table].split() if c not in ('k', 's')]
        column, value = self.random.choice(columns or ['s']), None
        if column == 's' or self.random.random() < 0.25 and table != 'p':
            column, value = self.random.choice((('s', f"'t{self.random.randrange(61)}'"),
                                                ('k', f'k + {self.random.randrange(1, 5)}'),
                                                ('k', 'null')))
        if table == 'p' and column in ('k', 's'):
            column, value = 'z', None
        if column == 'c':
            value = f"'{self.random.choice('vVwW')}{self.random.randrange(9)}'"
        where = self.where(table) if self.few or self.random.random() < 0.9 else 'true'
        return f'update {table} set {column} = {value or column} where {where}' if value or \
            column == 'd' else f'update {table} set {column} = {column} + 1 where {where}'

    def rules(self):
        """Rows that may be like others: keys and texts are there once."""
        key, text = self.random.randrange(4000), self.random.randrange(1500)
        return self.random.choice((
            f"replace into p values ({key}, 't{text}', 7)",
            f"insert into p values ({key}, 't{text}', 3)",
            f"insert into p values ({key}, 'u{text}', 5) on conflict (k) do update set z = z + 10",
            f"insert into p values ({key}, 't{text}', 1) on conflict do nothing",
            f"insert or replace into p select k + 1, s, 4 from p where k = {key * 3}"))

    def schema(self):
        return self.random.choice((
            f'create table t{self.number} (k bigint primary key, s text)',
            f'create table c{self.number} as select k, s, n from a where n < 30',
            'create or replace table few as select k, s from few where k < 3',
            'create or replace table one as select * from one',
            f'create index i{self.number} on a (s, n)', 'truncate none', 'truncate one',
            f'create view v{self.number} as select k, count(*) c from b group by k',
            'drop index if exists ps', 'drop table if exists few; create table few (k integer, '
            "s text); insert into few values (1, 't1'), (3, 't3'), (null, null)",
            'alter table b add column w integer default 4; alter table b drop column w',
            'alter table one rename to two; alter table two rename to one'))

    def transaction(self):
        words = [self.one() for _ in range(self.random.randrange(1, 4))]
        if self.random.random() < 0.5:
            words += ['savepoint p', self.one(), self.random.choice(('rollback to p', 'release p'))]
        return ';\n'.join(['begin', *words, self.random.choice(('commit', 'commit', 'rollback'))])

    def one(self):
        self.number += 1
        table = self.random.choice(('a', 'a', 'b', 'b', 'p', 'one', 'few', 'none'))
        chance = self.random.random()
        if self.few:
            return self.update(table) if chance < 0.7 else \
                f'delete from {table} where {self.where(table)}'
        if chance < 0.35:
            return self.insert(table)
        if chance < 0.65:
            return self.update(table)
        return f'delete from {table} where {self.where(table)}' if chance < 0.8 else self.rules()

    def script(self, statements):
        """Statements, each behind a line that names it, and queries."""
        lines = []
        for _ in range(statements):
            chance = self.random.random()
            sql = self.one() if chance < 0.7 else self.transaction() \
                if chance < 0.9 or self.few else self.schema()
            lines += [sql, pick_query(self.random)]
        return ';\n'.join(lines) + ';\n'


EVERYTHING = ''.join(f'select * from {table};\n' for table in COLUMNS)


def copied(folder, name):
    return shutil.copytree(folder, cluster.FOLDER / name)


def test_random():
    """Rows and their order are those of the file, and ranks say what one process says."""
    for number, layout in enumerate(ALL_LAYOUTS):
        count = (3, 2, 5, 1)[number % 4]
        database = make(f'random{number}.vdb')
        folder = distribute(database, f'random{number}', count, layout)
        other = copied(folder, f'other{number}')
        change = Change(number)
        for turn in range(4):
            change.few = turn < 2
            sql = change.script(8)
            got = run(alone(folder), sql, VDBQ_TABLET_ROWS='300')
            wanted = run(alone(database), sql, VDBQ_TABLET_ROWS='300')
            assert got == wanted, f'{layout}:\n{sql}\n{first_difference(got, wanted)}'
            together = run(ranks(count, other), sql, VDBQ_TABLET_ROWS='300',
                           VDBQ_EXCHANGE=('auto', 'on')[turn % 2])
            assert together == got, \
                f'{layout}: {count}:\n{sql}\n{first_difference(together, got)}'
            sql = EVERYTHING + FIXED * (turn % 2)
            got = run(alone(folder), sql)
            together = run(ranks(count, other), sql)
            assert together == got, f'{layout}: {count}:\n{first_difference(together, got)}'
            assert got == run(alone(database), sql), layout
            for file in (folder, other):
                assert run(alone(file), '.check\n') == ('ok\n', ''), layout


def test_history():
    """The histories of tests/changes.py, of which a database comes and goes as parts: of two
    processes that die, too, and of ranks."""
    for count, statements, binary in ((1, 3000, ''), (2, 5000, ''), (5, 5000, ''),
                                      (3, 1500, ' --ranks 3')):
        cluster.checked('tests/changes.py', '--seed', count, '--parts', count, '--statements',
                        statements, '--timeout', 120, f'{cluster.BUILD}/vdbq{binary}')


def ranges_of(folder):
    lines = (folder / 'layout').read_text().splitlines()
    return [[int(word) for word in line.split()[1:]] for line in lines
            if line.startswith('range')]


def test_parts_stay():
    """Whatever changes, parts do not, and nothing is written where they have something."""
    folder = distribute(make('stay.vdb'), 'stay', 3, 'a by hash (k) p')
    parts = ('layout', 'part.0', 'part.1', 'part.2')
    before = {name: (folder / name).read_bytes() for name in parts}
    sizes = []
    for _ in range(4):
        text, errors = run(alone(folder), 'drop table if exists w; delete from a where n < 90;\n'
                           'truncate p; drop table if exists b;\ncreate table w as select r, '
                           "'w' || (r % 999) t from range(0, 60000, 1) as g(r);\nupdate w set r "
                           '= r + 1;\nselect count(*), sum(r) from w;\n', VDBQ_TABLET_ROWS='900')
        assert (text, errors) == ('count(*),sum(r)\n60000,1800030000\n', ''), text + errors
        whole = (folder / 'whole').read_bytes()
        sizes.append(len(whole))
        for offset, size, part in ranges_of(folder):
            assert part == 3 or not any(whole[offset:offset + size]), (offset, size, part)
        assert run(alone(folder), '.check\n') == ('ok\n', '')
    assert before == {name: (folder / name).read_bytes() for name in parts}
    assert sizes[-1] <= sizes[1], sizes  # space of `whole` is used again
    text, errors = run(alone(folder), 'drop table w; drop table a;\n')
    assert errors == '' and (folder / 'whole').stat().st_size >= \
        max(offset + size for offset, size, _ in ranges_of(folder))
    assert run(alone(folder), 'select count(*) c from one;\n') == ('c\n1500\n', '')


LOCAL = 'select count(*), sum(b.n) from a join b on a.k = b.k'
GROUP = 'select k, count(*), sum(n) from a group by k'
LEFT = 'table a is not co-located: '
CHANGED = 'it has changed since its parts were made'


def test_plans():
    """What is co-located after a change, and why not: EXPLAIN says so, and .tablets."""
    database = make('local.vdb')
    for number, (sql, join, group, why) in enumerate((
            ('delete from a where n = 7', False, False, LEFT + CHANGED),
            ('update a set n = 5 where n = 7', False, False, LEFT + CHANGED),
            ('update b set y = null where n = 9', False, True,
             LEFT.replace('table a', 'table b') + CHANGED),
            ("insert into p values (100000, 'new', 1)", True, True, ''),
            ('create table w (k integer); drop table one', True, True, ''),
            ('begin; update a set k = 8 where k = 9; rollback', True, True, ''),
            ('delete from a where k = 7 and n = -1', True, True, ''),
            ('alter table a rename column n to n2; alter table a rename column n2 to n', True, True,
             ''),
            ('insert into a (k, n) values (7, 7)', False, False, LEFT + CHANGED),
            ('alter table a add column q integer', False, False, LEFT + CHANGED),
            ('alter table a drop column k; alter table a add column k integer default 7', False,
             False, ''))):
        folder = distribute(database, f'local{number}', 3, 'a by hash (k) b by hash (k) p')
        plans, errors = run(ranks(3, folder), f'{sql};\nexplain {LOCAL};\n.print --\n'
                            f'explain {GROUP};\n.print --\n.tablets\n')
        assert errors == '', errors
        joined, grouped, tablets = plans.split('--\n')
        assert ('co-located: its part' in joined) == join, f'{sql}\n{joined}'
        assert ('co-located: group by' in grouped) == group, f'{sql}\n{grouped}'
        assert not why or why in joined, f'{sql}\n{joined}'
        assert not join or ' is not co-located' not in joined, joined
        assert not why or why.split(': ')[1] in tablets, tablets
        got = run(ranks(3, folder), f'{LOCAL};\n{GROUP};\n')
        assert got == run(alone(folder), f'{LOCAL};\n{GROUP};\n'), sql
        run(alone(single := shutil.copy(database, cluster.FOLDER / 'single.vdb')), f'{sql};\n')
        assert got == run(alone(single), f'{LOCAL};\n{GROUP};\n'), sql


def test_prepared():
    """Ranks see a change with the next query, in one session."""
    folder = distribute(make('seen.vdb'), 'seen', 3, 'a by hash (k) b by hash (k) p')
    script = f'{LOCAL};\n{GROUP};\n' + ''.join(
        f'{change};\n{LOCAL};\n{GROUP};\nselect count(*), sum(z) from p;\n' for change in (
            'update a set n = n * 2 where k = 17', 'delete from b where n = 5',
            'insert into p values (50001, \'x\', 3)', 'update b set k = 18 where k = 17',
            'insert into a (k, n) values (18, 1000), (600, 2)', 'truncate b'))
    other = copied(folder, 'seen too')
    assert run(ranks(3, folder), script) == run(alone(other), script)


def test_refused():
    """VACUUM, READ ONLY, a file that may not be written, and parts that do not fit."""
    database = make('refused.vdb')
    folder = distribute(database, 'refused', 2, 'a by hash (k)')
    for words in ('vacuum;\n', '.vacuum\n'):
        for command in (alone(folder), ranks(2, folder)):
            _, errors = run(command, words)
            assert 'part files stay as they are' in errors and 'new folder' in errors, errors
    _, errors = run(alone(folder, '--readonly'), 'delete from a;\n')
    assert 'open for reading only' in errors, errors
    assert run(alone(folder, '--readonly'), 'select count(*) c from b;\n')[1] == ''
    change = "insert into p values (70000, 'new', 1);\nupdate a set n = 7 where k = 3;\n"
    other = copied(folder, 'refused too')
    third = distribute(make('third.vdb', 500), 'third', 2, 'a by hash (k)')
    for file in (folder, other, third):
        assert run(alone(file), change) == ('', ''), file
    for name in ('part.1', 'layout', 'whole'):
        kept = (folder / name).read_bytes()
        (folder / name).unlink()
        _, errors = run(alone(folder), 'select 1;\n')
        assert errors.startswith('error: '), errors
        assert name == 'layout' or f'{name}' in errors and 'No such file' in errors, errors
        assert name == 'layout' or not (folder / name).exists(), name  # nothing is made
        (folder / name).unlink(missing_ok=True)
        (folder / name).write_bytes((third / name).read_bytes())
        _, errors = run(alone(folder), 'select count(*), sum(n), min(s) from a;\n' + change)
        assert errors.startswith('error: '), f'{name}: {errors}'
        (folder / name).write_bytes(kept)
    run(alone(part := folder / 'part.0'), 'delete from one;\n')
    _, errors = run(alone(folder), change)
    assert 'not part 0 of 2 of the database' in errors and 'was changed' in errors, errors
    assert part.exists() and run(alone(other), 'select count(*) c from p where k = 70000;\n')[0] \
        == 'c\n1\n'
    damage(other, 1)
    _, errors = run(alone(other), 'update b set n = n + 1;\n')
    assert 'checksum' in errors, errors
    assert run(alone(other), 'select count(*) c from p where k = 70000;\n')[0] == 'c\n1\n'


def test_layouts():
    """Layouts whose sums are right and which say what is not so, of a state that has changed:
    the rows are right, or nothing is read."""
    folder = distribute(make('crafted.vdb'), 'crafted', 3, 'a by hash (k) b by hash (k) p')
    run(alone(folder), 'delete from b where k = 5;\nupdate a set n = 3 where k = 4;\n'
        "insert into p values (70000, 'new', 1);\ndrop table one;\n")
    layout = folder / 'layout'
    text = layout.read_text()
    sql = f'{LOCAL};\nselect count(*), min(s) from p;\n'
    fine = run(alone(folder), sql)
    table = re.search(r'^table \d+ 1 \d+ .*$', text, re.M)[0]
    ranges = re.findall(r'^range \d+ \d+ \d+$', text, re.M)
    number, state, first = table.split()[1], table.split(' ', 4)[4], ranges[0].split()
    for old, new in ((table, f'table {number} 1 4000000 {state}'), (table, f'table {number} 0'),
                     (table, f'table 99 1 0 {state}'), (table, 'table 77 0'),
                     (table, f'{table}\n{table}'), ('state ', 'state 1'),
                     (ranges[0], ' '.join([*first[:3], '1'])),
                     (ranges[0], ' '.join([*first[:3], '3'])),
                     (ranges[0], f'range {int(first[1]) + 1} {first[2]} {first[3]}'),
                     (ranges[0], f'range {first[1]} {int(first[2]) + 4096} {first[3]}'),
                     (ranges[0], f'range 0 {int(first[1]) + int(first[2])} {first[3]}'),
                     (ranges[0], f'range 8192 4096 0\n{ranges[0]}'), (f'{ranges[-1]}\n', '')):
        layout.write_bytes(summed(text.replace(old, new, 1)))
        for command in (alone(folder), ranks(3, folder)):
            got = run(command, sql)
            assert got == fine or got[1].startswith('error: '), f'{new}: {got}'
        _, errors = run(alone(folder), "insert into few values (5, 'x');\n")
        layout.write_text(text)
        got = run(alone(folder), sql)
        assert got == fine, f'{new}: {errors}\n{got}'


def blocks_of(folder):
    """What a folder takes of the disk."""
    return sum(file.stat().st_blocks for file in folder.iterdir())


def test_made_again():
    """A folder of a folder: with what is needed alone, in other parts, by other hashes."""
    database = make('again.vdb')
    change = ("delete from a where n > 30;\ntruncate one;\ninsert into p values (70000, 'x', 1);\n"
              'update b set n = 7 where k = 9;\nalter table b add column q integer default 3;\n'
              'create table w as select k, n from a;\n')
    folder = distribute(database, 'again0', 3, 'a by hash (k) b by hash (k) p')
    for file in (folder, database):
        assert run(alone(file), change) == ('', '')
    sql = EVERYTHING + 'select * from w;\n'
    wanted = run(alone(database), sql)
    for number, (count, layout) in enumerate(((2, 'a by hash (n) w by hash (k, n)'), (5, ''),
                                              (1, 'a b p few one none w'), (3, 'b by hash (q)'))):
        other = distribute(folder, f'again{number + 1}', count, layout)
        assert run(alone(other), sql) == wanted, layout
        assert run(ranks(count, other), sql) == run(alone(other), sql), layout
        assert run(alone(other), '.check\n') == ('ok\n', ''), layout
        assert number > 0 or blocks_of(other) < 0.8 * blocks_of(folder), \
            (blocks_of(other), blocks_of(folder))
        assert run(alone(other), change.splitlines()[0] + '\n') == ('', '')
        folder = other
    _, errors = run(alone(folder), f"begin;\n.distribute '{cluster.FOLDER}/within' 2\n")
    assert 'inside a transaction' in errors, errors


def test_two_writers():
    """Processes that write to one folder at once: all that they committed is there."""
    folder = distribute(make('two.vdb'), 'two', 2, 'a by hash (k) p')
    inserts = [''.join(f"insert into p values ({100000 + 1000 * who + i}, 'w{who}_{i}', {who});\n"
                       f'update a set n = n + 1 where k = {i % 9};\n' for i in range(60))
               for who in range(3)]
    commands = [alone(folder), alone(folder), ranks(2, folder)]
    before = run(alone(folder), 'select sum(n) s from a;\n')[0].split()[1]
    each = [run(alone(folder), f'select count(*) c from a where k = {k} and n is not null;\n')[0]
            for k in range(9)]
    writers = [subprocess.Popen([*map(str, command)], stdin=subprocess.PIPE, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=cluster.ENVIRONMENT | {'VDBQ_TIMEOUT': '60000'})
               for command in commands]
    for writer, sql in zip(writers, inserts):
        writer.stdin.write(sql)
        writer.stdin.close()
    for writer in writers:
        told = writer.stderr.read()
        assert writer.wait(120) == 0 and 'error' not in told, told
        writer.stdout.close()
        writer.stderr.close()
    assert run(alone(folder), 'select z, count(*) from p where k >= 100000 group by z;\n'
               'select count(distinct k) c from p where k >= 100000;\n') == \
        (run(alone(folder), 'select z, count(*) from p where k >= 100000 group by z;\n')[0]
         + 'c\n180\n', '')
    added = sum(int(each[i % 9].split()[1]) for i in range(60)) * 3
    after = run(alone(folder), 'select sum(n) s from a;\n')[0].split()[1]
    assert int(after) == int(before) + added, (before, after, added)
    assert run(alone(folder), '.check\n') == ('ok\n', '')


def test_kills():
    """A process that dies while it writes leaves what it had committed, and no more."""
    folder = distribute(make('killed.vdb'), 'killed', 2, 'a by hash (k) b by hash (k) p')
    random_, last = random.Random(3), 0
    for turn in range(12):
        sql = ''.join(f"begin;\ninsert into p values ({200000 + last + i}, 'k{last + i}', 1);\n"
                      f'insert into few values ({last + i}, null);\nupdate a set x = x + 1 where '
                      f'k = {i % 5};\ncommit;\n' for i in range(1, 400))
        command = alone(folder) if turn % 3 else ranks(2, folder)
        writer = subprocess.Popen([*map(str, command)], stdin=subprocess.PIPE, text=True,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  env=cluster.ENVIRONMENT, start_new_session=True)
        try:
            writer.stdin.write(sql)
            writer.stdin.flush()
        except BrokenPipeError:
            pass
        time.sleep(random_.choice((0.05, 0.1, 0.2)) + (0 if turn % 3 else 0.6))
        subprocess.run(['kill', '-9', '--', f'-{writer.pid}'], check=False)
        assert writer.wait(60) in (0, -signal.SIGKILL)
        try:
            writer.stdin.close()
        except BrokenPipeError:
            pass
        if turn % 3 == 0:
            time.sleep(0.3)  # ranks of a group of their own end when they see that
        text, errors = run(alone(folder), 'select count(*), max(k), sum(k) from p where k > 200000;'
                           '\nselect count(*), max(k) from few where s is null;\n.check\n',
                           VDBQ_TIMEOUT='30000')
        assert errors == '' and text.endswith('\nok\n'), text + errors
        count, most, total = text.splitlines()[1].split(',')
        assert count == '0' or int(most) == 200000 + int(count), text
        last = int(count)
        # two rows of few are NULL or have another text than that from the beginning
        assert int(text.splitlines()[3].split(',')[0]) == last + 1, text
    assert last > 50, last
    assert run(ranks(2, folder), f'{LOCAL};\n{GROUP};\n') == run(alone(folder),
                                                                f'{LOCAL};\n{GROUP};\n')


if __name__ == '__main__':
    sys.exit(cluster.run_parts(globals()))

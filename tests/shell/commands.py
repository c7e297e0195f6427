# SPDX-License-Identifier: MIT
"""The commands that begin with a dot."""
import json
import os
import re
import sqlite3
import subprocess

from shell.session import TABLE, VDBQ, environment, expect, flip, run


def case_tables_and_schema(folder):
    script = 'create table one (a integer primary key, b float);\n' \
        'create table "two words" (c bigint);\n'
    expect(run(folder, 's.vdb', script), 0, '')
    expect(run(folder, 's.vdb', '.tables'), 0, 'one\ntwo words\n')
    script = 'create temp table one (z text);\ncreate temp view v as select 1;\n' \
        '.tables\n.schema one\n.connection 1\n.tables\n'
    expect(run(folder, 's.vdb', text=script), 0,
           'one\ntwo words\ntemp.one\ntemp.v\nCREATE TABLE one (a INTEGER PRIMARY KEY, b FLOAT);\n'
           'CREATE TEMP TABLE one (z TEXT);\none\ntwo words\n')
    expect(run(folder, 's.vdb', 'create temp table t (z text)', TMPDIR='/nowhere'), 3, '',
           'temporary tables: cannot open the file.*\nhint: .*TMPDIR')
    result = run(folder, 's.vdb', '.schema one')
    expect(result)
    assert re.match(r'create table "?one"? \(', result.out, re.I), result
    assert result.out.endswith(';\n'), result
    schema = run(folder, 's.vdb', '.schema').out
    expect(run(folder, 'again.vdb', text=schema), 0, '')
    assert run(folder, 'again.vdb', '.schema').out == schema
    expect(run(folder, 's.vdb', '.schema ones'), 1, '', r'no table ones\nhint: did you mean one')
    fill = 'insert into one select row_number() over (), 0 from ' \
        '(values (1), (2), (3), (4), (5), (6), (7), (8), (9), (10)) as a (v), ' \
        '(values (1), (2), (3), (4), (5), (6), (7), (8), (9), (10)) as b (v); '
    counts = 'one: rows 100, tablets 1, sample 64\n'
    expect(run(folder, 's.vdb', fill + 'insert into "two words" values (7)'), 0, '')
    expect(run(folder, 's.vdb', '.tablets'), 0,
           counts + 'two words: rows 1, tablets 1, sample 1\n')
    expect(run(folder, 's.vdb', '-c', 'delete from "two words"', '-c', '.tablets'), 0,
           counts + 'two words: rows 0, tablets 0, sample 0\n')
    expect(run(folder, 's.vdb', '.tablets ONE'), 0, counts)
    expect(run(folder, 's.vdb', 'create table many (k integer primary key); insert into many '
               'select row_number() over () from one a, one b, (values (1), (2)) as c (v)'), 0, '')
    expect(run(folder, 's.vdb', '.tablets many'), 0,
           'many: rows 20000, tablets 1, sample 64, runs 1\n')
    expect(run(folder, 's.vdb', '.tablets ones'), 1, '',
           r'no table ones\nhint: did you mean one')


# Types and DEFAULTs; those of the second list are SQL that SQLite does not know.


DEFAULTS = [
    ('integer', '7'), ('integer', '-7'), ('integer', '+ 7'), ('integer', '0x1f'),
    ('integer', '(1+2)'), ('integer', '((1)+(2))'), ('integer', '(- -5)'), ('integer', '(-(5))'),
    ('integer', '(((5)))'), ('integer', '(0xe+1)'), ('integer', '(1 -- one\n + 2)'),
    ('integer', '(/* ) */ 1 /* ( */)'), ('integer', '(cast(\'12\' as integer))'),
    ('integer', '(case when 1 < 2 then 3 else 4 end)'), ('integer', '(1 in (1, 2))'),
    ('integer', '(5 between 1 and 9)'), ('integer', '(not 1)'), ('integer', '(2 > 1 and 1 > 2)'),
    ('integer', 'null'), ('integer', '(null)'), ('integer', 'true'),
    ('integer', '(length(\'ab\'))'),
    ('bigint', '-9223372036854775808'), ('double', '.5'), ('double', '-1.5e-3'), ('double', '2.'),
    ('double', '1E+2'), ('double', '(1.5*2)'), ('double', '(1e1-2)'), ('decimal(9,2)', '1.25'),
    ('text', '\'\''), ('text', '\'it\'\'s\''), ('text', '\'\'\'\''), ('text', '(\'a\' || \'b\')'),
    ('text', '(\'a\'\'\'||\'\'\'b\')'), ('text', '(\'-- \' || \'/*\')'), ('text', '\'(1)\''),
    ('text', '(upper(\'x\') || lower(\'Y\'))'), ('text', '\'zwölf\''),
    ('text', '(substr(\'abc\', 2, 1))'), ('text', '(date(\'2020-02-29\'))'),
]


DEFAULTS_OURS = [
    ('date', "date '2020-02-29'"), ('timestamp', "timestamp '2020-02-29 12:00:00'"),
    ('integer', "(extract(year from date '2020-02-29'))"), ('integer', "('12'::integer)"),
    ('date', "(date '2020-01-31' + interval '1' month)"), ('integer', "(3 is distinct from 4)"),
]


def case_defaults_are_read_back(folder):
    columns = [f'c{i} {kind} default {value}'
               for i, (kind, value) in enumerate(DEFAULTS + DEFAULTS_OURS)]
    expect(run(folder, 'a.vdb', text=f'create table t (id integer, {", ".join(columns)});'))
    schema = run(folder, 'a.vdb', '.schema').out
    expect(run(folder, 'b.vdb', text=schema))
    assert run(folder, 'b.vdb', '.schema').out == schema
    insert = '; insert into t (id) values (1); insert into t (id) select 2; select * from t'
    rows = run(folder, '-quote', text=schema + insert)
    expect(rows, 0, run(folder, '-quote', 'a.vdb', insert[2:]).out)
    # SQLite reads what it knows of it, and means the same.
    parts = re.split(r', (?=c[0-9]+ )', schema.rstrip('\n;')[:-1])
    known = ', '.join(parts[:1 + len(DEFAULTS)]) + ')'
    names = ', '.join(f'c{i}' for i in range(len(DEFAULTS)))
    peer = sqlite3.connect(':memory:')
    peer.execute(known)
    peer.execute('insert into t (id) values (1)')
    theirs = peer.execute(f'select {names} from t').fetchone()
    ours = json.loads(run(folder, '-json', 'b.vdb', '-c', 'insert into t (id) values (1)',
                          '-c', f'select {names} from t').out)[0]
    assert tuple(ours.values()) == theirs, (ours, theirs)


def case_unknown_command(folder):
    expect(run(folder, '-c', '.tabels'), 1, '',
           r'^error: unknown command \.tabels\nhint: did you mean \.tables\?\n')
    expect(run(folder, '-c', '.mode jsn'), 1, '', 'did you mean json')
    expect(run(folder, '-c', '.read'), 1, '', r'usage: \.read FILE')
    expect(run(folder, text='select 1;\n.nonsense'), 1, '1\n1\n', '^error: line 2: unknown')


def case_beginnings_of_commands(folder):
    expect(run(folder, '-c', '.header off', '-c', '.MOD list', '-c', 'select 1, 2'), 0, '1|2\n', '')
    expect(run(folder, '-c', '.time on'), 1, '', r'unknown command \.time\n')  # .timeout, .timer
    expect(run(folder, '-c', '.'), 1, '', r'unknown command \.\n')


def case_help_of_commands(folder):
    result = run(folder, '-c', '.help')
    expect(result)
    for command in ('.import', '.tables', '.schema', '.mode', '.timer', '.device', '.devices',
                    '.print', '.read', '.help', '.quit', '.exit', '.headers', '.nullvalue'):
        assert re.search(rf'^{re.escape(command)} ', result.out, re.M), command
    assert 'quote' in run(folder, '-c', '.help mode').out


def case_print_and_quit(folder):
    expect(run(folder, text=".print a  'b  c' \"d\"\n.quit\n.print no\n"), 0, 'a b  c d\n')
    expect(run(folder, text='  .print indented\n'), 0, 'indented\n')
    expect(run(folder, text='select 2 *\n.5 as x;\n'), 0, 'x\n1.0\n')


def case_timer(folder):
    result = run(folder, '-c', TABLE, '-c', '.timer on', '-c', 'select id from t')
    expect(result, 0, 'id\n1\n2\n3\n',
           r'^timer: total \d+\.\d+ ms, plan \d+\.\d+ ms.* on .*; peak \d+ MiB\n$')
    expect(run(folder, '-c', '.timer maybe'), 1, '', 'usage')


def case_profiling(folder):
    expect(run(folder, '-c', '.profiling', '-c', '.profiling on', '-c', '.profiling'), 0,
           'off\non\n')
    expect(run(folder, '-profiling', 'on', '-c', '.profiling'), 0, 'on\n')
    expect(run(folder, '-c', '.profiling maybe'), 1, '', '^error: .*profiling')
    result = run(folder, '-c', '.timer on', '-c', '.profiling', '-c', '.timer off',
                 '-c', '.profiling')
    expect(result, 0, 'on\noff\n')
    for flags, told in (('-timer',), True), (('-timer', '-profiling', 'off'), False):
        result = run(folder, *flags, '-device', 'host', '-c', TABLE, '-c', 'select id from t')
        expect(result, 0, 'id\n1\n2\n3\n', 'ms, compile .*peak')
        assert (', kernel ' in result.err) == told, result.err
        assert (', transfer ' in result.err) == told, result.err


def case_options_of_the_database(folder):
    result = run(folder, '-device', 'host', '-c', '.device', '-c', '.execution serial',
                 '-c', '.execution', '-c', '.build interpreted', '-c', '.build')
    expect(result, 0, 'host\nserial\ninterpreted\n')
    expect(run(folder, '-c', '.execution sideways'), 1, '', '^error: ')
    result = run(folder, '-encoding', 'plain', '-c', '.encoding', '-c', '.encoding packed',
                 '-c', '.encoding', '-c', '.skip', '-c', '.skip off', '-c', '.skip')
    expect(result, 0, 'plain\npacked\non\noff\n')
    expect(run(folder, '-skip', 'off', '-c', '.skip'), 0, 'off\n')
    expect(run(folder, '-c', '.skip maybe'), 1, '', '^error: .*skip')
    expect(run(folder, '-c', '.encoding base64'), 1, '', '^error: .*encoding')


def case_groups_in_the_program(folder):
    told = {}
    for what in ('sum(id), min(x), count(*)', 'sum(x)', 'count(distinct b)'):
        for mode in 'mapped', 'serial':
            result = run(folder, '--list', '--device', 'host', '--exec-mode', mode, '-c', TABLE,
                         '-c', f'explain analyze select {what} from t group by id % 2')
            expect(result)
            told[what, mode] = 'in the program' in result.out
    # DISTINCT and other modes have their rows taken out of the program.
    assert [way for way, is_in in told.items() if is_in] == \
        [('sum(id), min(x), count(*)', 'mapped'), ('sum(x)', 'mapped')], told


def case_map(folder):
    file = os.path.join(folder, 'mapped.vdb')
    make = 'create table m (id integer primary key, x double, s text); '
    make += "insert into m values (1, 0.5, 'a'), (2, 1.5, 'b'), (3, 0.25, 'c')"
    expect(run(folder, file, make), 0)
    ask = 'explain analyze select x from m where x < 1'
    for flags, mapped in (('-map', 'on'), True), (('-map', 'off'), False), ((), False):
        result = run(folder, *flags, file, ask)
        expect(result, 0)
        assert ('read where they lie in the file' in result.out) == mapped, result.out
    texts = run(folder, '-map', 'on', file, 'explain analyze select x from m where s = \'a\'')
    assert 'lie in the file' not in texts.out, texts.out
    expect(run(folder, '-map', 'on', '-exec-mode', 'serial', file, ask), 4, '',
           '^error: .*mode serial(.|\n)*VDBQ_MAP')
    expect(run(folder, '-map', 'on', '-exec-mode', 'serial', '-c', TABLE,
               '-c', 'select id from t'), 0, 'id\n1\n2\n3\n')
    expect(run(folder, '-c', '.map', '-c', '.map on', '-c', '.map'), 0, 'off\non\n')
    expect(run(folder, '-c', '.map maybe'), 1, '', '^error: .*map')


def case_connections(folder):
    run(folder, 'one.vdb', 'create table t (a integer)')
    expect(run(folder, 'one.vdb', '.connections'), 0, '')
    result = run(folder, 'one.vdb', text='begin;\ninsert into t values (1);\n.connections\n')
    assert re.fullmatch(r'process \d+ \(\S+\), this connection: writes after state \d+'
                        r'(, for \d+\.\d s)?\n', result.out), result.out


def case_vacuum(folder):
    fill = 'create table t as select 1 as a; ' + 'insert into t select a + 1 from t; ' * 16
    many = 'select x.a from t x, t y, t z, t w'
    expect(run(folder, 'one.vdb', fill), 0, '')
    with subprocess.Popen([VDBQ, 'one.vdb', many], cwd=folder, env=environment(folder, {}),
                          stdout=subprocess.PIPE) as reader:
        assert reader.stdout.readline() == b'a\n'
        expect(run(folder, 'one.vdb', 'drop table t; create table t (a integer)'), 0, '')
        result = run(folder, 'one.vdb', '.vacuum')
        kept = re.fullmatch(r'(\d+) bytes, before \d+\n(\d+) of them are kept for others, '
                            'who read older states\n', result.out)
        assert kept and int(kept[2]) < int(kept[1]), result
        reader.kill()
    result = run(folder, 'one.vdb', '.vacuum')
    size = os.path.getsize(os.path.join(folder, 'one.vdb'))
    assert size < 65536 and result.out == f'{size} bytes, before {kept[1]}\n', result
    expect(run(folder, 'one.vdb', 'vacuum'), 0, '')
    result = run(folder, text='vacuum; select 1 as a;\n.vacuum\n')
    assert result.code == 0 and result.out.startswith('a\n1\n'), result
    expect(run(folder, '--readonly', 'one.vdb', '.vacuum'), 1, '', 'for reading only')


def case_check(folder):
    expect(run(folder, 'one.vdb', '-c', TABLE, '-c', '.check', '-c', 'pragma integrity_check'), 0,
           'ok\nintegrity_check\nok\n')
    path = os.path.join(folder, 'one.vdb')
    with open(path, 'rb') as file:
        at = file.read().index(b'VDBQTABL')
    flip(folder, 'one.vdb', at + 70)
    told = rf'one\.vdb: table t: the tablet at byte {at} is damaged: .*'
    result = run(folder, 'one.vdb', '.check')
    assert result.code == 3 and re.fullmatch(told + '\n', result.out), result
    result = run(folder, 'one.vdb', 'pragma integrity_check')
    assert result.code == 0 and re.fullmatch(rf'integrity_check\n"?{told}\n', result.out), result
    expect(run(folder, 'one.vdb', 'pragma cache_size'), 1, '', 'there is no PRAGMA cache_size')


def case_skipped_tablets(folder):
    for skip, skipped in ('on', 1), ('off', 0):
        result = run(folder, '-skip', skip, '-c', TABLE, '-c',
                     'explain analyze select id from t where id > 99')
        expect(result)
        assert re.search(rf'; tablets +1, {skipped} of them skipped', result.out), result.out


def case_several_connections(folder):
    text = """create table t (a text);
begin;
insert into t values ('x');
.connection 1
select count(*) from t;
.connection 0
commit;
begin;
delete from t;
.connection 1
select count(*) from t;
.connection
.connection close 0
.connection
delete from t;
.connection 2
select count(*) from t;
"""
    result = run(folder, '--batch', '--no-header', 'a.vdb', text=text)
    expect(result, 0, '0\n1\n0\n1 active\n1 active\n0\n')
    result = run(folder, '--batch', 'a.vdb', text='.connection close 0\n.connection 10\n')
    expect(result, 1, '', 'is the active one(.|\n)*usage')
    expect(run(folder, '-c', '.connection 1'), 1, '', 'has one connection')

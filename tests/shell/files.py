# SPDX-License-Identifier: MIT
"""Database files, damaged and old ones too, devices, parameters, files that queries read."""
import json
import os
import select
import shutil
import struct
import subprocess

from shell.session import TABLE, VDBQ, environment, expect, flip, run, write

DATABASES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'databases')


def case_database_file_errors(folder):
    expect(run(folder, 'none/x.vdb', 'select 1'), 3, '', '^error: ')
    expect(run(folder, '--readonly', 'none.vdb', 'select 1'), 3, '', '^error: ')
    write(folder, 'text.vdb', 'this is no database, and it is long enough ' * 400)
    expect(run(folder, 'text.vdb', '.tables'), 3, '', '^error: ')


def case_read_only(folder):
    expect(run(folder, 'r.vdb', TABLE), 0)
    with open(os.path.join(folder, 'r.vdb'), 'rb') as file:
        before = file.read()
    expect(run(folder, '--readonly', 'r.vdb', 'drop table t'), 1, '', '^error: ')
    expect(run(folder, 'r.vdb', 'select id from t where id = 1'), 0, 'id\n1\n')
    with open(os.path.join(folder, 'r.vdb'), 'rb') as file:
        assert file.read() == before


def expect_warning(result, out, warning):
    """It went well, and said so much of the file."""
    assert result.code == 0 and result.out == out, result
    assert result.err.startswith('warning: ') and warning in result.err, result


def case_damaged_heads(folder):
    expect(run(folder, 'h.vdb', 'create table t (a integer)'))
    expect(run(folder, 'h.vdb', 'insert into t values (1)'))
    with open(os.path.join(folder, 'h.vdb'), 'rb') as file:
        pages = file.read(8192)
    newest = max(struct.unpack_from('<QQ', pages, at + 16) for at in (0, 4096))
    flip(folder, 'h.vdb', 48)
    flip(folder, 'h.vdb', 4096 + 48)
    told = 'h.vdb: a head at byte 4096 is damaged'
    expect_warning(run(folder, 'h.vdb', 'select * from t'), 'a\n1\n', told)
    expect_warning(run(folder, 'h.vdb', 'insert into t values (2)'), '', told)
    expect(run(folder, 'h.vdb', 'select * from t'), 0, 'a\n1\n2\n')
    flip(folder, 'h.vdb', newest[1])
    expect(run(folder, 'h.vdb', 'select count(*) from t'), 0, 'count(*)\n2\n')


def case_damaged_state(folder):
    for sql in ('create table t (a integer)', 'insert into t values (1)'):
        expect(run(folder, 'd.vdb', sql))
    with open(os.path.join(folder, 'd.vdb'), 'rb') as file:
        pages = file.read(8192)
    flip(folder, 'd.vdb', max(struct.unpack_from('<QQ', pages, at + 16) for at in (0, 4096))[1])
    for _ in range(2):
        result = run(folder, 'd.vdb', 'select count(*) from t')
        assert result.code == 3 and 'is damaged' in result.err, result
        assert '--accept-older' in result.err, result
        expect_warning(run(folder, '--accept-older', 'd.vdb', 'select count(*) from t'),
                       'count(*)\n0\n', 'the state before it is open')
    expect_warning(run(folder, '--accept-older', 'd.vdb', 'insert into t values (7)'), '',
                   'the state before it is open')
    expect(run(folder, 'd.vdb', 'select a from t'), 0, 'a\n7\n')


def case_old_file(folder):
    shutil.copy(os.path.join(DATABASES, 'format1.vdb'), os.path.join(folder, 'old.vdb'))
    with open(os.path.join(DATABASES, 'format1.sql'), encoding='utf-8') as file:
        expect(run(folder, 'new.vdb', text=file.read()))
    tables = ('kinds', 'plain', 'rules', 'empty', 'texts')
    look = '; '.join(f'select * from {name}' for name in tables)
    schema = run(folder, 'new.vdb', '-c', '.schema')
    wanted = run(folder, '-quote', 'new.vdb', look)
    before = open(os.path.join(folder, 'old.vdb'), 'rb').read()
    for change in ('', 'insert into empty values (1, null); delete from empty',
                   'create table more (a integer)', 'drop table more'):
        expect(run(folder, 'old.vdb', change) if change else wanted)
        found = run(folder, '-quote', 'old.vdb', look)
        assert (found.code, found.out, found.err) == (0, wanted.out, ''), (change, found)
    assert run(folder, 'old.vdb', '-c', '.schema').out == schema.out
    after = open(os.path.join(folder, 'old.vdb'), 'rb').read()
    assert before[8] == 1 and after[8] == 2 and after[4096 + 8] == 2
    result = run(folder, 'old.vdb', "insert into rules (t) values ('one')")
    assert result.code == 1 and 'there twice' in result.err, result
    result = run(folder, 'old.vdb', 'insert into plain values (8, 20)')
    assert result.code == 1 and 'by_b' in result.err, result


def case_file_without_sums(folder):
    """Its tablet is read as it was, beside new ones, and stays when the file is packed."""
    shutil.copy(os.path.join(DATABASES, 'without_sums.vdb'), os.path.join(folder, 'old.vdb'))
    with open(os.path.join(DATABASES, 'without_sums.sql'), encoding='utf-8') as file:
        expect(run(folder, 'new.vdb', text=file.read()))
    more = 'insert into t select id + 9000, run, n, s from t'
    for change in ('', more, 'delete from t where id % 2 = 1', 'vacuum'):
        for name in ('old.vdb', 'new.vdb'):
            expect(run(folder, name, change) if change else run(folder, name, 'select 1'))
        wanted = run(folder, '-quote', 'new.vdb', 'select * from t')
        found = run(folder, '-quote', 'old.vdb', 'select * from t')
        assert (found.code, found.out, found.err) == (0, wanted.out, ''), change
        expect(run(folder, 'old.vdb', 'pragma integrity_check'), 0, 'integrity_check\nok\n')


def case_rows_that_left_an_index(folder):
    """Rows that an UPDATE took out of an index of some rows do not stand for others, where the
    index is read from the file."""
    digits = 'with a(i) as (values ' + ', '.join(f'({i})' for i in range(10)) + ')'
    expect(run(folder, 'left.vdb', f"""
        create table t (id integer primary key, s text, y integer);
        insert into t {digits}, n(i) as (select a.i + 10 * b.i + 100 * c.i + 1000 * d.i
        from a, a b, a c, a d) select i, 'a', i from n;
        create index t_y on t (y) where s = 'a'"""))
    expect(run(folder, 'left.vdb', "update t set s = 'b' where id in (0, 1, 2, 3, 5, 9999)"))
    expect(run(folder, 'left.vdb', "select id from t where s = 'a' order by y limit 3"), 0,
           'id\n4\n6\n7\n')
    expect(run(folder, 'left.vdb', "select min(y), max(y) from t where s = 'a'"), 0,
           'min(y),max(y)\n4,9998\n')


def case_no_device(folder):
    empty = os.path.join(folder, 'vendors')
    os.mkdir(empty)
    result = run(folder, '--devices', OCL_ICD_VENDORS=empty)
    assert result.code == 4, result
    for word in ('OpenCL', 'pocl-opencl-icd', 'install'):
        assert word in result.out + result.err, result


def case_unknown_device(folder):
    result = run(folder, '--device', 'no such device', '-c', TABLE, '-c',
                 'select id + 1 from t where x > 0.2')
    assert result.code == 4 and result.err.startswith('error: '), result


def case_no_device_is_needed(folder):
    empty = os.path.join(folder, 'vendors')
    os.mkdir(empty)
    extra = {'OCL_ICD_VENDORS': empty, 'VDBQ_DEVICE': 'cpu'}
    expect(run(folder, 'n.vdb', TABLE, **extra), 0)
    expect(run(folder, 'n.vdb', '.tables', **extra), 0, 't\n')


def case_program(folder):
    write(folder, 'bad.prog', 'this is no program\n')
    result = run(folder, '--program', 'bad.prog')
    assert result.code == 1 and result.err.startswith('error: bad.prog'), result
    expect(run(folder, '--program', 'none.prog'), 3, '', 'cannot read none.prog')


def case_texts_in_every_format(folder):
    sql = "select 'a|b' || char(10) || 'c\\d' || char(9) as \"x|y\", '007' as n, '\"' as q"
    for mode, expected in (
            ('csv', '"x|y",n,q\n"a|b\nc\\d\t",007,""""\n'),
            ('json', '[{"x|y":"a|b\\nc\\\\d\\t","n":"007","q":"\\""}]\n'),
            ('markdown', '| x\\|y | n | q |\n|---|---|---|\n| a\\|b<br>c\\d  | 007 | " |\n'),
            ('tabs', 'x|y\tn\tq\na|b\\nc\\\\d\\t\t007\t"\n'),
            ('quote', "'a|b\nc\\d\t','007','\"'\n")):
        expect(run(folder, '-m', mode, '-c', sql), 0, expected)
    out = run(folder, '-m', 'box', '-c', sql).out
    assert 'a|b\\nc\\d\\t' in out and '\t' not in out, out


def case_box_cuts_texts(folder):
    sql = "select 'long long long long text' as t, 1234567890123 as n, '日本語日本語日本語' as u"
    result = run(folder, '-m', 'box', '-c', '.maxwidth 42', '-c', sql)
    expect(result, 0)
    lines = result.out.splitlines()
    assert {len(line) + sum(ord(c) > 0x3000 for c in line) for line in lines} == {41}, result
    assert 'long …' not in lines[1] and '1234567890123' in lines[4], result
    assert lines[4].count('…') == 2, result
    assert 'long long long long text' in run(folder, '-m', 'box', '-c', sql).out


def case_parameters(folder):
    expect(run(folder, '-quote', '-p', '5', '-p', "name=O'x", '-c', 'select ?, :name, ?1 + 1'), 0,
           "5,'O''x',6\n")
    expect(run(folder, '-quote', '-p', 'null', '-p', "'7'", '-p', '1e3', '-p', 'a=b',
               '-c', 'select ?, ?, ?, ?'), 0, "NULL,'7',1000.0,NULL\n")
    script = """.parameter set :n 2
.parameter set ?1 abc
.parameter list
create table t (a integer);
insert into t values (1), (:n), (3);
select a from t order by a limit :n;
select ?1 as x;
.parameter unset n
select :n as n;
.parameter clear
.parameter
"""
    expect(run(folder, '-quote', text=script), 0, ":n 2\n?1 abc\n1\n2\n'abc'\nNULL\n")
    expect(run(folder, '-c', '.parameter unset n'), 1, '', 'no parameter n')
    expect(run(folder, '-c', '.parameter set n'), 1, '', r'usage: \.parameter')


def case_query_reads_a_file(folder):
    write(folder, 'a.csv', 'id,name\n1,x\n2,\n')
    sql = "select * from 'a.csv' where a.id > 1"
    expect(run(folder, '-csv', 'f.vdb', sql), 0, 'id,name\n2,\n')
    expect(run(folder, 'f.vdb', '.tables'), 0, '')
    script = """create table t as select id, name from 'a.csv';
insert into t select t.id + 10, f.name from 'a.csv' f join t on t.id = f.id;
select t.id from t left join 'a.csv' f on t.id = f.id where f.id is null order by 1;
.print changed
.read change.sql
select count(*) from 'a.csv';
"""
    write(folder, 'change.sql', "copy (select 7 as id, 'y' as name) to 'a.csv';\n")
    expect(run(folder, '-quote', text=script), 0, '11\n12\nchanged\n1\n')
    expect(run(folder, '-c', "select * from 'none.csv'"), 3, '', 'cannot open none.csv')
    write(folder, 'bad.csv', 'a,b\n1,2\n3\n')
    expect(run(folder, '-c', "select * from 'bad.csv'"), 1, '', r'bad\.csv:3:1: the record has')
    expect(run(folder, '-c', "create view v as select * from 'a.csv'"), 1, '',
           'a view cannot read a file')


def case_a_file_that_changes(folder):
    """Of the same name, size and time, in the same place: it is read anew."""
    write(folder, 'a.csv', 'n\n1\n')
    path = os.path.join(folder, 'a.csv')
    first = os.stat(path)
    shell = subprocess.Popen([VDBQ, '-quote', '--no-header'], cwd=folder, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, env=environment(folder, {}))
    for n in range(1, 10):
        with open(path, 'r+', encoding='utf-8') as file:
            file.seek(2)
            file.write(str(n))
        os.utime(path, ns=(first.st_atime_ns, first.st_mtime_ns))
        now = os.stat(path)
        assert (now.st_ino, now.st_size, now.st_mtime_ns) == \
            (first.st_ino, first.st_size, first.st_mtime_ns)
        shell.stdin.write(b"select n from 'a.csv';\n")
        shell.stdin.flush()
        assert select.select([shell.stdout], [], [], 30)[0]
        assert os.read(shell.stdout.fileno(), 100).decode().strip().strip("'") == str(n)
    shell.stdin.close()
    assert shell.wait(30) == 0
    shell.stdout.close()


def case_copy_to_a_file(folder):
    setup = "create table t (a integer, b text); insert into t values (1, 'x,y'), (2, null);"
    expect(run(folder, 'c.vdb', setup), 0, '')
    expect(run(folder, '--timer', 'c.vdb', "copy t to 'o.csv'"), 0, '', '2 rows to o.csv')
    with open(os.path.join(folder, 'o.csv'), encoding='utf-8') as file:
        assert file.read() == 'a,b\n1,"x,y"\n2,\n'
    expect(run(folder, '-p', '1', 'c.vdb', "copy (select b from t where a = ?) to 'o.json'"), 0, '')
    with open(os.path.join(folder, 'o.json'), encoding='utf-8') as file:
        assert json.load(file) == [{'b': 'x,y'}]
    expect(run(folder, 'c.vdb', "copy t to '/dev/stdout'"), 0, 'a,b\n1,"x,y"\n2,\n')
    expect(run(folder, 'c.vdb', "copy t to 'none/o.csv'"), 3, '', 'cannot write none/o.csv')
    failing = "copy (select abs(-9223372036854775807 - a) from t) to 'o.csv'"
    expect(run(folder, 'c.vdb', failing), 1, '', 'overflow')
    assert sorted(os.listdir(folder)) == ['c.vdb', 'o.csv', 'o.json'], os.listdir(folder)
    with open(os.path.join(folder, 'o.csv'), encoding='utf-8') as file:
        assert file.read().startswith('a,b\n')

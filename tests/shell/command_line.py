# SPDX-License-Identifier: MIT
"""The command line: options, settings, where SQL comes from."""
import os
import re
import subprocess
import time

from shell.session import TABLE, VDBQ, environment, expect, run, write


def case_version_and_help(folder):
    result = run(folder, '--version')
    expect(result)
    assert re.fullmatch(r'vdbq \d+\.\d+\.\d+\n', result.out), result
    result = run(folder, '--help')
    expect(result)
    for word in ('--device', '--batch', 'quote', 'Exit status'):
        assert word in result.out, word


def case_usage_errors(folder):
    expect(run(folder, '--nonsense'), 2, '', r'^error: unknown option --nonsense\nhint: ')
    expect(run(folder, '--reedonly'), 2, '', 'did you mean readonly')
    expect(run(folder, '--mode'), 2, '', 'needs a value')
    expect(run(folder, '--mode', 'jsn'), 2, '', r'unknown format jsn\nhint: did you mean json')
    expect(run(folder, 'a', 'b', 'c'), 2, '', 'unexpected argument c')
    expect(run(folder, '--exec-mode', 'sideways', '-c', 'select 1'), 2, '', '^error: ')
    assert not os.path.exists(os.path.join(folder, 'a'))


def case_positional_sql(folder):
    expect(run(folder, 'one.vdb', TABLE), 0, '')
    expect(run(folder, 'one.vdb', 'select id, x from t'), 0, 'id,x\n1,0.5\n2,0.1\n3,\n')
    expect(run(folder, '-readonly', 'one.vdb', 'select id from t where id > 2'), 0, 'id\n3\n')


def case_a_second_writer_waits(folder):
    expect(run(folder, 'one.vdb', TABLE), 0, '')
    with subprocess.Popen([VDBQ, 'one.vdb'], cwd=folder, env=environment(folder, {}),
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        first.stdin.write(b"begin; delete from t; select 'began' as b;\n")
        first.stdin.flush()
        assert first.stdout.readline() + first.stdout.readline() == b'b\nbegan\n'
        expect(run(folder, '--timeout', '100', 'one.vdb', 'delete from t'), 3, '',
               rf'one.vdb: process {first.pid} \(vdbq\) has been writing to it since 20.*\n'
               r'hint: waited \d{3,5} ms .*timeout')
        expect(run(folder, 'one.vdb', '.timeout', VDBQ_TIMEOUT='70'), 0, '70\n')
        expect(run(folder, 'one.vdb', text='.timeout -1\n'), 1, '', 'no value of timeout')
        with subprocess.Popen([VDBQ, '--timeout', '60000', 'one.vdb', 'delete from t'],
                              cwd=folder, env=environment(folder, {})) as second:
            time.sleep(0.2)
            assert second.poll() is None
            first.stdin.write(b'rollback;\n')
            first.stdin.flush()
            assert second.wait(60) == 0
    expect(run(folder, 'one.vdb', 'select count(*) as n from t'), 0, 'n\n0\n')


def case_sql_is_no_database(folder):
    for word in ('select 1', 'SELECT*FROM t', 'with x as (select 1) select * from x', 'from t;',
                 '(select 1)', 'create table t (a integer)', '.tables', '.import a.csv t',
                 "values (1)", 'selct 1;', 'insert into t\nvalues (1)'):
        expect(run(folder, word), 2, '', r'SQL where the name of a database is expected\nhint: ')
        expect(run(folder, word, 'x.vdb'), 2, '', 'SQL where the name of a database')
    assert not os.listdir(folder), os.listdir(folder)
    for name in ('new.db', 'with love.db', 'selection', 'my data', './select 1', 'from', '.hidden'):
        expect(run(folder, name, 'create table t (a integer)'), 0, '')
        assert os.path.exists(os.path.join(folder, name)), name
    expect(run(folder, 'select 1', '.tables'), 0, 't\n')
    expect(run(folder, '.', 'select 1'), 3, '', 'Is a directory')
    write(folder, 'x.csv', 'a\n1\n')
    expect(run(folder, 'x.csv', 'select 1'), 3, '', 'x.csv: not a vdbq database')
    expect(run(folder, '-c', '.open x.db'), 1, '', 'unknown command .open\nhint: vdbq FILE opens')
    expect(run(folder, 'new.db', '-c', '.output ./new.db', '-c', '.tables'), 1, '',
           'new.db is the database that is open')


# Values that a command does not take, on the host device, and what it tells of itself before.


REFUSED = {
    '.build': ('sideways', '', 'specialised'), '.connection': ('-1', 'x', '99'),
    '.cores': ('-1', 'x', '', '99999', '7'), '.csv': ('--delimiter', 'x', '--quote'),
    '.device': ('no such device', '99:0'), '.devicememory': ('x', '-1', ''),
    '.encoding': ('zip', ''), '.execution': ('sideways', ''), '.headers': ('x', ''),
    '.map': ('x', ''), '.maxrows': ('-1', 'x', '', '99999999999999999999'),
    '.maxwidth': ('-1', 'x', ''), '.memory': ('x', '', '99999999999999999999'),
    '.mode': ('jsn', ''), '.output': ('/none/x', '.'), '.profiling': ('x', ''),
    '.readtimeout': ('-1', 'x', '', '99999999999'),
    '.skip': ('x', ''), '.timeout': ('-1', 'x', '', '99999999999'), '.timer': ('x', ''),
}


TELLS_NOTHING = ('.output',)


NO_SETTING = ('.check', '.connections', '.devices', '.distribute', '.exit', '.help', '.import',
              '.nullvalue', '.parameter', '.print', '.quit', '.read', '.schema', '.tables',
              '.tablets', '.vacuum')


def case_refused_settings_change_nothing(folder):
    commands = re.findall(r'^(\.\w+)', run(folder, '-c', '.help').out, re.M)
    assert sorted(commands) == sorted([*REFUSED, *NO_SETTING]), commands
    for command, values in REFUSED.items():
        ask = '' if command in TELLS_NOTHING else command + '\n'
        for value in values:
            result = run(folder, '--batch', 'all.vdb',
                         text=f"{ask}{command} '{value}'\n{ask}select 1 as x;\n")
            asked = result.out.split('x\n1\n')[0]
            half = len(asked) // 2
            assert asked[:half] == asked[half:], (command, value, result)
            assert result.out == asked + 'x\n1\n', (command, value, result)
            assert result.code != 0 and result.err.startswith('error: '), (command, value, result)


def case_refused_device_where_none_was_named(folder):
    result = run(folder, '--batch', VDBQ_DEVICE='', text='.device 99:0\n.device\nselect 1 as x;\n')
    expect(result, 4, '\nx\n1\n', "device '99:0'")
    expect(run(folder, VDBQ_DEVICE='', VDBQ_CORES='2', text='select 1 as x;'), 0, 'x\n1\n')


def case_commands_in_order(folder):
    write(folder, 'more.sql', 'insert into t values (5);\nselect id from t')
    result = run(folder, '--no-header', '-c', 'create table t (id integer)',
                 '-c', 'insert into t values (4)', '-f', 'more.sql',
                 '-c', 'select id + 1 from t where id = 5')
    expect(result, 0, '4\n5\n6\n')


def case_stdin_script(folder):
    script = TABLE + '-- a comment; with a semicolon\nselect id /* ; */ from t;\nselect 7 as n'
    expect(run(folder, text=script), 0, 'id\n1\n2\n3\nn\n7\n')
    expect(run(folder, '-f', '-', text='select 1 as a;'), 0, 'a\n1\n')


def case_many_statements_on_a_line(folder):
    expect(run(folder, '-quote', text='select 1; select 2; select 3 ; ;'), 0, '1\n2\n3\n')
    expect(run(folder, '-quote', text='select\n1\n;select 2\n+ 3'), 0, '1\n5\n')
    expect(run(folder, '-quote', text='select 1;\r\nselect 2;\r\n'), 0, '1\n2\n')


def case_empty_input(folder):
    expect(run(folder), 0, '')
    expect(run(folder, text='\n\n;;\n-- nothing\n'), 0, '')
    expect(run(folder, '-c', ''), 0, '')


def case_file_is_missing(folder):
    expect(run(folder, '-f', 'none.sql'), 3, '', r'cannot open none\.sql: No such file')
    expect(run(folder, '-f', '.'), 3, '', 'cannot read')

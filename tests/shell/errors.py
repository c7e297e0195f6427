# SPDX-License-Identifier: MIT
"""Errors: where, what, a hint; scripts that go on, or stop."""
import os
import select
import subprocess

from shell.session import TABLE, VDBQ, environment, expect, run, write


def case_error_shows_the_place(folder):
    result = run(folder, '-c', TABLE, '-c', 'select id,\n  nope from t')
    expect(result, 1, '', r'^error: line 2, column 3: .*\n    nope from t\n    \^\n')


def case_error_after_tab_and_utf8(folder):
    result = run(folder, '-c', TABLE, '-c', '\t/* é日 */ select nope from t')
    expect(result, 1, '', r'^error: line 1, column 21: ')
    lines = result.err.splitlines()
    assert lines[1].endswith('select nope from t'), lines
    caret = lines[2]
    assert caret.endswith('^') and caret.count('\t') == lines[1].count('\t'), lines
    before = lines[1][:lines[1].index('nope')]
    wide = len(before) + before.count('日')
    assert len(caret) - 1 == wide, (lines, wide)


def case_error_in_a_file(folder):
    write(folder, 'bad.sql', 'select 1 as a;\n\nselect 2 as b; selec 3;\nselect 4;\n')
    result = run(folder, '-f', 'bad.sql')
    expect(result, 1, 'a\n1\nb\n2\n', r'^error: bad\.sql:3:16: .*\n  selec 3;?\n  \^\n')


def case_error_in_a_file_read(folder):
    write(folder, 'bad.sql', '\nselect nope;\n')
    write(folder, 'outer.sql', 'select 1 as a;\n.read bad.sql\nselect 2 as b;\n')
    expect(run(folder, '-f', 'outer.sql'), 1, 'a\n1\n', r'^error: bad\.sql:2:8: ')
    write(folder, 'loop.sql', '.read loop.sql\n')
    expect(run(folder, '-f', 'loop.sql'), 1, '', 'loop.sql')


def case_hint_did_you_mean(folder):
    result = run(folder, '-c', 'create table people (weight integer)',
                 '-c', 'select wieght from people')
    expect(result, 1, '', r'hint: .*weight')


def case_long_line_is_cut(folder):
    sql = 'select ' + ' + '.join(['1'] * 500) + ' + nope, ' + ', '.join(['2'] * 500)
    result = run(folder, '-c', sql)
    expect(result, 1, '', '^error: line 1, column ')
    lines = result.err.splitlines()
    assert len(lines[1]) < 200 and lines[1][lines[2].index('^'):].startswith('nope'), lines


def case_script_stops_at_an_error(folder):
    expect(run(folder, text='select 1 as a;\nselec;\nselect 2 as b;\n'), 1, 'a\n1\n',
           '^error: line 2, column 1: ')
    expect(run(folder, '-c', 'selec', '-c', 'select 1'), 1, '', '^error: ')


def case_syntax_errors_of_all_kinds(folder):
    for sql in ('select', 'select 1 +', 'select (1', "select 'abc", 'create table', ')', 'drop',
                'select 1 from', 'insert into t values'):
        expect(run(folder, '-c', sql), 1, '', '^error: ')


def case_overflow_is_an_error(folder):
    result = run(folder, '-quote', '-c', 'create table t (b bigint)',
                 '-c', 'insert into t values (9223372036854775807)',
                 '-c', 'select b + 1 from t')
    expect(result, 1, '', '^error: ')


def case_batch_goes_on(folder):
    script = 'select 1;\nselec 2;\n.print TOKEN\nselect 3; select nope; select 4;\n'
    result = run(folder, '--batch', '--mode', 'quote', text=script)
    expect(result, 1, '1\nTOKEN\n3\n4\n', r'^error: line 2, column 1: (.|\n)*\nerror: line 4, ')


def case_batch_answers_at_once(folder):
    shell = subprocess.Popen([VDBQ, '--batch', '--mode', 'quote', 'slt.vdb'], cwd=folder,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=environment(folder, {}))

    def ask(sql, token):
        shell.stdin.write(f'{sql};\n.print {token}\n'.encode())
        shell.stdin.flush()
        got = b''
        while not got.endswith(token.encode() + b'\n'):
            assert select.select([shell.stdout], [], [], 30)[0], got
            part = os.read(shell.stdout.fileno(), 65536)
            assert part, got
            got += part
        return got.decode()[:-len(token) - 1]

    assert ask('create table t (a integer, b integer)', '@@1@@') == ''
    assert ask('insert into t values (1, 2), (3, null)', '@@2@@') == ''
    assert ask('select a, b from t', '@@3@@') == '1,2\n3,NULL\n'
    assert ask('select c from t', '@@4@@') == ''
    error = os.read(shell.stderr.fileno(), 65536).decode()
    assert error.startswith('error: '), error
    assert ask('select a + 1 from t where b = 2', '@@5@@') == '2\n'
    shell.stdin.close()
    assert shell.wait(30) == 1
    shell.stdout.close()
    shell.stderr.close()

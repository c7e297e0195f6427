# SPDX-License-Identifier: MIT
"""Ctrl-C: what it ends, what it leaves."""
import gzip
import os
import re
import signal
import subprocess
import time

from shell.session import VDBQ, environment, expect, run, write


def interrupted(folder, sql, seconds):
    """Ctrl-C so long after a shell began to run SQL on all.vdb: its code and errors."""
    return interrupted_after(folder, sql, seconds)[:2]


def interrupted_after(folder, sql, seconds):
    """The same, and how long it took to end."""
    with subprocess.Popen([VDBQ, 'all.vdb'], cwd=folder, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=environment(folder, {})) as shell:
        shell.stdin.write(b'.print ready\n' + sql.encode())
        shell.stdin.flush()
        assert shell.stdout.readline() == b'ready\n'
        time.sleep(seconds)
        start = time.monotonic()
        shell.send_signal(signal.SIGINT)
        shell.wait(60)
        took = time.monotonic() - start
        return shell.returncode, shell.stderr.read().decode(), took


def case_interrupt_tells_what_became_of_a_change(folder):
    expect(run(folder, 'all.vdb', 'create table t (a bigint, b double); insert into t '
               'values (1, 1.5), (2, 2.5);' + 'insert into t select a + 2, b from t;' * 18), 0, '')
    told = set()
    for step in range(24):
        before = run(folder, '--no-header', 'all.vdb', 'select sum(a) from t').out
        code, errors = interrupted(folder, 'update t set a = a + 1, b = sqrt(b * b + 1);'
                                           'create table missed (a integer);\n', step * 0.02)
        after = run(folder, '--no-header', 'all.vdb', 'select sum(a) from t').out
        assert code == 130, (code, errors)
        changed = after != before
        expected = ('interrupted, but the statement was done before\n' if changed
                    else 'error: line 2: interrupted: nothing was changed\n')
        assert errors in (expected, 'error: interrupted between statements\n'), (errors, changed)
        told.add(errors)
        if run(folder, 'all.vdb', '.tables').out != 't\n':
            assert changed and 'nothing' not in errors, errors
            break  # it came after both
    assert 'error: line 2: interrupted: nothing was changed\n' in told, told


def case_interrupt_leaves_a_transaction_open(folder):
    expect(run(folder, 'all.vdb', 'create table t (a bigint); insert into t values (1), (2);'
               + 'insert into t select a + 2 from t;' * 19), 0, '')
    code, errors = interrupted(folder, 'begin; delete from t where a = 1;'
                               'update t set a = (select max(a) from t) + sqrt(a) + a % 7;\n', 0.1)
    assert code == 130, (code, errors)
    assert re.fullmatch(r'(error: line 2: interrupted: nothing was changed\nhint: the transaction '
                        r'is open still.*\n|interrupted, but the statement was done before\n|'
                        r'error: interrupted between statements\n)', errors), errors


def case_interrupt_ends_the_wait_for_a_writer(folder):
    expect(run(folder, 'all.vdb', 'create table t (a bigint)'), 0, '')
    with subprocess.Popen([VDBQ, 'all.vdb'], cwd=folder, env=environment(folder, {}),
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        first.stdin.write(b'begin;\n.print began\n')
        first.stdin.flush()
        assert first.stdout.readline() == b'began\n'
        write(folder, 'one.csv', 'a\n1\n')
        for work in 'delete from t;\n', 'begin;\n', '.import one.csv t\n':
            start = time.monotonic()
            code, errors = interrupted(folder, '.timeout 60000\n' + work, 0.3)
            assert code == 130 and 'interrupted' in errors, (work, code, errors)
            assert time.monotonic() - start < 20
        first.stdin.close()
        first.wait(20)


def big_files(folder):
    """A file of some 200 MB, plain and packed, in that folder: for imports to be stopped."""
    lines = b''.join(b'%d,%d,a text of some length\n' % (i, i * 7) for i in range(250000))
    with open(os.path.join(folder, 'big.csv'), 'wb') as file:
        file.write(b'a,b,c\n' + lines * 24)
    packed = gzip.compress(lines, 1)
    with open(os.path.join(folder, 'big.csv.gz'), 'wb') as file:
        file.write(gzip.compress(b'a,b,c\n') + packed * 24)


def case_interrupt_ends_an_import_at_once(folder):
    """Ctrl-C at any moment: at once, and the table is as it was, or the work was done."""
    big_files(folder)
    expect(run(folder, 'all.vdb', 'create table t (a integer, b integer, c text)'), 0)
    os.mkfifo(os.path.join(folder, 'pipe'))
    with open(os.path.join(folder, 'bomb.csv.gz'), 'wb') as file:
        file.write(gzip.compress(bytes(120 << 20), 1))
    for command, seconds in (('.import big.csv t\n', 0.3), ('.import big.csv.gz t\n', 0.5),
                             ("copy t from 'big.csv.gz';\n", 0.1), ('.import big.csv u\n', 0.2),
                             ('.import bomb.csv.gz u\n', 0.02), ("copy t from 'pipe';\n", 0.3)):
        code, errors, took = interrupted_after(folder, command, seconds)
        assert code == 130 and 'interrupted' in errors, (command, code, errors)
        assert took < 0.5, (command, took)
        expect(run(folder, '-list', '--no-header', '--batch', 'all.vdb', text='select count(*) '
                   'from t; select count(*) from u;'), 1, '0\n', 'no such table: u')


def case_interrupt_ends_a_script(folder):
    shell = subprocess.Popen([VDBQ, '--batch'], cwd=folder, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=environment(folder, {}))
    shell.stdin.write(b'.print ready\n')
    shell.stdin.flush()
    assert shell.stdout.readline() == b'ready\n'
    shell.send_signal(signal.SIGINT)
    assert shell.wait(20) == 130
    for pipe in (shell.stdin, shell.stdout, shell.stderr):
        pipe.close()

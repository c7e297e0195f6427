# SPDX-License-Identifier: MIT
"""A person at a terminal."""
import os
import re
import signal
import stat
import time

from shell.session import expect, run, write
from shell.terminal import Terminal
from shell.interrupts import big_files


def case_terminal_session(folder):
    shell = Terminal(folder)
    banner = shell.wait_for('vdbq> ')
    assert 'in memory' in banner and 'device' in banner and '.help' in banner, banner
    shell.type('select 1 as one,\r')
    shell.wait_for('...> ')
    shell.type('2 as two;\r')
    shell.wait_for('┘')
    shell.type('.quit\r')
    assert shell.end() == 0
    history = os.path.join(folder, '.local/state/vdbq/history')
    assert stat.S_IMODE(os.stat(history).st_mode) == 0o600
    with open(history, encoding='utf-8') as file:
        assert 'one' in file.read()


def case_terminal_end_is_typed_ahead(folder):
    """A Ctrl-D while a statement runs ends the shell when it has run."""
    shell = Terminal(folder, '-list', VDBQ_HISTORY='')
    shell.wait_for('vdbq> ')
    shell.type('create table d (a integer); insert into d values (0), (1), (2), (3), (4), (5), '
               '(6), (7), (8), (9);\r')
    shell.wait_for('vdbq> ')
    shell.type('select 7 * count(*) from d a, d b, d c, d e, d f, d g where sqrt(a.a) >= 0;\r')
    shell.wait_for('\r\n')
    shell.type('\x04')
    shell.wait_for('7000000')
    assert shell.end() == 0


def case_terminal_takes_every_text(folder):
    for locale in ('C', 'POSIX', 'C.UTF-8', 'xx_XX.ISO-8859-1'):
        name = f'{locale}.vdb'
        shell = Terminal(folder, '-list', name, LC_ALL=locale, VDBQ_HISTORY='')
        shell.wait_for('vdbq> ')
        shell.type('create table t (s text);\r')
        shell.wait_for('vdbq> ')
        shell.type("insert into t values ('Müller 漢字 𝄞');\r")
        shell.wait_for('vdbq> ')
        shell.type(b"insert into t values ('M\xfcller');\r")
        shell.wait_for('the byte 0xfc is not text in UTF-8')
        shell.wait_for('vdbq> ')
        shell.type(b"insert into t values ('\xc3');\r")
        shell.wait_for('the byte 0xc3 is not text in UTF-8')
        shell.wait_for('vdbq> ')
        shell.type('.quit\r')
        assert shell.end() == 0
        expect(run(folder, '-quote', name, 'select s from t'), 0, "'Müller 漢字 𝄞'\n")


def history_of(path):
    """The lines of a history file."""
    with open(path, encoding='utf-8') as file:
        title, *lines = file.read().splitlines()
    assert title == '_HiStOrY_V2_', title
    return [re.sub(r'\\(\d{3})', lambda found: chr(int(found[1], 8)), line) for line in lines]


def case_terminal_history_is_kept(folder):
    path = os.path.join(folder, 'deep/er/history')
    expected = []
    for number, sign in enumerate((signal.SIGHUP, signal.SIGTERM, signal.SIGKILL)):
        shell = Terminal(folder, VDBQ_HISTORY=path)
        shell.wait_for('vdbq> ')
        for line in (f"select 'ü \\ {number}',", '  2;', '  2;'):
            shell.type(line + '\r')
            shell.wait_for('> ')
        os.kill(shell.pid, sign)
        assert shell.end() == -sign
        expected += [f"select 'ü \\ {number}',", '  2;']
    assert history_of(path) == expected, history_of(path)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    shell = Terminal(folder, VDBQ_HISTORY=path)
    shell.wait_for('vdbq> ')
    shell.type('\x1b[A\x1b[A')
    shell.wait_for("select 'ü \\ 2',")
    shell.type('\x15.quit\r')
    assert shell.end() == 0


def case_terminal_histories_meet(folder):
    path = os.path.join(folder, 'history')
    shells = [Terminal(folder, VDBQ_HISTORY=path) for _ in range(3)]
    for shell in shells:
        shell.wait_for('vdbq> ')
    for round_ in range(4):
        for number, shell in enumerate(shells):
            shell.type(f'.print {number} {round_}\r')
            shell.wait_for(f'{number} {round_}\r\n')
            shell.wait_for('vdbq> ')
    for shell in shells:
        assert shell.end('\x04') == 0
    expected = [f'.print {number} {round_}' for round_ in range(4) for number in range(3)]
    assert history_of(path) == expected, history_of(path)


def case_terminal_history_that_cannot_be_kept(folder):
    write(folder, 'notes', 'my notes\n')
    for path, reason in (('notes', 'it is no history'), ('.', 'Is a directory'),
                         ('notes/x', 'Not a directory'), ('/dev/null', 'it is no plain file')):
        shell = Terminal(folder, VDBQ_HISTORY=path)
        shell.wait_for('vdbq> ')
        shell.type('.print 1\r')
        shell.wait_for(f'note: the history is not kept in {path}: {reason}')
        shell.wait_for('vdbq> ')
        shell.type('.print 2\r')
        assert 'note' not in shell.wait_for('vdbq> ')
        assert shell.end('\x04') == 0
    with open(os.path.join(folder, 'notes'), encoding='utf-8') as file:
        assert file.read() == 'my notes\n'


def case_terminal_history_stays_short(folder):
    path = os.path.join(folder, write(folder, 'history', '_HiStOrY_V2_\n' + ''.join(
        f'select\\040{i:06};\n' for i in range(100000))))
    shell = Terminal(folder, VDBQ_HISTORY=path)
    shell.wait_for('vdbq> ')
    shell.type('.quit\r')
    assert shell.end() == 0
    lines = history_of(path)
    assert 40000 < len(lines) < 60000 and lines[-2:] == ['select 099999;', '.quit'], lines[-3:]
    assert lines[0] == f'select {100000 - len(lines) + 1:06};', lines[0]
    assert sorted(os.listdir(folder)) == ['history'], os.listdir(folder)


def case_terminal_completion(folder):
    shell = Terminal(folder, '-list', VDBQ_HISTORY='')
    shell.wait_for('vdbq> ')
    shell.type('create table elephants (trunk integer);\r')
    shell.wait_for('vdbq> ')
    shell.type('sel\ttrun\t')
    shell.wait_for('select trunk')
    shell.type('fro\teleph\t')
    shell.wait_for('elephants')
    shell.type(';\r')
    shell.type('.print done\r')
    shell.wait_for('\ndone')
    shell.wait_for('vdbq> ')
    assert shell.end('\x04') == 0


def case_terminal_interrupt_clears_the_line(folder):
    shell = Terminal(folder, '-list', VDBQ_HISTORY='')
    shell.wait_for('vdbq> ')
    shell.type('select nonsense')
    shell.wait_for('nonsense')
    shell.type('\x03')
    shell.wait_for('vdbq> ')
    shell.type('select 40 + 2 as sum;\r')
    shell.wait_for('\n42\r\n')
    shell.wait_for('vdbq> ')
    time.sleep(1.1)
    shell.type('\x03')
    shell.wait_for('vdbq> ')
    shell.type('\x03')
    assert shell.end() == 130


def case_terminal_error_has_colour(folder):
    shell = Terminal(folder, '-c', 'selec')
    shell.wait_for('\x1b[1;31merror:\x1b[0m')
    assert shell.end() == 1
    shell = Terminal(folder, '-c', 'selec', NO_COLOR='1')
    assert '\x1b' not in shell.wait_for('error: ')
    shell.end()


def case_terminal_bar_in_any_step(folder):
    """A join, a sort and a window of many rows, which no scan makes: a bar, until Ctrl-C."""
    shell = Terminal(folder, '-list', VDBQ_HISTORY='', VDBQ_DEVICE='host')
    shell.wait_for('vdbq> ')
    shell.type('create table d (a integer); insert into d values (0), (1), (2), (3), (4), (5), '
               '(6), (7), (8), (9); create table t as select x.a + 10 * y.a + 100 * z.a + '
               '1000 * v.a as a from d x, d y, d z, d v;\r')
    shell.wait_for('vdbq> ')
    pairs = 't x join t y on x.a between y.a - 3000 and y.a + 3000'
    for query in (f'select sum(sqrt(x.a * y.a)) from {pairs} cross join d',
                  f'select x.a from {pairs} order by x.a * y.a % 977',
                  f'select rank() over (order by x.a * y.a % 977) from {pairs}',
                  f'select count(distinct x.a * y.a) from {pairs}'):
        shell.type(f'{query};\r')
        shell.wait_for('[')
        shell.wait_for('] ')
        shell.wait_for(' %')
        shell.type(b'\x03')
        shell.wait_for('interrupted')
        shell.wait_for('vdbq> ')
        time.sleep(1.1)  # two within a second would end it
    assert shell.end('\x04') == 0


def case_terminal_bar_of_an_import(folder):
    """Rows, speed and what is left, until Ctrl-C; what was there stays."""
    big_files(folder)
    shell = Terminal(folder, '-list', VDBQ_HISTORY='', VDBQ_DEVICE='host')
    shell.wait_for('vdbq> ')
    shell.type('create table t (a integer, b integer, c text);\r')
    shell.wait_for('vdbq> ')
    shell.type('insert into t values (1, 2, null);\r')
    shell.wait_for('vdbq> ')
    for command in ('.import big.csv t', '.import big.csv.gz u', "copy t from 'big.csv.gz';",
                    "select count(*) from 'big.csv';"):
        shell.type(f'{command}\r')
        for word in ('[#', '] ', ' %  ', ' rows, ', ' MB/s  '):
            shell.wait_for(word)
        shell.type(b'\x03')
        shell.wait_for('interrupted')
        shell.wait_for('vdbq> ')
        time.sleep(1.1)
    shell.type('select count(*), sum(a) from t; select count(*) from u;\r')
    shell.wait_for('1|1')
    shell.wait_for('no such table: u')
    assert shell.end('\x04') == 0

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The shell that starts its ranks itself (--ranks): it keeps its terminal, Ctrl-C and
Ctrl-Z; no process is left, whichever ends.

    test_ranks.py BUILD [PART...]

The parts are the functions below whose names begin with "test_". The last line is
"N passed, N failed".
"""
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import test_cluster as cluster
from test_faults import PATIENCE, processes, wait_for

SILENCE_MS = 1500
LONG = 'select count(*) from t a, t b, t c where a.x + b.x + c.x < -1;\n'


def command(database, count=3, *options):
    return [str(cluster.BUILD / 'vdbq'), '--ranks', str(count), '--silence', str(SILENCE_MS),
            *options, str(database)]


def others(database):
    """Process ids of the other ranks, in order; they look like those that mpirun starts."""
    found = processes(str(database).encode())
    return [found[rank] for rank in sorted(found)]


class Terminal:
    """A shell with a terminal of its own."""

    def __init__(self, database, count=3):
        self.database, self.text = database, ''
        self.shell, self.file = pty.fork()
        if self.shell == 0:
            os.environ.update(cluster.ENVIRONMENT | {'TERM': 'dumb', 'HOME': str(cluster.FOLDER)})
            os.execv(cluster.BUILD / 'vdbq', command(database, count))
        self.await_text('vdbq> ')
        assert len(others(database)) == count - 1, others(database)

    def type(self, text):
        self.text = ''
        os.write(self.file, text.encode())

    def await_text(self, pattern, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while not re.search(pattern, self.text) and time.monotonic() < end:
            if select.select([self.file], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self.file, 65536).decode()
                except OSError:  # the other end is closed
                    break
        assert re.search(pattern, self.text), f'no "{pattern}" in: {self.text}'

    def ask(self, sql, pattern):
        self.type(sql)
        self.await_text(pattern + r'(?s:.)*vdbq> $')

    def await_end(self, seconds):
        return wait_for(lambda: (e := os.waitpid(self.shell, os.WNOHANG))[0] and e, seconds)

    def quit(self, text):
        """Ends the shell by a text, which may come before the prompt takes the terminal."""
        self.type(text)
        return self.ends()

    def ends(self):
        """The shell's exit status, when no process is left."""
        status = self.await_end(PATIENCE)
        assert status, f'the shell goes on: {self.text}'
        assert wait_for(lambda: not others(self.database), PATIENCE), 'processes are left'
        os.close(self.file)
        return os.waitstatus_to_exitcode(status[1])


def make(name):
    database = cluster.FOLDER / f'{name}.vdb'
    cluster.make_table(database)
    return database


def test_answers():
    """Those of one process, also of more ranks than cores."""
    database = make('answers')
    sql = 'select k, sum(x), min(s) from t group by k;\nselect * from t where id % 1999 = 0;\n'
    wanted = cluster.run(cluster.alone(database), sql)
    for count in (1, 2, 5):
        got = cluster.run(command(database, count, '--batch', '--csv'), sql)
        assert got == wanted, (count, got, wanted)


OFFLINE = """
import fcntl, os, socket, struct, sys
fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sh14x', b'lo', 1))  # SIOCSIFFLAGS: IFF_UP
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_offline():
    """On a machine without a network, where this one can play it."""
    database, alone = make('offline'), ['unshare', '--user', '--map-root-user', '--net']
    if subprocess.run([*alone, 'true'], capture_output=True, check=False).returncode != 0:
        print('no machine without a network can be had here: passed over')
        return
    sql = 'select k, sum(x), min(s) from t group by k;\n'
    wanted = cluster.run(cluster.alone(database), sql)
    got = cluster.run([*alone, sys.executable, '-c', OFFLINE,
                       *command(database, 3, '--batch', '--csv')], sql)
    assert got == wanted, (got, wanted)


def test_terminal():
    terminal = Terminal(make('terminal'))
    terminal.ask('select k, count(*) from t group by k;\n', '│ *k')
    terminal.ask('explain select sum(x) from t;\n', 'on 3 ranks')
    assert terminal.quit('.quit\n') == 0


def test_interrupt():
    """Ctrl-C ends the query, not the shell."""
    terminal = Terminal(make('interrupt'))
    terminal.type(LONG)
    time.sleep(1)
    terminal.ask('\x03', 'cancelled|interrupted')
    terminal.ask('select sum(k) from t;\n', '59998')
    assert terminal.quit('\x04') == 0


def test_background():
    """A shell that is stopped for longer than a rank may be silent goes on."""
    terminal = Terminal(make('background'))
    os.kill(terminal.shell, signal.SIGSTOP)
    time.sleep(SILENCE_MS / 1000 * 2)
    os.kill(terminal.shell, signal.SIGCONT)
    terminal.ask('select sum(k) from t;\n', '59998')
    assert terminal.quit('.quit\n') == 0


def test_rank_dies():
    """One that is killed, or stopped: the shell ends with the reason."""
    for number, sent in enumerate((signal.SIGKILL, signal.SIGSTOP)):
        terminal = Terminal(make(f'dies{number}'))
        os.kill(others(terminal.database)[1], sent)
        terminal.await_text(r'rank [12] \(.*\) has (been silent for 1.5 s|died)')
        assert terminal.ends() != 0


def test_shell_dies():
    terminal = Terminal(make('shell'))
    os.kill(terminal.shell, signal.SIGKILL)
    assert terminal.ends() == -signal.SIGKILL


def test_refused():
    for words, wanted in ((['--ranks', '2'], '--ranks needs a database file'),
                          (['--ranks', '0', 'x.vdb'], '--ranks needs a number from 1 to 1024'),
                          (['--ranks', '2', '--cluster', 'x.vdb'], 'without mpirun')):
        done = subprocess.run([cluster.BUILD / 'vdbq', *words], input='', capture_output=True,
                              text=True, check=False, env=cluster.ENVIRONMENT, timeout=PATIENCE)
        assert done.returncode != 0 and wanted in done.stderr, done


if __name__ == '__main__':
    sys.exit(cluster.run_parts(globals()))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shells that write one file at once, some of which are killed.

    crossing.py [options] BINARY

In each round some shells move amounts between accounts, add rows, make and
drop an index and a table, cut the file (VACUUM), and read, until one of them
has run so many statements; many of them are killed while they do. Whatever
comes of it: the accounts have their sum, rows whose INSERT returned are there,
and PRAGMA integrity_check, which looks at indexes, too, finds nothing.
The last line is "N passed, N failed", of rounds. The same options give the same
statements, but not the same crossings.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from shell_options import HANG_SECONDS  # noqa: E402

ACCOUNTS, EACH = 20, 100
END = '@@end'
LIFE_MAX = 25        # statements of a shell
KILL_SECONDS = 0.3   # within which the last one may be killed
SUMS = ('SELECT sum(v), count(*) FROM accounts', f'{ACCOUNTS * EACH},{ACCOUNTS}')
CHECK = ('PRAGMA integrity_check', 'ok')
TABLES = (
    'CREATE TABLE accounts (id INTEGER PRIMARY KEY, v BIGINT, s TEXT)',
    'INSERT INTO accounts VALUES ' + ', '.join(f"({i}, {EACH}, 't{i}')" for i in range(ACCOUNTS)),
    'CREATE TABLE rows (writer INTEGER, n INTEGER, s TEXT)',
    'CREATE INDEX by_n ON rows (n)')


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary', help='the shell')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--rounds', type=int, default=8)
    parser.add_argument('--statements', type=int, default=400, help='of each writer (%(default)s)')
    parser.add_argument('--writers', type=int, default=5)
    parser.add_argument('--kills', type=float, default=0.5, help='share of shells (%(default)s)')
    return parser.parse_args()


class Killed(Exception):
    """The shell has ended."""


class Shell:
    """A shell on the file, which answers statement by statement."""

    def __init__(self, round_):
        command = [round_.options.binary, '--batch', '--mode', 'csv', '--device', 'host',
                   round_.path]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, bufsize=1,
                                        env=round_.environment)

    def ask(self, sql):
        """The lines that a statement prints, also those of its error."""
        lines = []
        try:
            self.process.stdin.write(f'{sql};\n.print {END}\n')
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Killed(lines) from None
        for line in self.process.stdout:
            if line == END + '\n':
                return lines
            lines.append(line.rstrip('\n'))
        raise Killed(lines)

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Round:
    """Writers on a file of their own."""

    def __init__(self, options, number, folder):
        rng = random.Random(f'{options.seed} {number}')
        self.options, self.seed = options, f'{options.seed} {number}'
        self.path = os.path.join(folder, f'{number}.vdb')
        settings = {'VDBQ_TABLET_ROWS': rng.choice(['0', '1', '3', '65']),
                    'VDBQ_MEMORY': rng.choice(['64K', '1M', '0']),
                    'VDBQ_TIMEOUT': str(HANG_SECONDS * 1000)}
        self.environment = dict(os.environ) | settings
        self.faults, self.over = [], threading.Event()
        self.returned = [set() for _ in range(options.writers)]

    def fault(self, *what):
        self.faults.append(' '.join(map(str, what)))
        self.over.set()

    def expect(self, shell, question):
        sql, answer = question
        lines = shell.ask(sql)
        if lines[-1:] != [answer]:
            self.fault(sql, lines)

    def run(self):
        shell = Shell(self)
        for statement in TABLES:
            shell.ask(statement)
        threads = [threading.Thread(target=Writer(self, number).run)
                   for number in range(self.options.writers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.look(shell)
        shell.end()
        return self.faults

    def look(self, shell):
        """At all that is left, by a shell that was there from the beginning."""
        self.expect(shell, SUMS)
        self.expect(shell, CHECK)
        for writer, returned in enumerate(self.returned):
            lines = shell.ask(f'SELECT n FROM rows WHERE writer = {writer}')
            lost = returned - {int(line) for line in lines[1:] if line.isdigit()}
            if lost:
                self.fault('rows of writer', writer, 'are lost:', sorted(lost))


class Writer:
    """One shell after the other, and what they are asked."""

    def __init__(self, round_, number):
        self.round, self.number, self.rows = round_, number, 0
        self.rng = random.Random(f'{round_.seed} {number}')

    def run(self):
        left = self.round.options.statements
        while left > 0 and not self.round.over.is_set():
            life = self.rng.randint(1, LIFE_MAX)
            self.live(life, self.rng.random() < self.round.options.kills)
            left -= life

    def live(self, life, is_killed):
        """A shell for so many statements; the last one may be cut short."""
        shell = Shell(self.round)
        timer = threading.Timer(self.rng.random() * KILL_SECONDS, shell.process.kill)
        try:
            for left in range(life, 0, -1):
                if is_killed and left == 1:
                    timer.start()
                self.step(shell)
        except Killed as killed:
            if shell.process.wait() >= 0:
                self.round.fault('a shell ended:', *killed.args)
        timer.cancel()
        shell.end()

    def step(self, shell):
        steps = ((self.move, 7), (self.insert, 4), (self.schema, 4), (self.cut, 2),
                 (self.read, 3), (self.check, 1))
        step, = self.rng.choices([s for s, _ in steps], [weight for _, weight in steps])
        step(shell)

    def move(self, shell):
        one, two = self.rng.randrange(ACCOUNTS), self.rng.randrange(ACCOUNTS)
        amount = self.rng.randint(1, EACH // 2)
        failed = (shell.ask('BEGIN')
                  or shell.ask(f'UPDATE accounts SET v = v - {amount} WHERE id = {one}')
                  or shell.ask(f"UPDATE accounts SET v = v + {amount}, s = s || 'x' "
                               f'WHERE id = {two}'))
        shell.ask('ROLLBACK' if failed or self.rng.random() < 0.2 else 'COMMIT')

    def insert(self, shell):
        self.rows += 1
        text = 'z' * self.rng.choice([0, 5, 3000])
        if not shell.ask(f"INSERT INTO rows VALUES ({self.number}, {self.rows}, '{text}')"):
            self.round.returned[self.number].add(self.rows)

    def schema(self, shell):
        """Another writer may have done it: then it is an error."""
        own = f'own{self.number}'
        shell.ask(self.rng.choice(['DROP INDEX by_n', 'CREATE INDEX by_n ON rows (n)',
                                   f'CREATE TABLE {own} AS SELECT * FROM accounts',
                                   f'DROP TABLE {own}']))

    def cut(self, shell):
        shell.ask('VACUUM')

    def read(self, shell):
        self.round.expect(shell, SUMS)

    def check(self, shell):
        self.round.expect(shell, CHECK)


def main():
    options = arguments()
    failed = 0
    for number in range(options.rounds):
        with tempfile.TemporaryDirectory(prefix='crossing') as folder:
            faults = Round(options, number, folder).run()
        failed += bool(faults)
        for fault in faults[:3]:
            print(f'round {number}: {fault[:500]}')
    print(f'{options.rounds - failed} passed, {failed} failed')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())

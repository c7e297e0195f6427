# SPDX-License-Identifier: MIT
"""Histories of a database: statements of several connections in several
processes, run by shells of vdbq and by sqlite3, which must agree on each.

A party is a connection: 'a0' is the connection 0 of process a. sqlite3 has a
connection for each, to a database of its own.
"""
import os
import re
import select
import shlex
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

from .checks import Difference, from_sqlite, message_kind, same, shown
from .engines import STEPS_MAX, Died, Refused, rows_of
from .tables import COLUMNS

BATCH = 100      # statements that a shell gets at once
LIFE = ('open', 'quit', 'kill', 'parts')  # steps in which processes come and go
PARTS = ' ;; '   # between the statements of sqlite3 that stand for one of ours
REFUSALS = (     # what a refusal is about, in sqlite3's words and in ours
    # A row may be wrong in several ways: which one is told is each engine's.
    ('row', 'constraint failed|twice:|a row breaks|no value for|is NULL|NOT NULL|does not fit|'
            r'overflow|out of the range|has \d+ columns? but|values for \d+ columns?|'
            'same number of terms'),
    ('size', 'too big|would be longer than'),
    ('busy', 'is locked|been writing to it'),
    ('transaction', 'cannot start a transaction|no transaction is active|transaction is open'),
    ('exists', 'already exists|there is an? .* already'),
    ('unknown', 'no such|no index "|does not match any|no rule says'),
)


class Step:
    """What happens next: `what` is

        read, ordered   a query of a party; its rows come in any order or in this one
        change          a statement of a party
        open, quit      a process starts with settings, or ends
        kill            a process gets a statement of a party and dies meanwhile
        parts           all processes end, and the database is put into part files: settings
                        are of the shell that does it, and `letters` say how tables lie
    """

    def __init__(self, what, party, node=None, letters=(), settings=(), delay=0.0):
        self.what, self.party, self.node, self.letters = what, party, node, letters
        self.settings, self.delay = settings, delay

    @property
    def process(self):
        return self.party[0]

    def with_node(self, node):
        return Step(self.what, self.party, node, self.letters, self.settings, self.delay)

    def text(self):
        """How a person reads it."""
        if self.what == 'open':
            return f'-- {self.process}: {" ".join("=".join(s) for s in self.settings)}'
        if self.what == 'quit':
            return f'-- {self.process}: .quit'
        if self.what == 'parts':
            return f'.distribute FOLDER N {self.letters}'
        killed = f' -- killed after {self.delay:.4f} s' if self.what == 'kill' else ''
        return f'{self.node.sql("")};{killed}'


def refusal(message):
    """What a refusal is about: its first line says so, others show the statement."""
    message = message.split('\n')[0]
    return next((name for name, pattern in REFUSALS if re.search(pattern, message)),
                message_kind(message))


# ------------------------------------------------------------------ shells --

class Shell:
    """A process of ours; statements are gathered and sent together."""

    def __init__(self, options, path, settings):
        self.timeout, self.connection, self.count = options.timeout, '0', 0
        self.lines, self.tokens, self.room = [], [], b''
        command = [*shlex.split(options.binary), '--batch', '--no-sync', '--mode', 'quote',
                   '--device', options.device, path]
        environment = dict(os.environ, VDBQ_TIMEOUT='0') | dict(settings)
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=environment, bufsize=0, start_new_session=True)
        self.input, self.output = self.process.stdin.fileno(), self.process.stdout.fileno()
        os.set_blocking(self.input, False)
        self.command('')  # the file is open: nobody else meets a lock of that

    def add(self, connection, sql):
        if connection != self.connection:
            self.lines.append(f'.connection {connection}\n'.encode())
            self.connection = connection
        self.count += 1
        token = b'@@end-%d@@\n' % self.count
        self.lines.append(sql.encode() + b';\n.print ' + token)
        self.tokens.append(token)

    def answers(self):
        """What all that was added gave: rows, or a message."""
        data, tokens = b''.join(self.lines), self.tokens
        self.lines, self.tokens = [], []
        out = self.exchange(data, tokens[-1])
        made, at = [], 0
        for token in tokens:
            end = out.index(token, at)
            made.append(out[at:end])
            at = end + len(token)
        return made

    def exchange(self, data, last):
        """Writes and reads at once, so that no pipe fills up."""
        poll, out, end = select.poll(), bytearray(), time.monotonic() + self.timeout
        poll.register(self.output, select.POLLIN | select.POLLHUP)
        poll.register(self.input, select.POLLOUT)
        while not out.endswith(last):
            ready = poll.poll(max(0.0, end - time.monotonic()) * 1000)
            if not ready:
                self.kill()
                raise Died(f'no answer in {self.timeout} s')
            for fd, _ in ready:
                if fd == self.output:
                    more = os.read(fd, 1 << 16)
                    if not more:
                        raise Died(self.last_words(out))
                    out += more
                elif data:
                    data = data[self.write(data):]
                    if not data:
                        poll.unregister(self.input)
        return bytes(out)

    def write(self, data):
        try:
            return os.write(self.input, data[:1 << 16])
        except BrokenPipeError:
            return len(data)

    def last_words(self, out):
        code = self.process.wait()
        return f'the shell ended with {code} {bytes(out[-1500:]).decode(errors="replace")}'

    def ask(self, connection, sql):
        """The rows of one statement."""
        self.add(connection, sql)
        return rows_or_raise(self.answers()[0])

    def command(self, line):
        """What a command of the shell prints."""
        self.add('0', '')
        self.lines[-1] = line.encode() + b'\n.print ' + self.tokens[-1]
        return self.answers()[0]

    def quit(self):
        self.process.stdin.close()
        try:
            self.process.wait(self.timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Died('the shell does not end') from None
        self.process.stdout.close()
        if self.process.returncode not in range(5):
            raise Died(f'the shell ended with {self.process.returncode}')

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            pipe.close()


def rows_or_raise(answer):
    if answer.startswith(b'error: ') or b'\nerror: ' in answer:
        raise Refused(answer.decode(errors='replace').strip())
    return rows_of(answer)


# ----------------------------------------------------------------- sqlite3 --

class Peers:
    """The parties' connections of sqlite3."""

    def __init__(self, path):
        self.path, self.connections, self.steps = path, {}, 0
        self.of('-').execute('PRAGMA journal_mode = WAL')

    def of(self, party):
        if party not in self.connections:
            made = sqlite3.connect(self.path, timeout=0, isolation_level=None,
                                   cached_statements=8)
            made.execute('PRAGMA synchronous = OFF')
            made.set_progress_handler(self.step, 1000)
            self.connections[party] = made
        return self.connections[party]

    def step(self):
        self.steps += 1000
        return self.steps > STEPS_MAX

    def run(self, party, sql):
        """The rows of a statement; several in its place are one, all or nothing."""
        connection, self.steps = self.of(party), 0
        try:
            if PARTS not in sql:
                return self.run_one(connection, sql)
            self.run_parts(connection, sql.split(PARTS))
            return []
        except (sqlite3.Error, OverflowError) as error:
            raise Refused(str(error)) from None

    @staticmethod
    def run_one(connection, sql):
        try:
            return connection.execute(sql).fetchall()
        except sqlite3.OperationalError as error:
            if 'locked' in str(error) or 'transaction' in str(error):
                raise
        # It may have looked at tables as they were before another party changed them.
        connection.execute('SELECT 1 FROM sqlite_master').fetchall()
        return connection.execute(sql).fetchall()

    @staticmethod
    def run_parts(connection, parts):
        connection.execute('SAVEPOINT one')
        try:
            for part in parts:
                Peers.run_one(connection, part)
        except sqlite3.Error:
            connection.execute('ROLLBACK TO one')
            raise
        finally:
            connection.execute('RELEASE one')

    def end(self, process):
        """The process is gone, and what it had not committed with it."""
        for party in [p for p in self.connections if p[0] == process]:
            self.connections.pop(party).close()

    def close(self):
        for connection in self.connections.values():
            connection.close()


# ----------------------------------------------------------------- history --

class Wrong(Exception):
    """A step after which the two differ: its place, the kind, what is different."""

    def __init__(self, at, kind, text):
        super().__init__(text)
        self.at, self.kind, self.text = at, kind, text


class History:
    """Runs steps on both sides. Answers are compared when a shell has got
    its statements, at the latest where another process goes on."""

    def __init__(self, options):
        self.folder = tempfile.mkdtemp(dir=options.folder)
        self.options, self.path = options, os.path.join(self.folder, 'test.vdb')
        self.peers = Peers(os.path.join(self.folder, 'test.sqlite'))
        self.shells, self.waiting, self.at, self.folders = {}, [], 0, 0

    def close(self):
        for shell in self.shells.values():
            shell.kill()
        self.peers.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def shell(self, process):
        if process not in self.shells:
            self.shells[process] = Shell(self.options, self.path, ())
        return self.shells[process]

    def run(self, steps):
        for step in steps:
            self.step(step)
        self.flush()

    def step(self, step):
        """Runs a step; whether sqlite3 took it, or what met a kill was kept."""
        self.at += 1
        if self.waiting and (step.process != self.waiting[0][1].process
                             or len(self.waiting) == BATCH
                             or step.what in LIFE):
            self.flush()
        if step.what in LIFE:
            return self.life(step)
        try:
            wanted = self.peers.run(step.party, step.node.sql('sqlite'))
        except Refused as error:
            wanted = error
        self.waiting.append((self.at, step, wanted))
        self.shell(step.process).add(step.party[1:], step.node.sql(''))
        return not isinstance(wanted, Refused)

    def flush(self):
        """Sends what waits, and compares."""
        waiting, self.waiting = self.waiting, []
        if not waiting:
            return
        try:
            answers = self.shell(waiting[0][1].process).answers()
        except Died as death:
            self.shells.pop(waiting[0][1].process)
            raise Wrong(waiting[-1][0], 'died', str(death)) from None
        for (at, step, wanted), answer in zip(waiting, answers):
            try:
                compare(step, wanted, answer)
            except Difference as difference:
                raise Wrong(at, difference.kind, difference.text) from None

    # ----------------------------------------------- processes come and go --

    def life(self, step):
        try:
            if step.what == 'open':
                self.open(step)
            elif step.what == 'quit':
                self.quit(step.process)
            elif step.what == 'parts':
                self.distribute(step)
            else:
                return self.kill(step)
        except Died as death:
            raise Wrong(self.at, 'died', str(death)) from None
        return None

    def open(self, step):
        self.quit(step.process)
        self.shells[step.process] = Shell(self.options, self.path, step.settings)

    def distribute(self, step):
        for process in ('a', 'b'):
            self.quit(process)
        self.folders += 1
        folder = os.path.join(self.folder, f'parts{self.folders}')
        shell = Shell(self.options, self.path, step.settings)
        said = shell.command(f".distribute '{folder}' {self.options.parts} {step.letters}")
        shell.quit()
        if said:
            raise Wrong(self.at, 'not distributed', said.decode(errors='replace'))
        self.path = folder

    def quit(self, process):
        if process in self.shells:
            self.shells.pop(process).quit()
        self.peers.end(process)

    def kill(self, step):
        """A process dies in the middle of a statement: the next one finds what
        was before it or what was after it, and never anything else."""
        before, (after, ends) = self.dump('-'), self.peer_after(step)
        shell = self.shell(step.process)
        shell.add(step.party[1:], step.node.sql(''))
        shell.write(b''.join(shell.lines))
        time.sleep(step.delay)
        shell.kill()
        self.shells[step.process] = Shell(self.options, self.path, step.settings)
        kept = self.shows(step.process, after)
        if not kept and not self.shows(step.process, before):
            raise Wrong(self.at, 'lost', f'neither the state before nor the one after; '
                                         f'expected {after}\n  or {before}')
        connection = self.peers.of(step.party)
        if connection.in_transaction:
            connection.execute('COMMIT' if kept and ends else 'ROLLBACK')
        self.peers.end(step.process)
        return kept and ends

    def peer_after(self, step):
        """Runs a statement of a party that dies, in a transaction that stays open; returns
        what is committed where the statement comes to its end, and whether it commits."""
        connection, sql = self.peers.of(step.party), step.node.sql('sqlite')
        if connection.in_transaction:
            commits = sql == 'COMMIT'
            return self.dump(step.party if commits else '-'), commits
        try:
            self.peers.run(step.party, 'BEGIN IMMEDIATE')
            self.peers.run(step.party, sql)
        except Refused:
            pass
        return self.dump(step.party), True

    def dump(self, party):
        """{name: (columns, rows)} of all tables, views and indexes as a party of sqlite3's sees
        them; of a view or an index nothing but its name."""
        connection = self.peers.of(party)
        found = {}
        for kind, name in self.peers.run(party, 'SELECT type, name FROM sqlite_master'):
            if kind in ('view', 'index') and not name.startswith('sqlite_'):
                found[name] = None
            if kind == 'table':
                asked = connection.execute(f'SELECT * FROM {name}')
                columns = [column[0] for column in asked.description]
                letters = [COLUMNS[c][0] for c in columns]
                found[name] = columns, from_sqlite(asked.fetchall(), letters)
        return found

    def shows(self, process, tables):
        """Whether a new shell finds these tables, views and indexes, and no others."""
        shell = self.shells[process]
        schema = shell.command('.schema').decode()
        indexes = re.findall(r'^CREATE (?:UNIQUE )?INDEX (\w+) ON', schema, re.MULTILINE)
        if {*shell.command('.tables').decode().split(), *indexes} != set(tables):
            return False
        for name, about in tables.items():
            if about is not None:
                columns = [row[0] for row in shell.ask('0', f'DESCRIBE {name}')]
                rows = shell.ask('0', f'SELECT * FROM {name}')
                if columns != about[0] or not same(rows, about[1], False):
                    return False
        return True


def compare(step, wanted, answer):
    """Raises what is different."""
    try:
        got = rows_or_raise(answer)
    except Refused as error:
        got = error
    if isinstance(wanted, Refused) and 'interrupted' in str(wanted):
        return
    refused = [isinstance(side, Refused) for side in (got, wanted)]
    if refused == [True, True]:
        compare_refusals(str(got), str(wanted))
    elif refused == [True, False]:
        raise Difference('refused: ' + message_kind(str(got)), str(got))
    elif refused == [False, True]:
        if step.what != 'change' and str(wanted) == 'integer overflow':
            return  # sqlite3's sum() fails where a part of it is too large, vdbq's where all is
        raise Difference('accepted: ' + message_kind(str(wanted)),
                         f'sqlite3 says: {wanted}')
    elif step.what != 'change':
        wanted = from_sqlite(wanted, step.letters)
        if not same(got, wanted, step.what == 'ordered'):
            raise Difference('wrong rows', f'expected {shown(wanted)}\n  got {shown(got)}')


def compare_refusals(got, wanted):
    if refusal(got) != refusal(wanted):
        raise Difference(f'refused otherwise: {refusal(got)}',
                         f'sqlite3 says: {wanted}\n  vdbq says: {got}')

# SPDX-License-Identifier: MIT
"""Engines that take SQL and give rows: the shell of vdbq, sqlite3, DuckDB."""
import os
import re
import select
import shlex
import signal
import sqlite3
import subprocess
import tempfile
import time

LITERAL = re.compile(rb"('(?:[^']|'')*'|[^',\n]*)([,\n]|\Z)")
OTHER = 'OTHER '
SETTINGS = {'VDBQ_TABLET_ROWS': ('0', '1', '2', '63', '64', '65'),
            'VDBQ_ENCODING': ('auto', 'plain', 'packed'), 'VDBQ_SKIP': ('on', 'off'),
            'VDBQ_MODE': ('auto', 'serial', 'streamed', 'mapped', 'cached'),
            'VDBQ_STEPS': ('auto', 'auto', 'device', 'host')}
# Of devices other than 'host', besides; a GPU cannot be limited to some cores.
DEVICE_SETTINGS = {'VDBQ_DEVICE_MEMORY': ('64K', '1M', '1G', '1G')}
CPU_SETTINGS = {'VDBQ_CORES': ('1', '2')}
STEPS_MAX = 20_000_000  # of sqlite3, then it gives a query up


def some_settings(rng, device):
    """Random variables of the environment of a shell on that device."""
    known = SETTINGS if device == 'host' else SETTINGS | DEVICE_SETTINGS
    if device == 'cpu':
        known |= CPU_SETTINGS
    return tuple((name, rng.choice(values)) for name, values in known.items())


class Refused(Exception):
    """The engine gave an error."""


class Died(Exception):
    """The engine ended or did not answer."""


class Vdbq:
    """A running shell with a database of its own; maybe `other` beside it, on
    another device, of another binary or set otherwise."""
    dialect = ''

    def __init__(self, options, device, other=None, binary=None):
        self.binary = binary or options.binary
        self.options, self.device, self.other = options, device, other
        self.process, self.count = None, 0
        self.folder = tempfile.TemporaryDirectory(prefix='differential')
        self.databases = 0

    def reset(self, tables, views=(), settings=()):
        """A new database with these tables and views; settings are variables of
        the environment, those of the other with OTHER before them."""
        own = tuple(s for s in settings if not s[0].startswith(OTHER))
        self.reset_own(tables, views, own)
        if self.other:
            self.other.reset(tables, views, tuple(
                (name[len(OTHER):], v) for name, v in settings if name.startswith(OTHER)))

    def reset_own(self, tables, views, settings):
        if self.process is None or settings != self.settings or self.databases % 50 == 0:
            self.close()
            self.start(settings)
        else:
            for line in self.made:
                self.run(line)
        self.databases += 1
        self.made = []
        for table in tables:
            self.made.append(f'DROP TABLE {table.name}')
            for statement in table.statements(self.dialect):
                self.run(statement)
        for name, node in views:
            self.run(f'CREATE VIEW {name} AS {node.sql(self.dialect)}')
            self.made.insert(0, f'DROP VIEW {name}')

    def start(self, settings):
        self.settings, self.made = settings, []
        path = os.path.join(self.folder.name, 'test.vdb')
        for name in os.listdir(self.folder.name):
            os.unlink(os.path.join(self.folder.name, name))
        environment = dict(os.environ) | dict(settings)
        command = [*shlex.split(self.binary), '--batch', '--no-sync', '--mode', 'quote',
                   '--device', self.device, path]
        self.errors, self.errors_read = tempfile.TemporaryFile(), 0
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, env=environment, bufsize=0,
                                        start_new_session=True)
        self.poll = select.poll()
        self.poll.register(self.process.stdout, select.POLLIN | select.POLLHUP)

    def run(self, sql):
        """The rows of a statement."""
        answer, message = self.answer(sql)
        if message:
            raise Refused(message)
        return rows_of(answer)

    def answer(self, sql):
        """What a statement prints, and its error; '' where there is none."""
        self.count += 1
        token = b'@@end-%d@@\n' % self.count
        try:
            self.process.stdin.write(sql.encode() + b';\n.print ' + token)
            answer = self.read_to(token)
        except BrokenPipeError:
            raise Died(self.last_words()) from None
        return answer, self.new_errors()

    def read_to(self, token):
        answer, end = b'', time.monotonic() + self.options.timeout
        while not answer.endswith(token):
            if not self.poll.poll(max(0.0, end - time.monotonic()) * 1000):
                self.close()
                raise Died(f'no answer in {self.options.timeout} s')
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                raise Died(self.last_words())
            answer += data
        return answer[:-len(token)]

    def last_words(self):
        code, words = self.process.wait(), self.new_errors()[-1500:]
        self.close()
        return f'the shell ended with {code} {words}'

    def new_errors(self):
        size = os.fstat(self.errors.fileno()).st_size
        if size == self.errors_read:
            return ''
        text = os.pread(self.errors.fileno(), size - self.errors_read, self.errors_read)
        self.errors_read = size
        return text.decode('utf-8', errors='replace').strip()

    def close(self):
        """Ends the shell."""
        if self.other:
            self.other.close()
        if self.process is None:
            return
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.errors.close()
        self.process = None


def scalar(text):
    """The value of an SQL literal."""
    if text.startswith(b"'"):
        return text[1:-1].replace(b"''", b"'").decode('utf-8', errors='replace')
    if text in (b'NULL', b'TRUE', b'FALSE', b'true', b'false'):
        return {b'N': None, b'T': 1, b't': 1, b'F': 0, b'f': 0}[text[:1]]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text.decode('utf-8', errors='replace')


def rows_of(answer):
    """The rows of an answer in quote mode."""
    rows, row, at = [], [], 0
    while at < len(answer):
        match = LITERAL.match(answer, at)
        row.append(scalar(match.group(1)))
        if match.group(2) != b',':
            rows.append(tuple(row))
            row = []
        at = match.end()
    return rows


class Sqlite:
    """sqlite3 in memory."""
    dialect = 'sqlite'

    def reset(self, tables, views=(), settings=()):
        del settings
        self.connection = sqlite3.connect(':memory:', isolation_level=None)
        self.steps = 0
        self.connection.set_progress_handler(self.step, 1000)
        for table in tables:
            for statement in table.statements(self.dialect):
                self.run(statement)
        for name, node in views:
            self.run(f'CREATE VIEW {name} AS {node.sql(self.dialect)}')

    def step(self):
        self.steps += 1000
        return self.steps > STEPS_MAX

    def run(self, sql):
        self.steps = 0
        try:
            return self.connection.execute(sql).fetchall()
        except (sqlite3.Error, OverflowError) as error:
            raise Refused(str(error)) from None

    def close(self):
        self.connection.close()


class DuckDB:
    """DuckDB in memory."""
    dialect = 'duckdb'

    def __init__(self):
        import duckdb
        self.duckdb, self.connection = duckdb, None

    def reset(self, tables, views=(), settings=()):
        del settings
        if self.connection:
            self.connection.close()
        self.connection = self.duckdb.connect(
            config={'threads': 1, 'order_by_non_integer_literal': True})
        self.run("SET default_null_order = 'nulls_first_on_asc_last_on_desc'")
        self.run('SET error_on_division_by_zero = false')
        for table in tables:
            for statement in table.statements(self.dialect):
                self.run(statement)
        for name, node in views:
            self.run(f'CREATE VIEW {name} AS {node.sql(self.dialect)}')

    def run(self, sql):
        try:
            rows = self.connection.execute(sql).fetchall()
        except (self.duckdb.Error, OverflowError) as error:
            raise Refused(str(error)) from None
        return [tuple(map(plain, row)) for row in rows]

    def close(self):
        self.connection.close()


def plain(value):
    """A value of DuckDB's as one of ours."""
    if isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, (int, float, str)):
        return value
    name = type(value).__name__
    return float(value) if name == 'Decimal' else str(value)

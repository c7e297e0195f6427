#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs SQL tests in the sqllogictest form through the shell.

    slt.py [options] BINARY FILE...

BINARY is split like a command line, so that it may name a wrapper, too. Each
file gets a database of its own. Records end at a blank line:

    statement ok            query IRT [rowsort|valuesort]
    SQL                     SQL
                            ----
    statement error REGEX   1  0.500  text      a row a line, or a value a line
    SQL

The regex may also stand after a line "----". Letters say how a column is
written: I as an integer, R with three decimals, T as it is. "skipif vdbq",
"onlyif NAME", "halt" and "N values hashing to MD5" are understood.
"""
import hashlib
import os
import re
import select
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import shell_options

LITERAL = re.compile(r"('(?:[^']|'')*'|[^',\n]*)([,\n]|\Z)")
HASH = re.compile(r'(\d+) values hashing to ([0-9a-f]{32})')
INSTRUCTION = re.compile(r"^'\s*\d+  (\S+) +(\S+)", re.M)
ERROR = re.compile(r'^\s*error\b', re.I | re.M)
SHELLS_LINE = re.compile(r'(?<=^error: )line \d+[:,] ')  # it counts what --new-builds asks, too


class Died(Exception):
    """The shell ended or did not answer."""


# --------------------------------------------------------------- records --

class Record:
    """One statement or query of a test file and what it must give."""
    names = ['vdbq']  # those that "skipif" and "onlyif" mean

    def __init__(self, line, block):
        self.line, self.skip = line, False
        while block[0].startswith(('skipif', 'onlyif')):
            mine = block[0].split()[1:2] in ([name] for name in Record.names)
            self.skip |= mine == block[0].startswith('skipif')
            block = block[1:] or ['skip']
        head, body = block[0].split(), block[1:]
        cut = body.index('----') if '----' in body else len(body)
        self.sql, self.expected = '\n'.join(body[:cut]), body[cut + 1:]
        self.kind = head[0]
        if self.kind == 'query' and head[1:2] == ['error']:
            self.kind, head = 'statement', ['statement', 'error']
        if self.kind == 'statement':
            self.wants_error = head[1:2] == ['error']
            self.pattern = ' '.join(head[2:]) or '\n'.join(self.expected)
        elif self.kind == 'query':
            self.types = head[1] if len(head) > 1 else ''
            self.sort = next((w for w in head[2:] if w in ('rowsort', 'valuesort')), 'nosort')
        else:
            self.skip |= self.kind != 'halt'


def read_records(path):
    """The records of a file, up to "halt"."""
    block, start = [], 0
    lines = path.read_text('utf-8', errors='replace').splitlines()
    for number, line in enumerate(lines + [''], 1):
        if line.startswith('#') and (not block or line.startswith('# ')):
            continue
        if line.strip():
            start = start if block else number
            block.append(line.rstrip('\r'))
        elif block:
            record, block = Record(start, block), []
            if record.kind == 'halt' and not record.skip:
                return
            yield record


# ----------------------------------------------------------------- shell --

class Shell:
    """A running shell that is sent a statement at a time."""

    def __init__(self, options, database):
        command = [*shlex.split(options.binary), '--batch', '--mode', 'quote',
                   *shlex.split(options.flags), database]
        self.timeout = options.timeout
        self.count = 0
        self.errors, self.errors_read = tempfile.TemporaryFile(), 0
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, env=shell_options.environment(options),
                                        bufsize=0, start_new_session=True)
        self.poll = select.poll()
        self.poll.register(self.process.stdout, select.POLLIN | select.POLLHUP)

    def run(self, sql):
        """(error text or '', answer text) of one statement."""
        self.count += 1
        token = f'@@end-{self.count}@@'.encode()
        try:
            text = sql.rstrip().rstrip(';') + ';\n'
            self.process.stdin.write(text.encode() + b'.print ' + token + b'\n')
            answer = self.read_to(token + b'\n')
        except BrokenPipeError:
            raise Died(self.last_words()) from None
        message = self.new_errors()
        return (message if ERROR.search(message) else ''), answer

    def command(self, text):
        """Sends a dot command, which answers nothing."""
        self.process.stdin.write(text.encode() + b'\n')

    def read_to(self, token):
        answer, end = b'', time.monotonic() + self.timeout
        while not answer.endswith(token):
            if not self.poll.poll(max(0.0, end - time.monotonic()) * 1000):
                self.kill()
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                raise Died(self.last_words())
            answer += data
        return answer[:-len(token)].decode('utf-8', errors='replace')

    def last_words(self):
        code = self.process.wait()
        words = self.new_errors()[-2000:]
        return f'the shell ended with {code} (-9: no answer in {self.timeout} s) {words}'

    def new_errors(self):
        """What was written to stderr since the last call; the file's own
        position is the shell's, who writes there."""
        size = os.fstat(self.errors.fileno()).st_size
        if size == self.errors_read:
            return ''
        text = os.pread(self.errors.fileno(), size - self.errors_read, self.errors_read)
        self.errors_read = size
        return text.decode('utf-8', errors='replace').strip()

    def kill(self):
        """Ends the shell and what it runs under."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def close(self):
        """Ends the shell; returns its exit code."""
        try:
            self.process.stdin.close()
            return self.process.wait(self.timeout)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            self.kill()
            return self.process.wait()
        finally:
            self.process.stdout.close()
            self.errors.close()


# ---------------------------------------------------------------- builds --

class Builds:
    """Chooses the statements that are worth builds of their own: those with an
    instruction that none before had, of whatever type, for what is made for a program
    is made instruction by instruction, and the self-test builds each of every type;
    and one in SHARE of the others, for the compiler sees them together."""
    SHARE = 80

    def __init__(self):
        self.seen, self.lock = set(), threading.Lock()

    def choose(self, shell, sql):
        """Has the shell specialise the programs of a statement, or not; of
        several that are one record, always: EXPLAIN would run all but one."""
        several = ';' in sql.rstrip().rstrip(';')
        error, steps = ('', '') if several else shell.run('explain ' + sql)
        instructions = set(instructions_of(steps))
        chosen = zlib.crc32(sql.encode()) % self.SHARE == 0
        with self.lock:
            new = several or bool(error) or not instructions <= self.seen
            self.seen |= instructions
        shell.command('.build ' + ('specialised' if new or chosen else 'interpreted'))


def instructions_of(steps):
    """The instructions of the programs that EXPLAIN shows, without their types; columns
    of results with them."""
    for name, operand in INSTRUCTION.findall(steps):
        yield name + operand if name == 'ResultColumn' else name.split('.')[0]


# --------------------------------------------------------------- compare --

def scalar(text):
    """The value of an SQL literal."""
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    if text == 'NULL':
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def rows_of(answer):
    """The rows of an answer in quote mode."""
    rows, row, at = [], [], 0
    while at < len(answer):
        match = LITERAL.match(answer, at)
        if not match:
            raise ValueError(f'no SQL literal: {answer[at:at + 40]!r}')
        row.append(scalar(match.group(1)))
        if match.group(2) != ',':
            rows.append(row)
            row = []
        at = match.end()
    return rows


def written(value, letter):
    """A value as a test file writes it in a column of that letter."""
    if value is None:
        return 'NULL'
    if letter == 'I' and isinstance(value, float):
        return str(int(value))
    if letter == 'I' and isinstance(value, str):
        number = re.match(r'\s*([+-]?\d+)', value)
        return str(int(number.group(1))) if number else '0'
    if letter == 'R' and not isinstance(value, str):
        return f'{value:.3f}'
    if isinstance(value, float):
        return f'{value:.15g}'
    return str(value) or '(empty)'


def equal(got, wanted):
    """Whether a cell is the wanted one; numbers to a billionth."""
    if got == wanted:
        return True
    try:
        a, b = float(got), float(wanted)
    except ValueError:
        return False
    return abs(a - b) <= 1e-9 * max(1.0, abs(b))


def split_expected(lines, width):
    """Expected cells, row by row: a row a line, or a value a line."""
    cells = [line.split('\t') if '\t' in line else line.split() for line in lines]
    if all(len(row) == width for row in cells):
        return cells
    return [lines[i:i + width] for i in range(0, len(lines), width)]


def compare(record, answer):
    """'' if the answer is the expected one, else what is wrong with it."""
    values = rows_of(answer)
    width = len(record.types)
    if any(len(row) != width for row in values):
        return f'columns: expected {width}, got {len(values[0])}'
    rows = [[written(v, t) for v, t in zip(row, record.types)] for row in values]
    if record.sort == 'rowsort':
        rows.sort()
    flat = [cell for row in rows for cell in row]
    if record.sort == 'valuesort':
        flat.sort()
    match = HASH.fullmatch(record.expected[0]) if len(record.expected) == 1 else None
    if match:
        digest = hashlib.md5(''.join(cell + '\n' for cell in flat).encode()).hexdigest()
        right = (str(len(flat)), digest) == match.groups()
        return '' if right else f'expected {match.group()}, got {len(flat)} values, {digest}'
    return compare_cells(record, values, rows, flat)


def compare_cells(record, values, rows, flat):
    """compare() for answers that are written out."""
    if flat == record.expected:
        return ''
    wanted = split_expected(record.expected, max(1, len(record.types)))
    exact = [[written(v, 'T') for v in row] for row in values]
    if record.sort == 'rowsort':
        exact.sort()
        wanted.sort()
    for form in (rows, exact):
        if len(form) == len(wanted) and all(
                len(g) == len(w) and all(map(equal, g, w)) for g, w in zip(form, wanted)):
            return ''
    return f'expected {record.expected[:8]}, got {[" ".join(row) for row in exact[:8]]}'


# ------------------------------------------------------------------- run --

class Result:
    """What a file came to."""

    def __init__(self):
        self.passed, self.failed, self.skipped = 0, 0, 0
        self.faults, self.answers = [], []


def judge(record, error, answer):
    """'' if a record went as it should, else the fault."""
    if record.kind == 'query':
        return error or compare(record, answer)
    if not record.wants_error:
        return error
    if not error:
        return 'an error was expected'
    if record.pattern and not re.search(record.pattern, error):
        return f'another error was expected: {record.pattern!r}, got {error!r}'
    return ''


def run_record(record, shell, options, result, blocked):
    """Runs one record; returns whether what follows in the file is blocked."""
    tree = record.sql.startswith('explain (tree)')
    explains = record.sql.lower().startswith('explain')
    if options.new_builds:
        options.builds.choose(shell, record.sql)
    error, answer = shell.run(record.sql)
    if (tree and options.no_trees) or (explains and options.no_explain):
        result.skipped += 1
        return blocked
    if not tree:
        said = SHELLS_LINE.sub('', error)
        result.answers.append(f'{record.line}: {said}\n{answer}')
    try:
        fault = judge(record, error, answer)
    except ValueError as unreadable:
        fault = str(unreadable)
    if not fault:
        result.passed += 1
    elif options.refusals_ok and (error or blocked):
        result.skipped += 1
        return blocked or record.kind == 'statement'
    else:
        result.failed += 1
        result.faults.append((record.line, fault, record.sql))
    return blocked


def run_file(path, options):
    result = Result()
    with tempfile.TemporaryDirectory(prefix='slt') as folder:
        shell = Shell(options, os.path.join(folder, 'test.vdb'))
        line, blocked = 0, False
        try:
            for record in read_records(path):
                line = record.line
                if record.skip:
                    result.skipped += 1
                else:
                    blocked = run_record(record, shell, options, result, blocked)
        except Died as death:
            result.failed += 1
            result.faults.append((line, str(death), record.sql))
        finally:
            code = shell.close()
        if code not in (0, 1) and not result.failed:
            result.failed += 1
            result.faults.append((line, f'the shell ended with {code}', ''))
    return result


def main():
    parser = shell_options.parser(__doc__, 'record')
    parser.add_argument('--refusals-ok', action='store_true',
                        help='an error skips the record and what depends on it')
    parser.add_argument('--also', metavar='NAME', action='append', default=[],
                        help='a name that skipif and onlyif may mean, too')
    parser.add_argument('--answers', type=Path,
                        help='write every answer but trees here, to compare')
    parser.add_argument('--no-trees', action='store_true',
                        help='do not look at EXPLAIN (TREE), whose steps depend on the memory')
    parser.add_argument('--no-explain', action='store_true',
                        help='do not look at EXPLAIN, which tells what runs where')
    parser.add_argument('--new-builds', action='store_true',
                        help='specialise what no statement before had, interpret the rest')
    options = parser.parse_args()
    options.builds = Builds()
    Record.names = Record.names + options.also
    total = Result()
    with ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda path: run_file(path, options), options.files)
        for path, result in zip(options.files, results):
            total.passed += result.passed
            total.failed += result.failed
            total.skipped += result.skipped
            total.answers += [f'== {path.name}\n', *result.answers]
            for line, fault, sql in result.faults:
                print(f'{path}:{line}: {fault}\n    ' + sql.replace('\n', '\n    ')[:500])
    if options.answers:
        options.answers.write_text(''.join(total.answers), 'utf-8')
    if total.skipped:
        print(f'{total.skipped} skipped')
    print(f'{total.passed} passed, {total.failed} failed')
    return 1 if total.failed else 0


if __name__ == '__main__':
    sys.exit(main())

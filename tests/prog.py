#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs opcode programs through the shell and compares their rows.

    prog.py [options] BINARY FILE...

BINARY is split like a command line, so that it may name a wrapper, too. A
file holds programs in the text form that EXPLAIN prints, and lines about
them, which are comments to vdbq:

    # program: NAME      a program starts; the next such line ends it
    # table: SQL;        is run before; above the first program: before each
    # expect: 1,NULL     a row of the answer, in quote mode, in order
    # error: REGEX       the program is refused, or fails, with this message

A program must give the rows expected, none if none are, before it fails. A
file without "# program" lines is one program.
"""
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import shell_options

NOTE = re.compile(r'# (program|table|expect|error): ?(.*)')


class Program:
    """A program of a file and what it must give."""

    def __init__(self, path, line, name, tables=()):
        self.place, self.name = f'{path}:{line}', name
        self.tables, self.expected, self.error = list(tables), [], None
        self.lines = []

    def note(self, kind, text):
        if kind == 'table':
            self.tables.append(text)
        elif kind == 'expect':
            self.expected.append(text)
        else:
            self.error = text


def read_programs(path):
    """The programs of a file."""
    head = current = Program(path, 1, path.stem)
    programs = []
    for number, line in enumerate(path.read_text('utf-8').splitlines(), 1):
        match = NOTE.fullmatch(line)
        if match and match.group(1) == 'program':
            current = Program(path, number, match.group(2), head.tables)
            programs.append(current)
        elif match:
            current.note(*match.groups())
        else:
            current.lines.append(line)
    return programs or [head]


def run(program, options):
    """(exit code, rows, messages) of a program in a new database."""
    with tempfile.NamedTemporaryFile('w', suffix='.prog', encoding='utf-8') as text:
        text.write('\n'.join(program.lines) + '\n')
        text.flush()
        command = [*shlex.split(options.binary), '--batch', '--mode', 'quote',
                   *shlex.split(options.flags)]
        for sql in program.tables:
            command += ['-c', sql]
        done = subprocess.run([*command, '--program', text.name], check=False,
                              capture_output=True, text=True, timeout=options.timeout,
                              env=shell_options.environment(options))
    return done.returncode, done.stdout.splitlines(), done.stderr.strip()


def judge(program, options):
    """'' if the program did what it should, else what it did."""
    try:
        code, rows, messages = run(program, options)
    except subprocess.TimeoutExpired:
        return f'no answer in {options.timeout} s'
    if program.error is None:
        if code or messages:
            return f'exit code {code}: {messages}'
        return '' if rows == program.expected else f'expected {program.expected}, got {rows}'
    if code != 1 or rows != program.expected:
        return f'an error was expected behind {program.expected}, got exit code {code}, ' \
            f'{rows} {messages}'
    if not re.search(program.error, messages):
        return f'another error was expected: {program.error!r}, got {messages!r}'
    return ''


def main():
    parser = shell_options.parser(__doc__, 'program')
    parser.add_argument('--every', type=int, default=1, help='one of so many programs')
    options = parser.parse_args()
    programs = [program for path in options.files for program in read_programs(path)]
    programs = programs[::options.every]
    with ThreadPoolExecutor(options.jobs) as pool:
        faults = list(pool.map(lambda program: judge(program, options), programs))
    for program, fault in zip(programs, faults):
        if fault:
            print(f'{program.place}: {program.name}: {fault}')
    failed = sum(map(bool, faults))
    print(f'{len(faults) - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

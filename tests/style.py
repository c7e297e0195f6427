#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what a machine can check of the house style.

    style.py [ROOT]

No tabs, no blanks at the ends of lines, LF only, a newline at the end, no
line over 100 columns, no function over 70 lines, no file over 800 (tables
and grammars exempt), an SPDX line at the top, no notes of work put off. C files
are laid out as .clang-format says, where clang-format 14 is there to ask. Scripts in
Python have nothing that pyflakes3 finds, as names that stand for two functions.
"""
import re
import subprocess
import sys
from pathlib import Path

CLANG_FORMAT = 14  # others lay out otherwise
COLUMNS_MAX, FUNCTION_MAX, FILE_MAX = 100, 70, 800
CODE = {'.c', '.h', '.cl', '.y', '.l'}
SCRIPTS = {'.py', '.sh', '.build', '.txt', ''}
LONG_LINES_ALLOWED = {'tools/hits.sql', 'tools/join.sql', 'tools/log.sql', 'tools/queries.sql',
                      'tools/ssb.sql', 'tools/ten.sql', 'cl/opcodes.h'}  # a row a line
TABLE_ROW = re.compile(r'\s*[_X]\(')
PUT_OFF = re.compile(r'\b(TO' r'DO|FIX' r'ME|X' r'XX|HA' r'CK)\b')
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
SKIP = ('.git/', 'build', 'shared/')


def files(root):
    """The text files of the tree that the checks are about."""
    listed = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard'], cwd=root,
                            capture_output=True, text=True, check=False)
    names = listed.stdout.splitlines() if listed.returncode == 0 else \
        [str(p.relative_to(root)) for p in root.rglob('*') if p.is_file()]
    return sorted(n for n in names if not n.startswith(SKIP) and (root / n).is_file()
                  and Path(n).suffix in CODE | SCRIPTS | {'.sql', '.md'})


def check_lines(name, text):
    """Faults of single lines."""
    for number, line in enumerate(text.split('\n'), 1):
        if '\t' in line:
            yield number, 'a tab'
        if line.endswith((' ', '\r')):
            yield number, 'a blank or carriage return at the end of the line'
        if len(line) > COLUMNS_MAX and not name.endswith('.md') \
                and name not in LONG_LINES_ALLOWED and not TABLE_ROW.match(line):
            yield number, f'{len(line)} columns'
        if PUT_OFF.search(line):
            yield number, 'a note of work put off'


def check_file(name, text):
    """Faults of the file as a whole."""
    lines = text.split('\n')
    if not text.endswith('\n') or text.endswith('\n\n'):
        yield len(lines), 'the file must end with one newline'
    if Path(name).suffix in CODE and 'SPDX-License-Identifier' not in '\n'.join(lines[:3]):
        yield 1, 'no SPDX line at the top'
    if Path(name).suffix in CODE - {'.y', '.l'} and len(lines) > FILE_MAX \
            and not is_table(lines):
        yield len(lines), f'{len(lines)} lines in one file'


def is_table(lines):
    """Whether most of a file is a table: rows of a macro list."""
    return sum(bool(TABLE_ROW.match(line)) for line in lines) * 2 > len(lines)


def check_functions(name, text):
    """Functions (blocks at file level that follow a closing parenthesis) that are too long."""
    clean = NOT_CODE.sub(lambda match: re.sub(r'[^\n]', ' ', match.group()), text)
    depth, start, before = 0, 0, ''
    for number, line in enumerate(clean.split('\n'), 1):
        if line.lstrip().startswith('#'):
            continue
        for character in line:
            if character == '{':
                if depth == 0:
                    start = number if before == ')' else 0
                depth += 1
            elif character == '}':
                depth = max(0, depth - 1)
                if depth == 0 and start and number - start > FUNCTION_MAX:
                    yield start, f'a function of {number - start + 1} lines'
            if not character.isspace():
                before = character


def badly_laid_out(root, names):
    """The C files that clang-format would lay out otherwise."""
    try:
        version = subprocess.run(['clang-format', '--version'], capture_output=True, text=True,
                                 check=False).stdout
    except FileNotFoundError:
        return set()
    if f' {CLANG_FORMAT}.' not in version:
        return set()
    done = subprocess.run(['clang-format', '--dry-run', *names], cwd=root, capture_output=True,
                          text=True, check=False)
    return set(re.findall(r'^(\S+?):\d+:\d+: warning', done.stderr, re.M))


def doubtful_scripts(root, names):
    """What pyflakes3 finds in scripts: pairs of a name and a fault."""
    try:
        done = subprocess.run(['pyflakes3', *names], cwd=root, capture_output=True, text=True,
                              check=False)
    except FileNotFoundError:
        return []
    return [(line.split(':')[0], line) for line in (done.stdout + done.stderr).splitlines()
            if ':' in line]


def is_python(name, root):
    """Whether a file is a script in Python, by its name or its first line."""
    if Path(name).suffix:
        return name.endswith('.py')
    with open(root / name, 'rb') as file:
        return file.readline().startswith(b'#!/usr/bin/env python3')


def check(name, root):
    """All faults of a file, as text."""
    try:
        text = (root / name).read_bytes().decode('utf-8')
    except UnicodeDecodeError as error:
        return [f'{name}: not UTF-8: {error}']
    if not text:
        return []
    faults = [*check_lines(name, text), *check_file(name, text)]
    if Path(name).suffix in {'.c', '.cl'}:
        faults += check_functions(name, text)
    return [f'{name}:{number}: {fault}' for number, fault in faults]


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else '.').resolve()
    names = files(root)
    faults = {name: found for name in names if (found := check(name, root))}
    laid_out = [name for name in names if Path(name).suffix in {'.c', '.h'}]
    for name in badly_laid_out(root, laid_out):
        faults.setdefault(name, []).append(f'{name}: run clang-format -i on it')
    for name, fault in doubtful_scripts(root, [n for n in names if is_python(n, root)]):
        faults.setdefault(name, []).append(fault)
    for found in faults.values():
        print('\n'.join(found))
    print(f'{len(names) - len(faults)} passed, {len(faults)} failed')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())

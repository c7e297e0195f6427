#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the examples of pages and compares what they give.

    sql_page.py [--write] BINARY

The pages are docs/sql.md and others of docs/ that have examples.

An example is a row of a table whose last two cells are an expression and its
value, each alone in backticks, or a ```sql block, in which lines that start
with "-- " follow a statement and say what it gives. A ```text block behind a
```sql block without such lines has all that it gives. Values are in the shell's
format `quote` unless `.mode` says otherwise; "-- ..." at the end is anything.
All blocks of a page share one database. --write puts what is given in place of
what the page says.

A function, operator or type that the sources name, or a word of the grammar,
without an example in docs/sql.md is a failure, too. The last line is "N passed,
N failed".
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

from functions.forms import all_forms
from shell_options import HANG_SECONDS

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ('sql.md', 'architecture.md', 'adding-a-function.md')
BLOCK = re.compile(r'^```sql\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?', re.M | re.S)
ROW = re.compile(r'^(\|.*\| `)([^`]+)(` \| `)([^`]*)(` \|)$', re.M)
STEP = re.compile(r'((?:^(?!-- ).*\n)+)((?:^-- .*\n)*)', re.M)
WORDS = re.compile(r'^((?:"[a-z]+"\s*\|?\s*)+)\{ return TOKEN_(?!RESERVED)', re.M)
SEPARATOR = '@@end@@'
REST = '-- ...\n'          # what follows is not the same each time
NOT_CALLED = {'ilike'}  # a function by name, which the grammar has as an operator alone


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary')
    parser.add_argument('--write', action='store_true')
    return parser.parse_args()


class Example:
    """A piece of SQL and where on the page its outcome stands."""

    def __init__(self, sql, place, kind):
        self.sql, self.expected, self.start, self.end = sql, *place
        self.kind = kind  # 'cell', 'comment' or 'block'

    def outcome(self, given):
        """What the page should say, in its own form."""
        if self.kind == 'comment' and self.expected.endswith(REST):
            count = self.expected.count('\n') - 1
            return self.lines(given.splitlines()[:count]) + REST
        if self.kind == 'comment':
            return self.lines(given.splitlines())
        if self.kind == 'block':
            return given
        return given.rstrip('\n').replace('|', '\\|')

    @staticmethod
    def lines(given):
        return ''.join(f'-- {line}'.rstrip() + '\n' for line in given)


def place(match, group, base=0):
    """What a group of a match says, and where it stands."""
    return match.group(group), base + match.start(group), base + match.end(group)


def examples(text):
    """All examples, in the page's order."""
    found = []
    for block in BLOCK.finditer(text):
        if block.group(2) is not None:
            found.append(Example(block.group(1), place(block, 2), 'block'))
            continue
        for step in STEP.finditer(block.group(1)):
            found.append(Example(step.group(1), place(step, 2, block.start(1)), 'comment'))
    for row in ROW.finditer(text):
        expression = row.group(2).replace('\\|', '|')
        found.append(Example(f'select {expression};\n', place(row, 4), 'cell'))
    return sorted(found, key=lambda example: example.start)


def run(binary, found):
    """What each example gives; of an error its first line, without the place."""
    lines = ''.join(f'{example.sql}.print {SEPARATOR}\n' for example in found)
    with tempfile.TemporaryDirectory(prefix='sql_page') as folder:
        done = subprocess.run([pathlib.Path(binary).resolve(), '--batch', '--mode', 'quote',
                               '--device', 'host'], input=lines, cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              timeout=HANG_SECONDS)
    given = done.stdout.split(f'{SEPARATOR}\n')[:-1]
    if len(given) != len(found):
        sys.exit(f'the shell ended after {len(given)} examples: {done.returncode}\n'
                 '0 passed, 1 failed')
    return [without_place(text) for text in given]


def without_place(text):
    match = re.search(r'^error: (?:line \d+(?:, column \d+)?: )?(.*)$', text, re.M)
    return text[:match.start()] + f'error: {match.group(1)}\n' if match else text


# ----------------------------------------------------------------- names --

def missing(found):
    """What the sources name and no example uses."""
    used = ' '.join(example.sql for example in found).lower()
    names = {form.name.removeprefix('cast ').removeprefix('bits ').split('(')[0]: form
             for form in all_forms(ROOT)}
    for name, form in sorted(names.items()):
        if name not in NOT_CALLED and not re.search(pattern(name, form), used):
            yield name
    for words in WORDS.findall((ROOT / 'parser' / 'sql.l').read_text()):
        for word in re.findall('[a-z]+', words):
            if not re.search(rf'\b{word}\b', used):
                yield word.upper()


def pattern(name, form):
    """How a use of a function, a type, or an operator looks."""
    if form.text.startswith(name + '('):
        return rf'\b{name} ?\('
    return '.*?'.join(rf'\b{re.escape(word)}\b' if word.isalpha() else re.escape(word)
                      for word in name.lower().split())


def check(page, options):
    """Runs a page; how many of its examples are right and wrong."""
    text = page.read_text('utf-8')
    found = examples(text)
    passed, failed = 0, 0
    for example, given in reversed([*zip(found, run(options.binary, found))]):
        outcome = example.outcome(given)
        if options.write:
            text = text[:example.start] + outcome + text[example.end:]
        elif outcome == example.expected:
            passed += 1
        else:
            failed += 1
            print(f'{page.name}:\n{example.sql}gives\n{outcome}\nnot\n{example.expected}\n')
    if options.write:
        page.write_text(text, 'utf-8')
    for name in missing(found) if page.name == PAGES[0] else ():
        failed += 1
        print(f'{page.name} has no example of {name}')
    return passed, failed


def main():
    options = arguments()
    pages = [page for name in PAGES if (page := ROOT / 'docs' / name).exists()]
    passed, failed = map(sum, zip(*(check(page, options) for page in pages)))
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

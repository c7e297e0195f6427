#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the examples of docs/sql.md and compares what they give.

    sql_page.py [--write] BINARY

An example is a row of a table whose last two cells are an expression and its
value, each alone in backticks, or a ```sql block, in which lines that start
with "-- " follow a statement and say what it gives. Values are in the shell's
format `quote`; "-- ..." at the end is anything. All blocks share one database.
--write puts what is given in place of what the page says.

A function, operator or type that the sources name, or a word of the grammar,
without an example on the page is a failure, too. The last line is "N passed,
N failed".
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

from functions.forms import all_forms

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / 'docs' / 'sql.md'
BLOCK = re.compile(r'^```sql\n(.*?)^```$', re.M | re.S)
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

    def __init__(self, sql, expected, start, end, comment):
        self.sql, self.expected, self.start, self.end = sql, expected, start, end
        self.comment = comment

    def outcome(self, given):
        """What the page should say, in its own form."""
        if self.comment and self.expected.endswith(REST):
            count = self.expected.count('\n') - 1
            return self.lines(given.splitlines()[:count]) + REST
        if self.comment:
            return self.lines(given.splitlines())
        return given.rstrip('\n').replace('|', '\\|')

    @staticmethod
    def lines(given):
        return ''.join(f'-- {line}'.rstrip() + '\n' for line in given)


def examples(text):
    """All examples, in the page's order."""
    found = []
    for block in BLOCK.finditer(text):
        for step in STEP.finditer(block.group(1)):
            begin = block.start(1)
            found.append(Example(step.group(1), step.group(2), begin + step.start(2),
                                 begin + step.end(2), True))
    for row in ROW.finditer(text):
        expression = row.group(2).replace('\\|', '|')
        found.append(Example(f'select {expression};\n', row.group(4), row.start(4), row.end(4),
                             False))
    return sorted(found, key=lambda example: example.start)


def run(binary, found):
    """What each example gives; of an error its first line, without the place."""
    lines = ''.join(f'{example.sql}.print {SEPARATOR}\n' for example in found)
    with tempfile.TemporaryDirectory(prefix='sql_page') as folder:
        done = subprocess.run([pathlib.Path(binary).resolve(), '--batch', '--mode', 'quote',
                               '--device', 'host'], input=lines, cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              timeout=120)
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
    names = {form.name.removeprefix('cast ').split('(')[0]: form for form in all_forms(ROOT)}
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


def main():
    options = arguments()
    text = PAGE.read_text('utf-8')
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
            print(f'{example.sql}gives\n{outcome}\nnot\n{example.expected}\n')
    for name in missing(found):
        failed += 1
        print(f'docs/sql.md has no example of {name}')
    if options.write:
        PAGE.write_text(text, 'utf-8')
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what docs/architecture.md says of rooms and rules, and what the pages
say of options.

    pages.py [--write]

Its table of rooms is that of tests/floors.py. Its table of rules names for each
set of rules the file that has them and how many there are, and every rule that
the sources cite ("file rule 4") is one of them. --write puts both tables right.
Every row of the table of settings (src/base/settings.c) is told of in vdbq.h, in
docs/devices.md, with all its words, and in the manual page.
The last line is "N passed, N failed".
"""
import re
import sys
from pathlib import Path

import floors

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / 'docs' / 'architecture.md'
TABLE = r'(<!-- {} -->\n\|.*\n\|.*\n)((?:\|.*\n)*)'
ROW = re.compile(r'\| (\w+) \| \[(\S+)\]\(\S+\) \| (\d+) \| (.*) \|')
RULE = re.compile(r'^ ?\* +(?:\w+ rule )?(\d+)\. ', re.M)
CITED = re.compile(r'\b([a-z]+)[\s*]+rules?[\s*]+(\d+)((?:(?:,| and|, and| or)[\s*]+\d+)*)', re.I)
SETTINGS = ROOT / 'src' / 'base' / 'settings.c'
SETTING = re.compile(r'\{ \{ "(\w+)", "(VDBQ_\w+)",(.*?)\},\n(?= {4}/\*|\};)', re.S)
WORDS = re.compile(r'(\w+)\[\] = \{ (.*?\{ 0 \}) \}', re.S)
LISTED = re.compile(r'^ \*   (\w+)  ((?:.|\n \* {6})*?) +(VDBQ_\w+)$', re.M)  # in vdbq.h
PLAIN_WORDS = {'as', 'by', 'see', 'and', 'under'}  # before "rule 4" of the same file


def rooms():
    """Rows of the table of rooms."""
    for floor, names in floors.ROOMS.items():
        shown = ['the folder itself' if name == '.' else f'`{name}`' for name in names]
        yield f'| `{floor}` | {", ".join(shown)} |\n'


def count(path):
    """How many rules a file has, numbered from 1 on."""
    numbers = {int(number) for number in RULE.findall((ROOT / path).read_text())}
    return next(k for k in range(1, 100) if k not in numbers) - 1


def citations():
    """(file, name of the rules, number) of each rule that is cited."""
    for folder in ('src', 'cl', 'parser', 'tools'):
        for path in sorted((ROOT / folder).rglob('*')):
            if path.suffix in floors.SUFFIXES:
                for match in CITED.finditer(path.read_text('utf-8', 'replace')):
                    for number in [match.group(2), *re.findall(r'\d+', match.group(3))]:
                        yield path.relative_to(ROOT), match.group(1).lower(), int(number)


def rules(table):
    """Rows of the table of rules as they should be."""
    for line in table.splitlines():
        name, path, _, about = ROW.fullmatch(line).groups()
        yield name, f'| {name} | [{path}](../{path}) | {count(path)} | {about} |\n', count(path)


def settings():
    """(name, variable, words that are its values) of each setting."""
    text = SETTINGS.read_text()
    words = {name: re.findall(r'"(\w+)"', body) for name, body in WORDS.findall(text)}
    for name, variable, rest in SETTING.findall(text):
        kind = re.search(r'\.words = (\w+)', rest)
        yield name, variable, words[kind.group(1)] if kind else []


def untold():
    """What is missing, or None, for each setting and page that must tell of it."""
    header = (ROOT / 'src' / 'api' / 'vdbq.h').read_text()
    manual = (ROOT / 'tools' / 'vdbq.1').read_text()
    page = (ROOT / 'docs' / 'devices.md').read_text()
    listed = {(name, variable): text for name, text, variable in LISTED.findall(header)}
    for name, variable, words in settings():
        text = listed.get((name, variable))
        whole = text is not None and all(word in text for word in words)
        yield None if whole else f'vdbq.h: {name} ({variable}): its line, with {words}'
        yield None if re.search(rf'\b{variable}\b', manual) else f'vdbq.1: {variable}'
        row = re.search(rf'^.*`{variable}`.*', page, re.M)
        whole = row and all(f'`{word}`' in row.group(0) for word in words)
        yield None if whole else f'devices.md: {variable}: its row, with {words}'


def main():
    text, faults, passed = PAGE.read_text(), [], 0
    found = {name: re.search(TABLE.format(name), text) for name in ('rooms', 'rules')}
    known = [*rules(found['rules'].group(2))]
    right = {'rooms': ''.join(rooms()), 'rules': ''.join(row for _, row, _ in known)}
    for name, match in found.items():
        passed += match.group(2) == right[name]
        if match.group(2) != right[name]:
            faults.append(f'{PAGE.name}: the table of {name} is old: pages.py --write')
        text = text.replace(match.group(0), match.group(1) + right[name])
    most = {name: rules_count for name, _, rules_count in known}
    for path, name, number in citations():
        if name in PLAIN_WORDS:
            continue
        passed += 1 <= number <= most.get(name, 0)
        if not 1 <= number <= most.get(name, 0):
            faults.append(f'{path}: {name} rule {number}: {PAGE.name} has no such rule')
    for fault in untold():
        passed += fault is None
        faults += [f'{fault} is missing'] if fault else []
    if '--write' in sys.argv:
        PAGE.write_text(text)
    print('\n'.join(faults + [f'{passed} passed, {len(faults)} failed']))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())

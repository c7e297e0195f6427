#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The cases of letters: the tables are what Unicode says, and DuckDB agrees.

    letters.py BINARY [--seed N] [--sets N]

The tables of the source are made again of the files of Debian's package unicode-data, if
it has that version. All characters that have a case are changed, and looked for by
regular expressions that match letters in either case, alone and in random sets; DuckDB
does the same (RE2), where it is there. Letters that this Python does not know are left
out. The last line is "N passed, N failed".
"""
import argparse
import random
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TABLES = ROOT / 'src/program/letters'
UNICODE = Path('/usr/share/unicode')
# DuckDB gives it a capital, which has it as its small letter; Unicode does not.
ALONE = {'ß'}
CHANGES = (('unicode_lower(x)', 'lower(x)'), ('unicode_upper(x)', 'upper(x)'),
           ('strip_accents(x)', 'strip_accents(x)'))
SHOWN = 8
CLASSES = (r'\w', r'\W', r'\d', r'\D', r'\S', '[:lower:]', '[:^lower:]', '[:upper:]', '[:^upper:]',
           '[:alpha:]', '[:^alpha:]', '[:word:]', '[:^word:]', '[:^ascii:]', '[:^xdigit:]')


def check_tables():
    """Whether the tables are made of the files that are here; None: of others."""
    table = (TABLES / 'letter_table.h').read_text('utf-8')
    version = re.search(r'#define LETTER_UNICODE "(.*)"', table).group(1)
    named = f'CaseFolding-{version}.txt'
    if not (UNICODE / 'CaseFolding.txt').is_file() or \
            named not in (UNICODE / 'CaseFolding.txt').read_text('utf-8'):
        print(f'{UNICODE} has no Unicode {version}: the tables are not made again')
        return None
    done = subprocess.run([sys.executable, ROOT / 'tools/letters.py', '--check', UNICODE, TABLES],
                          check=False)
    return done.returncode == 0


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def ours(binary, expressions, letters):
    """The values of expressions of a column x that has the letters in one row."""
    script = ['create table t (x text);', f'insert into t values ({quoted(letters)});']
    script += [f'select {e} from t;' for e in expressions]
    done = subprocess.run([binary, '--device', 'host', '--batch', '--mode', 'list', '--no-header',
                           ':memory:'], input='\n'.join(script).encode(), capture_output=True,
                          check=True)
    return done.stdout.decode().split('\n')[:-1]


def theirs(expressions, letters):
    import duckdb
    connection = duckdb.connect(config={'threads': 1})
    connection.execute('create table t (x text)')
    connection.execute('insert into t values (?)', [letters])
    return [connection.execute(f'select {e} from t').fetchone()[0] for e in expressions]


def cased():
    """Characters with a case, and some without."""
    letters = [chr(c) for c in range(0x21, 0x110000)
               if not 0xd800 <= c < 0xe000 and unicodedata.category(chr(c)) != 'Cn']
    return [c for c in letters if c.swapcase() != c or c.casefold() != c or c.isascii()]


def random_set(rng, letters):
    """A set of some characters, ranges and classes."""
    parts = []
    for _ in range(rng.randrange(1, 4)):
        first = rng.randrange(len(letters))
        last = min(first + rng.choice((0, 0, 1, 5, 40, 700)), len(letters) - 1)
        char, end = f'\\x{{{ord(letters[first]):x}}}', f'\\x{{{ord(letters[last]):x}}}'
        parts.append(rng.choice((char, f'{char}-{end}', f'{char}-{end}', rng.choice(CLASSES))))
    return f'[{rng.choice(("", "^"))}{"".join(parts)}]'


def expressions_of(rng, letters, sets):
    patterns = [f'\\x{{{ord(c):x}}}' for c in letters]
    patterns += [random_set(rng, letters) for _ in range(sets)]
    patterns += [c if c[0] == '\\' else f'[{c}]' for c in CLASSES]
    return [f"regexp_replace(x, '(?i){p}', '', 'g')" for p in patterns]


def compare(binary, letters, asked):
    """What differs from DuckDB's answers, and how many do not."""
    text, pairs = ''.join(letters), [*CHANGES, *((e, e) for e in asked)]
    faults, passed = [], 0
    for our, their, pair in zip(ours(binary, [a for a, _ in pairs], text),
                                    theirs([b for _, b in pairs], text), pairs):
        other = sorted(set(our) ^ set(their))
        if pair in CHANGES:
            other = [c for c in zip(letters, our, their) if c[1] != c[2] and c[0] not in ALONE]
        passed += not other
        if other:
            faults.append(f'{pair[0]}: {other[:20]}')
    return faults, passed


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary')
    parser.add_argument('--seed', type=int, default=random.randrange(1 << 30))
    parser.add_argument('--sets', type=int, default=600)
    options = parser.parse_args()
    print(f'seed {options.seed}')
    letters, faults, passed = cased(), [], 0
    try:
        asked = expressions_of(random.Random(options.seed), letters, options.sets)
        faults, passed = compare(options.binary, letters, asked)
    except ImportError:
        print('DuckDB is not there: nothing is compared with it')
    made = check_tables()
    passed += made is True
    faults += ['the tables are not what Unicode says'] if made is False else []
    for fault in faults[:SHOWN]:
        print(fault)
    print(f'{passed} passed, {len(faults)} failed')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())

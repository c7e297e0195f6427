#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random patterns of LIKE and GLOB over thousands of words, and literals that these
contain, begin or end with, compared with sqlite3.

    patterns.py BINARY [--seed N] [--tables N] [--patterns N]

A part of the words of a table has one literal, so that it is rare in some tables and
in most words of others. The last line is "N passed, N failed".
"""
import argparse
import random
import sqlite3
import subprocess
import sys

LETTERS = 'abABxyz%_é-'
PIECES = ('%', '%', '%', 'a', 'b', 'ab', 'x', 'é', 'needle', 'nee', 'Y', '_')
SELECT = 'SELECT count(*), coalesce(sum(length(s)), 0) FROM t WHERE'
WORDS, SHOWN = 4000, 8
INSERTED = 500  # by one statement


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def words_of(rng):
    def word():
        return ''.join(rng.choice(LETTERS) for _ in range(rng.randrange(24)))
    words = {word() for _ in range(WORDS)}
    with_needle = rng.sample(sorted(words), rng.choice((5, 300, len(words) // 2)))
    return sorted(words | {word + rng.choice(('needle', 'NEEDLE', 'nee')) for word in with_needle})


def pattern(rng):
    return ''.join(rng.choice(PIECES) for _ in range(rng.randrange(1, 5)))


def condition(rng):
    """It as vdbq has it, and as sqlite3."""
    form, text = rng.choice(('like', 'escape', 'not', 'glob', 'has', 'begins', 'ends')), quoted(
        pattern(rng))
    if form == 'has':
        found = f'instr(s, {text}) > 0'
        return rng.choice((f'contains(s, {text})', found)), found
    if form == 'begins':
        return f'starts_with(s, {text})', f'substr(s, 1, length({text})) = {text}'
    if form == 'ends':
        return f'ends_with(s, {text})', f'substr(s, -length({text})) = {text}'
    made = {'like': f's LIKE {text}', 'escape': f"s LIKE {text} ESCAPE 'a'",
            'not': f's NOT LIKE {text}',
            'glob': f"s GLOB {text.replace('%', '*').replace('_', '?')}"}[form]
    return made, made


def ours(binary, script):
    done = subprocess.run([binary, '--device', 'host', '--batch', '--noheader', ':memory:'],
                          input=script.encode(), capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr.decode()[:500])
    return done.stdout.decode().split('\n')[:-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary')
    parser.add_argument('--seed', type=int, default=random.randrange(1 << 30))
    parser.add_argument('--tables', type=int, default=6)
    parser.add_argument('--patterns', type=int, default=100)
    options = parser.parse_args()
    print(f'seed {options.seed}')
    rng, passed, failed = random.Random(options.seed), 0, 0
    for _ in range(options.tables):
        words, connection = words_of(rng), sqlite3.connect(':memory:')
        script = ['CREATE TABLE t (s TEXT)']
        for at in range(0, len(words), INSERTED):
            rows = ', '.join(f'({quoted(word)})' for word in words[at:at + INSERTED])
            script.append(f'INSERT INTO t VALUES {rows}')
        connection.executescript(';\n'.join(script))
        conditions = [condition(rng) for _ in range(options.patterns)]
        answers = ours(options.binary, ';\n'.join(
            script + [f'{SELECT} {our}' for our, _ in conditions]) + ';\n')
        for (asked, their), our in zip(conditions, answers, strict=True):
            their = ','.join(map(str, connection.execute(f'{SELECT} {their}').fetchone()))
            passed, failed = passed + (our == their), failed + (our != their)
            if our != their and failed <= SHOWN:
                print(f'{asked}: {our}, not {their}')
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

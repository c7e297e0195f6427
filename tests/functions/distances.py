#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How far random texts are from each other, compared with DuckDB.

    distances.py BINARY [--seed N] [--pairs N]

DuckDB compares bytes, we characters: it is asked about the same texts with other
letters. The last line is "N passed, N failed".
"""
import argparse
import random
import subprocess
import sys

NAMES = ('levenshtein', 'damerau_levenshtein', 'jaccard', 'jaro_similarity',
         'jaro_winkler_similarity')
LETTERS, WIDE = 'abcde', 'aß€ü😀'
SHOWN = 8


def random_pair(rng):
    """Two texts of few letters; the second one is often near the first."""
    letters = LETTERS[:rng.randrange(2, len(LETTERS) + 1)]
    texts = [''.join(rng.choice(letters) for _ in range(rng.choice((0, 1, 3, 7, 12, 40))))
             for _ in range(2)]
    if rng.random() < 0.6:
        changed = list(texts[0])
        for _ in range(rng.randrange(4)):
            at = rng.randrange(len(changed) + 1)
            changed[at:at + rng.randrange(3)] = reversed(changed[at:at + 2])
            changed.insert(at, rng.choice(letters))
        texts[1] = ''.join(changed)
    return texts


def ours(binary, pairs):
    wide = str.maketrans(LETTERS, WIDE)
    rows = ', '.join(f"({i}, '{a.translate(wide)}', '{b.translate(wide)}')"
                     for i, (a, b) in enumerate(pairs))
    script = 'create table t (i integer, a text, b text);\ninsert into t values ' + rows + ';\n' + \
        ''.join(f'select {name}(a, b) from t order by i;\n' for name in NAMES)
    done = subprocess.run([binary, '--device', 'host', '--batch', '--mode', 'list', '--no-header',
                           ':memory:'], input=script.encode(), capture_output=True, check=True)
    return [float(line) for line in done.stdout.decode().split()]


def theirs(pairs):
    import duckdb
    connection = duckdb.connect()
    connection.execute('create table t (i integer, a text, b text)')
    connection.executemany('insert into t values (?, ?, ?)',
                           [(i, a, b) for i, (a, b) in enumerate(pairs)])
    rows = [connection.execute(f'select try({name}(a, b)) from t order by i').fetchall()
            for name in NAMES]
    return [row[0] for answers in rows for row in answers]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary')
    parser.add_argument('--seed', type=int, default=random.randrange(1 << 30))
    parser.add_argument('--pairs', type=int, default=3000)
    options = parser.parse_args()
    print(f'seed {options.seed}')
    rng = random.Random(options.seed)
    pairs = [random_pair(rng) for _ in range(options.pairs)]
    passed = failed = 0
    try:
        expected = theirs(pairs)
    except ImportError:
        print('DuckDB is not there: nothing is compared')
        expected = []
    for i, (our, their) in enumerate(zip(ours(options.binary, pairs), expected)):
        right = their is None or abs(our - their) < 1e-12
        passed, failed = passed + right, failed + (not right)
        if not right and failed <= SHOWN:
            name, pair = NAMES[i // len(pairs)], pairs[i % len(pairs)]
            print(f'{name}{tuple(pair)} is {our}, not {their}')
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random formats and values: what printf() makes of them, and what sqlite3's does.

    formats.py BINARY [--seed N] [--formats N]

Left out is what differs on purpose: widths and precisions of texts beyond ASCII, which
count characters here and bytes there, %c of an empty text, letters that sqlite3 passes
over, and floats half way between two texts. The last line is "N passed, N failed".
"""
import argparse
import random
import sqlite3
import subprocess
import sys

TEXTS = ('', 'a', 'fig', '12', '-7', '12abc', ' 3', '0.5', "it's", '%d')
INTEGERS = (0, 1, -1, 9, 10, -255, 999, 1000, -1000000, 123456789, 2**63 - 1, -2**63)
REALS = (0.0, 0.5, -0.5, 1.5, 2.5, -2.25, 0.125, 1e-5, 123456.789, 1e15, 1e20, -1e300, 2.6e-8,
         0.0001, 99.96, 0.07)
BATCH, SHOWN = 200, 8


def spec(rng):
    """What a % is followed by, and the values that it takes."""
    letter, values = rng.choice('diuxXofeEgGsc%'), []
    flags = ''.join(f for f in '-+ #0' + ',' * (letter in 'diu') if rng.random() < 0.15)
    width = rng.choice(('', '', '1', '5', '12', '*'))
    precision = rng.choice(('', '', '.0', '.2', '.5', '.', '.*'))
    if letter == 'c':
        precision = precision.replace('0', '1')
    if letter == '%':
        return '%', values
    for text in (width, precision):
        if '*' in text:
            values.append(rng.choice((0, 3, 8, -6)) if text == '*' else rng.choice((0, 1, 4)))
    if letter in 'feEgG':
        values.append(rng.choice(REALS + INTEGERS[:9]))
    elif letter == 'c':
        values.append(rng.choice(TEXTS[1:] + INTEGERS))
    elif letter == 's':
        values.append(rng.choice(TEXTS + INTEGERS + (None,)))
    else:
        values.append(rng.choice(TEXTS + INTEGERS + (None,) + REALS[:12]))
    return flags + width + precision + rng.choice(('', '', 'l')) + letter, values


def call(rng):
    text, values = '', []
    while len(values) < 6 and (not text or rng.random() < 0.5):
        form, more = spec(rng)
        if len(values) + len(more) > 7:
            break
        text += rng.choice(('', 'x', ' = ', '|')) + '%' + form
        values += more
    if rng.random() < 0.1 and 'c' not in text:
        values = values[:-1]
    return text, values


def literal(value):
    if value is None:
        return 'NULL'
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value) if value != -2**63 else '(-9223372036854775807 - 1)'


def sql_of(text, values):
    name = 'printf' if len(text) % 2 else 'format'
    return f"select {name}({', '.join(map(literal, [text, *values]))})"


def ours(binary, queries):
    done = subprocess.run([binary, '--device', 'host', '--batch', '--mode', 'quote', ':memory:'],
                          input=(';\n'.join(queries) + ';\n').encode(), capture_output=True,
                          check=False)
    lines = done.stdout.decode().split('\n')[:-1]
    if len(lines) != len(queries):
        sys.exit(f'{len(lines)} answers to {len(queries)} queries: {done.stderr.decode()[:500]}')
    return [line[1:-1].replace("''", "'") for line in lines]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary')
    parser.add_argument('--seed', type=int, default=random.randrange(1 << 30))
    parser.add_argument('--formats', type=int, default=6000)
    options = parser.parse_args()
    print(f'seed {options.seed}')
    rng, connection = random.Random(options.seed), sqlite3.connect(':memory:')
    passed = failed = 0
    for _ in range(options.formats // BATCH):
        queries = [sql_of(*call(rng)) for _ in range(BATCH)]
        for sql, our in zip(queries, ours(options.binary, queries)):
            their = connection.execute(sql).fetchone()[0] or ''  # (without characters: NULL)
            passed, failed = passed + (our == their), failed + (our != their)
            if our != their and failed <= SHOWN:
                print(f'{sql}: {our!r}, not {their!r}')
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

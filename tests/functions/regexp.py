#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random regular expressions: what the shell's functions find, and what Python's re does.

    regexp.py BINARY [--seed N] [--patterns N]

Patterns are of the syntax that both have, and say the same in both: repetitions do not
repeat what can be empty, since Perl, whom Python follows, and RE2 differ there.
A hostile build tries most texts on the slower machine. The last line is "N passed, N failed".
"""
import argparse
import json
import random
import re
import subprocess
import sys

TEXTS, BATCH, SHOWN = 40, 25, 8
LETTERS = 'abcAB01 _-é\nß'
CLASSES = (r'\d', r'\D', r'\w', r'\W', r'\s', r'\S')
RANGES = ('a-c', '0-9', 'A-B', 'é', '_', 'ß-é', r'\d', r'\w', '-')
REPEATS = ('*', '+', '?', '*?', '+?', '??', '{2}', '{1,3}', '{0,2}?', '{2,}')
PLACES = (r'\A', r'\z', '^', r'\b', '')
GROUPS = ('(', '(', '(?:', '(?i:', '(?s:', '(?m:')


class Maker:
    """Makes patterns and texts; a part is a pattern and whether it can be empty."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def text(self):
        return ''.join(self.random.choice(LETTERS) for _ in range(self.random.randrange(14)))

    def ranges(self):
        count = self.random.randrange(1, 4)
        inside = ''.join(self.random.choice(RANGES[:-1]) for _ in range(count))
        return f'[{self.random.choice(("", "", "^"))}{inside}]'

    def atom(self, depth):
        kind = self.random.random()
        if kind < 0.5 or depth == 0:
            return self.random.choice('abcAB01 _-éß'), False
        if kind < 0.6:
            return '.', False
        if kind < 0.7:
            return self.random.choice(CLASSES), False
        if kind < 0.82:
            return self.ranges(), False
        if kind < 0.86:
            return self.random.choice(PLACES), True
        inside, empty = self.either(depth - 1)
        return self.random.choice(GROUPS) + inside + ')', empty

    def repeated(self, depth):
        part, empty = self.atom(depth)
        if empty or self.random.random() < 0.7:
            return part, empty
        # (re's time doubles with each repetition inside of another.)
        repeat = '?' if re.search('[*+{]', part) else self.random.choice(REPEATS)
        return part + repeat, repeat[0] in '*?' or repeat.startswith('{0')

    def sequence(self, depth):
        parts = [self.repeated(depth) for _ in range(self.random.randrange(1, 5))]
        return ''.join(part for part, _ in parts), all(empty for _, empty in parts)

    def either(self, depth):
        parts = [self.sequence(depth) for _ in range(self.random.choice((1, 1, 1, 2, 3)))]
        return '|'.join(part for part, _ in parts), any(empty for _, empty in parts)


def expected(pattern, texts):
    """What re finds: whether, whole, the match, its first group, and all of them replaced."""
    ours = re.compile(pattern.replace(r'\z', r'\Z'), re.ASCII)
    found = []
    for text in texts:
        match = ours.search(text)
        whole = ours.fullmatch(text)
        group = (match and ours.groups and match.group(1)) or ''
        found.append([int(match is not None), int(whole is not None),
                      match.group(0) if match else '', group,
                      ours.sub('<>', text, count=1)])
    return found


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def query(pattern):
    shown, group = quoted(pattern), min(1, re.compile(pattern.replace(r'\z', r'\Z')).groups)
    return (f'select regexp_matches(s, {shown}) as a, regexp_full_match(s, {shown}) as b, '
            f'regexp_extract(s, {shown}) as c, regexp_extract(s, {shown}, {group}) as d, '
            f"regexp_replace(s, {shown}, '<>') as e from t order by i;\n"), group


def answers(binary, texts, queries):
    rows = ', '.join(f'({i}, {quoted(text)})' for i, text in enumerate(texts))
    script = f'.mode json\ncreate table t (i integer, s text);\ninsert into t values {rows};\n'
    done = subprocess.run([binary, '--device', 'host', '--batch', ':memory:'],
                          input=(script + ''.join(queries)).encode(), capture_output=True,
                          check=False)
    text, at, found, decoder = done.stdout.decode(), 0, [], json.JSONDecoder()
    while at < len(text.rstrip()):
        rows, at = decoder.raw_decode(text, at)
        found.append([list(row.values()) for row in rows])
        while at < len(text) and text[at].isspace():
            at += 1
    if len(found) != len(queries):
        sys.exit(f'{len(found)} answers to {len(queries)} queries: {done.stderr.decode()[:500]}')
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('binary')
    parser.add_argument('--seed', type=int, default=random.randrange(1 << 30))
    parser.add_argument('--patterns', type=int, default=1500)
    options = parser.parse_args()
    print(f'seed {options.seed}')
    make, passed, failed = Maker(options.seed), 0, 0
    for _ in range(options.patterns // BATCH):
        texts = [make.text() for _ in range(TEXTS)] + ['', 'ab ' * 9 + 'c', 'é\n' * 3]
        patterns = [make.either(3)[0] for _ in range(BATCH)]
        queries = [query(pattern) for pattern in patterns]
        found = answers(options.binary, texts, [text for text, _ in queries])
        for pattern, (_, group), rows in zip(patterns, queries, found):
            for text, row, right in zip(texts, rows, expected(pattern, texts)):
                right[3] = right[3] if group else right[2]
                passed += row == right
                failed += row != right
                if row != right and failed <= SHOWN:
                    print(f'{pattern!r} in {text[:60]!r}: {row}, not {right}'[:400])
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

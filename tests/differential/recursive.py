#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random recursive queries over small graphs and numbers, compared with sqlite3's rows.

    recursive.py BINARY [--seed N] [--queries N] [--device DEVICE]

Rows of counters and texts are compared in their order: round by round, as sqlite3's
queue gives them. In what order edges lead on from a node is not said. Every recursion
ends: by UNION, by a depth, or by a LIMIT. The last line is "N passed, N failed".
"""
import argparse
import random
import sqlite3
import subprocess
import sys

BATCH, SHOWN = 25, 8


def tables(rng):
    nodes = rng.choice((3, 8, 30))
    edges = [(rng.randrange(nodes), rng.choice((rng.randrange(nodes), None, nodes)),
              rng.choice((1, 2, 5, None))) for _ in range(rng.choice((0, 4, 40)))]
    rows = ', '.join('(' + ', '.join('NULL' if v is None else str(v) for v in edge) + ')'
                     for edge in edges)
    return ['CREATE TABLE e (a INTEGER, b INTEGER, w INTEGER)',
            *([f'INSERT INTO e VALUES {rows}'] if rows else [])]


def counter(rng):
    step = rng.choice(('x + 1', 'x * 2 + 1', 'x + 3', '(x * 5 + 3) % 17'))
    union = 'UNION' if '%' in step else rng.choice(('UNION', 'UNION ALL'))
    start = rng.choice(('SELECT 1', 'SELECT 0 UNION ALL SELECT 10', 'VALUES (1), (1), (4)'))
    end = '' if '%' in step else f' WHERE x < {rng.choice((1, 5, 60))}'
    inner = f'WITH RECURSIVE c(x) AS ({start} {union} SELECT {step} FROM c{end})'
    if rng.random() < 0.2 and '%' not in step:
        inner = inner.replace(end, '')
        return f'{inner} SELECT x FROM c LIMIT {rng.choice((1, 7, 20))}'
    outer = rng.choice(('SELECT x FROM c', 'SELECT count(*), sum(x), max(x) FROM c',
                        'SELECT x, (SELECT count(*) FROM e WHERE a = x) FROM c',
                        'SELECT x % 3, count(*) FROM c GROUP BY x % 3 ORDER BY 1',
                        'SELECT c.x, e.b FROM c LEFT JOIN e ON e.a = c.x ORDER BY 1, 2'))
    return f'{inner} {outer}'


def text(rng):
    letter = rng.choice(('a', 'ab', ''))
    return (f"WITH RECURSIVE s(n, t) AS (SELECT 0, '{letter}' UNION ALL SELECT n + 1, t || "
            f"CASE WHEN n % 2 = 0 THEN 'x' ELSE '-' END FROM s WHERE n < {rng.choice((0, 3, 12))})"
            f" SELECT {rng.choice(('n, t', 'max(t), count(*)', 't, length(t)'))} FROM s")


def walk(rng):
    """From some nodes along the edges, by UNION or to a depth."""
    deep = rng.random() < 0.5
    first = rng.choice(('SELECT 0', 'SELECT a FROM e WHERE w = 1', 'SELECT DISTINCT a FROM e'))
    test = rng.choice(('', ' AND w > 1', ' AND w IS NOT NULL', ' AND e.b <> 3'))
    join = rng.choice((f'FROM r JOIN e ON e.a = r.n{test}', f'FROM e JOIN r ON e.a = r.n{test}',
                       f'FROM r, e WHERE e.a = r.n{test}'))
    if not deep:
        return (f'WITH RECURSIVE r(n) AS ({first} UNION SELECT e.b {join}) '
                + rng.choice(('SELECT n FROM r', 'SELECT count(*), count(n) FROM r',
                              'SELECT a, b FROM e WHERE a IN (SELECT n FROM r) ORDER BY 1, 2')))
    bound = f"{' AND' if 'WHERE' in join else ' WHERE'} r.d < {rng.choice((1, 2, 3))}"
    return (f"WITH RECURSIVE r(n, d) AS ({first.replace(' FROM', ', 0 FROM')}"
            f"{'' if ' FROM' in first else ', 0'} {rng.choice(('UNION', 'UNION ALL'))} "
            f'SELECT e.b, r.d + 1 {join}{bound}) '
            + rng.choice(('SELECT d, count(*), sum(n) FROM r GROUP BY d ORDER BY d',
                          'SELECT n, min(d) FROM r GROUP BY n ORDER BY n',
                          'SELECT n, d FROM r ORDER BY d, n')))


def rows_of(binary, device, script, queries):
    """Of each query the lines that it gives."""
    marked = [part for query in queries for part in (query, "SELECT '--'")]
    done = subprocess.run([binary, '--device', device, '--batch', '--noheader', ':memory:'],
                          input=(';\n'.join(script + marked) + ';\n').encode(),
                          capture_output=True, check=False)
    answers = done.stdout.decode().split('--\n')[:-1]
    if done.returncode != 0 or len(answers) != len(queries):
        at = queries[len(answers)] if len(answers) < len(queries) else ''
        sys.exit(f'{done.stderr.decode()[:800]}\n' + ';\n'.join([*script, at]))
    return [answer.split('\n')[:-1] for answer in answers]


def shown(value):
    return '' if value is None else '""' if value == '' else str(value)


def in_order(sql, rows):
    return sorted(rows) if 'RECURSIVE r' in sql or 'JOIN' in sql else rows


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary')
    parser.add_argument('--seed', type=int, default=random.randrange(1 << 30))
    parser.add_argument('--queries', type=int, default=1000)
    parser.add_argument('--device', default='host')
    options = parser.parse_args()
    print(f'seed {options.seed}')
    rng, passed, failed = random.Random(options.seed), 0, 0
    for _ in range(options.queries // BATCH):
        script, connection = tables(rng), sqlite3.connect(':memory:')
        connection.executescript(';\n'.join(script))
        queries = [rng.choice((counter, text, walk, walk))(rng) for _ in range(BATCH)]
        for sql, ours in zip(queries, rows_of(options.binary, options.device, script, queries),
                             strict=True):
            ours = in_order(sql, ours)
            theirs = in_order(sql, [','.join(map(shown, row)) for row in connection.execute(sql)])
            passed, failed = passed + (ours == theirs), failed + (ours != theirs)
            if ours != theirs and failed <= SHOWN:
                print(';\n'.join([*script, sql]), f'\n  {ours}, not {theirs}')
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

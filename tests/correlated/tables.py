# SPDX-License-Identifier: MIT
"""Tables for the queries of correlated/queries.py, as rows of literals."""
from .queries import COLUMNS, TABLES


def small_row(rng, number, nulls):
    values = [number, rng.randrange(12), rng.randrange(4), rng.randrange(8),
              rng.choice(('0.5', '2', '3', '-1.25')), f"'{rng.choice('xyz')}'"]
    return [v if i == 0 or rng.random() > nulls else None for i, v in enumerate(values)]


def small_tables(rng):
    """{name: rows of literals}."""
    made = {}
    for name in TABLES:
        nulls = rng.choice((0, 0.1, 0.3))
        count = rng.choice((0, 1, 5, 12, 30))
        made[name] = [small_row(rng, i + 1, nulls) for i in range(count)]
    return made


def statements(tables):
    """What makes the tables."""
    for name, rows in tables.items():
        yield f'CREATE TABLE {name} ({COLUMNS})'
        for first in range(0, len(rows), 5000):
            values = ', '.join('(' + ', '.join('NULL' if v is None else str(v) for v in row) + ')'
                               for row in rows[first:first + 5000])
            yield f'INSERT INTO {name} VALUES {values}'

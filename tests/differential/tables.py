# SPDX-License-Identifier: MIT
"""Random small tables. Columns of one name have one type in all tables, so
that NATURAL and USING find something to join."""
import copy

from .nodes import Node

EPOCH_DAYS = ('1970-01-01', '1999-12-31', '2000-02-29', '2001-01-01', '2024-02-29', '1969-12-31',
              '1900-03-01', '2038-01-19', '0001-01-01', '9999-12-31')
TIMES = ('00:00:00', '23:59:59', '12:30:00', '06:07:08')
WORDS = ('', 'a', 'A', 'b', 'ab', 'abc', 'B', 'Ab', 'aa', 'z', 'abab', '%', '_', 'a%', "it's")
LETTERS = ('ä', 'ß', 'é', 'añb', '日本', '😀', 'aé', 'Ω', 'zz', 'a b', ' a', 'a ', '10', '-1', 'x')

# name: (type letter, SQL type, by dialect if it differs, the largest magnitude)
COLUMNS = {
    'p': ('I', 'INTEGER', 100), 'k': ('I', 'INTEGER', 8), 'i': ('I', 'INTEGER', 100),
    'e': ('I', 'INTEGER', 2**31), 'z': ('I', 'SMALLINT', 300), 'b': ('I', 'BIGINT', 10**7),
    'x': ('I', 'BIGINT', 2**63), 'd': ('D', 'DOUBLE', 1000), 'f': ('F', 'FLOAT', 64),
    's': ('T', 'TEXT', 0), 't': ('T', 'TEXT', 0), 'o': ('B', 'BOOLEAN', 1),
    'y': ('Y', 'DATE', 0), 'w': ('W', 'TIMESTAMP', 0), 'm': ('M', 'DECIMAL(9,2)', 10**6),
}
GRAINS = {'d': 3, 'f': 2}
SQLITE_TYPES = {'DATE': 'TEXT', 'TIMESTAMP': 'TEXT', 'BOOLEAN': 'INTEGER', 'DOUBLE': 'REAL',
                'FLOAT': 'REAL', 'DECIMAL(9,2)': 'INTEGER'}
DUCKDB_TYPES = {'INTEGER': 'BIGINT', 'SMALLINT': 'BIGINT'}


def column_node(name, qualifier=''):
    """A reference to a column of a table."""
    kind, _, bound = COLUMNS[name]
    text = f'{qualifier}.{name}' if qualifier else name
    return Node(text, type=kind, bound=bound, grain=GRAINS.get(name, 0), column=True)


class Table:
    """Columns by name and rows of plain values, DECIMAL as hundredths."""

    def __init__(self, name, columns, rows, indexed=(), unique=()):
        self.name, self.columns, self.rows = name, columns, rows
        self.indexed, self.unique = indexed, unique

    def changed(self, **changes):
        """The same table with something else."""
        made = copy.copy(self)
        for name, value in changes.items():
            setattr(made, name, value)
        return made

    def statements(self, dialect):
        """SQL that makes it and fills it."""
        types = {'sqlite': SQLITE_TYPES, 'duckdb': DUCKDB_TYPES}.get(dialect, {})
        columns = [COLUMNS[c][1] for c in self.columns]
        body = ', '.join(f'{c} {types.get(t, t)}' for c, t in zip(self.columns, columns))
        if self.unique and set(self.unique) <= set(self.columns):
            body += f', UNIQUE ({", ".join(self.unique)})'
        made = [f'CREATE TABLE {self.name} ({body})']
        if self.rows:
            rows = ', '.join('(' + ', '.join(
                literal(COLUMNS[c][0], v, dialect) for c, v in zip(self.columns, row)) + ')'
                for row in self.rows)
            made.append(f'INSERT INTO {self.name} VALUES {rows}')
        if self.indexed and set(self.indexed) <= set(self.columns):
            made.append(f'CREATE INDEX index_{self.name} ON {self.name} '
                        f'({", ".join(self.indexed)})')
        return made


def literal(kind, value, dialect):
    """A value as SQL."""
    if value is None:
        return 'NULL'
    if kind == 'T':
        return "'" + value.replace("'", "''") + "'"
    if kind in 'YW':
        word = {'Y': 'DATE ', 'W': 'TIMESTAMP '}[kind] if dialect != 'sqlite' else ''
        return f"{word}'{value}'"
    if kind == 'B':
        return ('FALSE', 'TRUE')[value] if dialect != 'sqlite' else str(value)
    if kind == 'M' and dialect != 'sqlite':
        return f'{"-" if value < 0 else ""}{abs(value) // 100}.{abs(value) % 100:02d}'
    return repr(value)


def random_value(rng, name):
    """A value for a column of that name, never NULL."""
    kind, bound = COLUMNS[name][0], COLUMNS[name][2]
    if kind == 'B':
        return rng.randrange(2)
    if kind == 'T':
        return rng.choice(WORDS if name == 's' or rng.random() < 0.5 else LETTERS)
    if kind == 'Y':
        return rng.choice(EPOCH_DAYS) if rng.random() < 0.3 else \
            f'20{rng.randrange(20, 25)}-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}'
    if kind == 'W':
        return f'{random_value(rng, "y")} {rng.choice(TIMES)}'
    if kind in 'DF':
        scale = 1 << GRAINS[name]
        return rng.choice((0.0, -0.0, 1.0, rng.randrange(-bound * scale, bound * scale) / scale,
                           rng.randrange(-4 * scale, 4 * scale) / scale))
    if name in 'ex':
        most = bound - 1
        least = -bound if name == 'e' else -most  # the other one is no literal
        return rng.choice((most, least, 0, -1, 1, rng.randrange(-most, most)))
    if name == 'k':
        return rng.randrange(bound)
    return rng.choice((0, rng.randrange(-bound + 1, bound), rng.randrange(-3, 4)))


COUNTS = (0, 1, 2, 3, 5, 8, 8, 12, 20, 63, 64, 65, 70)
FEW_ROWS = 8  # where queries run in queries, a row of each at a time


def random_table(rng, name, allowed, rows_max):
    others = [c for c in allowed if c != 'p']
    columns = ['p'] * (rng.random() < 0.7)
    columns += rng.sample(others, min(len(others), rng.randrange(1, 8)))
    count = rng.choice([count for count in COUNTS if count <= rows_max])
    null_share = {c: rng.choice((0, 0, 0.1, 0.3, 1 if rng.random() < 0.2 else 0.2))
                  for c in columns}
    rows = []
    for number in range(count):
        if rows and rng.random() < 0.1 and 'p' not in columns:
            rows.append(rng.choice(rows))
            continue
        rows.append(tuple(number + 1 if c == 'p' else None if rng.random() < null_share[c]
                          else random_value(rng, c) for c in columns))
    indexed = rng.sample(columns, min(len(columns), 2)) if rng.random() < 0.3 else ()
    unique = ()
    if rng.random() < 0.4:
        unique = rng.sample(columns, min(len(columns), rng.choice((1, 1, 2))))
        rows = without_twins(columns, rows, unique)
    return Table(name, columns, rows, indexed, unique)


def without_twins(columns, rows, unique):
    """The rows without those that have the unique columns of one before."""
    places, known, kept = [columns.index(c) for c in unique], set(), []
    for row in rows:
        values = tuple(row[i] for i in places)
        if None in values or values not in known:
            kept.append(row)
        known.add(values)
    return kept


def random_tables(rng, allowed=tuple(COLUMNS), rows_max=COUNTS[-1]):
    return [random_table(rng, f't{i}', allowed, rows_max) for i in range(rng.randrange(1, 6))]

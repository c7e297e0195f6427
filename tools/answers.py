# SPDX-License-Identifier: MIT
"""Whether two engines answer a query alike: vdbq's rows as texts, another's as
Python's values. Numbers that are no integers may differ in their last digits;
rows that the query's ORDER BY leaves equal may come in any order, and where a LIMIT
chooses among them, others may come.
"""
import re
from collections import Counter

NEAR = 1e-9  # of a number, relative
LIMIT = re.compile(r'\s+limit\s+\d+(\s+offset\s+\d+)?\s*$', re.I)


def difference(sql, ours, names, theirs, unlimited=None):
    """'' or what is different; `names` are those of the result's columns. Where
    `unlimited` is given, it runs a query, and which rows a LIMIT leaves is open."""
    if len(ours) != len(theirs):
        return f'DIFFERENT: {len(ours)} rows, not {len(theirs)}'
    if any(len(row) != len(names) for row in ours):
        return f'DIFFERENT: not {len(names)} columns'
    ours = [tuple(map(typed, row, other)) for row, other in zip(ours, kinds(theirs))]
    for column in ordering(sql, names):
        for number, (a, b) in enumerate(zip(ours, theirs), 1):
            if not near(a[column], b[column]):
                return f'DIFFERENT: {names[column]} of row {number}: {a[column]}, not {b[column]}'
    for a, b in zip(sorted(ours, key=sort_key), sorted(theirs, key=sort_key)):
        if not all(map(near, a, b)):
            whole = LIMIT.sub('', sql) if unlimited else sql
            return '' if whole != sql and is_part(ours, unlimited(whole)) \
                else f'DIFFERENT: {a}, not {b}'
    return ''


def is_part(ours, theirs):
    """Whether theirs has each of our rows as often, or more often."""
    return Counter(map(sort_key, ours)) <= Counter(map(sort_key, theirs))


def kinds(rows):
    """A row for each of the rows, with a value of each column that is not NULL."""
    columns = [next((value for value in column if value is not None), None)
               for column in zip(*rows)]
    return [columns] * len(rows)


def is_number(value):
    return value is not None and not isinstance(value, str) and hasattr(value, '__abs__')


def typed(text, kind):
    """A text as a value of the other's kind; '' is NULL where that is no text."""
    if not is_number(kind) or not isinstance(text, str):
        return text
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            pass
    return text or None


def near(a, b):
    if is_number(a) and is_number(b):
        a, b = (a, b) if isinstance(b, int) else (float(a), float(b))
        return abs(a - b) <= (0 if isinstance(b, int) else NEAR * max(1.0, abs(a), abs(b)))
    return (a or '') == ('' if b is None else str(b))


def sort_key(row):
    """Near numbers are the same text, unless they lie where it is rounded."""
    return tuple(f'{float(value):.7e}' if is_number(value) else str('' if value is None else value)
                 for value in row)


def ordering(sql, names):
    """Numbers of the columns that the last ORDER BY names."""
    _, _, last = sql.lower().rpartition('order by')
    keys = LIMIT.sub('', ' ' + last) if 'order by' in sql.lower() else ''
    words = [key.split()[0] for key in keys.split(',') if key.split()]
    names = [name.lower() for name in names]
    return [names.index(word) for word in words if word in names]

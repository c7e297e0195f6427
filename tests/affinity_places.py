#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every pair of types and every comparison: all places that compare agree.

    affinity_places.py [--device DEVICE] BINARY

A table has a column of each type. Columns are compared with columns and with
constants in the results, in WHERE, under NOT, in CASE, in HAVING, with the
sides swapped, in ON of each kind of join, in a join of all pairs, by IN, EXISTS
and USING: all give the same rows, or all the same error, with its place. The
last line is "N passed, N failed".
"""
import argparse
import re
import sys

from differential.engines import Refused, Vdbq
from shell_options import HANG_SECONDS

# name: (type, values)
COLUMNS = {
    'z': ('SMALLINT', ('1', '10', '-3')),
    'i': ('INTEGER', ('1', '10', '2147483647')),
    'b': ('BIGINT', ('1', '9007199254740993', '9223372036854775807')),
    'f': ('FLOAT', ('1.0', '0.1', '1e30')),
    'r': ('DOUBLE', ('1.0', '9007199254740992.0', '0.1')),
    'm': ('DECIMAL(9,2)', ('1.00', '0.10', '10.5')),
    'n': ('DECIMAL(18,9)', ('1.00', '0.100000001', '-900000000.5')),
    'o': ('BOOLEAN', ('TRUE', 'FALSE', 'TRUE')),
    'd': ('DATE', ("'2024-01-31'", "'1970-01-01'", "'2000-02-29'")),
    'w': ('TIMESTAMP', ("'2024-01-31 00:00:00'", "'1970-01-01 00:00:01'", "'2000-02-29'")),
    's': ('TEXT', ("'1'", "'abc'", "'0.1'")),
    'u': ('TEXT', ("'1.0'", "'2024-01-31'", "'true'")),
}
CONSTANTS = ('1', '10', '0.1', '9007199254740993', '1e30', "'1'", "'1.00'", "'0.1'", "'abc'",
             "'2024-01-31'", "'2024-01-31 00:00:00'", "'true'", 'NULL',
             "CAST('2024-01-31' AS DATE)", 'CAST(1.5 AS DECIMAL(9,2))', "CAST('1' AS TEXT)",
             'CAST(1 AS BOOLEAN)')
MIRRORED = {'=': '=', '<>': '<>', '<': '>', '<=': '>=', '>': '<', '>=': '<=', 'IS': 'IS',
            'IS NOT': 'IS NOT'}
PLACE = re.compile(r'error: line \d+, column \d+: ')


class Everything:
    """The table: values of each column beside others of each other one, and a
    row of NULLs."""
    name = 't'

    @staticmethod
    def statements(dialect):
        del dialect
        columns = ', '.join(f'{name} {kind}' for name, (kind, _) in COLUMNS.items())
        values = [v for _, v in COLUMNS.values()]
        rows = [', '.join(v[(a + b * (i % 2) + i * b) % 3] for i, v in enumerate(values))
                for a in range(3) for b in range(3)]
        rows.append(', '.join(['NULL'] * len(values)))
        return [f'CREATE TABLE t (id INTEGER PRIMARY KEY, {columns})', 'INSERT INTO t VALUES '
                + ', '.join(f'({n}, {row})' for n, row in enumerate(rows))]


def of_row(left, right, operator):
    """Two sides of one row."""
    compared = f'{left} {operator} {right}'
    return (f'SELECT id FROM t WHERE {compared}',
            f'SELECT id FROM (SELECT id, {compared} AS p FROM t) WHERE p',
            f'SELECT id FROM t WHERE NOT (NOT ({compared}))',
            f'SELECT id FROM t WHERE CASE WHEN {compared} THEN 1 END',
            f'SELECT id FROM t WHERE {right} {MIRRORED[operator]} {left}',
            f'SELECT id FROM t WHERE EXISTS (SELECT 1 FROM (VALUES (1)) WHERE {compared})',
            f'SELECT min(id) FROM t GROUP BY id, {left} HAVING {compared}'
            if right not in COLUMNS else f'SELECT id FROM t WHERE {compared}')


def of_pairs(left, right, operator):
    """Columns of pairs of rows."""
    compared = f'a.{left} {operator} b.{right}'
    both = 'WHERE a.id IS NOT NULL AND b.id IS NOT NULL'
    return (f'SELECT a.id, b.id FROM t a JOIN t b ON {compared}',
            f'SELECT a.id, b.id FROM t a, t b WHERE ({compared}) + 0 = 1',
            f'SELECT a.id, b.id FROM t a LEFT JOIN t b ON {compared} {both}',
            f'SELECT a.id, b.id FROM t a FULL JOIN t b ON {compared} {both}',
            f'SELECT a.id, b.id FROM t b RIGHT JOIN t a ON {compared} {both}')


def of_keys(left, right):
    """Whether one equals any of a column."""
    return (f'SELECT DISTINCT a.id FROM t a JOIN t b ON a.{left} = b.{right}',
            f'SELECT id FROM t WHERE {left} IN (SELECT {right} FROM t)',
            f'SELECT id FROM t a WHERE EXISTS (SELECT 1 FROM t b WHERE a.{left} = b.{right})',
            f'SELECT id FROM t WHERE NOT ({left} NOT IN (SELECT {right} FROM t))',
            f'SELECT DISTINCT a.id FROM (SELECT id, {left} AS k FROM t) AS a '
            f'JOIN (SELECT {right} AS k FROM t) AS b USING (k)')


def of_constants(left, constant):
    """Other forms of equality; in a list nothing has an affinity, columns have."""
    many = ', '.join([constant] * 64)
    return (f'SELECT id FROM t WHERE {left} = {constant}',
            f'SELECT id FROM t WHERE {left} IN ({constant})',
            f'SELECT id FROM t WHERE {left} IN ({many})',
            f'SELECT id FROM t WHERE CASE {left} WHEN {constant} THEN 1 END',
            f'SELECT id FROM t WHERE {left} BETWEEN {constant} AND {constant}')


def all_cases():
    for left in COLUMNS:
        for right in (*COLUMNS, *CONSTANTS):
            yield from (of_row(left, right, operator) for operator in MIRRORED)
        for right in COLUMNS:
            yield from (of_pairs(left, right, operator) for operator in MIRRORED)
            yield of_keys(left, right)
        yield from (of_constants(left, constant) for constant in CONSTANTS)


def answer(vdbq, sql):
    try:
        return sorted(vdbq.run(sql))
    except Refused as error:
        first = str(error).split('\n', maxsplit=1)[0]
        return 'refused' if PLACE.match(first) else f'without its place: {first}'


def judge(vdbq, queries):
    """What is wrong, or ''."""
    answers = [answer(vdbq, sql) for sql in queries]
    for sql, other in zip(queries, answers):
        if other != answers[0] or 'overflow' in str(other) or 'place' in str(other):
            return f'{queries[0]};\n    {answers[0]}\n{sql};\n    {other}\n'
    return ''


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary', help='the shell, split like a command line')
    parser.add_argument('--device', default='host')
    parser.add_argument('--timeout', type=float, default=HANG_SECONDS,
                        help='of one query, in seconds')
    options = parser.parse_args()
    vdbq = Vdbq(options, options.device)
    vdbq.reset([Everything()], (), (('VDBQ_TABLET_ROWS', '2'),))
    wrong = [judge(vdbq, queries) for queries in all_cases()]
    vdbq.close()
    for text in list(filter(None, wrong))[:10]:
        print(text)
    failed = sum(map(bool, wrong))
    print(f'{len(wrong) - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

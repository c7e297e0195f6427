# SPDX-License-Identifier: MIT
"""Types and interesting values of each, written for vdbq, sqlite3 and DuckDB."""
import struct
from collections import namedtuple

# The text in our SQL, the value for sqlite3 and the text in DuckDB's.
Value = namedtuple('Value', 'sql sqlite duckdb')
LONG = 'x' * 300 + 'ä'
TEXTS = ('', 'abc', 'aBc', 'A', 'b', '%b%', 'a%', '_b_', '*[b-d]?', '%Y-%m-%d %H:%M:%f', '%',
         'a,b,c', ',', "it's", 'äöü€😀', 'Äßıİ\u212aſǅȺΣς', ' 7 ', '-5', '12', '1e3',
         '2.50', 'inf', 'nan',
         '2024-02-29',
         '2023-02-29', '2024-02-29 12:30:15.5', '0000-01-01', '9999-12-31', '2000-01-31T23:59Z',
         'year', 'month', 'true', '12:30', '+1 month', '-1.5 days', 'start of year', 'weekday 0',
         LONG)


def number(kind, *texts):
    return [Value(f'cast({t} as {kind})', plain(kind, t), f'cast({duck(t)} as {kind})')
            for t in texts]


def plain(kind, text):
    """The number as sqlite3 has it."""
    if kind == 'float':
        return struct.unpack('f', struct.pack('f', float(text)))[0]
    return float(text) if kind == 'double' or kind.startswith('decimal') else int(text)


def duck(text):
    return {'9e999': "'inf'", '-9e999': "'-inf'"}.get(text, text)


def quoted(value):
    return "'" + value.replace("'", "''") + "'"


def text(value):
    return Value(f'cast({quoted(value)} as text)', value, quoted(value))


def dated(kind, *texts):
    return [Value(f"{kind} '{t}'", t, f"{kind} '{t}'") for t in texts]


def null(kind):
    return Value(f'cast(NULL as {kind})', None, f'cast(NULL as {kind})')


VALUES = {
    'smallint': number('smallint', '0', '-32768', '32767'),
    'integer': number('integer', '0', '1', '-1', '2', '5', '2147483647', '-2147483648'),
    'bigint': number('bigint', '0', '3', '-7', '64', '9007199254740993', '12345678901111111',
                     '9223372036854775807', '-9223372036854775808'),
    'float': number('float', '0.0', '-0.0', '1.5', '-2.25', '16777216', '3.4028234e38', '1e-45',
                    '9e999', '-9e999'),
    'double': number('double', '0.0', '-0.0', '0.5', '-0.5', '-0.4', '2.0', '5.5', '-1.25', '1e15',
                     '9007199254740993.0', '1e19', '-1e308', '1.7976931348623157e308', '5e-324',
                     '9e999', '-9e999'),
    'decimal(9,2)': number('decimal(9,2)', '0', '1.25', '-1.25', '2.50', '9999999.99'),
    'decimal(18,0)': number('decimal(18,0)', '1', '-999999999999999999', '999999999999999999'),
    'decimal(18,18)': number('decimal(18,18)', '0.5', '-0.000000000000000001'),
    'boolean': [Value('cast(0 as boolean)', 0, 'false'), Value('cast(1 as boolean)', 1, 'true')],
    'date': dated('date', '0001-01-01', '9999-12-31', '1970-01-01', '1969-12-31', '2024-02-29',
                  '2000-01-31', '2021-01-03'),
    'timestamp': dated('timestamp', '0001-01-01 00:00:00', '9999-12-31 23:59:59.999999',
                       '1969-12-31 23:59:59.5', '2024-02-29 12:30:15.123456',
                       '2000-01-31 00:00:00'),
    'text': [text(t) for t in TEXTS],
}
for kind_, values_ in VALUES.items():
    values_.insert(0, null(kind_))

# What is written in a statement, without a CAST, is typed more loosely; no peer
# is asked of it.
LITERALS = (
    'NULL', '0', '1', '-1', '7', '2147483648', '9223372036854775807', '-9223372036854775808',
    '0.0', '-0.0', '2.5', '-0.05', '1e300', 'true', 'false', "''", "'abc'", "'12'", "'%'",
    "'2024-02-29'", "'now'", "'year'", "date '2024-02-29'", "date '9999-12-31'",
    "timestamp '2024-02-29 12:30:15'", "interval '1' day", "interval '-1' month",
    'interval 3 hour', "interval '9223372036854775807' second",
    "interval '-9223372036854775808' day", "interval '9223372036854775807' year")
VALUES['literal'] = [Value(t, None, None) for t in LITERALS]
TYPES = tuple(VALUES)
LETTERS = {'smallint': 'I', 'integer': 'I', 'bigint': 'I', 'float': 'F', 'double': 'D',
           'decimal(9,2)': 'M', 'decimal(18,0)': 'M', 'decimal(18,18)': 'M', 'boolean': 'B',
           'date': 'Y', 'timestamp': 'W', 'text': 'T', 'literal': '?'}

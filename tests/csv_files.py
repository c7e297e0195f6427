#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random tables to CSV files and back, and random CSV texts beside Python's reader.

    csv_files.py [--seed N] [--tables N] [--texts N] VDBQ

A table of all types goes out by COPY TO, as .csv or .tsv, and comes back by .import
and COPY FROM into equal tables and by FROM 'file': every bit must be the same. Texts in any
dialect are written here and found out there; texts of random characters are read
by both, or refused by both. Many rows are written as a few at a time are. Texts that
are packed, in several members or frames, read as they do plain, faults included;
packed files that are cut or damaged are refused, and leave nothing.
"""
import argparse
import csv
import ctypes
import gzip
import io
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from shell_options import HANG_SECONDS

DELIMITERS = ',;\t|'
RECORD = '\x1e'  # between rows that are compared

WORDS = ['a', 'Größe', '漢字', '𝄞', 'null', 'NULL', 'nan', 'true', "it's", "'q'", '"', '""', 'x"y',
         ',', ';', '|', '\t', '\n', '\r\n', '\r', ' ', '  b  ', '007', '+49 30', '1', '2.5', '-0',
         '1e5', '2024-01-01', '12:30', '\\N', '\\', '#', '\x01', '\x7f', '1,5', 'inf', '$', '.',
         '99999999999999999999', '9007199254740993', '\ufeff', 'long ' * 300]
NUMBERS = {
    'SMALLINT': (-32768, 32767), 'INTEGER': (-2**31, 2**31 - 1), 'BIGINT': (-2**63 + 1, 2**63 - 1),
}


# ------------------------------------------------------------------ the shell --

class Shell:
    """Runs scripts in a folder."""

    def __init__(self, binary, folder):
        self.binary, self.folder = os.path.abspath(binary), folder

    def run(self, script, *options):
        """What a script writes, and what it says on the side."""
        path = Path(self.folder) / 'script.sql'
        path.write_bytes(script.encode())
        done = subprocess.run([self.binary, *options, '-f', path], cwd=self.folder,
                              timeout=HANG_SECONDS, capture_output=True, check=False)
        assert done.returncode in (0, 1, 3), (done.returncode, done.stderr)
        return done.stdout.decode(), done.stderr.decode()


def literal(value):
    """A text as SQL, whatever is in it."""
    return 'null' if value is None else "'" + value.replace("'", "''") + "'"


# ------------------------------------------------------------ tables and back --

def random_text(rng):
    """A text that some reader may take for something else."""
    return ''.join(rng.choice(WORDS) for _ in range(rng.choice([0, 1, 1, 1, 2, 3])))


def random_double(rng):
    """The shortest text of a double, of any size."""
    kind = rng.randrange(4)
    if kind == 0:
        return rng.choice(['0.0', '-0.0', '1e308', '-1e308', '5e-324', '2.2250738585072014e-308'])
    return repr(rng.uniform(-1, 1) * 10.0 ** rng.randint(-300, 300) if kind == 1
                else rng.randint(-2**60, 2**60) / 2.0**rng.randint(0, 60))


def random_value(rng, kind):
    """A value of a type, as SQL."""
    if rng.random() < 0.2:
        return 'null'
    if kind in NUMBERS:
        low, high = NUMBERS[kind]
        return str(rng.choice([0, 1, -1, low, high, rng.randint(low, high), rng.randint(-99, 99)]))
    if kind.startswith('DECIMAL'):
        return f'{rng.randint(-10**12, 10**12) / 100:.2f}'
    if kind == 'DATE':
        return f"date '{rng.randint(1, 9999):04}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}'"
    if kind == 'TIMESTAMP':
        return (f"timestamp '{rng.randint(1, 9999):04}-{rng.randint(1, 12):02}-"
                f"{rng.randint(1, 28):02} {rng.randint(0, 23):02}:{rng.randint(0, 59):02}:"
                f"{rng.randint(0, 59):02}.{rng.choice([0, 5, rng.randint(0, 999999)]):06}'")
    if kind == 'BOOLEAN':
        return rng.choice(['true', 'false'])
    if kind == 'FLOAT':
        return f'cast({rng.uniform(-1, 1) * 10.0 ** rng.randint(-37, 37)!r} as float)'
    if kind == 'DOUBLE':
        return f'cast({random_double(rng)} as double)'
    return literal(random_text(rng))


TYPES = [*NUMBERS, 'DECIMAL(15,2)', 'DATE', 'TIMESTAMP', 'BOOLEAN', 'FLOAT', 'DOUBLE', 'TEXT',
         'TEXT', 'TEXT']
NAMES = ['a', 'B', 'zip code', '2024', 'true', 'x,y', 'q"q', "it's", 'a;b', 'p|q', '1.5', 'ü',
         'null', '007', 'inf']


def check_table(rng, shell):
    """One random table out and back; what is wrong, or None."""
    kinds = [rng.choice(TYPES) for _ in range(rng.choice([1, 1, 2, 3, 6]))]
    rows = [[random_value(rng, kind) for kind in kinds] for _ in range(rng.choice([0, 1, 3, 20]))]
    # A last row without doubt: what looks like numbers is read as numbers.
    rows += [[literal('w') if kind == 'TEXT' else random_value(rng, kind) for kind in kinds]]
    rows *= rng.random() > 0.05
    # Above no rows, only texts are read as names.
    names = rng.sample(NAMES, len(kinds)) if rows else [f'n{i}' for i in range(len(kinds))]
    names = ['"' + name.replace('"', '""') + '"' for name in names]
    columns = ', '.join(f'{name} {kind}' for name, kind in zip(names, kinds))
    casts = ', '.join(f'cast({name} as {kind})' for name, kind in zip(names, kinds))
    file = rng.choice(['o.csv', 'o.tsv']) + rng.choice(['', '', '.gz', '.zst'])
    how = rng.choice(['', "(delimiter '_')", "(null 'NULL')", "(null '-', sep '/', header true)"])
    script = [f'create table {name} ({columns});' for name in 'tuvw']
    script += [f'insert into t values ({", ".join(row)});' for row in rows]
    script += [f"copy t to '{file}';", f'.import {file} u',
               f"insert into v select {casts} from '{file}';",
               f"copy t to 'p.csv' {how};", f"copy w from 'p.csv' {how};"]
    for name in 'tuvw':
        script += ['.print ' + RECORD, f'select * from {name};']
    out, err = shell.run('\n'.join(script) + '\n', '-quote')
    parts = out.split(RECORD)
    if err or len(parts) != 5 or any(part != parts[1] for part in parts[2:]):
        return f'{script}\n{err}\n' + '\n'.join(map(repr, parts))
    return None


# ------------------------------------------------------- texts of any dialect --

def write_field(value, delimiter, quote, always):
    """A field as other programs write it: None is empty, '' is quoted."""
    if value is None:
        return ''
    special = value == '' or value[0] == quote or any(c in value for c in (delimiter, '\n', '\r'))
    if special or always:
        return quote + value.replace(quote, quote * 2) + quote
    return value


def check_dialect(rng, shell):
    """A table of texts in some dialect, whose reader has to find it."""
    delimiter, quote = rng.choice(DELIMITERS), rng.choice('""\'')
    end, always = rng.choice(['\n', '\r\n']), quote == "'" or rng.random() < 0.3
    columns = rng.randint(2, 5)
    words = ['one', 'two words', 'a, b', 'c; d; e', 'x|y', "it's", 'say "so"', '1,5', '12', '',
             'line\nend', None, 'Größe', '-3.25']
    header = [f'name{i}' for i in range(columns)]
    rows = [[rng.choice(words) for _ in range(columns)] for _ in range(rng.randint(8, 40))]
    rows.append(['word'] * columns)
    text = ''.join(delimiter.join(write_field(value, delimiter, quote, always) for value in row)
                   + end for row in [header, *rows])
    (Path(shell.folder) / 'd.csv').write_bytes(text.encode())
    return compare(shell, rows, "select * from 'd.csv';", text)


def compare(shell, rows, query, text):
    """Asks for texts, and compares them with rows of them."""
    out, err = shell.run(query, '-quote', '--no-header')
    expected = ''.join(','.join(literal(value).replace('null', 'NULL', value is None)
                                for value in row) + '\n' for row in rows)
    faults = [line for line in err.splitlines() if not line.startswith('note: ')]
    if out != expected or faults:
        return f'{text!r}\nexpected {expected!r}\nfound    {out!r}\n{err}'
    return None


# ------------------------------------------------ texts of random characters --

def python_rows(text, delimiter):
    """What Python's reader makes of a text; None: it refuses it."""
    try:
        rows = list(csv.reader(io.StringIO(text, newline=''), delimiter=delimiter, strict=True))
    except csv.Error:
        return None
    rows = [row for row in rows if row]
    return rows if rows and all(len(row) == len(rows[0]) for row in rows) else None


def check_text(rng, shell):
    """A text of characters that mean something, read by both."""
    delimiter = rng.choice(DELIMITERS)
    parts = [delimiter, delimiter, '\n', '\n', '\r\n', '"', '"', 'a', '1', ' ', ';', "'", '""',
             f'"{delimiter}"', '"\n"', f'{delimiter}"x"', f'{delimiter}"x"']
    text = 'a' + ''.join(rng.choice(parts) for _ in range(rng.randint(0, 14)))
    expected = python_rows(text, delimiter)
    (Path(shell.folder) / 'x.csv').write_bytes(text.encode())
    columns = len(expected[0]) if expected else 1
    if expected is not None and columns == 1:
        return None  # empty lines, which Python leaves out, are rows
    name = '\\t' if delimiter == '\t' else delimiter
    types = ','.join(['TEXT'] * columns)
    out, err = shell.run(f".import --no-header --delimiter '{name}' --quote '\"' "
                         f'{"--types " + types if expected else ""} x.csv t\nselect * from t;',
                         '-csv', '--no-header')
    found = list(csv.reader(io.StringIO(out, newline=''))) if not err else None
    if found != expected:
        return f'{text!r}\nexpected {expected!r}\nfound    {found!r}\n{err}'
    return None


def check_large(rng, shell):
    """A file of several parts, with quotes that are quotes and others."""
    values = ['5" nail', 'a\nb', '"', '', None, 'x,y', '\r\n', 'plain', '""', '1,2\n3,4\n', '7']
    rows = [[str(i), rng.choice(values), rng.choice(values)] for i in range(150000)]
    text = 'id,a,b\n' + ''.join(
        ','.join(write_field(value, ',', '"', False) for value in row) + '\n' for row in rows)
    (Path(shell.folder) / 'l.csv').write_bytes(text.encode())
    shell.run("copy (select * from 'l.csv') to 'm.csv';")
    with open(Path(shell.folder) / 'm.csv', encoding='utf-8', newline='') as file:
        found = list(csv.reader(file))
    expected = [['id', 'a', 'b']] + [[value or '' for value in row] for row in rows]
    if found != expected:
        wrong = next((pair for pair in zip(found, expected) if pair[0] != pair[1]), None)
        return f'{len(found)} rows, expected {len(expected)}; {wrong}'
    return None


def large_table(rng, folder):
    """Statements that make table t of many rows: short ones, and some that outgrow a buffer."""
    kinds = ['BIGINT', 'INTEGER', 'DOUBLE', 'FLOAT', 'DECIMAL(15,2)', 'DATE', 'TEXT']
    words = ['plain', 'a,b', 'say "so"', 'two\nlines', '|', '\t', "it's", '\x01', 'x' * 900, '']
    with open(Path(folder) / 't.csv', 'w', encoding='utf-8', newline='') as file:
        file.write('id,i,d,f,m,day,s\n')
        for row in range(LARGE_ROWS):
            values = [str(row), str(rng.randint(-2**31, 2**31 - 1)), random_double(rng),
                      str(rng.randint(-999, 999) / 8), f'{rng.randint(-10**9, 10**9) / 100:.2f}',
                      f'{rng.randint(1, 9999):04}-02-{rng.randint(1, 28):02}',
                      '"\n' * 150000 if row % 5000 == 1234 else rng.choice(words)]
            values[1:] = [None if rng.random() < 0.1 else value for value in values[1:]]
            file.write(','.join(write_field(value, ',', '"', False) for value in values) + '\n')
    names = ['id', 'i', 'd', 'f', 'm', 'day', 's']
    columns = ', '.join(f'{name} {kind}' for name, kind in zip(names, kinds))
    return f'create table t ({columns});\n.import t.csv t\n'


# -------------------------------------------------------------- packed files --

def zstd(data):
    """One frame of zstd, with a checksum of what is in it."""
    library = ctypes.CDLL('libzstd.so.1')
    library.ZSTD_createCCtx.restype = ctypes.c_void_p
    library.ZSTD_compressBound.restype = library.ZSTD_compress2.restype = ctypes.c_size_t
    library.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    context = ctypes.c_void_p(library.ZSTD_createCCtx())
    library.ZSTD_CCtx_setParameter(context, 201, 1)
    room = ctypes.create_string_buffer(library.ZSTD_compressBound(len(data)))
    library.ZSTD_compress2.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t,
                                       ctypes.c_char_p, ctypes.c_size_t]
    length = library.ZSTD_compress2(context, room, len(room), data, len(data))
    library.ZSTD_freeCCtx(context)
    return room.raw[:length]


PACKERS = {'gz': lambda data: gzip.compress(data, 1), 'zst': zstd}


def packed_text(rng):
    """A text of any size, with a byte order mark, a fault, one long value, or none of them."""
    values = ['5" nail', 'a\nb', '"', '', None, 'x,y', '\r\n', 'plain', '"\n' * 9]
    lines = [','.join([str(i)] + [write_field(rng.choice(values), ',', '"', False)] * 2) + '\n'
             for i in range(rng.choice([0, 1, 100, 3000, 100000, 200000]))]
    if lines and rng.random() < 0.3:
        lines[rng.randrange(len(lines))] = rng.choice(['1,2\n', '1,2,3,4\n', '1,"2"x,3\n'])
    if lines and rng.random() < 0.3:
        lines[rng.randrange(len(lines))] = '7,"' + 'long\n' * 700000 + '",\n'
    return rng.choice(['', '', '\ufeff']) + 'id,a,b\n' + ''.join(lines)


def check_packed(rng, shell):
    """A packed text is read as it is plain; into a new table, and into one that is there."""
    data, ending = packed_text(rng).encode(), rng.choice(list(PACKERS))
    places = sorted(rng.randint(0, len(data)) for _ in range(rng.choice([0, 0, 1, 5])))
    packed = b''.join(PACKERS[ending](data[a:b]) for a, b in zip([0, *places],
                                                                 [*places, len(data)]))
    name = f'p.csv.{ending}'
    (Path(shell.folder) / 'p.csv').write_bytes(data)
    (Path(shell.folder) / name).write_bytes(packed)
    table = rng.choice(['', 'create table t (id integer, a text, b text);\n'])
    found = []
    for file in 'p.csv', name:
        script = (f'{table}.import {file} t\nselect count(*), sum(length(a)), min(id) from t;\n'
                  f".schema\nselect count(*) from '{file}';\n")
        out, err = shell.run(script, '--batch', '-quote')
        found.append((out, err.replace(name, 'p.csv')))
    if found[0] != found[1]:
        return f'{name}, {len(data)} bytes, {places}\n{found[0]}\n{found[1]}'
    return None


def check_damaged(rng, shell):
    """Every thousandth cut, and bits that are wrong anywhere, are refused."""
    ending = rng.choice(list(PACKERS))
    data = b'id,a\n' + b''.join(b'%d,%d\n' % (i, rng.randrange(10**6)) for i in range(30000))
    packed, script, name = PACKERS[ending](data), '', f'd.csv.{ending}'
    bad = [packed[:length] for length in [*range(1000, len(packed), 1000), len(packed) - 1]]
    for _ in range(20):
        flipped = bytearray(packed)
        flipped[rng.randrange(30, len(packed))] ^= 1 << rng.randrange(8)
        bad.append(bytes(flipped))
    bad.append(packed + b'x')
    script = 'create table t (id integer, a integer);\n'
    for number, content in enumerate(bad):
        (Path(shell.folder) / f'{number}{name}').write_bytes(content)
        script += f'.import {number}{name} t\n.import {number}{name} u{number}\n'
    out, err = shell.run(script + 'select count(*) from t;\n.tables\n', '--batch', '-list',
                         '--no-header')
    told = err.count('the packed file ends in the middle') + err.count('the packed file is damaged')
    if out != '0\nt\n' or told != 2 * len(bad):
        return f'{name}: {out!r}, {told} of {2 * len(bad)}\n{err[:2000]}'
    return None


LARGE_ROWS = 24000
PIECE = 800  # rows that are written by the thread that reads them


def check_many_rows(rng, shell):
    """Many rows, which all cores write, are the bytes of a few at a time."""
    script = large_table(rng, shell.folder)
    mode = rng.choice(['csv', 'tsv', 'jsonlines', 'json', 'markdown', 'quote', 'insert', 'tabs'])
    script += f'.mode {mode}\nselect * from t order by id;\n'
    for first in range(0, LARGE_ROWS, PIECE):
        script += (f'.print {RECORD}\nselect * from t where id between {first} '
                   f'and {first + PIECE - 1} order by id;\n')
    all_cores = os.sched_getaffinity(0)
    cores = rng.randint(1, len(all_cores))
    os.sched_setaffinity(0, rng.sample(sorted(all_cores), cores))
    try:
        out, err = shell.run(script, '--no-header')
    finally:
        os.sched_setaffinity(0, all_cores)
    whole, *pieces = out.split(RECORD + '\n')
    if mode == 'markdown':  # which has names above the rows, asked for or not
        head = whole[:whole.index('| 0 |')]
        pieces = [head] + [piece.removeprefix(head) for piece in pieces]
    if mode == 'json':
        whole, pieces = whole[1:-2], [',\n'.join(piece[1:-2] for piece in pieces)]
    if err or whole != ''.join(pieces) or not whole:
        length = sum(map(len, pieces))
        return f'{mode}, {cores} cores: {len(whole)} bytes, not {length}\n{err[:999]}'
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('binary')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--tables', type=int, default=300)
    parser.add_argument('--texts', type=int, default=600)
    options = parser.parse_args()
    passed = failed = 0
    plan = [(check_table, options.tables), (check_dialect, options.texts // 3),
            (check_text, options.texts), (check_large, 2), (check_many_rows, 8),
            (check_packed, options.texts // 15), (check_damaged, 4)]
    with tempfile.TemporaryDirectory(prefix='vdbq-csv-') as folder:
        shell = Shell(options.binary, folder)
        for check, count in plan:
            for number in range(count):
                seed = f'{check.__name__} {options.seed} {number}'
                wrong = check(random.Random(seed), shell)
                passed, failed = passed + (not wrong), failed + bool(wrong)
                if wrong and failed <= 10:
                    print(f'FAILED  {seed}\n{wrong}', flush=True)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads databases by docs/file-format.md and compares rows with the shell's.

    file_format.py BINARY

The page's tables are the only description of the file that this test has: it
takes offsets, sizes, types and numbers from there. Every checksum, fact and
value is compared; every encoding that cl/tablet.h names must be met. The last
line is "N passed, N failed".
"""
import ctypes
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
from datetime import date, datetime, timedelta

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = re.compile(r'^<!-- (\w+(?: \w+)?) -->\n((?:\|.*\n)+)', re.M)
NO_KEY = 0xffffffff
ROWS = 1500  # of the table, in tablets of 700
SHOWN = 10   # faults


# ------------------------------------------------------------------ page --

def read_page():
    """The tables that are marked, by what they are of: rows of cells."""
    text = (ROOT / 'docs' / 'file-format.md').read_text('utf-8')
    return {name: [[cell.strip().strip('`') for cell in line.strip('|\n').split(' | ')]
                   for line in table.splitlines()[2:]]
            for name, table in TABLE.findall(text)}


PAGE = read_page()
TYPES = {int(number): (name, int(width)) for name, number, _, width in PAGE['types']}
ENCODINGS = {int(number): name for name, number, _ in PAGE['encodings']}
COLLATIONS = {name: int(number) for name, number, _ in PAGE['collations']}


def fixed(layout, data, at=0):
    """A record with an offset for each field."""
    return {field: number(data, at + int(offset), int(size))
            for offset, size, field, _ in PAGE['layout ' + layout]}


def number(data, at, size):
    """An unsigned number; a magic is the bytes of one."""
    return int.from_bytes(data[at:at + size], 'little')


class Reader:
    """Reads records whose fields follow one another."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        self.at += size
        return self.data[self.at - size:self.at]

    def count(self):
        return int.from_bytes(self.take(4), 'little')

    def value(self, kind, outer):
        if kind.isdigit():
            return int.from_bytes(self.take(int(kind)), 'little')
        if kind == 'name':
            return self.take(self.count()).decode('utf-8')
        if kind == 'numbers':
            return [self.count() for _ in range(self.count())]
        if ' × ' in kind:
            many, what = kind.split(' × ')
            return [self.value(what, outer) for _ in range(outer[many])]
        return self.record(kind, outer)

    def record(self, layout, outer=()):
        """What is counted by a field of the record around this one may be used."""
        found = dict(outer)
        for size, field, _ in PAGE['layout ' + layout]:
            if field == 'facts' and found['magic'] == int.from_bytes(b'VDBQCAT4', 'little'):
                found |= self.record('tablet_edit', found)
            if layout == 'index' and field == 'columns' and found['flags'] & 2:
                return found | self.record('index_keys', found)
            found[field] = self.value(size, found)
        return found


# ---------------------------------------------------------------- checks --

class Checks:
    def __init__(self):
        self.passed, self.failed = 0, 0

    def equal(self, found, expected, what):
        if found == expected:
            self.passed += 1
            return
        self.failed += 1
        if self.failed > SHOWN:
            return
        print(f'{what}: {found!r}, not {expected!r}'[:300])


def xxh3(data):
    library = ctypes.CDLL('libxxhash.so.0')
    library.XXH3_64bits.restype = ctypes.c_uint64
    library.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    return library.XXH3_64bits(bytes(data), len(data))


AHEAD = 2048  # where a page has the head that was announced for the other page


def check_head(checks, data, at, name):
    """A copy of a head whose checksums are right, and what else its page has."""
    head = fixed('head', data, at)
    checks.equal(data[at:at + 8], b'\x89VDBQ\r\n\x1a', f'{name}: magic')
    checks.equal((head['format'], head['page_bytes'], head['reserved']), (2, 4096, 0), name)
    checks.equal(head['checksum'], xxh3(data[at:at + 64]), f'{name}: checksum')
    checks.equal(head['checksum_all'], xxh3(data[at:at + 112]), f'{name}: checksum_all')
    ahead = data[at + AHEAD:at + AHEAD + 120]
    if any(ahead):
        checks.equal(fixed('head', data, at + AHEAD)['checksum_all'], xxh3(ahead[:112]),
                     f'{name}: an announced head behind it')
    checks.equal(any(data[at + 120:at + AHEAD] + data[at + AHEAD + 120:at + 4096]), False,
                 f'{name}: zeros behind it')
    return head


def check_heads(checks, data):
    """The head of the newest state; each has two equal copies."""
    heads = [check_head(checks, data, page, f'head at {page}') for page in (0, 4096)]
    for page, head in zip((0, 4096), heads):
        copy = check_head(checks, data, head['copies'] + page, f'copy of the head at {page}')
        checks.equal(copy, head, f'copy of the head at {page}')
    newest = max(heads, key=lambda head: head['generation'])
    checks.equal(newest['end'] <= len(data) and newest['end'] % 4096, 0, 'end')
    return newest


# ---------------------------------------------------------------- values --

def packed_code(data, at, bits, i):
    """Code i of lines of 16 lanes of 32-bit words."""
    lane, first = i % 16, i // 16 * bits
    words = [number(data, at + (first // 32 + k) * 64 + lane * 4, 4) for k in (0, 1)]
    return (words[0] | words[1] << 32) >> first % 32 & ((1 << bits) - 1)


def run_of(data, column, i):
    """The run of row i, of heads behind the runs' values."""
    heads = column['values'] + (column['base'] * column['width'] + 63) // 64 * 64
    starts, before = (number(data, heads + i // 32 * 8 + k, 4) for k in (0, 4))
    return before + (starts & (2 << i % 32) - 1).bit_count() - 1


def plain(data, at, width, real):
    form = {(4, False): '<i', (8, False): '<q', (4, True): '<f', (8, True): '<d'}[width, real]
    return struct.unpack_from(form, data, at)[0]


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def stored(tablet, column, i):
    """Value i of a column as the encoding has it."""
    encoding, real = ENCODINGS[column['encoding']], column['type'] in (3, 4)
    base = signed(column['base'])
    if encoding == 'PLAIN':
        return plain(tablet, column['values'] + i * column['width'], column['width'], real)
    if encoding == 'SEQUENCE':
        return base + i
    if encoding == 'CONSTANT':
        return plain(struct.pack('<q', base), 0, column['width'], True) if real else base
    if encoding == 'RUNS':
        return plain(tablet, column['values'] + run_of(tablet, column, i) * column['width'],
                     column['width'], False)
    return base + packed_code(tablet, column['values'], column['bits'], i)


def unzstd(data, size):
    library = ctypes.CDLL('libzstd.so.1')
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p,
                                        ctypes.c_size_t]
    room = ctypes.create_string_buffer(size + 1)
    found = library.ZSTD_decompress(room, size, bytes(data), len(data))
    assert found == size, 'a unit has another size'
    return room.raw[:size]


def numbers_at(data, at, count):
    """So many numbers of 7 bits a byte, and where they end."""
    found = []
    for _ in range(count):
        value = shift = 0
        while data[at] & 128:
            value, shift, at = value | (data[at] & 127) << shift, shift + 7, at + 1
        found.append(value | data[at] << shift)
        at += 1
    return found, at


def unit_texts(raw, words):
    shared, at = numbers_at(raw, 0, words)
    rest, at = numbers_at(raw, at, words)
    texts, before = [], b''
    for same, more in zip(shared, rest):
        before = before[:same] + raw[at:at + more]
        texts.append(before)
        at += more
    assert at == len(raw), 'bytes of a unit are left'
    return texts


def packed_dictionary(tablet, at):
    head, found = fixed('packed_dictionary', tablet, at), []
    first = at + 16 + 16 * head['units']
    for i in range(head['units']):
        unit = fixed('unit', tablet, at + 16 + 16 * i)
        texts = unit_texts(unzstd(tablet[first:first + unit['packed']], unit['raw']),
                           unit['words'])
        assert unit['bytes'] == sum(map(len, texts)), 'bytes of a unit'
        first += unit['packed']
        found += texts
    assert (len(found), sum(map(len, found))) == (head['count'], head['bytes']), 'texts'
    return [text.decode('utf-8') for text in found]


def dictionary(tablet, head, column):
    at = head['variable'] + column['words'] * 64
    if column['words_packed']:
        return packed_dictionary(tablet, at)
    words = fixed('dictionary', tablet, at)
    ends = [number(tablet, at + 8 + 4 * i, 4) for i in range(words['count'])]
    first = at + 8 + 4 * words['count']
    return [tablet[first + begin:first + end].decode('utf-8')
            for begin, end in zip([0, *ends], ends)]


def shown(described, value, texts):
    """A value as the shell's format `quote` has it."""
    kind = TYPES[described['type']][0]
    if kind == 'TEXT':
        return "'" + texts[value].replace("'", "''") + "'"
    if kind == 'DATE':
        return f"'{date(1970, 1, 1) + timedelta(days=value)}'"
    if kind == 'TIMESTAMP':
        moment = f'{datetime(1970, 1, 1) + timedelta(microseconds=value)}'
        return f"'{moment.rstrip('0') if '.' in moment else moment}'"
    if kind == 'DECIMAL':
        sign, scale = '-' * (value < 0), described['scale']
        digits = str(abs(value)).rjust(scale + 1, '0')
        return f'{sign}{digits[:-scale]}.{digits[-scale:]}'
    return value


def facts_of(described, values, texts):
    """What the catalogue should know of stored values."""
    known = [value for value in values if value is not None]
    if TYPES[described['type']][0] == 'TEXT':
        return len(values) - len(known), 0, len(texts)
    limits = (min(known), max(known)) if known else (0, 0)
    real = TYPES[described['type']][0] in ('FLOAT', 'DOUBLE')
    bits = [number(struct.pack('<d' if real else '<q', limit), 0, 8) for limit in limits]
    return len(values) - len(known), *(bits if known else (0, 0))


def read_column(checks, tablet, head, entry, described, i):
    """The values of column i of a tablet, and what it takes to read them."""
    at = 64 + 64 * i
    column = fixed('tablet_column', tablet, at)
    name = described['name']
    checks.equal(column['width'], TYPES[described['type']][1], f'{name}: width')
    nulls = column['nulls']
    null = [column['null_count'] == head['rows'] or
            nulls != 0 and bool(tablet[nulls + k // 8] >> k % 8 & 1) for k in range(head['rows'])]
    values = [None if null[k] else stored(tablet, column, k) for k in range(head['rows'])]
    texts = dictionary(tablet, head, column) if column['type'] == 5 else []
    checks.equal(texts, sorted(set(texts), key=str.encode), f'{name}: its dictionary')
    if 'facts' in entry:
        facts = entry['facts'][i]
        checks.equal((facts['null_count'], facts['minimum'], facts['maximum']),
                     facts_of(described, values, texts), f'{name}: facts')
    return [None if v is None else shown(described, v, texts) for v in values], \
        {ENCODINGS[column['encoding']]} | ({'packed words'} if column['words_packed'] else set())


def check_sums(checks, tablet, sums):
    """Those of a tablet's pages, as they stand behind it, if they do."""
    pages = [tablet[at:at + 16384] for at in range(0, len(tablet), 16384)]
    if sums:
        checks.equal(len(pages) > 1, True, 'sums of more than one page')
        expected = b''.join(xxh3(page).to_bytes(8, 'little') for page in pages)
        checks.equal(sums, expected + bytes(-len(expected) % 64), 'sums of pages')
    return sums


def read_tablet(checks, data, table, entry):
    """Rows of a tablet, and the encodings of its columns."""
    block = data[entry['offset']:entry['offset'] + entry['size']]
    tablet = block[:fixed('tablet_head', block)['size']]
    sums = check_sums(checks, tablet, block[len(tablet):])
    checks.equal(entry['checksum'], xxh3(sums or tablet), 'checksum of a tablet')
    checks.equal(entry['offset'] % 4096, 0, 'place of a tablet')
    head = fixed('tablet_head', tablet)
    checks.equal(tablet[:8], b'VDBQTABL', 'magic of a tablet')
    checks.equal((head['columns'], head['rows'], head['size'], head['key']),
                 (table['columns'], entry['rows'], len(tablet), table['key']), 'tablet')
    columns = [read_column(checks, tablet, head, entry, described, i)
               for i, described in enumerate(table['column'])]
    return list(zip(*(values for values, _ in columns))), \
        set().union(*(met for _, met in columns)) | ({'sums of pages'} if sums else set())


# ----------------------------------------------------------------- edits --

def read_value(reader, described):
    """A value of an edit; of a text its length."""
    name, width = TYPES[described['type']]
    if name in ('FLOAT', 'DOUBLE'):
        return plain(reader.take(width), 0, width, True)
    return int.from_bytes(reader.take(width), 'little', signed=name != 'TEXT')


def read_edit_column(checks, reader, table, rows):
    """Puts the new values of a column in their places."""
    number, count = reader.count(), reader.count()
    described = table['column'][number]
    places = [reader.count() for _ in range(count)]
    checks.equal(places, sorted(set(places)), 'places of new values')
    nulls = [reader.take(1) == b'\1' for _ in places]
    values = [read_value(reader, described) for _ in places]
    if TYPES[described['type']][0] == 'TEXT':
        texts = [reader.take(length).decode('utf-8') for length in values]
        values = range(count)
    else:
        texts = []
    for place, null, value in zip(places, nulls, values):
        rows[place][number] = None if null else shown(described, value, texts)


def read_edited(checks, data, table, entry):
    """Rows of a tablet with its edit over them; how many are gone, and columns new."""
    block = data[entry['edit']:entry['edit'] + entry['edit_size']]
    checks.equal(entry['edit_checksum'], xxh3(block), 'checksum of an edit')
    reader = Reader(block)
    checks.equal(reader.take(8), b'VDBQEDIT', 'magic of an edit')
    reader.take(16)
    count, gone, columns, _ = (reader.count() for _ in range(4))
    base = {key: value for key, value in entry.items() if key != 'facts'} | {'rows': count}
    rows = [list(row) for row in read_tablet(checks, data, table, base)[0]]
    places = {reader.count() for _ in range(gone)}
    for _ in range(columns):
        read_edit_column(checks, reader, table, rows)
    checks.equal(reader.at, len(block), 'end of an edit')
    left = [row for place, row in enumerate(rows) if place not in places]
    checks.equal((len(places), len(left)), (gone, entry['rows']), 'rows with an edit')
    return left, gone, columns


def check_edits(checks, binary, path):
    """Few rows change: edits beside tablets, which stay; VACUUM leaves none."""
    sql = """update t set few = few + 1 where id in (100, 800);
             update t set word = 'new', wide = null where id in (101, 801);
             update t set word = null where id = 102; delete from t where id in (99, 100, 103)"""
    subprocess.run([binary, '--device', 'host', path, sql], check=True,
                   env=os.environ | {'VDBQ_TABLET_ROWS': '700'})
    data = path.read_bytes()
    head = check_heads(checks, data)
    checks.equal((head['features_read'] & 8, head['version_read']), (8, 3), 'features of the head')
    catalogue = Reader(data[head['catalogue']:]).record('catalogue')
    table = next(table for table in catalogue['table'] if table['name'] == 't')
    rows, edits = [], []
    for entry in table['tablet']:
        if entry['edit'] != 0:
            more, gone, columns = read_edited(checks, data, table, entry)
            edits.append((gone, columns))
        else:
            more = read_tablet(checks, data, table, entry)[0]
        rows += more
    checks.equal(sorted(edits), [(0, 3), (3, 2)], 'edits')
    check_rows(checks, rows, ask(binary, path, 'select * from t').splitlines())
    ask(binary, path, 'vacuum')
    checks.equal(check_heads(checks, path.read_bytes())['features_read'] & 8, 0, 'features')


# --------------------------------------------------------------- samples --

def hash_of(n):
    """As the page has it."""
    mask = (1 << 64) - 1
    h = n * 0x9e3779b97f4a7c15 & mask
    h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9 & mask
    return h ^ h >> 32


def check_samples(checks, data, head, catalogue, rows):
    """Table t has a sample, of the rows that the page says, and the empty one has none."""
    tables = catalogue['table']
    checks.equal(head['features'], 3, 'features')
    start = (head['catalogue'] + head['catalogue_size'] + 7) // 8 * 8
    end = start + 24 * len(tables)
    checks.equal(number(data, end, 8), xxh3(data[start:end]), 'checksum of the samples')
    for i, table in enumerate(tables):
        place = fixed('sample', data, start + 24 * i)
        checks.equal(place['offset'] != 0, table['name'] == 't', 'whether there is a sample')
        if place['offset']:
            check_sample(checks, data, table, place, rows)


def read_sample(checks, data, table, place):
    """Its rows, each with its number behind the table's columns."""
    rowid = {'type': 2, 'name': 'rowid', 'scale': 0}
    described = table | {'key': NO_KEY, 'columns': table['columns'] + 1,
                         'column': [*table['column'], rowid]}
    count = number(data, place['offset'] + 16, 8)
    return read_tablet(checks, data, described, place | {'rows': count})[0]


def check_whole_sample(checks, data, head, tables, name):
    """The sample of a table of which nothing was deleted."""
    start = (head['catalogue'] + head['catalogue_size'] + 7) // 8 * 8
    at = [table['name'] for table in tables].index(name)
    sample = read_sample(checks, data, tables[at], fixed('sample', data, start + 24 * at))
    rows = sum(tablet['rows'] for tablet in tables[at]['tablet'])
    checks.equal([line[-1] for line in sample], sorted(sorted(range(rows), key=hash_of)[:64]),
                 'rows of a whole sample')


def check_sample(checks, data, table, place, rows):
    sample = read_sample(checks, data, table, place)
    numbers = [line[-1] for line in sample]
    checks.equal(numbers, sorted(set(numbers)), 'numbers of the rows of the sample')
    checks.equal(32 <= len(sample) <= 64, True, 'rows of the sample that deletions have left')
    checks.equal(len(rows[0][6]) > 256, True, 'a text that is cut')
    expected = [(*rows[n], n) for n in numbers]
    checks.equal([line[:6] + line[7:] for line in sample],
                 [line[:6] + line[7:] for line in expected], 'rows of the sample')
    for got, whole in zip(sample, expected):
        if whole[6] is None or len(whole[6].encode()) <= 256:
            checks.equal(got[6], whole[6], 'a text of the sample')
            continue
        size = len(got[6].encode()) - 2  # without quotes
        checks.equal(256 < size <= 260 and whole[6].startswith(got[6][:-1]), True,
                     'a text that was cut')


# ------------------------------------------------------------------ runs --

def make_runs(binary, path):
    """Rows in several orders, with NULLs, and indexes over them."""
    numbers = ', '.join(f'({n})' for n in range(200))
    ask(binary, path, 'create table digits (n integer); '
                      'create table r (k integer, s text, x double, y double); '
                      f'insert into digits values {numbers}; insert into r select '
                      'case when a.n % 7 > 0 then (a.n * 200 + b.n) * 7919 % 10007 end, '
                      "'w' || (a.n * b.n % 97), (a.n - 50) / 4.0, case when a.n <> b.n then "
                      'b.n * 1e300 end from digits a, digits b; '
                      'create index rk on r (k); create index rs on r (s, k); '
                      'create index again on r (s, k); create index small on digits (n); '
                      'create index wide on r (x, y, k)')


def check_runs(checks, binary, path):
    """Each tablet of r, and no other, has the runs that the page says."""
    make_runs(binary, path)
    data = path.read_bytes()
    head = check_heads(checks, data)
    checks.equal(head['features'], 3, 'features')
    catalogue = Reader(data[head['catalogue']:]).record('catalogue')
    table = next(table for table in catalogue['table'] if table['name'] == 'r')
    start = (head['catalogue'] + head['catalogue_size'] + 7) // 8 * 8
    start += 24 * len(catalogue['table']) + 8
    count = number(data, start, 8)
    end = start + 8 + 64 * count
    checks.equal(number(data, end, 8), xxh3(data[start:end]), 'checksum of the runs')
    runs = [fixed('run', data, start + 8 + 64 * i) for i in range(count)]
    checks.equal(sorted((run['columns'], run['first'], run['second'], run['third'])
                        for run in runs),
                 [(1, 0, 0, 0), (2, 1, 0, 0), (3, 2, 3, 0)], 'runs')
    entry = table['tablet'][0]
    rows, _ = read_tablet(checks, data, table, entry)
    for run in runs:
        checks.equal((run['origin'], run['number']), (entry['origin'], entry['number']),
                     'the tablet of a run')
        check_run(checks, data, run, rows)
    check_damaged(checks, binary, path, data, runs, ASKED)


ASKED = """select * from r where k = 17; select * from r where s = 'w9' and k > 9000;
           select min(k), max(k) from r; select * from r where x = 2.5 and y = 7e300;
           update r set k = 17 where k = 7919; select * from r where k = 17"""


def check_damaged(checks, binary, path, data, runs, asked):
    """A run that is damaged, in its head or in a page, costs itself alone."""
    answers = []
    for where in ('sound', 'head', 'pages'):
        damaged = bytearray(data)
        for run in runs if where != 'sound' else ():
            first, end = run['head_size'] - 100, run['head_size']
            if where == 'pages':
                first, end = run['head_size'] + 200, run['size']
            for place in range(run['offset'] + first, run['offset'] + end, 50):
                damaged[place] ^= 1
        path.write_bytes(damaged)
        answers.append(ask(binary, path, asked))
    checks.equal(answers[1:], answers[:1] * 2, 'answers where runs are damaged')


KEYED = """select id from k where lower(s) = 'w9'; select id from k where a * 2 = 18 and s > 'w';
           select id from k where a = 7 and b > 5; select min(a), max(a) from k where b > 5;
           update k set s = 'W9', b = 9 where id = 5; select id from k where lower(s) = 'w9'"""


def check_keyed(checks, binary, path):
    """Indexes of expressions and of some rows: what the catalogue says, and their runs."""
    ask(binary, path, 'create table digits (n integer); create table k (id integer, a integer, '
                      'b integer, s text); insert into digits values '
                      + ', '.join(f'({n})' for n in range(150)) + '; insert into k select '
                      'x, nullif(x * 7919 % 1009, 3), x % 10, '
                      "case when x % 11 > 0 then substr('wW', 1 + x % 2, 1) || (x % 97) end "
                      'from (select a.n * 150 + b.n as x from digits a, digits b); '
                      'create index kl on k (lower(s)); create index kd on k (a * 2, s desc); '
                      'create index kp on k (a) where b > 5; create index kn on k (id) where b > 9')
    data = path.read_bytes()
    head = check_heads(checks, data)
    checks.equal((head['features_read'] & 16, head['version_read']), (16, 3), 'features')
    catalogue = Reader(data[head['catalogue']:]).record('catalogue')
    described = {index['name']: index for index in catalogue['index']}
    checks.equal([(name, [(key['sql'], TYPES[key['type']][0]) for key in index['key']],
                   index['reads'], index['where']) for name, index in sorted(described.items())],
                 [('kd', [('a * 2', 'BIGINT'), ('s', 'TEXT')], [1, 3], ''),
                  ('kl', [('lower(s)', 'TEXT')], [3], ''),
                  ('kn', [('id', 'INTEGER')], [0, 2], 'b > 9'),
                  ('kp', [('a', 'INTEGER')], [1, 2], 'b > 5')], 'keys of indexes')
    table = next(table for table in catalogue['table'] if table['name'] == 'k')
    rows, _ = read_tablet(checks, data, table, table['tablet'][0])
    rows = [[*row[:3], row[3] and row[3].strip("'")] for row in rows]
    keys = {'kl': [[lower(row[3])] for row in rows],
            'kd': [[row[1] and row[1] * 2, row[3]] for row in rows],
            'kp': [[row[1]] if row[2] > 5 else None for row in rows],
            'kn': [None for _ in rows]}
    start = (head['catalogue'] + head['catalogue_size'] + 7) // 8 * 8
    start += 24 * len(catalogue['table']) + 8
    runs = [fixed('run', data, start + 8 + 64 * i) for i in range(number(data, start, 8))]
    for name, index in described.items():
        origin = table['tablet'][0]['origin'] ^ index['origin']
        found = [run for run in runs if run['origin'] == origin]
        checks.equal(len(found), 1, f'runs of {name}')
        for run in found:
            check_run_of_keys(checks, data, run, keys[name])
    check_damaged(checks, binary, path, data, runs, KEYED)
    ask(binary, path, 'drop index kl; drop index kd; drop index kp; drop index kn')
    checks.equal(check_heads(checks, path.read_bytes())['features_read'] & 16, 0, 'features')


def damage(path, data, head, place, bytes_):
    """Writes other bytes into the catalogue, with checksums that are right again."""
    made, first = bytearray(data), head['catalogue']
    made[first + place:first + place + len(bytes_)] = bytes_
    checksum = xxh3(made[first:first + head['catalogue_size']]).to_bytes(8, 'little')
    for page in (0, 4096, head['copies'], head['copies'] + 4096):
        if fixed('head', made, page)['generation'] == head['generation']:
            made[page + 40:page + 48] = checksum
            made[page + 64:page + 72] = xxh3(made[page:page + 64]).to_bytes(8, 'little')
            made[page + 112:page + 120] = xxh3(made[page:page + 112]).to_bytes(8, 'little')
    path.write_bytes(made)


def check_checks(checks, binary, path):
    """CHECKs: what the catalogue says of them, and what is refused when it is read."""
    ask(binary, path, 'create table n (a integer); create table c (a integer, b text check '
                      '(b > 7 or b is null), constraint "the one" check (length(b) > a)); '
                      "insert into c values (1, '88')")
    data = path.read_bytes()
    head = check_heads(checks, data)
    checks.equal((head['features_read'], head['version_read']), (64, 3), 'features of a CHECK')
    reader = Reader(data[head['catalogue']:head['catalogue'] + head['catalogue_size']])
    catalogue, start = reader.record('catalogue'), reader.at
    found = reader.record('checks')
    checks.equal(reader.at, len(reader.data), 'end of the CHECKs')
    table = next(table['id'] for table in catalogue['table'] if table['name'] == 'c')
    checks.equal([(one['of'], one['name'], one['sql'], one['reads']) for one in found['check']],
                 [(table, '', 'b > 7 or b is null', [1]),
                  (table, 'the one', 'length(b) > a', [0, 1])], 'CHECKs')
    text, numbers = start + 16, start + 16 + len('b > 7 or b is null')
    for place, bytes_ in ((start, b'\0'), (start, b'\1'), (start, b'\3'), (start + 3, b'\x7f'),
                          (start + 4, b'\7'), (start + 8, b'\2'), (start + 12, b'\xff' * 4),
                          (text, b')'), (text, b'?'), (text, b'\0'), (text, b'('), (numbers, b'\0'),
                          (numbers, b'\xff' * 4), (numbers + 4, b'\2'), (numbers + 4, b'\xff' * 4)):
        damage(path, data, head, place, bytes_)
        done = subprocess.run([binary, '-d', 'host', path, 'select a from c'], text=True,
                              capture_output=True)
        checks.equal((done.returncode > 0, 'error: ' in done.stderr), (True, True),
                     f'a CHECK with {bytes_} at {place - start}')
    for bytes_ in (b'z', b'a'):  # an expression, but not of the columns that are read
        damage(path, data, head, text, bytes_)
        done = subprocess.run([binary, '-d', 'host', path, "insert into c values (1, '99')"],
                              text=True, capture_output=True)
        checks.equal((done.returncode > 0, 'CHECK ' in done.stderr and 'damaged' in done.stderr),
                     (True, True), f'a CHECK of {bytes_}')
    path.write_bytes(data)
    ask(binary, path, 'drop table c')
    checks.equal(check_heads(checks, path.read_bytes())['features_read'], 0, 'features')


def lower(text):
    return text if text is None else text.lower()


def digest(value):
    """What stands for a text that is a key; other values stand for themselves."""
    if not isinstance(value, str):
        return value
    data = value.encode()
    head = int.from_bytes(data[:5].ljust(5, b'\0'), 'big')
    return (head << 24 | xxh3(data) & 0xffffff) - 2 ** 63


def check_run_of_keys(checks, data, run, keys):
    """The run of some rows, whose keys are given."""
    had = [n for n, key in enumerate(keys) if key is not None]
    order, described, ranked = read_run(checks, data, run, len(keys), len(had))
    made = {n: key_of([digest(value) for value in keys[n]], described, ranked) for n in had}
    expected = sorted(had, key=lambda n: made[n])
    checks.equal([row for _, row in order], expected, 'the order of a run of keys')
    checks.equal([key for key, _ in order], [made[n] for n in expected], 'the keys of a run')


def read_run(checks, data, run, tablet_rows, rows):
    """The keys of a run and the numbers of their rows, and what is said of the columns."""
    block = data[run['offset']:run['offset'] + run['size']]
    head = fixed('run_head', block)
    checks.equal(run['checksum'], xxh3(block[:run['head_size']]), 'checksum of a head of a run')
    checks.equal((block[:8], head['rows'], head['tablet_rows'], head['columns']),
                 (b'VDBQRUNS', rows, tablet_rows, run['columns']), 'head of a run')
    columns = [fixed('run_column', block, 24 + 32 * i) for i in range(3)]
    at = 24 + 32 * 3 + 8 * sum(column['ranked'] for column in columns)
    ranked = [number(block, i, 8) for i in range(24 + 32 * 3, at, 8)]
    described = {'key': NO_KEY, 'columns': 2,
                 'column': [{'type': 2, 'name': 'key', 'scale': 0},
                            {'type': 1, 'name': 'row', 'scale': 0}]}
    found, pages = [], -(-rows // head['page_rows'])
    for i in range(pages):
        page = fixed('run_page', block, at + 24 * i)
        tablet = block[page['offset']:page['offset'] + page['size']]
        count = min(head['page_rows'], rows - len(found))
        more, _ = read_tablet(checks, tablet, described, page | {'offset': 0, 'rows': count})
        more = [(key + 2 ** 63, row) for key, row in more]
        checks.equal(more[0][0], page['key'], 'first key of a page')
        found += more
    checks.equal((at + 24 * pages + 63) // 64 * 64, run['head_size'], 'size of a head of a run')
    return found, columns[:run['columns']], ranked


def value_number(value):
    """A value of a row as the number that codes are made of."""
    if isinstance(value, float):
        bits = int.from_bytes(struct.pack('<d', value + 0.0), 'little')
        return bits ^ (2 ** 64 - 1 if bits >> 63 else 2 ** 63)
    return value ^ 2 ** 63 if value >= 0 else value + 2 ** 63


def key_of(values, columns, ranked):
    """The key of a row; its texts are codes."""
    key, first = 0, 0
    for value, column in zip(values, columns):
        code = 0
        if value is not None and column['is_ranked']:
            code = ranked.index(value_number(value), first, first + column['ranked']) - first + 1
        elif value is not None:
            code = value_number(value) - column['base'] + 1
        first += column['ranked']
        key = key << column['bits'] | code
    return key


def check_run(checks, data, run, rows):
    order, described, ranked = read_run(checks, data, run, len(rows), len(rows))
    columns = (run['first'], run['second'], run['third'])[:run['columns']]
    words = [{word: i for i, word in enumerate(sorted({row[c] for row in rows
                                                       if isinstance(row[c], str)},
                                                      key=str.encode))} for c in columns]
    keys = [key_of([words[i].get(row[c], row[c]) for i, c in enumerate(columns)],
                   described, ranked) for row in rows]
    expected = sorted(range(len(rows)), key=lambda n: keys[n])
    checks.equal([row for _, row in order], expected, 'the order of a run')
    checks.equal([key for key, _ in order], [keys[n] for n in expected], 'the keys of a run')


# ------------------------------------------------------------- databases --

COLUMNS = '''id integer primary key, same integer not null, few smallint, many bigint, real float,
  wide double, word text, flag boolean default true, money decimal(9,2), day date,
  moment timestamp, nothing text, run integer, note text, unique (id, many)'''
ROW = '''({id}, 7, {few}, {many}, {real}, {wide}, {word}, {flag}, {money}, {day}, {moment}, null,
  {run}, {note})'''


def row(i):
    """A row of values that lead to every encoding."""
    some = i % 11 != 3
    return ROW.format(
        id=i + 5, few=i * 37 % 300 - 100, many=i * 7919 % 1000003 - 5 if some else 'null',
        real=i * 0.25, wide=i / 3 if some else 'null', flag=('true', 'false', 'null')[i % 3],
        word=(f"'it''s é {i * 31 % 97}'" if i else f"'{'é' * 300}'") if some else 'null',
        money=f'{i * 13 % 999 - 400}.25',
        day=f"date '19{i % 90 + 10}-03-01'", run=i // 100,
        note=f"'a note of many, é{i * 7919 % 10007} {'and on ' * (i % 9)}"
             f"{'z' * 70000 * (i == 903)}'",
        moment=f"timestamp '20{i % 30 + 10}-12-24 18:30:0{i % 10}.5'")


def make(binary, path, encoding):
    rows = ', '.join(map(row, range(ROWS)))
    sql = f'''create table t ({COLUMNS}); create table empty (a integer);
      create view v as select id from t; create unique index i on t (id, many);
      insert into t values {rows}; delete from t where id between 20 and 60; vacuum;'''
    environment = os.environ | {'VDBQ_ENCODING': encoding, 'VDBQ_TABLET_ROWS': '700'}
    subprocess.run([binary, '--device', 'host', path], input=sql, text=True, check=True,
                   env=environment)


def ask(binary, path, sql):
    done = subprocess.run([binary, '--device', 'host', '--batch', '--mode', 'quote', path, sql],
                          text=True, check=True, capture_output=True)
    return done.stdout


def literal(value):
    return 'NULL' if value is None else value


def same(ours, theirs):
    """A number as text has as many digits as its type needs."""
    return ours == theirs if isinstance(ours, str) else float(theirs) == ours or \
        abs(float(theirs) - ours) <= 1e-6 * abs(ours)


def check_database(checks, binary, path):
    """Reads a database by the page; the encodings that were met."""
    data = path.read_bytes()
    head = check_heads(checks, data)
    block = data[head['catalogue']:head['catalogue'] + head['catalogue_size']]
    checks.equal(head['catalogue_checksum'], xxh3(block), 'checksum of the catalogue')
    reader = Reader(block)
    catalogue = reader.record('catalogue')
    checks.equal(reader.at, len(block), 'end of the catalogue')
    checks.equal(block[:8], b'VDBQCAT3', 'magic of the catalogue')
    checks.equal(catalogue['generation'], head['generation'], 'generation')
    check_names(checks, catalogue)
    rows, met = [], set()
    table = next(table for table in catalogue['table'] if table['name'] == 't')
    for entry in table['tablet']:
        more, encodings = read_tablet(checks, data, table, entry)
        rows, met = rows + more, met | encodings
    check_rows(checks, rows, ask(binary, path, 'select * from t').splitlines())
    check_samples(checks, data, head, catalogue, rows)
    features = ('RUNS' in met) + 2 * ('packed words' in met) + 32 * ('sums of pages' in met)
    needs = (features, 3 if features else 2)
    checks.equal((head['features_read'], head['version_read']), needs, 'features of the head')
    return met


def check_feature(checks, binary, path, sql, feature):
    """Runs a statement; the catalogue, whose head has the feature then or not."""
    ask(binary, path, sql)
    data = path.read_bytes()
    head = check_heads(checks, data)
    checks.equal((head['features_read'], head['version_read']), (feature, 3 if feature else 2),
                 'features of the head')
    return Reader(data[head['catalogue']:]).record('catalogue')


def check_collations(checks, binary, path):
    """Those of columns and indexes, and the feature that comes and goes with them."""
    columns = ', '.join(f'{name} text collate {name}' for name in COLLATIONS)
    catalogue = check_feature(checks, binary, path,
                              f'create table c (number integer collate nocase, {columns})', 4)
    checks.equal([column['collation'] for column in catalogue['table'][0]['column']],
                 [0, *COLLATIONS.values()], 'collations of columns')
    ask(binary, path, "insert into c (nocase) values ('Fig')")
    checks.equal(ask(binary, path, "select nocase from c where nocase = 'fIG'"), "'Fig'\n",
                 'a text that is equal by a collation that was stored')
    columns = ', '.join(f'rtrim collate {name}' for name in COLLATIONS)
    catalogue = check_feature(checks, binary, path, f'create index i on c (nocase, {columns})', 4)
    number = 1 + COLLATIONS['RTRIM']
    checks.equal(catalogue['index'][0]['columns'],
                 [1 + COLLATIONS['NOCASE'], *(number + (value + 1 << 24 if name != 'RTRIM' else 0)
                                              for name, value in COLLATIONS.items())],
                 'collations of an index')
    check_feature(checks, binary, path, 'drop table c; create table c (a text, b text)', 0)
    check_feature(checks, binary, path, 'create index i on c (a collate binary)', 0)
    check_feature(checks, binary, path, 'create index k on c (b collate nocase)', 4)


def check_states(checks, binary, path):
    """The state that a reader has, which does not come to an end, is listed by commits."""
    ask(binary, path, 'create table s (a integer);'
        'insert into s select row_number() over () from t')
    before = check_heads(checks, path.read_bytes())
    reader = subprocess.Popen([binary, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              env=os.environ | {'VDBQ_DEVICE': 'host'})
    reader.stdin.write(b'select a.a from s a, s b, s c;\n')
    reader.stdin.close()
    reader.stdout.read(1)
    for _ in range(2):
        ask(binary, path, 'insert into s values (1)')
    data = path.read_bytes()
    head = check_heads(checks, data)
    reader.kill()
    reader.wait()
    reader.stdout.close()
    checks.equal((head['features'] & ~2, head['features_write']), (5, 3), 'features of the head')
    start = (head['catalogue'] + head['catalogue_size'] + 7) // 8 * 8
    tables = Reader(data[head['catalogue']:]).record('catalogue')['table']
    check_whole_sample(checks, data, head, tables, 's')
    start += 24 * len(tables) + 8
    if head['features'] & 2:
        start += 8 + 56 * number(data, start, 8) + 8
    end = start + 8 + 56
    checks.equal(number(data, start, 8), 1, 'states that are listed')
    state = fixed('state', data, start + 8)
    checks.equal(state, {field: before[field] for field in state}, 'the state')
    checks.equal(number(data, end, 8), xxh3(data[start:end]), 'checksum of the states')
    ask(binary, path, 'drop table s')
    checks.equal(check_heads(checks, path.read_bytes())['features'] & 4, 0, 'features of the head')


def check_names(checks, catalogue):
    described = {table['name']: table for table in catalogue['table']}
    columns = {column['name']: column for column in described['t']['column']}
    checks.equal(sorted(described), ['empty', 't'], 'tables')
    checks.equal((described['t']['key'], described['empty']['key']), (0, NO_KEY), 'keys')
    checks.equal(described['t']['unique'], [[0, 3]], 'uniques')
    checks.equal([view['name'] for view in catalogue['view']], ['v'], 'views')
    checks.equal([(index['name'], index['table'], index['flags'], index['columns'])
                  for index in catalogue['index']], [('i', described['t']['id'], 1, [0, 3])],
                 'indexes')
    checks.equal((columns['money']['precision'], columns['money']['scale']), (9, 2), 'DECIMAL')
    checks.equal((columns['same']['flags'] & 1, columns['flag']['default'].lower()), (1, 'true'),
                 'NOT NULL and DEFAULT')
    identities = [(tablet['origin'], tablet['number']) for tablet in described['t']['tablet']]
    checks.equal(len(set(identities)), len(identities), 'identities')


def check_rows(checks, ours, theirs):
    checks.equal(len(ours), len(theirs), 'rows')
    split = re.compile(r"'(?:[^']|'')*'|[^,]+")
    for mine, line in zip(ours, theirs):
        values = split.findall(line)
        right = len(values) == len(mine) and \
            all(same(literal(a), literal_of(b)) for a, b in zip(mine, values))
        checks.equal(right, True, f'row {mine} is {line}')


def literal_of(text):
    return {'true': '1', 'false': '0'}.get(text, text)


def check_page(checks, met):
    """Every encoding and type of the sources is on the page, and was met."""
    source = (ROOT / 'cl' / 'tablet.h').read_text()
    names = {int(number): name for name, number
             in re.findall(r'_\(([A-Z]+), [a-z]+, (\d+)\)', source)}
    checks.equal(ENCODINGS, names, 'encodings of the page, and of cl/tablet.h')
    checks.equal(met, {*names.values(), 'packed words', 'sums of pages'},
                 'encodings that were met')
    header = (ROOT / 'src' / 'api' / 'vdbq.h').read_text()
    types = {int(number): name for name, number
             in re.findall(r'^    VDBQ_([A-Z]+) = (\d+),?\s+/\*', header, re.M)}
    checks.equal({number: name for number, (name, _) in TYPES.items()}, types, 'types')


def main():
    binary, checks, met = pathlib.Path(sys.argv[1]).resolve(), Checks(), set()
    for encoding in ('auto', 'plain', 'packed'):
        with tempfile.TemporaryDirectory(prefix='file_format') as folder:
            path = pathlib.Path(folder) / 'x.vdb'
            make(binary, path, encoding)
            met |= check_database(checks, binary, path)
            check_edits(checks, binary, path)
            check_collations(checks, binary, pathlib.Path(folder) / 'collated.vdb')
            check_runs(checks, binary, pathlib.Path(folder) / 'runs.vdb')
            check_keyed(checks, binary, pathlib.Path(folder) / 'keyed.vdb')
            check_checks(checks, binary, pathlib.Path(folder) / 'checks.vdb')
            check_states(checks, binary, path)
    check_page(checks, met)
    print(f'{checks.passed} passed, {checks.failed} failed')
    return 1 if checks.failed else 0


if __name__ == '__main__':
    sys.exit(main())

# SPDX-License-Identifier: MIT
"""What sqlite3 and DuckDB say of a form, and where we differ on purpose.

A peer's row: its own text of the form (None: the same), and the letters of the
types for which its answer is asked (functions/values.py).
"""
import math
import re
import sqlite3
from collections import namedtuple

Peer = namedtuple('Peer', 'text types')
NUMBERS, ANY = 'IFDMB', 'IFDMBTYW'
TEXTS = 'ITYW'  # what is the same text in both; floats have other digits

SQLITE = {name: Peer(None, types) for names, types in (
    ('lower upper length trim ltrim rtrim replace instr hex like glob LIKE ||', TEXTS),
    ('substr substring printf format', 'IT'), ('unicode', 'T'), ('char', 'I'),
    ('abs sign mod sqrt exp ln log log10 log2 sin cos tan asin acos atan atan2 power pow '
     'degrees radians floor ceil ceiling trunc round + - * / % NOT', NUMBERS),
    ('coalesce ifnull nullif iif min max ISNULL NOTNULL IS', ANY),
    ('strftime date datetime time julianday unixepoch', 'TYWD'),
    ('& | << >>', 'IB'), ('pi', ''),
    ('sinh cosh tanh asinh acosh atanh', 'ID'),
    ('likely unlikely', ANY),
    ('count total sum avg', 'ID')) for name in names.split()}
SQLITE |= {name: Peer(None, ANY) for name in (
    '=', '<>', '<', '<=', '>', '>=', 'IS NOT', 'NOT NULL', 'BETWEEN AND', 'NOT BETWEEN AND',
    'IN', 'NOT IN', 'NOT LIKE')}
SQLITE |= {
    'NOT LIKE': Peer(None, TEXTS), 'LIKE ESCAPE': Peer(None, TEXTS),
    'GLOB': Peer(None, TEXTS), 'NOT GLOB': Peer(None, TEXTS),
    'COLLATE BINARY': Peer(None, ANY), 'COLLATE NOCASE': Peer(None, ANY),
    'COLLATE RTRIM': Peer(None, ANY),
    'IS DISTINCT FROM': Peer('({0} IS NOT {1})', ANY),
    'IS NOT DISTINCT FROM': Peer('({0} IS {1})', ANY),
    'cast integer': Peer('CAST({0} AS INTEGER)', 'IFDBT'),
    'cast bigint': Peer('CAST({0} AS INTEGER)', 'IFDBT'),
    'cast double': Peer('CAST({0} AS REAL)', 'IFDMBT'),
    'cast text': Peer('CAST({0} AS TEXT)', TEXTS),
    'cast boolean': Peer('({0} <> 0)', 'IFDB'),
    'bits ~': Peer(None, 'IB'), '^': Peer('power({0}, {1})', 'ID'),
    'octet_length': Peer('length(CAST({0} AS BLOB))', TEXTS)}
# What is called otherwise there.
SAME = {'least': 'min', 'greatest': 'max', 'if': 'iif', 'ascii': 'unicode', 'ilike': 'like',
        'ILIKE': 'LIKE', 'regexp_like': 'regexp_matches', 'lcase': 'lower', 'ucase': 'upper',
        'char_length': 'length', 'character_length': 'length', 'len': 'length', 'ord': 'unicode',
        'chr': 'char', 'strpos': 'instr', 'strlen': 'octet_length'}
SQLITE |= {ours: SQLITE[theirs] for ours, theirs in SAME.items() if theirs in SQLITE}
SQLITE |= {ours: Peer(None, TEXTS) for ours in (
    'NOT ILIKE', 'ILIKE ESCAPE', 'NOT LIKE ESCAPE', 'NOT ILIKE ESCAPE')}
# What no peer has, or only with another meaning.
ALONE = {
    'now', 'today', 'random', 'changes', 'total_changes', 'last_insert_rowid', 'version',
    'likelihood', 'cot', 'make_date', 'timestamp', 'typeof', 'casefold', 'try_cast',
    'row_number', 'rank', 'dense_rank', 'lag', 'lead', 'first_value', 'last_value',
    'nth_value', 'ntile', 'percent_rank', 'cume_dist',
    'strptime', 'try_strptime', 'to_timestamp',  # by formats; DuckDB's has a zone
    'mode', 'approx_count_distinct',  # DuckDB's choice among equals, its estimate
    *(f'cast {name}' for name in (
        'decimal', 'decimal(18,0)', 'decimal(18,18)', 'decimal(4,2)', 'numeric', 'float', 'float4',
        # other names of types above
        'bool', 'smallint', 'int', 'int2', 'int4', 'int8', 'tinyint', 'real', 'float8',
        'double precision', 'datetime', 'char', 'character', 'character varying', 'clob',
        'string', 'varchar'))}


def unknown(forms):
    """Those of which nobody said what they are compared with."""
    return {form.name for form in forms} - set(SQLITE) - set(DUCKDB) - ALONE


def text_of(form, peer):
    """The form as a peer has it."""
    known = peer.forms[form.name]
    return known.text or re.sub(r'\w+', lambda word: SAME.get(word[0], word[0]), form.text)

DUCKDB = {name: Peer(None, types) for names, types in (
    ('reverse left right repeat rpad lpad starts_with ends_with contains split_part', 'IT'),
    ('year month day hour minute quarter week weekofyear dayofmonth dayofweek weekday', 'YW'),
    ('isodow dayofyear', 'YW'), ('second extract date_part date_trunc', 'YW'),
    ('date_diff datediff', 'YW'),
    ('regexp_matches regexp_full_match regexp_extract regexp_replace regexp_escape', 'T'),
    ('prefix suffix translate bit_length strip_accents md5 sha1 sha256', 'IT'),
    ('levenshtein editdist3 damerau_levenshtein hamming mismatches jaccard jaro_similarity '
     'jaro_winkler_similarity', 'T'),
    ('var_pop var_samp stddev_pop stddev_samp variance stddev', 'ID'),
    ('bool_and bool_or every count_if countif', 'B'), ('xor gcd lcm', 'I'), ('cbrt', 'ID'),
    ('last_day dayname monthname epoch epoch_us epoch_ns', 'YW'), ('epoch_ms', 'IYW'),
    ('make_timestamp make_timestamp_ms', 'I'),
    ('covar_pop covar_samp corr regr_slope regr_intercept regr_r2', 'I'),
    ('regr_count regr_avgx regr_avgy regr_sxx regr_syy regr_sxy', 'I'),
    ('decade century millennium isoyear yearweek millisecond microsecond', 'YW'),
    ('datepart datetrunc', 'YW'), ('even isinf isfinite', 'ID'), ('bin to_hex', 'I'),
    ('factorial', 'I'),
    ('string_agg group_concat listagg', 'ITY'),
    ('any_value first last arbitrary arg_min arg_max min_by max_by', ANY),
    ('bit_and bit_or bit_xor', 'I'), ('product fsum kahan_sum sumkahan favg mean', 'ID'),
    ('median quantile_cont', 'ID'), ('quantile_disc quantile', 'IDT'),
    ('concat concat_ws', 'ITY'), ('+ -', 'YI')) for name in names.split()}
DUCKDB |= {'cast date': Peer('CAST({0} AS DATE)', 'TYW'),
           'cast timestamp': Peer('CAST({0} AS TIMESTAMP)', 'TYW'),
           'bit_count': Peer('bit_count(CAST({0} AS BIGINT))', 'I'),  # of 32 bits otherwise
           'regexp_like': DUCKDB['regexp_matches'],
           'unicode_lower': Peer('lower({0})', 'ITYW'),
           'unicode_upper': Peer("replace(upper({0}), 'ẞ', 'ß')", 'ITYW'),
           'REGEXP': Peer('regexp_matches({0}, {1})', 'T'),
           'NOT REGEXP': Peer('(NOT regexp_matches({0}, {1}))', 'T')}
DUCKDB |= {name: Peer(None, 'T') for name in ('SIMILAR TO', 'NOT SIMILAR TO', '~', '!~')}


class Sqlite:
    """Values are bound, so that nothing hangs on how they are written."""
    name, forms = 'sqlite3', SQLITE
    holes = {'I': 'CAST(?{} AS INTEGER)', 'F': 'CAST(?{} AS REAL)', 'D': 'CAST(?{} AS REAL)',
             'M': 'CAST(?{} AS REAL)', 'B': 'CAST(?{} AS INTEGER)', 'T': 'CAST(?{} AS TEXT)',
             'Y': 'CAST(?{} AS TEXT)', 'W': 'CAST(?{} AS TEXT)'}

    def __init__(self):
        self.connection = sqlite3.connect(':memory:')

    def answers(self, text, letters, rows):
        """For each row of values (True, the answer) or (False, a message)."""
        holes = [self.holes[letter].format(i + 1) for i, letter in enumerate(letters)]
        sql = 'SELECT ' + text.format(*holes)
        return [self.answer(sql, [v.sqlite for v in row]) for row in rows]

    def answer(self, sql, values):
        try:
            return True, self.connection.execute(sql, values).fetchone()[0]
        except (sqlite3.Error, OverflowError) as error:
            return False, str(error)


class DuckDB:
    """An error of one value is a NULL here (TRY); one of types is no answer."""
    name, forms = 'DuckDB', DUCKDB

    def __init__(self):
        import duckdb
        self.error = duckdb.Error
        self.connection = duckdb.connect(config={'threads': 1})

    def answers(self, text, letters, rows):
        names = ', '.join(f'a{i}' for i in range(len(letters)))
        values = ', '.join(f"({k}, {', '.join(v.duckdb for v in row)})"
                           for k, row in enumerate(rows))
        call = text.format(*names.split(', '))
        try:
            found = self.connection.execute(f'SELECT TRY({call}) FROM (VALUES {values}) '
                                            f't(k, {names}) ORDER BY k').fetchall()
        except self.error:
            return None
        return [(True, plain(row[0])) for row in found]


def plain(value):
    """A value of DuckDB's as one of ours."""
    if isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, (int, float, str)):
        return value
    if type(value).__name__ == 'Decimal':
        return float(value)
    text = str(value)
    return text.rstrip('0') if '.' in text else text


def peers():
    """Those that this machine has."""
    try:
        return Sqlite(), DuckDB()
    except ImportError:
        return (Sqlite(),)


# --------------------------------------------------- different on purpose --

class Difference(namedtuple('Difference', 'peer names why holds')):
    """In forms of these names, where `holds` is true of the types' letters,
    the values, our answer and the other's."""

    def applies(self, peer, form, letters, values, ours, theirs):
        return self.peer == peer and form.name in self.names.split(',') and \
            self.holds(letters, values, ours, theirs)


COMPARED = '=,<>,<,<=,>,>=,IS,IS NOT,IS DISTINCT FROM,IS NOT DISTINCT FROM,IN,NOT IN,' \
    'BETWEEN AND,NOT BETWEEN AND,min,max,least,greatest,nullif'
DISTANCES = 'levenshtein,editdist3,damerau_levenshtein,hamming,mismatches,jaccard,' \
    'jaro_similarity,jaro_winkler_similarity'
CLOCKS = 'date,time,datetime,julianday,unixepoch,strftime'


def typed(letters):
    """Whether a date, a time or a truth value meets something of another type."""
    return any(letter in letters for letter in 'YWB') and len(set(letters)) > 1


def beyond_32_bits(values):
    return any(isinstance(v, int) and not -2**31 < v < 2**31 for v in values)


def has_null(values):
    return any(v is None for v in values)


DIFFERENCES = (
    Difference('sqlite3', 'coalesce,min,max', 'one argument is enough',
               lambda letters, values, ours, theirs: len(values) == 1),
    Difference('sqlite3', 'char,chr', 'a NULL gives NULL',
               lambda letters, values, ours, theirs: has_null(values) and ours is None),
    Difference('sqlite3', 'replace', 'with nothing to replace, sqlite3 gives the first as it is',
               lambda letters, values, ours, theirs: values[1] == ''),
    Difference('sqlite3', 'printf,format', 'a text without characters is one',
               lambda letters, values, ours, theirs: ours == '' and theirs is None),
    Difference('sqlite3', 'substr,substring', 'sqlite3 counts in 32 bits',
               lambda letters, values, ours, theirs: beyond_32_bits(values[1:])),
    Difference('sqlite3', '+,-,*,/', 'FLOAT has 32 bits and overflows to infinity',
               lambda letters, values, ours, theirs: 'F' in letters and abs(theirs) > 3.4e38),
    Difference('sqlite3', '%,mod', 'remainders of DECIMAL are exact, with its fraction',
               lambda letters, values, ours, theirs: 'M' in letters),
    Difference('DuckDB', 'left,right,repeat,lpad,rpad,split_part', 'DuckDB counts in 32 bits',
               lambda letters, values, ours, theirs: beyond_32_bits(values)),
    Difference('DuckDB', DISTANCES, 'characters are compared, not bytes',
               lambda letters, values, ours, theirs: not ''.join(map(str, values)).isascii()),
    Difference('DuckDB', 'hamming,mismatches,jaccard', 'an empty text is a text',
               lambda letters, values, ours, theirs: '' in values and theirs is None),
    Difference('DuckDB', '+,-', 'arithmetic of integers has 64 bits',
               lambda letters, values, ours, theirs: set(letters) == {'I'} and theirs is None),
    Difference('sqlite3', 'round', 'digits that are no integer are rounded to one',
               lambda letters, values, ours, theirs: len(values) > 1 and letters[1] in 'MFD'),
    Difference('sqlite3', 'mod', 'remainders of integers are exact',
               lambda letters, values, ours, theirs: set(letters) <= {'I', 'B'}),
    Difference('sqlite3', COMPARED, 'DATE, TIMESTAMP and BOOLEAN are types, no texts or numbers',
               lambda letters, values, ours, theirs: typed(letters)),
    Difference('sqlite3', COMPARED, 'the text of a DECIMAL has all its digits, of infinity is inf',
               lambda letters, values, ours, theirs: 'T' in letters and (
                   'M' in letters or any(v in (math.inf, -math.inf) for v in values))),
    Difference('sqlite3', 'coalesce,ifnull,iif,if,nullif,min,max,least,greatest',
               'the column has one type',
               lambda letters, values, ours, theirs: len(set(letters)) > 1),
    Difference('sqlite3', 'iif,if', 'iif of two arguments is younger than sqlite3 3.47',
               lambda letters, values, ours, theirs: len(values) == 2),
    Difference('sqlite3', 'strftime', 'the types tell which is the format',
               lambda letters, values, ours, theirs: letters[0] in 'YW'),
    Difference('sqlite3', CLOCKS, 'there is no 30th of February, and no year but 1 to 9999',
               lambda letters, values, ours, theirs: ours is None),
    Difference('sqlite3', CLOCKS,
               'sqlite3 rounds to milliseconds, and refuses what it rounds past 9999',
               lambda letters, values, ours, theirs: any(
                   isinstance(v, str) and '.999999' in v for v in values)),
)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls every function of the library with NULL for each pointer, with numbers
that nothing has, and on objects in every state: none may crash, and a status
says what was wrong.

    calls.py HEADER LIBRARY

The functions are the library's symbols, which must be those of the header; a
type of argument that is not known here is a failure, too, so that no new call
is left out.
"""
import ctypes
import itertools
import os
import re
import signal
import subprocess
import sys
import tempfile
import traceback

OK, MISUSE, UNKNOWN, RANGE, ROW, DONE = 0, 1, 4, 7, 100, 101
HUGE = 4294967295

# Pointers that a call does without, and what it then does.
OPTIONAL = {
    ('vdbq_open', 'path'), ('vdbq_prepare', 'tail'), ('vdbq_devices', 'devices'),
    ('vdbq_bind_text', 'bytes'), ('vdbq_fail', 'message'), ('vdbq_fail', 'hint'),
    ('vdbq_lookup_open', 'results'), ('vdbq_store_delete', 'was_there'),
    ('vdbq_store_scan', 'low'), ('vdbq_store_scan', 'high'),
}
# Calls that return a status whatever they are given, or none of theirs.
OTHER_STATUS = {'vdbq_fail'}
# Calls that may well give NULL.
MAY_BE_NULL = {'vdbq_get', 'vdbq_connection', 'vdbq_fault', 'vdbq_waits_for', 'vdbq_query_copy',
               'vdbq_query_copy_file', 'vdbq_devices'}
# What calls say that have all they need, on an object in some state.
EXPECTED = {
    ('vdbq_query_row', 'query_failed'): MISUSE, ('vdbq_query_row', 'query_by_batches'): MISUSE,
    ('vdbq_query_row', 'query_at_the_end'): DONE, ('vdbq_query_row', 'query_of_changes'): DONE,
    ('vdbq_query_row', 'query_beside_a_failure'): ROW,
    ('vdbq_query_row', 'query_without_its_table'): ROW,
    ('vdbq_query_batch', 'query_failed'): MISUSE, ('vdbq_query_batch', 'query_at_a_row'): MISUSE,
    ('vdbq_append_rows', 'append_done'): MISUSE, ('vdbq_append_rows', 'append_failed'): MISUSE,
    ('vdbq_append_commit', 'append_done'): MISUSE, ('vdbq_append_commit', 'append_failed'): MISUSE,
    ('vdbq_append_commit', 'append_new'): OK, ('vdbq_append_open', 'db_appending'): MISUSE,
    ('vdbq_vacuum', 'db_in_transaction'): MISUSE, ('vdbq_vacuum', 'db_appending'): MISUSE,
    ('vdbq_query_run', 'query_failed'): OK, ('vdbq_query_run', 'query_without_its_table'): UNKNOWN,
}
# Calls that work for seconds when they get all they need.
SLOW = {'vdbq_build_kernels', 'vdbq_selftest', 'vdbq_tune', 'vdbq_measure_limits',
        'vdbq_run_loop'}
# Calls after which the object is gone.
CLOSING = {'vdbq_close', 'vdbq_query_close', 'vdbq_append_close', 'vdbq_lookup_close',
           'vdbq_store_close'}

SETUP = b"""create table t (a integer, s text);
insert into t values (1, 'one'), (2, null), (2147483647, 'three');
create view v as select a from t;
create index i on t (a);
create table kv (k integer primary key, v text);
insert into kv values (1, 'one');"""


# ----------------------------------------------------------- the functions --

class Function:
    """A prototype of the header."""

    def __init__(self, result, name, arguments):
        self.result, self.name = result.strip(), name
        self.arguments = [self.split(a) for a in arguments.split(',') if a.strip() != 'void']

    @staticmethod
    def split(argument):
        """Type and name of an argument."""
        kind, name = re.fullmatch(r'(.*?)(\w+)', ' '.join(argument.split())).groups()
        return kind.replace('const ', '').replace('enum ', '').strip(), name


def prototypes(header):
    """The functions that the header declares, by name."""
    text = re.sub(r'/\*.*?\*/', '', header, flags=re.S)
    found = re.findall(r'VDBQ_API\s+([\w\s*]+?)\b(vdbq_\w+)\(([^)]*)\);', text)
    return {name: Function(result, name, arguments) for result, name, arguments in found}


def symbols(library):
    """The names that the library defines for others, but for those that only builds with
    MPI have."""
    env = {name: value for name, value in os.environ.items() if name != 'LD_PRELOAD'}
    listed = subprocess.run(['nm', '-D', '--defined-only', library], check=True, text=True,
                            capture_output=True, env=env).stdout
    names = {line.split()[-1] for line in listed.splitlines()}
    return {name for name in names if not name.startswith('vdbq_cluster_')}


def compare_names(functions, library):
    """How many names are in the header or in the library alone."""
    exported = symbols(library)
    for name in sorted(exported - set(functions)):
        print(f'FAILED  {name} leaves the library and is not in vdbq.h')
    for name in sorted(set(functions) - exported):
        print(f'FAILED  {name} is in vdbq.h and does not leave the library')
    return len(exported ^ set(functions))


# -------------------------------------------------------------- the objects --

class Objects:
    """A connection and what hangs on it, made anew for each call."""

    def __init__(self, library):
        self.call = library
        self.db = ctypes.c_void_p()
        self.closed = False

    def open(self, path=None):
        """A connection with a table, a view and an index."""
        self.call.vdbq_open(path, 1, ctypes.byref(self.db))
        self.call.vdbq_execute(self.db, SETUP)
        return self.db

    def prepare(self, sql):
        """A query on such a connection."""
        query = ctypes.c_void_p()
        status = self.call.vdbq_prepare(self.open(), sql, -1, ctypes.byref(query), None)
        assert status == OK, sql
        return query

    def append(self):
        """An append to its table."""
        append = ctypes.c_void_p()
        assert self.call.vdbq_append_open(self.open(), b't', ctypes.byref(append)) == OK
        return append

    def execute(self, sql):
        """Runs SQL, come what may."""
        self.call.vdbq_execute(self.db, sql)

    def close(self):
        """Closes all of it, unless the call at hand has."""
        if self.db and not self.closed:
            self.call.vdbq_close(self.db)


def db_plain(objects):
    return objects.open()


def db_listed(objects):
    db = objects.open()
    objects.call.vdbq_tables(db)
    return db


def db_not_opened(objects):
    return objects.open(b'/')


def db_failed(objects):
    db = objects.open()
    objects.execute(b'select nothing from nowhere')
    return db


def db_in_transaction(objects):
    db = objects.open()
    objects.execute(b'begin; insert into t values (4, null)')
    return db


def db_appending(objects):
    append = objects.append()
    assert append
    return objects.db


def query_new(objects):
    return objects.prepare(b'select a, s from t where a > ? or 1')


def query_at_a_row(objects):
    query = objects.prepare(b'select a, s, a is null, cast(a as decimal(18,2)) from t')
    assert objects.call.vdbq_query_row(query) == ROW
    return query


def query_at_the_end(objects):
    query = query_at_a_row(objects)
    while objects.call.vdbq_query_row(query) == ROW:
        pass
    return query


def query_failed(objects):
    query = objects.prepare(b'select a * 9223372036854775807 from t')
    status = ROW
    while status == ROW:
        status = objects.call.vdbq_query_row(query)
    assert status == RANGE
    return query


def query_by_batches(objects):
    query = objects.prepare(b'select a, s from t')
    batch = (ctypes.c_uint64 * 3)()
    assert objects.call.vdbq_query_batch(query, batch) == OK
    return query


def query_without_its_table(objects):
    query = query_at_a_row(objects)
    objects.execute(b'drop view v; drop table t')
    return query


def query_of_a_transaction(objects):
    query = query_new(objects)
    objects.execute(b'begin; delete from t')
    objects.call.vdbq_query_row(query)
    objects.execute(b'rollback')
    return query


def query_beside_a_failure(objects):
    query = query_at_a_row(objects)
    objects.execute(b'select nothing from nowhere')
    return query


def query_of_changes(objects):
    return objects.prepare(b'insert into t values (:a, :s)')


def query_explains(objects):
    return objects.prepare(b'explain analyze select a from t')


def query_copies(objects):
    return objects.prepare(b"copy t to 'nowhere.csv'")


def query_copies_in(objects):
    return objects.prepare(b"copy t from 'nowhere.csv'")


def query_waits_for_values(objects):
    return objects.prepare(b'select a from t limit ?')


def append_new(objects):
    return objects.append()


def append_done(objects):
    append = objects.append()
    assert objects.call.vdbq_append_commit(append) == OK
    return append


def append_failed(objects):
    append = objects.append()
    assert objects.call.vdbq_append_rows(append, 1, None) == MISUSE
    return append


def append_in_transaction(objects):
    append = ctypes.c_void_p()
    objects.open()
    objects.execute(b'begin')
    assert objects.call.vdbq_append_open(objects.db, b't', ctypes.byref(append)) == OK
    objects.execute(b'drop table t; rollback')
    return append


def lookup_new(objects):
    lookup = ctypes.c_void_p()
    assert objects.call.vdbq_lookup_open(objects.open(), b't', b'a', b's',
                                         ctypes.byref(lookup)) == OK
    return lookup


def lookup_with_rows(objects):
    lookup = lookup_new(objects)
    batch = (ctypes.c_uint64 * 3)()
    assert objects.call.vdbq_lookup_rows(lookup, 4, vectors(NUMBERS, TEXTS), batch) == OK
    return lookup


def lookup_without_its_table(objects):
    lookup = lookup_new(objects)
    objects.execute(b'drop view v; drop table t')
    return lookup


def store_new(objects):
    store = ctypes.c_void_p()
    assert objects.call.vdbq_store_open(objects.open(), b'kv', b'v', ctypes.byref(store)) == OK
    return store


def store_at_a_key(objects):
    store, items = store_new(objects), (Item * 2)()
    assert objects.call.vdbq_store_scan(store, None, None) == OK
    assert objects.call.vdbq_store_next(store, ctypes.byref(items[0]),
                                        ctypes.byref(items[1])) == ROW
    return store


def store_without_its_table(objects):
    store = store_at_a_key(objects)
    objects.execute(b'drop table kv')
    return store


def nothing(objects):
    return None


STATES = {
    'vdbq *': [nothing, db_plain, db_listed, db_not_opened, db_failed, db_in_transaction,
               db_appending],
    'vdbq_query *': [nothing, query_new, query_at_a_row, query_at_the_end, query_failed,
                     query_by_batches, query_without_its_table, query_of_a_transaction,
                     query_beside_a_failure, query_of_changes, query_explains, query_copies,
                     query_copies_in,
                     query_waits_for_values],
    'vdbq_append *': [nothing, append_new, append_done, append_failed, append_in_transaction],
    'vdbq_lookup *': [nothing, lookup_new, lookup_with_rows, lookup_without_its_table],
    'vdbq_store *': [nothing, store_new, store_at_a_key, store_without_its_table],
}


# ----------------------------------------------------------- the arguments --

class Vector(ctypes.Structure):
    """struct vdbq_vector."""
    _fields_ = [('type', ctypes.c_int), ('values', ctypes.c_void_p), ('nulls', ctypes.c_void_p)]


class Text(ctypes.Structure):
    """struct vdbq_text."""
    _fields_ = [('bytes', ctypes.c_char_p), ('length', ctypes.c_size_t)]


class Item(ctypes.Structure):
    """struct vdbq_item."""
    _fields_ = [('type', ctypes.c_int), ('integer', ctypes.c_int64), ('real', ctypes.c_double),
                ('text', Text)]


def item(*fields):
    """One such item, to be passed by its place."""
    return (Item * 1)(Item(*fields))


def vectors(values, texts):
    """Two vectors as table t takes them."""
    return (Vector * 2)(Vector(1, ctypes.cast(values, ctypes.c_void_p) if values else None, None),
                        Vector(5, ctypes.cast(texts, ctypes.c_void_p) if texts else None, None))


NUMBERS = (ctypes.c_int32 * 4)(1, 2, 3, 4)
TEXTS = (Text * 4)(*[Text(b'x', 1)] * 4)
NO_TEXTS = (Text * 4)(*[Text(None, 1)] * 4)
EMPTY_TEXTS = (Text * 4)(*[Text(None, 0)] * 4)
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 1)


def room():
    """Zeroed memory that no argument outgrows."""
    return ctypes.create_string_buffer(1024)


# Values of each type of argument but those of STATES; None: NULL.
VALUES = {
    'char *': lambda: [None, b'', b't', b'device', b'select 1', b'\xff', room()],
    'char **': lambda: [None, room()],
    'void *': lambda: [None, room()],
    'vdbq **': lambda: [None, room()], 'vdbq_query **': lambda: [None, room()],
    'vdbq_append **': lambda: [None, room()], 'vdbq_lookup **': lambda: [None, room()],
    'vdbq_store **': lambda: [None, room()], 'bool *': lambda: [None, room()],
    'struct vdbq_item *': lambda: [None, item(0), item(2, 1), item(4, 0, 0.5), item(9),
                                   item(5, 0, 0, Text(b'x', 1)), item(5, 0, 0, Text(None, 1)),
                                   item(5, 0, 0, Text(b'\xff', 1))],
    'struct vdbq_batch *': lambda: [None, room()], 'struct vdbq_stats *': lambda: [None, room()],
    'struct vdbq_limits *': lambda: [None, room()],
    'struct vdbq_vacuum *': lambda: [None, room()],
    'struct vdbq_changes *': lambda: [None, room()],
    'struct vdbq_vector *': lambda: [None, vectors(NUMBERS, TEXTS), vectors(None, TEXTS),
                                     vectors(NUMBERS, None), vectors(NUMBERS, NO_TEXTS),
                                     vectors(NUMBERS, EMPTY_TEXTS)],
    'vdbq_progress': lambda: [None, CALLBACK], 'vdbq_report': lambda: [None, CALLBACK],
    'vdbq_file_reader': lambda: [None, CALLBACK], 'vdbq_copy_reader': lambda: [None, CALLBACK],
    'struct vdbq_copy *': lambda: [None, room()], 'vdbq *': lambda: [None],
    'vdbq_work': lambda: [None, CALLBACK],
    'unsigned': lambda: [0, 1, 3, HUGE], 'unsigned *': lambda: [None, room()],
    'vdbq_status': lambda: [0, 3, 99, HUGE], 'vdbq_type': lambda: [0, 1, 5, 8, 10, 11, HUGE],
    'size_t': lambda: [0, 1], 'ptrdiff_t': lambda: [0, -1, -7], 'uint64_t': lambda: [0, 1],
    'int64_t': lambda: [0, -1 << 63], 'double': lambda: [0.5, float('nan'), float('inf')],
}
NUMERIC = {'unsigned': ctypes.c_uint, 'vdbq_status': ctypes.c_uint, 'vdbq_type': ctypes.c_uint,
           'size_t': ctypes.c_size_t, 'ptrdiff_t': ctypes.c_ssize_t, 'uint64_t': ctypes.c_uint64,
           'int64_t': ctypes.c_int64, 'double': ctypes.c_double}
RESULTS = {'const char *': ctypes.c_char_p, 'char *': ctypes.c_void_p, 'bool': ctypes.c_bool,
           'int64_t': ctypes.c_int64, 'uint64_t': ctypes.c_uint64, 'size_t': ctypes.c_size_t,
           'double': ctypes.c_double, 'void': None, 'unsigned': ctypes.c_uint,
           'enum vdbq_status': ctypes.c_int, 'enum vdbq_type': ctypes.c_int,
           'const struct vdbq_error *': ctypes.c_void_p,
           'const struct vdbq_option *': ctypes.c_void_p,
           'const struct vdbq_copy *': ctypes.c_void_p,
           'const struct vdbq_connection *': ctypes.c_void_p}


def load(path, functions):
    """The library, with the types of its functions."""
    library = ctypes.CDLL(path)
    for function in functions.values():
        call = getattr(library, function.name)
        call.restype = RESULTS[function.result]
        call.argtypes = [NUMERIC.get(kind, ctypes.c_void_p) for kind, _ in function.arguments]
    return library


def calls_of(function):
    """Each call as (state of its object, or None, and the other arguments)."""
    arguments = [kind for kind, _ in function.arguments]
    states = STATES.get(arguments[0], [None]) if arguments else [None]
    rest = arguments if states == [None] else arguments[1:]
    return [(state, others) for state in states
            for others in itertools.product(*(VALUES[kind]() for kind in rest))]


def lacks(function, given):
    """Whether a pointer is NULL that the call needs."""
    return any(value is None and (function.name, name) not in OPTIONAL
               and not kind.endswith(('vdbq_progress', 'vdbq_file_reader'))
               and name != 'context'
               for value, (kind, name) in zip(given, function.arguments))


def judge(function, state, given, result):
    """What is wrong with the answer, or None."""
    if function.result == 'enum vdbq_status' and function.name not in OTHER_STATUS:
        if lacks(function, given) and result not in (MISUSE, RANGE):
            return f'status {result} where something is NULL'
        if state in (db_not_opened, append_done, append_failed) and result == OK \
                and function.name != 'vdbq_set':
            return 'succeeds on an object that is of no use'
    if state and result != EXPECTED.get((function.name, state.__name__), result):
        return f'status {result}'
    if function.result == 'const char *' and result is None and function.name not in MAY_BE_NULL:
        return 'no text'
    return None


def try_call(library, function, state, others):
    """Makes one call; what is wrong with its answer, or None."""
    objects = Objects(library)
    given = list(others) if state is None else [state(objects), *others]
    if function.name in SLOW and not lacks(function, given):
        return None
    if function.name == 'vdbq_free':
        given = [None]
    objects.closed = function.name == 'vdbq_close' and given[0] is not None
    result = getattr(library, function.name)(*given)
    wrong = judge(function, state, given, result)
    if function.name == 'vdbq_open' and given[2] is not None:
        library.vdbq_close(ctypes.c_void_p.from_buffer(given[2]))
    objects.close()
    return wrong


# ------------------------------------------------------------- the children --

def shown(function, state, others):
    """A call in words."""
    words = [state.__name__] if state else []
    words += ['room' if isinstance(other, ctypes.Array) else repr(other) for other in others]
    return f'{function.name}({", ".join(words)})'


def work(path, functions, function, pipe):
    """In a child: makes all calls of a function, each told before it is made."""
    library = load(path, functions)
    for state, others in calls_of(function):
        os.write(pipe, f'call {shown(function, state, others)}\n'.encode())
        wrong = try_call(library, function, state, others)
        if wrong:
            os.write(pipe, f'wrong {wrong}\n'.encode())


def check(path, functions, function):
    """Runs the calls of a function in a child; returns its calls and faults."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        signal.alarm(120)
        try:
            work(path, functions, function, writing)
            status = 0
        except Exception:
            traceback.print_exc(limit=-3, file=sys.stdout)
            sys.stdout.flush()
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        lines = pipe.read().splitlines()
    status = os.waitpid(child, 0)[1]
    faults = [f'{before[5:]}: {line[6:]}' for before, line in zip(lines, lines[1:])
              if line.startswith('wrong ')]
    if status:
        faults.append(f'{lines[-1][5:] if lines else function.name}: '
                      f'ended with {os.waitstatus_to_exitcode(status)}')
    return sum(line.startswith('call ') for line in lines), faults


def main():
    with open(sys.argv[1], encoding='utf-8') as file:
        functions = prototypes(file.read())
    path = os.path.abspath(sys.argv[2])
    failed, calls = compare_names(functions, path), 0
    with tempfile.TemporaryDirectory(prefix='vdbq-calls-') as folder:
        os.chdir(folder)
        os.environ.setdefault('VDBQ_DEVICE', 'host')
        os.environ.setdefault('XDG_CACHE_HOME', folder)
        for function in functions.values():
            made, faults = check(path, functions, function)
            calls += made
            failed += len(faults)
            for fault in faults:
                print(f'FAILED  {fault}')
    print(f'{len(functions)} functions\n{calls} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

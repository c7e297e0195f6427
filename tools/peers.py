# SPDX-License-Identifier: MIT
"""The engines that the benchmark runs beside vdbq: DuckDB and sqlite3, both
with the table in memory, filled from the columns that `generate --raw` wrote.
"""
import sqlite3
import time
from array import array
from statistics import median

COLUMNS = {'id': 'i', 'uniformi': 'i', 'normali5': 'i', 'normali20': 'i',
           'uniformf': 'f', 'normalf5': 'f', 'normalf20': 'f'}


def timed(run, runs):
    """(rows, median milliseconds) of `run`, which returns its number of rows."""
    rows, times = run(), []
    for _ in range(runs):
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1000)
    return rows, median(times)


def measure(queries, run, runs, report):
    """What each of the queries gave and took, in lists; `report` gets them singly."""
    answer = {'answer_rows': [], 'total_ms': []}
    for number, sql in enumerate(queries):
        rows, total = timed(lambda sql=sql: run(sql), runs)
        answer['answer_rows'].append(rows)
        answer['total_ms'].append(round(total, 3))
        report(number, rows, total)
    return answer


# ---------------------------------------------------------------- DuckDB --

def duckdb_missing():
    """Why DuckDB cannot run here; None: it can."""
    for name in ('duckdb', 'pyarrow'):
        try:
            __import__(name)
        except ImportError:
            return f'"import {name}" fails (pip install duckdb pyarrow)'
    return None


def columns_in(folder):
    """{name: array's code} of the columns that lie in a folder, in table order."""
    found = {path.name for path in folder.iterdir()}
    known = COLUMNS | {'k': 'i', 'v': 'i'}
    return {name: kind for name, kind in known.items() if name in found}


def arrow_table(folder, rows=None):
    """The first rows (or all) of the raw columns, mapped, as an Arrow table."""
    import pyarrow
    kinds = {'i': pyarrow.int32(), 'f': pyarrow.float32()}
    columns = columns_in(folder)
    if rows is None:
        rows = (folder / next(iter(columns))).stat().st_size // 4

    def column(name, kind):
        values = pyarrow.memory_map(str(folder / name)).read_buffer(4 * rows)
        return pyarrow.Array.from_buffers(kinds[kind], rows, [None, values])

    return pyarrow.table({name: column(name, kind) for name, kind in columns.items()})


def duckdb_fill(db, folder, table, rows=None):
    """Makes a table of the raw columns, one of DuckDB's own. It has no primary
    key there, which no query asks for."""
    db.register('raw', arrow_table(folder, rows))
    db.execute(f'create table {table} as select * from raw')
    db.unregister('raw')


def duckdb_open(folder, rows):
    """A connection with the table `test`, in memory."""
    import duckdb
    db = duckdb.connect()
    duckdb_fill(db, folder, 'test', rows)
    return db


def duckdb_version():
    import duckdb
    return 'DuckDB ' + duckdb.__version__


def duckdb_fetch(db):
    """Runs a query; the whole result is an Arrow table: columns in memory."""
    return lambda sql: db.sql(sql).to_arrow_table().num_rows


def duckdb_count(db):
    """Runs a query inside the engine: no result leaves it."""
    return lambda sql: db.execute(f'select count(*) from ({sql})').fetchone()[0]


# --------------------------------------------------------------- sqlite3 --

def values(folder, name, kind, rows):
    column = array(kind)
    with (folder / name).open('rb') as file:
        column.fromfile(file, rows)
    return column


def sqlite_fill(db, folder, rows, schema):
    """Makes the table of a CREATE TABLE statement and fills it."""
    db.execute(schema)
    columns = [values(folder, name, kind, rows) for name, kind in COLUMNS.items()]
    name = schema.split()[2]
    db.executemany(f'insert into {name} values (?,?,?,?,?,?,?)', zip(*columns))


def sqlite_open(folder, rows, schema):
    db = sqlite3.connect(':memory:')
    sqlite_fill(db, folder, rows, schema)
    return db


def sqlite_count(db):
    """Counts the rows inside the engine: fetching them would measure Python,
    so the figure is kinder than fair."""
    return lambda sql: db.execute(f'select count(*) from ({sql})').fetchone()[0]

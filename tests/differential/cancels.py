#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Statements that are cancelled at random moments.

    cancels.py [options] LIBRARY GENERATE

Each statement of a list of all kinds of steps runs over TPC-H's tables, which
GENERATE (tools/generate) makes. First it runs to its end, then it is cancelled again and
again: it either ends as cancelled or gives all that it gave before, and what it leaves is
as it was: the same answers, the same rows. The last line is "N passed, N failed".

With --late the longest time between a cancel and the end of the call is told of each,
and what took longer than that fails: for machines that do nothing else.
"""
import argparse
import ctypes
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

OK, CANCELLED, ROW, DONE = 0, 10, 100, 101

# Those that change something leave nothing of it; @ is another number each time.
STATEMENTS = """
select count(*) from lineitem where l_comment like '%exp@ress%'
select l_partkey % 7, sum(n) from (select l_partkey, count(*) n from lineitem group by l_partkey)
    group by l_partkey % 7
select count(*) from (select l_orderkey % 100003 k, sum(l_extendedprice + @) from lineitem group
    by k)
select count(distinct l_comment) from lineitem
select count(*) from (select distinct l_comment || l_shipmode from lineitem)
select l_orderkey, l_comment from lineitem order by l_extendedprice + @, l_comment limit 3 offset
    100000
select sum(r) from (select rank() over (partition by l_suppkey order by l_shipdate) r from
    lineitem)
select sum(r) from (select l_quantity - lag(l_quantity) over (order by l_extendedprice) r from
    lineitem)
select sum(r) from (select first_value(l_quantity) over (order by l_shipdate) r from lineitem)
select sum(r) from (select sum(l_quantity) over (order by l_orderkey) r from lineitem)
select sum(r) from (select max(l_quantity) over (order by l_shipdate rows between 10@ preceding
    and 3 following) r from lineitem)
select length(string_agg(l_comment, ',@')) from lineitem
select length(string_agg(distinct l_comment order by l_orderkey)) from lineitem
select stddev(l_extendedprice + @), arg_min(l_comment, l_extendedprice) from lineitem
select count(*) from lineitem, orders where l_orderkey = o_orderkey and o_totalprice >
    l_extendedprice + @
select count(*) from lineitem a, lineitem b where a.l_partkey = b.l_partkey and a.l_suppkey <
    b.l_suppkey
select count(*) from supplier a, supplier b, nation c where a.s_acctbal + c.n_nationkey <
    b.s_acctbal + @
select count(*) from orders a, customer b where a.o_totalprice between b.c_acctbal and
    b.c_acctbal + @
select count(*) from (select l_orderkey from lineitem union select o_orderkey * 3 from orders)
select count(*) from (select l_orderkey, l_comment from lineitem except select o_orderkey,
    o_comment from orders)
select count(*) from lineitem where regexp_matches(l_comment, '(a|b)+c.*(x|y)z@?')
select count(distinct regexp_replace(l_comment, '[aeiou]+', '')) from lineitem
select median(l_extendedprice) from lineitem
select count(*) from orders o where o_totalprice > (select avg(l_extendedprice) * 3 from lineitem
    where l_orderkey = o_orderkey)
select count(*) from lineitem where l_orderkey in (select o_orderkey from orders where
    o_totalprice < 100000)
begin; create table y@ as select * from lineitem; rollback
begin; create table y@ (a bigint, b text); insert into y@ select l_orderkey, l_comment from
    lineitem; rollback
begin; update lineitem set l_quantity = l_quantity + 1; rollback
begin; update lineitem set l_comment = l_comment || 'x'; rollback
begin; delete from lineitem where l_orderkey % 2 = 0; rollback
begin; create unique index u@ on lineitem (l_orderkey, l_linenumber); rollback
create index i@ on lineitem (l_comment); drop index i@
""".strip().replace('\n    ', ' ').splitlines()

# What must not change.
STATE = ('select count(*), sum(l_orderkey), sum(l_quantity), min(l_comment), max(l_comment), '
         'count(distinct l_comment) from lineitem')


class Connection:
    """A connection to a file, which any thread may cancel."""

    def __init__(self, library, path, options):
        self.call = library
        self.db = ctypes.c_void_p()
        library.vdbq_open(path.encode(), 0, ctypes.byref(self.db))
        for option in options:
            name, value = option.split('=')
            assert library.vdbq_set(self.db, name.encode(), value.encode()) == OK, option

    def close(self):
        self.call.vdbq_close(self.db)

    def rows(self, sql):
        """The status of a query, and its rows as texts."""
        query, rows = ctypes.c_void_p(), []
        status = self.call.vdbq_prepare(self.db, sql.encode(), -1, ctypes.byref(query), None)
        if status != OK:
            return status, rows
        columns = self.call.vdbq_query_columns(query)
        while (status := self.call.vdbq_query_row(query)) == ROW:
            rows.append(tuple(self.call.vdbq_query_text(query, i) for i in range(columns)))
        self.call.vdbq_query_close(query)
        return OK if status == DONE else status, rows

    def run(self, sql):
        """The status of statements, and rows if it is a query."""
        if sql.startswith('select'):
            return self.rows(sql)
        status = self.call.vdbq_execute(self.db, sql.encode())
        if status != OK:  # the list has been left in its middle
            self.call.vdbq_execute(self.db, b'rollback')
        return status, []


def load(path):
    library = ctypes.CDLL(path)
    pointer = ctypes.c_void_p
    library.vdbq_open.argtypes = [ctypes.c_char_p, ctypes.c_uint, pointer]
    library.vdbq_close.argtypes = library.vdbq_cancel.argtypes = [pointer]
    library.vdbq_set.argtypes = [pointer, ctypes.c_char_p, ctypes.c_char_p]
    library.vdbq_execute.argtypes = [pointer, ctypes.c_char_p]
    library.vdbq_prepare.argtypes = [pointer, ctypes.c_char_p, ctypes.c_int64, pointer, pointer]
    library.vdbq_query_row.argtypes = library.vdbq_query_close.argtypes = [pointer]
    library.vdbq_query_columns.argtypes = [pointer]
    library.vdbq_query_text.argtypes = [pointer, ctypes.c_uint]
    library.vdbq_query_text.restype = ctypes.c_char_p
    return library


def cancelled(connection, sql, after):
    """Runs it, with a cancel after so many seconds: status, rows, seconds since then."""
    moment = []

    def cancel():
        time.sleep(after)
        moment.append(time.monotonic())
        connection.call.vdbq_cancel(connection.db)

    thread = threading.Thread(target=cancel)
    thread.start()
    status, rows = connection.run(sql)
    end = time.monotonic()
    thread.join()
    # one that came behind the end is for what runs next
    connection.rows('select 1')
    return status, rows, end - moment[0]


def drop_leftovers(connection, sql):
    """An index that a cancel left between two statements."""
    if sql.startswith('create index'):
        connection.run('drop index if exists ' + sql.split()[2])


class Trial:
    def __init__(self, options, library, path):
        self.options, self.library, self.path = options, library, path
        self.rng = random.Random(options.seed)
        self.passed = self.failed = 0

    def expect(self, holds, sql, what):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print('%s\n    %s' % (sql, what))

    def statement(self, text):
        connection = Connection(self.library, self.path, self.options.set)
        state = connection.rows(STATE)
        sql = text.replace('@', '0')
        connection.run(sql)
        began = time.monotonic()
        whole = connection.run(sql)
        seconds = time.monotonic() - began
        self.expect(whole[0] == OK, sql, 'status %d' % whole[0])
        worst = 0
        for _ in range(self.options.tries):
            at = self.rng.random() * seconds
            status, rows, late = cancelled(connection, sql, at)
            drop_leftovers(connection, sql)
            self.expect(status == CANCELLED or (status, rows) == whole, sql,
                        'cancelled after %.3f s: status %d, %s' % (at, status, rows[:3]))
            if status == CANCELLED:
                worst = max(worst, late)
        self.expect(connection.run(sql) == whole, sql, 'other rows than before the cancels')
        self.expect(connection.rows(STATE) == state, sql, 'it has changed the table')
        connection.close()
        if self.options.late is not None:
            print('%7.1f ms of %6.0f  %s' % (worst * 1000, seconds * 1000, sql[:70]), flush=True)
            self.expect(worst * 1000 <= self.options.late, sql, 'it ended too late')


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('library')
    parser.add_argument('generate')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--tries', type=int, default=6, help='cancels of each statement')
    parser.add_argument('--scale', default='0.1', help='of TPC-H')
    parser.add_argument('--late', type=float, help='milliseconds that a cancel may take')
    parser.add_argument('--set', action='append', default=[], help='an option, as device=host')
    options = parser.parse_args()
    library = load(os.path.abspath(options.library))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'tpch.vdb')
        subprocess.run([options.generate, '--tpch', options.scale, '--db', path], check=True,
                       stdout=subprocess.DEVNULL)
        trial = Trial(options, library, path)
        for text in STATEMENTS:
            trial.statement(text)
    print('%d passed, %d failed' % (trial.passed, trial.failed))
    return 1 if trial.failed else 0


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random queries with all passes of the planner and with some left out.

    passes.py [options] BINARY

Each query runs on a shell that has all passes (src/plan/rewrite/rewrite.c), on
one for each pass that can be left out, and on one that leaves them all out
(VDBQ_PASSES). All must give the same rows in the same order, or the same error;
in any order where tables are joined in another one, since a pass has changed how
many rows are expected.
A pass may spare an error, where another condition is tested first or fewer rows
are come to, but never make one: an error with all passes is one without any, too,
though a plan that lacks one of them may happen to spare it.
The queries are those of differential/ and correlated/, over small tables, and
those of correlated/counted.py and correlated/many.py.

For each pass it is told how many plans are others without it; a pass that no
query needs is a failure. The last line is "N passed, N failed". A query that
only some of the plans can be refused for (differential/checks.py: REFUSALS)
counts as neither, and how many there are is told. The same options give the
same queries.
"""
import argparse
import collections
import multiprocessing
import os
import random
import re
import shlex
import subprocess
import sys
import time
import zlib

from correlated import counted, many
from correlated.queries import COLUMNS as LITERALS, Queries as Correlated
from correlated.tables import small_tables, statements
from differential.checks import CHECKS, REFUSALS, Case, Difference, Skipped, shown
from differential.engines import Died, Vdbq, rows_of, some_settings
from differential.joins import Joins
from differential.nodes import Node
from differential.queries import Queries, Relation
from differential.reduce import Reducer
from differential.tables import (COLUMNS, COUNTS, FEW_ROWS, Table, column_node, random_tables,
                                 without_twins)
from shell_options import HANG_SECONDS

VARIABLE = 'VDBQ_PASSES'
KINDS = ('queries', 'joins', 'subqueries', 'correlated', 'counted', 'many')
LITERAL_KINDS = ('correlated', 'counted')  # over tables of correlated/tables.py
MANY = (6000, 20000)  # rows
MANY_SHARE = 5  # of the queries of a set, these being slow
FAILING = 0.3  # of the tables have numbers with which sums and products fail
EXTREMES = (2**63 - 1, -2**63 + 1, 2**62)
SAME_ASKED = 8  # of answers of plans that are the same, one is looked at
SHARE = 0.3  # of the values of 'subqueries' that are queries


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary', help='the shell, split like a command line')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--from', type=int, default=0, dest='first', help='the first set')
    parser.add_argument('--queries', type=int, default=2000, help='in all (%(default)s)')
    parser.add_argument('--set', type=int, default=50, help='for each set of tables')
    parser.add_argument('--kind', choices=KINDS, help='of all queries (each set another one)')
    parser.add_argument('--passes', help='those to leave out, with commas (all that there are)')
    parser.add_argument('--device', default='host')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--timeout', type=float, default=HANG_SECONDS,
                        help='of one query, in seconds')
    parser.add_argument('--reduce', type=float, default=15, help='seconds for each difference')
    parser.add_argument('--differences', type=int, default=6, help='of a process, then it ends')
    parser.add_argument('--print', action='store_true', help='the queries, as they run')
    options = parser.parse_args()
    options.names = options.passes.split(',') if options.passes else optional_passes(options)
    return options


def optional_passes(options):
    """The names of the passes that can be left out, from the hint of an error."""
    said = subprocess.run([*shlex.split(options.binary), ':memory:', 'select 1'],
                          env=os.environ | {VARIABLE: '-?'}, stderr=subprocess.PIPE,
                          text=True, check=False).stderr
    names = re.search(r'hint: there are (-.*)', said)
    if not names:
        sys.exit(f'passes.py: no names of passes in {said!r}')
    return [name.removeprefix('-') for name in names[1].split(', ')]


# -------------------------------------------------------------- one query --

class Ways:
    """Shells that plan with all passes, without each one, and without all."""
    other = None

    def __init__(self, options):
        self.options = options
        lists = [[name] for name in options.names]
        if len(lists) > 1:
            lists.append(options.names)
        self.all = Vdbq(options, options.device)
        self.without = {''.join(f',-{name}' for name in names)[1:]: Vdbq(options, options.device)
                        for names in lists}
        self.none = list(self.without)[-1]

    def reset(self, tables, views=(), settings=()):
        self.all.reset(tables, views, settings)
        for out, shell in self.without.items():
            shell.reset(tables, views, (*settings, (VARIABLE, out)))

    def compare(self, sql):
        """Raises Difference where a pass changes the answer; Skipped where only
        some of the plans can be refused. Gives the passes that change the plan, and
        whether there was an error."""
        wanted, plan = self.all.answer(sql), self.all.answer('EXPLAIN ' + sql)
        changing = [out for out, shell in self.without.items()
                    if shell.answer('EXPLAIN ' + sql) != plan]
        answers = {out: self.without[out].answer(sql) for out in self.asked(sql, changing)}
        own = message_of(wanted) and message_of(wanted) == message_of(answers[self.none])
        for out, answer in answers.items():
            if answer != wanted:
                differ(out, answer, wanted, own,
                       lambda shell=self.without[out]: joins_alike(shell, self.all, sql))
        return changing, wanted[1] != ''

    def asked(self, sql, changing):
        """Those whose answer is looked at: where the plan is the same to the last
        instruction so is the answer, but for what EXPLAIN may not show, which one in
        SAME_ASKED looks for."""
        return [out for at, out in enumerate(self.without)
                if out in changing or out == self.none
                or zlib.crc32(f'{at} {sql}'.encode()) % SAME_ASKED == 0]

    def close(self):
        for shell in (self.all, *self.without.values()):
            shell.close()


def joined_tables(shell, sql):
    """The tables of a query, in the order in which they are joined at last."""
    tree = shell.answer('EXPLAIN (TREE) ' + sql)[0].decode().split('; steps')[0]
    last = re.split(r'; [a-z ]+: [A-Z]', tree)[-1]
    return re.findall(r'TABLE \w+(?: AS \w+)?', last)


def joins_alike(shell, other, sql):
    """Whether both join the same tables in the same order, or other tables."""
    tables = joined_tables(shell, sql), joined_tables(other, sql)
    return sorted(tables[0]) != sorted(tables[1]) or tables[0] == tables[1]


def message_of(answer):
    """An error, but for the line, which the shell counts."""
    return re.sub(r'line \d+, ', '', answer[1])


def differ(out, got, wanted, own, same_joins):
    """Of a failing query only the error counts: rows before it may have come. `own`:
    the error is there without any pass."""
    messages = [message_of(got), message_of(wanted)]
    if any(re.search(pattern, message) for pattern in REFUSALS for message in messages):
        raise Skipped(messages)
    if messages[0] and not messages[1] or own and not messages[0]:
        raise Skipped(messages)
    if messages[0] != messages[1]:
        raise Difference(f'{out}: another error', f'with all passes: {messages[1] or "none"}\n'
                         f'without: {messages[0] or "none"}')
    if not messages[0]:
        rows = rows_of(got[0]), rows_of(wanted[0])
        kind = 'another order' if sorted(map(repr, rows[0])) == sorted(map(repr, rows[1])) \
            else 'other rows'
        if kind == 'another order' and not same_joins():
            raise Skipped(messages)
        raise Difference(f'{out}: {kind}',
                         f'with all passes {shown(rows[1])}\n  without {shown(rows[0])}')


CHECKS['passes'] = lambda case, ways, _: ways.compare(case.node.sql(''))


class Nobody:
    """No peer: a query is compared with itself alone."""
    dialect = ''

    def reset(self, tables, views=(), settings=()):
        pass


# ------------------------------------------------------------------ cases --

class LiteralTable(Table):
    """A table of correlated/tables.py; `key`: its ids are its primary key."""

    def __init__(self, name, rows, key):
        super().__init__(name, ('',), rows)
        self.key = key

    def statements(self, dialect):
        made = list(statements({self.name: self.rows}))
        made[0] = made[0].replace('v INTEGER', 'v BIGINT')
        if self.key:
            made[0] = made[0].replace('id INTEGER', 'id INTEGER PRIMARY KEY')
        return made


class MadeTable(Table):
    """A table of given statements, which is not cut down."""

    def __init__(self, name, lines):
        super().__init__(name, ('',), ())
        self.lines = lines

    def statements(self, dialect):
        del dialect
        return self.lines


def table_of(line):
    """The table that a statement makes, fills or makes an index of."""
    words = line.split()
    return words[4] if words[1] == 'INDEX' else words[2]


def made_tables(lines):
    """A MadeTable for each table; one fills from others, which come before it."""
    names = [table_of(line) for line in lines if line.startswith('CREATE TABLE')]
    return [MadeTable(name, [line for line in lines if table_of(line) == name]) for name in names]


def with_extremes(rng, rows, place):
    """The rows, some with a number in that place with which sums and products overflow."""
    return [row if rng.random() < 0.7 else
            type(row)([*row[:place], rng.choice(EXTREMES), *row[place + 1:]]) for row in rows]


class Run:
    """A set of tables and queries over it, all of one kind."""

    def __init__(self, options, number, ways):
        self.options, self.number, self.ways = options, number, ways
        self.kind = options.kind or KINDS[number % len(KINDS)]
        self.rng = random.Random(f'passes {options.seed} {number}')
        self.settings = some_settings(self.rng, options.device)
        self.counts, self.changing, self.found = (collections.Counter(), collections.Counter(), [])
        self.share = SHARE if self.kind == 'subqueries' else 0.0
        self.tables = self.make_tables()
        if self.rng.random() < FAILING:
            self.tables = list(map(self.made_to_fail, self.tables))
        self.views = []

    def make_tables(self):
        if self.kind == 'many':
            return made_tables(list(many.statements(self.rng, self.rng.choice(MANY))))
        if self.kind in LITERAL_KINDS:
            keyed = 0.9 if self.kind == 'counted' else 0.5
            return [LiteralTable(name, rows, self.rng.random() < keyed)
                    for name, rows in small_tables(self.rng).items()]
        return random_tables(self.rng, tuple(COLUMNS), FEW_ROWS if self.share else COUNTS[-1])

    def made_to_fail(self, table):
        name, names = 'b', table.columns
        if self.kind in LITERAL_KINDS:
            name, names = 'v', [column.split()[0] for column in LITERALS.split(', ')]
        if name not in names:
            return table
        rows = with_extremes(self.rng, table.rows, names.index(name))
        return table.changed(
            rows=without_twins(names, rows, table.unique) if table.unique else rows)

    def maker(self, kind):
        relations = [Relation(t.name, [column_node(c) for c in t.columns], len(t.rows))
                     for t in self.tables]
        return kind(self.rng, relations, '', self.share)

    def node(self):
        if self.kind == 'many':
            return Node(many.Queries(self.rng).statement())
        if self.kind == 'counted':
            return Node(counted.Queries(self.rng).statement())
        if self.kind == 'correlated':
            return Node(Correlated(self.rng).statement())
        return self.maker(Joins if self.kind == 'joins' else Queries).query()

    def run(self):
        self.ways.reset(self.tables, self.views, self.settings)
        share = MANY_SHARE if self.kind == 'many' else 1
        for at in range(max(1, self.options.set // share)):
            case = Case(self.tables, self.views, 'passes', self.node(), None, self.settings)
            if self.options.print:
                print(f'{self.number}.{at}: {case.node.sql("")};', flush=True)
            self.judge(f'{self.number}.{at}', case)
            if len(self.found) >= self.options.differences:
                break

    def judge(self, name, case):
        try:
            changing, failed = self.ways.compare(case.node.sql(''))
            self.changing.update(changing)
            self.counts['passed'] += 1
            self.counts['errors'] += failed
        except Difference as difference:
            self.found.append((name, case, difference.kind, difference.text))
        except Died as death:
            self.found.append((name, case, 'died', str(death)))
            self.ways.close()
            self.ways.reset(self.tables, self.views, self.settings)
        except Skipped:
            self.counts['refused'] += 1


# -------------------------------------------------------------- processes --

def report(options, name, case, kind, text):
    """A difference as SQL that a person can run."""
    settings = ' '.join(f'{variable}={value}' for variable, value in case.settings)
    lines = [f'-- {kind} ({name}) {settings}'.rstrip(),
             f'-- passes.py --seed {options.seed} --from {name.split(".")[0]} --queries '
             f'{options.set} --set {options.set} --jobs 1 {shlex.quote(options.binary)}'
             + (f' --kind {options.kind}' if options.kind else '')]
    lines += [s + ';' for table in case.tables for s in table.statements('')]
    lines += [case.node.sql('') + ';', '-- ' + text.replace('\n', '\n-- ')]
    return '\n'.join(lines) + '\n'


def work(options, numbers):
    """Runs every set of a list; (counts, plans that each pass changes, kinds of
    differences)."""
    ways = Ways(options)
    counts, changing, kinds = (collections.Counter() for _ in range(3))
    for number in numbers:
        run = Run(options, number, ways)
        run.run()
        counts, changing = counts + run.counts, changing + run.changing
        for name, case, kind, text in run.found:
            kinds[kind] += 1
            if kinds[kind] == 1:
                small = Reducer(ways, Nobody(), kind, options.reduce).reduce(case)
                print(report(options, name, small, kind, text_of(small, ways) or text), flush=True)
        if sum(kinds.values()) >= options.differences:
            break
    ways.close()
    return counts, changing, kinds


def text_of(case, ways):
    try:
        ways.reset(case.tables, case.views, case.settings)
        ways.compare(case.node.sql(''))
    except Difference as difference:
        return difference.text
    except (Died, Skipped):
        pass
    return None


def idle(options, changing):
    """The passes that changed no plan; where only a few queries ran, none."""
    return [] if options.queries < 1000 or options.kind else \
        [name for name in options.names if not changing[f'-{name}']]


def main():
    options = arguments()
    begin = time.monotonic()
    sets = range(options.first, options.first + max(1, options.queries // options.set))
    shares = [(options, sets[i::options.jobs]) for i in range(options.jobs)]
    with multiprocessing.Pool(options.jobs) as pool:
        answers = pool.starmap(work, shares)
    counts, changing, kinds = (sum((a[i] for a in answers), collections.Counter())
                               for i in range(3))
    for kind, count in kinds.most_common():
        print(f'{count:7} {kind}')
    for name in options.names:
        print(f'{changing[f"-{name}"]:7} plans are others with -{name}')
    for name in idle(options, changing):
        print(f'no query needs the pass "{name}"')
    failed = sum(kinds.values()) + len(idle(options, changing))
    print(f'{counts["errors"]} gave the same error, {counts["refused"]} refused, '
          f'in {time.monotonic() - begin:.0f} s')
    print(f'{counts["passed"]} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

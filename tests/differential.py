#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random queries on vdbq and on another engine; all answers must agree.

    differential.py [options] BINARY

For each number from --from on a set of tables (and views) is made from the
seed and the number, and --set queries over it: most are compared with the
peer's answers, others are checked on vdbq alone (differential/checks.py says
how). A difference is cut down and printed so that it can become a test of
tests/sql. The last line is "N passed, N failed"; a query that the peer itself
refuses counts as neither. The same options give the same queries.
"""
import argparse
import collections
import multiprocessing
import random
import shlex
import sys
import time

from differential.analyses import Analyses
from differential.checks import CHECKS, Case, Difference, Skipped, parted
from differential.engines import OTHER, Died, DuckDB, Refused, Sqlite, Vdbq, some_settings
from differential.joins import Joins
from differential.nodes import Node, listed
from differential.queries import Queries, Relation
from differential.reduce import Reducer, difference
from differential.tables import COLUMNS, COUNTS, FEW_ROWS, column_node, random_tables
from shell_options import HANG_SECONDS

ONE = Node('SELECT {0}', listed([Node('{0} AS c0', Node('1', type='I'))]), type='Q')
SHARES = (('peer', 0.72), ('change', 0.80), ('tlp', 0.87), ('totals', 0.93), ('norec', 1.0))
KEPT_MAX = 70  # rows of a table after changes
PROGRESS_SECONDS = 60


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary', help='the shell, split like a command line')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--queries', type=int, default=2000, help='in all (%(default)s)')
    parser.add_argument('--set', type=int, default=100, help='for each set of tables')
    parser.add_argument('--from', type=int, default=0, dest='first', help='the first set')
    parser.add_argument('--peer', default='sqlite', choices=('sqlite', 'duckdb'))
    parser.add_argument('--device', default='host')
    parser.add_argument('--other', help='a second device, whose rows must be the same bits in '
                        'the same order')
    parser.add_argument('--other-binary', help='likewise, of another shell')
    parser.add_argument('--joins', type=float, default=0.25, metavar='SHARE',
                        help='of the queries for the peer are joins (%(default)s)')
    parser.add_argument('--analyses', type=float, default=0.15, metavar='SHARE',
                        help='... are several windows, or groups of many keys (%(default)s)')
    parser.add_argument('--subqueries', type=float, default=0.0, metavar='SHARE',
                        help='of all values are queries, in every clause (%(default)s)')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--timeout', type=float, default=HANG_SECONDS,
                        help='of one query, in seconds')
    parser.add_argument('--reduce', type=float, default=15, help='seconds for each difference')
    parser.add_argument('--differences', type=int, default=10, help='end after so many kinds')
    parser.add_argument('--columns', default=''.join(COLUMNS), help='their letters (%(default)s)')
    parser.add_argument('--only', help='one check: ' + ', '.join(CHECKS))
    parser.add_argument('--print', action='store_true', help='the queries, as they run')
    options = parser.parse_args()
    if options.other_binary:
        options.other = options.other or options.device
    return options


def peer_made(options):
    return DuckDB() if options.peer == 'duckdb' else Sqlite()


class Run:
    """A set of tables and queries over it."""

    def __init__(self, options, number, vdbq, peer):
        self.options, self.vdbq, self.peer = options, vdbq, peer
        self.rng = random.Random(f'{options.seed} {number}')
        self.number, self.at = number, 0
        rows_max = FEW_ROWS if options.subqueries else COUNTS[-1]
        self.tables = random_tables(self.rng, options.columns, rows_max)
        self.settings = self.some(options.device)
        if options.other:
            # Plans, and the order of rows with them, hang on where tablets end.
            same = (OTHER + 'VDBQ_TABLET_ROWS', dict(self.settings)['VDBQ_TABLET_ROWS'])
            self.settings += (*self.some(options.other, OTHER), same)
        self.views = []
        self.counts = collections.Counter()
        self.found = []

    def some(self, device, before=''):
        """Some settings of a shell."""
        return tuple((before + name, value) for name, value in some_settings(self.rng, device))

    def relations(self):
        return [Relation(t.name, [column_node(c) for c in t.columns], len(t.rows))
                for t in self.tables] + self.view_relations

    def maker(self, kind):
        """What makes queries over all there is."""
        return kind(self.rng, self.relations(), self.options.peer, self.options.subqueries)

    def make_views(self):
        self.view_relations = []
        for i in range(self.rng.randrange(3)):
            queries = self.maker(Queries)
            made = queries.nested(queries.select)
            if made.rows <= 1000:
                self.views.append((f'v{i}', made.node))
                self.view_relations.append(Relation(f'v{i}', made.columns, made.rows, False))

    def reset(self):
        """Both engines to what the tables are now."""
        self.peer.reset(self.tables, self.views)
        self.vdbq.reset(self.tables, self.views, self.settings)

    def start(self):
        self.make_views()
        try:
            self.reset()
        except (Refused, Died) as error:
            self.found.append((f'{self.number}.0', Case(
                self.tables, self.views, 'peer', ONE), 'set-up', str(error)))
            self.counts['different'] += 1
            self.views, self.view_relations = [], []
            self.reset()

    def run(self):
        self.start()
        for _ in range(self.options.set):
            self.at += 1
            case = self.case()
            if self.options.only and case.check != self.options.only:
                continue
            if self.options.print:
                print(f'{self.number}.{self.at}: {case.node.sql("")};', flush=True)
            self.judge(case)
            if len(self.found) >= self.options.differences:
                break

    def case(self):
        share = self.rng.random()
        check = next(name for name, limit in SHARES if share < limit)
        queries = self.maker(Queries)
        common = (self.tables, self.views, check)
        if check == 'peer':
            share = self.rng.random()
            if share < self.options.joins:
                queries = self.maker(Joins)
            elif share < self.options.joins + self.options.analyses:
                queries = self.maker(Analyses)
            return Case(*common, queries.query(), None, self.settings)
        if check == 'change':
            node, table = queries.change(self.tables)
            letters = [COLUMNS[c][0] for c in table.columns]
            return Case(*common, node, (table.name, letters), self.settings)
        items, source, condition, columns = queries.parts()
        return Case(*common, parted(items, source, condition), columns, self.settings)

    def judge(self, case):
        refused = False
        try:
            passed = CHECKS[case.check](case, self.vdbq, self.peer)
            self.counts[case.check if passed else 'not run'] += 1
        except Difference as difference:
            self.note(case, difference.kind, difference.text)
        except Died as death:
            self.note(case, 'died', str(death))
        except Skipped:
            self.counts['not run'] += 1
            refused = True
        if case.check == 'change':
            self.read_back(case.about[0])
            if refused:
                self.restart()

    def note(self, case, kind, text):
        self.counts['different'] += 1
        self.found.append((f'{self.number}.{self.at}', case, kind, text))
        if kind == 'died' or case.check == 'change':
            self.restart()

    def restart(self):
        try:
            self.reset()
        except (Refused, Died):
            self.views, self.view_relations = [], []
            self.reset()

    def read_back(self, name):
        """Takes the changed table from the peer; makes both anew where it grew."""
        i = next(i for i, t in enumerate(self.tables) if t.name == name)
        columns = self.tables[i].columns
        rows = [tuple(back(COLUMNS[c][0], v) for c, v in zip(columns, row))
                for row in self.peer.run(f'SELECT * FROM {name}')]
        self.tables = list(self.tables)
        kept = FEW_ROWS if self.options.subqueries else KEPT_MAX
        self.tables[i] = self.tables[i].changed(rows=rows[:kept])
        if len(rows) > kept:
            self.restart()


def back(kind, value):
    """A value of the peer's as tables keep it."""
    if kind == 'M' and isinstance(value, float):
        return round(value * 100)
    if kind in 'DF' and isinstance(value, int):
        return float(value)
    return value


# -------------------------------------------------------------- processes --

def again(options, name):
    """The command that finds a difference once more."""
    words = ['differential.py', '--seed', options.seed, '--from', name.split('.')[0],
             '--queries', options.set, '--set', options.set, '--jobs', 1]
    for option in ('peer', 'device', 'other', 'other_binary', 'joins', 'analyses', 'subqueries',
                   'columns', 'only'):
        if getattr(options, option) not in (None, ''):
            words += ['--' + option.replace('_', '-'),
                      shlex.quote(str(getattr(options, option)))]
    return ' '.join(map(str, (*words, shlex.quote(options.binary))))


def report(options, name, case, kind, text):
    """A difference as SQL that a person can run."""
    settings = ' '.join(f'{variable}={value}' for variable, value in case.settings)
    lines = [f'-- {options.seed} {name} {case.check} {kind} {settings}'.rstrip(),
             '-- ' + again(options, name)]
    for table in case.tables:
        lines += [s + ';' for s in table.statements('')]
    lines += [f'CREATE VIEW {n} AS {node.sql("")};' for n, node in case.views]
    lines.append(case.node.sql('') + ';')
    if options.peer != 'duckdb' and case.node.sql('') != case.node.sql('sqlite'):
        lines.append(f'-- sqlite3: {case.node.sql("sqlite")}')
    lines.append('-- ' + text.replace('\n', '\n-- '))
    return '\n'.join(lines)


class Progress:
    """Says now and then on stderr how far a process is."""

    def __init__(self, options, sets):
        self.options, self.sets, self.told = options, sets, time.monotonic()

    def tell(self, done, counts):
        if time.monotonic() - self.told < PROGRESS_SECONDS:
            return
        self.told = time.monotonic()
        print(f'seed {self.options.seed}: {done * self.options.set} of '
              f'{self.sets * self.options.set} queries, {counts["different"]} differences',
              file=sys.stderr, flush=True)


def work(options, numbers):
    """Runs every set of a list; returns the counts and how many differences of
    each kind there are."""
    other = (Vdbq(options, options.other, binary=options.other_binary) if options.other
             else None)
    vdbq, peer = Vdbq(options, options.device, other), peer_made(options)
    counts, kinds = collections.Counter(), collections.Counter()
    progress = Progress(options, len(numbers))
    for done, number in enumerate(numbers):
        progress.tell(done, counts)
        run = Run(options, number, vdbq, peer)
        run.run()
        counts += run.counts
        for name, case, kind, text in run.found:
            kinds[kind] += 1
            if kinds[kind] > (3 if kind.startswith('wrong') else 1):
                continue
            small = Reducer(vdbq, peer, kind, options.reduce).reduce(case)
            last = difference_text(small, vdbq, peer) or text
            print(report(options, name, small, kind, last) + '\n', flush=True)
        if len(kinds) >= options.differences:
            break
    vdbq.close()
    return counts, kinds


def difference_text(case, vdbq, peer):
    found = difference(case, vdbq, peer)
    return found[1] if found else None


def main():
    options = arguments()
    begin = time.monotonic()
    sets = range(options.first, options.first + max(1, options.queries // options.set))
    shares = [(options, sets[i::options.jobs]) for i in range(options.jobs)]
    if options.jobs == 1:
        answers = [work(*shares[0])]
    else:
        with multiprocessing.Pool(options.jobs) as pool:
            answers = pool.starmap(work, shares)
    counts = sum((a[0] for a in answers), collections.Counter())
    kinds = sum((a[1] for a in answers), collections.Counter())
    for kind, count in kinds.most_common():
        print(f'{count:7} {kind}')
    print(', '.join(f'{name} {count}' for name, count in sorted(counts.items())),
          f'in {time.monotonic() - begin:.0f} s')
    failed = counts['different']
    print(f'{sum(counts[c] for c in CHECKS)} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

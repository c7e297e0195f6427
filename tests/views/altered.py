#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Views whose tables are altered: they give the rows that they gave.

    altered.py [options] BINARY

Tables have columns of few names, rows, and one is joined to or looked up in another
by views that say these names with and without their tables': in queries inside queries,
joins by NATURAL and USING, aliases, views over views. Then columns come, go, and get
other names. Views say all that they give by name, so that each change must either be
refused, or leave the rows of every view as they are. The last line is "N passed, N
failed".
"""
import argparse
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from functions.shell import Shell  # noqa: E402

NAMES = ('a', 'b', 'c', 'd', 'rowid')
TABLES = ('t', 'u', 'v')
ROWS = 6


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary', help='the shell, split like a command line')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--sets', type=int, default=60, help='of tables and views')
    parser.add_argument('--device', default='host')
    parser.add_argument('--timeout', type=float, default=60, help='of a set, in seconds')
    return parser.parse_args()


class Views:
    """Statements that make views over tables; `columns` are those of each."""

    def __init__(self, rng):
        self.rng = rng
        self.columns = {}

    def tables(self):
        made = []
        for table in TABLES:
            names = self.rng.sample(NAMES[:4], self.rng.randrange(1, 4))
            self.columns[table] = names
            rows = ', '.join('(' + ', '.join(str(self.rng.randrange(4)) for _ in names) + ')'
                             for _ in range(ROWS))
            made += [f'create table {table} ({" integer, ".join(names)} integer)',
                     f'insert into {table} values {rows}']
        return made

    def name(self, tables):
        """A column, more often than not without its table's name."""
        table = self.rng.choice(tables)
        name = self.rng.choice((*self.columns[table], *self.columns[table], 'rowid'))
        return name if self.rng.random() < 0.7 else f'{table}.{name}'

    def condition(self, tables):
        rng = self.rng
        return (f'{self.name(tables)} {rng.choice(("=", "<", "<>"))} '
                f'{rng.choice((self.name(tables), str(rng.randrange(4))))}')

    def inside(self, around):
        """A query inside, which may name what is around it."""
        table = self.rng.choice([t for t in self.columns if t not in around])
        tables = [table, table, *around]
        return (f'(select count({self.name(tables)}) from {table} '
                f'where {self.condition(tables)})')

    def source(self):
        """(FROM, its tables)"""
        rng = self.rng
        one, other = rng.sample(list(self.columns), 2)
        both = [name for name in self.columns[one] if name in self.columns[other]]
        form = rng.randrange(4)
        if form == 0:
            return f'{one} natural join {other}', [one, other]
        if form == 1 and both:
            return f'{one} join {other} using ({rng.choice(both)})', [one, other]
        return one, [one]

    def query(self):
        rng = self.rng
        source, tables = self.source()
        item = self.inside(tables) if rng.random() < 0.6 else self.name(tables)
        alias = rng.choice(NAMES[:4])
        where = f' where {self.condition(tables)}' if rng.random() < 0.5 else ''
        if rng.random() < 0.2:
            return (f'select {self.name(tables)} % 2 as {alias}, count(*) as n from {source}'
                    f'{where} group by {alias}', (alias, 'n'))
        return f'select {item} as {alias}, 1 as n from {source}{where}', (alias, 'n')

    def view(self, number):
        query, names = self.query()
        self.columns[f'w{number}'] = names
        return f'create view w{number} as {query}'

    def change(self):
        rng = self.rng
        table = rng.choice(TABLES)
        name, to = rng.choice(self.columns[table]), rng.choice(NAMES)
        return f'alter table {table} ' + rng.choice((
            f'add column {to} integer default {rng.randrange(4)}',
            f'rename column {name} to {to}', f'drop column {name}'))


def rows_of(view):
    return f'select * from {view} order by 1, 2'


def prepare(rng, shell):
    """Tables, and those views over them that are taken."""
    views, kept = Views(rng), []
    made = views.tables()
    for number in range(12):
        before = dict(views.columns)
        view = views.view(number)
        answers = shell.run(made, [view, rows_of(f'w{number}')])
        if all(answer.rows is not None for answer in answers):
            made.append(view)
            kept.append(f'w{number}')
        else:
            views.columns = before
    return made, views, kept


def check(rng, shell):
    """(how many changes were taken, how many views gave other rows)"""
    made, views, kept = prepare(rng, shell)
    statements = [rows_of(view) for view in kept]
    before = shell.run(made, statements)
    taken = failed = 0
    for _ in range(12):
        change = views.change()
        first, *after = shell.run(made, [change, *statements])
        if first.error is not None:
            continue
        taken += 1
        for view, old, new in zip(kept, before, after):
            if old != new:
                failed += 1
                print(f'{view} after {change}: {old} became {new}\n  ' + ';\n  '.join(made))
    return taken, failed


def main():
    options = arguments()
    shell = Shell(options.binary, options.device, options.timeout)
    passed = failed = 0
    for number in range(options.sets):
        taken, wrong = check(random.Random(f'{options.seed} {number}'), shell)
        passed += taken
        failed += wrong
    if passed == 0:
        sys.exit('all changes were refused')
    print(f'{passed} passed, {failed} failed')
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every function and every operator with every combination of types.

    functions.py [options] BINARY

The functions are those that the sources name. Each is computed of constants,
which the planner folds, and of the same values in columns, which the machine
runs: both must agree, nothing may crash, and an error says where it is. What
sqlite3 and DuckDB say of it is compared, too; functions/peers.py has the table
of what differs on purpose. The last line is "N passed, N failed".
"""
import argparse
import itertools
import math
import multiprocessing
import pathlib
import random
import sys

from functions.forms import all_forms
from functions.peers import DIFFERENCES, peers, text_of, unknown
from functions.shell import Shell
from functions.values import LETTERS, TYPES, VALUES
from shell_options import HANG_SECONDS

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Of constants one is chosen at once, and the others' types are not asked for.
CHOICES = {'coalesce', 'ifnull', 'iif', 'if', 'min', 'max', 'least', 'greatest', 'nullif'}
DIVISIONS = {'/', '%', 'mod'}  # by a constant 0 are NULL at once
CLOCKS = {'strftime({0})'}     # are never the same twice
REFUSED = ('do not go together', 'a condition is true', 'cannot become', 'not take',
           'do not meet', 'is not a number', 'bits are those')
OVERFLOWS = ('integer overflow', 'out of the range', 'does not fit', 'more digits than')
CONSTANT = 'is a constant'     # for columns there is no such function
# A text that is written may overflow as a number, or be seen to be a format.
WRITTEN = (*OVERFLOWS, 'this is a format')


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary', help='the shell, split like a command line')
    parser.add_argument('--device', default='host')
    parser.add_argument('--share', type=float, default=1,
                        help='of the combinations of two types; of three a tenth of it')
    parser.add_argument('--values', type=int, default=150, help='combinations of them, at most')
    parser.add_argument('--arity', type=int, help='only forms of so many operands')
    parser.add_argument('--only', help='only forms of that name')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--timeout', type=float, default=HANG_SECONDS,
                        help='of one shell, in seconds')
    parser.add_argument('--show', type=int, default=3, help='faults of each form')
    return parser.parse_args()


class Unit:
    """All forms of one arity over one combination of types."""

    def __init__(self, options, forms, types):
        self.types, self.letters = types, ''.join(LETTERS[t] for t in types)
        self.forms = [f for f in forms if f.arity == len(types) and f.text not in CLOCKS]
        self.rng = random.Random(f'{options.seed} {types}')
        every = list(itertools.product(*(VALUES[t] for t in types)))
        few = len(every) > options.values
        self.rows = self.rng.sample(every, options.values) if few else every
        self.shell = Shell(options.binary, options.device, options.timeout)
        self.faults, self.passed = [], 0

    def run(self):
        """Its faults, and how many checks passed."""
        questions = [sql_of(form, row) for form in self.forms for row in self.rows]
        given = iter(self.shell.run([], ['SELECT ' + sql for sql in questions]))
        answers = {form: [next(given) for _ in self.rows] for form in self.forms}
        for form in self.forms:
            for row, answer in zip(self.rows, answers[form]):
                self.check_answer(form, sql_of(form, row), answer)
        if '?' not in self.letters and self.types:
            self.check_columns(answers)
            self.check_peers(answers)
        return self.faults, self.passed

    def check(self, right, form, what, sql):
        if right:
            self.passed += 1
        else:
            self.faults.append((form.name, self.types, what, sql))

    def check_answer(self, form, sql, answer):
        unclear = answer.error and ('column ' not in answer.error or 'instruct' in answer.error)
        self.check(not answer.died and not unclear, form,
                   f'died: {answer.died}' if answer.died else answer.error, sql)

    # ------------------------------------------------------------ columns --

    def check_columns(self, answers):
        questions = [q for form in self.forms for q in self.of_columns(form, answers[form])]
        given = self.shell.run(self.table(), [sql for _, sql, _ in questions])
        for (form, sql, rows), answer in zip(questions, given):
            self.compare_columns(form, sql, rows, answer)

    def table(self):
        names = ', '.join(f'c{i} {t}' for i, t in enumerate(self.types))
        rows = ', '.join(f"({k}, {', '.join(v.sql for v in row)})"
                         for k, row in enumerate(self.rows))
        return [f'CREATE TABLE t (id INTEGER PRIMARY KEY, {names})', f'INSERT INTO t VALUES {rows}']

    def of_columns(self, form, answers):
        """Queries, and the answers that they should repeat; None: an error."""
        text = form.text.format(*(f'c{i}' for i in range(len(self.types))))
        good = [k for k, a in enumerate(answers) if a.rows is not None]
        bad = [k for k, a in enumerate(answers) if a.error]
        sets = [[k for k in good if self.is_special(form, self.rows[k]) == special]
                for special in (False, True)]
        if form.aggregate:
            sets = [[k] for k in self.rng.sample(good, min(len(good), 5))]
        for rows in filter(None, sets):
            where = '' if len(rows) == len(answers) else \
                f' WHERE id IN ({", ".join(map(str, rows))})'
            yield form, f'SELECT {text} FROM t{where}', [(k, answers[k].rows) for k in rows]
        if 'T' in self.letters:
            bad = [k for k in bad if not is_one_of(WRITTEN, answers[k].error)]
        bad = [k for k in bad if not (self.is_special(form, self.rows[k])
                                      and is_one_of(OVERFLOWS, answers[k].error))]
        for k in self.rng.sample(bad, min(len(bad), 2)):
            yield form, f'SELECT {text} FROM t WHERE id = {k}', None

    def compare_columns(self, form, sql, rows, answer):
        if answer.died:
            self.check(False, form, f'died: {answer.died}', sql)
        elif rows is None:
            self.check(answer.error, form, 'an error of constants, and none of columns', sql)
        elif answer.error:
            self.check(is_one_of(self.allowed(form, rows), answer.error), form,
                       f'an error of columns alone: {answer.error}', sql)
        else:
            self.compare_rows(form, sql, rows, answer.rows)

    def allowed(self, form, rows):
        """Errors of columns where constants give an answer."""
        special = form.name in CHOICES or self.is_special(form, self.rows[rows[0][0]])
        texts = REFUSED if 'T' in self.letters else ()
        return (CONSTANT, *(REFUSED + OVERFLOWS if special else texts))

    @staticmethod
    def is_special(form, row):
        """A constant NULL goes with any type, and decides before or after the
        rest is computed and overflows; a division by 0 is not computed."""
        values = [v.sqlite for v in row]
        return None in values or form.name in DIVISIONS and \
            not isinstance(values[1], str) and abs(values[1]) < 1

    def compare_rows(self, form, sql, rows, given):
        expected = ''.join(text for _, text in rows)
        right = given == expected
        at, ours, constant = 0, given, expected
        if not right:
            pairs = list(zip(lines_of(given), (text for _, text in rows)))
            at = next((i for i, (a, b) in enumerate(pairs) if a != b.rstrip('\n')), 0)
            ours, constant = pairs[at] if pairs else (given, expected)
            right = form.name in CHOICES and all(
                same(value_of(a), value_of(b), 'F' in self.letters) or
                a == b.replace("'\n", " 00:00:00'") for a, b in pairs)
        values = [v.sql for v in self.rows[rows[at][0]]]
        self.check(right, form, f'columns give {ours!r}, constants {constant!r}',
                   f'{sql[:100]} -- of {values}')

    # -------------------------------------------------------------- peers --

    def check_peers(self, answers):
        for peer in peers():
            for form in self.forms:
                known = peer.forms.get(form.name)
                if known is not None and all(letter in known.types for letter in self.letters):
                    theirs = peer.answers(text_of(form, peer), self.letters, self.rows)
                    self.compare_peer(peer, form, answers[form], theirs or [])

    def compare_peer(self, peer, form, answers, theirs):
        for row, answer, (told, their) in zip(self.rows, answers, theirs):
            if answer.rows is None:
                continue  # an error is no wrong answer
            ours, values = value_of(answer.rows), [v.sqlite for v in row]
            right = told and same(ours, their, 'F' in self.letters) or any(
                d.applies(peer.name, form, self.letters, values, ours, their)
                for d in DIFFERENCES)
            self.check(right, form, f'{ours!r}, {peer.name} {their!r}', sql_of(form, row))


def is_one_of(messages, error):
    return any(words in error for words in messages)


def sql_of(form, row):
    return form.text.format(*(v.sql for v in row))


def lines_of(text):
    """The values of a column in quote mode; texts may have line ends."""
    return [line for line in text.split('\n') if line]


def value_of(text):
    """The value of a literal."""
    text = text.rstrip('\n')
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    if text in ('NULL', 'true', 'false'):
        return {'NULL': None, 'true': 1, 'false': 0}[text]
    try:
        return int(text)
    except ValueError:
        return float(text)


def same(ours, theirs, single):
    """Whether two answers are equal; a FLOAT has six digits that count."""
    if ours is None or theirs is None or isinstance(ours, str) or isinstance(theirs, str):
        return ours == theirs
    if isinstance(ours, int) and isinstance(theirs, int) or math.isinf(ours) or math.isinf(theirs):
        return ours == theirs
    return abs(ours - theirs) <= (1e-6 if single else 1e-14) * max(abs(ours), abs(theirs)) + \
        (1e-44 if single else 0)


def work(item):
    return Unit(*item).run()


def units(options, forms):
    """What is to be checked, by the same options always the same."""
    rng = random.Random(options.seed)
    for arity in sorted({f.arity for f in forms}):
        share = (1, 1, options.share, options.share / 10)[arity]
        for types in itertools.product(TYPES, repeat=arity):
            if options.arity in (None, arity) and rng.random() < share:
                yield options, forms, types


def main():
    options = arguments()
    forms = [f for f in all_forms(ROOT) if options.only in (None, f.name)]
    if unknown(forms):
        raise SystemExit(f'functions/peers.py must say of {unknown(forms)} who knows the answer')
    passed, failed, shown = 0, 0, {}
    with multiprocessing.Pool(options.jobs) as pool:
        for found, count in pool.imap_unordered(work, units(options, forms)):
            passed, failed = passed + count, failed + len(found)
            for name, types, what, sql in found:
                shown[name] = shown.get(name, 0) + 1
                if shown[name] <= options.show:
                    print(f'{name} {types}: {what}\n    {sql[:300]}', flush=True)
    for name, count in sorted(shown.items()):
        print(f'{count} faults: {name}')
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

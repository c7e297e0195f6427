#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Classes of tables and queries at the edges; all ways to run must agree.

    classes.py [options] BINARY

    keys    floats at their edges, and NULL, as keys of everything
    empty   tables of no row, of one, of NULLs alone, at every place
    errors  rows that fail: the first in serial order, and the rows before it
    order   keys that come in order, or nearly

Each script of random tables and queries runs on the host as it is set by
itself, and again on devices, in modes, with tablets, encodings, memories and
numbers of cores at random: what it prints must be the same bytes, and where it
fails the same error behind the same rows. Where sqlite3 means the same, its
rows are those, too. The last line is "N passed, N failed".
"""
import argparse
import multiprocessing
import random
import re
import sys
import time

from classes.empty import Empty
from classes.errors import Errors
from classes.keys import Keys
from classes.order import Order
from differential.checks import same
from differential.engines import Died, Refused, Sqlite, Vdbq, rows_of
from shell_options import HANG_SECONDS

CLASSES = {'keys': Keys, 'empty': Empty, 'errors': Errors, 'order': Order}
TABLET_ROWS = ('1', '2', '3', '7', '63', '64', '65')
SETTINGS = {'VDBQ_ENCODING': ('auto', 'plain', 'packed'), 'VDBQ_SKIP': ('on', 'off'),
            'VDBQ_MEMORY': ('1G', '1G', '64K')}
# Of devices, other ones; launches of many small tablets take more memory.
MODES = ('auto', 'serial', 'streamed', 'mapped', 'cached')
DEVICE_SETTINGS = {'VDBQ_MEMORY': ('1G', '1G', '1M'), 'VDBQ_MODE': MODES,
                   'VDBQ_STEPS': ('auto', 'host', 'device', 'device')}
CORES = ('1', '2', '0')  # of a CPU device
FAILURES_MAX = 5


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary', help='the shell, split like a command line')
    parser.add_argument('--only', choices=CLASSES, help='one class')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--from', type=int, default=0, dest='first', help='the first script')
    parser.add_argument('--scripts', type=int, default=60, help='of each class (%(default)s)')
    parser.add_argument('--queries', type=int, default=40, help='of a script (%(default)s)')
    parser.add_argument('--ways', type=int, default=3,
                        help='to run each, beside two on the host (%(default)s)')
    parser.add_argument('--device', action='append', help='other than the host (cpu)')
    parser.add_argument('--build', default='interpreted', help='of devices (%(default)s)')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--timeout', type=float, default=HANG_SECONDS,
                        help='of a query, in seconds')
    return parser.parse_args()


class Way:
    """A way to run: a shell that is set somehow."""

    def __init__(self, options, device, settings):
        self.device, self.settings = device, settings
        self.shell = Vdbq(options, device)

    def answers(self, script):
        """What each query gives, (bytes, error), and the statements of its model."""
        self.shell.reset((), (), tuple(self.settings.items()))
        for statement in script.setup:
            _, message = self.shell.answer(statement)
            if message:
                raise Refused(f'{statement}: {message}')
        return [(self.answer(query.sql), [self.answer(sql) for sql in query.model or ()])
                for query in script.queries]

    def answer(self, sql):
        printed, message = self.shell.answer(sql)
        return printed, placed(message)

    def __str__(self):
        return ' '.join([f'--device {self.device}'] +
                        [f'{name}={value}' for name, value in self.settings.items()])


def placed(message):
    """A message without the line of the script that it names."""
    return re.sub(r'line \d+, ', '', message.split('\n')[0])


def some_ways(options, rng):
    """The host as it is, with other tablets, and ways with these or those."""
    rows = {'VDBQ_TABLET_ROWS': rng.choice(TABLET_ROWS)}
    ways = [Way(options, 'host', {}), Way(options, 'host', rows)]
    return ways + [some_way(options, rng, rng.choice(({}, rows))) for _ in range(options.ways)]


def some_way(options, rng, rows):
    device = rng.choice(['host', *(options.device or ['cpu'])])
    values = SETTINGS if device == 'host' else SETTINGS | DEVICE_SETTINGS
    settings = rows | {name: rng.choice(choices) for name, choices in values.items()}
    if device == 'cpu':
        settings['VDBQ_CORES'] = rng.choice(CORES)
    if device != 'host':
        settings['VDBQ_BUILD'] = options.build
    return Way(options, device, settings)


def joined(query, answers):
    """What a query should answer, by the answers of its model."""
    lines = b''
    for rows, message in answers:
        lines += rows
        if query.limit is not None and lines.count(b'\n') >= query.limit:
            return b''.join(lines.splitlines(True)[:query.limit]), ''
        if message:
            return lines, message
    return lines, ''


class Run:
    """The scripts of one process."""

    def __init__(self, options):
        self.options, self.peer = options, Sqlite()
        self.passed, self.failed = 0, 0

    def scripts(self, name, numbers):
        for number in numbers:
            rng = random.Random(f'{name} {self.options.seed} {number}')
            script = CLASSES[name](rng).script(self.options.queries)
            ways = some_ways(self.options, rng)
            self.script(f'{name} {number}', script, ways)
            for way in ways:
                way.shell.close()
            if self.failed >= FAILURES_MAX:
                break

    def script(self, name, script, ways):
        answers = []
        for way in ways:
            try:
                answers.append(way.answers(script))
            except (Died, Refused) as error:
                self.fail(name, script, None, way, f'{type(error).__name__}: {error}')
                return
        wanted = self.peer_answers(script)
        for i, query in enumerate(script.queries):
            self.query(f'{name}.{i}', script, query, ways, [a[i] for a in answers], wanted[i])

    def peer_answers(self, script):
        """Rows of sqlite3, None where it is not asked or refuses."""
        if not script.peer_setup:
            return [None] * len(script.queries)
        self.peer.reset(())
        for statement in script.peer_setup:
            self.peer.run(statement)
        return [self.peer_rows(query) for query in script.queries]

    def peer_rows(self, query):
        try:
            return self.peer.run(query.peer) if query.peer else None
        except Refused:
            return None

    def query(self, name, script, query, ways, answers, wanted):
        expected, model = answers[0]
        if query.model:
            expected = joined(query, model)
        if wanted is not None and expected[1] == '' and not same(
                rounded(rows_of(expected[0])), rounded(wanted), query.ordered):
            self.fail(name, script, query, 'sqlite3', f'{wanted}\n  got {rows_of(expected[0])}')
            return
        if wanted is not None and expected[1]:
            self.fail(name, script, query, ways[0], expected[1])
            return
        for way, (given, _) in zip(ways, answers):
            if query.planned and 'VDBQ_TABLET_ROWS' in way.settings:
                expected = answers[1][0]
            if given != expected:
                self.fail(name, script, query, way, f'expected {expected}\n  got {given}')
                return
        self.passed += 1

    def fail(self, name, script, query, way, text):
        self.failed += 1
        lines = [f'-- {self.options.seed} {name}: {way}']
        for statement in script.setup:
            if query is None or re.search(rf'\b{statement.split()[2]}\b', query.sql):
                lines.append(statement + ';')
        if query is not None:
            lines.append(f'{query.sql};')
        print('\n'.join(lines + ['-- ' + text.replace('\n', '\n-- ')]) + '\n', flush=True)


def rounded(rows):
    """Rows with as many digits as a FLOAT has."""
    return [tuple(float(f'{v:.6g}') if isinstance(v, float) else v for v in row)
            for row in rows]


def work(options, name, numbers):
    run = Run(options)
    run.scripts(name, numbers)
    return run.passed, run.failed


def main():
    options = arguments()
    begin = time.monotonic()
    names = [options.only] if options.only else list(CLASSES)
    numbers = range(options.first, options.first + options.scripts)
    shares = [(options, name, numbers[i::options.jobs * 2])
              for name in names for i in range(options.jobs * 2)]
    with multiprocessing.Pool(options.jobs) as pool:
        answers = pool.starmap(work, shares, chunksize=1)
    passed, failed = (sum(a[i] for a in answers) for i in (0, 1))
    print(f'in {time.monotonic() - begin:.0f} s')
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random histories of a database, on vdbq and on sqlite3, which must agree.

    changes.py [options] BINARY

A history is a sequence of changes and queries of one to three connections in
one or two processes on one file, with transactions, processes that end, die
and come again (differential/story.py). With --parts the file becomes part
files from time to time, and these become others. Every answer is compared with
sqlite3's. A difference is cut down and printed as statements that can be run
again. The last line is "N passed, N failed". The same options give the same
histories, but for where a process dies.
"""
import argparse
import collections
import multiprocessing
import os
import random
import sys
import tempfile
import time

from differential.history import History, Step, Wrong
from differential.nodes import smaller
from differential.story import Story
from differential.tables import COLUMNS
from shell_options import HANG_SECONDS


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary', help='the shell, split like a command line')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--statements', type=int, default=20000, help='in all (%(default)s)')
    parser.add_argument('--length', type=int, default=500, help='of a history (%(default)s)')
    parser.add_argument('--from', type=int, default=0, dest='first', help='the first history')
    parser.add_argument('--device', default='host')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--timeout', type=float, default=HANG_SECONDS,
                        help='of some statements, in seconds')
    parser.add_argument('--reduce', type=float, default=20, help='seconds for each difference')
    parser.add_argument('--differences', type=int, default=10, help='end after so many')
    parser.add_argument('--columns', default=''.join(COLUMNS), help='their letters (%(default)s)')
    parser.add_argument('--parts', type=int, default=0,
                        help='of part files; as many as ranks, where BINARY has those')
    parser.add_argument('--print', action='store_true', help='the statements of each history')
    return parser.parse_args()


# ------------------------------------------------------------ cutting down --

def wrong(options, steps):
    """What goes wrong with these steps in a database of their own, or None."""
    history = History(options)
    try:
        history.run(steps)
    except Wrong as found:
        return found
    finally:
        history.close()
    return None


class Reducer:
    """Makes a history shorter as long as the same kind of thing goes wrong."""

    def __init__(self, options, kind):
        self.options, self.kind = options, kind
        self.end = time.monotonic() + options.reduce

    def still(self, steps):
        """The steps up to where it goes wrong, or None."""
        if time.monotonic() > self.end:
            return None
        found = wrong(self.options, steps)
        return steps[:found.at] if found and found.kind == self.kind else None

    def reduce(self, steps):
        before = None
        while before != self.measure(steps) and time.monotonic() < self.end:
            before = self.measure(steps)
            steps = self.fewer(steps)
            steps = self.one_party(steps)
            for i in reversed(range(len(steps))):
                if i < len(steps):
                    steps = self.simpler(steps, i)
        return steps

    @staticmethod
    def measure(steps):
        return sum(len(step.text()) for step in steps)

    def fewer(self, steps):
        size = max(1, len(steps) // 2)
        while size:
            at = len(steps) - size
            while at > -size:
                tried = steps[:max(at, 0)] + steps[at + size:]
                steps = self.still(tried) or steps
                at = min(at, len(steps)) - size
            size //= 2
        return steps

    def one_party(self, steps):
        for party in ('a0', 'a1'):
            tried = [Step(s.what, party, s.node, s.letters, s.settings, s.delay) for s in steps]
            steps = self.still(tried) or steps
        return steps

    def simpler(self, steps, i):
        """With step i as simple as it gets."""
        tried = steps[:i] + [Step('open', steps[i].party)] + steps[i + 1:]
        if steps[i].what == 'open' and steps[i].settings:
            return self.still(tried) or steps
        progress = steps[i].node is not None
        while progress and time.monotonic() < self.end:
            progress = False
            node = steps[i].node
            for cut in smaller(node):
                if len(cut.sql('')) >= len(node.sql('')):
                    continue
                tried = self.still(steps[:i] + [steps[i].with_node(cut)] + steps[i + 1:])
                if tried and len(tried) > i:
                    steps, progress = tried, True
                    break
        return steps


def report(name, steps, found):
    """A difference as text that a person can run."""
    several = len({step.process for step in steps}) > 1
    lines, at = [f'-- {name}: {found.kind}'], 'a0'
    for step in steps:
        if step.node and step.party != at:
            lines += [f'-- in process {step.process}:'] * several
            lines.append(f'.connection {step.party[1:]}')
            at = step.party
        lines.append(step.text())
    lines.append('-- ' + found.text.replace('\n', '\n-- '))
    return '\n'.join(lines)


# --------------------------------------------------------------- processes --

def run_history(options, number):
    """(steps run, report or None)"""
    history = History(options)
    story = Story(random.Random(f'{options.seed} {number}'), history, options)
    try:
        story.run(options.length)
        return len(story.steps), None
    except Wrong as found:
        failure = found
    finally:
        history.close()
        if options.print:
            print('\n'.join(f'{s.party} {s.text()}' for s in story.steps), flush=True)
    return len(story.steps), (failure, story.steps)


def work(options, number):
    """Runs a history; (steps, kind, report), the last two '' where all went well."""
    count, failed = run_history(options, number)
    if failed is None:
        return count, '', ''
    found, steps = failed[0], failed[1][:failed[0].at]
    small = Reducer(options, found.kind).reduce(steps)
    again = wrong(options, small)
    return count, found.kind, report(f'{options.seed} {number}', small, again or found)


def numbered(options, numbers):
    for number in numbers:
        yield options, number


def unpacked(pair):
    return work(*pair)


def main():
    options = arguments()
    begin = time.monotonic()
    numbers = range(options.first,
                    options.first + max(1, options.statements // options.length))
    done, kinds = 0, collections.Counter()
    memory = '/dev/shm' if os.path.isdir('/dev/shm') else None
    with tempfile.TemporaryDirectory(prefix='changes', dir=memory) as options.folder, \
            multiprocessing.Pool(options.jobs) as pool:
        for count, kind, text in pool.imap_unordered(unpacked, numbered(options, numbers)):
            done += count
            if kind:
                kinds[kind] += 1
                print(text + '\n', flush=True)
            if sum(kinds.values()) >= options.differences:
                pool.terminate()
                break
    for kind, count in kinds.most_common():
        print(f'{count:7} {kind}')
    seconds = time.monotonic() - begin
    print(f'{done} statements in {seconds:.0f} s')
    print(f'{done - sum(kinds.values())} passed, {sum(kinds.values())} failed')
    return 1 if kinds else 0


if __name__ == '__main__':
    sys.exit(main())

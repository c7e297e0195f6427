# SPDX-License-Identifier: MIT
"""Queries on several ranks, and what EXPLAIN ANALYZE says of each rank.

A run is {'total_ms': ..., 'slot_ms': ..., 'ranks': [rank, ...]}, a rank a dictionary of
RANK_KEYS and 'letters', its timeline: for each of the works the milliseconds that
passed, and those of processors that it had meanwhile.
"""
import os
import re
import subprocess
import sys

import measure

WORKS = ('compute', 'exchange', 'wait', 'merge', 'rest')
RANK_KEYS = ('rows', 'bytes', *(f'{work}_ms' for work in WORKS),
             *(f'{work}_processor_ms' for work in WORKS))
NUMBER = r'([\d.]+)'
COST = re.compile(r';   rank \d+ +(\d+) rows, (\d+) bytes sent, '
                  + ', '.join(f'{work} {NUMBER} ms' for work in WORKS))
TIMELINE = re.compile(rf';   rank \d+ +c {NUMBER} x {NUMBER} w {NUMBER} m {NUMBER} r {NUMBER}'
                      r'  ([cxwmr.]*)')
SLOT = re.compile(rf'; timeline .* each letter {NUMBER} ms')
TOTAL = re.compile(rf'; total +{NUMBER} ms')
ROOT = {'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1'}


def read_run(text):
    """The run that EXPLAIN ANALYZE tells of."""
    costs, lines = COST.findall(text), TIMELINE.findall(text)
    ranks = [dict(zip(RANK_KEYS, map(float, cost + line[:-1]))) | {'letters': line[-1]}
             for cost, line in zip(costs, lines, strict=True)]
    return {'total_ms': float(TOTAL.search(text).group(1)),
            'slot_ms': float(SLOT.search(text).group(1)), 'ranks': ranks}


def launcher(count, hosts=None, transport=None):
    """mpirun's words for so many ranks."""
    flags = ['--hostfile', hosts] if hosts else ['--oversubscribe']
    return ['mpirun', '-n', str(count), *flags, *(['--mca', 'btl', transport] if transport else [])]


def environment(variables):
    """This one's, and what mpirun asks of root, who may be all there is in a container."""
    return os.environ | (ROOT if os.geteuid() == 0 else {}) | variables


def packed(one):
    """A run as a line of JSON has it: ranks without names of figures."""
    return one | {'ranks': [[f'{rank[key]:g}' for key in RANK_KEYS] + [rank['letters']]
                            for rank in one['ranks']]}


def unpacked(one):
    return one | {'ranks': [dict(zip(RANK_KEYS, map(float, rank[:-1]))) | {'letters': rank[-1]}
                            for rank in one['ranks']]}


def total_ms(one):
    return one['total_ms']


def run(options, database, queries, count, runs, chosen_by=total_ms, **variables):
    """The fastest of some runs of each query on so many ranks, or the least by another
    figure, behind one that is not counted: on a machine that does other things, too, it is
    the one least disturbed."""
    script = ''.join(f'explain analyze {sql};\n' for sql in queries for _ in range(runs + 1))
    command = [*launcher(count, options.hosts), options.vdbq, '--cluster', '--readonly', '--mode',
               'list', '--cores', str(options.cores), '--device', options.device, '--exec-mode',
               options.mode, database]
    done = subprocess.run([*map(str, command)], input=script, capture_output=True, text=True,
                          check=False, timeout=options.timeout, env=environment(variables))
    if done.returncode != 0:
        sys.exit(f'{count} ranks: {done.stderr.strip()}')
    parts = done.stdout.split('; cluster   on ')[1:]
    if len(parts) != len(queries) * (runs + 1):
        sys.exit(f'{len(parts)} runs of {len(queries)} queries were divided')
    found = [read_run(part) for part in parts]
    return [min(found[at + 1:at + runs + 1], key=chosen_by)
            for at in range(0, len(found), runs + 1)]


def make_tables(options, name, rows, tables, tablets):
    """A database with tables of so many rows each, in so many tablets."""
    os.environ['VDBQ_TABLET_ROWS'] = str(-(-rows // tablets))
    return measure.make_tables(options, f'{name}-{rows}', tables)[0]


def slowest_ms(one, *works, processor=False):
    """Milliseconds of the slowest rank of a run in some works together."""
    tail = 'processor_ms' if processor else 'ms'
    return max(sum(rank[f'{work}_{tail}'] for work in works) for rank in one['ranks'])


def path_ms(one):
    """What a run would take if each rank had a processor of its own: the slowest rank's
    steps and messages, and then what rank 0 does with what came, and behind it."""
    first = one['ranks'][0]
    return (slowest_ms(one, 'compute', 'exchange', processor=True)
            + sum(first[f'{work}_processor_ms'] for work in WORKS[2:]))


def shares(one):
    """Of the processors' time of all ranks, what each work took."""
    took = {work: sum(rank[f'{work}_processor_ms'] for rank in one['ranks']) for work in WORKS}
    return {work: ms / max(sum(took.values()), 1e-9) for work, ms in took.items()}

# SPDX-License-Identifier: MIT
"""Tables and plots of what tools/benchmark-cluster measured.

A line of JSON is a part of the benchmark on so many ranks, `scaling` strong or weak; of
each query it has the fastest run (tools/cluster_runs.py).
"""
import cluster_runs
from amounts import geometric, mean, short
from svg import COLOURS, grid_line, text

LETTERS = dict(zip('cxwmr', cluster_runs.WORKS))
WORK_COLOURS = dict(zip(cluster_runs.WORKS, (COLOURS[0], COLOURS[4], '#bbbbbb', COLOURS[1],
                                             COLOURS[3])))
TO_AND_FRO = ('exchange', 'wait', 'merge')
SEED = {'join': 0.544}  # of the theoretical speed-up, on average over 2 to 16 nodes
SEED_COMMUNICATES = 0.752  # of the time, at 16 nodes


# ------------------------------------------------------------------ tables --

def alone_of(record, records):
    """The same part on the fewest ranks."""
    same = [other for other in records
            if all(other[key] == record[key] for key in ('part', 'scaling', 'machine'))]
    return min(same, key=lambda other: other['ranks'])


def efficiency(record, alone, time_of):
    """Mean share of the theoretical speed-up over the queries; of weak scaling, where the
    tables grow with the ranks, of the time that stays."""
    grown = record['ranks'] / alone['ranks'] if record['scaling'] == 'strong' else 1
    return mean([time_of(one) / time_of(more) / grown
                 for one, more in zip(alone['runs'], record['runs'])])


def communicates(record):
    """Share of the processors' time that goes to and fro, and of rank 0's wall clock."""
    shares = [cluster_runs.shares(one) for one in record['runs']]
    clock = [sum(one['ranks'][0][f'{work}_ms'] for work in TO_AND_FRO) / one['total_ms']
             for one in record['runs']]
    return mean([sum(share[work] for work in TO_AND_FRO) for share in shares]), mean(clock)


def scaling(records):
    """A row for each part and number of ranks."""
    yield ['', 'rows', 'ranks', 'ms', 'of the ideal', 'ms of processors', 'of the ideal',
           *cluster_runs.WORKS, "rank 0's clock to and fro"]
    for record in records:
        alone, runs = alone_of(record, records), record['runs']
        shares = [*map(cluster_runs.shares, runs)]
        yield [f'{record["part"]}, {record["scaling"]}', f'{record["rows"]:,}',
               str(record['ranks']), short(geometric([*map(cluster_runs.total_ms, runs)])),
               percent(efficiency(record, alone, cluster_runs.total_ms)),
               short(geometric([*map(cluster_runs.path_ms, runs)])),
               percent(efficiency(record, alone, cluster_runs.path_ms)),
               *(percent(mean([share[work] for share in shares])) for work in cluster_runs.WORKS),
               percent(communicates(record)[1])]


def seed(records):
    """Beside the paper on several nodes."""
    yield ['', 'nodes or ranks', 'of the theoretical speed-up', 'time that is communication']
    yield ['paper: JOIN', '2 to 16', percent(SEED['join']), '']
    yield ['paper: at most', '16', '', percent(SEED_COMMUNICATES)]
    for record in records:
        alone = alone_of(record, records)
        if record['part'] == 'exchange' or record['scaling'] == 'weak' or record is alone:
            continue
        yield [f'vdbq: {record["part"].upper()}', str(record['ranks']),
               percent(efficiency(record, alone, cluster_runs.path_ms)),
               percent(communicates(record)[0])]


def percent(share):
    return f'{100 * share:.0f} %'


TABLES = {'scaling': scaling, 'seed': seed}


# ---------------------------------------------------------------- timeline --

BAR_HEIGHT, ROW_HEIGHT, LEFT, WIDTH = 18, 26, 70, 760


def runs_of(letters):
    """(letter, first, count) of equal letters side by side."""
    first = 0
    for at in range(1, len(letters) + 1):
        if at == len(letters) or letters[at] != letters[first]:
            yield letters[first], first, at - first
            first = at


def timeline_bar(rank, row, unit):
    """One rank's bar; what is none of the works is left white."""
    yield text(LEFT - 8, row + 13, f'rank {rank["number"]}', 'end')
    for letter, first, count in runs_of(rank['letters']):
        if letter in LETTERS:
            yield (f'<rect x="{LEFT + first * unit:.1f}" y="{row}" width="{count * unit:.1f}" '
                   f'height="{BAR_HEIGHT}" fill="{WORK_COLOURS[LETTERS[letter]]}"/>')


def legend(row):
    for number, (work, colour) in enumerate(WORK_COLOURS.items()):
        x = LEFT + 110 * number
        yield f'<rect x="{x}" y="{row}" width="12" height="12" fill="{colour}"/>'
        yield text(x + 18, row + 11, work, 'start')


def timeline_panel(title, one, top, ms_most):
    """The bars of a run under its title, in the scale of the longest."""
    unit = (WIDTH - LEFT - 20) * one['slot_ms'] / ms_most
    yield text(LEFT, top + 12, f'{title}: {short(one["total_ms"])} ms', 'start')
    for number, rank in enumerate(one['ranks']):
        yield from timeline_bar(rank | {'number': number}, top + 22 + number * ROW_HEIGHT, unit)


def long_ms(one):
    """How long the timelines of a run are."""
    return max(len(rank['letters']) for rank in one['ranks']) * one['slot_ms']


def timeline(runs):
    """A plot of {title: run}: one bar a rank, one colour a work."""
    ms_most, top, parts = max(map(long_ms, runs.values())), 40, [*legend(12)]
    for title, one in runs.items():
        bottom = top + 22 + len(one['ranks']) * ROW_HEIGHT
        parts += timeline_panel(title, one, top, ms_most)
        top = bottom + 14
    for tenth in range(0, 11, 2):
        x = LEFT + (WIDTH - LEFT - 20) * tenth / 10
        parts += [grid_line(x, top, x, top + 6),
                  text(x, top + 20, f'{short(ms_most * tenth / 10)} ms', 'middle')]
    return drawing(WIDTH, top + 30, parts)


def drawing(width, height, parts):
    return '\n'.join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
                      'font-family="sans-serif" font-size="12">',
                      f'<rect width="{width}" height="{height}" fill="white"/>', *parts,
                      '</svg>', ''])


def timelines_of(records):
    """{title: run} of the exchanged queries on the most ranks, by the first scaling."""
    here = [record for record in records if record['part'] == 'exchange']
    most = max((record for record in here if record['scaling'] == here[0]['scaling']),
               key=lambda record: record['ranks'])
    return dict(zip(most['queries'], most['runs']))

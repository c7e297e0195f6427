# SPDX-License-Identifier: MIT
"""What tools/cluster-model draws and tabulates of its model."""
import math

import cluster_model as model
from amounts import short
from cluster_figures import drawing, percent
from svg import COLOURS, grid_line, scale, text

MOST = 1024
SIZES = {'scan': (1e9, 0.01), 'broadcast join': (1e8, 1e9), 'exchanged join': (1e8, 1e9),
         'merged groups': (1e9, 1e8), 'exchanged groups': (1e9, 1e8)}
WHAT = {'scan': 'scan of 1 G rows, 1 % kept', 'broadcast join': '1 G rows, each rank builds 100 M',
        'exchanged join': '1 G and 100 M rows, exchanged',
        'merged groups': '1 G rows, 100 M groups, merged by rank 0',
        'exchanged groups': '1 G rows, 100 M groups, exchanged'}
COST_COLOURS = dict(zip(('total', *model.COSTS),
                        ('#222222', COLOURS[3], COLOURS[0], COLOURS[4], COLOURS[2], COLOURS[1])))


# ------------------------------------------------------------------ tables --

def rates_table(found):
    """What was measured, and of what."""
    yield ['rate', 'ns', '']
    for name, words in WORDS.items():
        yield [name, short(found['rates'][name]), words]


WORDS = {'scan': 'a row to be scanned, half of which are kept',
         'pack': 'a row to be packed and sent to rank 0',
         'take': 'a row that rank 0 takes',
         'build': 'a row to be built into the side of a join', 'probe': 'a row that probes it',
         'group': 'a row to be grouped, nearly each a group',
         'merge_group': 'a group that rank 0 merges',
         'move': 'a row that is exchanged: hashed, cut, packed, sent and taken',
         'order': 'a run, on one rank',
         'order_others': 'that others are told of it, plan it and answer',
         'alpha': 'a message', 'byte': 'a byte of it'}


def link_table(found):
    """One way of a message, by size."""
    links = found['links']
    yield ['bytes', *(f'{name}, us' for name in links)]
    for number, (size, _) in enumerate(next(iter(links.values()))):
        yield [f'{size:,}', *(short(link[number][1] / 1000) for link in links.values())]


def check_table(found):
    """The model beside runs: milliseconds of processors on the longest way."""
    yield ['', 'ranks', 'model, ms', 'measured, ms', 'model / measured']
    for line in found['checks']:
        predicted = predicted_ms(found, line)
        yield [line['query'], str(line['ranks']), short(predicted), short(line['ms']),
               f'{predicted / line["ms"]:.2f}']


def predicted_ms(found, line):
    """What takes processors: messages in memory do so in exchange and merge."""
    costs = model.QUERIES[line['query']](found['rates'], line['ranks'], *line['sizes'])
    return sum(costs[cost] for cost in ('compute', 'exchange', 'merge')) / 1e6


def limits_table(found):
    """Where each query ends."""
    shown = (1, 16, 128, MOST)
    yield ['', *(f'{ranks} ranks, s' for ranks in shown), 'half of the ideal up to',
           'fastest on', f'limit at {MOST}', f'with a tree, {MOST} ranks, s']
    rates = found['rates']
    for name, query in model.QUERIES.items():
        costs = query(rates, MOST, *SIZES[name])
        yield [WHAT[name],
               *(seconds(query(rates, ranks, *SIZES[name])) for ranks in shown),
               str(model.half_way(query, rates, MOST, *SIZES[name])),
               str(model.best(query, rates, MOST, *SIZES[name])), limit_words(name, costs),
               seconds(model.with_tree(rates, MOST, costs))]


def limit_words(name, costs):
    """What keeps a query from going faster: of a join that all build, the building."""
    if name == 'broadcast join':
        return 'compute, of one side'
    largest = model.limit(costs)
    return f'{largest}, {percent(costs[largest] / model.total(costs))}'


def seconds(costs):
    value = model.total(costs) / 1e9
    return f'{value:.3f}' if value < 1 else short(value)


TABLES = {'rates': rates_table, 'link': link_table, 'check': check_table, 'limits': limits_table}


# -------------------------------------------------------------------- plot --

PANEL_WIDTH, PANEL_HEIGHT, LEFT, TOP, GAP = 300, 190, 56, 46, 56
LOW_NS, HIGH_NS = 1e3, 1e12


def plot(found):
    """A panel for each query: time over ranks, both logarithmic."""
    parts = [*legend()]
    for number, name in enumerate(model.QUERIES):
        column, row = number % 2, number // 2
        left = LEFT + column * (PANEL_WIDTH + GAP)
        parts += panel(found['rates'], name, left, TOP + 20 + row * (PANEL_HEIGHT + GAP))
    rows = math.ceil(len(model.QUERIES) / 2)
    return drawing(2 * PANEL_WIDTH + GAP + LEFT + 20, TOP + rows * (PANEL_HEIGHT + GAP), parts)


def legend():
    for number, (cost, colour) in enumerate(COST_COLOURS.items()):
        x = LEFT + 95 * number
        yield grid_line(x, 17, x + 18, 17).replace('#dddddd"', f'{colour}" stroke-width="2"')
        yield text(x + 24, 21, cost, 'start', colour)


def panel(rates, name, left, top):
    bottom, right = top + PANEL_HEIGHT, left + PANEL_WIDTH
    yield text(left, top - 8, WHAT[name], 'start')
    for power in range(3, 13, 3):
        y = height(10 ** power, top)
        yield grid_line(left, y, right, y)
        yield text(left - 6, y + 4, {3: '1 us', 6: '1 ms', 9: '1 s', 12: '1000 s'}[power], 'end')
    for ranks in model.powers(MOST)[::2]:
        x = scale(ranks, 1, MOST, left, right)
        yield grid_line(x, top, x, bottom)
        yield text(x, bottom + 16, str(ranks), 'middle')
    for cost, colour in COST_COLOURS.items():
        yield line(rates, name, cost, left, top, colour)


def height(ns, top):
    return scale(min(max(ns, LOW_NS), HIGH_NS), LOW_NS, HIGH_NS, top + PANEL_HEIGHT, top)


def line(rates, name, cost, left, top, colour):
    """A cost, or all together, over the ranks."""
    points = []
    for ranks in model.powers(MOST):
        costs = model.QUERIES[name](rates, ranks, *SIZES[name])
        ns = model.total(costs) if cost == 'total' else costs[cost]
        if ns >= LOW_NS:
            points.append(f'{scale(ranks, 1, MOST, left, left + PANEL_WIDTH):.1f},'
                          f'{height(ns, top):.1f}')
    return (f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}" '
            f'stroke-width="{2.5 if cost == "total" else 1.5}"/>')

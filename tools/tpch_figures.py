# SPDX-License-Identifier: MIT
"""What tools/benchmark-tpch measured, as a table and as a plot. A record is one
number of cores: lists of the queries' names, milliseconds of vdbq and DuckDB,
None where a query did not end or failed, and why in `fault`.
"""
import math

from amounts import geometric, known, over_known, short, times
from svg import COLOURS, grid_line, scale, text


def table(records):
    """A line a query: milliseconds, and how many times as long DuckDB takes."""
    yield ['query', *(name for record in records for name in (
        f'{title(record)}: vdbq', 'DuckDB', 'DuckDB / vdbq'))]
    for number, name in enumerate(records[0]['name']):
        yield [name, *(cell for record in records for cell in cells(record, number))]
    yield ['geometric mean of what ended', *(cell for record in records
                                             for cell in mean_cells(record))]


def title(record):
    cores, clock = record['threads'], ', CPU time' if record['cpu_time'] else ''
    return f'{record["label"]} SF {record["scale"]}, {cores} core{"s" * (cores > 1)}{clock}'


def cells(record, number):
    ours, theirs = record['total_ms'][number], record['peer_ms'][number]
    return (record['fault'][number] or short(ours), short(theirs), times(theirs, ours))


def mean_cells(record):
    """Of queries that ended on both, where DuckDB ran."""
    pairs = [(ours, theirs) for ours, theirs in zip(record['total_ms'], record['peer_ms'])
             if ours is not None and (theirs is not None or not known(record['peer_ms']))]
    ours, theirs = (over_known(geometric, column) for column in list(zip(*pairs)) or ((), ()))
    return short(ours), short(theirs), times(theirs, ours)


# ------------------------------------------------------------------ plot --

LEFT, TOP, PANEL_HEIGHT, GAP, BAR, QUERY_WIDTH = 60, 34, 200, 62, 13, 36


def plot(records):
    """A panel for each number of cores; two bars a query, their heights logarithms."""
    width = LEFT + QUERY_WIDTH * len(records[0]['name']) + 20
    height = TOP + len(records) * (PANEL_HEIGHT + GAP) - 10
    measured = known(ms for record in records for ms in record['total_ms'] + record['peer_ms'])
    if not measured:
        raise ValueError('there is nothing to plot: no query ended')
    bounds = (10 ** math.floor(math.log10(min(measured))),
              10 ** (math.floor(math.log10(max(measured))) + 1))
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
             'font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="white"/>']
    for number, record in enumerate(records):
        parts += panel(record, TOP + number * (PANEL_HEIGHT + GAP), width, bounds)
    return '\n'.join([*parts, '</svg>', ''])


def panel(record, top, width, bounds):
    bottom = top + PANEL_HEIGHT
    for power in range(round(math.log10(bounds[0])), round(math.log10(bounds[1])) + 1):
        y = scale(10 ** power, *bounds, bottom, top)
        yield grid_line(LEFT, y, width - 20, y)
        yield text(LEFT - 8, y + 4, f'{10.0 ** power:g}', 'end')
    yield text(LEFT, top - 12, f'ms, TPC-H, {title(record)}', 'start')
    for place, name in ((width - 150, 'vdbq'), (width - 80, 'DuckDB')):
        colour = COLOURS[name == 'DuckDB']
        yield rectangle(place, top - 22, 11, 11, colour)
        yield text(place + 16, top - 12, name, 'start')
    for number, name in enumerate(record['name']):
        yield from bars(record, number, LEFT + number * QUERY_WIDTH, (top, bottom), bounds)
        yield text(LEFT + (number + 0.5) * QUERY_WIDTH, bottom + 16, name, 'middle')


def bars(record, number, left, panel_ends, bounds):
    """vdbq's bar and DuckDB's; that of a query without an end is an outline."""
    top, bottom = panel_ends
    for place, key in enumerate(('total_ms', 'peer_ms')):
        x, ms = left + 4 + place * (BAR + 1), record[key][number]
        if ms is not None:
            y = scale(max(ms, bounds[0]), *bounds, bottom, top)
            yield rectangle(x, y, BAR, bottom - y, COLOURS[place])
        elif key == 'total_ms':
            yield rectangle(x, top, BAR, PANEL_HEIGHT, 'none', COLOURS[place])
            yield (f'<text transform="translate({x + 10:.1f} {bottom - 6:.1f}) rotate(-90)" '
                   f'fill="{COLOURS[place]}">{record["fault"][number]}</text>')


def rectangle(x, y, width, height, fill, stroke='none'):
    return (f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'fill="{fill}" stroke="{stroke}"/>')

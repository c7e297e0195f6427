#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints what the benchmark measured, from the lines of JSON that it keeps.

    tools/figures.py FILE                 tables, as Markdown
    tools/figures.py --write PAGE FILE    ... between their marks in a page
    tools/figures.py --check PAGE FILE    fails where a page says something else
    tools/figures.py --plot SVG FILE      growth with the number of rows
    tools/figures.py --plot SVG --view join_growth FILE    ... of a join
    tools/figures.py --plot SVG --view tpch FILE           TPC-H, query by query
    tools/figures.py --bars SVG FILE      times as fast as DuckDB

A line is one configuration over one table: machine, command, rows (of the
table), label (of the column), threads, limits (GB/s), and for each query what
it gave and took, as lists of ten. In a page a part stands between the lines
<!-- figures NAME MACHINE --> and <!-- end -->, where NAME is that of a view
(VIEWS below) and MACHINE a part of its name. Lines of tools/benchmark-sql have
"where": "statements".
"""
import argparse
import json
import math
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import tpch_figures
from amounts import amount, geometric, known, mean, over_known, short, times
from svg import COLOURS, grid_line, scale, text

PEERS = ('DuckDB', 'sqlite3')
KINDS = {'integer': lambda number: number % 2 == 0, 'float': lambda number: number % 2 == 1,
         'all': lambda number: True}


# ------------------------------------------------------------ one result --

def is_peer(record):
    return record['label'].startswith(PEERS)


def ideal_ms(record, number):
    """The time that the bytes of a query take at the limits that were measured
    in the same run, whatever is slowest; None: not known."""
    limits = record.get('limits')
    if not limits or not limits['memory_read']:
        return None
    moved_in, moved_out, read, result = (
        record[name][number] for name in ('bytes_in', 'bytes_out', 'bytes_read', 'bytes_result'))
    times = [(read + result) / limits['memory_read']]
    if not limits['shares_memory']:
        times += [moved_in / limits['copy_in'], moved_out / limits['copy_out'],
                  (moved_in + moved_out) / limits['copy_both']]
    return max(times) / 1e6


def share(record, number):
    """How much of the limit a query reached, in percent; None: not known."""
    ideal = ideal_ms(record, number)
    return None if ideal is None else 100 * ideal / max(record['total_ms'][number], 1e-3)


def kernel_rate(record, number):
    """GB/s that the kernel read and wrote."""
    touched = record['bytes_read'][number] + record['bytes_result'][number]
    return touched / 1e6 / max(record['kernel_ms'][number], 1e-3)


def peer_of(record, records, counted=False):
    """DuckDB over the same table with as many threads, if it ran; `counted`:
    without the way of its rows to the caller."""
    return next((other for other in records if other['label'].startswith('DuckDB') and
                 ('counted' in other['label']) == counted and
                 all(other[key] == record[key] for key in ('rows', 'threads'))), None)


# ---------------------------------------------------------------- tables --
# Each takes the records of one machine and one table and gives rows of text,
# the first of which is the head.

def queries(records):
    """Milliseconds of each query, and geometric means."""
    yield ['query', *map(str, range(len(records[0]['total_ms']))), 'geometric mean',
           'DuckDB / it']
    yield ['rows', *map(str, records[0]['answer_rows']), '', '']
    for record in records:
        yield [record['label'], *map(short, record['total_ms']),
               short(geometric(record['total_ms'])), ratio(record, records)]


def ratio(record, records):
    peer = peer_of(record, records)
    if peer is None or is_peer(record):
        return ''
    return short(geometric(peer['total_ms']) / geometric(record['total_ms'])) + 'x'


def kernel_ratio(record, records):
    """How much longer DuckDB takes, counted, than the kernels alone."""
    peer = peer_of(record, records, counted=True)
    return '' if peer is None else short(mean(peer['total_ms']) / mean(record['kernel_ms'])) + 'x'


def shares(records):
    """Bytes, kernel rates and shares of the limit, means over the queries."""
    yield ['', 'MB read', 'MB in', 'MB out', 'ms', 'kernel ms', 'kernel GB/s', 'of the memory',
           'of the limit', 'DuckDB / it', 'DuckDB counted / kernel']
    for record in filter(lambda record: not is_peer(record), records):
        numbers = range(len(record['total_ms']))
        rate = mean([kernel_rate(record, number) for number in numbers])
        yield [record['label'],
               *(short(mean(record[name]) / 1e6) for name in ('bytes_read', 'bytes_in',
                                                              'bytes_out')),
               short(mean(record['total_ms'])), short(mean(record['kernel_ms'])), short(rate),
               f'{100 * rate / record["limits"]["memory_read"]:.0f} %',
               f'{mean([share(record, number) for number in numbers]):.0f} %',
               ratio(record, records), kernel_ratio(record, records)]


def limits(records):
    """What was measured beside the queries, GB/s."""
    yield ['', 'device memory', 'to the device', 'from it', 'both ways', 'host memory']
    seen = set()
    for record in filter(lambda record: not is_peer(record), records):
        where, found = record['where'], record['limits']
        if where not in seen:
            copies = ('copy_in', 'copy_out', 'copy_both')
            yield [where, short(found['memory_read']),
                   *('' if found['shares_memory'] else short(found[name]) for name in copies),
                   short(found['host_read'])]
        seen.add(where)


def mean_of(record, kind):
    return mean([ms for number, ms in enumerate(record['total_ms']) if KINDS[kind](number)])


def best_builds(records):
    """vdbq's records without those that ran interpreted beside specialised ones."""
    special = {(record['where'], record['mode']) for record in records
               if record.get('build') == 'specialised'}
    return [record for record in records if not is_peer(record) and
            (record['build'] == 'specialised' or
             (record['where'], record['mode']) not in special)]


def means(records):
    """The ancestor's Table 1: mean milliseconds by kind of arithmetic."""
    yield ['ms', *KINDS]
    for record in best_builds(records):
        yield [record['label'], *(short(mean_of(record, kind)) for kind in KINDS)]


def speedups(records):
    """The ancestor's Table 2: the device against one core, and against all."""
    shown = best_builds(records)
    baselines = [record for record in shown if record['where'].startswith('cpu') and
                 record['mode'] == 'mapped']
    others = [record for record in shown if not record['where'].startswith(('cpu', 'host'))]
    pairs = [(record, baseline) for baseline in baselines for record in others or baselines
             if record['threads'] > 1 and record is not baseline]
    yield ['times as fast', *KINDS]
    for record, baseline in pairs:
        yield [f'{record["label"]} over {baseline["label"]}',
               *(short(mean_of(baseline, kind) / mean_of(record, kind)) for kind in KINDS)]


def growth(records):
    """The ancestor's Figure 6: mean time of the ten by rows of the table."""
    labels = list(dict.fromkeys(record['label'] for record in records))
    times = {(record['label'], record['rows']): mean(record['total_ms']) for record in records}
    yield ['rows', *labels]
    for rows in sorted({record['rows'] for record in records}):
        yield [amount(rows), *(short(times.get((label, rows))) for label in labels)]


def largest(records):
    """The same as the shares, over the largest table."""
    return shares(records)


def statements(records):
    """Queries beside DuckDB: milliseconds, and how much of them are kernels."""
    yield ['query', 'rows', 'vdbq', 'of it kernels', 'DuckDB', 'DuckDB / vdbq']
    for record in records:
        for number, sql in enumerate(record['sql']):
            ours, kernels, theirs = (record[name][number]
                                     for name in ('total_ms', 'kernel_ms', 'peer_ms'))
            yield ['`' + sql + '`', str(record['answer_rows'][number]), short(ours),
                   short(kernels), short(theirs), short(theirs / ours) + 'x']
        yield ['geometric mean', '', short(geometric(record['total_ms'])), '',
               short(geometric(record['peer_ms'])),
               short(geometric(record['peer_ms']) / geometric(record['total_ms'])) + 'x']


# ----------------------------------------------------------------- joins --

PAPER_MS = {'paper: CPU': 1155, 'paper: GTX 760': 291}  # means of the join paper's ten queries
CRYSTAL_MS = {'Crystal': 1.14, 'Crystal-Opt': 0.93}  # geometric means at SF 20, on an H200


def first_known(values):
    return next(iter(known(values)), None)


def text_of(value):
    return '' if value is None else str(value)


def averages(records, average):
    """A cell for each of vdbq, DuckDB, and their ratio, for each record."""
    for record in records:
        ours, theirs = (over_known(average, record[key]) for key in ('total_ms', 'peer_ms'))
        yield from (short(ours), short(theirs), times(theirs, ours))


def joins(records):
    """The join paper's ten queries: milliseconds, the paper's beside them."""
    yield ['query', 'rows', *(name for record in records for name in (
        record['label'], f'DuckDB, {record["threads"]} threads', 'DuckDB / it')), *PAPER_MS]
    for number in range(len(records[0]['total_ms'])):
        pairs = [(record['total_ms'][number], record['peer_ms'][number]) for record in records]
        yield [str(number), text_of(first_known(record['answer_rows'][number]
                                                for record in records)),
               *(cell for ours, theirs in pairs
                 for cell in (short(ours), short(theirs), times(theirs, ours))),
               *('' for _ in PAPER_MS)]
    yield ['mean', '', *averages(records, mean), *map(short, PAPER_MS.values())]
    yield ['geometric mean', '', *averages(records, geometric), *('' for _ in PAPER_MS)]


def join_growth(records):
    """A join of two tables on their keys by their rows (the join paper's Figure 8)."""
    return growth(records)


def join_cases(records):
    """Joins of one kind each: milliseconds, and nanoseconds a row of their results."""
    yield ['', 'device', 'left rows', 'right rows', 'result rows', 'vdbq', 'of it kernels',
           'DuckDB', 'DuckDB / vdbq', 'vdbq, ns a result row']
    for record in records:
        for number, name in enumerate(record['name']):
            left, right, result, ours, kernels, theirs = (record[key][number] for key in (
                'left_rows', 'right_rows', 'answer_rows', 'total_ms', 'kernel_ms', 'peer_ms'))
            each = ours * 1e6 / result if ours is not None and result else None
            yield [name, record['label'], *map(text_of, (left, right, result)), short(ours),
                   short(kernels), short(theirs), times(theirs, ours), short(each)]


def join_memory(records):
    """The most memory of a process that joins: MiB."""
    yield ['', 'device', 'build side', 'memory for tablets', 'peak', 'ms']
    for record in records:
        for number, name in enumerate(record['name']):
            sizes = (record[key][number] for key in ('build_bytes', 'memory_bytes', 'peak_bytes'))
            yield [name, record['label'], *(short(size and size / (1 << 20)) for size in sizes),
                   short(record['total_ms'][number])]


def beside(records):
    """Queries beside DuckDB: milliseconds, of kernels alone and in all."""
    heads = [record['label'] + (f' SF {record["scale"]}' if 'scale' in record else '')
             for record in records]
    yield ['query', *(name for head, record in zip(heads, records) for name in (
        f'{head}: kernels', head, f'DuckDB, {record["threads"]} threads', 'DuckDB / it'))]
    for number, name in enumerate(records[0]['name']):
        yield [name, *beside_cells(records, lambda values, number=number: values[number])]
    yield ['geometric mean', *beside_cells(records, lambda values: over_known(geometric, values))]


def ssb(records):
    """The Star Schema Benchmark, and what was published of others."""
    yield from beside(records)
    for name, ms in CRYSTAL_MS.items():
        yield [f'{name}, CUDA by hand, SF 20 on an H200: {ms}',
               *('' for _ in range(4 * len(records)))]


def beside_cells(records, choose):
    """What is chosen of each list of each record."""
    for record in records:
        kernels, ours, theirs = (choose(record[key])
                                 for key in ('kernel_ms', 'total_ms', 'peer_ms'))
        yield from (short(kernels), short(ours), short(theirs), times(theirs, ours))


# --------------------------------------------------------------- summary --

SUMS = {'statements': 'groups, sorts, joins, windows', 'joins': "the join paper's ten queries",
        'ssb': 'Star Schema Benchmark', 'hits': "ClickBench's queries", 'log': 'a web log'}


def summary(records):
    """Geometric means of every benchmark of a machine."""
    yield ['', 'device', 'vdbq', 'DuckDB', 'DuckDB / vdbq']
    for record in select(records, 'queries', ''):
        peer = peer_of(record, records)
        if not is_peer(record) and peer and record['threads'] > 1:
            yield ["the ancestor's ten queries", record['label'],
                   *sum_cells(record['total_ms'], peer['total_ms'])]
    for record in records:
        if record['where'] in SUMS:
            scale = f', SF {record["scale"]}' if 'scale' in record else ''
            yield [SUMS[record['where']] + scale, record['label'],
                   *sum_cells(record['total_ms'], record['peer_ms'])]


def sum_cells(ours, theirs):
    ours, theirs = (over_known(geometric, values) for values in (ours, theirs))
    return short(ours), short(theirs), times(theirs, ours)


OWN = ('statements', 'ssb', 'tpch', 'hits', 'log', 'joins', 'join_growth', 'join_cases',
       'join_memory')
VIEWS = {'summary': summary, 'limits': limits, 'queries': queries, 'shares': shares, 'means': means,
         'speedups': speedups, 'growth': growth, 'largest': largest,
         'statements': statements, 'ssb': ssb, 'tpch': tpch_figures.table, 'hits': beside,
         'log': beside, 'joins': joins, 'join_growth': join_growth, 'join_cases': join_cases,
         'join_memory': join_memory}


def markdown(rows):
    """Numbers to the right, the first column to the left."""
    head, *body = rows
    lines = [head, ['---'] + ['---:'] * (len(head) - 1), *body]
    return '\n'.join('| ' + ' | '.join(line) + ' |' for line in lines)


def plain(rows):
    """The same for a terminal: columns as wide as they need be."""
    rows = [list(row) for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return '\n'.join(f'{row[0]:<{widths[0]}}' +
                     ''.join(f'  {cell:>{width}}' for cell, width in zip(row[1:], widths[1:]))
                     for row in rows)


# ---------------------------------------------------------------- choose --

def read(path):
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def grows(command, records):
    return len({record['rows'] for record in records if record['command'] == command}) > 1


def select(records, name, machine):
    """The records of a machine that a view is about: growth has the commands
    that ran over several tables, largest all over the largest of them; all
    others have the commands over one table, the smallest if there are more."""
    here = [record for record in records if machine in record['machine'] and
            (record['where'] == name if name in OWN else record['where'] not in OWN)]
    if name == 'summary':
        return [record for record in records if machine in record['machine']]
    if name == 'join_growth':  # a peer that ran beside several devices counts once
        return list({(record['label'], record['rows']): record for record in here}.values())
    if name in OWN:
        return here
    growing = [record for record in here if grows(record['command'], records)]
    if name == 'growth':
        return growing
    if name == 'largest':
        most = max((record['rows'] for record in growing), default=None)
        return [record for record in here if record['rows'] == most]
    others = [record for record in here if record not in growing]
    least = min((record['rows'] for record in others), default=None)
    return [record for record in others if record['rows'] == least]


def everything(records, form=None):
    """All views of all machines, with what they are, as Markdown or in another form."""
    parts = []
    for machine in dict.fromkeys(record['machine'] for record in records):
        for name, view in VIEWS.items():
            chosen = select(records, name, machine)
            rows = list(view(chosen)) if chosen else []
            if len(rows) > 1:
                commands = '\n'.join(dict.fromkeys(record['command'] for record in chosen))
                parts.append(f'{name}, {machine}:\n`{commands}`\n\n{(form or markdown)(rows)}')
    return '\n\n'.join(parts)


# ----------------------------------------------------------------- pages --

PART = re.compile(r'(<!-- figures (\w+) (.+?) -->\n).*?(<!-- end -->)', re.S)


def filled(text, records):
    """A page with each of its parts as the records say."""
    def part(match):
        chosen = select(records, match.group(2), match.group(3))
        if not chosen or match.group(2) not in VIEWS:
            sys.exit(f'figures: nothing is known of {match.group(2)} {match.group(3)}')
        return match.group(1) + markdown(VIEWS[match.group(2)](chosen)) + '\n' + match.group(4)
    return PART.sub(part, text)


# ------------------------------------------------------------------ plot --

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 420, 60, 170, 20, 45


def svg(records, what='ms, mean of the ten queries'):
    """Lines of mean time over rows, both logarithmic."""
    labels = list(dict.fromkeys(record['label'] for record in records))
    sizes = sorted({record['rows'] for record in records})
    times = [mean(record['total_ms']) for record in records]
    low, high = 10 ** math.floor(math.log10(min(times))), 10 ** math.ceil(math.log10(max(times)))

    def x(rows):
        return scale(rows, sizes[0], sizes[-1], LEFT, WIDTH - RIGHT)

    def y(ms):
        return scale(ms, low, high, HEIGHT - BOTTOM, TOP)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
             'font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    parts += [grid_line(x(rows), TOP, x(rows), HEIGHT - BOTTOM) +
              text(x(rows), HEIGHT - BOTTOM + 18, amount(rows), 'middle')
              for rows in sizes]
    for power in range(round(math.log10(low)), round(math.log10(high)) + 1):
        parts += [grid_line(LEFT, y(10 ** power), WIDTH - RIGHT, y(10 ** power)),
                  text(LEFT - 8, y(10 ** power) + 4, f'{10.0 ** power:g}', 'end')]
    parts += [text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, 'rows of the table', 'middle'),
              text(LEFT + 6, TOP + 12, what, 'start')]
    ends = last_heights(labels, records, y)
    for label, colour in zip(labels, COLOURS * 9):
        line = sorted((record['rows'], mean(record['total_ms'])) for record in records
                      if record['label'] == label)
        points = ' '.join(f'{x(rows):.1f},{y(ms):.1f}' for rows, ms in line)
        parts += [f'<polyline points="{points}" fill="none" stroke="{colour}" '
                  'stroke-width="2"/>',
                  *(f'<circle cx="{x(rows):.1f}" cy="{y(ms):.1f}" r="3" fill="{colour}"/>'
                    for rows, ms in line),
                  text(WIDTH - RIGHT + 10, ends[label] + 4, label, 'start', colour)]
    return '\n'.join([*parts, '</svg>', ''])


def growth_plot(what):
    return lambda records: svg(records, what)


PLOTS = {'growth': growth_plot('ms, mean of the ten queries'),
         'join_growth': growth_plot('ms, join of two tables'), 'tpch': tpch_figures.plot}


def plot(records, view, machine):
    return PLOTS[view](select(records, view, machine))


def last_heights(labels, records, y):
    """Where each line's name stands: at its end, but not over another's."""
    heights, last = {}, -math.inf
    ends = {label: max((record['rows'], y(mean(record['total_ms']))) for record in records
                       if record['label'] == label)[1] for label in labels}
    for label in sorted(labels, key=ends.get):
        last = heights[label] = max(ends[label], last + 15)
    return heights


# ------------------------------------------------------------------ bars --

BAR_LABELS = ('gpu cached', 'gpu', 'cpu mapped', 'cpu')  # what is drawn of a summary
BAR_HEIGHT, BAR_LEFT, BAR_WIDTH = 26, 330, 880


def speedups_of(records, machine):
    """(what, times as fast as the peer) of a machine's summary."""
    for what, label, _, _, ratio in [*summary(select(records, 'summary', machine))][1:]:
        if label in BAR_LABELS and ratio:
            yield f'{what}, {label.split()[0].upper()}', float(ratio.rstrip('x'))


def bars(records, machines):
    """How many times as fast as the peer: a bar a benchmark, machine by machine."""
    rows, y = [], 30
    parts = {machine: [*speedups_of(records, machine)] for machine in machines}
    most = max(ratio for part in parts.values() for _, ratio in part)
    unit = (BAR_WIDTH - BAR_LEFT - 70) / most
    for (machine, part), colour in zip(parts.items(), COLOURS):
        rows.append(text(12, y + 4, machines[machine], 'start', '#222222'))
        y += BAR_HEIGHT
        for what, ratio in part:
            rows += [text(BAR_LEFT - 10, y + 4, what, 'end'),
                     f'<rect x="{BAR_LEFT}" y="{y - 9}" width="{ratio * unit:.1f}" height="18" '
                     f'fill="{colour}"/>',
                     text(BAR_LEFT + ratio * unit + 8, y + 4, f'{ratio:g}x', 'start')]
            y += BAR_HEIGHT
        y += BAR_HEIGHT // 2
    one = BAR_LEFT + unit
    rows += [grid_line(one, 14, one, y - 10), text(one, y + 4, 'as fast as DuckDB', 'middle')]
    return '\n'.join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {BAR_WIDTH} {y + 14}" '
                      'font-family="sans-serif" font-size="12">',
                      f'<rect width="{BAR_WIDTH}" height="{y + 14}" fill="white"/>', *rows,
                      '</svg>', ''])


# Of the README; a machine by a part of its name, and what it is called there.
BARS = {'2 cores': 'Two cores of a Xeon (Skylake), DuckDB on the same two',
        'H200': 'An NVIDIA H200, DuckDB on the 16 cores beside it'}


# ------------------------------------------------------------------- all --

def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('file', type=Path)
    parser.add_argument('--write', type=Path, metavar='PAGE', action='append', default=[])
    parser.add_argument('--check', type=Path, metavar='PAGE', action='append', default=[])
    parser.add_argument('--plot', type=Path, metavar='SVG')
    parser.add_argument('--bars', type=Path, metavar='SVG', help='how many times as fast')
    parser.add_argument('--view', choices=PLOTS, default='growth', help='of the plot')
    parser.add_argument('--machine', default='', help='of the plot; a part of its name')
    return parser.parse_args()


def main():
    options = arguments()
    records = read(options.file)
    if options.plot:
        options.plot.write_text(plot(records, options.view, options.machine))
    if options.bars:
        options.bars.write_text(bars(records, BARS))
    for page in options.write:
        page.write_text(filled(page.read_text(), records))
    for page in options.check:
        if page.read_text() != filled(page.read_text(), records):
            sys.exit(f'figures: {page} differs from {options.file}: --write puts that right')
    if not (options.plot or options.bars or options.write or options.check):
        print(everything(records))
    return 0


if __name__ == '__main__':
    sys.exit(main())

# SPDX-License-Identifier: MIT
"""What tools/benchmark-search measured, as tables and curves beside those of the paper
on p-ary search (its Table 1, its Figures 6 to 8)."""
from amounts import amount
from svg import COLOURS, grid_line, scale, text

# Table 1 of the paper: how many times as fast as its serial search, for batches of 16,
# about a thousand and about 16 thousand keys.
PAPER_BATCHES = (16, 1024, 16384)
PAPER = {'binary CPU': (1.0, 1.0, 1.0), 'binary CPU SSE': (1.3, 1.4, 1.4),
         'binary CPU TLP': (0.6, 1.1, 2.1), 'binary GPU TLP': (0.3, 5.1, 5.1),
         'p-ary GPU SIMD': (0.5, 5.4, 6.7)}
# Its Figure 8: what two GPUs reach where an answer may take 2 ms.
PAPER_MOST, PAPER_US = 7.5e6, 2000

HOST = ('serial', 'branch-free')  # searches that no device makes
PARTS = {'in': 'keys to the device', 'kernel': 'kernel', 'out': 'answers back',
         'rest': 'launch and waiting'}

LINES = (*COLOURS, '#6b8e23', '#8b4513', '#4b0082')  # of three searches on three devices

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM, ROW = 720, 400, 70, 200, 40, 60, 120


# ---------------------------------------------------------------- tables --

def markdown(lines):
    lines = list(lines)
    lines.insert(1, ['---'] * len(lines[0]))
    return '\n'.join(f'| {" | ".join(line)} |' for line in lines)


def batches_of(records):
    return sorted({record['batch'] for record in records})


def by_search(records, device):
    return {(one['search'], one['batch']): one for one in records if one['asked'] == device}


def devices_of(records):
    return list(dict.fromkeys(record['asked'] for record in records))


def number(us):
    return f'{us:,.0f}' if us >= 100 else f'{us:.1f}'


def times_table(records):
    """Microseconds, and millions of keys a second of the whole."""
    batches = batches_of(records)
    yield ['keys of a search', *(f'{batch:,}' for batch in batches)]
    for device in devices_of(records):
        of = by_search(records, device)
        for search in dict.fromkeys(name for name, _ in of):
            host = search in HOST
            name = f'{search}, beside {device}' if host else f'{search}, {device}'
            yield [f'{name}: us', *(whole(of[search, batch]) for batch in batches)]
            if not host:
                yield [f'{name}: us, kernel', *(number(of[search, batch]['kernel_us'])
                                                for batch in batches)]


def significant(value, digits):
    """So many digits that count, without an exponent."""
    return f'{float(f"{value:.{digits}g}"):,.10g}'


def ratio(of, search, batch):
    """How many times as fast as the serial search."""
    return of['serial', batch]['whole_us'] / of[search, batch]['whole_us']


def whole(record):
    us = record['whole_us']
    return f'{number(us)} ({significant(record["batch"] / us, 3)} M/s)'


def speedups_table(records):
    """The paper's Table 1: how many times as fast as one core."""
    batches = batches_of(records)
    yield ['times as fast as one core', *(f'{batch:,}' for batch in batches)]
    for device in devices_of(records):
        of = by_search(records, device)
        for search in dict.fromkeys(name for name, _ in of if name != 'serial'):
            yield [f'{search}, {"beside " if search in HOST else ""}{device}', *(
                f'{significant(ratio(of, search, batch), 2)}x' for batch in batches)]
    for name, speedups in PAPER.items():
        said = dict(zip(PAPER_BATCHES, speedups))
        yield [f'paper: {name}', *(f'{said[batch]}x' if batch in said else ''
                                   for batch in batches)]


# ---------------------------------------------------------------- curves --

def curves(records):
    """Of each search of each device its records by batch; those of the host once."""
    found = {}
    for record in records:
        host = record['search'] in HOST
        name = record['search'] if host else f'{record["search"]}, {record["asked"]}'
        if not host or record['asked'] == devices_of(records)[0]:
            found.setdefault(name, []).append(record)
    return {name: sorted(some, key=lambda record: record['batch'])
            for name, some in found.items()}


def powers(low, high):
    """Powers of ten around two values."""
    first = 1.0
    while first > low:
        first /= 10
    while first * 10 <= low:
        first *= 10
    made = [first]
    while made[-1] < high:
        made.append(made[-1] * 10)
    return made


def axes(title, across, xs, ys):
    """The frame of a plot with both axes by their logarithms."""
    yield text(WIDTH / 2, 20, title, 'middle')
    yield text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, across, 'middle')
    for x in xs:
        at = scale(x, xs[0], xs[-1], LEFT, WIDTH - RIGHT)
        yield grid_line(at, TOP, at, HEIGHT - BOTTOM)
        yield text(at, HEIGHT - BOTTOM + 16, amount(x), 'middle')
    for y in ys:
        at = scale(y, ys[0], ys[-1], HEIGHT - BOTTOM, TOP)
        yield grid_line(LEFT, at, WIDTH - RIGHT, at)
        yield text(LEFT - 6, at + 4, amount(y), 'end')


def line_plot(title, across, lines, points=()):
    """Keys a second over something; `points` are (name, x, y) that stand alone."""
    all_points = [at for line in lines.values() for at in line] + [at[1:] for at in points]
    xs = powers(min(x for x, _ in all_points), max(x for x, _ in all_points))
    ys = powers(min(y for _, y in all_points), max(y for _, y in all_points))

    def place(x, y):
        return (scale(x, xs[0], xs[-1], LEFT, WIDTH - RIGHT),
                scale(y, ys[0], ys[-1], HEIGHT - BOTTOM, TOP))

    yield from axes(title, across, xs, ys)
    for i, (name, line) in enumerate(lines.items()):
        colour = LINES[i % len(LINES)]
        path = ' '.join(f'{x:.1f},{y:.1f}' for x, y in (place(*at) for at in line))
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
        yield text(WIDTH - RIGHT + 12, TOP + 16 + 18 * i, name, 'start', colour)
    for name, x, y in points:
        x, y = place(x, y)
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#222222"/>'
        yield text(x + 8, y + 4, name, 'start')


def throughput(records):
    """The paper's Figure 6."""
    lines = {name: [(one['batch'], one['batch'] / one['whole_us'] * 1e6) for one in some]
             for name, some in curves(records).items()}
    return line_plot('Keys a second, from the host and back to it', 'keys of a search', lines)


def response(records):
    """The paper's Figure 8: the most keys a second of all batches that take so long."""
    lines = {}
    for name, some in curves(records).items():
        best, line = 0, []
        for one in sorted(some, key=lambda record: record['whole_us']):
            best = max(best, one['batch'] / one['whole_us'] * 1e6)
            line.append((one['whole_us'], best))
        lines[name] = line
    return line_plot('Keys a second where an answer may take so long', 'microseconds', lines,
                     [('paper: two 8800 GTX', PAPER_US, PAPER_MOST)])


def on_devices(records):
    return {name: some for name, some in curves(records).items() if name not in HOST}


def breakdown(records):
    """The paper's Figure 7: what the time of a search is spent on, in shares; a row of
    bars for each search, a bar for each batch."""
    yield text(WIDTH / 2, 20, 'What the time of a search is spent on, by its keys', 'middle')
    for row, (name, some) in enumerate(on_devices(records).items()):
        top = TOP + row * ROW
        step = (WIDTH - RIGHT - LEFT) / len(some)
        yield text(LEFT, top + 12, name, 'start')
        for i, record in enumerate(some):
            yield from bar(record, LEFT + i * step, step, top)
    for i, words in enumerate(PARTS.values()):
        yield text(WIDTH - RIGHT + 12, TOP + 30 + 18 * i, words, 'start', COLOURS[i])


def bar(record, x, step, top):
    """The shares of one search, one upon the other."""
    y = top + ROW - 22
    for colour, share in zip(COLOURS, shares(record)):
        height = share * (ROW - 42)
        y -= height
        yield (f'<rect x="{x:.1f}" y="{y:.1f}" width="{step * 0.8:.1f}" '
               f'height="{height:.1f}" fill="{colour}"/>')
    yield text(x + step * 0.4, top + ROW - 8, f'{record["batch"]:,}', 'middle')


def shares(record):
    """Of the whole time, in the order of PARTS; the rest is what no clock of the device
    tells."""
    parts = [record[f'{part}_us'] for part in PARTS if part != 'rest']
    all_us = max(record['whole_us'], sum(parts))
    return [part / all_us for part in parts] + [1 - sum(parts) / all_us]


def draw(records, folder):
    """Writes the three plots; returns their names."""
    plots = {'search_throughput.svg': throughput, 'search_breakdown.svg': breakdown,
             'search_response.svg': response}
    for name, plot in plots.items():
        high = TOP + ROW * len(on_devices(records)) if plot is breakdown else HEIGHT
        lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {high}" '
                 'font-family="sans-serif" font-size="12">',
                 f'<rect width="{WIDTH}" height="{high}" fill="#ffffff"/>',
                 *plot(records), '</svg>', '']
        (folder / name).write_text('\n'.join(lines), encoding='utf-8')
    return list(plots)

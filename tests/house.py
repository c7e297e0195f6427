#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts what makes the house easy or hard to read, and checks the limits.

    house.py [--list] BUILD

BUILD is a folder that meson has built: its object files say which file calls
which. Prints a line a count with its limit; --list prints what was counted,
too. The last line is "N passed, N failed".

    files       in one folder
    includes    circles of #include among files
    rooms       calls to a room that floors.py has above: without them there is no circle
    files in    circles of calls among the files of one folder: the largest
    functions   lines of one, from its name to its last brace
    comments    lines with a comment, of all lines that are not empty
    asserts     in a thousand lines
    pairs       of places that share six or more lines (tests/house_pairs.py)
"""
import argparse
import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import floors
import house_pairs

ROOT = Path(__file__).resolve().parent.parent
ENGINE = ('cl', 'parser', 'src')  # what lies under these is the engine
FILES_MAX = 32
CIRCLE_MAX = 6  # files of one folder: expressions, rows, calls, queries, SELECT and FROM
P90_MAX, FUNCTION_MAX = 25, 60
COMMENTS_MIN = 15.0  # percent
ASSERTS_MIN = 4.5    # in a thousand lines
PAIRS_MAX = 40
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.S)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
ASSERT = re.compile(r'\bassert\(')
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def tracked(*suffixes):
    """The files of the checkout with these endings, new ones too."""
    listed = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard'], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout.splitlines()
    return sorted(name for name in listed
                  if name.endswith(suffixes) and (ROOT / name).is_file())


def engine():
    return [name for name in tracked('.c', '.h', '.cl', '.y', '.l')
            if name.split('/')[0] in ENGINE]


def text_of(name):
    return (ROOT / name).read_text('utf-8')


# ------------------------------------------------------------------ circles --

def circles(graph):
    """The strongly connected sets of more than one node (Tarjan 1972)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for to in sorted(graph.get(node, ())):
            if to not in index:
                visit(to)
                low[node] = min(low[node], low[to])
            elif to in stack:
                low[node] = min(low[node], index[to])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10000)
    for node in sorted(graph):
        if node not in index:
            visit(node)
    return sorted(found, key=len, reverse=True)


def include_graph():
    names = set(engine())
    graph = defaultdict(set)
    for name in names:
        for included in INCLUDE.findall(text_of(name)):
            places = (f'src/{included}', included, str(Path(name).parent / included))
            graph[name] |= {place for place in places if place in names}
    return graph


def symbols_of(path):
    """What an object file defines, and what it asks others for."""
    defined, asked = set(), set()
    out = subprocess.run(['nm', '-P', path], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        name, kind = line.split()[:2]
        if kind in 'TDBRVW':
            defined.add(name)
        elif kind == 'U':
            asked.add(name)
    return defined, asked


def call_graph(build):
    """Which file of the engine asks which other for a function or a table."""
    home, asks = {}, {}
    for command in json.loads((build / 'compile_commands.json').read_text('utf-8')):
        source = (Path(command['directory']) / command['file']).resolve()
        path = build / command['output']
        if not source.is_relative_to(ROOT / 'src') or not path.is_file():
            continue
        name = str(source.relative_to(ROOT))
        defined, asks[name] = symbols_of(path)
        home.update(dict.fromkeys(defined, name))
    return {name: {home[symbol] for symbol in asked if home.get(symbol, name) != name}
            for name, asked in asks.items()}


def folder(name):
    return str(Path(name).parent)


def among_folders(graph):
    rooms = defaultdict(set)
    for name, asked in graph.items():
        rooms[folder(name)] |= {folder(to) for to in asked} - {folder(name)}
    return rooms


def level(name):
    """Where a file's folder stands: its floor, then its room, the lowest first."""
    floor = floors.floor_of(name)
    rooms = floors.ROOMS.get(floor, ('.',))
    return list(floors.FLOORS).index(floor), rooms.index(floors.room_of(name))


def upward(graph):
    """The calls that go up: each circle of rooms has one."""
    return [f'{name} -> {to}' for name, asked in sorted(graph.items())
            for to in sorted(asked) if level(to) > level(name)]


def inside_folders(graph):
    return {name: {to for to in asked if folder(to) == folder(name)}
            for name, asked in graph.items()}


# -------------------------------------------------------------------- lines --

def function_lengths(names):
    """(lines, where) of every function: a block at file level behind a ')'."""
    for name in names:
        if not name.endswith(('.c', '.cl')):
            continue
        blank = STRING.sub('""', COMMENT.sub(lambda m: re.sub(r'[^\n]', ' ', m.group()),
                                             text_of(name)))
        depth, start, before = 0, 0, ''
        for number, line in enumerate(blank.split('\n'), 1):
            if line.lstrip().startswith('#'):
                continue
            for character in line:
                if character == '{':
                    start = number if depth == 0 and before == ')' else start if depth else 0
                    depth += 1
                elif character == '}':
                    depth -= 1
                    if depth == 0 and start:
                        yield number - start + 2, f'{name}:{start}'
                if not character.isspace():
                    before = character


def line_counts(names):
    """Lines that are not empty, those with a comment, those of code, asserts."""
    lines = comments = code = asserts = 0
    for name in names:
        text = text_of(name)
        marked = COMMENT.sub(lambda m: re.sub(r'\S+', '\0', m.group()), STRING.sub('""', text))
        for line in marked.split('\n'):
            lines += bool(line.strip())
            comments += '\0' in line
            code += bool(line.replace('\0', '').strip())
        asserts += len(ASSERT.findall(COMMENT.sub('', text)))
    return lines, comments, code, asserts


# --------------------------------------------------------------------- main --

def largest(counts, most=8):
    return [f'{count:5} {name}' for name, count in
            sorted(counts.items(), key=lambda item: -item[1])[:most]]


def measures(build):
    """(name, value, limit, good, what it is made of) of each count."""
    names = engine()
    folders = defaultdict(int)
    for name in tracked('.c', '.h', '.cl', '.y', '.l', '.py', '.slt', '.md', '.sql'):
        folders[folder(name)] += 1
    most = max(folders.values())
    yield 'files in one folder', most, f'<= {FILES_MAX}', most <= FILES_MAX, largest(folders)
    found = circles(include_graph())
    yield 'circles of #include', len(found), '0', not found, found
    graph = call_graph(build)
    found = upward(graph)
    yield 'calls to a room above', len(found), '0', not found, found
    assert found or not circles(among_folders(graph))
    found = circles(inside_folders(graph))
    most = max(map(len, found), default=0)
    yield 'files in a circle inside a room', most, f'<= {CIRCLE_MAX}', most <= CIRCLE_MAX, found
    lengths = sorted(function_lengths(names))
    p90 = lengths[len(lengths) * 9 // 10][0]
    yield 'functions', len(lengths), '', True, []
    yield 'lines of a function, median', lengths[len(lengths) // 2][0], '', True, []
    yield 'lines of a function, p90', p90, f'< {P90_MAX}', p90 < P90_MAX, []
    yield ('lines of a function, most', lengths[-1][0], f'<= {FUNCTION_MAX}',
           lengths[-1][0] <= FUNCTION_MAX, lengths[-5:])
    lines, comments, code, asserts = line_counts(names)
    yield 'lines that are not empty', lines, '', True, []
    yield 'lines of code', code, '', True, []
    share = 100 * comments / lines
    yield 'comments, percent', round(share, 1), f'>= {COMMENTS_MIN}', share >= COMMENTS_MIN, []
    share = 1000 * asserts / lines
    yield ('asserts in 1,000 lines', round(share, 1), f'>= {ASSERTS_MIN}',
           share >= ASSERTS_MIN, [])
    pairs = house_pairs.pairs(ROOT, names)
    yield ('pairs that share six lines', len(pairs), f'< {PAIRS_MAX}', len(pairs) < PAIRS_MAX,
           pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--list', action='store_true')
    parser.add_argument('build', type=Path)
    options = parser.parse_args()
    good = bad = 0
    for name, value, limit, fits, parts in measures(options.build.resolve()):
        print(f'{name:32} {value:>8} {limit:>8}{"" if fits else "   TOO MUCH OR TOO LITTLE"}')
        if options.list or not fits:
            print(''.join(f'    {part}\n' for part in parts), end='')
        good, bad = good + (limit != '' and fits), bad + (not fits)
    print(f'{good} passed, {bad} failed')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that includes go down the floors only.

    floors.py [ROOT]

FLOORS says for each folder what it may include; a folder may always include
its own files. Also: no circle of includes, OpenCL's headers on the device
floor alone, and no quoted include of a file that is not there.
"""
import re
import sys
from pathlib import Path

# Lowest first. `plan` and `exec` never see each other: the program is what
# passes between them. Tools and io see the public header alone.
FLOORS = {
    'cl': (),
    'src/base': (),
    'src/program': ('cl', 'src/base'),
    'src/device': ('cl', 'src/base', 'src/program'),
    'src/data': ('cl', 'src/base', 'src/program', 'src/device'),
    'parser': ('src/base',),
    'src/plan': ('cl', 'src/base', 'src/program', 'src/device', 'src/data', 'parser'),
    'src/exec': ('cl', 'src/base', 'src/program', 'src/device', 'src/data'),
    'src/trial': ('cl', 'src/base', 'src/program', 'src/device', 'src/data', 'src/exec'),
    'src/api': ('cl', 'src/base', 'src/program', 'src/device', 'src/data', 'parser', 'src/plan',
                'src/exec', 'src/trial'),
    'src/io': (),
    'tools': ('src/io',),
}
PUBLIC = 'src/api/vdbq.h'  # every floor but cl may include it
GENERATED = {'parser/sql_parser.h', 'parser/sql_scanner.h'}
SUFFIXES = {'.c', '.h', '.cl', '.y', '.l'}
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.M)


def floor_of(path):
    """The floor that a path relative to the root lies on."""
    parts = path.split('/')
    return '/'.join(parts[:2]) if parts[0] == 'src' else parts[0]


def resolve(name, includer, root):
    """The path, relative to the root, of what `includer` means by "name"."""
    beside = includer.rsplit('/', 1)[0]
    for folder in (beside, 'src', '.'):
        path = (root / folder / name).resolve()
        if path.is_file() and path.is_relative_to(root):
            return str(path.relative_to(root))
        if f'{folder}/{name}'.removeprefix('./') in GENERATED:
            return f'{folder}/{name}'.removeprefix('./')
    return None


def includes(path, root):
    """(line number, quoted name, angled name) of each include of a file."""
    text = (root / path).read_text('utf-8', errors='replace')
    for match in INCLUDE.finditer(text):
        yield text.count('\n', 0, match.start(1 if match.group(1) else 2)) + 1, *match.groups()


def judge(path, quoted, angled, root):
    """What is wrong with one include, or None; and the file it names."""
    floor = floor_of(path)
    if angled:
        if angled.startswith('CL/') and floor != 'src/device':
            return 'OpenCL stays on the floor src/device', None
        if angled == 'vdbq.h':
            return None, PUBLIC
        return None, None
    target = resolve(quoted, path, root)
    if target is None:
        return 'no such file', None
    allowed = target == PUBLIC and floor != 'cl' or floor_of(target) in (floor, *FLOORS[floor])
    return None if allowed else f'{floor} must not include {floor_of(target)}', target


def circle(graph):
    """A circle of includes as a list of files, or None."""
    done, way = set(), []

    def walk(path):
        if path in way:
            return way[way.index(path):] + [path]
        if path in done:
            return None
        way.append(path)
        found = next(filter(None, map(walk, graph.get(path, ()))), None)
        way.pop()
        done.add(path)
        return found

    return next(filter(None, map(walk, graph)), None)


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else '.').resolve()
    files = sorted(str(p.relative_to(root)) for floor in FLOORS
                   for p in (root / floor).rglob('*') if p.suffix in SUFFIXES)
    faults, graph, checks = [], {}, 1
    for path in files:
        graph[path] = []
        for line, quoted, angled in includes(path, root):
            checks += 1
            fault, target = judge(path, quoted, angled, root)
            if fault:
                faults.append(f'{path}:{line}: "{quoted or angled}": {fault}')
            elif target:
                graph[path].append(target)
    ring = circle(graph)
    if ring:
        faults.append('a circle: ' + ' -> '.join(ring))
    print('\n'.join(faults + [f'{checks - len(faults)} passed, {len(faults)} failed']))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())

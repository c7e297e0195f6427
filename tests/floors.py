#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that includes go down only: from floor to floor, and from room to room.

    floors.py [ROOT]

FLOORS says for each folder what it may include. Inside a floor, ROOMS lists the
folders from the lowest up: a file includes its own room and those below. Also:
no circle of includes, no folder that is no room, OpenCL's headers on the device
floor alone and MPI's on the cluster's, and no quoted include of a file that is
not there. test_floors.py shows that each of these fails.
"""
import re
import sys
from pathlib import Path

# Lowest first. `plan` and `exec` never see each other: the program is what
# passes between them. Tools and io see the public header alone.
FLOORS = {
    'cl': (),
    'src/base': ('cl',),
    'src/program': ('cl', 'src/base'),
    'src/device': ('cl', 'src/base', 'src/program'),
    'src/data': ('cl', 'src/base', 'src/program', 'src/device'),
    'parser': ('src/base',),
    'src/plan': ('cl', 'src/base', 'src/program', 'src/device', 'src/data', 'parser'),
    'src/exec': ('cl', 'src/base', 'src/program', 'src/device', 'src/data'),
    'src/trial': ('cl', 'src/base', 'src/program', 'src/device', 'src/data', 'src/exec'),
    'src/api': ('cl', 'src/base', 'src/program', 'src/device', 'src/data', 'parser', 'src/plan',
                'src/exec', 'src/trial'),
    'src/cluster': ('cl', 'src/base', 'src/program', 'src/device', 'src/data', 'parser', 'src/plan',
                    'src/exec', 'src/trial', 'src/api'),
    'src/io': (),
    'tools': ('src/io',),
}
# The rooms of a floor, lowest first; '.' is the floor's own folder. A floor that
# is not listed has one room.
ROOMS = {
    'cl': ('sink', '.', 'rows', 'window', 'search', 'words'),
    'src/base': ('.', 'os', 'threads'),
    'src/program': ('letters', 'regexp', 'functions', '.', 'dataflow', 'steps'),
    'src/device': ('cache', '.', 'opencl', 'host', 'choose'),
    'src/data': ('catalogue', 'words', 'tablet', 'file', 'database', 'pool', 'index', 'rule',
                 'transaction', 'check', 'parts'),
    'src/plan': ('.', 'tree', 'estimate', 'code', 'make', 'operator', 'sample', 'leaf', 'call',
                 'bind', 'condition', 'unnest', 'simplify', 'group', 'texts', 'index', 'rewrite',
                 'lower', 'statement'),
    'src/api': ('alone', '.', 'file', 'keys', 'trial'),
    'src/cluster': ('divide', '.'),
    'src/exec': ('rows', 'launch', 'dictionary', 'stream', 'build_side', 'scan', 'grid', 'sort',
                 'aggregate', 'device_group', 'group', 'gather', 'window', 'join',
                 'device_join', 'recurse', 'seek', 'operator'),
    'tools': ('.', 'generate', 'web', 'changes', 'shell'),
    'src/io': ('packed', '.', 'import'),
}
PUBLIC = 'src/api/vdbq.h'  # every floor but cl may include it
GENERATED = {'parser/sql_parser.h', 'parser/sql_scanner.h'}
SUFFIXES = {'.c', '.h', '.cl', '.y', '.l'}
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.M)


def floor_of(path):
    """The floor that a path relative to the root lies on."""
    parts = path.split('/')
    return '/'.join(parts[:2]) if parts[0] == 'src' else parts[0]


def room_of(path):
    """The room of its floor that a path lies in: its folder below the floor."""
    inside = path[len(floor_of(path)) + 1:].split('/')
    return inside[0] if len(inside) > 1 else '.'


def room_fault(path):
    """What is wrong with where a file lies, or None."""
    floor, room = floor_of(path), room_of(path)
    if path.count('/') > floor.count('/') + 2:
        return 'a room has no folders'
    return None if room in ROOMS.get(floor, ('.',)) else f'{floor} has no room {room}'


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
        if angled == 'mpi.h' and floor != 'src/cluster':
            return 'MPI stays on the floor src/cluster', None
        if angled == 'vdbq.h':
            return None, PUBLIC
        return None, None
    target = resolve(quoted, path, root)
    if target is None:
        return 'no such file', None
    if target == PUBLIC and floor != 'cl':
        return None, target
    if floor_of(target) == floor:
        return judge_rooms(path, target), target
    allowed = floor_of(target) in FLOORS[floor]
    return None if allowed else f'{floor} must not include {floor_of(target)}', target


def judge_rooms(path, target):
    """What is wrong with an include of a file of the same floor, or None."""
    floor, here, there = floor_of(path), room_of(path), room_of(target)
    order = ROOMS.get(floor, ('.',))
    if here not in order or there not in order or order.index(there) <= order.index(here):
        return None
    return f'{floor}: room {here} lies below room {there}'


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


def check(root):
    """The faults of the tree below `root`, and how many checks were made."""
    files = sorted(str(p.relative_to(root)) for floor in FLOORS
                   for p in (root / floor).rglob('*') if p.suffix in SUFFIXES)
    faults, graph, checks = [], {}, 1
    for path in files:
        graph[path] = []
        checks += 1
        if room_fault(path):
            faults.append(f'{path}: {room_fault(path)}')
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
    return faults, checks


def main():
    faults, checks = check(Path(sys.argv[1] if len(sys.argv) > 1 else '.').resolve())
    print('\n'.join(faults + [f'{checks - len(faults)} passed, {len(faults)} failed']))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())

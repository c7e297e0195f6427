#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shows that floors.py can fail: it judges small trees that break one rule each.

    test_floors.py
"""
import sys
import tempfile
from pathlib import Path

import floors

# What the tree holds (path: what it includes), and what must be said of it.
TREES = (
    ({'src/exec/scan/a.c': ['exec/rows/b.h', 'data/pool/c.h'], 'src/exec/rows/b.h': [],
      'src/data/pool/c.h': []}, None),
    ({'src/exec/scan/a.c': ['exec/scan/b.h'], 'src/exec/scan/b.h': []}, None),
    ({'src/data/pool/a.c': ['exec/rows/b.h'], 'src/exec/rows/b.h': []},
     'src/data must not include src/exec'),
    ({'src/exec/rows/a.c': ['exec/scan/b.h'], 'src/exec/scan/b.h': []},
     'src/exec: room rows lies below room scan'),
    ({'src/base/a.c': ['base/threads/b.h'], 'src/base/threads/b.h': []},
     'src/base: room . lies below room threads'),
    ({'src/exec/scan/a.h': ['exec/scan/b.h'], 'src/exec/scan/b.h': ['exec/scan/a.h']},
     'a circle: src/exec/scan/a.h -> src/exec/scan/b.h -> src/exec/scan/a.h'),
    ({'src/exec/attic/a.c': []}, 'src/exec has no room attic'),
    ({'src/exec/a.c': []}, 'src/exec has no room .'),
    ({'src/exec/scan/deep/a.c': []}, 'a room has no folders'),
    ({'src/api/deep/a.c': []}, 'src/api has no room deep'),
    ({'src/exec/scan/a.c': ['exec/scan/gone.h']}, 'no such file'),
    ({'src/exec/scan/a.c': ['<CL/cl.h>']}, 'OpenCL stays on the floor src/device'),
    ({'src/device/opencl/a.c': ['<CL/cl.h>']}, None),
    ({'src/exec/scan/a.c': ['<mpi.h>']}, 'MPI stays on the floor src/cluster'),
    ({'src/cluster/a.c': ['<mpi.h>']}, None),
)


def judged(tree):
    """What floors.py says of a tree that is written for it."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for path, included in tree.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            lines = [f'#include {name if name[0] == "<" else chr(34) + name + chr(34)}\n'
                     for name in included]
            (root / path).write_text(''.join(lines), 'utf-8')
        return floors.check(root)[0]


def main():
    failed = 0
    for tree, expected in TREES:
        said = judged(tree)
        if said if expected is None else len(said) != 1 or expected not in said[0]:
            print(f'{tree}: expected {expected}, got {said}')
            failed += 1
    print(f'{len(TREES) - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

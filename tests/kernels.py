#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests that the kernels' text is right in every shape that a device may have.

    kernels.py CLANG

A tuning file may ask for any tile and group that device/tuning.c calls sound,
and no machine has all devices: clang reads the text for each shape as OpenCL C
1.2, with all warnings but those of functions that a shape has no use for.
"""
import itertools
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
MACHINE = ('cl/ops', 'cl/machine')
OTHERS = ('cl/group', 'cl/sort', 'cl/join', 'cl/index', 'cl/probe', 'cl/search/search',
          'cl/window/window', 'cl/words/words', 'src/device/opencl/limits')
CPU = [(1, tile) for tile in (128, 256, 8192)]
GPU = list(itertools.product((32, 256, 1024), (1, 2, 4, 8, 16)))


def read(clang, files, group, tile):
    """What clang has to say of kernels in one shape."""
    text = ''.join(f'#include "{name}.cl"\n' for name in files)
    done = subprocess.run(
        [clang, '-x', 'cl', '-cl-std=CL1.2', '-Xclang', '-finclude-default-header', '-target',
         'spir64', '-fsyntax-only', '-Wall', '-Wno-unused-function', '-I', TOP, '-I', TOP / 'cl',
         f'-DVDBQ_GROUP={group}', f'-DVDBQ_TILE={tile}', '-DVDBQ_REGISTERS=8', '-DVDBQ_AXES=3',
         '-'],
        input=text.encode(), capture_output=True, check=False)
    return done.stderr.decode()


def main():
    """Reads all kernels in all shapes."""
    cases = [(MACHINE, *shape) for shape in CPU + GPU]
    cases += [((name,), group, 8) for name in OTHERS for group in (1, 256)]
    failed = 0
    for files, group, tile in cases:
        said = read(sys.argv[1], files, group, tile)
        if said:
            failed += 1
            print(f'{files[-1]}.cl, groups of {group}, tiles of {tile}:\n{said}')
    print(f'{len(cases) - failed} passed, {failed} failed')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())

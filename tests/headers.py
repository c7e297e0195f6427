#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every header compiles alone, as C11, and vdbq.h as C++, too.

    headers.py [ROOT]

Uses $CC (cc) and $CXX (c++); without a C++ compiler that check is left out.
"""
import os
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

WARNINGS = ['-Wall', '-Wextra', '-Wpedantic', '-Werror', '-fsyntax-only']
DEFINES = ['-D_GNU_SOURCE', '-D_POSIX_C_SOURCE=200809L', '-DCL_TARGET_OPENCL_VERSION=120']
FOLDERS = ('cl', 'parser', 'src/*', 'src/*/*', 'tools', 'tests/*')


def compile_alone(compiler, language, header, root):
    """The compiler's complaints about a file that includes `header` alone."""
    command = [*compiler, *language, *WARNINGS, *DEFINES, '-I', root, '-I', root / 'src',
               '-I', root / 'src' / 'api', '-I', root / 'tests', '-']
    result = subprocess.run(command, input=f'#include "{header}"\n', text=True,
                            capture_output=True, check=False)
    return '' if result.returncode == 0 else f'{header}:\n{result.stderr}'


def jobs(root):
    """(compiler, language, header) of every check."""
    c = shlex.split(os.environ.get('CC', 'cc'))
    cxx = shlex.split(os.environ.get('CXX', 'c++'))
    for folder in FOLDERS:
        for header in sorted(root.glob(f'{folder}/**/*.h')):
            yield c, ['-x', 'c', '-std=c11'], header
    if shutil.which(cxx[0]):
        yield cxx, ['-x', 'c++', '-std=c++11'], root / 'src/api/vdbq.h'


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else '.').resolve()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: compile_alone(*job, root), jobs(root)))
    faults = list(filter(None, results))
    print(''.join(faults) + f'{len(results) - len(faults)} passed, {len(faults)} failed')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())

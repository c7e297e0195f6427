#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds and runs the C program of docs/library.md and compares what it prints.

    example.py ROOT BUILD

The program is the first ```c block; what it must print is the ```text block
that follows it. It is built against the library as a user would.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLE = re.compile(r'^```c\n(.*?)^```$.*?^```text\n(.*?)^```$', re.S | re.M)


def build(program, folder, root, library):
    """The path of the program, compiled with every warning an error."""
    source, binary = Path(folder) / 'example.c', Path(folder) / 'example'
    source.write_text(program)
    subprocess.run([os.environ.get('CC', 'cc'), '-std=c11', '-Wall', '-Wextra', '-Wpedantic',
                    '-Werror', '-I', root / 'src' / 'api', source, '-o', binary,
                    '-L', library, '-lvdbq', f'-Wl,-rpath,{library}'], check=True)
    return binary


def main():
    root, library = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    match = EXAMPLE.search((root / 'docs' / 'library.md').read_text('utf-8'))
    if not match:
        sys.exit('docs/library.md: no ```c block with a ```text block after it\n0 passed, 1 failed')
    program, expected = match.groups()
    with tempfile.TemporaryDirectory(prefix='example') as folder:
        binary = build(program, folder, root, library)
        result = subprocess.run([binary], cwd=folder, text=True, capture_output=True,
                                check=False)
    good = result.returncode == 0 and result.stdout == expected
    if not good:
        print(f'exit code {result.returncode}\n{result.stderr}printed:\n{result.stdout}'
              f'expected:\n{expected}')
    print('1 passed, 0 failed' if good else '0 passed, 1 failed')
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())

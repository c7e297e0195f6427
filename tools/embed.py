#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a kernel's text as a C array, so that the library carries it.

    embed.py OUT NAME IN [DEPFILE]

Each `#include "x.h"` of IN, and of what it includes, is replaced by the text
of that file the first time and by nothing after that; #line directives keep
the compiler's messages pointing at the files that people edit. OUT declares
`const char NAME[]`, ended by a 0. An array of numbers, not a string: C11
promises strings of 4,095 bytes only. DEPFILE lists what was read, for ninja.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')


def locate(name, beside):
    """The file that `name` means: beside its includer, in cl/, or from the root."""
    for folder in (beside, ROOT / 'cl', ROOT):
        if (folder / name).is_file():
            return (folder / name).resolve()
    sys.exit(f'embed.py: no file "{name}" beside {beside} or in {ROOT}')


def inline(path, seen):
    """The lines of `path` with its includes inlined; adds to `seen`."""
    seen.append(path)
    shown = path.relative_to(ROOT)
    lines = [f'#line 1 "{shown}"']
    for number, line in enumerate(path.read_text('utf-8').splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            lines.append(line)
            continue
        target = locate(match.group(1), path.parent)
        if target in seen:
            lines.append('')
        else:
            lines += inline(target, seen)
            lines.append(f'#line {number + 1} "{shown}"')
    return lines


def array(name, text):
    """The C source of the array: 20 bytes a line, as signed numbers."""
    values = [b - 256 if b > 127 else b for b in text.encode('utf-8') + b'\0']
    rows = [','.join(map(str, values[i:i + 20])) for i in range(0, len(values), 20)]
    return (f'/* Made by tools/embed.py. */\nextern const char {name}[];\n'
            f'const char {name}[] = {{\n' + ',\n'.join(rows) + '\n};\n')


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    out, name, source = sys.argv[1:4]
    path, seen = Path(source).resolve(), []
    text = '\n'.join(inline(path, seen)) + '\n'
    Path(out).write_text(array(name, text))
    if len(sys.argv) == 5:
        Path(sys.argv[4]).write_text(f'{out}: {" ".join(map(str, seen))}\n')


if __name__ == '__main__':
    main()

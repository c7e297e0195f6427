#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the table of letters' cases from the files of a version of Unicode.

    letters.py [--check] FOLDER OUT

FOLDER has UnicodeData.txt and CaseFolding.txt of one version, as Debian's
package unicode-data has them in /usr/share/unicode. OUT is
src/program/functions/letter_table.h, which is committed: who builds needs no
such folder. --check writes nothing and fails where OUT is not what would be
written.

What a character becomes in each case is a row of distances to add. Characters
lie in blocks; equal blocks, of which most have no letter with a case, are kept
once.
"""
import argparse
import re
import sys
from pathlib import Path

SHIFT = 6  # of it the table is smallest: a block has 1 << SHIFT characters
HEAD = '''/* SPDX-License-Identifier: MIT */
/*
 * The cases of letters in Unicode {version}: its simple mappings, of one
 * character each. Made by tools/letters.py; letter.c alone includes it.
 */
#ifndef VDBQ_PROGRAM_LETTER_TABLE_H
#define VDBQ_PROGRAM_LETTER_TABLE_H

#include <stdint.h>

/* clang-format off */

#define LETTER_UNICODE "{version}"

/* Characters of a block, and the first one behind the last block. */
enum {{ LETTER_SHIFT = {shift}, LETTER_BEHIND = 0x{behind:x} }};

'''
TAIL = '''/* clang-format on */

#endif
'''


def read_cases(folder):
    """What a character becomes: capital letters, small ones."""
    upper, lower = {}, {}
    for line in (folder / 'UnicodeData.txt').read_text('utf-8').splitlines():
        fields = line.split(';')
        character = int(fields[0], 16)
        for mapping, field in ((upper, fields[12]), (lower, fields[13])):
            if field:
                mapping[character] = int(field, 16)
    return upper, lower


def read_folding(folder):
    """What a character is folded to, and the version of Unicode."""
    text = (folder / 'CaseFolding.txt').read_text('utf-8')
    version = re.match(r'# CaseFolding-([\d.]+)\.txt', text)
    if not version:
        sys.exit(f'{folder}/CaseFolding.txt: no version')
    rows = re.findall(r'^(\w+); [CS]; (\w+);', text, re.M)
    return {int(a, 16): int(b, 16) for a, b in rows}, version.group(1)


def circles(folded):
    """To each character the next of those that are folded to the same, in a circle."""
    alike, behind = {}, {}
    for character, to in folded.items():
        alike.setdefault(to, {to}).add(character)
    for letters in map(sorted, alike.values()):
        behind.update(zip(letters, letters[1:] + letters[:1]))
    return behind


def table(mappings):
    """Blocks' numbers, the rows' numbers in each block, and the rows."""
    characters = set().union(*mappings)
    rows = {c: tuple(m.get(c, c) - c for m in mappings) for c in characters}
    plain = (0,) * len(mappings)
    numbers = {row: i for i, row in enumerate([plain] + sorted(set(rows.values()) - {plain}))}
    blocks, index, size = {}, [], 1 << SHIFT
    for start in range(0, max(characters) + 1, size):
        block = tuple(numbers[rows.get(c, plain)] for c in range(start, start + size))
        index.append(blocks.setdefault(block, len(blocks)))
    if max(len(blocks), len(numbers)) > 256:
        sys.exit('letters.py: the numbers do not fit a byte')
    return index, [n for block in blocks for n in block], list(numbers)


def lines_of(values, width):
    """Values as lines of C, so many in a line."""
    rows = [', '.join(map(str, values[i:i + width])) for i in range(0, len(values), width)]
    return ''.join(f'    {row},\n' for row in rows)


def source(folder):
    """The text of the file."""
    folded, version = read_folding(folder)
    index, blocks, rows = table([*read_cases(folder), folded, circles(folded)])
    return (
        HEAD.format(version=version, shift=SHIFT, behind=len(index) << SHIFT)
        + '/* To each block of characters its number among those that differ. */\n'
        + f'static const uint8_t letter_blocks[{len(index)}] = {{\n{lines_of(index, 19)}}};\n\n'
        + '/* To each character of a block its row. */\n'
        + f'static const uint8_t letter_rows[{len(blocks)}] = {{\n{lines_of(blocks, 19)}}};\n\n'
        + '/* How far away its capital, its small letter, and what it is folded to are, and\n'
        + ' * the next of those that are folded to the same. */\n'
        + f'static const int32_t letter_distances[{len(rows)}][4] = {{\n'
        + lines_of(['{ ' + ', '.join(map(str, row)) + ' }' for row in rows], 2)
        + '};\n\n' + TAIL)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--check', action='store_true')
    parser.add_argument('folder', type=Path)
    parser.add_argument('out', type=Path)
    options = parser.parse_args()
    text = source(options.folder)
    if not options.check:
        options.out.write_text(text, 'utf-8')
    elif options.out.read_text('utf-8') != text:
        sys.exit(f'{options.out} is not what {options.folder} says')


if __name__ == '__main__':
    main()

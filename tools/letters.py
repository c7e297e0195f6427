#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the tables of letters from the files of a version of Unicode.

    letters.py [--check] FOLDER OUT

FOLDER has UnicodeData.txt and CaseFolding.txt of one version, as Debian's
package unicode-data has them in /usr/share/unicode. OUT is
src/program/letters, where letter_table.h and accent_table.h are committed:
who builds needs no such folder. --check writes nothing and fails where they are
not what would be written.

letter_table.h: what a character becomes in each case is a row of distances to
add. Characters lie in blocks; equal blocks, of which most have no letter with a
case, are kept once. accent_table.h: marks, and what is left of a character
without those that it has.
"""
import argparse
import re
import sys
from pathlib import Path

SHIFT = 6  # of it the table is smallest: a block has 1 << SHIFT characters
LETTER_HEAD = '''/* SPDX-License-Identifier: MIT */
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
ACCENT_HEAD = '''/* SPDX-License-Identifier: MIT */
/*
 * Marks and accents in Unicode {version}. Made by tools/letters.py; accent.c
 * alone includes it.
 */
#ifndef VDBQ_PROGRAM_ACCENT_TABLE_H
#define VDBQ_PROGRAM_ACCENT_TABLE_H

#include <stdint.h>

/* clang-format off */

'''
TAIL = '''/* clang-format on */

#endif
'''


def read_data(folder):
    """The fields of each character that has a row of its own."""
    lines = (folder / 'UnicodeData.txt').read_text('utf-8').splitlines()
    return {int(line.split(';', 1)[0], 16): line.split(';') for line in lines}


def cases_of(data):
    """What characters become: capital letters, small ones."""
    return tuple({c: int(fields[at], 16) for c, fields in data.items() if fields[at]}
                 for at in (12, 13))


def is_mark(data, character):
    """(Those without a row, between two that have one, are no marks.)"""
    return character in data and data[character][2] in ('Mn', 'Mc', 'Me')


def decomposed(data, character):
    """The characters that it is made of, by canonical decomposition."""
    parts = data[character][5].split() if character in data else []
    if not parts or parts[0].startswith('<'):
        return [character]
    return [d for part in parts for d in decomposed(data, int(part, 16))]


def bases_of(data):
    """To each character that is another one with marks that other one."""
    bases = {}
    for character in data:
        left = [c for c in decomposed(data, character) if not is_mark(data, c)]
        if left != [character] and not is_mark(data, character):
            bases[character], = left
    return bases


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


def ranges_of(characters):
    """First and last of each run of characters, which ascend."""
    ranges = []
    for character in characters:
        if ranges and ranges[-1][1] == character - 1:
            ranges[-1][1] = character
        else:
            ranges.append([character, character])
    return ranges


def pairs(name, values):
    rows = [f'{{ 0x{a:x}, 0x{b:x} }}' for a, b in values]
    return f'static const uint32_t {name}[{len(rows)}][2] = {{\n{lines_of(rows, 4)}}};\n\n'


def letter_table(folder, data):
    folded, version = read_folding(folder)
    index, blocks, rows = table([*cases_of(data), folded, circles(folded)])
    return (
        LETTER_HEAD.format(version=version, shift=SHIFT, behind=len(index) << SHIFT)
        + '/* To each block of characters its number among those that differ. */\n'
        + f'static const uint8_t letter_blocks[{len(index)}] = {{\n{lines_of(index, 19)}}};\n\n'
        + '/* To each character of a block its row. */\n'
        + f'static const uint8_t letter_rows[{len(blocks)}] = {{\n{lines_of(blocks, 19)}}};\n\n'
        + '/* How far away its capital, its small letter, and what it is folded to are, and\n'
        + ' * the next of those that are folded to the same. */\n'
        + f'static const int32_t letter_distances[{len(rows)}][4] = {{\n'
        + lines_of(['{ ' + ', '.join(map(str, row)) + ' }' for row in rows], 2)
        + '};\n\n' + TAIL)


def accent_table(folder, data):
    marks = ranges_of(sorted(c for c in data if is_mark(data, c)))
    return (
        ACCENT_HEAD.format(version=read_folding(folder)[1])
        + '/* The first and the last of marks that follow each other. */\n'
        + pairs('accent_marks', marks)
        + '/* A character, and what is left of it without its marks. */\n'
        + pairs('accent_bases', sorted(bases_of(data).items())) + TAIL)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--check', action='store_true')
    parser.add_argument('folder', type=Path)
    parser.add_argument('out', type=Path)
    options = parser.parse_args()
    data = read_data(options.folder)
    for name, make in (('letter_table.h', letter_table), ('accent_table.h', accent_table)):
        text, path = make(options.folder, data), options.out / name
        if not options.check:
            path.write_text(text, 'utf-8')
        elif path.read_text('utf-8') != text:
            sys.exit(f'{path} is not what {options.folder} says')


if __name__ == '__main__':
    main()

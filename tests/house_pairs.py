# SPDX-License-Identifier: MIT
"""Pairs of places that share six or more lines, for house.py."""
import re
from collections import defaultdict

SHARED = 6   # lines that are not empty, one behind the other
NOTE = re.compile(r'/\*.*?\*/|//[^\n]*', re.S)
# Lines that every file has, and a table's numbers: they make no pair by themselves.
BOILERPLATE = re.compile(r'#|[-\d{}();,\s]*$|(?:enum|struct) \w+ \w+;$|return [\w>.-]+;$|'
                         r'\[\w+\] = |[X_]\(|INSTANTIATE|%|static const ')


def lines_of(text):
    """(number, line) of the code, without comments and blanks."""
    bare = NOTE.sub(lambda m: re.sub(r'[^\n]', ' ', m.group()), text)
    for number, line in enumerate(bare.split('\n'), 1):
        if line.strip():
            yield number, ' '.join(line.split())


def windows(root, names):
    """Where each run of SHARED lines stands: text -> [(file, index)]."""
    places, files = defaultdict(list), {}
    for name in names:
        files[name] = list(lines_of((root / name).read_text('utf-8')))
        texts = [text for _, text in files[name]]
        for i in range(len(texts) - SHARED + 1):
            run = texts[i:i + SHARED]
            if sum(not BOILERPLATE.match(text) for text in run) * 2 > SHARED:
                places['\n'.join(run)].append((name, i))
    return places, files


def pairs(root, names):
    """Texts "FILE:LINE FILE:LINE: N lines" of the pairs, each as long as it goes."""
    places, files = windows(root, names)
    shared = {(one, other) for found in places.values() if len(found) > 1
              for k, one in enumerate(found) for other in found[k + 1:]}
    found = []
    for (file_a, a), (file_b, b) in sorted(shared):
        if ((file_a, a - 1), (file_b, b - 1)) in shared:
            continue  # a part of the one that begins before
        count = 0
        while ((file_a, a + count), (file_b, b + count)) in shared:
            count += 1
        found.append(f'{file_a}:{files[file_a][a][0]} {file_b}:{files[file_b][b][0]}: '
                     f'{count + SHARED - 1} lines')
    return found

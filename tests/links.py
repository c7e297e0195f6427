#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that pages name nothing that is not there.

    links.py [ROOT]

Of every Markdown page of the tree: a relative link leads to a file, and its
anchor to a heading there; a path that starts with a folder of the tree is one
of the tree; so is a name in backticks that ends like a source file; a name in
backticks like `name()` or `struct name` stands in the sources. Paths may have
`*` and `{a,b}`. A ```c block of a page about adding something quotes the sources,
line by line. Links to other hosts are not followed. Drawings (SVG) are read
for paths. The last line is "N passed, N failed".
"""
import fnmatch
import itertools
import re
import subprocess
import sys
from pathlib import Path, PurePosixPath

LINK = re.compile(r'(?<!!)\[[^\]]*\]\(([^()\s]+)\)|!\[[^\]]*\]\(([^()\s]+)\)')
CODE_BLOCK = re.compile(r'^```.*?^```$', re.M | re.S)
CODE = re.compile(r'`([^`\n]+)`')
HEADING = re.compile(r'^#+ +(.*?) *$', re.M)
BRACES = re.compile(r'\{([^{}]*)\}')
ELSEWHERE = re.compile(r'[a-z]+:', re.I)
# Names of files that no page means to be of the tree.
SOURCE_NAME = re.compile(r'[\w*{},.-]+\.(?:[chly]|cl|py|md|slt|prog|jsonl|svg)')
NOT_OURS = {'vdbq.pc', 'sql_parser.h', 'sql_scanner.h'}
LINE_AT_END = re.compile(r':\d+$')
IDENTIFIER = re.compile(r'(?:(?:struct|enum) (\w+)|(\w+)\(\))')
QUOTED = re.compile(r'^ *```c\n(.*?)^ *```$', re.M | re.S)
SOURCES = ('.c', '.h', '.cl', '.y', '.l', '.py')


def tracked(root):
    """The files of the tree, as paths relative to it."""
    listed = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard'], cwd=root,
                            capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return {name for name in listed.stdout.splitlines() if (root / name).is_file()}
    return {str(path.relative_to(root)) for path in root.rglob('*') if path.is_file()
            and 'build' not in path.relative_to(root).parts}


def folders_of(files):
    return {str(folder) for name in files for folder in PurePosixPath(name).parents}


def anchors(text):
    """The anchors of a page's headings, as GitHub makes them."""
    seen = {}
    for heading in HEADING.findall(CODE_BLOCK.sub('', text)):
        plain = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', heading).lower()
        name = re.sub(r'[^\w\- ]', '', plain).replace(' ', '-')
        count = seen[name] = seen.get(name, -1) + 1
        yield f'{name}-{count}' if count else name


def unfolded(path):
    """a/{b,c}.h as a/b.h and a/c.h."""
    match = BRACES.search(path)
    if not match:
        return [path]
    return list(itertools.chain.from_iterable(
        unfolded(path[:match.start()] + word.strip() + path[match.end():])
        for word in match.group(1).split(',')))


def squeezed(line):
    """A line without its blanks, and without the end of a macro's line."""
    return re.sub(r'\s|\\$', '', line.rstrip())


class Tree:
    """What there is, and what is wrong with what a page says of it."""

    def __init__(self, root):
        self.root, self.files = root, tracked(root)
        self.folders = folders_of(self.files)
        self.names = {PurePosixPath(name).name for name in self.files}
        self.tops = {name.split('/')[0] for name in self.files if '/' in name}
        self.path = re.compile(r'(?<![\w./$-])(?:' + '|'.join(map(re.escape, self.tops)) +
                               r')/[\w./*{},-]*[\w*/}]')
        self.words, self.lines = set(), set()
        for name in self.files:
            if name.endswith(SOURCES):
                text = (root / name).read_text('utf-8', 'replace')
                self.words.update(re.findall(r'\w+', text))
                self.lines.update(squeezed(line) for line in text.splitlines())

    def has(self, path):
        path = path.rstrip('/')
        if path + '.c' in self.files:  # a program that is built of it
            return True
        if '*' in path:
            return any(fnmatch.fnmatchcase(name, path) for name in self.files)
        return path in self.files or path in self.folders

    def link_fault(self, page, target):
        path, _, anchor = target.partition('#')
        full = self.resolve(page, path) if path else page
        if full is None or not self.has(full):
            return 'no such file'
        if anchor and anchor not in anchors((self.root / full).read_text('utf-8')):
            return f'{full} has no heading "{anchor}"'
        return None

    @staticmethod
    def resolve(page, path):
        """A path relative to a page, as one relative to the root."""
        parts = []
        for part in [*PurePosixPath(page).parent.parts, *PurePosixPath(path).parts]:
            if part == '..':
                if not parts:
                    return None
                parts.pop()
            elif part != '.':
                parts.append(part)
        return '/'.join(parts)

    def code_fault(self, word):
        """What is wrong with a word in backticks, or None; and whether it names
        anything of the tree."""
        name = IDENTIFIER.fullmatch(word)
        if name:
            known = (name.group(1) or name.group(2)) in self.words
            return (None if known else 'not in the sources'), True
        path = LINE_AT_END.sub('', word)
        if not SOURCE_NAME.fullmatch(path) or path in NOT_OURS:
            return None, False
        known = all(any(fnmatch.fnmatchcase(name, one) for name in self.names)
                    for one in unfolded(path))
        return (None if known else 'no such file'), True

    def faults(self, page):
        """(line, what is named, fault or None) for each name on a page."""
        text = (self.root / page).read_text('utf-8')
        prose = CODE_BLOCK.sub(lambda match: re.sub(r'[^\n]', ' ', match.group()), text)
        for match in LINK.finditer(prose):
            target = match.group(1) or match.group(2)
            if not ELSEWHERE.match(target):
                yield self.line(text, match), target, self.link_fault(page, target)
        for match in CODE.finditer(prose):
            fault, names = self.code_fault(match.group(1))
            if names:
                yield self.line(text, match), match.group(1), fault
        for block in QUOTED.finditer(text) if 'adding-' in page else ():
            for line in block.group(1).splitlines():
                known = squeezed(line) in self.lines
                yield self.line(text, block), line.strip(), None if known else 'not in the sources'
        unlinked = re.sub(r'\]\([^)]*\)', lambda match: ' ' * len(match.group()), text)
        for match in self.path.finditer(unlinked):
            known = all(map(self.has, unfolded(match.group())))
            yield self.line(text, match), match.group(), None if known else 'no such file'

    @staticmethod
    def line(text, match):
        return text.count('\n', 0, match.start()) + 1


def main():
    tree = Tree(Path(sys.argv[1] if len(sys.argv) > 1 else '.').resolve())
    passed, failed = 0, 0
    for page in sorted(name for name in tree.files if name.endswith(('.md', '.svg'))):
        for line, named, fault in tree.faults(page):
            passed, failed = passed + (fault is None), failed + (fault is not None)
            if fault:
                print(f'{page}:{line}: {named}: {fault}')
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

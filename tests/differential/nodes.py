# SPDX-License-Identifier: MIT
"""Trees of SQL that can be written for several engines and cut down.

A node is a template with holes for its parts; where engines write a thing
differently the template is a dictionary by dialect, '' for all others. Types
are letters: I integers, D DOUBLE, F FLOAT, T text, B truth, Y DATE, W
TIMESTAMP, M DECIMAL with two digits behind the point (sqlite3 gets it as an
integer, a hundred times the value), Q a query, S what stands in FROM.
"""

VALUE_TYPES = 'IDFTBYWM'
NULLS = {'I': 'CAST(NULL AS BIGINT)', 'D': 'CAST(NULL AS DOUBLE)', 'F': 'CAST(NULL AS FLOAT)',
         'T': 'CAST(NULL AS TEXT)'}


CONSTANT = 'constant'


class Node:
    """A piece of SQL. `bound` is the largest magnitude of a number, `grain`
    the binary digits behind its point (None: not exact)."""
    __slots__ = ('template', 'parts', 'type', 'bound', 'grain', 'droppable', 'separator', 'column')

    def __init__(self, template, *parts, type='', bound=0, grain=0, droppable=False,
                 separator=None, column=False):
        self.template, self.parts, self.type = template, parts, type
        self.bound, self.grain, self.droppable = bound, grain, droppable
        self.separator = separator  # of a list: its parts may be taken away
        self.column = column        # a plain column; CONSTANT: of a query that gives a constant

    def sql(self, dialect):
        """The text for that engine."""
        if self.separator is not None:
            return self.separator.join(part.sql(dialect) for part in self.parts)
        template = self.template
        if isinstance(template, dict):
            template = template.get(dialect, template.get(''))
        if not self.parts:
            return template
        return template.format(*[part.sql(dialect) for part in self.parts])

    def with_parts(self, parts):
        copy = Node(self.template, *parts, type=self.type, bound=self.bound, grain=self.grain,
                    droppable=self.droppable, separator=self.separator)
        return copy

    def uses_columns(self):
        return self.column is True or any(part.uses_columns() for part in self.parts)

    def size(self):
        return 1 + sum(part.size() for part in self.parts)


def listed(parts, separator=', ', type='list'):
    """Parts that may be taken away one by one."""
    return Node('', *parts, separator=separator, type=type)


EMPTY = Node('')


def optional(template, *parts):
    """A clause that may be left out."""
    return Node(template, *parts, droppable=True)


# ---------------------------------------------------------------- queries --

def result_types(query):
    """The letters of the columns that a query gives."""
    head = query.parts[0]
    if head.separator is not None:
        return [item.parts[0].type for item in head.parts]
    if head.type in VALUE_TYPES:
        return [head.type]
    return result_types(query.parts[-1] if query.template.startswith('WITH') else head)


def is_ordered(query):
    """Whether its rows come in a given order."""
    return query.template.startswith('{0} ORDER BY') or (
        query.template == '{0} {1}' and is_ordered(query.parts[0]))


# ------------------------------------------------------------ cutting down --

def simple_literals(node):
    """Constants that may stand for an expression."""
    known = {'I': ['0', '1'], 'D': ['0.0', '1.0'], 'T': ["''", "'a'"], 'B': ['(1 = 1)', '(1 = 0)']}
    if node.parts or node.column:
        for text in known.get(node.type, []):
            yield Node(text, type=node.type)


def inside(node, kind, depth=3):
    """Nodes of a type below this one, not through others of that type."""
    for part in node.parts:
        if part.type == kind:
            yield part
        elif depth:
            yield from inside(part, kind, depth - 1)


def smaller(node):
    """Trees that are this one with one thing simpler, the largest cuts first."""
    if node.droppable:
        yield EMPTY
    if node.type in (*VALUE_TYPES, 'Q', 'S'):
        yield from inside(node, node.type)
        yield from simple_literals(node)
    if node.separator is not None and len(node.parts) > 1:
        for i in range(len(node.parts)):
            yield node.with_parts(node.parts[:i] + node.parts[i + 1:])
    for i, part in enumerate(node.parts):
        for cut in smaller(part):
            yield node.with_parts((*node.parts[:i], cut, *node.parts[i + 1:]))

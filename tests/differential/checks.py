# SPDX-License-Identifier: MIT
"""What must hold, and whether it does: a case is tables, views and a query.

    peer     another engine gives the same rows; where there are two shells of
             vdbq, the other the same bits in the same order
    change   a table is the same after a statement that changes it
    tlp      the rows where p, where NOT p and where p IS NULL are all the rows
    norec    as many rows pass WHERE p as have a true p in the results
"""
import re

from .engines import Refused
from .nodes import Node, is_ordered, result_types

# Errors of vdbq that are right: {pattern of the message: why}.
REFUSALS = {r'needs more than \d+ registers': 'a limit that long expressions reach',
            r'a tablet of \d+ bytes does not fit': 'the little room of a hostile build'}
REL = 1e-9


class Skipped(Exception):
    """vdbq may refuse this."""


class Difference(Exception):
    """`kind` tells differences apart, so that cutting down keeps to one."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind, self.text = kind, text


class Case:
    """A check of a query over tables. `about` is what the check needs to
    know: of a change the table and its letters, of totals the columns;
    `settings` are how vdbq works."""

    def __init__(self, tables, views, check, node, about=None, settings=()):
        self.tables, self.views, self.check, self.node = tables, views, check, node
        self.about, self.settings = about, settings

    def copy(self, **changes):
        made = Case(self.tables, self.views, self.check, self.node, self.about, self.settings)
        for name, value in changes.items():
            setattr(made, name, value)
        return made


# --------------------------------------------------------------- compare --

def close(a, b):
    """Whether two cells are the same value; numbers to a billionth."""
    if a == b:
        return True
    if a is None or b is None or isinstance(a, str) or isinstance(b, str):
        return False
    if isinstance(a, int) and isinstance(b, int):
        return False
    return abs(a - b) <= REL * max(1.0, abs(a), abs(b))


def key(row):
    return [(0, 0, '') if v is None else (2, 0, v) if isinstance(v, str)
            else (1, v if isinstance(v, int) else float(f'{v:.11g}'), '') for v in row]


def same(got, wanted, ordered):
    """Whether two answers are the same."""
    if len(got) != len(wanted):
        return False
    if not ordered:
        got, wanted = sorted(got, key=key), sorted(wanted, key=key)
    return all(len(g) == len(w) and all(map(close, g, w)) for g, w in zip(got, wanted))


def from_sqlite(rows, types):
    """DECIMAL is a hundred times as large there."""
    places = [i for i, kind in enumerate(types) if kind == 'M']
    if not places:
        return rows
    return [tuple(v / 100 if i in places and v is not None else v for i, v in enumerate(row))
            for row in rows]


def shown(rows):
    return f'{len(rows)} rows' + ''.join(f'\n    {row}' for row in rows[:12])


def same_or_raise(got, wanted, ordered=False, kind='wrong'):
    if not same(got, wanted, ordered):
        raise Difference(kind, f'expected {shown(wanted)}\n  got {shown(got)}')


# ---------------------------------------------------------------- checks --

def message_kind(message):
    """A message without its names, numbers and place."""
    first = message.split('\n')[0]
    return re.sub(r'"[^"]*"|\'[^\']*\'|\d+', '#', first)


def ask(vdbq, sql):
    """Rows of vdbq."""
    try:
        return vdbq.run(sql)
    except Refused as error:
        message = str(error)
        for pattern in REFUSALS:
            if re.search(pattern, message):
                raise Skipped(message) from None
        raise Difference('refused: ' + message_kind(message), message) from None


def check_peer(case, vdbq, peer):
    try:
        wanted = peer.run(case.node.sql(peer.dialect))
    except Refused:
        return False
    if peer.dialect == 'sqlite':
        wanted = from_sqlite(wanted, result_types(case.node))
    got = ask(vdbq, case.node.sql(''))
    same_or_raise(got, wanted, is_ordered(case.node))
    check_other(case.node.sql(''), vdbq, got)
    return True


def check_other(sql, vdbq, wanted):
    """The other shell gives exactly these rows."""
    if not vdbq.other:
        return
    got = ask(vdbq.other, sql)
    if list(map(repr, got)) != list(map(repr, wanted)):
        raise Difference('another order' if same(got, wanted, False) else 'wrong elsewhere',
                         f'expected {shown(wanted)}\n  got elsewhere {shown(got)}')


def check_change(case, vdbq, peer):
    name, letters = case.about
    try:
        peer.run(case.node.sql(peer.dialect))
    except Refused:
        return False
    wanted = peer.run(f'SELECT * FROM {name}')
    if peer.dialect == 'sqlite':
        wanted = from_sqlite(wanted, letters)
    for shell in (vdbq, vdbq.other):
        if shell:
            ask(shell, case.node.sql(''))
    got = ask(vdbq, f'SELECT * FROM {name}')
    same_or_raise(got, wanted, False, 'wrong table')
    check_other(f'SELECT * FROM {name}', vdbq, got)
    return True


def check_tlp(case, vdbq, peer):
    """case.node has the parts items, source and condition."""
    items, source, condition = (part.sql('') for part in case.node.parts)
    parts = []
    for template in ('{}', 'NOT ({})', '({}) IS NULL'):
        parts += ask(vdbq, f'SELECT {items} FROM {source} WHERE {template.format(condition)}')
    same_or_raise(parts, ask(vdbq, f'SELECT {items} FROM {source}'), False, 'not a partition')
    return True


def check_tlp_totals(case, vdbq, peer):
    """Sums and extremes of the parts make those of the whole."""
    _, source, condition = (part.sql('') for part in case.node.parts)
    numbers = [c for c in case.about if c.type == 'I' and c.bound < 2**40][:2]
    others = [c for c in case.about if c.type in 'DTYI'][:2]
    asked = ['count(*)'] + [f'sum({c.sql("")})' for c in numbers] + \
        [f'{word}({c.sql("")})' for c in others for word in ('min', 'max')]
    ways = [total] * (1 + len(numbers)) + [least, most] * len(others)
    query = f'SELECT {", ".join(asked)} FROM {source}'
    rows = [ask(vdbq, f'{query} WHERE {template.format(condition)}')[0]
            for template in ('{}', 'NOT ({})', '({}) IS NULL')]
    together = tuple(way([row[i] for row in rows]) for i, way in enumerate(ways))
    same_or_raise([together], ask(vdbq, query), False, 'totals not a partition')
    return True


def total(values):
    known = [v for v in values if v is not None]
    return sum(known) if known else None


def byte_order(value):
    return value.encode() if isinstance(value, str) else value


def least(values):
    return min((v for v in values if v is not None), key=byte_order, default=None)


def most(values):
    return max((v for v in values if v is not None), key=byte_order, default=None)


def check_norec(case, vdbq, peer):
    _, source, condition = (part.sql('') for part in case.node.parts)
    count = ask(vdbq, f'SELECT count(*) FROM {source} WHERE {condition}')
    values = ask(vdbq, f'SELECT {condition} FROM {source}')
    same_or_raise(count, [(sum(1 for row in values if row[0]),)], False, 'optimised')
    return True


CHECKS = {'peer': check_peer, 'change': check_change, 'tlp': check_tlp,
          'totals': check_tlp_totals, 'norec': check_norec}


def parted(items, source, condition):
    """The node of a case of TLP and NoREC."""
    return Node('SELECT {0} FROM {1} WHERE {2}', items, source, condition)

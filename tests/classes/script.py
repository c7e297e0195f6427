# SPDX-License-Identifier: MIT
"""A script: statements that make tables, and those whose answers must agree."""


class Query:
    """A statement. `peer` is the same in sqlite3, None where it means something
    else there; `ordered`: its rows come in the order that it says; `planned`: what
    comes first follows from the plan, which hangs on where tablets end, too;
    `model`: statements whose answers, one behind the other up to the first error
    or to `limit` rows, are its answer."""

    def __init__(self, sql, peer=None, ordered=False, planned=False, model=None, limit=None):
        self.sql, self.peer, self.ordered, self.planned = sql, peer, ordered, planned
        self.model, self.limit = model, limit


class Script:
    def __init__(self, setup, queries, peer_setup=()):
        self.setup, self.queries, self.peer_setup = setup, queries, peer_setup


def listed(values):
    return ', '.join(values)


def insert(name, rows):
    """An INSERT of rows of SQL values; nothing where there is none."""
    return [f'INSERT INTO {name} VALUES ' + listed(f'({listed(row)})' for row in rows)] \
        if rows else []

# SPDX-License-Identifier: MIT
"""Makes a case with a difference as small as can be found in a while."""
import time

from .checks import CHECKS, Difference, Skipped
from .engines import Died, Refused
from .nodes import smaller


def difference(case, vdbq, peer):
    """(kind, text) of what is wrong with a case in databases of its own, or None."""
    try:
        peer.reset(case.tables, case.views)
        vdbq.reset(case.tables, case.views, case.settings)
        CHECKS[case.check](case, vdbq, peer)
    except Difference as found:
        return found.kind, found.text
    except Died as death:
        return 'died', str(death)
    except Skipped:
        return None
    except Refused as error:
        return 'set-up', str(error)
    return None


class Reducer:
    """Tries smaller cases until the time is up."""

    def __init__(self, vdbq, peer, kind, seconds):
        self.vdbq, self.peer, self.kind = vdbq, peer, kind
        self.end = time.monotonic() + seconds

    def still(self, case):
        if time.monotonic() > self.end:
            return False
        found = difference(case, self.vdbq, self.peer)
        return found is not None and found[0] == self.kind

    def reduce(self, case):
        before = None
        while before != self.measure(case) and time.monotonic() < self.end:
            before = self.measure(case)
            case = self.fewer_tables(case)
            case = self.fewer_rows(case)
            case = self.smaller_query(case)
            case = self.smaller_views(case)
            case = self.fewer_columns(case)
            case = self.plain_tables(case)
        return case

    @staticmethod
    def measure(case):
        return (case.node.size(), len(case.node.sql('')), [n.sql('') for _, n in case.views],
                sum(len(t.rows) * len(t.columns) + 1 for t in case.tables), case.settings)

    def fewer_tables(self, case):
        for name in ('views', 'tables'):
            for i in reversed(range(len(getattr(case, name)))):
                kept = list(getattr(case, name))
                del kept[i]
                made = case.copy(**{name: kept})
                case = made if self.still(made) else case
        return case

    def fewer_rows(self, case):
        for i in range(len(case.tables)):
            size = len(case.tables[i].rows)
            while size > 0:
                at = 0
                while at < len(case.tables[i].rows):
                    rows = case.tables[i].rows
                    made = self.with_table(case, i, case.tables[i].columns,
                                           rows[:at] + rows[at + size:])
                    if self.still(made):
                        case = made
                    else:
                        at += size
                size //= 2
        return case

    @staticmethod
    def with_table(case, i, columns, rows):
        tables = list(case.tables)
        tables[i] = tables[i].changed(columns=columns, rows=rows)
        return case.copy(tables=tables)

    def smaller_query(self, case):
        return self.cut(case, case.node, lambda case, node: case.copy(node=node))

    def smaller_views(self, case):
        for i, (name, node) in enumerate(case.views):
            case = self.cut(case, node, lambda case, cut, i=i, name=name: case.copy(
                views=[*case.views[:i], (name, cut), *case.views[i + 1:]]))
        return case

    def cut(self, case, node, placed):
        """The case with a node cut down as far as it goes."""
        progress = True
        while progress and time.monotonic() < self.end:
            progress = False
            for smaller_node in smaller(node):
                if len(smaller_node.sql('')) >= len(node.sql('')):
                    continue
                made = placed(case, smaller_node)
                if self.still(made):
                    case, node, progress = made, smaller_node, True
                    break
        return case

    def fewer_columns(self, case):
        for i in range(len(case.tables)):
            for c in reversed(range(len(case.tables[i].columns))):
                table = case.tables[i]
                if len(table.columns) == 1 or case.check == 'change':
                    break
                columns = table.columns[:c] + table.columns[c + 1:]
                rows = [row[:c] + row[c + 1:] for row in table.rows]
                made = self.with_table(case, i, columns, rows)
                case = made if self.still(made) else case
        return case

    def plain_tables(self, case):
        """Without indexes, and as vdbq works by itself."""
        for i, table in enumerate(case.tables):
            for name in ('indexed', 'unique'):
                made = case.copy(tables=[*case.tables[:i], table.changed(**{name: ()}),
                                         *case.tables[i + 1:]])
                if getattr(table, name) and self.still(made):
                    case, table = made, made.tables[i]
        made = case.copy(settings=())
        return made if case.settings and self.still(made) else case

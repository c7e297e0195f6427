# SPDX-License-Identifier: MIT
"""Random changes that know other rows: ON CONFLICT, UPDATE ... FROM, DELETE ...
USING, SET of several columns, WITH in front, and RETURNING behind any change.

sqlite3 has no USING: there it is an EXISTS. A row is matched once: what FROM has
is grouped by the column that is compared.
"""
from .changing import Keys, Update
from .nodes import Node, listed
from .tables import COLUMNS

ORDERED = 'IDT'     # kinds of columns whose max() and min() all engines find


class Upserts:
    """Changes of one state of the schema, made by a Changes."""

    def __init__(self, changes):
        self.changes, self.rng, self.schema = changes, changes.rng, changes.schema

    def make(self):
        """A change, and the letters of what it returns, or None."""
        made = self.rng.choice((self.upsert, self.upsert, self.update_from, self.delete_using,
                                self.set_row, self.with_first, self.plain))()
        if made is None:
            return None
        node, shape = made
        if self.rng.random() < 0.4 and not isinstance(node, Update):
            return self.returning(node, shape)
        return node, None

    # ---------------------------------------------------------- ON CONFLICT --

    def upsert(self):
        changes, rng = self.changes, self.rng
        shape = changes.table()
        targets = [columns for columns in (*shape.unique, shape.key) if columns]
        if rng.random() < 0.6:
            rows = changes.insert_values(shape, 'INSERT OR IGNORE')
        else:
            rows = changes.insert_select(shape, 'INSERT OR IGNORE')
        if not rows.template.startswith('INSERT OR IGNORE'):
            return None
        head = rows.template.replace('INSERT OR IGNORE', 'INSERT')
        chosen = rng.choice(targets) if targets else ()
        target = list(chosen)
        rng.shuffle(target)
        named = chosen.target if isinstance(chosen, Keys) else f'({", ".join(target)})'
        clause, parts = self.conflict(shape, named if target else '', len(rows.parts))
        return Node(head + clause, *rows.parts, *parts), shape

    def conflict(self, shape, target, first):
        """The clause, with its parts' holes from number `first` on."""
        rng = self.rng
        if not target or rng.random() < 0.3:
            named = f' {target}' if target and rng.random() < 0.7 else ''
            return f' ON CONFLICT{named} DO NOTHING', ()
        scope = self.changes.scope(shape)
        columns = [c for c in shape.nodes() if rng.random() < 0.3
                   or c.template not in shape.keyed()]
        chosen = rng.sample(columns, min(len(columns), rng.choice((1, 1, 2))))
        if not chosen:
            return f' ON CONFLICT {target} DO NOTHING', ()
        sets = [Node(f'{c.template} = {{0}}', self.set_value(c, shape, scope)) for c in chosen]
        column = rng.choice(shape.columns)
        where = Node(rng.choice((
            '', '', f' WHERE excluded.{column} IS NOT NULL',
            f' WHERE {shape.name}.{column} IS NOT excluded.{column}',
            f' WHERE {column} < excluded.{column}')))
        return (f' ON CONFLICT {target} DO UPDATE SET {{{first}}}{{{first + 1}}}',
                (listed(sets), where))

    def set_value(self, column, shape, scope):
        name, kind = column.template, column.type
        choices = [f'excluded.{name}', f'coalesce(excluded.{name}, {shape.name}.{name})']
        if kind == 'I':
            choices += [f'min({name}, excluded.{name})', f'{name} + 1']
        if kind == 'T':
            choices.append(f'substr({name} || excluded.{name}, 1, 60)')
        if self.rng.random() < 0.7:
            return Node(self.rng.choice(choices), type=kind)
        return self.changes.value_for(column, shape, scope)

    # -------------------------------------------------------------- others --

    def pair(self):
        """A table, another one (or itself), and a column of one kind in both."""
        shape = self.changes.table()
        other = self.rng.choice(list(self.schema.tables.values()))
        shared = [c for c in shape.columns if c in other.columns and COLUMNS[c][0] in ORDERED]
        return (shape, other, self.rng.choice(shared)) if shared else None

    def settable(self, shape, other):
        free = [c for c in shape.columns if c in other.columns and c not in shape.keyed()
                and c not in shape.needed and COLUMNS[c][0] in ORDERED]
        self.rng.shuffle(free)
        return free[:2]

    def update_from(self):
        pair = self.pair()
        free = self.settable(*pair[:2]) if pair else ()
        if not free:
            return None
        shape, other, key = pair
        grouped = ', '.join([f'{key} AS g', *(f'max({c}) AS m{c}' for c in free)])
        alias = self.rng.choice(('', ' AS q'))
        name = 'q' if alias else shape.name
        sets = [Node(f'{c} = r.m{c}') for c in free]
        return Node(f'UPDATE {shape.name}{alias} SET {{0}} FROM (SELECT {grouped} FROM '
                    f'{other.name} GROUP BY {key}) AS r WHERE r.g = {name}.{key}',
                    listed(sets)), shape

    def delete_using(self):
        pair = self.pair()
        if pair is None:
            return None
        shape, other, key = pair
        same = f'u.{key} = {shape.name}.{key}'
        bound = self.rng.randrange(self.changes.values.last + 1)
        if 'p' in other.columns:
            same += f' AND u.p % 7 = {bound % 7}'
        return Node({'': f'DELETE FROM {shape.name} USING {other.name} AS u WHERE {same}',
                     'sqlite': f'DELETE FROM {shape.name} WHERE EXISTS (SELECT 1 FROM '
                               f'{other.name} AS u WHERE {same})'}), shape

    def set_row(self):
        pair = self.pair()
        free = self.settable(*pair[:2]) if pair else ()
        if not free:
            return None
        shape, other, key = pair
        values = ', '.join(f'{self.rng.choice(("max", "min"))}(v.{c})' for c in free)
        return Node(f'UPDATE {shape.name} SET ({", ".join(free)}) = (SELECT {values} FROM '
                    f'{other.name} AS v WHERE v.{key} = {shape.name}.{key}) {{0}}',
                    self.changes.where(shape, self.changes.scope(shape))), shape

    def with_first(self):
        pair = self.pair()
        if pair is None:
            return None
        shape, other, key = pair
        names = f'WITH n(g) AS (SELECT max({key}) FROM {other.name})'
        free = self.settable(shape, shape)
        if free and self.rng.random() < 0.5:
            return Node(f'{names} UPDATE {shape.name} SET {free[0]} = NULL '
                        f'WHERE {key} IN (SELECT g FROM n)'), shape
        return Node(f'{names} DELETE FROM {shape.name} WHERE {key} IN (SELECT g FROM n)'), shape

    def plain(self):
        shape = self.changes.table()
        scope = self.changes.scope(shape)
        if self.rng.random() < 0.3:
            return self.changes.delete(shape), shape
        if self.rng.random() < 0.5:
            return self.changes.insert_values(shape, self.rng.choice(('INSERT', 'REPLACE'))), shape
        free = [c for c in shape.nodes() if c.template not in shape.keyed()]
        if not free:
            return None
        column = self.rng.choice(free)
        return Node(f'UPDATE {shape.name} SET {column.template} = {{0}} {{1}}',
                    self.changes.new_value(column, shape, scope),
                    self.changes.where(shape, scope)), shape

    def returning(self, node, shape):
        columns = self.rng.sample(shape.columns, self.rng.randrange(1, len(shape.columns) + 1))
        return (Node(f'{{0}} RETURNING {", ".join(columns)}', node),
                [COLUMNS[c][0] for c in columns])

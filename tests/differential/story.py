# SPDX-License-Identifier: MIT
"""One random history, made step by step while sqlite3 follows, so that each
step fits what the database then is."""
from .changing import ROWS_MANY, TEMPORARY, Changes, Keys, Schema, Values
from .engines import Refused, some_settings
from .history import Step
from .nodes import Node
from .subqueries import renamed
from .tables import COLUMNS
from .upserts import Upserts

CASTS = (('a0',), ('a0',), ('a0', 'a1'), ('a0', 'b0'), ('a0', 'a1', 'b0'))
ROWS_OF_TABLETS = ('0', '1', '2', '3', '7', '16', '31', '63', '64', '65')
BEGIN = Node({'': 'BEGIN', 'sqlite': 'BEGIN IMMEDIATE'})
WORDS_OF_SAVEPOINTS = ('SAVEPOINT', 'SAVEPOINT', 'SAVEPOINT', 'RELEASE', 'RELEASE SAVEPOINT',
                       'ROLLBACK TO', 'ROLLBACK TO SAVEPOINT', 'ROLLBACK TRANSACTION TO')
TABLES_MAX, VIEWS_MAX, INDEXES_MAX = 6, 3, 4


class Story:
    """Steps of several parties. A party in a transaction sees `draft`, all
    others what is committed."""

    def __init__(self, rng, history, options):
        self.rng, self.history, self.options = rng, history, options
        self.cast = rng.choice(CASTS)
        self.party, self.writer = self.cast[0], None
        # Tables, and all views; where others open what becomes of the database, they are gone.
        self.temporary = len(self.cast) == 1 and rng.random() < 0.4 and not options.parts
        self.committed, self.draft = Schema(), None
        self.savepoints = []  # open ones: (name, what the schema was), the newest last
        self.values, self.steps = Values(rng), []

    def run(self, length):
        """Makes and runs that many steps."""
        for process in dict.fromkeys(party[0] for party in self.cast):
            self.do(self.opening(process))
        while len(self.steps) < length:
            self.next()
        if self.writer:
            self.end_transaction('COMMIT')
        self.look_everywhere()
        self.history.flush()

    # ---------------------------------------------------------------- steps --

    def do(self, step):
        self.steps.append(step)
        return self.history.step(step)

    def change(self, node):
        return self.do(Step('change', self.party, node))

    def opening(self, process):
        settings = dict(some_settings(self.rng, self.options.device))
        settings['VDBQ_TABLET_ROWS'] = self.rng.choice(ROWS_OF_TABLETS)
        return Step('open', f'{process}0', settings=tuple(settings.items()))

    @property
    def schema(self):
        """What the party at hand sees."""
        return self.draft if self.writer == self.party else self.committed

    def count(self, name):
        """Rows of a table or view as the party at hand sees it."""
        try:
            return self.history.peers.run(self.party, f'SELECT count(*) FROM {name}')[0][0]
        except Refused:
            return 10**6  # a view over so many rows that sqlite3 gave up

    def changes(self):
        return Changes(self.rng, self.values, self.schema, self.count)

    def next(self):
        """One thing that somebody does."""
        if self.rng.random() < 0.12:
            self.party = self.rng.choice(self.cast)
        chance = self.rng.random()
        if not self.schema.tables:
            self.create_table() if self.may_write() else self.end_other()
        elif chance < 0.003:
            self.come_and_go()
        elif self.options.parts and self.writer is None and chance < 0.015:
            self.distribute()
        elif chance < 0.13:
            self.transaction()
        elif self.writer not in (None, self.party) and chance < 0.9:
            self.query()
        elif chance < 0.20:
            self.change_schema()
        elif chance < 0.72:
            self.change_rows()
        else:
            self.query()

    def may_write(self):
        return self.writer in (None, self.party)

    def end_other(self):
        """Nobody else can do anything useful."""
        self.party = self.writer
        self.end_transaction(self.rng.choice(('COMMIT', 'ROLLBACK')))

    # ---------------------------------------------------------- transactions --

    def transaction(self):
        if self.writer is None:
            if self.change(BEGIN):
                self.writer, self.draft = self.party, self.committed.copy()
                self.savepoints = []
        elif self.writer == self.party and self.rng.random() < 0.7:
            self.save_or_return()
        elif self.writer == self.party:
            self.end_transaction(self.rng.choice(('COMMIT', 'COMMIT', 'ROLLBACK')))
        else:
            self.change(self.rng.choice((BEGIN, Node('COMMIT'))))

    def end_transaction(self, word):
        self.party = self.writer
        if self.change(Node(word)) and word == 'COMMIT':
            self.committed = self.draft
        self.writer = self.draft = None
        self.look_everywhere()

    def save_or_return(self):
        """SAVEPOINT, RELEASE or ROLLBACK TO, at times of a savepoint that there is not.
        Names come again, also while one of that name is open."""
        word, name = self.rng.choice(WORDS_OF_SAVEPOINTS), self.rng.choice('pqr')
        open_ones = [one for one, _ in self.savepoints]
        if word != 'SAVEPOINT' and open_ones and self.rng.random() < 0.8:
            name = self.rng.choice(open_ones)
        if not self.change(Node(f'{word} {name}')):
            return
        if word == 'SAVEPOINT':
            self.savepoints.append((name, self.draft.copy()))
            return
        at = max(i for i, one in enumerate(open_ones) if one == name)
        if word.startswith('ROLLBACK'):
            self.draft = self.savepoints[at][1].copy()
            self.look_everywhere()
        del self.savepoints[at + word.startswith('ROLLBACK'):]

    def lose(self, process):
        """What a process had not committed when it ended is gone."""
        if self.writer and self.writer[0] == process:
            self.writer = self.draft = None
        if self.temporary:
            self.committed = self.committed.kept()

    def come_and_go(self):
        """A process ends, or dies in the middle of a statement, and comes again."""
        process = self.party[0]
        if self.rng.random() < 0.5:
            self.do(Step('quit', self.party))
            self.do(self.opening(process))
            self.lose(process)
        else:
            self.die(process)
        self.look_everywhere()

    def distribute(self):
        """The database becomes part files, in which each table lies anyhow; all processes
        come again."""
        words = []
        for name, shape in self.schema.tables.items():
            keys = [c for c in shape.columns if COLUMNS[c][0] in 'IYT']
            how = self.rng.choice(('', 'broadcast', 'hash', 'hash', 'hash'))
            if how == 'broadcast':
                words.append(name)
            elif how == 'hash' and keys:
                chosen = self.rng.sample(keys, self.rng.randrange(1, min(3, len(keys)) + 1))
                words.append(f'{name} by hash ({", ".join(chosen)})')
        self.do(Step('parts', self.party, letters=' '.join(words),
                     settings=self.opening('a').settings))
        for process in dict.fromkeys(party[0] for party in self.cast):
            self.do(self.opening(process))
            self.lose(process)
        self.look_everywhere()

    def die(self, process):
        node = Node('COMMIT') if self.writer == self.party and self.rng.random() < 0.5 else \
            self.row_change()
        commits = node.template == 'COMMIT'
        step = Step('kill', self.party, node, settings=self.opening(process).settings,
                    delay=self.rng.choice((0, 0.0002, 0.0005, 0.001, 0.002)))
        if self.do(step) and commits:
            self.committed = self.draft
        self.lose(process)

    # --------------------------------------------------------------- changes --

    def row_change(self):
        changes, chance = self.changes(), self.rng.random()
        if chance < 0.5:
            return changes.insert()
        return changes.update() if chance < 0.8 else changes.delete()

    def change_rows(self):
        made = Upserts(self.changes()).make() if self.rng.random() < 0.35 else None
        if made and made[1]:
            self.do(Step('read', self.party, *made))
        else:
            self.change(made[0] if made else self.row_change())
        if self.rng.random() < 0.4:
            self.query()
        for name in list(self.schema.tables):
            if self.rng.random() < 0.1 and self.count(name) > ROWS_MANY:
                self.change(self.changes().delete(self.schema.tables[name]))

    def query(self):
        what, node, letters = self.changes().query()
        self.do(Step(what, self.party, node, letters))

    def look_everywhere(self):
        """All tables, as all parties see them."""
        before = self.party
        for self.party in self.cast:
            for shape in list(self.schema.tables.values()):
                what, node, letters = Changes.whole(shape)
                self.do(Step(what, self.party, node, letters))
        self.party = before

    # ---------------------------------------------------------------- schema --

    def change_schema(self):
        if not self.may_write():
            return
        schema, chance = self.schema, self.rng.random()
        if chance < 0.3 and len(schema.tables) < TABLES_MAX:
            self.create_table()
        elif chance < 0.4:
            self.drop_table()
        elif chance < 0.5:
            self.alter_table()
        elif chance < 0.6 and len(schema.views) < VIEWS_MAX:
            self.create_view()
        elif chance < 0.7 and schema.views:
            name = self.rng.choice(list(schema.views))
            if self.change(Node(f'DROP VIEW {name}')):
                del schema.views[name]
        elif chance < 0.9 and len(schema.indexes) < INDEXES_MAX:
            self.create_index()
        elif schema.indexes:
            self.drop_index(self.rng.choice(list(schema.indexes)))

    def free_name(self, letter, known):
        free = [f'{letter}{i}' for i in range(9) if f'{letter}{i}' not in known]
        return self.rng.choice(free[:3])

    def create_table(self):
        schema, changes = self.schema, self.changes()
        own = self.temporary and self.rng.random() < 0.6
        name = self.free_name(TEMPORARY if own else 't', schema.tables)
        node, shape = changes.new_table_as(name) if schema.tables and self.rng.random() < 0.4 \
            else changes.new_table(name, self.options.columns)
        if self.change(self.made_temporary(node) if own else node):
            schema.tables[name] = shape

    def made_temporary(self, node):
        """CREATE TEMP in the place of CREATE."""
        word = self.rng.choice(('CREATE TEMP ', 'CREATE TEMP ', 'CREATE TEMPORARY '))
        templates = node.template if isinstance(node.template, dict) else {'': node.template}
        return Node({dialect: template.replace('CREATE ', word, 1)
                     for dialect, template in templates.items()}, *node.parts)

    def drop_views(self):
        schema = self.schema
        for view in list(schema.views):
            self.change(Node(f'DROP VIEW {view}'))
            del schema.views[view]

    def alter_table(self):
        """Views may be over it: they go first. What it looked like is read at once."""
        self.drop_views()
        schema, changes = self.schema, self.changes()
        shape = changes.table()
        indexes = [columns for table, columns, _ in schema.indexes.values()
                   if table == shape.name]
        node, made = changes.alteration(shape, self.free_name(shape.name[0], schema.tables),
                                        indexes, self.options.columns)
        if not self.change(node):
            return
        column = dict(zip(shape.columns, made.columns)) \
            if len(shape.columns) == len(made.columns) else {}
        del schema.tables[shape.name]
        schema.tables[made.name] = made
        for name, (table, columns, unique) in list(schema.indexes.items()):
            if table == shape.name:
                if not isinstance(columns, Keys):
                    columns = tuple(column.get(c, c) for c in columns)
                schema.indexes[name] = (made.name, columns, unique)
        what, node, letters = Changes.whole(made)
        self.do(Step(what, self.party, node, letters))

    def drop_table(self):
        """Views may be over it: they go first."""
        schema = self.schema
        self.drop_views()
        name = self.rng.choice(list(schema.tables))
        if self.change(Node(f'DROP TABLE {name}')):
            del schema.tables[name]
            schema.indexes = {i: about for i, about in schema.indexes.items()
                              if about[0] != name}

    def create_view(self):
        schema = self.schema
        name = self.free_name('v', schema.views)
        node, columns = self.changes().new_view(name)
        if self.change(self.made_temporary(node) if self.temporary else node):
            schema.views[name] = [renamed(c, c.template) for c in columns]
            if self.count(name) > 1000:
                self.change(Node(f'DROP VIEW {name}'))
                del schema.views[name]

    def create_index(self):
        schema = self.schema
        name = self.free_name('x', schema.indexes)
        node, shape, columns, unique = self.changes().new_index(name)
        if self.change(node):
            schema.indexes[name] = (shape.name, columns, unique)
            if unique:
                schema.tables[shape.name] = shape.indexed((*shape.unique, columns))

    def drop_index(self, name):
        schema = self.schema
        if self.change(Node(f'DROP INDEX {name}')):
            table, columns, unique = schema.indexes.pop(name)
            if unique:
                kept = list(schema.tables[table].unique)
                kept.remove(columns)
                schema.tables[table] = schema.tables[table].indexed(tuple(kept))

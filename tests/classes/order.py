# SPDX-License-Identifier: MIT
"""Tables that were filled in the order of a key, or nearly: each key once or many
times, one with half of the rows, a key or a NULL out of order somewhere."""
from .script import Query, Script, insert

AGGREGATES = ('count(*)', 'count(v)', 'sum(v)', 'min(s)', 'max(d)', 'avg(v)', 'sum(d)',
              'count(DISTINCT v)', 'count(*) FILTER (WHERE v > 2)')


class Order:
    def __init__(self, rng):
        self.rng = rng

    def keys(self):
        """The keys of a table's rows."""
        rng = self.rng
        count, each = rng.choice((1, 7, 90, 700, 2500)), rng.choice((1, 1, 2, 4, 60))
        keys = [row // each - count // 5 for row in range(count)]
        place = rng.randrange(count)
        if rng.random() < 0.25:
            keys[place] = rng.choice((None, -10 ** 6, 10 ** 6, keys[0]))
        if rng.random() < 0.2:
            keys[:count // 2] = [keys[0]] * (count // 2)
        return keys

    def row(self, key):
        rng = self.rng
        return ('NULL' if key is None else str(key), str(rng.randrange(7)),
                rng.choice(("'a'", "'b'", 'NULL')), rng.choice(('0.5', '-1.25', 'NULL')))

    def table(self, name):
        kind = self.rng.choice(('INTEGER', 'BIGINT'))
        rows = [self.row(key) for key in self.keys()]
        return [f'CREATE TABLE {name} (k {kind}, v INTEGER, s TEXT, d DOUBLE)'] + insert(name, rows)

    def query(self):
        rng = self.rng
        calls = ', '.join(rng.sample(AGGREGATES, rng.randrange(1, 4)))
        key = rng.choice(('k', 'k', 'k', 'k', 'k / 2', 'k, v', 'k + v'))
        where = rng.choice(('', '', ' WHERE v <> 3', ' WHERE k > 10', ' WHERE s IS NULL'))
        source = rng.choice(('t', 't', 'u', '(SELECT * FROM t UNION ALL SELECT * FROM u) x',
                             '(SELECT * FROM u ORDER BY k, v, s, d) x'))
        having = rng.choice(('', '', ' HAVING count(*) > 1'))
        sql = f'SELECT {key}, {calls} FROM {source}{where} GROUP BY {key}{having}'
        return Query(sql, peer=sql)

    def script(self, queries):
        setup = self.table('t') + self.table('u')
        return Script(setup, [self.query() for _ in range(queries)], setup)

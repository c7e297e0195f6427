# SPDX-License-Identifier: MIT
"""Random queries of few rows, and of what a table of many rows has for them: what
the planner does only where it expects that it pays."""
from .queries import AGGREGATES

FEW = 'few (k INTEGER, d DOUBLE, s TEXT, x INTEGER)'
MANY = 'many (id INTEGER{}, k INTEGER, d DOUBLE, s TEXT, w INTEGER)'
KEYS = ('k', 'k', 'd', 's')


def statements(rng, rows):
    """What makes both tables; `rows`: of the one of many."""
    key = rng.choice(('', ' PRIMARY KEY'))
    values, words = rng.choice((400, 4000)), rng.choice((90, 900, 9000))
    digits = ', '.join(f'({digit})' for digit in range(10))
    yield 'CREATE TABLE digits (n INTEGER)'
    yield f'INSERT INTO digits VALUES {digits}'
    yield f'CREATE TABLE {MANY.format(key)}'
    yield (f"INSERT INTO many SELECT id, nullif(id * 7 % {values}, 13), id % 1500 / 4.0, CASE WHEN "
           f"id % 11 = 0 THEN NULL ELSE 'w' || (id % {words}) END, id % 13 FROM (SELECT a.n + "
           '10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n AS id FROM digits a, digits b, '
           f'digits c, digits d, digits e) q WHERE id < {rows} ORDER BY id')
    for index in rng.choice(((), (), ('k',), ('s, k', 'd'))):
        yield f'CREATE INDEX many_{index[0]} ON many ({index})'
    yield f'CREATE TABLE {FEW}'
    rows = [few_row(rng) for _ in range(rng.choice((0, 1, 3, 7)))]
    if rows:
        yield f'INSERT INTO few VALUES {", ".join(rows)}'


def few_row(rng):
    k, d, s = (rng.choice((None, value)) if rng.random() < 0.3 else value for value in (
        rng.choice((7, 13, 21, 140, 99999)), rng.randrange(8) / 4,
        rng.choice(("'w7'", "'w21'", "'none'"))))
    values = [k, d, s, rng.randrange(13)]
    return '(' + ', '.join('NULL' if v is None else str(v) for v in values) + ')'


class Queries:
    def __init__(self, rng):
        self.rng = rng

    def statement(self):
        return self.rng.choice((self.of_groups, self.of_groups, self.of_rows, self.of_values,
                                self.of_sets, self.of_pairs, self.of_all_pairs, self.of_first,
                                self.of_partitions, self.of_quantiles, self.of_rollups,
                                self.of_keys, self.of_keys, self.of_keys,
                                self.of_calls, self.of_calls, self.of_looks, self.of_looks,
                                self.of_modes, self.of_bands, self.of_tagged, self.of_chosen,
                                self.of_sunk,
                                self.of_called, self.of_called))(
                                    self.rng.choice(KEYS))

    def some(self, *texts):
        return self.rng.choice(texts)

    def aggregate(self, own):
        return self.rng.choice(AGGREGATES).format(f'{own}.{self.some("w", "id")}')

    def test(self, own):
        """A condition on the rows of many, or none."""
        return self.some('', '', f'{own}.w > {self.rng.randrange(13)}', f'{own}.s IS NOT NULL',
                         f"{own}.s < 'w5'", f'{own}.id < {self.rng.randrange(20000)}')

    @staticmethod
    def where(*tests):
        known = [test for test in tests if test]
        return ' WHERE ' + ' AND '.join(known) if known else ''

    def few(self):
        return self.some('', '', f'f.x > {self.rng.randrange(13)}', 'f.s IS NULL')

    def of_groups(self, key):
        more = self.some('', '', ', m.w')
        return (f'SELECT f.x, f.k, g.* FROM few f {self.some("", "", "LEFT ")}JOIN '
                f'(SELECT m.{key}{more}, {self.aggregate("m")} AS a, {self.aggregate("m")} AS b '
                f'FROM many m{self.where(self.test("m"))} GROUP BY m.{key}{more}'
                f'{self.some("", "", " HAVING count(*) > 2")}) g ON f.{key} = g.{key}'
                f'{" AND g.w <> f.x" if more and self.some(0, 1) else ""}'
                + self.where(self.few()))

    def of_rows(self, key):
        inner = self.some(
            f'SELECT DISTINCT m.{key}, m.w FROM many m{self.where(self.test("m"))}',
            f'SELECT m.{key}, row_number() OVER (PARTITION BY m.{key} ORDER BY m.id) AS w '
            f'FROM many m{self.where(self.test("m"))}',
            f'SELECT m.{key}, m.w FROM many m UNION SELECT m.{key}, m.w + 1 FROM many m',
            f'SELECT m.{key}, m.id AS w FROM many m ORDER BY m.w, m.id LIMIT 9000')
        return (f'SELECT f.x, g.w FROM few f JOIN ({inner}) g ON f.{key} = g.{key}'
                + self.where(self.few(), self.some('', 'g.w <> f.x')))

    def of_values(self, key):
        return (f'SELECT f.x, (SELECT {self.aggregate("m")} FROM many m'
                + self.where(f'm.{key} = f.{key}', self.test('m'), self.some('', 'm.w <> f.x'))
                + ') AS a FROM few f' + self.where(self.few()))

    def of_sets(self, key):
        return (f'SELECT f.x, f.k FROM few f WHERE f.{key} {self.some("", "NOT ")}IN (SELECT '
                f'm.{key} FROM many m' + self.where(self.test('m'), self.some('', 'm.w = f.x'))
                + f'{self.some("", f" GROUP BY m.{key}")})')

    def of_partitions(self, key):
        """A few partitions of many."""
        value = {'k': 140, 'd': 1.5, 's': "'w21'"}[key]
        return (f'SELECT * FROM (SELECT m.{key}, m.id, m.w, row_number() OVER (PARTITION BY '
                f'm.{key} ORDER BY m.id) AS r FROM many m{self.where(self.test("m"))}) g'
                + self.where(f'g.{key} {self.some("=", "<")} {value}', self.some('', 'g.r < 3')))

    def of_quantiles(self, key):
        """Of groups, with nothing else or with another aggregate; mostly few rows come of it."""
        value = self.some('m.w', 'm.id', 'm.k', 'm.d')
        more = self.some('', '', f', {self.aggregate("m")}', ', m.w', f', min(m.{key})')
        keys = self.some(f'm.{key}', f'm.{key}', f'm.{key}, m.w', f'm.w, m.{key}', 'm.w', 'm.w % 3')
        group = self.some(f' GROUP BY {keys}', f' GROUP BY {keys}', '')
        return (f'SELECT {keys + ", " if group else ""}median({value}), '
                f'quantile_disc(m.{self.some("s", "id", "d")}, 0.{self.rng.randrange(1, 10)}), '
                f'quantile_cont({value}, 0.25){more if group else ""} FROM many m'
                + self.where(self.test('m')) + group)

    def of_modes(self, key):
        """What most rows of a group have, with other aggregates or without."""
        value = self.some('m.w', 'm.w', 'm.s', 'm.k', 'm.d', 'm.w % 4', 'upper(m.s)', f'm.{key}')
        keys = self.some('m.w', 'm.w % 3', f'm.{key}', f'm.w, m.{key}')
        narrowed = self.some('', '', ' FILTER (WHERE m.id % 3 = 1)')
        more = self.some('', '', ', count(*)', ', sum(m.id), max(m.s)', ', sum(1000 / (m.w - 3))',
                         ', avg(m.w)', ', count(DISTINCT m.k)', ', bit_xor(m.id), count(m.k)',
                         ', sum(m.id * 4611686018427387904)')
        group = self.some(f' GROUP BY {keys}', f' GROUP BY {keys}', '')
        return (f'SELECT {keys + ", " if group else ""}mode({value}){narrowed}{more} FROM many m'
                + self.where(self.test('m')) + group
                + self.some('', '', ' HAVING count(m.k) > 60'))

    def of_rollups(self, key):
        """Groups of which coarser ones are made."""
        return (f'SELECT m.{key}, m.w, count(*), count(m.k), max(m.id), min(m.s) FROM many m'
                + self.where(self.test('m')) + f' GROUP BY ROLLUP (m.w, m.{key})')

    def of_bands(self, key):
        """Pairs of rows with equal keys of which the ids, or what is made of them, are near."""
        rng = self.rng
        key = self.some('k', 'k', 'w')
        low, wide = rng.randrange(-40, 40), rng.randrange(1, 200)
        own, other = self.some(('m.id', 'n.id'), ('m.id * 2', 'n.id * 2'),
                               ('m.w * 100 + m.id', 'n.id'),
                               ("DATE '2024-01-01' + m.id", "DATE '2023-12-31' + n.id"))
        band = self.some(f'{other} BETWEEN {own} + {low} AND {own} + {low + wide}',
                         f'{other} > {own} - {wide} AND {other} < {own}',
                         f'{own} - {other} < {wide} AND {own} >= {other}',
                         self.band_of_times(wide))
        also = self.some('', '', ' AND n.w <> m.w', ' AND n.k = m.k')
        on = f'n.{key} = m.{key} AND {band}{also}'
        test = self.where(self.test('m'))
        more = test.replace(' WHERE', ' AND')
        return self.some(
            f'SELECT count(*), sum(n.id), min(m.id) FROM many m JOIN many n ON {on}{test}',
            f'SELECT m.w, count(n.id), sum(m.id) FROM many m LEFT JOIN many n ON {on}{test} '
            'GROUP BY m.w',
            f'SELECT count(*), sum(m.id) FROM many m WHERE EXISTS (SELECT 1 FROM many n '
            f'WHERE {on}){more}',
            f'SELECT count(*), sum(m.id) FROM many m WHERE NOT EXISTS (SELECT 1 FROM many n '
            f'WHERE {on}){more}')

    @staticmethod
    def band_of_times(wide):
        """Times of a thousand years, which leave no room for many keys beside them."""
        own, other = (f"TIMESTAMP '2000-01-01 00:00:00' + {name}.id * INTERVAL '20 day'"
                      for name in 'mn')
        return (f"{other} > {own} - INTERVAL '{wide} day' AND {other} <= {own} + "
                f"INTERVAL '{wide * 2} day'")

    def of_tagged(self, key):
        """Parts of a UNION ALL that say which they are, of which others ask for some."""
        kinds = ("'a'", '1'), ("'b'", '2'), ("'c'", 'NULL')
        parts = ' UNION ALL '.join(
            f'SELECT {text} AS tag, {number} AS number, m.{key} AS v, '
            + self.some(f'count(*) AS c FROM many m{self.where(self.test("m"))} GROUP BY m.{key}',
                        f'm.id AS c FROM many m{self.where(self.test("m"))}')
            for text, number in kinds[:self.some(2, 2, 3)])
        test = self.some("tag = 'a'", "tag <> 'b'", "tag > 'b'", 'number = 2', 'number IS NULL',
                         "tag IN ('a', 'c')", "tag = 'd'", "tag = 'b' OR c > 5",
                         "tag || number = 'b2'", '1000 / (number - 2) > 0')
        other = self.some("'a'", "'b'", "'d'")
        if key in ('k', 'd', 's') and self.rng.random() < 0.4:
            more = self.some('', f' AND {test.replace("tag", "t.tag")}' if '(' not in test else '')
            return (f'WITH t AS ({parts}) SELECT count(*), sum(t.c), max(f.k) FROM t, few f '
                    f'WHERE t.v = f.{key}{more}')
        return self.some(
            f'WITH t AS ({parts}) SELECT count(*), sum(c), min(v) FROM t WHERE {test}',
            f'WITH t AS ({parts}) SELECT x.v, sum(x.c), sum(y.c) FROM t x, t y '
            f'WHERE x.v = y.v AND x.{test} AND y.tag = {other} AND x.c < 50 AND y.c < 50 '
            'GROUP BY x.v' if test.startswith('tag') and ' OR ' not in test
            and '||' not in test else
            f'WITH t AS ({parts}) SELECT tag, v, c FROM t WHERE {test} AND c < 50')

    def of_sunk(self, key):
        """Joins whose conditions stand above left joins."""
        kind = self.some('LEFT JOIN', 'LEFT JOIN', 'JOIN')
        tests = [f'm.{key} = f.{key}', self.some('m.id < 900', f'm.w = {self.rng.randrange(13)}',
                                                 'm.w < f.x', '1000 / (m.w - 3) > f.x'),
                 self.some('n.id IS NULL', 'n.w IS NOT NULL OR m.w > 4', 'f.x <> 4', 'n.id > 20')]
        self.rng.shuffle(tests)
        return (f'SELECT count(*), sum(m.id), sum(n.w), max(f.x) FROM few f JOIN many m '
                f'ON {self.some("f.x > 0", "m.id > f.x")} {kind} many n ON n.id = m.w '
                f'{self.some("", "LEFT JOIN few g ON g.x = n.w ")}'
                f'WHERE {" AND ".join(tests[:self.some(2, 3)])}')

    def of_chosen(self, key):
        """Calls of texts that are chosen, of few rows or many."""
        chosen = self.some("coalesce(m.s, '')", "coalesce(m.s, 'none')",
                           "CASE WHEN m.w > 4 THEN m.s ELSE 'x' END",
                           "CASE WHEN 1000 / (m.w - 3) > 9 THEN m.s END")
        call = self.some(f"{chosen} || ', '", f'upper({chosen})', f'length({chosen})',
                         f"upper({chosen} || '-') || m.{key}", f"replace({chosen}, 'w', 'ww')")
        test = self.some(f'm.id < {self.rng.choice((3, 40, 900))}',
                         f'm.w = {self.rng.randrange(13)}')
        return (f'SELECT m.id, {call} AS made FROM many m WHERE {test}'
                + self.some('', ' ORDER BY made, m.id LIMIT 7', ' ORDER BY m.id LIMIT 5',
                            f' AND length({chosen}) > 2'))

    def of_called(self, key):
        """Groups by what is called of few different values, or of many."""
        keys = ', '.join(self.called(key) for _ in range(self.some(1, 1, 2)))
        aggregates = ', '.join(self.some('count(*)', 'count(m.k)', 'sum(m.id)', 'min(m.s)',
                                         'max(m.w)', 'sum(m.d)', 'avg(m.w)',
                                         'sum(m.w) FILTER (WHERE m.id % 3 = 1)',
                                         'sum(1000 / (m.w - 3))', 'count(DISTINCT m.w)',
                                         'sum(m.id * 4611686018427387904)')
                               for _ in range(2))
        group = self.some(f' GROUP BY {keys}', f' GROUP BY {keys}', f' GROUP BY ROLLUP ({keys})')
        return (self.some(f'SELECT {keys}, {aggregates} FROM many m', f'SELECT DISTINCT {keys} '
                          'FROM many m') + self.where(self.test('m')) + group)

    def called(self, key):
        return self.some(f"m.s || m.{key}", "upper(m.s) || '-' || m.w", 'CAST(m.d AS TEXT)',
                         "m.w || '/' || m.w % 4", 'CAST(m.w AS TEXT)', f'm.{key}',
                         "strftime('%Y-%m', DATE '2024-01-01' + m.w * 20)",
                         "CAST(substr(m.s || m.w, 2, 1) AS INTEGER)", 'm.w % 5',
                         "concat_ws(',', m.s, m.w, m.d)")

    def of_keys(self, key):
        """Rows of many that an index may find."""
        rng = self.rng
        value = {'k': rng.randrange(410), 'd': rng.randrange(1500) / 4,
                 's': f"'w{rng.randrange(910)}'"}[key]
        one = f'm.{key} = {value}' if self.some(0, 1) else f'm.{key} IN ({value}, {value})'
        by_id = self.some(f'm.id = {rng.randrange(20000)}',
                          f'm.id BETWEEN {rng.randrange(20000)} AND {rng.randrange(20000)}')
        join = self.some('', '', f'{self.some("", "LEFT ")}JOIN few f ON f.{key} = m.{key}')
        return (f'SELECT m.*{", f.x" if join else ""} FROM many m {join}'
                + self.where(self.some(one, by_id), self.test('m'),
                             self.some('', '1000 / (m.w - 3) > 100')))

    def of_calls(self, key):
        """What is called of texts, for few rows of many."""
        calls = [self.some('upper(m.s)', "m.s || '-'", 'length(m.s) + m.w', 'substr(m.s, 2)',
                           "upper(m.s) || ' ' || m.id", 'CAST(m.s AS DATE)') for _ in range(2)]
        few = self.some(f'm.id % 997 = {self.rng.randrange(9)}',
                        f'm.id < {self.rng.choice((9, 900))}', f'm.w = {self.rng.randrange(13)}')
        called = self.some('', '', 'length(m.s) > 3', "upper(m.s) LIKE '%7%'")
        tests = (self.some('', few, few), called, self.test('m'))
        order = self.some('m.w, m.id', f'm.{key} DESC, m.id', 'upper(m.s), m.id',
                          'reverse(m.s) DESC, m.id')
        end = self.some('', ' LIMIT 5', f' ORDER BY {order} LIMIT {self.some(1, 7, 70)}')
        return (f'SELECT m.{key}, {", ".join(calls)} FROM many m' + self.where(*tests) + end)

    def of_looks(self, key):
        """A look at some of many: what is made of their texts, and asked of these."""
        made = [self.some("m.s || '-' || m.w", 'm.s || m.k', "concat_ws(' ', m.s, m.d)",
                          "replace(m.s, 'w', m.w || '')", 'm.s', 'coalesce(m.s, m.k || m.w)',
                          "CASE WHEN m.w > 5 THEN m.s ELSE upper(m.s) END",
                          "printf('%s %d', m.s, m.w)") for _ in range(2)]
        asked = self.some("m.s LIKE '%7'", "upper(m.s) LIKE 'W%'", 'length(m.s) > 2',
                          "m.s || '-' || m.w LIKE '%-7'", "m.s || 'x' LIKE '%7x'",
                          "m.s = 'w7'", "m.s > 'w7' OR m.w = 3", "m.s LIKE '%no%'")
        order = self.some('', '', f' ORDER BY m.{key}, m.id', ' ORDER BY m.w DESC, m.id')
        cut = order + f' LIMIT {self.some(1, 7, 70)}' + self.some('', ' OFFSET 20')
        where = self.where(self.some('', asked), self.test('m'))
        return self.some(
            f'SELECT m.id, {", ".join(made)} FROM many m{where}{cut}',
            f'SELECT m.id, {", ".join(made)} FROM many m{where}{cut}',
            f'SELECT f.id, EXISTS (SELECT 1 FROM many m{where}) FROM few f{self.where(self.few())}',
            f'SELECT f.id, (SELECT {made[0]} FROM many m{where}{order} LIMIT 1) FROM few f',
            f'SELECT count(*), max(q.a) FROM (SELECT {made[0]} AS a FROM many m{where}{cut}) q')

    def of_first(self, key):
        """The first rows of many, with all that they have."""
        order = self.some('m.w, m.id', f'm.{key} DESC, m.id', 'm.id', 'lower(m.s) DESC, m.id')
        join = self.some('', '', f'{self.some("", "LEFT ")}JOIN few f ON f.{key} = m.{key}')
        return (f'SELECT m.s, m.d, m.w, m.id{", f.x" if join else ""} FROM many m {join}'
                + self.where(self.test('m')) + f' ORDER BY {order}{", f.x" if join else ""} '
                f'LIMIT {self.rng.choice((1, 7, 200))}{self.some("", " OFFSET 3")}')

    def of_pairs(self, key):
        other = self.some('k', 's', 'id')
        return (f'SELECT f.x, m.id, m.w FROM few f {self.some("", "LEFT ")}JOIN many m ON '
                f'm.{key} = f.{key}' + self.where(
                    self.few(), f'{self.some("", "NOT ")}EXISTS (SELECT 1 FROM many o'
                    + self.where(f'o.{other} = m.{other}', self.some('', 'o.w <> m.w'),
                                 self.test('o')) + ')'))

    def of_all_pairs(self, _key):
        """Of many and some of them, with a condition that computes something of these alone."""
        value = self.some('floor(f.d)', 'sqrt(f.w)', f'(f.id & {self.rng.randrange(1, 9)})')
        test = self.some(f'm.w * {value} = {self.rng.choice((6, 12))}', f'm.w <> {value}')
        return (f'SELECT count(*), sum(m.id), max(f.id) FROM many m JOIN many f ON {test}'
                + self.where('f.id < 250', self.test('m')))

# SPDX-License-Identifier: MIT
"""Random queries with subqueries that ask for values of the queries around them:
in every clause, nested up to three levels, of every form, with few or many
values that are asked for. Every query says which rows it means, so that all
engines give the same."""

TABLES = ('t1', 't2', 't3')
COLUMNS = 'id INTEGER, k INTEGER, g INTEGER, v INTEGER, d DOUBLE, s TEXT'
# Pairs of columns (of the subquery, of a query around it) that are compared.
LINKS = (('k', 'k'), ('k', 'k'), ('id', 'k'), ('k', 'id'), ('id', 'id'), ('k', 'v'), ('d', 'v'),
         ('s', 's'), ('g', 'g'), ('v', 'v'))
NARROW = (('k', 'k'), ('k', 'k'), ('id', 'k'), ('k', 'id'), ('id', 'id'))
AGGREGATES = ('count(*)', 'count({0})', 'sum({0})', 'min({0})', 'max({0})', 'avg({0})',
              'count(DISTINCT {0})', 'total({0})')


class Queries:
    """`large`: for tables of many rows, of which no subquery asks for all of
    them for each value."""

    def __init__(self, rng, large=False):
        self.rng, self.large, self.names = rng, large, 0

    def chance(self, share):
        return self.rng.random() < share

    def alias(self):
        self.names += 1
        return f'a{self.names}'

    # ------------------------------------------------------------- values --

    def value(self, own, outers=()):
        """A number of a row of `own`, an alias, and maybe of rows around it."""
        form = self.rng.randrange(6)
        if form == 0 and outers:
            return f'{own}.v + {self.rng.choice(outers)}.{self.rng.choice("vg")}'
        if form == 1:
            return f'{own}.v * 2 - {own}.g'
        if form == 2:
            return f'coalesce({own}.d, {own}.v)'
        return f'{own}.{self.rng.choice(("v", "v", "k", "id", "g"))}'

    def aggregate(self, own, outers=()):
        known = AGGREGATES[:-1] if self.large else AGGREGATES
        return self.rng.choice(known).format(self.value(own, outers if self.chance(0.2) else ()))

    def link(self, own, outers):
        """A condition that compares a row with one around it."""
        outer = outers[-1] if self.chance(0.7) else self.rng.choice(outers)
        mine, theirs = self.rng.choice(NARROW if self.large else LINKS)
        equal = f'{own}.{mine} = {outer}.{theirs}'
        form = self.rng.randrange(12)
        if form == 0:
            return f'{equal} AND {own}.v < {outer}.v'
        if form == 1:
            return f'{equal} AND {own}.g = {outer}.g'
        if form == 2:
            return f'{own}.k = {outer}.k + 1'
        if form == 3:
            return f'coalesce({own}.k, 0) = coalesce({outer}.k, 0)'
        if form == 4 and not self.large:
            return f'({equal} OR {own}.v = {outer}.g)'
        if form == 5 and (not self.large or self.chance(0.2)):
            return f'{own}.v < {outer}.v'
        if form == 6 and self.large:
            return f'{own}.g = {outer}.g'
        if form == 7:
            return f'{equal} AND {own}.v <> {outer}.v'
        return equal

    # --------------------------------------------------------------- rows --

    def rows(self, outers, depth, linked=True):
        """(FROM, WHERE, alias) of a subquery."""
        own = self.alias()
        table = f'{self.rng.choice(TABLES)} {own}'
        parts = [self.link(own, outers)] if linked else []
        form = self.rng.randrange(10)
        if form == 0:
            other = self.alias()
            table += f' JOIN {self.rng.choice(TABLES)} {other} ON {other}.id = {own}.k'
        elif form == 1:
            other = self.alias()
            on = self.link(other, [*outers, own])
            table += (f' LEFT JOIN {self.rng.choice(TABLES)} {other} '
                      f'ON {other}.id = {own}.k AND {on}')
        elif form == 2:
            return f'({self.derived(outers)}) {own}', '', own
        if self.chance(0.3):
            parts.append(f'{own}.v > {self.rng.randrange(4)}')
        if depth > 1:
            parts.append(self.condition([*outers, own], depth - 1))
        return table, ' WHERE ' + ' AND '.join(parts) if parts else '', own

    def derived(self, outers):
        """Rows with the columns of a table, made of those that are asked for."""
        form = self.rng.randrange(6)
        names = ('id', 'k', 'g', 'v', 'd')
        a, b = self.alias(), self.alias()
        columns = [', '.join(f'{x}.{name}' for name in names) for x in (a, b)]
        one = f'FROM {self.rng.choice(TABLES)} {a} WHERE {self.link(a, outers)}'
        two = f'FROM {self.rng.choice(TABLES)} {b} WHERE {self.link(b, outers)}'
        if form == 0:
            return (f'SELECT {columns[0]} {one} ORDER BY {a}.v, {a}.id '
                    f'LIMIT {self.rng.randrange(1, 4)}'
                    + self.rng.choice(('', ' OFFSET 1')))
        if form == 1:
            return f'SELECT DISTINCT {a}.k AS id, {a}.k, {a}.g, {a}.v, {a}.d {one}'
        if form == 2:
            return (f'SELECT max({a}.id) AS id, {a}.k, count(*) AS g, sum({a}.v) AS v, '
                    f'max({a}.d) AS d {one} GROUP BY {a}.k'
                    + self.rng.choice(('', ' HAVING count(*) > 1')))
        if form == 3:
            operator = self.rng.choice(('UNION', 'UNION ALL', 'INTERSECT', 'EXCEPT'))
            return f'SELECT {columns[0]} {one} {operator} SELECT {columns[1]} {two}'
        if form == 4:
            function = self.rng.choice(('row_number()', 'rank()', f'sum({a}.g)', f'lag({a}.v)'))
            return (f'SELECT {a}.id, {a}.k, {a}.g, {function} OVER '
                    f'({self.rng.choice(("", f"PARTITION BY {a}.g "))}ORDER BY {a}.v, {a}.id) '
                    f'AS v, {a}.d {one}')
        return f'SELECT {columns[0]} {one}'

    # --------------------------------------------------------- subqueries --

    def scalar(self, outers, depth):
        """A subquery that is a number."""
        form = self.rng.randrange(10)
        if form == 0:
            own = self.alias()
            return (f'(SELECT {self.value(own, outers)} FROM {self.rng.choice(TABLES)} {own} '
                    f'WHERE {own}.id = {outers[-1]}.{self.rng.choice(("k", "id", "v"))})')
        source, where, own = self.rows(outers, depth)
        if form == 1:
            return (f'(SELECT {self.value(own, outers)} FROM {source}{where} '
                    f'ORDER BY {own}.v, {own}.id, {own}.k, {own}.g, {own}.d LIMIT 1'
                    + self.rng.choice(('', '', ' OFFSET 1')) + ')')
        aggregate = self.aggregate(own, outers)
        if form == 2:
            return f'(SELECT {aggregate} FROM {source}{where} HAVING count(*) > 1)'
        if form == 3:
            return (f'(SELECT {aggregate} FROM {source}{where} GROUP BY {own}.g '
                    f'ORDER BY {own}.g LIMIT 1)')
        if form == 4:
            return f'(SELECT 2 * {aggregate} + 1 FROM {source}{where})'
        if form == 5:
            return f'(SELECT {aggregate} + {outers[-1]}.v FROM {source}{where})'
        if form == 6:
            return f'(SELECT 0.5 * {aggregate} FROM {source}{where})'
        if form == 8 and self.chance(0.4):
            return self.scalar_of_text(own, outers[-1], source + where)
        if form == 7 and depth > 1:
            inner = self.scalar([*outers, own], depth - 1)
            return f'(SELECT sum(coalesce({inner}, {own}.v)) FROM {source}{where})'
        return f'(SELECT {aggregate} FROM {source}{where})'

    def scalar_of_text(self, own, outer, rows):
        """A number that is made of texts, which may fail."""
        return self.rng.choice((
            f"(SELECT max(length({own}.g || '-' || {outer}.v)) FROM {rows})",
            f"(SELECT sum(CAST({own}.g || '0' AS INTEGER)) FROM {rows})",
            f"(SELECT count(DISTINCT CAST({own}.v AS TEXT) || {outer}.g) FROM {rows})"))

    def exists(self, outers, depth):
        source, where, own = self.rows(outers, depth)
        tail = self.rng.choice(('', '', '', f' ORDER BY {own}.v LIMIT 1', ' LIMIT 2 OFFSET 1'))
        return f'{self.rng.choice(("", "NOT "))}EXISTS (SELECT {own}.v FROM {source}{where}{tail})'

    def among(self, outers, depth):
        linked = self.chance(0.7) or depth == 1
        source, where, own = self.rows(outers, depth, linked)
        column = self.rng.choice('kvg')
        result = f'{own}.{column}' if self.chance(0.8) else f'max({own}.{column})'
        return (f'{outers[-1]}.{self.rng.choice("kvg")} {self.rng.choice(("", "NOT "))}IN '
                f'(SELECT {result} FROM {source}{where})')

    def condition(self, outers, depth):
        """A condition with subqueries."""
        form = self.rng.randrange(10)
        if form < 2:
            return self.exists(outers, depth)
        if form < 4:
            return self.among(outers, depth)
        if form < 6:
            operator = self.rng.choice(('<', '>', '=', '<=', '<>'))
            return f'{self.value(outers[-1])} {operator} {self.scalar(outers, depth)}'
        if form == 6:
            return f'({self.condition(outers, depth)} OR {outers[-1]}.v = {self.rng.randrange(5)})'
        if form == 7:
            return f'NOT ({self.condition(outers, depth)})'
        if form == 8:
            return f'({self.scalar(outers, depth)}) IS {self.rng.choice(("", "NOT "))}NULL'
        return (f'CASE WHEN {outers[-1]}.g > 1 THEN {self.condition(outers, depth)} '
                f'ELSE {outers[-1]}.v > 2 END')

    # ---------------------------------------------------------- statements --

    def statement(self):
        """A query of results c0, c1 ..."""
        self.names = 0
        form, depth = self.rng.choice(FORMS), self.rng.choice((1, 1, 1, 2, 2, 3))
        return form(self, self.alias(), self.rng.choice(TABLES), depth)

    def in_results(self, own, table, depth):
        value = self.scalar([own], depth) if self.chance(0.6) else self.condition([own], depth)
        return (f'SELECT {own}.id AS c0, {value} AS c1, {own}.v AS c2 FROM {table} {own}'
                + self.rng.choice(('', f' WHERE {own}.v > 2')))

    def in_where(self, own, table, depth):
        return (f'SELECT {own}.id AS c0, {own}.k AS c1, {own}.s AS c2 FROM {table} {own} '
                f'WHERE {self.condition([own], depth)}'
                + (f' AND {self.condition([own], 1)}' if self.chance(0.2) else ''))

    def in_on(self, own, table, depth):
        other = self.alias()
        kind = self.rng.choice(('JOIN', 'LEFT JOIN'))
        return (f'SELECT {own}.id AS c0, {other}.id AS c1 FROM {table} {own} {kind} '
                f'{self.rng.choice(TABLES)} {other} ON {other}.id = {own}.k '
                f'AND {self.condition([self.rng.choice((own, other))], depth)} ORDER BY 1, 2')

    def alone(self, own, table, depth):
        """Rows without a partner, as an outer join tells them."""
        other = self.alias()
        mine, theirs = self.rng.choice(NARROW if self.large else LINKS)
        more = self.rng.choice(('', f' AND {other}.v > 2', f' AND {other}.v < {own}.v',
                                f' AND {other}.d = {own}.d'))
        asked = self.rng.choice((mine, mine, 'id', 'v', 's'))
        also = f' AND {self.condition([own], depth)}' if self.chance(0.3) else ''
        shown = f', {other}.{self.rng.choice(("k", "s"))} AS c2' if self.chance(0.2) else ''
        return (f'SELECT {own}.id AS c0, {own}.v AS c1{shown} FROM {table} {own} LEFT JOIN '
                f'{self.rng.choice(TABLES)} {other} ON {other}.{mine} = {own}.{theirs}{more} '
                f'WHERE {other}.{asked} IS NULL{also} ORDER BY 1, 2')

    def in_group(self, own, table, depth):
        return (f'SELECT {self.scalar([own], depth)} AS c0, count(*) AS c1, sum({own}.v) AS c2 '
                f'FROM {table} {own} GROUP BY 1')

    def in_having(self, own, table, depth):
        link, value = self.alias(), self.rng.choice(TABLES)
        grouped = self.rng.choice('kg')
        test = self.rng.choice((
            f'sum({own}.v) > (SELECT {self.aggregate(link)} FROM {value} {link} '
            f'WHERE {link}.{grouped} = {own}.{grouped})',
            f'EXISTS (SELECT 1 FROM {value} {link} WHERE {link}.{grouped} = {own}.{grouped} '
            f'AND {link}.v > 3)',
            f'count(*) IN (SELECT {link}.v FROM {value} {link} '
            f'WHERE {link}.{grouped} = {own}.{grouped})'))
        del depth
        return (f'SELECT {own}.{grouped} AS c0, count(*) AS c1 FROM {table} {own} '
                f'GROUP BY {own}.{grouped} HAVING {test}')

    def in_order(self, own, table, depth):
        return (f'SELECT {own}.id AS c0, {own}.v AS c1 FROM {table} {own} '
                f'ORDER BY {self.scalar([own], depth)}, {own}.id LIMIT 20')

    def in_aggregate(self, own, table, depth):
        return (f'SELECT {own}.g AS c0, sum({self.scalar([own], depth)}) AS c1 '
                f'FROM {table} {own} GROUP BY {own}.g')


    def in_filter(self, own, table, depth):
        return (f'SELECT {own}.g AS c0, count(*) FILTER (WHERE {self.condition([own], depth)}) '
                f'AS c1 FROM {table} {own} GROUP BY {own}.g')

    def in_window(self, own, table, depth):
        value = self.scalar([own], depth)
        part = self.rng.choice(('', f'PARTITION BY {self.scalar([own], 1)} '))
        call = self.rng.choice((f'sum({value}) OVER ({part}ORDER BY {own}.id)',
                                f'rank() OVER ({part}ORDER BY {value})',
                                f'lag({value}) OVER ({part}ORDER BY {own}.id)'))
        return f'SELECT {own}.id AS c0, {call} AS c1, {own}.v AS c2 FROM {table} {own}'

    def in_set(self, own, table, depth):
        other = self.alias()
        operator = self.rng.choice(('UNION ALL', 'EXCEPT', 'INTERSECT'))
        return (f'SELECT {own}.id AS c0, {own}.v AS c1 FROM {table} {own} '
                f'WHERE {self.condition([own], depth)} {operator} '
                f'SELECT {other}.k AS c0, {other}.v AS c1 FROM {self.rng.choice(TABLES)} {other} '
                f'WHERE {self.condition([other], 1)}')

    def in_with(self, own, table, depth):
        inner = self.alias()
        return (f'WITH w AS (SELECT {inner}.id, {inner}.k, {inner}.g, {inner}.d, '
                f'{self.scalar([inner], 1)} AS v FROM {table} {inner}) '
                f'SELECT {own}.id AS c0, {own}.v AS c1 FROM w {own} '
                f'WHERE {self.condition([own], depth)}')


FORMS = (Queries.in_results, Queries.in_results, Queries.in_where, Queries.in_where,
         Queries.in_on, Queries.alone, Queries.in_group, Queries.in_having, Queries.in_order,
         Queries.in_aggregate, Queries.in_filter, Queries.in_window, Queries.in_set,
         Queries.in_with)

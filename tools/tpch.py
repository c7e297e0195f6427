# SPDX-License-Identifier: MIT
"""The queries of TPC-H with constants that are drawn as the specification says:
each of tools/tpch.sql has its substitution parameters in brackets, and DRAW has
a function for each query that draws them (TPC-H 2.4.1.3 to 2.4.22.3).
"""
import re
from pathlib import Path

QUERIES = Path(__file__).resolve().parent / 'tpch.sql'
NUMBERS = range(1, 23)
TRIES = 100  # to draw constants that were not drawn yet

REGIONS = ('AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST')
NATIONS = {  # and their region
    'ALGERIA': 0, 'ARGENTINA': 1, 'BRAZIL': 1, 'CANADA': 1, 'EGYPT': 4, 'ETHIOPIA': 0,
    'FRANCE': 3, 'GERMANY': 3, 'INDIA': 2, 'INDONESIA': 2, 'IRAN': 4, 'IRAQ': 4, 'JAPAN': 2,
    'JORDAN': 4, 'KENYA': 0, 'MOROCCO': 0, 'MOZAMBIQUE': 0, 'PERU': 1, 'CHINA': 2,
    'ROMANIA': 3, 'SAUDI ARABIA': 4, 'VIETNAM': 2, 'RUSSIA': 3, 'UNITED KINGDOM': 3,
    'UNITED STATES': 1}
SEGMENTS = ('AUTOMOBILE', 'BUILDING', 'FURNITURE', 'HOUSEHOLD', 'MACHINERY')
MODES = ('REG AIR', 'AIR', 'RAIL', 'TRUCK', 'MAIL', 'FOB', 'SHIP')
KINDS = ('STANDARD', 'SMALL', 'MEDIUM', 'LARGE', 'ECONOMY', 'PROMO')
FINISHES = ('ANODIZED', 'BURNISHED', 'PLATED', 'POLISHED', 'BRUSHED')
METALS = ('TIN', 'NICKEL', 'BRASS', 'STEEL', 'COPPER')
MEASURES = ('SM', 'LG', 'MED', 'JUMBO', 'WRAP')
VESSELS = ('CASE', 'BOX', 'BAG', 'JAR', 'PKG', 'PACK', 'CAN', 'DRUM')
COLORS = (
    'almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood '
    'burnished chartreuse chiffon chocolate coral cornflower cornsilk cream cyan dark deep dim '
    'dodger drab firebrick floral forest frosted gainsboro ghost goldenrod green grey honeydew '
    'hot indian ivory khaki lace lavender lawn lemon light lime linen magenta maroon medium '
    'metallic midnight mint misty moccasin navajo navy olive orange orchid pale papaya peach '
    'peru pink plum powder puff purple red rose rosy royal saddle salmon sandy seashell sienna '
    'sky slate smoke snow spring steel tan thistle tomato turquoise violet wheat white '
    'yellow').split()


def queries(rng, scale, numbers=NUMBERS):
    """{number: query}, with constants that are drawn."""
    return {number: query(number, rng, scale) for number in numbers}


def query(number, rng, scale):
    text = templates()[number]
    for name, value in DRAW[number](rng, scale).items():
        text = text.replace(f'[{name}]', str(value))
    return text


def different(number, rng, scale, count):
    """So many texts of a query, none twice while there are others: 18 has four."""
    texts, tries = [], 0
    while len(texts) < count:
        text, tries = query(number, rng, scale), tries + 1
        if text not in texts or tries > TRIES * count:
            texts.append(text)
    return texts


def templates():
    """{number: text}, parameters in brackets."""
    parts = re.split(r'-- query (\d+).*\n', QUERIES.read_text())
    return {int(number): text.strip() for number, text in zip(parts[1::2], parts[2::2])}


def names(number):
    """The parameters of a query."""
    return set(re.findall(r'\[(\w+)\]', templates()[number]))


def for_duckdb(sql):
    """DuckDB knows no digits of an interval's unit."""
    return sql.replace(' day (3)', ' day')


# ------------------------------------------------------------------ draw --

def month(rng, first, last):
    """The first day of a month between two, each (year, month)."""
    number = rng.randint(first[0] * 12 + first[1] - 1, last[0] * 12 + last[1] - 1)
    return f'{number // 12}-{number % 12 + 1:02d}-01'


def year(rng):
    return f'{rng.randint(1993, 1997)}-01-01'


def nation(rng):
    return rng.choice(list(NATIONS))


def brand(rng):
    return f'Brand#{rng.randint(1, 5)}{rng.randint(1, 5)}'


def pair(rng, name, values):
    """Two of the values, under a name with 1 and 2 behind it."""
    return {f'{name}{i}': value for i, value in enumerate(rng.sample(list(values), 2), 1)}


def market_share(rng):
    chosen = nation(rng)
    return {'NATION': chosen, 'REGION': REGIONS[NATIONS[chosen]],
            'TYPE': ' '.join(map(rng.choice, (KINDS, FINISHES, METALS)))}


def parts_and_suppliers(rng):
    sizes = {f'SIZE{i}': size for i, size in enumerate(rng.sample(range(1, 51), 8), 1)}
    return {'BRAND': brand(rng), 'TYPE': ' '.join(map(rng.choice, (KINDS, FINISHES)))} | sizes


def discounted_revenue(rng):
    least = {f'QUANTITY{i}': rng.randint(max(1, 10 * i - 10), 10 * i) for i in (1, 2, 3)}
    return least | {f'BRAND{i}': brand(rng) for i in (1, 2, 3)}


def fraction(scale):
    """A ten-thousandth at the scale 1, without an exponent."""
    return f'{0.0001 / float(scale):.12f}'.rstrip('0')


DRAW = {
    1: lambda rng, scale: {'DELTA': rng.randint(60, 120)},
    2: lambda rng, scale: {'SIZE': rng.randint(1, 50), 'TYPE': rng.choice(METALS),
                           'REGION': rng.choice(REGIONS)},
    3: lambda rng, scale: {'SEGMENT': rng.choice(SEGMENTS),
                           'DATE': f'1995-03-{rng.randint(1, 31):02d}'},
    4: lambda rng, scale: {'DATE': month(rng, (1993, 1), (1997, 10))},
    5: lambda rng, scale: {'REGION': rng.choice(REGIONS), 'DATE': year(rng)},
    6: lambda rng, scale: {'DATE': year(rng), 'DISCOUNT': f'0.{rng.randint(2, 9):02d}',
                           'QUANTITY': rng.randint(24, 25)},
    7: lambda rng, scale: pair(rng, 'NATION', NATIONS),
    8: lambda rng, scale: market_share(rng),
    9: lambda rng, scale: {'COLOR': rng.choice(COLORS)},
    10: lambda rng, scale: {'DATE': month(rng, (1993, 2), (1995, 1))},
    11: lambda rng, scale: {'NATION': nation(rng), 'FRACTION': fraction(scale)},
    12: lambda rng, scale: pair(rng, 'SHIPMODE', MODES) | {'DATE': year(rng)},
    13: lambda rng, scale: {
        'WORD1': rng.choice(('special', 'pending', 'unusual', 'express')),
        'WORD2': rng.choice(('packages', 'requests', 'accounts', 'deposits'))},
    14: lambda rng, scale: {'DATE': month(rng, (1993, 1), (1997, 12))},
    15: lambda rng, scale: {'DATE': month(rng, (1993, 1), (1997, 10))},
    16: lambda rng, scale: parts_and_suppliers(rng),
    17: lambda rng, scale: {'BRAND': brand(rng),
                            'CONTAINER': ' '.join(map(rng.choice, (MEASURES, VESSELS)))},
    18: lambda rng, scale: {'QUANTITY': rng.randint(312, 315)},
    19: lambda rng, scale: discounted_revenue(rng),
    20: lambda rng, scale: {'COLOR': rng.choice(COLORS), 'DATE': year(rng),
                            'NATION': nation(rng)},
    21: lambda rng, scale: {'NATION': nation(rng)},
    22: lambda rng, scale: {f'I{i}': code
                            for i, code in enumerate(rng.sample(range(10, 35), 7), 1)},
}

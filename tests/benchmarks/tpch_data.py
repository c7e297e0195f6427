# SPDX-License-Identifier: MIT
"""What TPC-H's specification says of its data, as queries for sqlite3 over the
tables at the scale 0.01: rules of which no row may be an exception, texts' lengths,
and columns whose values are equally frequent.
"""
from math import sqrt

ROWS = {'region': 5, 'nation': 25, 'supplier': 100, 'customer': 1500, 'part': 2000,
        'partsupp': 8000, 'orders': 15000}
LINES = (58_800, 61_200)  # of lineitem: 4 an order, five standard deviations around it

# Rows that break a rule (4.2.3); S is 100, a quarter of it 25.
NONE = (
    'orders where o_orderkey % 32 >= 8',
    'orders where o_orderkey > 60000',
    'orders where o_custkey % 3 = 0',
    'orders where o_custkey not in (select c_custkey from customer)',
    "orders where o_orderdate < '1992-01-01' or o_orderdate > '1998-08-02'",
    'orders where o_shippriority <> 0',
    "orders where o_clerk not glob 'Clerk#0000000[01][0-9]' or o_clerk > 'Clerk#000000010'",
    'part where abs(p_retailprice * 100 - '
    '(90000 + p_partkey / 10 % 20001 + 100 * (p_partkey % 1000))) > 0.01',
    "part where p_brand not glob 'Brand#[1-5][1-5]' or "
    "substr(p_brand, 7, 1) <> substr(p_mfgr, 14) or p_mfgr not glob 'Manufacturer#[1-5]'",
    "part where length(p_name) - length(replace(p_name, ' ', '')) <> 4",
    'partsupp where ps_suppkey - 1 not in (select '
    '(ps_partkey + i * (25 + (ps_partkey - 1) / 100)) % 100 from four)',
    'lineitem where (l_partkey, l_suppkey) not in (select ps_partkey, ps_suppkey from partsupp)',
    'lineitem, part where p_partkey = l_partkey and '
    'abs(l_extendedprice - l_quantity * p_retailprice) > 0.001',
    'lineitem, orders where l_orderkey = o_orderkey and '
    'julianday(l_shipdate) - julianday(o_orderdate) not between 1 and 121',
    'lineitem, orders where l_orderkey = o_orderkey and '
    'julianday(l_commitdate) - julianday(o_orderdate) not between 30 and 90',
    'lineitem where julianday(l_receiptdate) - julianday(l_shipdate) not between 1 and 30',
    "lineitem where l_returnflag not in ('R', 'A') and l_receiptdate <= '1995-06-17'",
    "lineitem where l_returnflag <> 'N' and l_receiptdate > '1995-06-17'",
    "lineitem where l_linestatus <> iif(l_shipdate > '1995-06-17', 'O', 'F')",
    'orders join lines on l_orderkey = o_orderkey where abs(o_totalprice - total) > 0.00501',
    "orders join lines on l_orderkey = o_orderkey where o_orderstatus <> "
    "iif(open = 0, 'F', iif(open = lines, 'O', 'P'))",
    'orders join lines on l_orderkey = o_orderkey where lines <> last or lines > 7',
    "customer where c_phone not glob '[1-3][0-9]-[1-9][0-9][0-9]-[1-9][0-9][0-9]-"
    "[1-9][0-9][0-9][0-9]' or cast(substr(c_phone, 1, 2) as integer) <> c_nationkey + 10",
    'supplier where cast(substr(s_phone, 1, 2) as integer) <> s_nationkey + 10',
    "customer where c_name <> 'Customer#' || printf('%09d', c_custkey)",
    "supplier where s_name <> 'Supplier#' || printf('%09d', s_suppkey)")
VIEWS = ('create view four as select 0 as i union select 1 union select 2 union select 3',
         'create table lines as select l_orderkey, count(*) as lines, '
         'max(l_linenumber) as last, sum(l_linestatus = \'O\') as open, '
         'sum(l_extendedprice * (1 + l_tax) * (1 - l_discount)) as total '
         'from lineitem group by l_orderkey')

# Facts of all rows.
FACTS = {
    'count(*), count(distinct ps_partkey * 1000 + ps_suppkey) from partsupp': (8000, 8000),
    'count(*), count(distinct l_orderkey * 10 + l_linenumber) = count(*) '
    'from lineitem where l_orderkey < 0 or l_linenumber < 1': (0, 1),
    "count(*) from supplier where s_comment like '%Customer%Complaints%'": (1,),
    "count(*) from supplier where s_comment like '%Customer%Recommends%'": (1,),
    'count(distinct o_custkey) from orders': (1000,),
    'min(o_orderdate), max(o_orderdate) from orders': ('1992-01-01', '1998-08-02'),
    'group_concat(r_name) from region': ('AFRICA,AMERICA,ASIA,EUROPE,MIDDLE EAST',),
    "n_nationkey, n_regionkey from nation where n_name = 'ROMANIA'": (19, 3),
    'min(l_discount), max(l_discount), min(l_tax), max(l_tax) from lineitem': (0, .1, 0, .08)}

# Least and most characters of texts, which are equally frequent between them.
LENGTHS = {'s_address': (10, 40), 'c_address': (10, 40), 's_comment': (25, 100),
           'c_comment': (29, 116), 'p_comment': (5, 22), 'ps_comment': (49, 198),
           'o_comment': (19, 78), 'l_comment': (10, 43)}

# How many values a column has, each as often as any other.
EVEN = {'o_orderpriority': 5, 'o_clerk': 10, 'o_custkey': 1000, 'l_shipmode': 7,
        'l_shipinstruct': 4, 'l_quantity': 50, 'l_discount': 11, 'l_tax': 9, 'l_partkey': 2000,
        'l_suppkey': 100, 'c_mktsegment': 5, 'c_nationkey': 25, 's_nationkey': 25, 'p_mfgr': 5,
        'p_brand': 25, 'p_type': 150, 'p_size': 50, 'p_container': 40}

# Of words in comments, how often one is there for another's once: their weights.
WEIGHTS = {('furiously', 'quickly'): 50 / 30, ('carefully', 'blithely'): 50 / 40,
           ('packages', 'foxes'): 2, ('deposits', 'requests'): 1, ('regular', 'special'): 2.5,
           ('express', 'silent'): 2, ('sleep', 'nag'): 2, ('above', 'along'): 50 / 40}

# Shares of rows that LIKE finds: between these.
SHARES = {"orders where o_comment like '%special%requests%'": (0.007, 0.015),
          "orders where o_comment like '%unusual%deposits%'": (0.007, 0.015),
          "part where p_name like '%green%'": (0.03, 0.08),
          "lineitem where l_comment like '%furiously%'": (0.085, 0.107)}

TABLES = {'s': 'supplier', 'c': 'customer', 'p': 'part', 'ps': 'partsupp', 'o': 'orders',
          'l': 'lineitem'}


def table_of(column):
    return TABLES[column.split('_')[0]]


def faults(db):
    """What is not as specified, in words."""
    for sql in VIEWS:
        db.execute(sql)
    yield from (f'{sql}: {found} rows' for sql in NONE if (found := count(db, sql)))
    yield from (f'{sql}: {found}' for sql, wanted in FACTS.items()
                if (found := db.execute(f'select {sql}').fetchone()) != wanted)
    yield from (f'{table}: {found} rows' for table, rows in ROWS.items()
                if (found := count(db, table)) != rows)
    if not LINES[0] < count(db, 'lineitem') < LINES[1]:
        yield f'lineitem: {count(db, "lineitem")} rows'
    for column, bounds in LENGTHS.items():
        yield from wrong_lengths(db, column, *bounds)
    for column, values in EVEN.items():
        yield from uneven(db, column, values)
    yield from wrong_words(db)
    for sql, (least, most) in SHARES.items():
        share = count(db, sql) / count(db, sql.split()[0])
        if not least < share < most:
            yield f'{sql}: {share}'


def count(db, what):
    return db.execute(f'select count(*) from {what}').fetchone()[0]


def wrong_lengths(db, column, least, most):
    low, high, mean, rows = db.execute(
        f'select min(length({column})), max(length({column})), avg(length({column})), count(*) '
        f'from {table_of(column)}').fetchone()
    spread = 5 * (most - least + 1) / sqrt(12 * rows)
    near = (most - least) / 10 if rows < 1000 else 0  # few rows need not reach the ends
    if low < least or low > least + near or high > most or high < most - near:
        yield f'{column}: {low} to {high} characters'
    if abs(mean - (least + most) / 2) > spread:
        yield f'{column}: {mean} characters'


def uneven(db, column, values):
    """Frequencies that random draws have once in a million columns at most."""
    found = [number for number, in db.execute(
        f'select count(*) from {table_of(column)} group by {column}')]
    if len(found) != values:
        yield f'{column}: {len(found)} values, not {values}'
    mean = sum(found) / len(found)
    chi = sum((number - mean) ** 2 / mean for number in found)
    if abs(chi - (values - 1)) > 6 * sqrt(2 * values) + 10:
        yield f'{column}: some values are too frequent, or all too evenly so: {chi}'


def wrong_words(db):
    """Words that a comment cuts at its ends count where the rest is enough."""
    words = ' '.join(text for text, in db.execute('select ps_comment from partsupp')).split()
    for (one, other), weight in WEIGHTS.items():
        times = [sum(word.strip(',.;:?!-') == wanted for word in words)
                 for wanted in (one, other)]
        if abs(times[0] / times[1] / weight - 1) > 6 / sqrt(min(times)):
            yield f'{one} is there {times[0]} times, {other} {times[1]}'

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of the benchmark: what it prints, and that the pages say the same.

    test_benchmark.py BUILD

Tables and plots are made of numbers that are easy to check; then the
benchmark runs over a small table on the host.
"""
import argparse
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / 'tools'))
import figures
import measure

LIMITS = {'memory_read': 100.0, 'copy_in': 10.0, 'copy_out': 5.0, 'copy_both': 12.0,
          'host_read': 50.0, 'shares_memory': False}


def record(label, **other):
    """A configuration whose two queries take 2 and 8 ms and move few bytes."""
    made = {'machine': 'box', 'command': 'tools/benchmark', 'rows': 1000, 'label': label,
            'where': label.split()[0], 'mode': 'mapped', 'build': 'specialised', 'threads': 2,
            'answer_rows': [10, 20], 'total_ms': [2.0, 8.0], 'kernel_ms': [1.0, 4.0],
            'transfer_ms': [1.0, 1.0], 'compile_ms': [0.0, 0.0], 'bytes_read': [90e6, 380e6],
            'bytes_in': [10e6, 10e6], 'bytes_out': [5e6, 5e6], 'bytes_result': [10e6, 20e6],
            'limits': LIMITS}
    return made | other


def peer(label, **other):
    made = {key: record(label)[key] for key in ('machine', 'command', 'rows', 'label', 'threads',
                                                'answer_rows')}
    return made | {'where': 'peer', 'total_ms': [20.0, 20.0]} | other


def case_share_of_the_limit():
    """The slowest way counts: 10 MB in take 1 ms, 5 MB out 1 ms, both 1.25 ms."""
    gpu = record('gpu streamed')
    assert abs(figures.ideal_ms(gpu, 0) - 1.25) < 1e-9
    assert abs(figures.share(gpu, 0) - 62.5) < 1e-9
    assert abs(figures.ideal_ms(gpu, 1) - 4.0) < 1e-9  # 400 MB at 100 GB/s
    assert abs(figures.kernel_rate(gpu, 1) - 100) < 1e-9
    shared = record('cpu mapped', limits=LIMITS | {'shares_memory': True})
    assert abs(figures.ideal_ms(shared, 0) - 1.0) < 1e-9
    assert figures.share(peer('DuckDB'), 0) is None


def case_queries():
    rows = list(figures.queries([peer('DuckDB'), record('gpu cached')]))
    assert rows[0] == ['query', '0', '1', 'geometric mean', 'DuckDB / it'], rows[0]
    assert rows[1] == ['rows', '10', '20', '', '']
    assert rows[2] == ['DuckDB', '20.0', '20.0', '20.0', '']
    assert rows[3] == ['gpu cached', '2.00', '8.00', '4.00', '5.00x'], rows[3]


def case_peers_have_as_many_threads():
    one, counted = peer('DuckDB 1 core', threads=1), peer('DuckDB counted')
    rows = list(figures.queries([one, counted, record('gpu cached')]))
    assert rows[-1][-1] == '', rows[-1]


def case_means_and_speedups():
    records = [record('cpu 1 core mapped', where='cpu 1 core', threads=1, total_ms=[40.0, 80.0]),
               record('cpu mapped', total_ms=[20.0, 40.0]),
               record('cpu mapped, interpreted', build='interpreted'), record('gpu cached')]
    assert list(figures.means(records)) == [
        ['ms', 'integer', 'float', 'all'], ['cpu 1 core mapped', '40.0', '80.0', '60.0'],
        ['cpu mapped', '20.0', '40.0', '30.0'], ['gpu cached', '2.00', '8.00', '5.00']]
    assert list(figures.speedups(records))[1:] == [
        ['gpu cached over cpu 1 core mapped', '20.0', '10.0', '12.0'],
        ['gpu cached over cpu mapped', '10.0', '5.00', '6.00']]
    alone = list(figures.speedups(records[:2]))[1:]
    assert alone == [['cpu mapped over cpu 1 core mapped', '2.00', '2.00', '2.00']], alone


def growing():
    return [record(label, rows=rows, command='grow', total_ms=[rows / 1e6 * times] * 2)
            for rows in (1_000_000, 2_000_000, 128_000_000)
            for label, times in (('cpu mapped', 1), ('gpu <cached>', 0.1))]


def case_growth():
    assert list(figures.growth(growing())) == [
        ['rows', 'cpu mapped', 'gpu <cached>'], ['1 M', '1.00', '0.10'],
        ['2 M', '2.00', '0.20'], ['128 M', '128', '12.8']]
    both = growing() + [record('gpu cached')]
    assert len(figures.select(both, 'growth', 'box')) == 6
    assert len(figures.select(both, 'queries', 'box')) == 1


def case_plot():
    tree = ElementTree.fromstring(figures.svg(growing()))
    lines = [node for node in tree if node.tag.endswith('polyline')]
    assert len(lines) == 2
    xs = [float(point.split(',')[0]) for point in lines[0].get('points').split()]
    ys = [float(point.split(',')[1]) for point in lines[0].get('points').split()]
    assert xs == sorted(xs) and ys == sorted(ys, reverse=True)
    assert 'gpu <cached>' in [node.text for node in tree if node.tag.endswith('text')]


def case_readme_parts():
    text = 'a\n<!-- figures means box -->\nold\n<!-- end -->\nb\n'
    once = figures.filled(text, [record('gpu cached')])
    assert 'old' not in once and '| gpu cached | 2.00 | 8.00 | 5.00 |' in once, once
    assert once.startswith('a\n<!--') and once.endswith('<!-- end -->\nb\n')
    assert figures.filled(once, [record('gpu cached')]) == once


def case_pages_are_in_step():
    """The page of figures, its plots and README's say what the kept figures say."""
    kept = ROOT / 'docs' / 'figures.jsonl'
    page = ROOT / 'docs' / 'performance.md'
    subprocess.run([sys.executable, ROOT / 'tools' / 'figures.py', '--check', page, kept],
                   check=True)
    records = figures.read(kept)
    for view in figures.PLOTS:
        machine = re.search(f'<!-- figures {view} (.*) -->', page.read_text())
        file = ROOT / 'docs' / f'{view}.svg'
        assert (machine is not None) == file.exists(), f'{file} stands alone, or is not there'
        assert not machine or file.read_text() == figures.plot(records, view, machine.group(1)), \
            f'{file} is old'
    bars = figures.bars(records, figures.BARS)
    assert bars == (ROOT / 'docs' / 'speed.svg').read_text(), 'docs/speed.svg is old'


def case_differences_are_found():
    loader = SourceFileLoader('benchmark', str(ROOT / 'tools' / 'benchmark'))
    module = module_from_spec(spec_from_loader('benchmark', loader))
    loader.exec_module(module)
    answers = [{'checksum': '1', 'set_checksum': '2'}] * 2
    same = [peer('DuckDB'), record('cpu mapped', answers=answers),
            record('gpu cached', answers=answers), record('gpu cached', rows=5, answer_rows=[1, 2])]
    assert module.compare(same) == []
    other = [{'checksum': '1', 'set_checksum': '2'}, {'checksum': '9', 'set_checksum': '2'}]
    found = module.compare(same + [record('gpu mapped', answers=other)])
    assert found == ['DIFFERENT: query 1: checksum 9 on gpu mapped, 1 on cpu mapped'], found
    found = module.compare(same + [record('gpu mapped', answer_rows=[10, 21])])
    assert found == ['DIFFERENT: query 1: rows 21 on gpu mapped, 20 on DuckDB'], found


def benchmark(folder, *arguments):
    """What the benchmark prints, and the records that it keeps."""
    kept = Path(folder) / 'kept.jsonl'
    done = subprocess.run([sys.executable, ROOT / 'tools' / 'benchmark', '--build-dir', folder,
                           '--runs', '1', '--json', kept, *arguments],
                          capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'every answer is the same everywhere' in done.stdout
    return done.stdout, [json.loads(line) for line in kept.read_text().splitlines()]


def case_small_run():
    with tempfile.TemporaryDirectory(prefix='vdbq-benchmark-') as folder:
        os.symlink(BUILD / 'tools', Path(folder) / 'tools')
        printed, records = benchmark(folder, '--rows', '20000', '--devices', 'host',
                                     '--peers', 'sqlite3,duckdb')
        assert 'limits, GB/s' in printed and 'of limit' in printed, printed
        host = records[-1]
        assert host['label'] == 'host' and len(host['total_ms']) == 10
        assert host['limits']['memory_read'] > 0.1 and host['limits']['host_read'] > 0.1
        assert host['limits']['shares_memory'] is True
        assert '--json' not in host['command'] and '--rows 20000' in host['command']
        columns = [sum(host['answer_rows'][query] for query in queries) * 4 * width
                   for queries, width in ((range(8), 3), (range(8, 10), 4))]
        assert sum(host['bytes_result']) == sum(columns)
        sqlite = next(one for one in records if one['label'] == 'sqlite3')
        assert sqlite['answer_rows'] == host['answer_rows']


def case_small_growth():
    with tempfile.TemporaryDirectory(prefix='vdbq-benchmark-') as folder:
        os.symlink(BUILD / 'tools', Path(folder) / 'tools')
        printed, records = benchmark(folder, '--rows', '3000,6000', '--devices', 'host')
        assert [one['rows'] for one in records] == [3000, 6000]
        assert 'growth: ' in printed and 'queries: ' not in printed, printed


# ----------------------------------------------------------------- joins --

def case_joins():
    paper = {'where': 'joins', 'peer_ms': [20.0, 20.0]}
    rows = list(figures.joins([record('cpu', **paper), record('gpu', **paper | {
        'total_ms': [1.0, None], 'answer_rows': [10, None]})]))
    assert rows[0] == ['query', 'rows', 'cpu', 'DuckDB, 2 threads', 'DuckDB / it', 'gpu',
                       'DuckDB, 2 threads', 'DuckDB / it', 'paper: CPU', 'paper: GTX 760']
    assert rows[2] == ['1', '20', '8.00', '20.0', '2.50x', '', '20.0', '', '', ''], rows[2]
    assert rows[3][2:8] == ['5.00', '20.0', '4.00x', '1.00', '20.0', '20.0x'], rows[3]
    assert rows[3][8:] == ['1155', '291']
    assert {len(row) for row in rows} == {10}


def case_join_growth():
    """A peer that ran twice counts once; other lines are no part of it."""
    lines = [record(label, where='join_growth', rows=rows, total_ms=[ms])
             for rows in (1000, 100_000) for label, ms in (('cpu', 1.0), ('DuckDB', 2.0),
                                                           ('DuckDB', 3.0))]
    chosen = figures.select([*lines, record('cpu mapped')], 'join_growth', 'box')
    assert list(figures.join_growth(chosen)) == [
        ['rows', 'cpu', 'DuckDB'], ['1 k', '1.00', '3.00'], ['100 k', '1.00', '3.00']]
    assert figures.select(lines, 'queries', 'box') == []
    assert 'ms, join of two tables' in figures.plot(lines, 'join_growth', 'box')


def case_join_cases_and_memory():
    case = record('gpu', where='join_cases', name=['even', 'odd'], left_rows=[5, 5],
                  right_rows=[6, 6], answer_rows=[1000, None], peer_ms=[8.0, 8.0])
    assert list(figures.join_cases([case]))[1:] == [
        ['even', 'gpu', '5', '6', '1000', '2.00', '1.00', '8.00', '4.00x', '2000'],
        ['odd', 'gpu', '5', '6', '', '8.00', '4.00', '8.00', '1.00x', '']]
    held = record('gpu', where='join_memory', name=['all'], build_bytes=[1 << 30],
                  memory_bytes=[None], peak_bytes=[1 << 20], total_ms=[7.0])
    assert list(figures.join_memory([held]))[1:] == [['all', 'gpu', '1024', '', '1.00', '7.00']]


def case_ssb():
    rows = list(figures.ssb([record('gpu', where='ssb', scale='20', name=['1.1', '1.2'],
                                    peer_ms=[20.0, None])]))
    assert rows[0][1:] == ['gpu SF 20: kernels', 'gpu SF 20', 'DuckDB, 2 threads', 'DuckDB / it']
    assert rows[1] == ['1.1', '1.00', '2.00', '20.0', '10.0x']
    assert rows[3] == ['geometric mean', '2.00', '4.00', '20.0', '5.00x'], rows[3]
    assert rows[4] == ['Crystal, CUDA by hand, SF 20 on an H200: 1.14', '', '', '', '']


def run_tool(name, folder, *arguments):
    """What a tool prints over tables in a folder, and the lines that it keeps."""
    kept = Path(folder) / 'kept.jsonl'
    done = subprocess.run([sys.executable, ROOT / 'tools' / name, '--build-dir', BUILD,
                           '--data', folder, '--device', 'host', '--runs', '1', '--json', kept,
                           '--machine', 'box', *arguments],
                          capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, figures.read(kept)


def case_faults_do_not_stop():
    """A query that fails is told, and the others are measured all the same."""
    with tempfile.TemporaryDirectory(prefix='vdbq-benchmark-') as folder:
        generate('--keys', 'dense', '--table', 'a', '--rows', 100, '--db', Path(folder, 'db'))
        options = argparse.Namespace(benchmark=BUILD / 'tools' / 'vdbq-benchmark', device='host',
                                     mode='auto', runs=1, timeout=60)
        good, bad, text = measure.run_queries(options, Path(folder, 'db'), [
            'select k from a', 'select x from a', "select 'a' || k from a where k < 5"])
        assert good['rows'] == 100 and text['rows'] == 5, (good, text)
        assert list(bad) == ['fault'] and 'x' in bad['fault'], bad
    said, late = measure.run_limited(['sleep', '60'], 0.1)
    assert (said, late) == ('', 'took more than 0.1 s'), (said, late)


def case_small_ssb():
    with tempfile.TemporaryDirectory(prefix='vdbq-benchmark-') as folder:
        printed, records = run_tool('benchmark-ssb', folder, '--scale', '0.02')
        assert 'DIFFERENT' not in printed and 'Crystal' in printed, printed
        one, = records
        assert one['rows'] == 120_000 and len(one['total_ms']) == len(one['name']) == 13
        assert one['command'].startswith('tools/benchmark-ssb --device host'), one['command']
        assert None not in one['kernel_ms'] and one['answer_rows'][:3] == [1, 1, 1]
        if one['peer_ms'][0] is not None:
            assert printed.count('EQUAL') == 13, printed


def case_small_hits_and_log():
    """Every query runs, and its answer is DuckDB's."""
    for kind, rows, queries in (('hits', 20_000, 43), ('log', 10_000, 30)):
        with tempfile.TemporaryDirectory(prefix='vdbq-benchmark-') as folder:
            printed, (one,) = run_tool(f'benchmark-{kind}', folder, '--rows', str(rows))
            assert one['rows'] == rows and one['where'] == kind, one
            assert len(one['name']) == queries and None not in one['total_ms'], one
            if one['peer_ms'][0] is not None:
                assert printed.count('EQUAL') == queries, printed


def case_small_joins():
    with tempfile.TemporaryDirectory(prefix='vdbq-benchmark-') as folder:
        printed, records = run_tool(
            'benchmark-joins', folder, '--rows', '200', '--growth', '100,1000',
            '--unique-rows', '3000', '--skew-rows', '5000', '--grid-rows', '200',
            '--memory-rows', '3000000')
        assert 'no answer differs' in printed and printed.count('sqlite3: EQUAL') == 10, printed
        where = [one['where'] for one in records]
        assert where.count('join_cases') == 3 and where.count('joins') == 1
        assert where.count('join_growth') in (2, 4) and where.count('join_memory') == 1
        cases = {name: rows for one in records if one['where'] == 'join_cases'
                 for name, rows in zip(one['name'], one['answer_rows'])}
        assert cases['different keys, half match, counted'] == 1500
        assert cases['dense keys, half match, fetched'] == 1500
        assert cases['even keys, each once right, counted'] == 5000
        assert cases['half have one key, each once right, fetched'] == 5000
        assert 400_000 < cases['half have one key, all right have it, counted'] < 600_000
        assert cases['each pair of rows, a cell of a grid'] == cases['equal keys, expanded evenly']


# -------------------------------------------------------------- generator --

def change_tool(name, folder, *arguments):
    """What a benchmark of changes prints, and the lines of JSON that it keeps."""
    kept = Path(folder) / 'kept.json'
    done = subprocess.run([sys.executable, ROOT / 'tools' / name, '--build-dir', BUILD, '--data',
                           folder, '--json', kept, *arguments], capture_output=True, text=True,
                          env=dict(os.environ, VDBQ_DEVICE='host'), check=False)
    assert done.returncode == 0, done
    return done.stdout, [json.loads(line) for line in kept.read_text().splitlines()]


def case_changes_and_orders():
    """Rows are counted, and sums compared, by the program itself."""
    with tempfile.TemporaryDirectory(prefix='vdbq-benchmark-') as folder:
        printed, records = change_tool('benchmark-changes', folder, '--seconds', '0.2', '--rows',
                                       '2000', '--runs', '1')
        assert printed.count('\n') == 2 + len(records) // 2, printed
        assert all(record['rows'] > 0 for record in records), records
    with tempfile.TemporaryDirectory(prefix='vdbq-benchmark-') as folder:
        printed, records = change_tool('benchmark-orders', folder, '--seconds', '1')
        assert [record['engine'] for record in records] == ['sqlite3', 'vdbq'], records
        assert all(record['orders'] > 0 for record in records), records


def generate(*arguments):
    subprocess.run([BUILD / 'tools' / 'generate', *map(str, arguments)], check=True)


def case_ssb_data():
    """Counts and domains are the specification's; threads do not matter."""
    with tempfile.TemporaryDirectory(prefix='vdbq-ssb-') as folder:
        one, three = (Path(folder, name) for name in ('one', 'three'))
        for made, threads in ((one, 1), (three, 3)):
            made.mkdir()
            generate('--ssb', '0.05', '--threads', threads, '--csv', made, '--db', made / 'db')
        for table in SSB_ROWS:
            assert (one / f'{table}.csv').read_bytes() == (three / f'{table}.csv').read_bytes()
            lines = (one / f'{table}.csv').read_text().count('\n')
            assert lines == SSB_ROWS[table] + 1, (table, lines)
        wrong = [f'{sql}: {found}, not {wanted}' for sql, wanted in SSB_FACTS.items()
                 if (found := ask(one / 'db', sql)) != wanted]
        assert not wrong, '\n'.join(wrong)


def ask(database, sql):
    """The shell's answer, its values separated by |."""
    return subprocess.run([BUILD / 'vdbq', '--readonly', '--list', '--no-header', '--device',
                           'host', database, f'select {sql}'],
                          capture_output=True, text=True, check=True).stdout.strip()


SSB_ROWS = {'lineorder': 300_000, 'customer': 1500, 'supplier': 100, 'part': 10_000, 'date': 2556}
SSB_FACTS = {
    'count(*) from lineorder': '300000',
    'min(lo_quantity), max(lo_quantity), count(distinct lo_quantity) from lineorder': '1|50|50',
    'min(lo_discount), max(lo_discount), min(lo_tax), max(lo_tax) from lineorder': '0|10|0|8',
    'min(lo_linenumber), max(lo_linenumber) from lineorder': '1|7',
    'count(distinct lo_orderpriority), count(distinct lo_shipmode) from lineorder': '5|7',
    'min(lo_orderdate), max(lo_orderdate) from lineorder': '19920101|19980802',
    'count(distinct lo_orderkey) between 74998 and 75005 from lineorder': '1',
    'count(*) from (select lo_orderkey from lineorder group by lo_orderkey, lo_linenumber '
    'having count(*) > 1) t': '0',
    'count(*) from lineorder where lo_revenue <> lo_extendedprice * (100 - lo_discount) / 100': '0',
    'count(*) from lineorder where lo_extendedprice <> lo_quantity * (90000 + '
    'lo_partkey / 10 % 20001 + lo_partkey % 1000 * 100)': '0',
    'count(*) from lineorder, date where lo_orderdate = d_datekey': '300000',
    'count(*) from lineorder, date where lo_commitdate = d_datekey and '
    'lo_commitdate > lo_orderdate': '300000',
    'count(*) from lineorder, part, supplier, customer where lo_partkey = p_partkey and '
    'lo_suppkey = s_suppkey and lo_custkey = c_custkey': '300000',
    'count(distinct c_region), count(distinct c_nation), max(length(c_city)) from customer':
        '5|25|10',
    'count(distinct c_city) <= 250, count(distinct c_mktsegment) from customer': '1|5',
    'count(*) from customer where substr(c_city, 1, 9) <> substr(rpad(c_nation, 9, \' \'), 1, 9)':
        '0',
    'count(distinct c_region) from customer where c_nation = \'UNITED STATES\'': '1',
    'count(distinct p_mfgr), count(distinct p_category), count(distinct p_brand1) from part':
        '5|25|1000',
    'min(p_brand1), max(p_brand1), min(p_size), max(p_size) from part': 'MFGR#1101|MFGR#5540|1|50',
    'count(*) from part where substr(p_brand1, 1, 7) <> p_category or '
    'substr(p_category, 1, 6) <> p_mfgr': '0',
    'count(distinct p_container) from part': '40',
    'min(d_datekey), max(d_datekey), count(*) from date': '19920101|19981230|2556',
    'min(d_year), max(d_year), max(d_weeknuminyear) from date': '1992|1998|53',
    'd_date, d_dayofweek, d_yearmonth from date where d_datekey = 19960229':
        'February 29, 1996|Thursday|Feb1996',
    'count(*), count(distinct d_sellingseason) from date where d_yearmonthnum / 100 = d_year':
        '2556|5',
    'count(distinct d_yearmonth), count(distinct d_yearmonthnum) from date': '84|84'}


HITS_FACTS = {
    'count(*), count(distinct UserID) between 3000 and 8000 from hits': '20000|1',
    'min(EventDate), max(EventDate), count(distinct EventDate) from hits':
        '2013-07-01|2013-07-31|31',
    'count(*) from hits where cast(EventTime as date) <> EventDate': '0',
    'count(*) between 150 and 250 from hits where CounterID = 62': '1',
    'count(*) > 0 from hits where UserID = 435090932899640449': '1',
    'count(*) > 0 from hits where URLHash = 2868770270353813622': '1',
    'count(*) > 0 from hits where RefererHash = 3594120000172545465': '1',
    'count(*) from (select UserID from hits group by UserID having count(distinct RegionID) > 1)':
        '0',
    'count(*) < 9 from (select URL from hits group by URL having count(distinct Title) > 1 and '
    "URL not like '%google%')": '1',
    'avg(SearchPhrase <> \'\') between 0.1 and 0.16 from hits': '1',
    'count(*) from hits where (SearchEngineID > 0) <> (SearchPhrase <> \'\')': '0',
    'max(n) > 8 * min(n) from (select CounterID, count(*) as n from hits group by CounterID)': '1'}
LOG_FACTS = {
    'count(*), min(ts) from weblog': '10000|2024-03-01 00:00:00',
    'count(*) from (select ts < lag(ts) over (order by rowid) as early from weblog) where early':
        '0',
    "count(*) > 0 from weblog where url like '/каталог/%'": '1',
    "count(*) > 0 from weblog where referer like '%' || char(10) || '\"quoted\"'": '1',
    "count(*) > 0 from weblog where agent like '%\"Pixel 8\"%'": '1',
    'count(*) from weblog where (bytes is null) <> (status = 304)': '0',
    'count(referer) between 4000 and 7000, count(user_id) < count(session) from weblog': '1|1',
    'count(*) from (select ip from weblog group by ip having count(distinct agent) > 1)': '0'}


def case_hits_and_log_data():
    """Columns are ClickBench's; threads do not matter; CSV has the same rows."""
    with tempfile.TemporaryDirectory(prefix='vdbq-hits-') as folder:
        one, three = (Path(folder, name) for name in ('one', 'three'))
        for made, threads in ((one, 1), (three, 3)):
            made.mkdir()
            generate('--hits', 20_000, '--threads', threads, '--csv', made, '--db', made / 'db')
            generate('--log', 10_000, '--threads', threads, '--csv', made, '--db', made / 'db')
        for table, columns in (('hits', 105), ('weblog', 9)):
            assert (one / f'{table}.csv').read_bytes() == (three / f'{table}.csv').read_bytes()
            with open(one / f'{table}.csv', encoding='utf-8', newline='') as file:
                head, *rows = csv.reader(file)
            assert len(head) == columns and head[0] in ('WatchID', 'ts'), head
            said = subprocess.run([BUILD / 'vdbq', '--readonly', '--csv', '--device', 'host',
                                   one / 'db', f'from {table}'], capture_output=True, text=True,
                                  check=True).stdout
            assert [head, *rows] == list(csv.reader(io.StringIO(said, newline='')))
        facts = HITS_FACTS | LOG_FACTS
        wrong = [f'{sql}: {found}, not {wanted}' for sql, wanted in facts.items()
                 if (found := ask(one / 'db', sql)) != wanted]
        assert not wrong, '\n'.join(wrong)


def case_keys():
    """What tables of keys promise."""
    with tempfile.TemporaryDirectory(prefix='vdbq-keys-') as folder:
        database = Path(folder, 'db')
        for name, *flags in (('a', 'unique'), ('b', 'unique', '--first', 5000), ('c', 'dense'),
                             ('d', 'skewed', '--distinct', 10)):
            generate('--keys', *flags, '--table', name, '--rows', 10_000, '--db', database)
        assert ask(database, 'count(distinct k) from a') == '10000'
        assert ask(database, 'count(*) from a, b where a.k = b.k') == '5000'
        assert ask(database, 'min(k), max(k), count(distinct k) from c') == '0|9999|10000'
        assert ask(database, 'count(distinct k), max(k) from d') == '10|9'
        assert 5200 < int(ask(database, 'count(*) from d where k = 0')) < 5800


def main():
    """Runs the cases."""
    passed = failed = 0
    for name, case in list(globals().items()):
        if not name.startswith('case_'):
            continue
        try:
            case()
            passed += 1
            print(f'ok      {name[5:]}', flush=True)
        except Exception:  # a case that breaks is a case that fails
            failed += 1
            print(f'FAILED  {name[5:]}', flush=True)
            traceback.print_exc(limit=-2, file=sys.stdout)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    BUILD = Path(sys.argv[1]).resolve()
    sys.exit(main())

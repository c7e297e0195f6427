#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of the benchmark: what it prints, and that README says the same.

    test_benchmark.py BUILD

Tables and plots are made of numbers that are easy to check; then the
benchmark runs over a small table on the host.
"""
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

ROOT = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / 'tools'))
import figures

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


def case_readme_is_in_step():
    """README and the plot beside it say what the kept figures say."""
    kept = ROOT / 'docs' / 'figures.jsonl'
    subprocess.run([sys.executable, ROOT / 'tools' / 'figures.py', '--check',
                    ROOT / 'README.md', kept], check=True)
    records = figures.read(kept)
    machine = re.search('<!-- figures growth (.*) -->', (ROOT / 'README.md').read_text())
    plot = figures.svg(figures.select(records, 'growth', machine.group(1)))
    assert plot == (ROOT / 'docs' / 'growth.svg').read_text(), 'docs/growth.svg is old'


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

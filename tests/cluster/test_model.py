#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The model of tools/cluster-model: its arithmetic, that the page says what was measured,
and that both tools run, with two ranks on small tables.

    test_model.py BUILD [PART...]

The parts are the functions below whose names begin with "test_". The last line is
"N passed, N failed".
"""
import itertools
import json
import subprocess
import sys
from xml.etree import ElementTree

sys.dont_write_bytecode = True
import test_cluster as cluster
from test_cluster import ROOT

import cluster_figures
import cluster_model as model
import cluster_plot
import cluster_runs

RATES = {'scan': 3, 'pack': 4, 'take': 5, 'build': 40, 'probe': 10, 'group': 60,
         'merge_group': 130, 'move': 20, 'order': 2e5, 'order_others': 3e5, 'alpha': 1500,
         'byte': 0.5}
SIZES = {'scan': (1e8, 0.01), 'broadcast join': (1e6, 1e8), 'exchanged join': (1e7, 1e8),
         'merged groups': (1e8, 1e3), 'exchanged groups': (1e8, 1e7)}
KEPT = ROOT / 'docs' / 'cluster.jsonl'


def costs(name, ranks, **rates):
    return model.QUERIES[name](RATES | rates, ranks, *SIZES[name])


def test_one_rank():
    """It has nobody to send to: what it takes is what the query takes alone."""
    for name in model.QUERIES:
        one = costs(name, 1)
        assert all(one[cost] == 0 for cost in ('exchange', 'network', 'merge')), (name, one)
        assert one['order'] == RATES['order'], one
        assert model.efficiency(model.QUERIES[name], RATES, 1, *SIZES[name]) == 1
        assert model.with_tree(RATES, 1, one) == one
    assert costs('scan', 1)['compute'] == 3e8
    for name in ('broadcast join', 'exchanged join'):
        build, probe = SIZES[name]
        assert costs(name, 1)['compute'] == build * 40 + probe * 10


def test_monotone():
    """More ranks compute less and tell more; nothing is cheaper over a slower link."""
    for name in model.QUERIES:
        for few, many in itertools.pairwise(model.powers(1024)):
            fewer, more = costs(name, few), costs(name, many)
            assert more['compute'] < fewer['compute'], (name, many)
            assert more['order'] > fewer['order'], (name, many)
            assert many == 2 or more['exchange'] <= fewer['exchange'], (name, many)
            slower = costs(name, many, alpha=9000, byte=2)
            assert slower['network'] > more['network'] and slower['order'] > more['order']
            assert model.total(model.with_tree(RATES, many, more)) <= model.total(more), name


def test_limits():
    """What all ranks do, and what rank 0 does alone, no number of ranks takes away."""
    build = SIZES['broadcast join'][0] * RATES['build']
    for ranks in model.powers(1024):
        assert costs('broadcast join', ranks)['compute'] > build
        taken = 1e6 * (ranks - 1) / ranks * RATES['take']
        assert abs(costs('scan', ranks)['merge'] - taken) < 1, ranks
    free = {'order': 0, 'order_others': 0, 'alpha': 0, 'byte': 0, 'merge_group': 0, 'pack': 0,
            'take': 0, 'move': 0}
    for name in ('scan', 'exchanged join', 'merged groups', 'exchanged groups'):
        found = model.efficiency(model.QUERIES[name], RATES | free, 1024, *SIZES[name])
        assert abs(found - 1) < 1e-9, (name, found)
    many = model.merged_groups(RATES, 64, 1e8, 1e8)
    assert model.limit(many) == 'merge' and model.best(model.merged_groups, RATES, 1024, 1e8,
                                                       1e8) <= 2
    assert model.half_way(model.scan, RATES, 1024, 1e12, 0) == 1024
    assert model.half_way(model.broadcast_join, RATES, 1024, 1e8, 1e8) <= 2


def test_runs():
    """A text of EXPLAIN ANALYZE is read, and packed and unpacked."""
    text = ('; cluster   on 2 ranks\n'
            ';   rank 0     5 rows, 70 bytes sent, compute 1.500 ms, exchange 0.250 ms, '
            'wait 2.000 ms, merge 0.125 ms, rest 1.000 ms  (vm, 1 threads)\n'
            ';   rank 1     6 rows, 80 bytes sent, compute 2.000 ms, exchange 0.500 ms, '
            'wait 0.000 ms, merge 0.000 ms, rest 0.000 ms  (vm, 1 threads)\n'
            '; timeline  ms of processors: c compute, x exchange, w wait, m merge, r rest; '
            'each letter 0.125 ms\n'
            ';   rank 0     c 1.000 x 0.250 w 0.500 m 0.125 r 0.750  ccxw.mr\n'
            ';   rank 1     c 2.000 x 0.500 w 0.000 m 0.000 r 0.000  cccxx\n'
            '; total     5.000 ms\n')
    one = cluster_runs.read_run(text)
    assert one['slot_ms'] == 0.125 and one['ranks'][1]['letters'] == 'cccxx', one
    assert cluster_runs.path_ms(one) == 2.5 + 0.5 + 0.125 + 0.75, one
    assert cluster_runs.slowest_ms(one, 'compute') == 2
    assert cluster_runs.unpacked(json.loads(json.dumps(cluster_runs.packed(one)))) == one
    tree = ElementTree.fromstring(cluster_figures.timeline({'a < b': one}))
    bars = [node for node in tree if node.get('height') == str(cluster_figures.BAR_HEIGHT)]
    assert len(bars) == 5 + 2, bars
    widths = [float(bar.get('width')) for bar in bars]
    assert abs(widths[0] - 2 * widths[1]) < 0.2, widths


def test_page():
    """The page and its plots say what was measured."""
    tool = ROOT / 'tools' / 'cluster-model'
    plot, timeline = cluster.FOLDER / 'model.svg', cluster.FOLDER / 'timeline.svg'
    subprocess.run([sys.executable, tool, KEPT, '--check', ROOT / 'docs' / 'cluster-measured.md',
                    '--plot', plot, '--timeline', timeline, '--build-dir', cluster.BUILD],
                   check=True)
    for made, name in ((plot, 'cluster_model.svg'), (timeline, 'cluster_timeline.svg')):
        assert made.read_text() == (ROOT / 'docs' / name).read_text(), f'docs/{name} is old'
    assert set(cluster_plot.SIZES) == set(model.QUERIES)


def tool(name, *arguments):
    """What a tool says of small tables."""
    common = ('--build-dir', cluster.BUILD, '--data', cluster.FOLDER, '--device', 'host', '--runs',
              '1', '--ranks', '1,2')
    done = subprocess.run([sys.executable, ROOT / 'tools' / name, *map(str, arguments),
                           *map(str, common)], capture_output=True, text=True, check=False,
                          env=cluster.ENVIRONMENT, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_tools():
    """Both measure two ranks."""
    lines = cluster.FOLDER / 'lines.jsonl'
    said = tool('benchmark-cluster', 'join', 'exchange', '--weak', '--rows', 20000, '--join-rows',
                200, '--json', lines, '--timeline', cluster.FOLDER / 'bars.svg')
    assert 'join, weak' in said and 'exchange, weak' in said, said
    records = [json.loads(line) for line in lines.read_text().splitlines()]
    assert [(line['part'], line['ranks'], line['rows']) for line in records] == [
        ('join', 1, 200), ('join', 2, 283), ('exchange', 1, 20000), ('exchange', 2, 40000)]
    said = tool('cluster-model', '--measure', lines, '--rows', 40000, '--plot',
                cluster.FOLDER / 'lines.svg')
    for name in cluster_plot.TABLES:
        assert f'{name}\n' in said, said
    found = json.loads(lines.read_text().splitlines()[-1])
    assert set(RATES) <= set(found['rates']) and len(found['checks']) == 2 * len(model.QUERIES)
    alone = [line for line in found['checks'] if line['ranks'] == 1 and line['query'] == 'scan']
    assert abs(cluster_plot.predicted_ms(found, alone[0]) - alone[0]['ms']) < 1e-6, alone


if __name__ == '__main__':
    sys.exit(cluster.run_parts(globals()))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Jobs of several ranks of which one dies, stops or sends garbage, or that are told to end.

    test_faults.py [--tries N] [--seed N] BUILD

At random moments of queries and changes each job gets one fault. It must end within
END_SECONDS with an error that names the rank, its machine and the reason, leave no process
and a file that is whole, and the next job must work. The last line is "N passed, N failed".
"""
import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
import test_cluster as cluster

END_SECONDS = 10   # from the fault to the end of the last process, on an idle machine ...
PATIENCE = 60      # ... and on one with other work, where that is told, not failed
SILENCE_MS = 7000  # the shell's own, unless a test says otherwise
RANKS = 3
SUM = 'select sum(x) from t;\nselect * from t;\n'
TEXTS = 'select max(b.s) from t a join t b on a.x = b.x;\n'
GROUPS = 'select count(*) from (select x, count(*) from t group by x);\n'
JOIN = 'select count(*) from t a join t b on a.x = b.x;\n'
GARBAGE = (('welcome', SUM), ('ready', SUM), ('data', SUM), ('data', JOIN), ('data', TEXTS),
           ('data', GROUPS), ('end', SUM))  # kinds of messages that are cut, and a query
ROWS = 60000


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build', help="the folder that the project was built in")
    parser.add_argument('--tries', type=int, default=14)
    parser.add_argument('--seed', type=int, default=4)
    return parser.parse_args()


# ---------------------------------------------------------- processes --

def processes(marker):
    """The ranks that have a word in their command line: process ids by rank."""
    found = {}
    for folder in Path('/proc').glob('[0-9]*'):
        try:
            words = (folder / 'cmdline').read_bytes().split(b'\0')
            if words[0].endswith(b'vdbq') and any(marker in word for word in words):
                variables = (folder / 'environ').read_bytes().split(b'\0')
                rank = [v for v in variables if v.startswith(b'OMPI_COMM_WORLD_RANK=')]
                found[int(rank[0].split(b'=')[1])] = int(folder.name)
        except (OSError, IndexError):
            continue
    return found


def wait_for(what, seconds):
    """What a function gives that is true, in so many seconds."""
    end = time.monotonic() + seconds
    while not (found := what()) and time.monotonic() < end:
        time.sleep(0.01)
    return found


class Job:
    """Ranks that query and change a database for minutes."""

    def __init__(self, database, folder):
        self.errors, self.rows = folder / 'errors.txt', folder / 'rows.txt'
        self.marker = str(database).encode()
        sql = ''.join('select k, sum(x), max(upper(s)) from t group by k;\n'
                      'select * from t where id % 3 = 0;\n'
                      'select count(*), sum(a.k) from t a join t b on a.x = b.x;\n'
                      "insert into t select max(id) + 1, 1, 2, 'x' from t;\n" for _ in range(4000))
        (folder / 'work.sql').write_text(sql)
        with open(self.errors, 'wb') as errors, open(self.rows, 'wb') as rows:
            self.mpirun = subprocess.Popen(
                ['mpirun', '--oversubscribe', '-n', str(RANKS), *map(str, cluster.alone(database)),
                 '--cluster', '--file', folder / 'work.sql'], stdin=subprocess.DEVNULL,
                stdout=rows, stderr=errors, env=cluster.ENVIRONMENT | {'VDBQ_EXCHANGE': 'on'},
                start_new_session=True)
        self.ranks = wait_for(lambda: (f := processes(self.marker)) and len(f) == RANKS and f,
                              PATIENCE)
        assert self.ranks, f'the ranks have not started: {self.said()}'

    def await_rows(self):
        assert wait_for(lambda: self.rows.stat().st_size, PATIENCE), f'no rows: {self.said()}'

    def said(self):
        return self.errors.read_text('utf-8')

    def fault(self, rank, sent):
        """A rank, or mpirun (-1), gets a signal; how many seconds it takes until all is over."""
        os.kill(self.mpirun.pid if rank < 0 else self.ranks[rank], sent)
        start = time.monotonic()
        try:
            self.mpirun.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.mpirun.kill()
            raise AssertionError(f'mpirun goes on: {self.said()}') from None
        left = wait_for(lambda: not processes(self.marker), PATIENCE)
        assert left, f'processes are left: {processes(self.marker)}'
        assert self.mpirun.returncode != 0, 'mpirun has ended as if all were well'
        return time.monotonic() - start


# -------------------------------------------------------------- faults --

def told(rank, sent, starts):
    """What must be told of a fault: lists of words, of one of which all are there. While MPI
    `starts`, ranks cannot say more than that it does not."""
    host = os.uname().nodename
    if rank < 0:
        return [['']]
    if sent == signal.SIGKILL:
        return [[f'rank {rank} ', host, 'signal 9']]  # by mpirun
    return [[f'rank {rank} ({host}) has been silent for {SILENCE_MS / 1000:.1f} s']] + \
        ([['MPI has not started on all ranks']] if starts else [])


FAULTS = [(rank, sent) for sent in (signal.SIGKILL, signal.SIGSTOP) for rank in range(RANKS)]
FAULTS += [(-1, signal.SIGINT), (-1, signal.SIGTERM)]


def file_is_whole(database):
    """All tablets are sound, the first rows are there, and added ones without a gap."""
    sql = f""".check
              select count(*), sum(k) from t where id <= {ROWS};
              select count(*) = max(id) from t;
           """
    text, errors = cluster.run(cluster.ranks(2, database), sql)
    wanted = f'\n{ROWS},{sum(i % 7 for i in range(1, ROWS + 1))}\n'
    assert errors == '' and wanted in text and text.endswith('\n1\n'), (text, errors)


def names_the_dead(said, rank):
    """Whether rank 0 tells who has died: on a busy machine it may be killed, too, before it
    can. It tells of no other rank."""
    dead = re.findall(r'rank (\d+) \(.*\) has died', said)
    assert dead in ([], [str(rank)]), said
    return dead != []


def test_signal(rng, database, folder, rank, sent, named):
    """At some moment of the start, or of the work. `named` is added to where rank 0 has seen
    another one die."""
    job, starts = Job(database, folder), rng.random() < 0.3
    if not starts:
        job.await_rows()
    time.sleep(rng.random() * 1.5)
    seconds = job.fault(rank, sent)
    said, wanted = job.said(), told(rank, sent, starts)
    assert any(all(part in said for part in parts) for parts in wanted), \
        f'{wanted} is not told: {said}'
    if sent == signal.SIGKILL and rank > 0 and not starts:
        named.append(names_the_dead(said, rank))
    file_is_whole(database)
    return seconds


def test_garbage(database, kind, text):
    """Messages of rank 1 of a kind are cut."""
    sql = Path(cluster.FOLDER) / 'garbage.sql'
    sql.write_text(text)
    start = time.monotonic()
    done = subprocess.run(
        ['mpirun', '--oversubscribe', '-n', '1', *map(str, cluster.alone(database)), '--cluster',
         '--file', sql, ':', '-n', '1', cluster.BUILD / 'tests' / 'garbage', kind,
         database],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        env=cluster.ENVIRONMENT | {'VDBQ_EXCHANGE': 'on'}, timeout=PATIENCE)
    wanted = f'error: rank 1 ({os.uname().nodename}) sends garbage'
    assert done.returncode != 0 and wanted in done.stderr, (done.stdout, done.stderr)
    return time.monotonic() - start


def main():
    options = arguments()
    cluster.BUILD = Path(options.build).resolve()
    rng, failed, slowest, named = random.Random(options.seed), 0, 0.0, []
    with tempfile.TemporaryDirectory(prefix='faults') as made:
        cluster.FOLDER = folder = Path(made)
        database = folder / 'faults.vdb'
        cluster.make_table(database, rows=ROWS)
        tests = [(f'garbage as {kind}', lambda kind=kind, text=text:
                  test_garbage(database, kind, text)) for kind, text in GARBAGE]
        for number in range(options.tries):
            rank, sent = FAULTS[number % len(FAULTS)]
            tests.append((f'{sent.name} to {"mpirun" if rank < 0 else f"rank {rank}"}',
                          lambda rank=rank, sent=sent: test_signal(rng, database, folder, rank,
                                                                   sent, named)))
        for name, test in tests:
            try:
                seconds = test()
                slowest = max(slowest, seconds)
                print(f'{name}: {seconds:.1f} s', flush=True)
            except AssertionError as fault:
                failed += 1
                print(f'{name}: {fault}', flush=True)
    if named and not any(named):
        failed += 1
        print('rank 0 never told which rank had died')
    print(f'rank 0 named {sum(named)} of {len(named)} ranks that died')
    print(f'the slowest job ended after {slowest:.1f} s (idle machines: {END_SECONDS} at most)')
    print(f'{len(tests) - failed} passed, {failed} failed')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())

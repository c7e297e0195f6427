#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the fuzz targets of a build.

    fuzz.py [options] FOLDER [TARGET...]

FOLDER is a build with -Dfuzz=enabled. The inputs that each target starts with
are made from the statements of tests/sql, the programs of tests/prog, a few
files and small databases. An input that crashes, leaks, takes too long or too
much memory is kept in FOLDER/fuzz; "TARGET FILE" runs it again. What was said
of it comes last, with the input as text. The last line is "N passed, N failed",
a target each.
"""
import argparse
import base64
import lzma
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
TARGETS = ('sql', 'data', 'file', 'csv', 'prog')
RECORDS = 12         # of a file of tests/sql that make one input
MEGABYTES_MAX = 2048
SECONDS_MAX = 80     # of one input, not optimised, beside other steps
LINES_MAX = 22       # of a failure that are shown
TEXT_MAX = 6000      # characters of an input that are
SIZE_MAX = {'sql': 1500, 'data': 2500, 'file': 1 << 17, 'csv': 3000, 'prog': 700}
FRESH = ('file', 'csv')  # have a database for each input; others' leaks are told at the end
CSV = ('a,b\n1,x\n2,y\n', 'id;n;s\n007;1,5;"a;b"\n\n8;2;"q""q"\n', 'a\tb\r\n1\t2\r\n',
       'd|t|f\n2024-02-29|2024-01-01 00:00:00|1e5\n||\n', '"a\nb",c\n"",\n',
       '99999999999999999999\n', '\ufeffa,b\ntrue,NULL\nfalse,1.5\n', 'a,b\n1\n', '',
       "'a','b'\n'x,y','z'\n", '|' * 400 + '\n1' + '|x' * 400 + '\n')
DATABASES = (
    "create table t (id integer primary key, a integer, s text, d double); insert into t values "
    "(1, 2, 'a', 0.5), (2, null, null, null), (3, 70000, 'zz', -1.5), (9, 3, '', 1e300);",
    "create table u (a bigint unique, s text, b boolean default true); insert into u values "
    "(5000000000, 'x', false), (7, 'y', true); create view v as select s from u where a > 6; "
    "create index i on u (s); create unique index j on u (b, a); update u set s = s || s;",
    "create table k (k integer, s text); insert into k select 5, 'same' from (values (1), (2), (3),"
    " (4), (5), (6), (7)); insert into k values (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e');",
    "create table m (y date, w timestamp, m decimal(9,2), f float, z smallint); insert into m "
    "values ('2024-02-29', '2024-01-01 12:00:00', 1.25, 0.5, 7), (null, null, null, null, null);")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('folder', type=Path)
    parser.add_argument('target', nargs='*', default=TARGETS)
    parser.add_argument('--seconds', type=int, help='for each target',
                        default=int(os.environ.get('VDBQ_FUZZ_SECONDS', 30)))
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--jobs', type=int, default=2)
    return parser.parse_args()


# ------------------------------------------------------ the first inputs --

def statements():
    """The statements of tests/sql, file by file."""
    for path in sorted((TESTS / 'sql').rglob('*.slt')):
        found = []
        for block in path.read_text('utf-8').split('\n\n'):
            match = re.search(r'^(?:statement|query)[^\n]*\n(.*?)(?:\n----.*)?\Z', block,
                              re.S | re.M)
            if match:
                found.append(match.group(1).strip())
        yield found


def sql_inputs(build):
    del build
    for found in statements():
        yield from (';\n'.join(found[i:i + 4]).encode() for i in range(0, len(found), 4))


def data_inputs(build):
    del build
    for found in statements():
        made = [s for s in found if s.lower().startswith('create')][:3]
        for i in range(0, len(found), RECORDS):
            yield ';\n'.join([*made, *found[i:i + RECORDS]]).encode()


def file_inputs(build):
    """Small databases, made by a shell of the same build: its checksums are constant."""
    for sql in DATABASES:
        for rows, encoding in (('2', 'plain'), ('64', 'packed')):
            path = build / 'fuzz' / 'made.vdb'
            path.unlink(missing_ok=True)
            environment = dict(os.environ, VDBQ_TABLET_ROWS=rows, VDBQ_ENCODING=encoding,
                               VDBQ_DEVICE='host')
            subprocess.run([build / 'vdbq', '--no-sync', path, '-c', sql], check=True,
                           env=environment)
            yield path.read_bytes()


def csv_inputs(build):
    del build
    for how in range(15):
        yield from (bytes([how, (how + number) % 8]) + text.encode()
                    for number, text in enumerate(CSV))


def prog_inputs(build):
    """The programs of tests/prog as texts, and bytes to make others from."""
    del build
    for path in sorted((TESTS / 'prog').glob('*.prog')):
        for text in path.read_text('utf-8').split('# program:'):
            yield b'\xff' + text.encode()
    state = 1
    for length in range(20, 420, 4):
        made = bytearray()
        while len(made) < length:
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            made.append((state >> 40) % 255)
        yield bytes(made)


INPUTS = {'sql': sql_inputs, 'data': data_inputs, 'file': file_inputs, 'csv': csv_inputs,
          'prog': prog_inputs}


def make_inputs(build, target):
    """A folder with the inputs that a target starts with."""
    folder = build / 'fuzz' / target
    folder.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(INPUTS[target](build)):
        (folder / f'{number:04}').write_bytes(data[:SIZE_MAX[target]])
    return folder


# --------------------------------------------------------------------- run --

def statistics(text):
    """What libFuzzer counted, and what the target itself said last."""
    lines = text.splitlines()
    told = [i for i, line in enumerate(lines) if line.startswith('stat::')]
    return lines[told[0]:] if told else []


def report(text):
    """What was said of a failure, without what libFuzzer tells of its way there."""
    lines = [line for line in text.splitlines()
             if not re.match(r'\s*(?:NEW_FUNC|INFO:|"|stat::|#)', line) or line.startswith('==')]
    return lines[:LINES_MAX]


def artefacts(options, target):
    """The inputs that failed, as texts: a log is all that some machines leave."""
    for path in sorted((options.folder / 'fuzz').glob(target + '-*-*')):
        data = lzma.compress(path.read_bytes())
        text = base64.b64encode(data).decode()
        yield f'{path.name}, xz and base64: {text if len(text) < TEXT_MAX else "too long"}'


def run(options, target):
    """Runs a target; the lines to show of a failure, none if all went well."""
    build = options.folder
    inputs = make_inputs(build, target)
    found = build / 'fuzz' / (target + '-found')
    found.mkdir(exist_ok=True)
    command = [build / 'tests' / 'fuzz' / f'fuzz_{target}', f'-seed={options.seed}',
               f'-max_total_time={options.seconds}', f'-timeout={SECONDS_MAX}',
               f'-rss_limit_mb={MEGABYTES_MAX}', f'-max_len={SIZE_MAX[target]}',
               f'-artifact_prefix={build}/fuzz/{target}-',
               f'-detect_leaks={int(target in FRESH)}', '-entropic=0', '-print_final_stats=1',
               '-verbosity=0',
               found, inputs]
    environment = dict(os.environ, UBSAN_OPTIONS='halt_on_error=1:print_stacktrace=1')
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=environment, check=False)
    text = done.stdout.decode(errors='replace')
    (build / 'fuzz' / f'{target}.log').write_text(text, 'utf-8')
    print('\n'.join([f'{target}: exit code {done.returncode}', *statistics(text)]), flush=True)
    if done.returncode == 0:
        return []
    return [f'{target} failed: exit code {done.returncode}', *report(text),
            *artefacts(options, target)]


def main():
    options = arguments()
    options.folder = options.folder.resolve()
    (options.folder / 'fuzz').mkdir(exist_ok=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        failures = list(pool.map(lambda target: run(options, target), options.target))
    failed = [lines for lines in failures if lines]
    for lines in failed:
        print('\n'.join(lines))
    print(f'{len(failures) - len(failed)} passed, {len(failed)} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

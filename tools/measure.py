# SPDX-License-Identifier: MIT
"""What the benchmarks of many tables have in common: their options, tables that are
made once, and vdbq's own measuring program, which runs queries in a process.
"""
import argparse
import json
import os
import queue
import shlex
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

import figures
import peers

HERE = Path(__file__).resolve().parent
KEPT = ('rows', 'total_ms', 'kernel_ms', 'first_ms', 'peak_bytes', 'mode')
UNSAID = ('--json', '--build-dir', '--machine', '--vdbq', '--generate', '--benchmark', '--data',
          '--timeline', '--measure')


def parser_of(description):
    """A parser that knows the options of all."""
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build-dir', type=Path, default=HERE.parent / 'build')
    parser.add_argument('--vdbq', type=Path, help='the shell (in the build folder)')
    parser.add_argument('--generate', type=Path, help='the generator (likewise)')
    parser.add_argument('--benchmark', type=Path, help='vdbq-benchmark (likewise)')
    parser.add_argument('--data', type=Path, help='where tables are kept (the build folder)')
    parser.add_argument('--device', default='cpu')
    parser.add_argument('--mode', default='auto')
    parser.add_argument('--runs', type=int, default=5, help='of each query; medians count')
    parser.add_argument('--threads', type=int, default=len(os.sched_getaffinity(0)),
                        help='of DuckDB (%(default)s)')
    parser.add_argument('--timeout', type=float, default=600, help='seconds that all runs of '
                        'the queries of one process may take (%(default)s)')
    parser.add_argument('--json', type=Path, help='write the lines of JSON here')
    parser.add_argument('--machine', default='this machine', help='what they call it')
    return parser


def parse(parser):
    """The options, paths filled in."""
    options = parser.parse_args()
    if options.runs < 1:
        parser.error('--runs is 1 or more')
    options.vdbq = options.vdbq or options.build_dir / 'vdbq'
    options.generate = options.generate or options.build_dir / 'tools' / 'generate'
    options.benchmark = options.benchmark or options.build_dir / 'tools' / 'vdbq-benchmark'
    options.data = options.data or options.build_dir
    options.data.mkdir(parents=True, exist_ok=True)
    if 'HOME' not in os.environ:
        os.environ.setdefault('XDG_CACHE_HOME', str(options.data / 'cache'))
    return options


def command_line(program):
    """The command as one would type it, but for where things are."""
    parser = argparse.ArgumentParser(add_help=False)
    for option in UNSAID:
        parser.add_argument(option)
    return shlex.join([f'tools/{program}', *parser.parse_known_args()[1]])


def record(options, program, where, rows, **lists):
    """A line for docs/figures.jsonl."""
    label = options.device + ('' if options.mode == 'auto' else ' ' + options.mode)
    return {'machine': options.machine, 'command': command_line(program), 'rows': rows,
            'where': where, 'label': label, 'threads': options.threads} | lists


def write(options, records):
    """Writes the lines of JSON where that was asked for, and prints their tables."""
    if options.json:
        options.json.write_text(''.join(json.dumps(line) + '\n' for line in records))
    print('\n' + figures.everything(records, figures.plain))


# ------------------------------------------------------------------ vdbq --

def run_queries(options, database, queries, **settings):
    """What vdbq-benchmark says of each query, in order; {'fault': why} of one that fails."""
    results = []
    while len(results) < len(queries):
        lines, fault = run_until_fault(options, database, queries[len(results):], settings)
        results += lines
        if len(results) < len(queries):
            results.append({'fault': fault})
    return results


def run_until_fault(options, database, queries, settings):
    """What one process says of the queries until one fails, and why that one did."""
    settings = {'device': options.device, 'mode': options.mode, 'runs': options.runs} | settings
    flags = [word for name, value in settings.items() for word in (f'--{name}', str(value))]
    with tempfile.NamedTemporaryFile('w', suffix='.sql') as file:
        file.write(''.join(query + '\n' for query in queries))
        file.flush()
        said, fault = run_limited([options.benchmark, '--queries', file.name, *flags, database],
                                  options.timeout)
    lines = [json.loads(line) for line in said.splitlines() if line.endswith('}')]
    return [{key: line[key] for key in KEPT} for line in lines], fault


def run_limited(command, seconds):
    """(standard output, why it failed) of a command that is ended after so many seconds."""
    with tempfile.TemporaryFile('w+') as said:
        try:
            done = subprocess.run(command, stdout=said, stderr=subprocess.PIPE, text=True,
                                  check=False, timeout=seconds)
            fault = done.stderr.strip().split('\n')[0] or f'exit code {done.returncode}'
        except subprocess.TimeoutExpired:
            fault = f'took more than {seconds} s'
        said.seek(0)
        return said.read(), fault


def run_once(options, database, queries, seconds, cores, pause_ms=0):
    """What vdbq-benchmark says of queries that are run once each, on so many cores, with
    a pause behind the second; {'fault': why} of the first that fails or takes more than
    so many seconds."""
    with tempfile.NamedTemporaryFile('w', suffix='.sql') as file:
        file.write(''.join(' '.join(query.split()) + '\n' for query in queries))
        file.flush()
        said, fault = watched([options.benchmark, '--queries', file.name, '--once', 'yes',
                               '--pause', str(pause_ms),
                               '--device', options.device, '--mode', options.mode,
                               *cores_flags(options, cores), database], seconds, cores)
    results = [json.loads(line) for line in said]
    return results + ([{'fault': fault}] if len(results) < len(queries) else [])


def cores_flags(options, cores):
    return ['--cores', str(cores)] if options.device == 'cpu' and cores else []


def keep_to(cores):
    """Keeps this process, and what it starts, to so many cores; 0: to all."""
    if cores:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])


def watched(command, seconds, cores):
    """(lines of standard output, why there are no more) of a command that is ended
    when no line has come for so many seconds."""
    lines = queue.SimpleQueue()
    with tempfile.TemporaryFile('w+') as complaints, subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=complaints, text=True,
            preexec_fn=lambda: keep_to(cores)) as process:
        reader = threading.Thread(target=put_lines, args=(process.stdout, lines))
        reader.start()
        said = []
        try:
            while (line := lines.get(timeout=seconds)) is not None:
                said.append(line)
            process.wait()
            complaints.seek(0)
            fault = complaints.read().strip().split('\n')[0] or f'exit code {process.returncode}'
        except queue.Empty:
            process.kill()
            fault = no_end(seconds)
        reader.join()
    return said, fault


def put_lines(stream, lines):
    for line in stream:
        lines.put(line)
    lines.put(None)


def no_end(seconds):
    return f'no end in {seconds:g} s'


def shell(options, database, sql, target=None, form='csv'):
    """What the shell writes for a statement: its text, or a file's."""
    command = [options.vdbq, '--readonly', '--mode', form, '--no-header', '--device',
               options.device, '--exec-mode', options.mode, database, sql]
    if target is None:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    with open(target, 'w', encoding='utf-8') as file:
        subprocess.run(command, stdout=file, stderr=subprocess.PIPE, text=True, check=True)
    return ''


# ------------------------------------------------------------------ data --

def made_once(path, make):
    """`path`, by make(partial path) where it is not there yet; no half of it stays."""
    if not path.exists():
        print(f'making {path} ...', flush=True)
        partial = path.with_name(path.name + '.partial')
        shutil.rmtree(partial, ignore_errors=True)
        partial.unlink(missing_ok=True)
        make(partial)
        partial.rename(path)
    return path


def make_tables(options, name, tables):
    """(database, folder) with {table: arguments of generate}; the folder holds
    the columns of each table in a folder of its name."""
    folder = made_once(options.data / name,
                       lambda partial: generate_tables(options, partial, tables))
    return folder / 'tables.vdb', folder


def generate_tables(options, folder, tables):
    for table, arguments in tables.items():
        (folder / table).mkdir(parents=True)
        subprocess.run([options.generate, '--table', table, *map(str, arguments),
                        '--raw', folder / table, '--db', folder / 'tables.vdb'], check=True)


def benchmark_database(options, kind):
    """The database of options.db, with the tables of a benchmark: ssb, tpch, hits, log."""
    return made_once(options.db, lambda partial: generate_benchmark(options, kind,
                                                                    '--db', partial))


def build_kernels(options):
    """Compiles the interpreted machine beforehand, which is done once for a driver."""
    if options.device == 'host':
        return
    for registers in ('16', '64'):
        subprocess.run([options.vdbq, '--device', options.device, '--kernels', f'{registers},1'],
                       check=True)


def generate_benchmark(options, kind, *flags):
    subprocess.run([options.generate, f'--{kind}', options.scale, *flags], check=True)


def benchmark_duckdb(options, kind):
    """A connection to the file beside the database, with the same rows; None: no DuckDB."""
    if duckdb_open(options) is None:
        return None
    file = made_once(options.db.with_suffix('.duckdb'),
                     lambda partial: load_duckdb(options, kind, partial))
    return duckdb_open(options, file=file, read_only=True)


def load_duckdb(options, kind, file):
    """Fills a file from CSV, which goes again: it is larger than both databases."""
    folder = options.db.with_suffix('.csv')
    folder.mkdir(exist_ok=True)
    generate_benchmark(options, kind, '--csv', folder)
    db = duckdb_open(options, file=file)
    for statement in shell(options, options.db, '.schema').splitlines():
        db.execute(statement.replace(' PRIMARY KEY', ''))
    for table in folder.iterdir():
        db.execute(f"copy {table.stem} from '{table}' (header true, allow_quoted_nulls false)")
    db.close()
    shutil.rmtree(folder)


# ---------------------------------------------------------------- DuckDB --

def duckdb_open(options, folder=None, tables=(), file=':memory:', read_only=False):
    """DuckDB with those tables; None: it is not here."""
    missing = peers.duckdb_missing()
    if missing:
        print(f'DuckDB: left out, {missing}')
        return None
    import duckdb
    db = duckdb.connect(str(file), read_only=read_only)
    db.execute(f'set threads = {options.threads}')
    for table in tables:
        peers.duckdb_fill(db, folder / table, table)
    return db


def duckdb_time(options, db, sql):
    """(rows, median milliseconds) with the result as an Arrow table; Nones: not here."""
    if db is None:
        return None, None
    rows, total = peers.timed(lambda: peers.duckdb_fetch(db)(sql), options.runs)
    return rows, round(total, 3)


def columns_of(results, *keys):
    """The lists that records have: values of each key, None where there is none."""
    return {key: [result.get(key) for result in results] for key in keys}

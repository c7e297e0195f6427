# SPDX-License-Identifier: MIT
"""What the benchmarks of one wide table have in common: a file of queries, which
run on vdbq and on DuckDB by turns, and whose answers are compared.
"""
import datetime
import json
import subprocess
import sys

import answers
import figures
import measure

EMPTY = '\0'  # stands for a text without characters, which is not NULL


def main(description, kind, table, rows):
    """The whole of tools/benchmark-KIND, whose queries are those of tools/KIND.sql."""
    options = arguments(description, kind, rows)
    measure.benchmark_database(options, kind)
    db = None if options.no_duckdb else measure.benchmark_duckdb(options, kind)
    queries = (measure.HERE / f'{kind}.sql').read_text().splitlines()
    print('query     rows    vdbq ms  DuckDB ms  DuckDB / vdbq', flush=True)
    results = [one(options, db, number, queries[number])
               for number in options.queries or range(len(queries))]
    lists = measure.columns_of(results, 'name', 'rows', 'kernel_ms', 'total_ms', 'peer_ms')
    lists['answer_rows'] = lists.pop('rows')
    rows = int(measure.shell(options, options.db, f'select count(*) from {table}'))
    measure.write(options, [measure.record(options, f'benchmark-{kind}', kind, rows, **lists)])
    return 1 if any('fault' in result for result in results) else 0


def arguments(description, kind, rows):
    parser = measure.parser_of(description)
    parser.add_argument('--rows', dest='scale', default=rows, help='of the table (%(default)s)')
    parser.add_argument('--db', type=measure.Path, help=f'the database ({kind}-N.vdb in --data)')
    parser.add_argument('--queries', type=lambda text: [int(word) for word in text.split(',')],
                        help='numbers from 0 on, separated by commas (all)')
    parser.add_argument('--no-duckdb', action='store_true')
    options = measure.parse(parser)
    options.db = options.db or options.data / f'{kind}-{options.scale}.vdb'
    return options


def one(options, db, number, sql):
    """Runs a query on both, one after the other, and tells it. Its kernels are built
    before that, and kept: a program that runs often has them."""
    if options.device != 'host':
        measure.run_queries(options, options.db, [sql], runs=1, build='specialised')
    result, = measure.run_queries(options, options.db, [sql])
    result['name'] = str(number)
    if db is not None:
        _, result['peer_ms'] = measure.duckdb_time(options, db, sql)
    verdict = ''
    if db is not None and 'fault' not in result:
        differs = compare(options, db, sql)
        verdict = differs or 'EQUAL'
        result |= {'fault': differs} if differs else {}
    times = (figures.short(result.get(key)) or '-' for key in ('total_ms', 'peer_ms'))
    print(f'{number:>5} {result.get("rows", "-"):>8} ' + ' '.join(f'{ms:>10}' for ms in times),
          f'{figures.times(result.get("peer_ms"), result.get("total_ms")) or "-":>14}',
          result.get('fault', verdict), flush=True)
    return result


# --------------------------------------------------------------- compare --

def compare(options, db, sql):
    """'' or what is different."""
    lines = measure.shell(options, options.db, sql, form='jsonlines').splitlines()
    ours = [tuple(value for _, value in json.loads(line, object_pairs_hook=list))
            for line in lines]
    relation = db.execute(sql)
    names = [column[0].replace('count_star()', 'count(*)') for column in relation.description]
    theirs = relation.fetchall()

    def unlimited(text):
        return plain(db.execute(text).fetchall())

    return answers.difference(sql, plain(ours), names, plain(theirs), unlimited)


def plain(rows):
    """Rows of Python's values as the shell's JSON has them, but for empty texts."""
    return [tuple(map(plain_value, row)) for row in rows]


def plain_value(value):
    if value == '':
        return EMPTY
    if isinstance(value, datetime.datetime) and value.microsecond:
        return str(value).rstrip('0')
    return str(value) if isinstance(value, datetime.date) else value


def run(description, kind, table, rows):
    """main(), as the whole of a program."""
    try:
        sys.exit(main(description, kind, table, rows))
    except (KeyboardInterrupt, BrokenPipeError):
        sys.exit(130)
    except subprocess.CalledProcessError as error:
        sys.exit(f'benchmark-{kind}: {error} {error.stderr or ""}')

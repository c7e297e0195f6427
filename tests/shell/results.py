# SPDX-License-Identifier: MIT
"""What results look like, in every format."""
import csv
import io
import json
import os
import struct
import subprocess

from shell.session import TABLE, VDBQ, environment, expect, run, sqlite, write


def case_quote(folder):
    result = run(folder, '--mode', 'quote', text=TABLE + 'select id, x, y, b from t;')
    expect(result, 0, '1,0.5,1e+300,9007199254740993\n2,0.1,NULL,-1\n3,NULL,-2.0,0\n')
    result = run(folder, '-quote', '-c', TABLE, '-c', 'select id from t where id > 7')
    expect(result, 0, '')


def case_json(folder):
    result = run(folder, '-json', '-c', TABLE, '-c', 'select * from t')
    expect(result)
    rows = json.loads(result.out)
    assert rows[0] == {'id': 1, 'x': 0.5, 'y': 1e300, 'b': 9007199254740993}, rows
    assert rows[1]['y'] is None and len(rows) == 3, rows
    result = run(folder, '-json', '-c', TABLE, '-c', 'select id from t where id > 7')
    assert json.loads(result.out) == [], result
    result = run(folder, '-jsonlines', '-c', TABLE, '-c', 'select id, b from t')
    assert [json.loads(line)['b'] for line in result.out.splitlines()] == [
        9007199254740993, -1, 0], result


def case_csv(folder):
    result = run(folder, '-c', TABLE, '-c', 'select * from t')
    expect(result)
    rows = list(csv.reader(io.StringIO(result.out)))
    assert rows[0] == ['id', 'x', 'y', 'b'] and rows[2] == ['2', '0.1', '', '-1'], rows
    result = run(folder, '--no-header', '-c', TABLE, '-c', 'select x from t')
    expect(result, 0, '0.5\n0.1\n\n')


def case_other_formats(folder):
    sql = TABLE + 'select id, x from t;'
    expect(run(folder, '-list', '-c', sql), 0, 'id|x\n1|0.5\n2|0.1\n3|\n')
    expect(run(folder, '-tabs', '-c', sql), 0, 'id\tx\n1\t0.5\n2\t0.1\n3\t\n')
    expect(run(folder, '-markdown', '-c', sql), 0,
           '| id | x |\n|--:|--:|\n| 1 | 0.5 |\n| 2 | 0.1 |\n| 3 | NULL |\n')
    expect(run(folder, '-line', '-c', sql), 0,
           'id = 1\n x = 0.5\n\nid = 2\n x = 0.1\n\nid = 3\n x = NULL\n')


def case_box(folder):
    result = run(folder, '-box', '-c', TABLE, '-c', 'select id, x from t')
    expect(result, 0, '┌─────────┬───────┐\n'
                      '│      id │     x │\n'
                      '│ INTEGER │ FLOAT │\n'
                      '├─────────┼───────┤\n'
                      '│       1 │   0.5 │\n'
                      '│       2 │   0.1 │\n'
                      '│       3 │  NULL │\n'
                      '└─────────┴───────┘\n')


def case_table(folder):
    script = """.mode table
create table t (id integer primary key, x double, name text);
insert into t values (1, 0.5, 'a word'), (2, -17.25, 'naïve'), (300, 1000.0, '');
select * from t; select name, x as a_longer_name, id as i from t; select 1 as abcd, 'x' as b;
"""
    expected = ('+-----+--------+--------+\n'
                '| id  |   x    |  name  |\n'
                '+-----+--------+--------+\n'
                '| 1   | 0.5    | a word |\n'
                '| 2   | -17.25 | naïve  |\n'
                '| 300 | 1000.0 |        |\n'
                '+-----+--------+--------+\n')
    result = run(folder, text=script)
    expect(result)
    assert result.out.startswith(expected), result
    assert sqlite(script) in (None, result.out), (sqlite(script), result)
    expect(run(folder, '-table', '--no-header', '-c', "select null, 'a' || char(10)"), 0,
           '+------+-----+\n| NULL | a\\n |\n+------+-----+\n')
    result = run(folder, '-table', '-c', '.maxrows 1', '-c', 'select 1 as a union all select 2')
    assert '| 1 |' in result.out and '| 2 |' not in result.out, result
    assert '2 rows, 1 hidden' in result.out, result


def case_insert(folder):
    values = "(1, 0.5, 'a word'), (2, null, 'it''s'), (null, 1e999, '')"
    script = f"""create table "my t" (id integer, x double, "select" text);
insert into "my t" values {values};
.mode insert
select * from "my t";
.headers on
.mode insert "my t"
select * from "my t";
select 1 as a_name, 2 as "order", 3 as "two words";
.headers off
.mode insert _t2
select * from "my t" where id = 1;
.mode insert
select 1 where 0; select 2;
"""
    result = run(folder, text=script)
    expect(result, 0, 'INSERT INTO "table" VALUES(1,0.5,\'a word\');\n'
                      'INSERT INTO "table" VALUES(2,NULL,\'it\'\'s\');\n'
                      'INSERT INTO "table" VALUES(NULL,1e999,\'\');\n'
                      'INSERT INTO "my t"(id,x,"select") VALUES(1,0.5,\'a word\');\n'
                      'INSERT INTO "my t"(id,x,"select") VALUES(2,NULL,\'it\'\'s\');\n'
                      'INSERT INTO "my t"(id,x,"select") VALUES(NULL,1e999,\'\');\n'
                      'INSERT INTO "my t"(a_name,"order","two words") VALUES(1,2,3);\n'
                      "INSERT INTO _t2 VALUES(1,0.5,'a word');\n"
                      'INSERT INTO "table" VALUES(2);\n')
    assert sqlite(script) in (None, result.out), (sqlite(script), result)


def case_insert_comes_back(folder):
    table = ('create table "a ""b" (i bigint, d double, s text, m decimal(9,2), day date, '
             'w timestamp, o boolean);')
    rows = ("(9223372036854775807, 1e-300, 'x''y' || char(10) || 'z', -1.05, '2024-02-29', "
            "'2024-02-29 13:05:00.5', true), (null, null, null, null, null, null, null), "
            "(-1, 0.1, ';', 0, '0001-01-01', '1969-12-31 23:59:59', false)")
    mode = '.mode insert "a ""b"'
    query = 'select * from "a ""b"'
    first = run(folder, '-c', table, '-c', f'insert into "a ""b" values {rows}', '-c', mode,
                '-c', '.headers on', '-c', query)
    expect(first)
    again = run(folder, '-c', table, '-c', first.out, '-c', mode, '-c', '.headers on', '-c', query)
    expect(again, 0, first.out)


def case_box_hides_rows(folder):
    rows = ', '.join(f'({i})' for i in range(1234))
    result = run(folder, '-box', '-c', 'create table t (a integer)',
                 '-c', f'insert into t values {rows}', '-c', '.maxrows 3', '-c', 'select * from t')
    expect(result)
    assert '│       2 │\n└' in result.out and '1,234 rows, 1,231 hidden' in result.out, result


def case_floats_are_shortest(folder):
    values = [0.1, 1 / 3, 1e-7, 123456.789, 1e22, 5e-324, 1.7976931348623157e308, 2.0 ** 60, 0.3]
    singles = [struct.unpack('f', struct.pack('f', v))[0] for v in (0.1, 1 / 3, 1e-7, 16777216.0)]
    sql = 'create table f (x double); insert into f values ' \
        + ', '.join(f'({v!r})' for v in values) + '; select x from f;'
    result = run(folder, '-quote', '-c', sql)
    assert [float(v) for v in result.out.split()] == values, result
    sql = 'create table g (x float); insert into g values (0.1), (0.333333343), (1e-7), ' \
        '(16777216); select x from g;'
    result = run(folder, '-quote', '-c', sql)
    got = [struct.unpack('f', struct.pack('f', float(v)))[0] for v in result.out.split()]
    assert got == singles, result
    assert result.out.split()[0] == '0.1' and result.out.split()[3] == '16777216.0', result


def case_options_of_results(folder):
    sql = 'create table t (a integer, b integer); insert into t values (1, null); '
    result = run(folder, '-list', '--header', '-c', sql, '-c', '.nullvalue -', '-c',
                 'select * from t', '-c', '.headers off', '-c', 'select * from t',
                 '-c', '.mode', '-c', '.headers')
    expect(result, 0, 'a|b\n1|-\n1|-\nlist\noff\n')
    expect(run(folder, '-quote', '--header', '-c', sql, '-c', 'select a from t'), 0, "'a'\n1\n")


def case_output_to_a_file(folder):
    result = run(folder, '-c', '.output rows.csv', '-c', 'select 1 as a', '-c', '.output',
                 '-c', '.print back')
    expect(result, 0, 'back\n')
    with open(os.path.join(folder, 'rows.csv'), encoding='utf-8') as file:
        assert file.read() == 'a\n1\n'
    expect(run(folder, '-c', '.output none/rows.csv'), 3, '', 'cannot write none/rows.csv')


def case_closed_stdout_is_quiet(folder):
    rows = ', '.join(f'({i})' for i in range(5000))
    sql = f'create table t (a integer); insert into t values {rows};' + 'select a from t;' * 40
    write(folder, 'many.sql', sql)
    script = f'"{VDBQ}" -f many.sql | head -n 1'
    done = subprocess.run(['sh', '-c', script], cwd=folder, capture_output=True, timeout=60,
                          env=environment(folder, {}), check=False)
    assert done.stdout == b'a\n' and done.stderr == b'', done

# SPDX-License-Identifier: MIT
""".import and COPY: types, headers, faults, packed files."""
import gzip
import json
import os
import re

from shell.session import TABLE, expect, peak, run, write


def case_import_creates(folder):
    write(folder, 'a.csv', 'id,Big one,x,"a ""q"""\n1,3000000000,0.5,1\n2,,1e3,\n-3,7,nan,2\n')
    result = run(folder, 'i.vdb', '.import --key id a.csv t')
    expect(result, 0, '')
    schema = run(folder, 'i.vdb', '.schema t').out
    for part in ('INTEGER PRIMARY KEY', 'Big one', 'BIGINT', 'DOUBLE', 'a ""q""'):
        assert part in schema, schema
    expect(run(folder, '-quote', 'i.vdb', 'select * from t'), 0,
           '1,3000000000,0.5,1\n2,NULL,1000.0,NULL\n-3,7,NULL,2\n')


def case_import_without_header(folder):
    write(folder, 'a.csv', '1,2.5\n3,4')
    expect(run(folder, '-c', '.import a.csv t', '-c', 'select * from t'), 0,
           'c1,c2\n1,2.5\n3,4.0\n')
    expect(run(folder, '-c', '.import --header a.csv t', '-c', 'select * from t'), 0,
           '1,2.5\n3,4\n')


def case_import_line_ends(folder):
    body = b'a,b\r\n1,2\r\n\r\n3,4'
    for text in (body, body + b'\r\n', b'\xef\xbb\xbf' + body, body.replace(b'\r', b''),
                 b'"a","b"\r\n"1","2"\r\n3,"4"'):
        write(folder, 'a.csv', text)
        expect(run(folder, '-quote', '-c', '.import a.csv t', '-c', 'select a, b from t'), 0,
               '1,2\n3,4\n')


def case_import_delimiter_and_stdin(folder):
    write(folder, 'a.csv', 'a;b\n1;2\n')
    expect(run(folder, '-c', ".import --delimiter ';' a.csv t", '-c', 'select b from t'), 0,
           'b\n2\n')
    expect(run(folder, '-c', '.import --delimiter \\t - t', '-c', 'select b from t',
               text='a\tb\n1\t2\n'), 0, 'b\n2\n')


def case_import_appends(folder):
    write(folder, 'byname.csv', 'X,id\n1.5,10\n,11\n')
    write(folder, 'byplace.csv', '12,2.5,3,4\n')
    expect(run(folder, 'i.vdb', TABLE), 0)
    expect(run(folder, 'i.vdb', '.import byname.csv t'), 0, '')
    expect(run(folder, 'i.vdb', '.import byplace.csv T'), 0, '')
    expect(run(folder, '-quote', 'i.vdb', 'select * from t where id > 9'), 0,
           '10,1.5,NULL,NULL\n11,NULL,NULL,NULL\n12,2.5,3.0,4\n')


def case_import_types(folder):
    write(folder, 'a.csv', 'a,b,c\n1,2,0.1\n')
    result = run(folder, '-quote', '-c', '.import --types BIGINT,DOUBLE,float a.csv t',
                 '-c', 'select a, b, c from t')
    expect(result, 0, '1,2.0,0.1\n')
    expect(run(folder, '-c', '.import --types BIGINT a.csv t'), 1, '', '--types has 1 type')


def case_import_bad_values(folder):
    cases = [
        (b'a,b\n1,2\n3,ab\xe4\n', 'a.csv:3:3', "value 'ab?' in column b is not UTF-8"),
        ('a,b\n1,2\n3\n', 'a.csv:3:1', '1 field where 2 are expected'),
        ('a,b\n1,2\n3,4,5\n', 'a.csv:3:1', '3 fields where 2 are expected'),
        ('a,b\n1,"2\n3,4\n', 'a.csv:2:4', 'never ends'),
        ('a,b\n1,"2"x\n3,4\n', 'a.csv:2:5', 'follows the quote'),
        ('a,b\n1,"2\n"\n3,4\r5\n', 'a.csv:4:4', 'a carriage return without a line feed'),
        ('a;b\n1;2\n3\n4;5\n', 'a.csv:3:1', '1 field where 2 are expected'),
        (b'BZh91AY&SY', 'a.csv', 'is compressed by bzip2: only CSV is read'),
        (gzip.compress(gzip.compress(b'a,b\n')), 'a.csv', 'is compressed by gzip twice'),
        ('a,b\n'.encode('utf-16'), 'a.csv', 'is UTF-16'),
        (b'a\0,b\n1,2\n', 'a.csv', 'the first line holds a NUL byte'),
        (b'a,b\xe4\n1,2\n', 'a.csv', 'the name of column 2 is not UTF-8'),
        ('', 'a.csv', 'the file is empty'),
    ]
    for text, place, message in cases:
        write(folder, 'a.csv', text)
        result = run(folder, '-c', '.import a.csv t')
        expect(result, 1, '', f'^error: {re.escape(place)}: .*{re.escape(message)}')
    result = run(folder, '-c', '.import none.csv t')
    expect(result, 3, '', 'cannot open none.csv: No such file')


def case_import_texts_and_dates(folder):
    write(folder, 'a.csv', 'id,name,born,seen,ok,x\n'
          '1,"O""Neil, J",2001-02-03,2020-01-01 10:00:00,true,1.5\n'
          '2,,2001-02-04,2020-01-02,false,\n3,"","",,,7\n')
    result = run(folder, 'i.vdb', '-c', '.import a.csv t', '-c', '.schema')
    expect(result, 0, 'CREATE TABLE t (id INTEGER, name TEXT, born DATE, seen TIMESTAMP, '
                      'ok BOOLEAN, x DOUBLE);\n')
    expect(run(folder, '-csv', 'i.vdb', 'select id, name, born, ok from t'), 0,
           'id,name,born,ok\n1,"O""Neil, J",2001-02-03,true\n2,,2001-02-04,false\n3,"",,\n')
    write(folder, 'mixed.csv', 'a,b\n1,2001-02-03\nx,7\n')
    expect(run(folder, '-quote', '-c', '.import mixed.csv t', '-c', 'select * from t'), 0,
           "'1','2001-02-03'\n'x','7'\n")
    write(folder, 'plain.csv', '1,abc\n2,def\n')
    expect(run(folder, '-quote', '-c', '.import plain.csv t', '-c', 'select c2 from t'), 0,
           "'abc'\n'def'\n")
    expect(run(folder, '-quote', '-c', '.import --types DECIMAL(6,2),varchar(9) --no-header '
               'plain.csv t', '-c', 'select * from t'), 0, "1.00,'abc'\n2.00,'def'\n")


def case_import_wrong_type(folder):
    cases = [
        ('9,x,1,1', 1, "value 'x' in column x is not a FLOAT"),
        ('9,1,1,1.5', 1, "value '1.5' in column b is not a BIGINT"),
        ('inf,1,1,1', 1, "value 'inf' in column id is not an INTEGER"),
        ('3000000000,1,1,1', 1, "value '3000000000' in column id does not fit INTEGER"),
        ('9,1e39,1,1', 1, "value '1e39' in column x does not fit FLOAT"),
    ]
    expect(run(folder, 'i.vdb', TABLE), 0)
    for row, code, message in cases:
        write(folder, 'a.csv', f'7,1,1,1\n8,1,1,1\n{row}\n')
        result = run(folder, 'i.vdb', '.import --no-header a.csv t')
        expect(result, code, '', rf'^error: a\.csv:3:\d+: {re.escape(message)}\nhint: ')
        expect(run(folder, '-quote', 'i.vdb', 'select id from t'), 0, '1\n2\n3\n')
    write(folder, 'a.csv', 'id,nope\n7,1\n')
    expect(run(folder, 'i.vdb', '.import a.csv t'), 1, '', 'no column nope')


def case_import_rolls_back(folder):
    rows = ''.join(f'{i},{i * 2}\n' for i in range(300000))
    write(folder, 'a.csv', 'a,b\n' + rows + '300000,bad\n')
    result = run(folder, 'i.vdb', '.import --types INTEGER,INTEGER a.csv t')
    expect(result, 1, '', r"^error: a\.csv:300002:8: value 'bad'")
    expect(run(folder, 'i.vdb', '.tables'), 0, '')
    write(folder, 'a.csv', 'a,b\n1,1\n1,2\n')
    result = run(folder, 'i.vdb', '.import --key a a.csv t')
    expect(result, 1, '', '^error: ')
    expect(run(folder, 'i.vdb', '.tables'), 0, '')


def case_import_many_rows(folder):
    count = 400000
    rows = [f'{i},{(i * 7919) % 201 - 100},{i / 8}\n' for i in range(count)]
    write(folder, 'a.csv', 'id,u,f\n' + ''.join(rows))
    expect(run(folder, 'i.vdb', '.import a.csv t'), 0, '')
    result = run(folder, '-quote', 'i.vdb', 'select * from t')
    expect(result)
    lines = result.out.splitlines()
    assert len(lines) == count, len(lines)
    for i in (0, 1, 99999, 262143, 262144, count - 1):
        got = lines[i].split(',')
        assert (int(got[0]), int(got[1]), float(got[2])) == (
            i, (i * 7919) % 201 - 100, i / 8), lines[i]


def case_import_round_trip(folder):
    expect(run(folder, 'i.vdb', TABLE), 0)
    expect(run(folder, 'i.vdb', text='.output t.csv\nselect * from t;\n'), 0, '')
    expect(run(folder, 'j.vdb', TABLE.split(';')[0] + ';'), 0)
    expect(run(folder, 'j.vdb', '.import t.csv t'), 0)
    rows = [run(folder, '-quote', db, 'select * from t').out for db in ('i.vdb', 'j.vdb')]
    assert rows[0] == rows[1] and rows[0], rows


def case_import_infers_types(folder):
    columns = [
        ('INTEGER', ['1', '', '"-7"']), ('BIGINT', ['1', '3000000000', '""']),
        ('DOUBLE', ['1', '0.5', '']), ('DOUBLE', ['inf', 'nan', '99999999999999999999.0']),
        ('DATE', ['2024-02-29', '', '2024-3-1']),
        ('TIMESTAMP', ['2024-02-29', '2024-02-29 13:05', '']),
        ('BOOLEAN', ['true', 'FALSE', '']), ('TEXT', ['2024-02-29', '1', '']),
        ('TEXT', ['2024-02-30', '', '']), ('TEXT', ['true', '1', '0']),
        ('TEXT', ['nan', '7', 'x']), ('TEXT', ['""', '', '""']), ('TEXT', ['', '', '']),
        ('TEXT', ['"a,""b"', 'Übergröße', ' c ']), ('TEXT', ['12:30', '1-2-', '10000-01-01']),
    ]
    header = ','.join(f'c{i}' for i in range(len(columns)))
    rows = [','.join(column[1][i] for column in columns) for i in range(3)]
    write(folder, 'a.csv', '\n'.join([header, *rows]))
    expect(run(folder, 'i.vdb', '.import a.csv t'), 0, '')
    schema = run(folder, 'i.vdb', '.schema t').out
    types = re.findall(r'c\d+ (\w+)', schema)
    assert types == [column[0] for column in columns], schema
    expect(run(folder, '-quote', 'i.vdb', 'select c4, c5, c6, c7, c10, c11, c13 from t'), 0,
           "'2024-02-29','2024-02-29 00:00:00',true,'2024-02-29','nan','','a,\"b'\n"
           "NULL,'2024-02-29 13:05:00',false,'1','7',NULL,'Übergröße'\n"
           "'2024-03-01',NULL,NULL,NULL,'x','',' c '\n")


def case_import_finds_the_header(folder):
    cases = [
        ('a,b\nanna,x\n', 'a,b'), ('1,anna\n2,bob\n', 'c1,c2'), ('id,2020\n1,5\n', 'id,2020'),
        ('a,2\n', 'c1,c2'), ('"a","2"\n', 'c1,c2'), ('"x","2"\ny,2\n', 'x,2'), ('a,b\n', 'a,b'),
        ('2,x\n1,1e5\n3,y\n', 'c1,c2'), ('"a;b"|1\n"7"|2\nx|3\n', 'c1,c2'),
        ('"1",x\n"2",y\n', 'c1,c2'), ('"1","x"\n"2","y"\n', 'c1,c2'),
        ('007,x\n008,y\n', 'c1,c2'), ('zip\n007\n', 'zip'),
        ('2024-01-01,x\n2024-01-02,y\n', 'c1,c2'), ('a,\n1,2\n', 'a,c2'),
        ('a,A,a_2,a,,b\n1,2,3,4,5,6\n', 'a,A_2,a_2_2,a_3,c5,b'),
    ]
    for text, names in cases:
        write(folder, 'a.csv', text)
        result = run(folder, '-c', '.import a.csv t', '-c', 'select * from t')
        assert result.code == (0 if names else 1), result
        assert not names or result.out.splitlines()[0] == names, result


def case_import_thousands_of_equal_names(folder):
    write(folder, 'a.csv', f'{",".join(["a"] * 4000)}\n{",".join("1" * 4000)}\n')
    result = run(folder, 'i.vdb', '-c', '.import a.csv t', '-c', 'select a, a_2, a_4000 from t')
    expect(result, 0, 'a,a_2,a_4000\n1,1,1\n')


def case_import_value_faults(folder):
    cases = [
        ('SMALLINT', '40000', 'does not fit SMALLINT'), ('SMALLINT', '1.5', 'is not a SMALLINT'),
        ('"DECIMAL(4,2)"', '100', 'does not fit DECIMAL'), ('DATE', '2023-02-29', 'is not a DATE'),
        ('"DECIMAL(4, 2)"', 'x', 'is not a DECIMAL'), ('DATE', '12', 'is not a DATE'),
        ('TIMESTAMP', '2023-02-28 24:00', 'is not a TIMESTAMP'),
        ('BOOLEAN', '2', 'is not a BOOLEAN'),
    ]
    for kind, value, message in cases:
        write(folder, 'a.csv', f'a,b\n1,\n2,{value}\n')
        types = '"INTEGER,' + kind.strip('"') + '"'
        result = run(folder, '-c', f'.import --types {types} a.csv t')
        expect(result, 1, '',
               rf"^error: a\.csv:3:3: value '{re.escape(value)}' in column b {message}")
    expect(run(folder, '-c', '.import --types "INTEGER,DECIMAL(4" a.csv t'), 1, '', 'error: ')


def case_import_round_trip_of_all_types(folder):
    texts = ["''", "'plain'", "' blank '", "'comma, \"quoted\" \"\"'", "'line\nend'",
             "'Größe 𝄞 漢字'", "'null'", "'nan'", "'1'", "'2024-01-01'", "'\\N'", 'null',
             "'\r'", "'it''s'"]
    numbers = ['null', '0', '1', '-1', '32767', '-32768']
    dates = ['null', "date '0001-01-01'", "date '9999-12-31'", "date '1969-12-31'"]
    times = ['null', "timestamp '0001-01-01'", "timestamp '9999-12-31 23:59:59.999999'",
             "timestamp '1969-12-31 23:59:59.5'"]
    decimals = ['null', '0.01', '-9999999.99', '12', '0']
    reals = ['null', '0.1', '-1e300', '1e-300', '1e999', '-1e999', '123456789012']
    truths = ['null', 'true', 'false']
    schema = ('create table t (id integer primary key, s text, a smallint, b integer, c bigint, '
              'd date, e timestamp, f decimal(9,2), g boolean, h double, i float, j text);\n')
    rows = []
    for i in range(840):
        values = [str(i)] + [kind[i % len(kind)] for kind in (
            texts, numbers, numbers, numbers, dates, times, decimals, truths, reals,
            ['null', '0.1', '1e30'], texts[::-1])]
        rows.append('(' + ', '.join(values) + ')')
    expect(run(folder, 'i.vdb', text=schema + f'insert into t values {", ".join(rows)};\n'), 0, '')
    expect(run(folder, 'i.vdb', text='.mode csv\n.output t.csv\nselect * from t;\n'), 0, '')
    expect(run(folder, 'j.vdb', text=schema + '.import t.csv t\n'), 0, '')
    sums = [run(folder, '-quote', db, 'select * from t').out for db in ('i.vdb', 'j.vdb')]
    assert sums[0] == sums[1] and sums[0].count('\n') >= 840, sums


def case_import_keeps_codes(folder):
    rows = [f'{i},{i},{i},{i},{i}.5' for i in range(1, 200000)]
    rows.append('1,007,+49123,99999999999999999999,9007199254740993')
    write(folder, 'a.csv', 'id,zip,phone,long,x\n' + '\n'.join(rows) + '\n')
    expect(run(folder, 'i.vdb', '-c', '.import a.csv t', '-c', '.schema'), 0,
           'CREATE TABLE t (id INTEGER, zip TEXT, phone TEXT, long TEXT, x TEXT);\n')
    expect(run(folder, '-quote', 'i.vdb', "select zip, phone, long, x from t where zip = '007'"),
           0, "'007','+49123','99999999999999999999','9007199254740993'\n")
    for value in ('007', '-01', '00.5', '+1', '18446744073709551616', '1e999', '4-4-2', '1e'):
        write(folder, 'b.csv', f'a,b\n1,{value}\n')
        expect(run(folder, '-quote', '-c', "select b from 'b.csv'"), 0, f"'{value}'\n")
    for value in ('0', '-0.5', '0.25', '1e+20', 'inf', '9223372036854775807'):
        write(folder, 'b.csv', f'a,b\n1,{value}\n')
        assert "'" not in run(folder, '-list', '-c', "select b from 'b.csv'").out, value


def case_import_tells_what_it_found(folder):
    note = r"^note: a\.csv: separated by ';', quoted by \", names in the first line\n$"
    write(folder, 'a.csv', 'a;b\n1,5;"x;y"\n')
    expect(run(folder, '-quote', '-c', '.import a.csv t', '-c', 'select * from t'), 0,
           "'1,5','x;y'\n", note)
    expect(run(folder, '-quote', '-c', "select * from 'a.csv' where b = 'x;y'"), 0,
           "'1,5','x;y'\n", note)
    expect(run(folder, '-quote', '-c', ".csv --delimiter ; --quote ''",
               '-c', "select b from 'a.csv'"), 1, '', '3 fields where 2 are expected')
    expect(run(folder, '-quote', '-c', '.csv --no-header --delimiter ;', '-c', '.csv',
               '-c', "select c2 from 'a.csv'", '-c', '.csv auto', '-c', '.csv'), 0,
           "delimiter ;, quote auto, header no\n'b'\n'x;y'\n"
           'delimiter auto, quote auto, header auto\n')
    expect(run(folder, '-c', '.csv --key a'), 1, '', 'usage: .csv')
    write(folder, 'a.csv', "'a|b'|'it''s'\n'c'|'d'\n")
    expect(run(folder, '-quote', '-c', '.import --no-header a.csv t', '-c', 'select * from t'), 0,
           "'a|b','it''s'\n'c','d'\n", r"separated by '\|', quoted by ', no names")
    write(folder, 'a.tsv', 'a\tb\n1\t"x\ty"\n')
    expect(run(folder, '-quote', '-c', "select b from 'a.tsv'"), 0, "'x\ty'\n")
    write(folder, 'a.json', '[{"a":1}]\n')
    expect(run(folder, '-c', "select * from 'a.json'"), 1, '', r'a\.json: only CSV is read')


def case_single_column_round_trip(folder):
    setup = ("create table t (s text); "
             "insert into t values (null), (''), ('x'), (null), ('\"'), (''), (null);")
    expect(run(folder, 's.vdb', setup), 0)
    expect(run(folder, 's.vdb', "copy t to 's.csv'"), 0)
    expected = run(folder, '-quote', 's.vdb', 'select * from t').out
    assert expected.count('NULL') == 3, expected
    expect(run(folder, '-quote', '-c', "select * from 's.csv'"), 0, expected)
    expect(run(folder, '-quote', '-c', '.import s.csv t', '-c', 'select * from t'), 0, expected)
    expect(run(folder, '-quote', '-c', setup.split(';')[0], '-c', '.import s.csv t',
               '-c', 'select * from t'), 0, expected)
    expect(run(folder, 's.vdb', "copy (select s from t where 0) to 'e.csv'"), 0)
    expect(run(folder, '-quote', '-c', "select count(*), max(s) from 'e.csv'"), 0, '0,NULL\n')


def case_copy_endings(folder):
    sql = 'copy (select 1 as a, \'x\ty,"\' as b) to '
    for name, text in (('o.tsv', 'a\tb\n1\t"x\ty,"""\n'), ('o.CSV', 'a,b\n1,"x\ty,"""\n'),
                       ('o.jsonl', '{"a":1,"b":"x\\ty,\\""}\n'),
                       ('o.md', '| a | b |\n|--:|---|\n| 1 | x y," |\n')):
        expect(run(folder, '-c', f"{sql}'{name}'"), 0, '')
        with open(os.path.join(folder, name), encoding='utf-8') as file:
            found = file.read()
        assert found == text, found
    for name in ('o.parquet', 'o', 'o.gz', 'o.csv.', '.csv.d/o', 'o.xlsx', 'o.db'):
        expect(run(folder, '-c', f"{sql}'{name}'"), 1, '', r'no format has that ending\nhint: .*'
               r'\.csv, \.tsv, \.json, \.jsonl or \.md')
    assert sorted(os.listdir(folder)) == ['o.CSV', 'o.jsonl', 'o.md', 'o.tsv'], os.listdir(folder)
    expect(run(folder, '-quote', '-c', "select * from 'o.tsv'"), 0, "1,'x\ty,\"'\n")


def case_copy_options(folder):
    """COPY TO and back with each option, and what is wrong with an option, where it is."""
    setup = ("create table t (a text, b date, c integer); insert into t values "
             "('NA', '2024-01-01', 1), (null, null, null), ('', '2024-01-02', 3), "
             "('x;y', null, -4), ('\"q\"', null, 5);"
             'create table u (a text, b date, c integer)')
    expect(run(folder, 'o.vdb', setup), 0)
    for options in ('', "(delimiter ';')", "with (null 'NA')", "(null 'NA', sep '_', header)",
                    "(header false, delim ':')", "(nullstr '-', separator '\\t')", '(format tsv)',
                    "(format 'csv', header on)", '(header 0)'):
        for name in ('o.csv', 'o.csv.gz', 'o.csv.zst'):
            sql = (f"copy t to '{name}' {options}; delete from u; copy u from '{name}' {options};"
                   'select count(*) from (select * from t except select * from u);'
                   'select count(*) from u')
            expect(run(folder, '-list', '--no-header', 'o.vdb', sql), 0, '0\n5\n')
    write(folder, 'o.csv', 'a,b\n"x\\"y",1\n"x\\\\",2\n"x\\y",3\n')
    expect(run(folder, '-quote', '--no-header', '-c', 'create table t (a text, b integer)', '-c',
               "copy t from 'o.csv' (escape '\\')", '-c', 'select * from t'), 0,
           "'x\"y',1\n'x\\',2\n'x\\y',3\n")
    write(folder, 'o.csv', "a,b\n'1,2',3\n")
    expect(run(folder, '-quote', '--no-header', '-c', 'create table t (a text, b integer)', '-c',
               "copy t from 'o.csv' (quote '''')", '-c',
               "copy t (a, b) from 'o.csv' (quote '', header false, delimiter '|')"), 1, '',
           'the file has 1 columns where the list has 2')
    for statement, message in (
            ("copy t from 'o.csv' (headr)", r'no option headr\n.*\n.*\nhint: did you mean HEADER'),
            ("copy t from 'o.csv' (wide 1)", r'no option wide\n.*\n.*\nhint: its options are'),
            ("copy t from 'o.csv' (header, header)", 'HEADER is there twice'),
            ("copy t from 'o.csv' (header maybe)", 'HEADER is true or false'),
            ("copy t from 'o.csv' (delimiter 'ab')", 'DELIMITER is one character'),
            ("copy t from 'o.csv' (delimiter)", 'DELIMITER is one character'),
            ("copy t from 'o.csv' (format json)", 'reads csv and tsv alone'),
            ("copy t to 'o.csv' (format parquet)", 'writes no format parquet'),
            ("copy t to 'o.csv' (quote '|')", 'COPY TO has no option QUOTE'),
            ("copy t to 'o.csv' (delimiter 'e')", 'values may hold it'),
            ("copy t to 'o.json' (header)", 'are for csv and tsv, not for json'),
            ("copy t from 'o.csv' header", 'syntax error'),
            ("copy n from 'o.csv'", 'no such table: n'),
            ("copy t (a, a) from 'o.csv'", 'column a is in the list twice'),
            ("copy t (z) from 'o.csv'", 'table t has no column z'),
            ("copy (select 1) from 'o.csv'", 'syntax error')):
        expect(run(folder, 'o.vdb', statement), 1, '', message)
    expect(run(folder, '-list', '--no-header', 'o.vdb', "copy t (c, a) to 'p.csv' (header false);"
               "select c1 from 'p.csv' where c2 = 'x;y'"), 0, '-4\n')


def case_copy_from_is_all_or_nothing(folder):
    """Of a file with a fault nothing stays, and of a transaction what was before it."""
    setup = ('create table t (id integer primary key, a integer not null check (a < 99), '
             "b text default 'd', c text unique); insert into t values (1, 1, null, null)")
    expect(run(folder, 'o.vdb', setup), 0)
    for text, place, message in (
            ('id,a\n2,3\n3,x\n', 'o.csv:3:3: ', "value 'x' in column a is not an INTEGER"),
            ('id,a\n2,3\n1,3\n', '', 'id'), ('id,a\n2,\n', '', 'NOT NULL'),
            ('id,a,c\n2,3,x\n3,3,x\n', '', 'c'), ('id,b\n4,x\n', '', 'NOT NULL'),
            ('id,a\n2,3\n3\n', 'o.csv:3:1: ', '1 field where 2 are expected'),
            ('id,a\n2,3\n3,99\n', '', 'breaks CHECK'),
            ('id,z\n2,3\n', '', 'no column z'), ('1,2,3\n', '', '3 columns where table t has 4')):
        write(folder, 'o.csv', text)
        expect(run(folder, 'o.vdb', "copy t from 'o.csv'"), 1, '', f'{place}.*{message}')
        expect(run(folder, '-list', '--no-header', '--batch', 'o.vdb', text='begin; insert into t '
                   "values (9, 9, null, null); copy t from 'o.csv'; commit; select sum(id) from t; "
                   'delete from t where id = 9; select id, a from t;'), 1, '10\n1|1\n', message)
    expect(run(folder, 'o.vdb', "copy t from 'none.csv'"), 3, '', 'cannot open none.csv')
    write(folder, 'o.csv', 'a,id\n5,2\n6,3\n')
    expect(run(folder, '--timer', 'o.vdb', "copy t from 'o.csv'"), 0, '', '2 rows into t\n')
    write(folder, 'o.csv', 'x,y\n5,4\n')
    expect(run(folder, '-list', '--no-header', 'o.vdb', "copy t (a, id) from 'o.csv'; "
               'select * from t where id > 1'), 0, '2|5|d|\n3|6|d|\n4|5|d|\n')
    expect(run(folder, '--readonly', 'o.vdb', "copy t from 'o.csv'"), 1, '', 'reading only')
    expect(run(folder, 'o.vdb', "copy t (a, id) from '/dev/stdin'", text='7,5\n'), 0, '')
    expect(run(folder, 'o.vdb', 'select a from t where id = 5'), 0, 'a\n7\n')


def case_output_packed(folder):
    """Results to a file that is packed as its name says, also at the end of the shell."""
    expect(run(folder, '-list', text='.output a.csv.gz\nselect 1 as x;\nselect 2 as x;\n'
               '.output b.csv.ZST\nselect 3 as x;\n'), 0, '')
    with gzip.open(os.path.join(folder, 'a.csv.gz'), 'rb') as file:
        assert file.read() == b'x\n1\nx\n2\n'
    expect(run(folder, '-list', '--no-header', '-c', "select * from 'b.csv.ZST'"), 0, '3\n')
    expect(run(folder, '-c', "copy (select 1 as a, 'x' as b) to 'c.json.gz'"), 0, '')
    with gzip.open(os.path.join(folder, 'c.json.gz'), 'rb') as file:
        assert json.loads(file.read()) == [{'a': 1, 'b': 'x'}]
    if os.path.exists('/dev/full'):
        os.symlink('/dev/full', os.path.join(folder, 'full.csv.gz'))
        expect(run(folder, '-c', "copy (select 1 as a) to 'full.csv.gz'"), 3, '', 'cannot write')
        expect(run(folder, text='.output full.csv.gz\nselect 1;\n.output\n'), 3, '',
               'cannot write the results')


def case_import_packed_in_little_memory(folder):
    """Memory does not grow with what a file is unpacked to, be it rows or one endless record."""
    member = gzip.compress(b'1,2\n' * 3000000, 1)
    with open(os.path.join(folder, 'rows.csv.gz'), 'wb') as file:
        file.write(gzip.compress(b'a,b\n') + member * 10)
    zeros = gzip.compress(bytes(100 << 20), 1)
    with open(os.path.join(folder, 'bomb.csv.gz'), 'wb') as file:
        file.write(zeros * 20)
    for statement in ('.import rows.csv.gz t', "copy t from 'rows.csv.gz'"):
        used, written = peak(folder, '-list', '--no-header', 't.vdb', '-c', 'create table if not '
                             'exists t (a integer, b integer)', '-c', statement, '-c', 'select '
                             'count(*), sum(b) from t', VDBQ_MEMORY='64M')
        assert used < 110, (statement, used)
        rows = 30000000 if statement[0] == '.' else 60000000
        assert written == f'{rows}|{2 * rows}\n', written
    used, written = peak(folder, '-c', '.import bomb.csv.gz t', VDBQ_MEMORY='64M')
    assert used < 400 and 'longer than 128 MiB' in written, (used, written)


def case_import_usage(folder):
    expect(run(folder, '-c', '.import a.csv'), 1, '', r'a file and a table(.|\n)*usage: \.import')
    expect(run(folder, '-c', '.import --nonsense a.csv t'), 1, '', '--nonsense')

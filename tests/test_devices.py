#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of how a device is chosen, and of what is said where there is none.

    test_devices.py VDBQ [CASE...]

Each function called case_... is a case; it gets a folder of its own. Cases
that need an OpenCL device pass over where there is none, and say so.
"""
import functools
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True
from shell.session import VDBQ, Result
from shell_options import HANG_SECONDS

EXIT_DEVICE = 4
QUERY = '''create table t (a integer); insert into t values (1), (2), (3);
select a from t where a > 1'''
ROW = re.compile(r'^([* ]) (\d+:\d+) +(cpu|gpu|other) +(.*?)  +')


class NoDevice(Exception):
    """The case needs a device that this machine does not have."""


def run(folder, *arguments, unset=(), text=None, **extra):
    """Runs the shell; `extra` is added to its environment, `unset` leaves it."""
    env = dict(os.environ, HOME=folder, LC_ALL='C.UTF-8',
               XDG_CACHE_HOME=os.environ.get('XDG_CACHE_HOME', os.path.join(folder, 'cache')))
    env.update(extra)
    for name in ('VDBQ_DEVICE', 'VDBQ_CORES', 'POCL_CACHE_DIR', *unset):
        if name not in extra:
            env.pop(name, None)
    return Result(subprocess.run([VDBQ, *arguments], cwd=folder, env=env, timeout=HANG_SECONDS,
                                 input=text and text.encode(), capture_output=True,
                                 check=False))


def devices(folder):
    """The table's rows: (default mark, id, type, name)."""
    return [ROW.match(line).groups() for line in run(folder, '--devices').out.splitlines()
            if ROW.match(line)]


def need_cpu(folder):
    """The id of the CPU device that `cpu` means."""
    for mark, number, _, _ in devices(folder):
        if mark == '*':
            return number
    raise NoDevice('no CPU device')


# What runs QUERY alone is compiled in a fourth of the time that the machine for all
# programs takes, and is kept in the same ways.
QUICK = {'VDBQ_BUILD': 'specialised'}


def query(folder, *arguments, **extra):
    """Two rows from a new database in memory; on a CPU device unless asked otherwise."""
    if '--device' not in arguments:
        extra.setdefault('VDBQ_DEVICE', 'cpu')
    if 'host' not in (*arguments, extra.get('VDBQ_DEVICE')):
        extra.update(QUICK)
    return run(folder, '--mode', 'csv', *arguments, '-c', QUERY, **extra)


def gives_rows(result):
    assert result.code == 0, result
    assert re.findall(r'^\d+$', result.out, re.M) == ['2', '3'], result


# -------------------------------------------------------------- no device --

def hidden(folder):
    """A folder for drivers that holds none."""
    path = os.path.join(folder, 'vendors')
    os.makedirs(path, exist_ok=True)
    return path


def case_no_driver_is_explained(folder):
    result = run(folder, '--devices', OCL_ICD_VENDORS=hidden(folder))
    text = result.out + result.err
    assert 'no OpenCL device found' in text, result
    assert f'OCL_ICD_VENDORS={hidden(folder)}' in text, result
    assert 'looked in:' in text and '0 *.icd files' in text, result
    assert 'apt install pocl-opencl-icd' in text, result
    assert 'VDBQ_DEVICE=host' in text, result


def case_no_driver_fails_a_query(folder):
    result = query(folder, '--device', 'cpu', OCL_ICD_VENDORS=hidden(folder))
    assert result.code == EXIT_DEVICE, result
    assert result.out == '', result
    assert "device 'cpu'" in result.err and 'no OpenCL device found' in result.err, result


def case_folder_that_is_not_there(folder):
    result = run(folder, '--devices', OCL_ICD_VENDORS='/nonexistent')
    assert '/nonexistent  (no such folder)' in result.out + result.err, result


def case_driver_that_does_not_load(folder):
    vendors = os.path.join(folder, 'vendors')
    os.mkdir(vendors)
    with open(os.path.join(vendors, 'lost.icd'), 'w', encoding='utf-8') as file:
        file.write('libno_such_driver.so\n')
    result = run(folder, '--devices', OCL_ICD_VENDORS=vendors)
    text = result.out + result.err
    assert re.search(r'does not load: \S+/lost\.icd: libno_such_driver\.so: cannot', text), text


def case_driver_without_devices(folder):
    need_cpu(folder)
    result = run(folder, '--devices', POCL_DEVICES='nothing')
    if 'offers no device' not in result.out + result.err:
        raise NoDevice('another driver has devices')
    assert 'POCL_DEVICES=nothing' in result.out + result.err, result


def case_host_needs_no_driver(folder):
    gives_rows(query(folder, '--device', 'host', OCL_ICD_VENDORS=hidden(folder)))
    gives_rows(query(folder, VDBQ_DEVICE='host', OCL_ICD_VENDORS=hidden(folder)))


def case_help_needs_no_driver(folder):
    for option in ('--help', '--version'):
        result = run(folder, option, OCL_ICD_VENDORS=hidden(folder))
        assert result.code == 0 and result.out, result


# ----------------------------------------------------------------- choice --

def case_every_way_to_name_a_device(folder):
    number = need_cpu(folder)
    for choice in ('cpu', 'CPU', 'auto', number):
        gives_rows(query(folder, '--device', choice))
        gives_rows(query(folder, VDBQ_DEVICE=choice))


def case_part_of_a_name(folder):
    number = need_cpu(folder)
    names = {row[1]: row[3] for row in devices(folder)}
    word = names[number].split('-')[0].split(' ')[0]
    if sum(word.lower() in name.lower() for name in names.values()) > 1:
        raise NoDevice('several devices of that name')
    gives_rows(query(folder, '--device', word.upper()))


def case_option_wins_over_variable(folder):
    gives_rows(query(folder, '--device', 'host', VDBQ_DEVICE='no such device'))


def case_no_match_lists_devices(folder):
    number = need_cpu(folder)
    for choice in ('no such device', '99:0', '0:99', '0:', '-1:0', ':', '4294967296:0'):
        result = query(folder, VDBQ_DEVICE=choice)
        assert result.code == EXIT_DEVICE, (choice, result)
        assert f"'{choice}'" in result.err, (choice, result)
        assert number in result.err and 'choose with:' in result.err, (choice, result)
        assert result.out == '', (choice, result)


def case_no_gpu(folder):
    need_cpu(folder)
    if any(row[2] == 'gpu' for row in devices(folder)):
        raise NoDevice('this machine has a GPU')
    result = query(folder, '--device', 'gpu')
    assert result.code == EXIT_DEVICE and "'gpu'" in result.err, result


def case_cores(folder):
    need_cpu(folder)
    gives_rows(query(folder, VDBQ_CORES='1'))
    result = query(folder, VDBQ_CORES='60000')
    assert result.code == EXIT_DEVICE and '60000 cores' in result.err, result


# ------------------------------------------------------------ environment --

def case_no_home(folder):
    need_cpu(folder)
    room = os.path.join(folder, 'room')
    os.mkdir(room)
    gives_rows(query(folder, unset=('HOME', 'XDG_CACHE_HOME'), TMPDIR=room))
    assert os.listdir(room) == [], os.listdir(room)


def case_cache_is_private(folder):
    need_cpu(folder)
    cache = os.path.join(folder, 'fresh')
    gives_rows(query(folder, XDG_CACHE_HOME=cache))
    for path in (cache, os.path.join(cache, 'vdbq'), os.path.join(cache, 'vdbq', 'pocl')):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o700, path


def case_open_cache_is_refused(folder):
    cache = os.path.join(folder, 'open')
    os.makedirs(os.path.join(cache, 'vdbq', 'pocl'))
    os.chmod(os.path.join(cache, 'vdbq', 'pocl'), 0o777)
    result = query(folder, '--device', 'cpu', XDG_CACHE_HOME=cache)
    assert result.code == EXIT_DEVICE, result
    assert 'can be written by others' in result.err and 'chmod 700' in result.err, result
    gives_rows(query(folder, '--device', 'host', XDG_CACHE_HOME=cache))


def case_cache_that_is_a_file(folder):
    need_cpu(folder)
    cache = os.path.join(folder, 'file')
    with open(cache, 'w', encoding='utf-8'):
        pass
    gives_rows(query(folder, XDG_CACHE_HOME=cache, TMPDIR=folder))


def case_cache_of_the_user_is_used(folder):
    need_cpu(folder)
    cache = os.path.join(folder, 'own')
    gives_rows(query(folder, POCL_CACHE_DIR=cache))
    if not os.path.isdir(cache):
        raise NoDevice('the CPU device is not of POCL')


# -------------------------------------------------- what is wrong with a cache --

def entries(cache):
    """The files of compiled kernels."""
    folder = os.path.join(cache, 'vdbq', 'kernels')
    return sorted(os.path.join(folder, name) for name in os.listdir(folder))


def scratch(cache):
    """The folders in which drivers work."""
    return os.listdir(os.path.join(cache, 'vdbq', 'pocl'))


@functools.cache
def full_cache():
    """A folder that is there until the tests end, with a cache `fresh` of the kernels of
    a query: they are compiled once for all cases that begin with them. Its path is as
    long as those of the copies: it is in what POCL makes, whose size is looked at."""
    room = tempfile.TemporaryDirectory(prefix='vdbq-devices-')
    gives_rows(query(room.name, XDG_CACHE_HOME=os.path.join(room.name, 'fresh')))
    return room


def fill_cache(folder):
    """A new cache with the kernels of a query; its path."""
    need_cpu(folder)
    cache = os.path.join(folder, 'fresh')
    shutil.copytree(os.path.join(full_cache().name, 'fresh'), cache)
    if not os.path.isdir(os.path.join(cache, 'vdbq', 'kernels')):
        raise NoDevice('the driver keeps its cache elsewhere')
    assert entries(cache) and scratch(cache) == [], scratch(cache)
    return cache


def flip(path):
    """One bit in the middle, of the compiled code."""
    with open(path, 'r+b') as file:
        file.seek(os.path.getsize(path) // 2)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 4]))


def cut(path):
    """Half of it is gone."""
    os.truncate(path, os.path.getsize(path) // 2)


def empty(path):
    """All of it is gone."""
    os.truncate(path, 0)


def link_away(path):
    """It is a link to another file."""
    os.rename(path, path + '.other')
    os.symlink(path + '.other', path)


def case_damaged_cache_is_built_anew(folder):
    cache = fill_cache(folder)
    before = {path: os.path.getsize(path) for path in entries(cache)}
    for damage in flip, cut, empty, link_away:
        for path in before:
            damage(path)
        gives_rows(query(folder, XDG_CACHE_HOME=cache))
        sizes = {path: os.path.getsize(path) for path in before if not os.path.islink(path)}
        assert sizes == before, (damage, sizes, before)
        assert scratch(cache) == [], (damage, scratch(cache))


def case_foreign_files_are_not_run(folder):
    cache = fill_cache(folder)
    left = os.path.join(cache, 'vdbq', 'pocl', 'vdbq-pocl-killed')
    os.makedirs(os.path.join(left, 'AB', 'CDEF', 'vdbq_machine'))
    for name in 'AB/CDEF/program.bc', 'AB/CDEF/vdbq_machine/vdbq_machine.so', 'tempfile':
        with open(os.path.join(left, name), 'wb') as file:
            file.write(b'no code')
    for path in entries(cache):
        with open(path, 'wb') as file:
            file.write(b'no code')
    gives_rows(query(folder, XDG_CACHE_HOME=cache))
    assert scratch(cache) == [], scratch(cache)


def case_killed_builds_harm_nobody(folder):
    cache = os.path.join(os.path.dirname(fill_cache(folder)), 'killed')
    for milliseconds in 60, 150, 300, 500, 800:
        with subprocess.Popen([VDBQ, '--device', 'cpu', '-c', QUERY], stdout=subprocess.DEVNULL,
                              cwd=folder,
                              env=dict(os.environ, XDG_CACHE_HOME=cache, **QUICK)) as killed:
            time.sleep(milliseconds / 1000)
            killed.kill()
    gives_rows(query(folder, XDG_CACHE_HOME=cache))
    assert scratch(cache) == [], scratch(cache)


def case_several_may_fill_a_cache(folder):
    cache = os.path.join(os.path.dirname(fill_cache(folder)), 'all')
    command = [VDBQ, '--device', 'cpu', '--mode', 'csv', '-c', QUERY]
    several = [subprocess.Popen(command, stdout=subprocess.PIPE, cwd=folder,
                                env=dict(os.environ, XDG_CACHE_HOME=cache, VDBQ_CORES=cores,
                                         **QUICK))
               for cores in ('0', '1', '0', '1')]
    for one in several:
        assert one.communicate(timeout=HANG_SECONDS)[0] == b'a\n2\n3\n' and one.returncode == 0, one
    # The program, the probe of the device, and what the probe found.
    assert len(entries(cache)) == 3 and scratch(cache) == [], (entries(cache), scratch(cache))


def case_scratch_of_another_process_is_not_used(folder):
    need_cpu(folder)
    other = os.path.join(folder, 'vdbq-pocl-other')
    gives_rows(query(folder, POCL_CACHE_DIR=other, XDG_CACHE_HOME=os.path.join(folder, 'fresh')))
    assert not os.path.exists(other)


# --------------------------------------------------------------- compiling --

def make_thousand(folder):
    """A database of a table t of 1,000 rows, a from 0 to 999."""
    values = ', '.join(f'({i})' for i in range(1000))
    result = run(folder, '--device', 'host', 'thousand.vdb', '-c', 'create table t (a integer)',
                 '-c', f'insert into t values {values}')
    assert result.code == 0, result


def analyze(folder, condition, *options, **extra):
    """(device, build, milliseconds that compiling took) of a query in a new process."""
    result = run(folder, '--list', *options, 'thousand.vdb',
                 f'explain analyze select a from t where {condition}', **extra)
    assert result.code == 0, result
    return (*(re.search(rf'; {word} +(.*)', result.out).group(1) for word in ('device', 'build')),
            float(re.search(r'; compile +([0-9.]+) ms', result.out).group(1)))


def kept(cache):
    """The programs that lie in a cache: its files, but for notes and locks."""
    return {os.path.join(path, name) for path, _, names in os.walk(cache) for name in names
            if os.path.getsize(os.path.join(path, name)) and '/tune' not in path
            and not name.startswith('last_accessed')}


def case_second_process_compiles_nothing(folder):
    need_cpu(folder)
    make_thousand(folder)
    cache = os.path.join(folder, 'fresh')
    for build in 'interpreted', 'specialised':
        options = ('--device', 'cpu', '--build', build)
        _, name, first = analyze(folder, 'a > 60', *options, XDG_CACHE_HOME=cache)
        assert name == build and first > 0, (name, first)
        before = kept(cache)
        if not before:
            raise NoDevice('the driver keeps its cache elsewhere')
        _, name, again = analyze(folder, 'a > 60', *options, XDG_CACHE_HOME=cache)
        assert name == build and again < first, (name, first, again)
        assert kept(cache) == before, kept(cache) ^ before


def text_is_read(folder, cache, **extra):
    """Whether POCL's front end reads the text of a program, as POCL tells."""
    result = query(folder, XDG_CACHE_HOME=cache, POCL_DEBUG='llvm', **extra)
    gives_rows(result)
    if 'building program' not in result.err:
        raise NoDevice('this POCL does not tell what it builds')
    return 'building from sources' in result.err


def case_kept_kernels_need_no_text(folder):
    cache = fill_cache(folder)
    assert not text_is_read(folder, cache)
    # Another POCL looks for its files elsewhere, and takes the bitcode.
    other = {'POCL_EXTRA_BUILD_FLAGS': '-DVDBQ_OTHER'}
    assert not text_is_read(folder, cache, **other)
    before = kept(cache)
    assert not text_is_read(folder, cache, **other) and kept(cache) == before
    assert text_is_read(folder, os.path.join(folder, 'empty'))


# ---------------------------------------------------------------- behind --

MANY = '''create table d (i integer); insert into d values (0), (1), (2), (3), (4), (5), (6), (7);
create table t as select a.i as a from d a, d b, d c, d d, d e, d f, d g'''
MANY_QUERY = 'select a, count(*), sum(a) from t where a > 1 group by a'


def make_many(folder):
    """A database of a table t of two million rows, for which no device is asked."""
    need_cpu(folder)
    result = run(folder, '--device', 'host', 'many.vdb', '-c', MANY)
    assert result.code == 0, result


# Queries over two million rows, after which the CPU device has been opened behind
# them; more where that was not enough.
REPEATS = 1, 20, 100, 500, 2500


def explain_many(folder, repeats, env):
    """What EXPLAIN ANALYZE says of the last of so many queries in a new process."""
    text = f'{MANY_QUERY};\n' * (repeats - 1) + f'explain analyze {MANY_QUERY};\n'
    told = run(folder, '--list', 'many.vdb', text=text, **env)
    assert told.code == 0, told
    return told.out


def ask_many(folder, cache):
    """(device, whether kernels are built behind it, answer) in a new process that
    specialises nothing. Where the host stands in for a device until that is open, it
    is what runs then."""
    env = {'XDG_CACHE_HOME': cache, 'VDBQ_BUILD': 'interpreted'}
    for repeats in REPEATS:
        told = explain_many(folder, repeats, env)
        if '; opening ' not in told:
            break
    answer = run(folder, '--csv', 'many.vdb', MANY_QUERY, **env)
    assert answer.code == 0, answer
    return (re.search('; device +(.*)', told).group(1), '; kernels ' in told, answer.out)


def builders(cache):
    """The processes that build kernels for a cache."""
    found = []
    for number in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{number}/cmdline', 'rb') as line, \
                    open(f'/proc/{number}/environ', 'rb') as environment:
                if b'--kernels' in line.read() and \
                        f'XDG_CACHE_HOME={cache}'.encode() in environment.read().split(b'\0'):
                    found.append(int(number))
        except OSError:
            pass
    return found


def await_builders(cache):
    for _ in range(HANG_SECONDS * 10):
        if not builders(cache):
            return
        time.sleep(0.1)
    raise AssertionError('kernels are still being built')


def case_nobody_waits_for_a_compiler(folder):
    make_many(folder)
    cache = os.path.join(folder, 'fresh')
    device, behind, answer = ask_many(folder, cache)
    assert (device, behind) == ('host', True), (device, behind)
    await_builders(cache)
    assert kept(cache), 'the driver keeps its cache elsewhere'
    before = kept(cache)
    other, behind, again = ask_many(folder, cache)
    assert other != 'host' and not behind and again == answer, (other, behind)
    assert kept(cache) == before, 'what was built behind is all that is needed'
    for damage in flip, cut:
        damage(max(before, key=os.path.getsize))
        device, behind, again = ask_many(folder, cache)
        assert (device, behind, again) == ('host', True, answer), (damage, device, behind)
        await_builders(cache)
        assert ask_many(folder, cache) == (other, False, answer), damage


def case_nobody_waits_for_a_driver(folder):
    make_many(folder)
    env = {'VDBQ_BUILD': 'interpreted'}
    assert run(folder, 'many.vdb', '--device', 'cpu', '-c', MANY_QUERY, **env).code == 0
    told = explain_many(folder, 1, env)
    assert '; opening ' in told and re.search('; device +host', told), told
    told = explain_many(folder, 1, dict(env, VDBQ_DEVICE='cpu'))
    assert '; opening ' not in told and not re.search('; device +host', told), told


def case_builders_may_be_killed(folder):
    make_many(folder)
    cache = os.path.join(folder, 'fresh')
    answers = set()
    for seconds in 0, 0.5, 1.5:
        answers.add(ask_many(folder, cache)[2])
        time.sleep(seconds)
        for builder in builders(cache):
            os.kill(builder, signal.SIGKILL)
    answers.add(ask_many(folder, cache)[2])
    await_builders(cache)
    device, behind, answer = ask_many(folder, cache)
    assert device != 'host' and not behind and answers == {answer}, (device, behind)
    assert scratch(cache) == [], scratch(cache)


def case_several_start_with_an_empty_cache(folder):
    make_many(folder)
    cache = os.path.join(folder, 'fresh')
    several = [subprocess.Popen([VDBQ, '--csv', 'many.vdb', MANY_QUERY], cwd=folder,
                                stdout=subprocess.PIPE,
                                env=dict(os.environ, XDG_CACHE_HOME=cache, VDBQ_DEVICE='',
                                         VDBQ_BUILD='interpreted'))
               for _ in range(4)]
    answers = {one.communicate(timeout=HANG_SECONDS)[0].decode() for one in several}
    await_builders(cache)
    device, behind, answer = ask_many(folder, cache)
    assert device != 'host' and not behind and answers == {answer}, (device, behind)
    # The machine, the probe of the device, and what the probe found.
    assert len(kept(cache)) == 3, kept(cache)


def case_one_process_compiles_for_all(folder):
    need_cpu(folder)
    several = [subprocess.Popen([VDBQ, '--csv', '--device', 'cpu', '-c', QUERY], cwd=folder,
                                stdout=subprocess.PIPE,
                                env=dict(os.environ, VDBQ_BUILD='interpreted',
                                         XDG_CACHE_HOME=os.path.join(folder, 'fresh')))
               for _ in range(2)]
    seconds = []
    for one in several:
        assert one.stdout.read() == b'a\n2\n3\n'
        _, status, used = os.wait4(one.pid, 0)
        one.returncode = os.waitstatus_to_exitcode(status)
        one.stdout.close()
        assert status == 0
        seconds.append(used.ru_utime + used.ru_stime)
    assert min(seconds) < max(seconds) / 2, seconds


def case_who_asks_for_a_device_gets_it(folder):
    make_many(folder)
    cache = os.path.join(folder, 'fresh')
    result = run(folder, '--list', '--device', 'cpu', 'many.vdb', f'explain analyze {MANY_QUERY}',
                 XDG_CACHE_HOME=cache)
    assert '; device    host' not in result.out and '; kernels ' not in result.out, result
    assert builders(cache) == [], builders(cache)


def sight(folder, cache, times=1, table='t'):
    """The builds that EXPLAIN ANALYZE tells of, of a query that a new process runs."""
    query = f'explain analyze {MANY_QUERY}'.replace('from t', f'from {table}')
    told = run(folder, '--list', '--device', 'cpu', 'many.vdb', '; '.join([query] * times),
               XDG_CACHE_HOME=cache)
    assert told.code == 0, told
    return re.findall('; build +(.*)', told.out)


def orders(cache):
    """The kernels that are to be built."""
    folder = os.path.join(cache, 'vdbq', 'orders')
    return os.listdir(folder) if os.path.isdir(folder) else []


def case_second_sight_is_specialised(folder):
    make_many(folder)
    assert run(folder, 'many.vdb', 'create table few as select * from t limit 1000').code == 0
    cache = os.path.join(folder, 'fresh')
    for _ in range(3):
        assert sight(folder, cache, 2, 'few') == ['interpreted'] * 2
    assert sight(folder, cache) == ['interpreted']
    assert (builders(cache), orders(cache)) == ([], []), (builders(cache), orders(cache))
    before = kept(cache)
    assert before, 'the driver keeps its cache elsewhere'
    sight(folder, cache)
    await_builders(cache)
    assert orders(cache) == [] and len(kept(cache) - before) == 1, (orders(cache), kept(cache))
    # A busy machine takes longer to read it behind the first runs.
    assert any(sight(folder, cache, times)[-1] == 'specialised' for times in (30, 300, 3000))
    assert len(kept(cache) - before) == 1 and builders(cache) == []


def case_orders_that_are_no_orders(folder):
    make_many(folder)
    cache = os.path.join(folder, 'fresh')
    for seconds in 0, 0.3:  # the process is killed: the order waits, or is lost
        sight(folder, cache, 2)
        time.sleep(seconds)
        for builder in builders(cache):
            os.kill(builder, signal.SIGKILL)
    place = os.path.join(cache, 'vdbq', 'orders')
    key = next(name for name in os.listdir(os.path.join(cache, 'vdbq', 'tune'))
               if name.endswith('.seen')).removesuffix('.seen')
    for number, text in enumerate(('', '1 1', '1 1\n', '9999 1\nx', '-1 1\nx', '2 1\nno C', '\0')):
        with open(os.path.join(place, f'{key}-{number:016x}'), 'w', encoding='utf-8') as file:
            file.write(text)
    os.symlink('/etc/passwd', os.path.join(place, f'{key}-{99:016x}'))
    sight(folder, cache)
    await_builders(cache)
    assert orders(cache) == [], orders(cache)
    # A busy machine takes longer to read it behind the first runs.
    assert any(sight(folder, cache, times)[-1] == 'specialised' for times in (30, 300, 3000))


def case_kernels_are_built_beforehand(folder):
    make_many(folder)
    cache = os.path.join(folder, 'fresh')
    for _ in range(2):
        result = run(folder, '--kernels', '16,1', XDG_CACHE_HOME=cache)
        assert result.code == 0 and result.out == '', result
    device, behind, _ = ask_many(folder, cache)
    assert device != 'host' and not behind, (device, behind)
    for wrong in '16', '16,', '16,1,1', '-1,1', '9999,1', '16,99':
        assert run(folder, '--kernels', wrong, XDG_CACHE_HOME=cache).code != 0, wrong


def case_interrupt_of_a_build(folder):
    cache = fill_cache(folder)
    for number, seconds in enumerate((0.05, 0.1, 0.2, 0.4)):
        with subprocess.Popen([VDBQ, '--device', 'cpu', '-c', QUERY], cwd=folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              start_new_session=True,
                              env=dict(os.environ, XDG_CACHE_HOME=f'{cache}{number}',
                                       **QUICK)) as shell:
            time.sleep(seconds)
            os.killpg(shell.pid, signal.SIGINT)
            errors = shell.communicate(timeout=HANG_SECONDS)[1].decode()
            assert shell.returncode in (130, -signal.SIGINT), (seconds, shell.returncode, errors)
            assert errors in ('', 'error: interrupted\n',
                              'interrupted, but the statement was done before\n'), errors


def case_constants_share_a_machine(folder):
    need_cpu(folder)
    make_thousand(folder)
    cache = os.path.join(folder, 'fresh')
    options = ('--device', 'cpu', '--build', 'specialised')
    analyze(folder, 'a > 60', *options, XDG_CACHE_HOME=cache)
    before = kept(cache)
    for condition in 'a > 61', 'a > -7':
        analyze(folder, condition, *options, XDG_CACHE_HOME=cache)
        assert kept(cache) == before, (condition, kept(cache) ^ before)
    analyze(folder, 'a < 60', *options, XDG_CACHE_HOME=cache)
    if before:
        assert kept(cache) > before, 'another program makes another machine'


def case_small_tables_compile_nothing(folder):
    make_thousand(folder)
    cache = os.path.join(folder, 'fresh')
    for _ in range(2):
        device, build, compiled = analyze(folder, 'a > 60', XDG_CACHE_HOME=cache)
        assert (device, build) == ('host', 'interpreted'), (device, build)
        assert compiled < 20, compiled
    assert kept(cache) == set(), kept(cache)


def main():
    """Runs the cases."""
    passed = failed = 0
    wanted = sys.argv[2:]
    for name, case in list(globals().items()):
        if not name.startswith('case_') or (wanted and name[5:] not in wanted):
            continue
        try:
            with tempfile.TemporaryDirectory(prefix='vdbq-devices-') as folder:
                case(folder)
            passed += 1
            print(f'ok      {name[5:]}', flush=True)
        except NoDevice as why:
            print(f'passed over  {name[5:]}: {why}', flush=True)
        except Exception:  # a case that breaks is a case that fails
            failed += 1
            print(f'FAILED  {name[5:]}', flush=True)
            traceback.print_exc(limit=-2, file=sys.stdout)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

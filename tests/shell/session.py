# SPDX-License-Identifier: MIT
"""Runs of the shell, and what is expected of them."""
import os
import re
import shutil
import subprocess
import sys

VDBQ = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else 'vdbq'


class Result:
    """What a run of the shell left."""

    def __init__(self, done):
        self.code = done.returncode
        self.out = done.stdout.decode()
        self.err = done.stderr.decode()

    def __repr__(self):
        return f'code {self.code}\nstdout: {self.out!r}\nstderr: {self.err!r}'


def environment(folder, extra):
    """No history, no configuration of the person who runs the tests."""
    env = dict(os.environ, HOME=folder, LC_ALL='C.UTF-8')
    env.setdefault('VDBQ_DEVICE', 'host')
    env.setdefault('XDG_CACHE_HOME', os.path.join(folder, 'cache'))
    for name in ('VDBQ_HISTORY', 'XDG_STATE_HOME', 'NO_COLOR'):
        env.pop(name, None)
    env.update(extra)
    return env


def run(folder, *arguments, text='', **extra):
    """Runs the shell on some input."""
    done = subprocess.run([VDBQ, *arguments], input=text.encode(), cwd=folder, timeout=60,
                          capture_output=True, env=environment(folder, extra), check=False)
    return Result(done)


def write(folder, name, text):
    """Makes a file and returns its name."""
    with open(os.path.join(folder, name), 'wb') as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return name


def expect(result, code=0, out=None, err=None):
    """Compares; `err` is a pattern, None: nothing."""
    assert result.code == code, f'expected code {code}: {result}'
    if out is not None:
        assert result.out == out, f'expected stdout {out!r}: {result}'
    if err is None:
        assert result.err == '', f'expected no errors: {result}'
    else:
        assert re.search(err, result.err), f'expected stderr {err!r}: {result}'


TABLE = '''create table t (id integer primary key, x float, y double, b bigint);
insert into t values (1, 0.5, 1e300, 9007199254740993), (2, 0.1, null, -1), (3, null, -2.0, 0);
'''


def sqlite(text):
    """What sqlite3 writes for the same input, or None where it is not there."""
    if not shutil.which('sqlite3'):
        return None
    return subprocess.run(['sqlite3', '-batch'], input=text.encode(), capture_output=True,
                          check=False).stdout.decode()


def flip(folder, name, at):
    """Damages a byte of a file."""
    with open(os.path.join(folder, name), 'r+b') as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))


def peak(folder, *arguments, **extra):
    """The most memory that a run of the shell has, in MiB, and what it wrote."""
    with subprocess.Popen([VDBQ, *arguments], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=environment(folder, extra)) as shell:
        written = shell.stdout.read().decode()
        _, _, usage = os.wait4(shell.pid, 0)
        shell.returncode = 0
    return usage.ru_maxrss / 1024, written

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs SQL tests on the devices of OpenCL runtimes, one runtime at a time.

    runtimes.py [--all] [--others] BINARY FOLDER ICD...

An ICD is a file as loaders read them, or a driver's library. On each of its
devices that vdbq takes: tests/sql/small.slt with both builds of the machine.
With --all: the self-test, and all SQL tests in every mode, with steps on the
device, with packed columns, with numbers read in the file and specialised.
Answers must be those of the host, byte for byte. --others leaves out devices
that are there without ICD, which other tests are about. FOLDER gets answers
and caches.
"""
import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ID = re.compile(r'\d+:\d+')
COUNTS = re.compile(r'^(\d+) passed, (\d+) failed$', re.M)

# Name; mode of a CPU, of another device; build; more of the environment.
SHORT = (('interpreted', 'mapped', 'streamed', 'interpreted', {}),
         ('specialised', 'mapped', 'cached', 'specialised', {}))
LONG = (('serial', 'serial', 'serial', 'interpreted', {}),
        ('streamed', 'streamed', 'streamed', 'interpreted', {}),
        ('cached', 'cached', 'cached', 'interpreted', {}),
        ('mapped', 'mapped', 'mapped', 'interpreted', {}),
        ('steps on the device', 'cached', 'cached', 'interpreted', {'VDBQ_STEPS': 'device'}),
        ('steps on the host', 'cached', 'cached', 'interpreted', {'VDBQ_STEPS': 'host'}),
        ('packed', 'serial', 'serial', 'interpreted', {'VDBQ_ENCODING': 'packed'}),
        ('in the file', 'mapped', None, 'interpreted', {'VDBQ_MAP': 'on'}),
        ('specialised', 'mapped', 'cached', 'specialised', {}))


def devices(binary, environment):
    """(id, kind, name, driver, status) of each device."""
    listed = subprocess.run([binary, '--devices'], env=environment, capture_output=True,
                            text=True, check=False).stdout
    return [(line[2:7].strip(), line[8:13].strip(), line[14:54].strip(), line[55:67].strip(),
             line[97:]) for line in listed.splitlines() if ID.match(line[2:7])]


class Runner:
    """Runs tests on one device, and counts."""

    def __init__(self, options, files):
        self.options, self.files = options, files
        self.passed = self.failed = 0

    def command(self, command, environment):
        """(exit code, output) of a command."""
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def suite(self, name, device, mode, build, environment):
        """Runs the files; returns the path of the answers."""
        answers = self.options.folder / f'answers-{re.sub("[^a-z0-9]+", "-", name.lower())}'
        command = [sys.executable, HERE / 'slt.py', '--answers', answers, '--device', device]
        command += ['--exec-mode', mode] if mode else []
        command += ['--build', build] if build else []
        start = time.monotonic()
        _, said = self.command([*command, self.options.binary, *self.files], environment)
        counts = COUNTS.findall(said)
        passed, failed = map(int, counts[-1]) if counts else (0, 1)
        return answers, passed, failed, said, time.monotonic() - start

    def compared(self, name, host, *how):
        """Runs the files, compares with the host's answers, and says what came of it."""
        answers, passed, failed, said, seconds = self.suite(name, *how)
        same = answers.is_file() and answers.read_bytes() == host.read_bytes()
        self.passed += passed
        self.failed += failed + (not same)
        print(f'{name}: {passed} passed, {failed} failed; answers '
              f'{"as" if same else "other than"} the host\'s; {seconds:.0f} s', flush=True)
        if failed:
            print(said[-2000:])

    def selftest(self, name, device, environment):
        """Every opcode against the host."""
        start = time.monotonic()
        code, said = self.command([self.options.binary, '--device', device, '--selftest'],
                                  environment)
        good = len(re.findall('^ok:', said, re.M))
        self.passed += good
        self.failed += code != 0
        print(f'{name}, self-test: {good} ok, exit code {code}; '
              f'{time.monotonic() - start:.0f} s', flush=True)
        if code != 0:
            print(said[-2000:])


def run_device(runner, icd, device, environment, host):
    """Runs all that is asked for on one device."""
    number, kind, name, driver, status = device
    name = f'{icd.stem}, {name}, {driver}'
    if status != 'ok':
        print(f'{name}: {status}')
        return
    if runner.options.all:
        runner.selftest(name, number, environment)
    for what, of_cpu, of_other, build, more in LONG if runner.options.all else SHORT:
        mode = of_cpu if kind == 'cpu' else of_other
        if mode:
            runner.compared(f'{name}, {what}', host, number, mode, build, environment | more)


def main():
    """Runs all devices of all runtimes."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--all', action='store_true')
    parser.add_argument('--others', action='store_true')
    parser.add_argument('binary')
    parser.add_argument('folder', type=Path)
    parser.add_argument('icds', nargs='*', type=Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    files = sorted(HERE.rglob('*.slt')) if options.all else [HERE / 'sql' / 'small.slt']
    runner = Runner(options, files)
    plain = {name: value for name, value in os.environ.items() if not name.startswith('VDBQ_')}
    known = {device[2:4] for device in devices(options.binary, plain)} if options.others else ()
    host, *_ = runner.suite('host', 'host', None, None, plain)
    for icd in options.icds:
        environment = plain | {'OCL_ICD_VENDORS': str(icd), 'OCL_ICD_FILENAMES': str(icd)}
        found = devices(options.binary, environment)
        if not found:
            print(f'{icd}: no device')
        for device in found:
            if device[2:4] not in known:
                run_device(runner, icd, device, environment, host)
    print(f'{runner.passed} passed, {runner.failed} failed')
    return 1 if runner.failed else 0


if __name__ == '__main__':
    sys.exit(main())

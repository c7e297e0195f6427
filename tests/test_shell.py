#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of the shell as a person or a script uses it.

    test_shell.py VDBQ [CASE...]

Each function of the folder shell that is called case_... is a case; it gets a folder of
its own. Queries run on the host device unless VDBQ_DEVICE says otherwise.
"""
import sys
import tempfile
import traceback

sys.dont_write_bytecode = True
from shell import (command_line, commands, errors, files, imports, interrupts, results,
                   terminals)

PARTS = (command_line, results, errors, commands, files, imports, terminals, interrupts)


def attempt(case, times):
    """Runs a case. One that must meet a statement while it runs may come too late on a
    loaded machine: it has some more tries."""
    for left in reversed(range(times)):
        try:
            with tempfile.TemporaryDirectory(prefix='vdbq-shell-') as folder:
                case(folder)
            return
        except Exception:
            if left == 0:
                raise


def cases():
    """All cases, of which no two have one name."""
    found = [(name, case) for part in PARTS for name, case in vars(part).items()
             if name.startswith('case_')]
    assert len(dict(found)) == len(found), 'two cases have one name'
    return found


def main():
    """Runs the cases."""
    passed = failed = 0
    wanted = sys.argv[2:]
    for name, case in cases():
        if wanted and name[5:] not in wanted:
            continue
        try:
            attempt(case, 3 if name.startswith(('case_terminal_bar', 'case_interrupt')) else 1)
            passed += 1
            print(f'ok      {name[5:]}', flush=True)
        except Exception:  # a case that breaks is a case that fails
            failed += 1
            print(f'FAILED  {name[5:]}', flush=True)
            traceback.print_exc(limit=-2, file=sys.stdout)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

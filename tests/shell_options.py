# SPDX-License-Identifier: MIT
"""The command line that tests through the shell share."""
import argparse
import os
from pathlib import Path

# A limit ends what hangs, and says nothing of speed: a busy machine of few cores may be ten
# times slower than a quiet one. What is about speed counts work or processor time.
HANG_SECONDS = 900   # of a query, a statement, a shell
FILE_SECONDS = 3600  # of a file of statements in a build that watches each access


def parser(description, what):
    """A parser of BINARY, FILE... and the options; `what` is what a file holds."""
    made = argparse.ArgumentParser(description=description,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument('binary')
    made.add_argument('files', nargs='+', type=Path)
    made.add_argument('--flags', default='', help='more flags for the shell')
    made.add_argument('--device', help='as VDBQ_DEVICE')
    made.add_argument('--exec-mode', help='as VDBQ_MODE')
    made.add_argument('--build', help='as VDBQ_BUILD')
    made.add_argument('--timeout', type=float, default=HANG_SECONDS, help=f'seconds a {what}')
    made.add_argument('--jobs', type=int, default=os.cpu_count())
    return made


def environment(options):
    """The environment of a shell that the options are for."""
    chosen = {'VDBQ_DEVICE': options.device, 'VDBQ_MODE': options.exec_mode,
              'VDBQ_BUILD': options.build}
    return os.environ | {name: value for name, value in chosen.items() if value}

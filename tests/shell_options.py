# SPDX-License-Identifier: MIT
"""The command line that tests through the shell share."""
import argparse
import os
from pathlib import Path


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
    made.add_argument('--timeout', type=float, default=120, help=f'seconds a {what}')
    made.add_argument('--jobs', type=int, default=os.cpu_count())
    return made


def environment(options):
    """The environment of a shell that the options are for."""
    chosen = {'VDBQ_DEVICE': options.device, 'VDBQ_MODE': options.exec_mode,
              'VDBQ_BUILD': options.build}
    return os.environ | {name: value for name, value in chosen.items() if value}

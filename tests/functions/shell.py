# SPDX-License-Identifier: MIT
"""Runs many statements in one shell; what each gave, refused, or broke."""
import os
import re
import shlex
import subprocess
from collections import namedtuple

# `rows`: what was printed; `error`: the message; `died`: how the shell ended.
Answer = namedtuple('Answer', 'rows error died', defaults=(None, None, None))
ERROR = re.compile(r'^error: (.*)', re.M)


class Shell:
    def __init__(self, binary, device, timeout):
        self.command = [*shlex.split(binary), '--batch', '--no-sync', '--mode', 'quote',
                        '--device', device]
        self.timeout = timeout

    def run(self, prelude, statements):
        """An answer for each statement; after a crash the others run anew."""
        answers = []
        while len(answers) < len(statements):
            answers += self.run_some(prelude, statements[len(answers):])
        return answers

    def run_some(self, prelude, statements):
        lines = [line + ';\n' for line in prelude] + ['.print @@\n']
        for statement in statements:
            lines += (statement, ';\n.print @@\n')
        try:
            done = subprocess.run(self.command, input=''.join(lines).encode(), env=os.environ,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=self.timeout, check=False)
            output, code = done.stdout, done.returncode
        except subprocess.TimeoutExpired as expired:
            output, code = expired.stdout or b'', f'no end in {self.timeout} s'
        first, *texts = output.decode('utf-8', errors='replace').split('@@\n')
        if 'error: ' in first:
            raise SystemExit(f'the tables cannot be made: {first}')
        answers = [answer_of(t) for t in texts[:-1]]
        if len(answers) < len(statements):
            answers.append(Answer(died=f'{code}: {texts[-1] if texts else first}'))
        return answers


def answer_of(text):
    error = ERROR.search(text)
    return Answer(error=error.group(1)) if error else Answer(rows=text)

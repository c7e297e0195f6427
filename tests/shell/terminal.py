# SPDX-License-Identifier: MIT
"""A shell on a terminal of its own."""
import contextlib
import os
import pty
import re
import select
import signal
import time

from shell.session import VDBQ, environment


class Terminal:
    """The shell on a terminal of its own."""

    def __init__(self, folder, *arguments, **extra):
        self.seen = ''
        env = environment(folder, dict(extra, TERM='xterm'))
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            self.become_shell(folder, arguments, env)

    @staticmethod
    def become_shell(folder, arguments, env):
        """What the child does; it ends here where there is no shell to become."""
        try:
            os.chdir(folder)
            signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which nohup takes from its commands
            os.execve(VDBQ, [VDBQ, *arguments], env)
        finally:
            os._exit(127)

    def wait_for(self, text, seconds=20):
        """Reads on until `text` comes; returns what came before it."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            left = end - time.monotonic()
            assert left > 0 and select.select([self.fd], [], [], left)[0], \
                f'{text!r} not in {self.seen!r}'
            try:
                part = os.read(self.fd, 65536)
            except OSError:
                part = b''
            assert part, f'ended before {text!r}: {self.seen!r}'
            # libedit moves the cursor where a person sees neighbours.
            self.seen = re.sub(r'\r?\x1b\[\d*G', '', self.seen + part.decode(errors='replace'))
        before, self.seen = self.seen.split(text, 1)
        return before

    def type(self, text):
        """Types on its keyboard."""
        os.write(self.fd, text if isinstance(text, bytes) else text.encode())

    def end(self, typing=''):
        """Types that, once, and waits for its end; returns the exit code."""
        if typing:
            self.type(typing)
        limit = time.monotonic() + 60
        ended, status = os.waitpid(self.pid, os.WNOHANG)
        while not ended and time.monotonic() < limit:
            time.sleep(0.01)
            ended, status = os.waitpid(self.pid, os.WNOHANG)
        if not ended:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if not ended or code != 0:  # a failed test shows why
            print(f'the shell {f"ended with {code}" if ended else "did not end"}, said last: '
                  f'{self.seen + self.rest()!r}', flush=True)
        os.close(self.fd)
        return code if ended else None

    def rest(self):
        """What it said that nobody waited for."""
        said = b''
        with contextlib.suppress(OSError):  # the other end is closed
            while select.select([self.fd], [], [], 0)[0]:
                said += os.read(self.fd, 65536)
        return said.decode(errors='replace')

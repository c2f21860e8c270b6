"""Runs a command for as long as standard input is open: `guard.py USER COMMAND...`, with USER empty for one's own.

The parent holds the other end. Once that is closed, however the parent ended, the command is interrupted, and killed if
that is not enough. Run as a script by any Python, apart from the parent's session.
"""

import os
import pwd
import signal
import subprocess
import sys
import threading

GRACE_S = 15


def main() -> int:
    user, *command = sys.argv[1:]
    # A run in a shell's background ignores it, and so would the command.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if user:
        group = pwd.getpwnam(user).pw_gid
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, user=user, group=group, extra_groups=[])
    else:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    threading.Thread(target=_end_with_parent, args=(child,), daemon=True).start()
    return child.wait()


def _end_with_parent(child: "subprocess.Popen[bytes]") -> None:
    while os.read(sys.stdin.fileno(), 1):
        pass
    child.send_signal(signal.SIGINT)
    try:
        child.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        child.kill()


if __name__ == "__main__":
    sys.exit(main())

"""Runs a command on a terminal of its own: terminal.py COLUMNS COMMAND...

Prints whether a progress line was drawn and fits, then what remains on the screen, with escape
sequences spelt out.  COLUMNS 0: a terminal that does not know its width.
"""
import fcntl
import os
import pty
import re
import struct
import sys
import termios

columns, command = int(sys.argv[1]), sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.execvp(command[0], command)
data = b""
while True:
    try:
        part = os.read(fd, 65536)
    except OSError:
        break
    if not part:
        break
    data += part
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
text = data.decode("utf-8", "replace").replace("\r\n", "\n")
bars = re.findall(r"\r([^\r\n\x1b]*)\x1b\[K", text)
drawn = [bar for bar in bars if bar]
if drawn:
    print("progress drawn,", "too wide" if max(map(len, drawn)) >= (columns or 80) else "fits")
    if bars[-1]:
        print("not wiped:", bars[-1])
stages = {bar.split()[0] for bar in drawn}
assert stages <= {"read", "find", "verify", "write", "measure", "draw", "join"}, stages
rest = re.sub(r"\r[^\r\n\x1b]*\x1b\[K", "", text)
print(rest.replace("\x1b", "\\e"), end="")
print("exit", status)

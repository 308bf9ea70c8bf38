"""The command: `neardup …` and `python -m neardup …`.

It is the C command that lies in the package.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

COMMAND = Path(__file__).parent / "neardup-command"


def main() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(COMMAND, ["neardup", *sys.argv[1:]])


if __name__ == "__main__":
    main()

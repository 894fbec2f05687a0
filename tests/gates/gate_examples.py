#!/usr/bin/env python3
"""The C programs under examples/: each was built against the shared library, runs, and ends with status 0."""
import glob
import os
import sys

import gatelib
from gatelib import BUILD, Failed, TOP


def case(name):
    def runs():
        program = gatelib.need_file(BUILD, "examples", name)
        print(gatelib.call([program], timeout=600))
    return name, runs


def each_says_what_it_shows():
    """The comment on top is the page of documentation: what it does, how it is compiled."""
    for path in gatelib.sources(".c", under=("examples",)):
        with open(os.path.join(TOP, path), encoding="utf-8") as handle:
            head = handle.read().split("*/")[0]
        if not head.startswith("/*") or "pkg-config" not in head or len(head.splitlines()) < 6:
            raise Failed("%s does not begin with a comment that says what it shows and how it is compiled" % path)


if __name__ == "__main__":
    names = sorted(os.path.splitext(os.path.basename(f))[0] for f in glob.glob(os.path.join(TOP, "examples", "*.c")))
    sys.exit(gatelib.main([each_says_what_it_shows] + [case(name) for name in names]))

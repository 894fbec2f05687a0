#!/usr/bin/env python3
"""One handwriting: every C and OpenCL C file is as clang-format leaves it."""
import subprocess
import sys

import gatelib
from gatelib import Failed, TOP

VERSIONS = ("clang-format-16",)  # others lay out some lines differently


def formatted():
    tool = gatelib.need_tool(*VERSIONS)
    files = gatelib.sources(".c", ".h", ".cl", ".cpp", ".hpp")
    done = subprocess.run([tool, "--dry-run", "--Werror"] + files, cwd=TOP, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise Failed("%s\nto mend: %s -i FILE" % (done.stdout[:6000], tool))


if __name__ == "__main__":
    sys.exit(gatelib.main([formatted]))

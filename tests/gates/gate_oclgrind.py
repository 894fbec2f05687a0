#!/usr/bin/env python3
"""Every direct variant under Oclgrind: no access out of bounds, no data race, right results; sp and ds with fp64 switched
off in the compiler and in the library.  With fp64 their kernels differ only in what takes words of dp bodies, so that
one of them runs both ways.

The runs are those of oclgrind_driver.c.  Two cases spoil a copy of the kernels on purpose and must be noticed, so that
a silent Oclgrind cannot pass for a clean one.
"""
import os
import re
import shutil
import sys
import tempfile

import gatelib
import oclgrindlib
from gatelib import Failed, LONG, QUICK, TOP


DRIVER = "oclgrind_driver"


def clean(variant, fp64):
    if fp64:
        return variant, oclgrindlib.clean(DRIVER, variant)
    return variant + "/no-fp64", oclgrindlib.clean(DRIVER, "--no-fp64", variant, fp64=False)


def spoiled(change):
    """A copy of the kernels after `change(folder)`."""
    folder = tempfile.mkdtemp()
    copy = os.path.join(folder, "kernels")
    shutil.copytree(os.path.join(TOP, "kernels"), copy)
    change(copy)
    return copy


def edit(path, pattern, replacement):
    with open(path, encoding="utf-8") as handle:
        text = handle.read()
    changed, count = re.subn(pattern, replacement, text)
    if not count:
        raise Failed("%s holds nothing like %s any more: this case needs a new way to spoil it" % (path, pattern))
    with open(path, "w", encoding="utf-8") as handle:
        handle.write(changed)


def notices_a_race():
    """Without its barriers the force kernel reads tiles that others are still writing."""
    copy = spoiled(lambda d: edit(os.path.join(d, "direct", "force.cl"), r"gv_row_sync\(\);", ";"))
    try:
        _, _, found = oclgrindlib.run(DRIVER, "sp2", kernels=copy, until="race")
    finally:
        shutil.rmtree(os.path.dirname(copy))
    if "race" not in found:
        raise Failed("force.cl without barriers gave no data race: " + (found or "nothing was found"))


def notices_fp64():
    """With fp64 switched off a kernel that uses it must not build, or the no-fp64 cases prove nothing."""
    line = "\nstatic inline double gv_spoiled(double x)\n{\n    return 2 * x;\n}\n"
    copy = spoiled(lambda d: edit(os.path.join(d, "lib", "real.h"), r"\Z", line))
    try:
        printed, status, _ = oclgrindlib.run(DRIVER, "--no-fp64", "sp2", fp64=False, kernels=copy)
    finally:
        shutil.rmtree(os.path.dirname(copy))
    if status == 0 or "ERR_BUILD" not in printed:
        raise Failed("double was accepted with fp64 switched off:\n" + printed)


if __name__ == "__main__":
    # CI has all variants, else there is one with double and one without
    cases = [clean(v, True) for v in (["ds4", "dp2", "dp4", "dp6"] if LONG and not QUICK else ["dp4"])]
    cases += [clean(v, False) for v in (["sp2", "sp4", "sp6", "ds2", "ds4", "ds6"] if LONG and not QUICK
                                        else ["ds6"])]
    sys.exit(gatelib.main(cases + [notices_a_race, notices_fp64]))

#!/usr/bin/env python3
"""The examples in C++, Fortran and Python build against this library, run, and end with status 0."""
import os
import sys
import tempfile

import gatelib
from gatelib import BUILD, Skipped, TOP

LIBRARY = os.path.join(BUILD, "lib")


def environment():
    return dict(os.environ, LD_LIBRARY_PATH=LIBRARY, GRAVEL_LIBRARY=os.path.join(LIBRARY, "libgravel.so"),
                PYTHONPATH=os.path.join(TOP, "python"), PYTHONDONTWRITEBYTECODE="1")


def ready():
    gatelib.need_file(LIBRARY, "libgravel.so")
    if gatelib.sanitized():
        raise Skipped("a sanitized library needs its run-time in the program")


def build_and_run(command, sources, library="gravel"):
    ready()
    with tempfile.TemporaryDirectory() as scratch:
        program = os.path.join(scratch, "program")
        gatelib.call(command + ["-o", program] + [os.path.join(TOP, s) for s in sources] +
                     ["-L" + LIBRARY, "-l" + library], cwd=scratch)
        print(gatelib.call([program], env=environment()).strip())


def cxx_flags():
    return [gatelib.need_tool("g++"), "-std=c++17", "-O1", "-Wall", "-Wextra", "-Wshadow", "-pedantic-errors", "-Werror",
            "-I" + os.path.join(TOP, "include")]


def fortran_flags():
    return [gatelib.need_tool("gfortran"), "-std=f2008", "-O1", "-Wall", "-Wextra", "-Werror"]


def cxx():
    build_and_run(cxx_flags(), ["examples/cluster.cpp"])


def fortran():
    build_and_run(fortran_flags(), ["fortran/gravel.f90", "examples/cluster.f90"])


def cxx_g6():
    build_and_run(cxx_flags(), ["examples/g6_cluster.cpp"], "gravel_g6")


def fortran_g6():
    build_and_run(fortran_flags(), ["fortran/gravel_g6.f90", "examples/g6_cluster.f90"], "gravel_g6")


def with_numpy():
    """This interpreter or the system's, whichever has numpy."""
    for interpreter in (sys.executable, "/usr/bin/python3"):
        try:
            gatelib.call([interpreter, "-c", "import numpy"])
            return interpreter
        except (gatelib.Failed, FileNotFoundError):
            continue
    raise Skipped("numpy is not installed (package python3-numpy)")


def python(name):
    def run():
        ready()
        print(gatelib.call([with_numpy(), os.path.join(TOP, "examples", name)], env=environment()).strip())
    return "python_" + name[:-3], run


if __name__ == "__main__":
    sys.exit(gatelib.main([cxx, fortran, cxx_g6, fortran_g6, python("first_forces.py"), python("units_outside.py")]))

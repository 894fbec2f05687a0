#!/usr/bin/env python3
"""The examples in C++, Fortran and Python build against this library, run, and end with status 0."""
import os
import shutil
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
        said = gatelib.call([program], env=environment()).strip()
    print(said)
    return said


def cxx_flags():
    return [gatelib.need_tool("g++"), "-std=c++17", "-O1", "-Wall", "-Wextra", "-Wshadow", "-pedantic-errors", "-Werror",
            "-I" + os.path.join(TOP, "include")]


def fortran_flags():
    return [gatelib.need_tool("gfortran"), "-std=f2008", "-O1", "-Wall", "-Wextra", "-Werror"]


def cxx():
    build_and_run(cxx_flags(), ["examples/cluster.cpp"])


# The 6th-order interfaces take references in C++, which the libraries, in C, see as pointers.
REFERENCES = """#include <gravel/%s.h>
int main()
{
    double x[3] = {1, 2, 3}, v[3] = {4, 5, 6}, zero[3] = {0, 0, 0};
    %s
}
"""
SIXTH = """initialize();
    set_j_particle(3, x, v, zero, zero, zero, zero, 0.5, 0, -7, 0.25);
    int id; double mass, eps2, a[3], b[3], c[3];
    predict_all(2, 4);
    pick_up_predictor_2(3, id, mass, eps2, a, b, c);
    return !(id == -7 && mass == 0.5 && eps2 == 0.25 && a[2] == 15 && b[0] == 4 && c[1] == 0);"""
YEBISU = """initialize(4);
    set_jp_2(3, x, v, zero, zero, zero, zero, 0.5, 0, -7, 0.25);
    predictor p;
    predict_all(2, 4);
    pick_up_predictor_2(3, p);
    return !(p.id == -7 && p.mass == 0.5 && p.eps2 == 0.25 && p.pos[2] == 15 && p.vel[0] == 4 && p.acc[1] == 0);"""


def references(name, body):
    def run():
        with tempfile.TemporaryDirectory() as scratch:
            source = os.path.join(scratch, "references.cpp")
            with open(source, "w", encoding="ascii") as handle:
                handle.write(REFERENCES % (name, body))
            build_and_run(cxx_flags(), [source], "gravel_" + name)
    return "references_" + name, run


def fortran():
    build_and_run(fortran_flags(), ["fortran/gravel.f90", "examples/cluster.f90"])


def cxx_g6():
    build_and_run(cxx_flags(), ["examples/g6_cluster.cpp"], "gravel_g6")


def fortran_g6():
    build_and_run(fortran_flags(), ["fortran/gravel_g6.f90", "examples/g6_cluster.f90"], "gravel_g6")


def fortran_g5():
    """Without a module and without bind(C): the compiler makes the names."""
    build_and_run(fortran_flags(), ["examples/g5_forces.f90"], "gravel_g5")


# What REBOUND 0.1.8 does for a GRAPE-7: its header, sources before their number, softening last.
REBOUND = """#include <math.h>
#include "%s"
int main(void)
{
    double m[2] = {1, 1}, x[2][3] = {{0, 0, 0}, {2, 0, 0}}, a[2][3], p[2];
    g5_open();
    if (g5_get_jmemsize() < 2)
        return 2;
    g5_set_range(-1e3, 1e3, 1e300);
    g5_set_jp(0, 2, m, x);
    g5_set_n(2);
    g5_set_eps_to_all(0);
    g5_calculate_force_on_x(x, a, p, 2);
    g5_close();
    /* a few roundings of float */
    return !(fabs(a[0][0] - 0.25) < 1e-7 && fabs(a[1][0] + 0.25) < 1e-7);
}
"""


def headers_of_others():
    """Codes include the headers of the libraries that ours stand for, by their names."""
    for header in ("g5nbutil.h", "gp5util.h"):
        with tempfile.TemporaryDirectory() as scratch:
            source = os.path.join(scratch, "rebound.c")
            with open(source, "w", encoding="ascii") as handle:
                handle.write(REBOUND % header)
            build_and_run([gatelib.need_tool("gcc"), "-std=c99", "-Wall", "-Wextra", "-Werror",
                           "-I" + os.path.join(TOP, "include"),
                           "-I" + os.path.join(TOP, "include", "gravel", "compat")], [source], "gravel_g5")


def cxx_octgrav():
    build_and_run([flag.replace("c++17", "c++11") for flag in cxx_flags()], ["examples/octgrav_cluster.cpp"])


# A line and NaN where AMUSE's class ends the process; then it answers again.
OCTGRAV = """#include <gravel/octgrav.hpp>
int main()
{
    std::vector<float4> pos(3), grav;
    for (int k = 0; k < 3; k++)
        pos[k] = float4{float(k), 0, 0, 1};
    int wrong = 0;
    auto spoiled = [&](octgrav &tree) {
        grav.clear();
        tree.evaluate_gravity(pos, grav);
        wrong += grav.size() != 3 || grav[0].x == grav[0].x || grav[2].w == grav[2].w;
    };
    octgrav tree(0.5f, 0), flat(-1, 0), negative(0.5f, -1);
    setenv("GRAVEL_DEVICE", "no such device", 1);
    spoiled(tree);
    unsetenv("GRAVEL_DEVICE");
    spoiled(flat);
    spoiled(negative);
    pos[1].y = std::numeric_limits<float>::quiet_NaN();
    spoiled(tree);
    pos[1].y = 0;
    tree.evaluate_gravity(pos, grav);
    wrong += !(std::fabs(grav[0].x - 1.25f) < 1e-5f && std::fabs(grav[1].x) < 1e-5f && std::fabs(grav[0].w + 1.5f) < 1e-5f);
    pos.clear();
    tree.evaluate_gravity(pos, grav);
    return wrong + (grav.size() != 0);
}
"""


def cxx_octgrav_bad_use():
    with tempfile.TemporaryDirectory() as scratch:
        source = os.path.join(scratch, "bad_use.cpp")
        with open(source, "w", encoding="ascii") as handle:
            handle.write(OCTGRAV)
        said = build_and_run([flag.replace("c++17", "c++11") for flag in cxx_flags()], [source])
    lines = [line for line in said.splitlines() if line.startswith("octgrav: error: ")]
    if len(lines) != 4 or len(said.splitlines()) != 4:
        raise gatelib.Failed("not a line for each of four failures:\n" + said)


def with_numpy():
    """This interpreter or the system's, whichever has numpy."""
    for interpreter in (sys.executable, "/usr/bin/python3"):
        try:
            gatelib.call([interpreter, "-c", "import numpy"])
            return interpreter
        except (gatelib.Failed, FileNotFoundError):
            continue
    raise Skipped("numpy is not installed (package python3-numpy)")


def cxx_sapporo():
    """A program written against Sapporo2's class, with the oldest standard that the header takes and a newer one."""
    flags = cxx_flags() + ["-I" + os.path.join(TOP, "include", "gravel", "compat")]
    for standard in ("-std=c++11", "-std=c++17"):
        said = build_and_run(flags + [standard], ["tests/gates/sapporo_caller.cpp"])
        lines = sum(line.startswith("sapporo: error: ") for line in said.splitlines())
        if lines != 7:
            raise gatelib.Failed("%d lines about seven failures:\n%s" % (lines, said))


def python(path):
    def run():
        ready()
        print(gatelib.call([with_numpy(), os.path.join(TOP, path)], env=environment()).strip())
    return "python_" + os.path.basename(path)[:-3], run


def python_installs():
    """pip install ./python needs no compiler, and what it installs finds a library that GRAVEL_LIBRARY names."""
    ready()
    base = with_numpy()
    with tempfile.TemporaryDirectory() as scratch:
        try:
            gatelib.call([base, "-m", "venv", "--system-site-packages", os.path.join(scratch, "venv")])
            inside = os.path.join(scratch, "venv", "bin", "python3")
            gatelib.call([inside, "-c", "import setuptools, wheel"])
        except (gatelib.Failed, FileNotFoundError) as why:
            raise Skipped("no venv, pip and wheel (packages python3-venv, python3-setuptools, python3-wheel)") from why
        source = os.path.join(scratch, "python")  # pip builds inside of it
        shutil.copytree(os.path.join(TOP, "python"), source,
                        ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
        no_compiler = dict(environment(), PATH=os.path.join(scratch, "venv", "bin"), CC="/bin/false")
        del no_compiler["PYTHONPATH"]
        gatelib.call([inside, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--no-build-isolation", source],
                     env=no_compiler)
        told = gatelib.call([inside, "-c", "import gravel; print(gravel.__file__, gravel.__version__)"], cwd=scratch,
                            env=no_compiler)
        if scratch not in told or "0.2.0" not in told:
            raise gatelib.Failed("another package was found: " + told)
        print(told.strip())


if __name__ == "__main__":
    sys.exit(gatelib.main([cxx, fortran, cxx_g6, fortran_g6, cxx_sapporo, fortran_g5, headers_of_others, cxx_octgrav,
                           cxx_octgrav_bad_use, references("6th", SIXTH), references("yebisu", YEBISU),
                           python("examples/first_forces.py"), python("examples/units_outside.py"),
                           python("tests/gates/python_use.py"), python_installs]))

#!/usr/bin/env python3
"""Text rules of the house that a compiler does not check."""
import fnmatch
import os
import re
import sys

import gatelib
from gatelib import Failed, TOP

# The host finds features and passes neutral macros; a kernel with a vendor's name in it ages with its products.
VENDORS = ("nvidia", "amd", "ati", "intel", "apple", "arm", "cuda", "pocl", "mali", "adreno", "qualcomm", "radeon",
           "geforce", "tesla", "rocm", "hip", "imagination", "mesa", "gfx")
VENDOR = re.compile(r"(?<![a-z])(%s)(?![a-z])" % "|".join(VENDORS), re.I)
# Also as part of the names that hold a type: as_float, convert_double4, and in comments, where it would soon be copied.
# A two-float is a number, not a type.
REAL = re.compile(r"(?<![A-Za-z0-9])(?<!two-)(float|double)[0-9]*(?![A-Za-z])")
COLUMNS, LINES = 120, 500


def lines_of(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as handle:
        return handle.read().split("\n")


def refuse(paths, pattern, what):
    found = ["%s:%d: %s: %s" % (path, number, what, line.strip())
             for path in paths for number, line in enumerate(lines_of(path), 1) if pattern.search(line)]
    if found:
        raise Failed("\n".join(found))


def kernels_exist():
    if not gatelib.sources(".cl", under=("kernels",)):
        raise Failed("there is no kernels/**/*.cl: the rules below would pass on nothing")


def kernels_name_no_vendor():
    refuse(gatelib.sources(".cl", ".h", under=("kernels",)), VENDOR, "names a vendor or its product")


def kernels_are_plain_opencl_c():
    """Some compilers refuse macros with any number of arguments, though others take them."""
    refuse(gatelib.sources(".cl", ".h", under=("kernels",)), re.compile(r"#\s*define\s+\w+\([^)]*\.\.\.|__VA_ARGS__"),
           "a macro with any number of arguments is not OpenCL C 1.2")


def real_types_only_in_lib():
    inside = os.path.join("kernels", "lib") + os.sep
    files = [f for f in gatelib.sources(".cl", ".h", under=("kernels",)) if not f.startswith(inside)]
    refuse(files, REAL, "float or double outside kernels/lib")


def kernels_include_only_lib():
    """kernels/<room> may include its own files, kernels/lib and the interaction shapes."""
    found = []
    for path in gatelib.sources(".cl", ".h", under=("kernels",)):
        room = path.split(os.sep)[1]
        for number, line in enumerate(lines_of(path), 1):
            include = re.match(r'\s*#\s*include\s*["<]([^">]+)', line)
            if include and "/" in include.group(1) and include.group(1).split("/")[0] not in ("lib", "shape", room):
                found.append("%s:%d: %s" % (path, number, line.strip()))
    if found:
        raise Failed("kernels include only their own room, lib and shape:\n" + "\n".join(found))


def host_rooms_depend_one_way():
    """cli -> sim, tuner -> host -> OpenCL; cpu_ref depends on nothing."""
    allowed = {"host": ("host", "gravel", "kernels"), "cpu_ref": ("cpu_ref",), "compat": ("compat", "gravel"),
               "cluster": ("cluster", "gravel"), "model": ("model", "host", "cjson")}
    found = []
    for path in gatelib.sources(".c", ".h", under=("src",)):
        room = path.split(os.sep)[1]
        for number, line in enumerate(lines_of(path), 1):
            include = re.match(r'\s*#\s*include\s*"([^"/]+)/', line)
            if room == "host" and re.match(r'\s*#\s*include "kernels/[a-z]+/(layout|formulas)\.h"', line):
                continue  # what host and kernels share
            if include and include.group(1) not in allowed.get(room, (include.group(1),)):
                found.append("%s:%d: %s" % (path, number, line.strip()))
    if found:
        raise Failed("dependencies run one way:\n" + "\n".join(found))


# Each room of the library may include itself and those before it.
HOST_ROOMS = ("base", "device", "program", "profile", "bodies", "direct", "tree", "mesh", "tasks", "step", "several")
# Beside each other: neither may include the other.
HOST_APART = (("direct", "tree"), ("direct", "mesh"), ("tree", "mesh"), ("direct", "tasks"), ("tree", "tasks"), ("mesh", "tasks"),
              ("step", "several"), ("tasks", "step"), ("tasks", "several"))


def host_rooms_have_no_circles():
    found = []
    for path in gatelib.sources(".c", ".h", under=("src/host",)):
        room = path.split(os.sep)[2]
        if room not in HOST_ROOMS:
            found.append("%s: the room %s is not in HOST_ROOMS" % (path, room))
            continue
        may = set(HOST_ROOMS[:HOST_ROOMS.index(room) + 1])
        for pair in HOST_APART:
            if room in pair:
                may -= set(pair) - {room}
        for number, line in enumerate(lines_of(path), 1):
            include = re.match(r'\s*#\s*include\s*"host/([^"/]+)/', line)
            if include and include.group(1) not in may:
                found.append("%s:%d: %s" % (path, number, line.strip()))
            kernel = re.match(r'\s*#\s*include\s*"kernels/([^"]+)', line)
            own = [path.split(os.sep)[2] + name for name in ("/layout.h", "/formulas.h")]
            if kernel and kernel.group(1) not in own + ["shape/layout.h"]:
                found.append("%s:%d: of kernels, layout.h and formulas.h of its own room and layout.h of shapes only: %s" %
                             (path, number, line.strip()))
    if found:
        raise Failed("a room of src/host uses those before it only:\n" + "\n".join(found))


def lines_are_clean():
    found = []
    for path in gatelib.sources(".c", ".h", ".cl"):
        for number, line in enumerate(lines_of(path), 1):
            if len(line) > COLUMNS:
                found.append("%s:%d: %d columns, at most %d" % (path, number, len(line), COLUMNS))
            if "\t" in line or line != line.rstrip():
                found.append("%s:%d: a tab or trailing blanks" % (path, number))
    if found:
        raise Failed("\n".join(found))


def files_fit_a_sitting():
    long = ["%s: %d lines, at most %d" % (path, len(lines_of(path)) - 1, LINES)
            for path in gatelib.sources(".c", ".h", ".hpp", ".cl", under=("src", "include", "kernels"))
            if len(lines_of(path)) - 1 > LINES]
    if long:
        raise Failed("\n".join(long))


def nothing_left_to_do():
    files = gatelib.sources(".c", ".h", ".cl", ".py", ".sh", under=("src", "include", "kernels", "bench", "examples"))
    refuse(files, re.compile(r"\b(TODO|FIXME|XXX|HACK)\b"), "open end")


def exists(name):
    """As pages and comments name files: from the top, or from the folder that holds all of their kind."""
    return any(os.path.exists(os.path.join(TOP, root, name))
               for root in ("", "src", "src/host", "kernels", "include", "doc", "tests", "bench", "bench/results"))


def headings(page):
    return [re.sub(r"[^\w\- ]", "", line.lstrip("#").lower()).strip().replace(" ", "-")
            for line in lines_of(page) if line.startswith("#")]


def files_that_are_named_exist():
    """Files in pages and comments, and what pages link to with its heading.  my_*.json are examples of output."""
    named = re.compile(r"(?<![\w/.<$\"-])((?:src|host|sim|cli|tuner|compat|cluster|model|cpu_ref|tests|bench|kernels|lib|direct"
                       r"|tree|mesh|step|tasks|include|gravel|doc|examples|tuning_db)/[\w/.-]+\.(?:c|h|hpp|cl|py|md|sh|f90)"
                       r"|(?:h200|pocl)_\w+\.json)\b")
    link = re.compile(r"\]\(([^)#:]*)(?:#([^)]*))?\)")
    pages = gatelib.sources(".md", under=("doc",)) + ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
    found = []
    for path in pages + gatelib.sources(".c", ".h", ".cl", ".py", ".sh"):
        for number, line in enumerate(lines_of(path), 1):
            found += ["%s:%d: there is no %s" % (path, number, name) for name in named.findall(line)
                      if not exists(name) and "generated" not in name]
            for name, heading in link.findall(line) if path in pages else ():
                target = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
                if not os.path.exists(os.path.join(TOP, target)) or heading and heading not in headings(target):
                    found.append("%s:%d: there is no %s %s" % (path, number, name, heading))
    if found:
        raise Failed("\n".join(found))


def results_are_named():
    """Each file of results by a page, perhaps as h200_tree_*.json, or by the gate of the model, without h200_."""
    pages = gatelib.sources(".md", under=("doc",)) + ["README.md", "bench/README.md"]
    words = {word for path in pages for line in lines_of(path) for word in re.findall(r"\w[\w*]*\.json", line)}
    words |= {"h200_%s.json" % name for line in lines_of("tests/gates/gate_model.py") for name in re.findall(r'"(\w+)"', line)}
    lost = [name for name in sorted(os.listdir(os.path.join(TOP, "bench", "results")))
            if not any(fnmatch.fnmatchcase(name, word) for word in words)]
    if lost:
        raise Failed("no page names bench/results/" + ", ".join(lost))


if __name__ == "__main__":
    sys.exit(gatelib.main([kernels_exist, kernels_name_no_vendor, kernels_are_plain_opencl_c, real_types_only_in_lib,
                           kernels_include_only_lib, host_rooms_depend_one_way, host_rooms_have_no_circles, lines_are_clean,
                           files_fit_a_sitting, nothing_left_to_do, files_that_are_named_exist, results_are_named]))

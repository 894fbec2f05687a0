#!/usr/bin/env python3
"""Compiles every direct variant and the tree for AMD GPUs without one, and tabulates registers, local memory and spills.

    tests/gates/amd_registers.py [--build DIR] [--quick] [TARGET ...]        also: scons amd

Writes BUILD/amd_registers.txt and .json.  Needs clang and libclc (Debian: clang-15 clang-16 libclc-15), no OpenCL.  Each set of
options that the library would use by default for some number of sinks on such a GPU is one row; --quick takes the
largest number of sinks only.  The figures are those of the assembly's own metadata:

  vgpr, sgpr  registers of a work-item (vgpr) and of a wave (sgpr)
  lds         bytes of local memory a group
  waves       waves per SIMD unit that the registers allow (the compiler's "Occupancy")
  scratch     bytes of private memory a work-item: spills, or arrays that did not become registers
  spills      vector registers that were spilled to memory
  sgpr_moves  scalar registers that were moved into lanes of a vector register; costs an instruction, no memory
"""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys

import gatelib
from gatelib import BUILD, Failed, Skipped, TOP

# name: (compute units, largest group, bytes of local memory) of a typical product for the library's default choice,
# and the versions of clang to try in turn.  LLVM 15's first back-end for gfx11 gives a work-item only 128 of the 256
# vector registers, so its spills there mean nothing; 16 is the first that uses all of them.
TARGETS = {"gfx906": ((60, 256, 65536), (15, 16, 17, 18, 14)), "gfx90a": ((104, 256, 65536), (15, 16, 17, 18, 14)),
           "gfx1100": ((48, 256, 65536), (16, 17, 18))}
# bytes of private memory that a kernel is written to have: a stack that is indexed at run time, a batch as argument
ARRAYS = {"gv_bodies_put_inline": 776}
VGPRS = 256  # of a work-item
# what the host finds on these: double, and a float fma in one instruction (kernels/lib/real.h)
FEATURES = ["-DGV_HAVE_FP64=1", "-DGV_FAST_FMA=1"]


def tools(target):
    """clang, its version, and a device library that it can read: of its own version or an older one."""
    versions = TARGETS[target][1]
    for version in versions:
        clang = shutil.which("clang-%d" % version)
        folders = ("/usr/lib/clc", "/usr/share/clc", "/usr/lib/llvm-%d/share/clc" % version)
        libraries = [os.path.join(folder, "amdgcn--amdhsa.bc") for folder in folders]
        library = next((path for path in libraries if os.path.exists(path)), None)
        if clang and library:
            return clang, version, library
    raise Skipped("%s needs clang of a version among %s, and libclc (Debian: clang-%d libclc-15)" %
                  (target, " ".join(str(v) for v in versions), versions[0]))


def variants(target, build):
    program = gatelib.need_file(build, "gates", "direct_variants")
    text = gatelib.call([program] + [str(x) for x in TARGETS[target][0]])
    return [tuple(line.split(" ", 2)) for line in text.splitlines()]


def tree_programs(target, build):
    """(variant, bodies, file, options) of each program of a tree"""
    program = gatelib.need_file(build, "gates", "tree_variants")
    text = gatelib.call([program] + [str(x) for x in TARGETS[target][0]])
    return [tuple(line.split(" ", 3)) for line in text.splitlines()]


def bodies_programs():
    """(variant, bodies, file, options) of the kernels of planes, as src/host/bodies sets them."""
    found = []
    for precision, size in (("sp", 4), ("ds", 4), ("dp", 8)):
        for fields in (2, 8, 24):
            found.append(("bodies-" + precision, 0, "bodies/transfer.cl",
                          "-DGV_NUMBER_SIZE=%d -DGV_FIELDS=%d -DGV_INLINE=%d" % (size, fields, 768 // size)))
        options = "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_THREADS=64" % ("sp", "ds", "dp").index(precision)
        found += [("bodies-" + precision, 0, file, options) for file in ("bodies/frame.cl", "bodies/keys.cl")]
    found += [("bodies", 0, "bodies/order.cl", "-DGV_ENTRY=" + entry) for entry in ("uint", "uint2", "uint4", "ulong4")]
    return found


def mesh_programs():
    """(variant, bodies, file, options) of the kernels of meshes, as src/host/mesh/mesh.c sets them."""
    found = []
    for precision, number in (("sp", 0), ("dp", 2)):
        for width in (1, 2, 3, 4):
            options = "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_WIDTH=%d -DGV_STENCIL=%d" % (number, width, 4 - width % 2 * 2)
            found += [("mesh-" + precision, 0, "mesh/" + file, options) for file in ("assign.cl", "interpolate.cl")]
        found.append(("mesh-" + precision, 0, "mesh/green.cl", options))
        options = "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_WAVES=%d" % (number, 20 if number else 9)
        found.append(("mesh-" + precision, 0, "mesh/waves.cl", options))
        for shape in (0, 1):
            options = "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_RSQRT=0 -DGV_SHAPE=%d" % (number, shape)
            found.append(("mesh-" + precision, 0, "mesh/pairs.cl", options))
        for stored in (0, 1, 2):
            options = "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_FROM=%d" % (number or 1, stored)
            found.append(("mesh-" + precision, 0, "mesh/place.cl", options))
    return found


def tasks_programs():
    """(variant, bodies, file, options) of the kernels of tasks and requests, as src/host/tasks sets them on a GPU."""
    found = [("tasks", 0, "tasks/arrange.cl", "")]
    for precision, number, form in (("sp", 0, 1), ("ds", 1, 1), ("dp", 2, 2)):
        for kind in ("-DGV_SHAPE=0 -DGV_SHORT_RANGE=1 -DGV_SOFTENED=1 -DGV_POTENTIAL=0 -DGV_SHIFTS=1 -DGV_REST=25 "
                     "-DGV_FORM=%d" % form,
                     "-DGV_SHAPE=1 -DGV_SHORT_RANGE=0 -DGV_SOFTENED=1 -DGV_POTENTIAL=1 -DGV_SHIFTS=0 -DGV_REST=25 "
                     "-DGV_CELLS=1",
                     "-DGV_SHAPE=0 -DGV_SHORT_RANGE=0 -DGV_SOFTENED=0 -DGV_POTENTIAL=1 -DGV_SHIFTS=0 -DGV_REST=0"):
            found.append(("tasks-" + precision, 0, "tasks/evaluate.cl",
                          "-DGV_PRECISION=%d -DGV_THREADS=128 -DGV_SPLIT=4 -DGV_SINKS_PER_ITEM=2 -DGV_TILE=%d "
                          "-DGV_UNROLL=2 -DGV_LANES=1 -DGV_RSQRT=1 -DGV_SKIP=0 -DGV_LEVEL=4 -DGV_NODES=513 %s" %
                          (number, 128 if number == 2 else 256, kind)))
        for stored in (0, 1, 2):
            options = "-DGV_PRECISION=%d -DGV_LANES=1 -DGV_FROM=%d" % (number, stored)
            found.append(("tasks-" + precision, 0, "tasks/place.cl", options))
    return found


def parse_assembly(text):
    """One dict per kernel, from the metadata at the end and the comment block of each function."""
    kernels = []
    waves = {}
    for name, occupancy in re.findall(r"\.amdhsa_kernel (\S+).*?; Occupancy: (\d+)", text, re.S):
        waves[name] = int(occupancy)
    metadata = text[text.index("\namdhsa.kernels:"):text.index("\namdhsa.target:")]
    for block in metadata.split("\n  - ")[1:]:
        def number(key):
            return int(re.search(r"^ *\.%s: *(\d+)$" % key, block, re.M).group(1))
        name = re.search(r"^ *\.name: +(gv_\w+)$", block, re.M).group(1)
        kernels.append({"kernel": name, "vgpr": number("vgpr_count"), "sgpr": number("sgpr_count"),
                        "lds": number("group_segment_fixed_size"), "scratch": number("private_segment_fixed_size"),
                        "spills": number("vgpr_spill_count"), "sgpr_moves": number("sgpr_spill_count"),
                        "waves": waves.get(name, 0)})
    return kernels


def compile_one(job):
    """job: (clang, library, target, file, options).  Returns (kernels, None) or (None, the compiler's words)."""
    clang, library, target, file, options = job
    command = [clang, "-x", "cl", "-cl-std=CL1.2", "-target", "amdgcn-amd-amdhsa", "-mcpu=" + target, "-nogpulib",
               "-Xclang", "-finclude-default-header", "-Xclang", "-mlink-builtin-bitcode", "-Xclang", library,
               "-Wno-linker-warnings",  # the triple of libclc differs in a word that means nothing here
               "-O3", "-I" + os.path.join(TOP, "kernels"), "-S", "-o", "-"]
    command += FEATURES + options.split() + [os.path.join(TOP, "kernels", *file.split("/"))]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        return None, "%s\n%s" % (" ".join(command), done.stderr)
    # a call means a function that was not inlined: its registers are not in these figures
    call = re.search(r"^\s+s_swappc_b64.*$", done.stdout, re.M)
    if call:
        return None, "%s: calls a function that is not inlined: %s" % (file, call.group(0).strip())
    return parse_assembly(done.stdout), None


def helper_options(options):
    """Options of the other kernels of a variant, as src/host/direct/kernels.c sets them: {file: options}."""
    common, nearest = [" ".join(re.findall(r"-DGV_(?:%s)=\S+" % names, options)) for names in
                       ("ORDER|PRECISION", "NEAREST")]
    other = re.search(r"-DGV_PRECISION=(\S+)", options).group(1)  # bodies of the solver's own precision
    common += " -DGV_OTHER=%s -DGV_LANES=1" % other
    return {"direct/reduce.cl": "%s %s" % (common, nearest), "direct/take.cl": common,
            "direct/lists.cl": "-DGV_LIST_ITEMS=256"}


def held(options):
    """Sinks and sources at once of a work-item."""
    return tuple(int(re.search(r"-DGV_%s=(\d+)" % name, options).group(1)) for name in ("SINKS_PER_ITEM", "UNROLL"))


def jobs_of(target, build, quick):
    """(variant, sinks, file, options) of every compilation, each once.

    With and without both searches, every default configuration; with one of them and unsoftened, the one for the most
    sinks and the one that holds the most sinks and sources a work-item, and with them registers.  Quick: of these with and without both searches, for the most sinks; of a tree
    a walk in each precision; of the rest each file once a precision.
    """
    found = variants(target, build)
    largest = {name: int(sinks) for name, sinks, _ in found}  # ascending in the listing
    heaviest = {name: options for name, _, options in sorted(found, key=lambda line: held(line[2]))}
    jobs, seen = [], set()
    for name, sinks, options in found:
        features = name.split("+")[1:]
        most, both = int(sinks) == largest[name], features in ([], ["nearest", "lists"])
        if not (most and both if quick else most or both or options == heaviest[name]):
            continue
        files = {"direct/force.cl": options}
        if "unsoftened" not in features:
            files.update(helper_options(options))
        for file, text in files.items():
            if (file, text) not in seen:
                seen.add((file, text))
                jobs.append((name, int(sinks), file, text))
    if not quick:
        jobs += [job for job in bodies_programs() if job not in jobs]
    rest = mesh_programs() + tasks_programs()
    jobs += {(name, file): (name, sinks, file, text) for name, sinks, file, text in rest}.values() if quick else rest
    walks = set()
    for name, bodies, file, text in tree_programs(target, build):
        if not quick or ("walk" in file and name not in walks):
            walks.add(name)
            jobs.append((name, int(bodies), file, text))
    return jobs


# Of a family the last job takes at most 22 registers less than any other (gfx906 and gfx1100, 2026-11-22): where it
# leaves this many free, no other spills.
RESERVE = 32


def family(job):
    """Jobs of one family have the same loops over other lengths, on groups of sinks of another size, or with one search
    instead of both."""
    _, _, file, options = job
    if file == "direct/force.cl":
        if "NEAREST=1" in options or "LISTS=1" in options:
            options = re.sub(r"-DGV_(?:NEAREST|LISTS)=\d ?", "", options)
        options = re.sub(r"-DGV_TILE=[1-9]\d*", "-DGV_TILE=some", re.sub(r"-DGV_SPLIT=\d+ ?", "", options))
    elif file == "tree/walk_group.cl":
        options = re.sub(r"-DGV_(?:SPLIT|N_GROUP|UNSOFTENED)=\d+ ?", "", options)
    return file, options


def measure(target, build, quick, every=False):
    """All rows of one target and a list of errors; of families of which one has registers to spare, one (`every`: all)."""
    clang, version, library = tools(target)
    rows, errors = [], []

    def compile_these(jobs):
        full = set()
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            results = pool.map(compile_one, [(clang, library, target, file, text) for _, _, file, text in jobs])
            for job, (kernels, error) in zip(jobs, results):
                name, sinks, _, text = job
                if error:
                    errors.append("%s %s: %s" % (target, name, error))
                for kernel in kernels or []:
                    rows.append(dict({"target": target, "clang": version, "variant": name, "sinks": sinks,
                                      "options": text}, **kernel))
                    if kernel["vgpr"] > VGPRS - RESERVE:
                        full.add(family(job))
        return full

    jobs = jobs_of(target, build, quick)
    first = jobs if every else list({family(job): job for job in jobs}.values())  # the last of each
    full = compile_these(first)
    compile_these([job for job in jobs if job not in first and family(job) in full])
    return rows, errors


def spilled(row):
    return row["spills"] > 0 or row["scratch"] > ARRAYS.get(row["kernel"], 0)


def write(rows, build):
    columns = ("target", "clang", "variant", "sinks", "kernel", "vgpr", "sgpr", "lds", "waves", "scratch", "spills",
               "sgpr_moves")
    widths = [max(len(c), max([len(str(r[c])) for r in rows] or [0])) for c in columns]
    lines = ["  ".join(c.ljust(w) for c, w in zip(columns, widths)).rstrip()]
    for row in rows:
        lines.append("  ".join(str(row[c]).ljust(w) if isinstance(row[c], str) else str(row[c]).rjust(w)
                               for c, w in zip(columns, widths)).rstrip())
    with open(os.path.join(build, "amd_registers.txt"), "w", encoding="ascii") as handle:
        handle.write("\n".join(lines) + "\n")
    with open(os.path.join(build, "amd_registers.json"), "w", encoding="ascii") as handle:
        json.dump(rows, handle, indent=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", default=BUILD)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("target", nargs="*", default=[])
    args = parser.parse_args()
    rows, errors = [], []
    try:
        for target in args.target or TARGETS:
            more, wrong = measure(target, args.build, args.quick, every=not args.quick)
            rows += more
            errors += wrong
    except (Failed, Skipped) as why:
        print(why)
        return 1
    write(rows, args.build)
    for error in errors:
        print(error)
    bad = [r for r in rows if spilled(r)]
    for row in bad:
        print("%(target)s %(variant)s, %(sinks)d sinks, %(kernel)s: %(spills)d spills, %(scratch)d bytes scratch" % row)
    print("%d kernels, %d errors, %d with spills: %s" % (len(rows), len(errors), len(bad),
                                                         os.path.join(args.build, "amd_registers.txt")))
    return 1 if errors or bad else 0


if __name__ == "__main__":
    sys.exit(main())

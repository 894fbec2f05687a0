#!/usr/bin/env python3
"""What the compiled library shows and uses: only gravel_ names outside, no printing, no exit, no hidden state."""
import os
import re
import subprocess
import sys

import gatelib
from gatelib import BUILD, Failed, Skipped

# A library must not print, end the process or change what the process shares.
FORBIDDEN = ("printf vprintf puts putchar putc fputc_unlocked stdout stderr perror exit _exit _Exit abort quick_exit "
             "__assert_fail __printf_chk __vprintf_chk signal sigaction setlocale setenv putenv chdir srand rand "
             "strtok asctime ctime gmtime localtime").split()
ENDS = ("exit", "_exit", "_Exit", "abort", "quick_exit", "__assert_fail")
# The error message belongs to the thread (status.c); its key is made once.  One thread at a time lists the
# devices (device.c): drivers initialise themselves at the first call, once for the process.
ALLOWED_STATE = ("key", "key_once", "discovery")


def shared():
    return gatelib.need_file(BUILD, "lib", "libgravel.so")


def exports_only_gravel():
    table = gatelib.call(["nm", "-D", "--defined-only", shared()])
    names = [line.split()[-1].split("@")[0] for line in table.splitlines() if line.strip()]
    foreign = [n for n in names if not n.startswith("gravel_")]
    print("%d exported symbols" % len(names))
    if foreign:
        raise Failed("exported without the prefix gravel_: " + " ".join(foreign))
    if not names:
        raise Failed("nothing is exported: the visibility attribute is lost")


def exports_all_of_the_headers():
    declared = set()
    for header in gatelib.headers(".h"):
        with open(os.path.join(gatelib.TOP, header), encoding="utf-8") as handle:
            declared |= set(re.findall(r"GRAVEL_API[^;(]*?\b(gravel_\w+)\(", handle.read()))
    table = gatelib.call(["nm", "-D", "--defined-only", shared()])
    missing = sorted(n for n in declared if not re.search(r"\b%s\b" % n, table))
    if missing:
        raise Failed("declared in include/gravel and not in the library: " + " ".join(missing))


def soname_has_the_version():
    dynamic = gatelib.call(["readelf", "-d", shared()])
    if "[libgravel.so.0]" not in dynamic:
        raise Failed("SONAME is not libgravel.so.0:\n" + dynamic)


def static_names_have_prefixes():
    if gatelib.sanitized():
        raise Skipped("a sanitizer adds symbols of its own")
    table = gatelib.call(["nm", "-g", "--defined-only", gatelib.need_file(BUILD, "lib", "libgravel.a")])
    names = [line.split()[-1] for line in table.splitlines() if re.match(r"[0-9a-f]{8,} [A-Z] ", line)]
    foreign = sorted(set(n for n in names if not n.startswith(("gravel_", "gv_"))))
    if foreign:
        raise Failed("symbols without gravel_ or gv_: " + " ".join(foreign))


def library_keeps_quiet():
    if gatelib.sanitized():
        raise Skipped("a sanitizer adds calls of its own")
    used = subprocess.run(["nm", "-A", "-u", gatelib.need_file(BUILD, "lib", "libgravel.a")], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    bad = [line for line in used.splitlines() if line.split()[-1].split("@")[0] in FORBIDDEN]
    if bad:
        raise Failed("the library prints, ends the process or uses the process's state:\n" + "\n".join(bad))


def library_keeps_no_state():
    """No writable variables but thread-local ones; tables of constants with pointers sit in .data.rel.ro."""
    if gatelib.sanitized():
        raise Skipped("a sanitizer adds data of its own")
    table = gatelib.call(["objdump", "-t", gatelib.need_file(BUILD, "lib", "libgravel.a")])
    bad = []
    for line in table.splitlines():
        match = re.match(r"[0-9a-f]+ (.{7}) (\S+)\s+([0-9a-f]+)\s+(.*)$", line)
        if match and "O" in match.group(1) and match.group(2).startswith((".data", ".bss", "*COM*")) \
                and not match.group(2).startswith(".data.rel.ro") and match.group(4).split()[-1] not in ALLOWED_STATE:
            bad.append("%s in %s, %d bytes" % (match.group(4), match.group(2), int(match.group(3), 16)))
    if bad:
        raise Failed("mutable global state:\n" + "\n".join(bad))


# ------------------------------------------------------- the drop-in libraries


def drop_ins():
    return sorted(name for name in os.listdir(os.path.join(gatelib.TOP, "src", "compat")) if name != "common" and
                  os.path.isdir(os.path.join(gatelib.TOP, "src", "compat", name)))


def declared_by(name):
    with open(os.path.join(gatelib.TOP, "include", "gravel", name + ".h"), encoding="utf-8") as handle:
        return set(re.findall(r"GRAVEL_API[^;()]*?\b(\w+)\(", handle.read()))


def drop_ins_export_their_headers():
    for name in drop_ins():
        library = gatelib.need_file(BUILD, "lib", "libgravel_%s.so" % name)
        table = gatelib.call(["nm", "-D", "-C", "--defined-only", library])
        there = set(re.sub(r"^\S+ \S ", "", line).split("(")[0] for line in table.splitlines())
        declared = declared_by(name)
        print("libgravel_%s: %d exported symbols" % (name, len(there)))
        if not there or there != declared:
            raise Failed("libgravel_%s: only in the library: %s; only in the header: %s" % (
                name, " ".join(sorted(there - declared)) or "nothing", " ".join(sorted(declared - there)) or "nothing"))


def wanted_names():
    """From tests/compat/names.txt: the names that each library has to export."""
    wanted = {}
    with open(os.path.join(gatelib.TOP, "tests", "compat", "names.txt"), encoding="utf-8") as handle:
        for line in handle:
            words = line.split("#")[0].split()
            for name in words[2:]:
                also = {"MC": [name, name + "MC"], "all": [name, name + "_all"]}.get(words[1], [name])
                plain = [] if words[1] == "_" else also
                fortran = [] if words[1] in ("C", "C++") else [n + "_" for n in also]
                lower = [n.lower() for n in fortran]  # as compilers write names with capitals in them
                wanted.setdefault(words[0], set()).update(plain + fortran + lower)
    return wanted


def drop_ins_have_all_names():
    wanted = wanted_names()
    if sorted(wanted) != drop_ins():
        raise Failed("names.txt is about %s, the libraries are %s" % (" ".join(sorted(wanted)), " ".join(drop_ins())))
    for name in drop_ins():
        table = gatelib.call(["nm", "-D", "-C", "--defined-only",
                              gatelib.need_file(BUILD, "lib", "libgravel_%s.so" % name)])
        there = set(re.sub(r"^\S+ \S ", "", line).split("(")[0] for line in table.splitlines())
        print("libgravel_%s: %d of %d names" % (name, len(wanted[name] & there), len(wanted[name])))
        if wanted[name] - there:
            raise Failed("libgravel_%s does not export %s" % (name, " ".join(sorted(wanted[name] - there))))


def drop_ins_call_no_public_name():
    """Programs define some of these names themselves, on top of others of them."""
    for name in drop_ins():
        public, bad = declared_by(name), []
        folder = gatelib.need_file(BUILD, "obj", "src", "compat", name)
        for entry in sorted(os.listdir(folder)):
            used = gatelib.call(["nm", "-C", "-u", os.path.join(folder, entry)])
            bad += ["%s: %s" % (entry, line.strip()) for line in used.splitlines()
                    if line.split(None, 1)[-1].split("(")[0].strip() in public]
            both = gatelib.call(["nm", "-g", "--defined-only", os.path.join(folder, entry)])
            kinds = set(line.split()[-1].endswith("_") for line in both.splitlines() if line.split()[-1] in public)
            if len(kinds) > 1:
                bad.append("%s: plain and underscored names in one object" % entry)
        if bad:
            raise Failed("libgravel_%s:\n%s" % (name, "\n".join(bad)))


def drop_ins_end_nothing():
    if gatelib.sanitized():
        raise Skipped("a sanitizer adds calls of its own")
    for name in drop_ins():
        used = gatelib.call(["nm", "-D", "-u", gatelib.need_file(BUILD, "lib", "libgravel_%s.so" % name)])
        bad = [line.strip() for line in used.splitlines() if line.split()[-1].split("@")[0] in ENDS]
        if bad:
            raise Failed("libgravel_%s ends the process: %s" % (name, " ".join(bad)))


def mpi_library_exports_its_header():
    library = os.path.join(BUILD, "lib", "libgravel_mpi.so")
    if not os.path.exists(library):
        raise Skipped("built without MPI (scons mpi=1)")
    table = gatelib.call(["nm", "-D", "--defined-only", library])
    there, declared = set(line.split()[-1] for line in table.splitlines()), declared_by("cluster")
    if there != declared:
        raise Failed("libgravel_mpi and cluster.h differ: " + " ".join(sorted(there ^ declared)))


if __name__ == "__main__":
    for tool in ("nm", "objdump", "readelf"):
        gatelib.need_tool(tool)
    sys.exit(gatelib.main([exports_only_gravel, exports_all_of_the_headers, soname_has_the_version,
                           static_names_have_prefixes, library_keeps_quiet, library_keeps_no_state,
                           drop_ins_export_their_headers, drop_ins_have_all_names, drop_ins_call_no_public_name,
                           drop_ins_end_nothing, mpi_library_exports_its_header]))

#!/usr/bin/env python3
"""`scons install` gives a library that other projects can build against, in C and in C++, shared and static."""
import json
import os
import re
import sys
import tempfile

import gatelib
from gatelib import BUILD, Failed, Skipped, TOP

USER = """%s
#include <stdio.h>
#include <string.h>
int main(void)
{
    double x[2][3] = {{0}};
    gravel_context_options context = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_direct_options direct = GRAVEL_DIRECT_OPTIONS_INIT;
    gravel_tree_options tree = GRAVEL_TREE_OPTIONS_INIT;
    gravel_bodies_options bodies = GRAVEL_BODIES_OPTIONS_INIT;
    gravel_vec in = GRAVEL_VEC_AOS(x);
    gravel_vec_out out = GRAVEL_VEC_OUT_SOA(x[0], x[1], x[0]);
    gravel_array plane = GRAVEL_ARRAY_AOS(x);
    gravel_array_out into = GRAVEL_ARRAY_OUT(x[0]);
    (void)context, (void)direct, (void)tree, (void)bodies, (void)in, (void)out, (void)plane, (void)into;
    gravel_device_info *list = 0;
    int count = 0;
    gravel_status status = gravel_device_list(&list, &count);
    printf("gravel %s, %d devices, %s\\n", gravel_version(), count, gravel_status_name(status));
    gravel_device_list_free(list);
    return strcmp(gravel_version(), GRAVEL_VERSION) != 0;
}
"""


class Installation:
    def __init__(self, folder):
        self.folder = folder
        self.prefix = os.path.join(folder, "usr")
        self.done = False

    def make(self):
        for tool in ("scons", "pkg-config", "gcc"):
            gatelib.need_tool(tool)
        if gatelib.sanitized():
            raise Skipped("a sanitized library is not for installation")
        scons_install("prefix=" + self.prefix)
        self.done = True

    def case(self, check):
        def run():
            if not self.done:
                raise Skipped("there is no installation to look at")
            check(self)
        return check.__name__, run

    def flags(self, *how, package="gravel"):
        env = dict(os.environ, PKG_CONFIG_PATH=os.path.join(self.prefix, "lib", "pkgconfig"))
        return gatelib.call(["pkg-config"] + list(how) + [package], env=env).split()

    def build_and_run(self, compiler, suffix, flags, more=()):
        source = os.path.join(self.folder, "user" + suffix)
        program = os.path.join(self.folder, "user")
        with open(source, "w", encoding="ascii") as handle:
            headers = [os.path.relpath(h, "include") for h in gatelib.headers(".h")]
            headers.remove("gravel/yebisu.h")  # another interface with the names of 6th.h
            handle.write(USER.replace("%s", "\n".join("#include <%s>" % h for h in headers), 1))
        gatelib.call([compiler, "-Wall", "-Wextra", "-Wpedantic", "-Werror", source, "-o", program] + list(more) + flags)
        env = dict(os.environ, LD_LIBRARY_PATH=os.path.join(self.prefix, "lib"))
        print(gatelib.call([program], env=env).strip())


def scons_install(*options):
    """With the options of this build again, or it would compile everything anew."""
    with open(gatelib.need_file(BUILD, "options.json"), encoding="utf-8") as handle:
        same = ["%s=%s" % (k, v) for k, v in json.load(handle).items()]
    gatelib.call(["scons", "-Q", "build=" + BUILD, "install"] + same + list(options), cwd=TOP)


def drop_ins():
    return sorted(name for name in os.listdir(os.path.join(TOP, "src", "compat")) if name != "common" and
                  os.path.isdir(os.path.join(TOP, "src", "compat", name)))


def files_are_there(installed):
    wanted = ["include/gravel/gravel.h", "lib/libgravel.a", "lib/libgravel.so", "lib/libgravel.so.0",
              "lib/pkgconfig/gravel.pc", "bin/gravel", "share/doc/gravel/README.md", "share/doc/gravel/LICENSE"]
    wanted += gatelib.headers(".h", ".hpp")
    if os.path.exists(os.path.join(BUILD, "lib", "libgravel_mpi.so")):
        wanted += ["include/gravel/cluster.h", "lib/libgravel_mpi.so", "lib/pkgconfig/gravel_mpi.pc"]
    wanted += ["lib/cmake/gravel/gravel-config.cmake", "share/gravel/fortran/gravel.f90"]
    wanted += [f % name for name in drop_ins() for f in ("lib/libgravel_%s.so", "lib/libgravel_%s.a",
                                                    "lib/pkgconfig/gravel_%s.pc")]
    wanted += ["share/gravel/tuning_db/" + f for f in sorted(os.listdir(os.path.join(TOP, "tuning_db")))
               if f.endswith(".json")]
    missing = [w for w in wanted if not os.path.exists(os.path.join(installed.prefix, w))]
    if missing:
        raise Failed("not installed: " + " ".join(missing))
    with open(os.path.join(installed.prefix, "lib/pkgconfig/gravel.pc"), encoding="utf-8") as handle:
        if "@" in handle.read():
            raise Failed("gravel.pc still holds a placeholder")
    print(gatelib.call([os.path.join(installed.prefix, "bin/gravel"), "--version"]).strip())


def links_of_the_documents(installed):
    """In the source tree and where it is installed: what a page links to is there."""
    broken = []
    for top in (TOP, os.path.join(installed.prefix, "share", "doc", "gravel")):
        pages = [f for f in os.listdir(top) if f.endswith(".md")]
        pages += [os.path.join("doc", f) for f in os.listdir(os.path.join(top, "doc")) if f.endswith(".md")]
        for page in pages:
            with open(os.path.join(top, page), encoding="utf-8") as handle:
                links = re.findall(r"\]\(([^)#]+)[)#]", handle.read())
            broken += ["%s: %s" % (os.path.join(top, page), link) for link in links if "://" not in link and
                       not os.path.exists(os.path.join(top, os.path.dirname(page), link))]
    if broken:
        raise Failed("links that lead nowhere:\n" + "\n".join(broken))


def shared_from_c(installed):
    installed.build_and_run("gcc", ".c", installed.flags("--cflags", "--libs"), ["-std=c99"])


def shared_from_cxx(installed):
    installed.build_and_run(gatelib.need_tool("g++"), ".cc", installed.flags("--cflags", "--libs"), ["-std=c++17", "-pedantic-errors"])


def static_from_c(installed):
    flags = installed.flags("--cflags", "--libs", "--static")
    archive = os.path.join(installed.prefix, "lib", "libgravel.a")
    installed.build_and_run("gcc", ".c", [archive if f == "-lgravel" else f for f in flags])


def drop_ins_from_c_and_cxx(installed):
    """Each with its own header; the library finds libgravel beside itself."""
    for name in drop_ins():
        flags = installed.flags("--cflags", "--libs", package="gravel_" + name)
        for compiler, suffix in ((["gcc", "-std=c99"], ".c"), ([gatelib.need_tool("g++"), "-std=c++17"], ".cc")):
            source = os.path.join(installed.folder, name + suffix)
            with open(source, "w", encoding="ascii") as handle:
                handle.write("#include <gravel/%s.h>\nint main(void) { return 0; }\n" % name)
            gatelib.call(compiler + ["-Wall", "-Wextra", "-Werror", "-Wl,--no-as-needed", source, "-o", source + ".out"] +
                         flags)
            gatelib.call([source + ".out"], env=dict(os.environ, LD_LIBRARY_PATH=os.path.join(installed.prefix, "lib")))


def static_drop_in(installed):
    """Fortran and C codes link archives: an example as the shared library runs it."""
    flags = installed.flags("--cflags", "--libs", "--static", package="gravel_g6")
    archives = {"-l" + name: os.path.join(installed.prefix, "lib", "lib%s.a" % name) for name in ("gravel_g6", "gravel")}
    program = os.path.join(installed.folder, "g6_cluster")
    gatelib.call(["gcc", os.path.join(TOP, "examples", "g6_cluster.c"), "-o", program] +
                 [archives.get(f, f) for f in flags] + ["-lm"])
    if "libgravel" in gatelib.call(["ldd", program]):
        raise Failed("the program needs a shared libgravel")
    print(gatelib.call([program, "64"]).strip())


def cmake_finds_it(installed):
    cmake = gatelib.need_tool("cmake")
    folder = os.path.join(installed.folder, "cmake-user")
    os.makedirs(folder)
    with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="ascii") as handle:
        handle.write("cmake_minimum_required(VERSION 3.16)\nproject(user C)\nfind_package(gravel 0.1 REQUIRED)\n"
                     "add_executable(user user.c)\ntarget_link_libraries(user gravel::gravel)\n")
    with open(os.path.join(folder, "user.c"), "w", encoding="ascii") as handle:
        handle.write("#include <gravel/gravel.h>\nint main(void) { return !gravel_version(); }\n")
    gatelib.call([cmake, "-S", folder, "-B", os.path.join(folder, "build"), "-DCMAKE_PREFIX_PATH=" + installed.prefix])
    gatelib.call([cmake, "--build", os.path.join(folder, "build")])
    gatelib.call([os.path.join(folder, "build", "user")])


def destdir_comes_before_prefix(installed):
    scons_install("prefix=/opt/gravel", "destdir=" + installed.folder)
    pc = os.path.join(installed.folder, "opt", "gravel", "lib", "pkgconfig", "gravel.pc")
    if not os.path.exists(pc):
        raise Failed("destdir was not put before the prefix")
    with open(pc, encoding="utf-8") as handle:
        text = handle.read()
    if "prefix=/opt/gravel\n" not in text or installed.folder in text:
        raise Failed("gravel.pc names the wrong prefix:\n" + text)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        it = Installation(scratch)
        checks = (files_are_there, links_of_the_documents, shared_from_c, shared_from_cxx, static_from_c, static_drop_in,
                  drop_ins_from_c_and_cxx, cmake_finds_it,
                  destdir_comes_before_prefix)
        outcome = gatelib.main([("installs", it.make)] + [it.case(check) for check in checks])
    sys.exit(outcome)

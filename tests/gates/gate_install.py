#!/usr/bin/env python3
"""`scons install` gives a library that strangers can build against, in C and in C++, shared and static."""
import json
import os
import sys
import tempfile

import gatelib
from gatelib import BUILD, Failed, Skipped, TOP

USER = """%s
#include <stdio.h>
#include <string.h>
int main(void)
{
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

    def flags(self, *how):
        env = dict(os.environ, PKG_CONFIG_PATH=os.path.join(self.prefix, "lib", "pkgconfig"))
        return gatelib.call(["pkg-config"] + list(how) + ["gravel"], env=env).split()

    def build_and_run(self, compiler, suffix, flags, more=()):
        source = os.path.join(self.folder, "user" + suffix)
        program = os.path.join(self.folder, "user")
        with open(source, "w", encoding="ascii") as handle:
            headers = [os.path.relpath(h, "include") for h in gatelib.sources(".h", under=("include",))]
            handle.write(USER.replace("%s", "\n".join("#include <%s>" % h for h in headers), 1))
        gatelib.call([compiler, "-Wall", "-Wextra", "-Wpedantic", "-Werror", source, "-o", program] + list(more) + flags)
        env = dict(os.environ, LD_LIBRARY_PATH=os.path.join(self.prefix, "lib"))
        print(gatelib.call([program], env=env).strip())


def scons_install(*options):
    """With the options of this build again, or it would compile everything anew."""
    with open(gatelib.need_file(BUILD, "options.json"), encoding="utf-8") as handle:
        same = ["%s=%s" % (k, v) for k, v in json.load(handle).items()]
    gatelib.call(["scons", "-Q", "build=" + BUILD, "install"] + same + list(options), cwd=TOP)


def files_are_there(installed):
    wanted = ["include/gravel/gravel.h", "lib/libgravel.a", "lib/libgravel.so", "lib/libgravel.so.0",
              "lib/pkgconfig/gravel.pc", "bin/gravel", "share/doc/gravel/README.md", "share/doc/gravel/LICENSE"]
    wanted += gatelib.sources(".h", under=("include",))
    wanted += ["share/gravel/tuning_db/" + f for f in sorted(os.listdir(os.path.join(TOP, "tuning_db")))
               if f.endswith(".json")]
    missing = [w for w in wanted if not os.path.exists(os.path.join(installed.prefix, w))]
    if missing:
        raise Failed("not installed: " + " ".join(missing))
    with open(os.path.join(installed.prefix, "lib/pkgconfig/gravel.pc"), encoding="utf-8") as handle:
        if "@" in handle.read():
            raise Failed("gravel.pc still holds a placeholder")
    print(gatelib.call([os.path.join(installed.prefix, "bin/gravel"), "--version"]).strip())


def shared_from_c(installed):
    installed.build_and_run("gcc", ".c", installed.flags("--cflags", "--libs"), ["-std=c99"])


def shared_from_cxx(installed):
    installed.build_and_run(gatelib.need_tool("g++"), ".cc", installed.flags("--cflags", "--libs"), ["-std=c++11"])


def static_from_c(installed):
    flags = installed.flags("--cflags", "--libs", "--static")
    archive = os.path.join(installed.prefix, "lib", "libgravel.a")
    installed.build_and_run("gcc", ".c", [archive if f == "-lgravel" else f for f in flags])


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
        checks = (files_are_there, shared_from_c, shared_from_cxx, static_from_c, destdir_comes_before_prefix)
        outcome = gatelib.main([("installs", it.make)] + [it.case(check) for check in checks])
    sys.exit(outcome)

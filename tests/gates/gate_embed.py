#!/usr/bin/env python3
"""The kernels inside the library are the files under kernels/, byte for byte, and follow every edit."""
import os
import shutil
import sys
import tempfile

import gatelib
from gatelib import Failed, TOP

DUMP = """
#include <stdio.h>
#include "host/base/kernels.h"
static void dump(const gv_kernel_file *f, int n)
{
    for (int i = 0; i < n; i++) {
        printf("%s %zu\\n", f[i].name, f[i].size);
        fwrite(f[i].text, 1, f[i].size, stdout);
        printf("%d\\n", f[i].text[f[i].size]);
    }
    printf("%s\\n", f[n].name ? f[n].name : "end");
}
int main(void)
{
    dump(gv_kernel_files, gv_kernel_file_count);
    dump(gv_profile_files, gv_profile_file_count);
    return 0;
}
"""


class House:
    """A copy of what the embedding needs, so that its kernels can be edited."""

    def __init__(self, folder):
        self.top = os.path.join(folder, "house")
        os.makedirs(self.top)
        shutil.copy(os.path.join(TOP, "SConstruct"), self.top)
        for room in ("site_scons", "include", "src", "kernels", "tuning_db"):
            if os.path.isdir(os.path.join(TOP, room)):
                shutil.copytree(os.path.join(TOP, room), os.path.join(self.top, room))

    def path(self, *parts):
        return os.path.join(self.top, *parts)

    def scons(self):
        return gatelib.call(["scons", "-Q", "build=b", "b/obj/generated/gv_kernel_files.o",
                             "b/obj/generated/gv_profile_files.o"], cwd=self.top)

    def expected(self, root, suffixes, deep):
        names = []
        for folder, _, files in os.walk(self.path(root)):
            if deep or folder == self.path(root):
                names += [os.path.relpath(os.path.join(folder, f), self.path(root)) for f in files
                          if f.endswith(suffixes)]
        text = b""
        for name in sorted(names):
            with open(self.path(root, name), "rb") as handle:
                data = handle.read()
            text += b"%s %d\n%s0\n" % (name.encode(), len(data), data)
        return text + b"end\n"

    def check(self):
        with open(self.path("dump.c"), "w", encoding="ascii") as handle:
            handle.write(DUMP)
        gatelib.call(["gcc", "-Isrc", "dump.c", "b/obj/generated/gv_kernel_files.o",
                      "b/obj/generated/gv_profile_files.o", "-o", "dump"], cwd=self.top)
        with os.popen(self.path("dump")) as pipe:
            got = pipe.buffer.read()
        want = self.expected("kernels", (".cl", ".h"), True) + self.expected("tuning_db", (".json",), False)
        if got != want:
            raise Failed("the embedded texts differ from the files")
        print("%d bytes embedded" % len(want))

    def append(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "a", encoding="utf-8") as handle:
            handle.write(text)


def follows(house):
    gatelib.need_tool("scons")
    house.scons()
    house.check()
    again = house.scons()
    if "embed" in again or "cc " in again:
        raise Failed("a second build without any change built something:\n" + again)
    # quotes, backslashes, trigraphs, UTF-8 and a line longer than a literal may be
    house.append("kernels/lib/real.h", '/* "\\ ??/ \u00e9 %s */\n' % ("x" * 5000))
    if "embed" not in house.scons():
        raise Failed("an edited include file did not rebuild the embedded kernels")
    house.check()
    house.append("kernels/lib/more/new.h", "/* new */\n")
    house.append("tuning_db/zz-new.json", "{}\n")
    house.scons()
    house.check()
    os.remove(house.path("kernels/lib/more/new.h"))
    house.scons()
    house.check()


def embedded_text_follows_the_files():
    with tempfile.TemporaryDirectory() as folder:
        follows(House(folder))


if __name__ == "__main__":
    sys.exit(gatelib.main([embedded_text_follows_the_files]))

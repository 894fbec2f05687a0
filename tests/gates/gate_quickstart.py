#!/usr/bin/env python3
"""quickstart on other machines: apt, scons and the program are small stand-ins."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import gatelib
from gatelib import TOP, Failed

WORK = tempfile.mkdtemp(prefix="gravel-quickstart-")
TOOLS = {
    "id": "echo 0",
    "scons": """mkdir -p build/bin; printf '%s\\n' '#!/bin/sh' 'if [ "$1" = devices ]; then' \
'[ -f "$STAND_IN/pocl" ] && exec echo a device; echo no device >&2; exit 2; fi' \
'echo "ran $*; home $HOME"; exit 0' > build/bin/gravel; chmod +x build/bin/gravel""",
    "apt-get": """echo "$*" >> "$STAND_IN/apt"
case "$*" in
    *--assume-no*) echo 'Need to get 123 MB of archives.'
        echo 'After this operation, 1,024 MB of additional disk space will be used.'; exit 1 ;;
    *pocl-opencl-icd*) touch "$STAND_IN/pocl" ;;
esac
i=0; while [ $i -lt 200 ]; do echo 'Unpacking something'; i=$((i + 1)); done""",
}


# Finds what the stand-in for apt has installed, and nothing else.
BARE_FIND = """case "$*" in
    */stdio.h*) p=libc6-dev ;; */CL/cl.h*) p=opencl-headers ;; *libOpenCL.so*) p=ocl-icd-opencl-dev ;;
    */cjson/*) p=libcjson-dev ;; */hdf5.h*) p=libhdf5-dev ;; */vkFFT.h*) p=libvkfft-dev ;; *.icd* | *libpocl*) p=pocl-opencl-icd ;;
    */cmocka.h*) p=libcmocka-dev ;; *) exit 1 ;;
esac
touch "$STAND_IN/apt"; if grep -q -- "-qq.* $p" "$STAND_IN/apt"; then echo found; fi"""


class Machine:
    """A checkout with quickstart alone, tools of our own first in PATH, one OpenCL driver listed that is dead."""

    def __init__(self, name, **more):
        self.top = os.path.join(WORK, name)
        os.makedirs(os.path.join(self.top, "bin"))
        os.makedirs(os.path.join(self.top, "vendors"))
        os.makedirs(os.path.join(self.top, "tmp"))
        shutil.copy(os.path.join(TOP, "quickstart"), self.top)
        self.write("vendors/dead.icd", "libnone.so\n")
        for tool, text in dict(TOOLS, **more).items():
            self.write("bin/" + tool, "#!/bin/sh\n" + text + "\n")
            os.chmod(os.path.join(self.top, "bin", tool), 0o755)

    def write(self, name, text):
        with open(os.path.join(self.top, name), "w", encoding="utf-8") as handle:
            handle.write(text)

    def read(self, name):
        try:
            with open(os.path.join(self.top, name), encoding="utf-8") as handle:
                return handle.read()
        except FileNotFoundError:
            return ""

    def run(self, *words, **env):
        more = dict(os.environ, PATH=os.path.join(self.top, "bin") + ":" + os.environ["PATH"], STAND_IN=self.top,
                    OCL_ICD_VENDORS=os.path.join(self.top, "vendors"), TMPDIR=os.path.join(self.top, "tmp"), **env)
        done = subprocess.run(["sh", os.path.join(self.top, "quickstart"), *words], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, env=more, check=False)
        print("$ quickstart %s -> %d\n%s" % (" ".join(words), done.returncode, done.stdout))
        if os.listdir(os.path.join(self.top, "tmp")):
            raise Failed("files stay in the folder for temporary files")
        return done


def expect(condition, what):
    if not condition:
        raise Failed(what)


def a_dead_driver_brings_pocl():
    machine = Machine("dead")
    done = machine.run("demo")
    expect(done.returncode == 0 and "ran demo" in done.stdout, "the demo did not run")
    expect("none has a device" in done.stdout and "pocl-opencl-icd" in machine.read("apt"), "PoCL was not installed")
    expect("123 MB to fetch, 1,024 MB on the disk" in done.stdout, "sizes are not announced")
    expect("Unpacking" not in done.stdout and len(done.stdout.splitlines()) < 20, "apt's lines are shown")
    machine = Machine("forbidden")
    done = machine.run("demo", "--no-install")
    expect(done.returncode == 3 and "apt-get install --no-install-recommends -y pocl-opencl-icd" in done.stdout,
           "no line that would install PoCL")
    expect(machine.read("apt") == "", "something was installed although it was forbidden")


def a_bare_machine():
    """All that is named as missing is installed, and then not missing."""
    for command in ("build", "test"):
        machine = Machine("bare-" + command, find=BARE_FIND, python3="echo ran tests")
        done = machine.run(command)
        expect(done.returncode == 0, "the installation is not complete")
        named = [line.split()[0] for line in done.stdout.splitlines() if re.match(r"  [a-z0-9+-]+ {2,}\w", line)]
        expect(len(named) >= 6 and "libhdf5-dev" in named, "missing packages are not named: %s" % named)


def a_home_that_cannot_be_written():
    machine = Machine("home")
    machine.write("pocl", "")
    for home in ("/dev/null", "/proc/none"):
        done = machine.run("demo", HOME=home)
        expect(done.returncode == 0 and "home %s/build/run/home" % machine.top in done.stdout, "HOME=" + home)
    os.makedirs(os.path.join(machine.top, "good"))
    done = machine.run("demo", HOME=os.path.join(machine.top, "good"))
    expect("home %s/good" % machine.top in done.stdout, "a good home is not used")
    expect(os.listdir(os.path.join(machine.top, "good", ".cache")) == [], "a file stays in the home folder")


if __name__ == "__main__":
    try:
        code = gatelib.main([a_bare_machine, a_dead_driver_brings_pocl, a_home_that_cannot_be_written])
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
    sys.exit(code)

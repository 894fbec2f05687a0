"""What the header says and what this system offers, for SConstruct."""
import os
import re
import shlex
import subprocess


def version(header):
    with open(header, encoding="utf-8") as handle:
        return re.search(r'^#define GRAVEL_VERSION "([0-9.]+)"', handle.read(), re.M).group(1)


def missing(what, packages):
    print("scons: %s not found.  Debian and Ubuntu: apt-get install %s" % (what, packages))
    print("       (./quickstart installs all that is needed.)")


def _ask_compiler(env, name):
    """The compiler's own search path; it answers with the bare name when it finds nothing."""
    command = shlex.split(env.subst("$CC")) + ["-print-file-name=" + name]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
    return answer if os.path.isabs(answer) and os.path.exists(answer) else None


def static_library(env, name, folder):
    if folder:
        path = os.path.join(folder, name)
        return os.path.abspath(path) if os.path.exists(path) else None
    return _ask_compiler(env, name)


def shared_library(env, name):
    path = _ask_compiler(env, name)
    if path is None:
        raise FileNotFoundError("the compiler does not find " + name)
    return os.path.realpath(path) if os.path.basename(os.path.realpath(path)) == name else path


def hdf5(env):
    """What the compiler and the linker need for HDF5 (the serial library); {} where there is none.  pkg-config knows where
    Debian puts it; without pkg-config its folders are looked at."""
    try:
        found = env.Clone(CPPPATH=[], LIBPATH=[], LIBS=[])
        if subprocess.call(["pkg-config", "--exists", "hdf5"], stderr=subprocess.DEVNULL) == 0:
            found.ParseConfig("pkg-config --cflags --libs hdf5")
            return {"CPPPATH": found["CPPPATH"], "LIBPATH": found["LIBPATH"], "LIBS": found["LIBS"],
                    "CPPDEFINES": ["GV_HAVE_HDF5=1"]}
    except FileNotFoundError:
        pass
    library = _ask_compiler(env, "libhdf5_serial.so")
    if library and os.path.exists("/usr/include/hdf5/serial/hdf5.h"):
        return {"CPPPATH": ["/usr/include/hdf5/serial"], "LIBS": ["hdf5_serial"], "CPPDEFINES": ["GV_HAVE_HDF5=1"]}
    return {}


def mpi(env):
    """What the compiler and the linker need for MPI; {} where there is none.  The compiler wrapper knows: Open MPI tells
    with -showme, MPICH with -show."""
    for question in ("-showme", "-show"):
        try:
            answer = subprocess.run(["mpicc", question], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                    check=False)
        except FileNotFoundError:
            return {}
        if answer.returncode == 0 and "-l" in answer.stdout:
            found = env.Clone(CPPPATH=[], LIBPATH=[], LIBS=[])
            found.MergeFlags([w for w in answer.stdout.split() if w[:2] in ("-I", "-L", "-l")])
            return {"CPPPATH": found["CPPPATH"], "LIBPATH": found["LIBPATH"], "LIBS": found["LIBS"]}
    return {}

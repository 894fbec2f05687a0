"""What the header says and what this system offers, for SConstruct."""
import os
import re
import shlex
import shutil
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


def _ask_pkg_config(env, package):
    """What pkg-config says of a package, {} where it has none; without it the caller looks at Debian's folders."""
    try:
        if subprocess.call(["pkg-config", "--exists", package], stderr=subprocess.DEVNULL) == 0:
            found = env.Clone(CPPPATH=[], LIBPATH=[], LIBS=[])
            found.ParseConfig("pkg-config --cflags --libs " + package)
            return {"CPPPATH": found["CPPPATH"], "LIBPATH": found["LIBPATH"], "LIBS": found["LIBS"]}
    except FileNotFoundError:
        pass
    return {}


def hdf5(env):
    """What the compiler and the linker need for HDF5 (the serial library); {} where there is none.  Debian's "hdf5" is
    the parallel one where that is installed, too."""
    for package in ("hdf5-serial", "hdf5"):
        found = _ask_pkg_config(env, package)
        if found:
            return dict(found, CPPDEFINES=["GV_HAVE_HDF5=1"])
    library = _ask_compiler(env, "libhdf5_serial.so")
    if library and os.path.exists("/usr/include/hdf5/serial/hdf5.h"):
        return {"CPPPATH": ["/usr/include/hdf5/serial"], "LIBPATH": [], "LIBS": ["hdf5_serial"],
                "CPPDEFINES": ["GV_HAVE_HDF5=1"]}
    return {}


def _is_parallel(found, compiled_with):
    """Whether the first hdf5.h of these folders is that of a parallel build, with the MPI that is used."""
    folders = [str(p) for p in found.get("CPPPATH", [])]
    for folder in folders or ["/usr/include"]:
        for name in ("H5pubconf.h", "H5pubconf-64.h"):  # Fedora has a file for each size of pointers
            path = os.path.join(folder, name)
            if os.path.exists(path):
                with open(path, encoding="utf-8", errors="replace") as handle:
                    text = handle.read()
                if re.search(r"^#define H5_HAVE_PARALLEL 1", text, re.M):
                    return not any(other in folder for other in ("openmpi", "mpich") if other != compiled_with)
    return False


def parallel_hdf5(env, mpi_found):
    """The same for the parallel library (MPI-IO) of the MPI that mpi() found, which serves one process as well: a
    program is linked with this one or with the serial one, never with both.  {} where there is none."""
    kind = mpi_found["KIND"]
    found = _ask_pkg_config(env, "hdf5-" + kind)
    include = "/usr/include/hdf5/" + kind
    if not found and os.path.exists(include + "/hdf5.h") and _ask_compiler(env, "libhdf5_%s.so" % kind):
        found = {"CPPPATH": [include], "LIBPATH": [], "LIBS": ["hdf5_" + kind]}
    if not found:
        found = _ask_pkg_config(env, "hdf5")
    if not found or not _is_parallel(found, kind):
        return {}
    # its header includes MPI's, also where nothing of MPI is used; who uses MPI links it
    return {"CPPPATH": found["CPPPATH"] + mpi_found["CPPPATH"], "LIBPATH": found["LIBPATH"],
            "LIBS": [lib for lib in found["LIBS"] if lib not in mpi_found["LIBS"]],
            "CPPDEFINES": ["GV_HAVE_HDF5=1", "GV_HAVE_PARALLEL_HDF5=1"]}


def _beside(wrapper, name):
    """The program `name` that belongs to a compiler wrapper: mpirun.mpich to mpicc.mpich, that of its folder; None."""
    path = shutil.which(wrapper)
    if path:
        suffix = os.path.basename(path)[len("mpicc"):] if os.path.basename(path).startswith("mpicc") else ""
        path = shutil.which(os.path.join(os.path.dirname(path), name + suffix))
    return path


def mpi(env, wrapper):
    """What the compiler and the linker need for MPI, which it is (KIND) and what starts its ranks (RUN); {} where there is
    none.  The compiler wrapper knows: Open MPI tells with -showme, MPICH with -show."""
    for question, kind in (("-showme", "openmpi"), ("-show", "mpich")):
        try:
            answer = subprocess.run([wrapper, question], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                    check=False)
        except OSError:
            return {}
        if answer.returncode == 0 and "-l" in answer.stdout:
            found = env.Clone(CPPPATH=[], LIBPATH=[], LIBS=[])
            found.MergeFlags([w for w in answer.stdout.split() if w[:2] in ("-I", "-L", "-l")])
            return {"CPPPATH": found["CPPPATH"], "LIBPATH": found["LIBPATH"], "LIBS": found["LIBS"], "KIND": kind,
                    "RUN": _beside(wrapper, "mpirun") or _beside(wrapper, "mpiexec")}
    return {}

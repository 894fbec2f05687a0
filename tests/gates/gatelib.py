"""What the gates share: they report cases with cmocka's marks, so that run_tests.py reads both alike.

    def exports(): ...                      raises Failed("why") or Skipped("why"); prints what helps to see it
    sys.exit(gatelib.main([exports, ...]))  or pairs ("name", function)

GRAVEL_TEST_CASE=neighbours tests/run_tests.py gate_cli runs the cases with this in their names.
"""
import os
import resource
import shutil
import subprocess
import sys
import time
import traceback

TOP = os.environ.get("GRAVEL_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("GRAVEL_BUILD_DIR") or os.path.join(TOP, "build"))
QUICK = bool(os.environ.get("GRAVEL_TEST_QUICK"))
LONG = bool(os.environ.get("GRAVEL_TEST_LONG"))


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def processor_time():
    """Seconds of this process and of all that it waited for: on a loaded machine this says what a case costs."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def main(cases):
    failed = 0
    for entry in cases:
        name, function = entry if isinstance(entry, tuple) else (entry.__name__, entry)
        if os.environ.get("GRAVEL_TEST_CASE", "") not in name:
            continue
        print("[ RUN      ] " + name, flush=True)
        begin, used = time.monotonic(), processor_time()
        try:
            function()
            # seen in build/test-logs
            print("%.1f s, %.1f s of processors" % (time.monotonic() - begin, processor_time() - used))
        except Skipped as why:
            print(why)
            print("[  SKIPPED ] " + name, flush=True)
            continue
        except Failed as why:
            print(why)
        except Exception:  # a broken gate is a failed gate, and the others still run
            print(traceback.format_exc())
        else:
            print("[       OK ] " + name, flush=True)
            continue
        failed += 1
        print("[  FAILED  ] " + name, flush=True)
    return 1 if failed else 0


def need_tool(*names):
    """Path of the first of these programs that is there."""
    for name in names:
        path = shutil.which(name)
        if path:
            return path
    raise Skipped("%s is not installed" % " or ".join(names))


def need_file(*parts):
    path = os.path.join(*parts)
    if not os.path.exists(path):
        raise Failed("%s is not built" % os.path.relpath(path, TOP))
    return path


def call(command, **more):
    """Runs a command; Failed with all it printed if it does not succeed."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          check=False, **more)
    if done.returncode != 0:
        raise Failed("%s: exit status %d\n%s" % (" ".join(command), done.returncode, done.stdout))
    return done.stdout


def sources(*suffixes, under=("src", "include", "kernels", "tests", "bench", "examples")):
    """Files of the house with these endings, relative to its root."""
    found = []
    for root in under:
        for folder, _, names in os.walk(os.path.join(TOP, root)):
            found += [os.path.relpath(os.path.join(folder, n), TOP) for n in names if n.endswith(suffixes)]
    return sorted(found)


def headers(*suffixes):
    """The public headers; that of libgravel_mpi needs MPI's own and is looked at where the library was built."""
    return [h for h in sources(*suffixes, under=("include",)) if os.path.basename(h) != "cluster.h"]


def sanitized():
    """True if the libraries of this build carry a sanitizer."""
    archive = need_file(BUILD, "lib", "libgravel.a")
    return any(mark in call(["nm", archive]) for mark in ("__asan_", "__tsan_", "__ubsan_"))

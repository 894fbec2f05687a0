"""What the gates of the program share: a scratch folder, calls of the program, what they should give."""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from gatelib import BUILD, Failed, Skipped, TOP

PROGRAM = os.environ.get("GRAVEL_PROGRAM") or os.path.join(BUILD, "bin", "gravel")
WORK = tempfile.mkdtemp(prefix="gravel-cli-")
OK, FAILURE, USAGE = 0, 1, 2


def run(*arguments, stdin=None, env=None):
    more = dict(os.environ)
    more.pop("GRAVEL_DEVICE", None)
    more.update(env or {})
    done = subprocess.run([PROGRAM, *arguments], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          cwd=WORK, env=more, check=False)
    print("$ gravel %s -> %d" % (" ".join(arguments), done.returncode))
    return done


def by_default():
    """In a child before its program: who started the gate may have had signals ignored (nohup, a job of a shell), and
    children inherit that."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def send_as_timeout(child, number):
    """`timeout` and batch systems send a signal to the program and at once again to its group: one request to stop."""
    child.send_signal(number)
    time.sleep(0.01)
    child.send_signal(number)


def expect(condition, what, done=None):
    if not condition:
        raise Failed(what + ("\nstdout: %s\nstderr: %s" % (done.stdout[:2000], done.stderr[:2000]) if done else ""))


def good(*arguments, **more):
    done = run(*arguments, **more)
    expect(done.returncode == OK, "exit status %d" % done.returncode, done)
    return done


def on_terminal(*arguments, env=None):
    """Starts the program with a terminal for its messages; returns it and the end to read them at."""
    try:
        main_end, terminal = os.openpty()
    except OSError as why:
        raise Skipped("no terminals on this machine: %s" % why) from why
    process = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.DEVNULL, stderr=terminal, cwd=WORK, env=env)
    os.close(terminal)
    return process, main_end


def said_until(pattern, process, main_end):
    """What it says until this regular expression is found in it, or all; then it is ended."""
    said = ""
    while not re.search(pattern, said):
        try:
            block = os.read(main_end, 4096)
        except OSError:  # the other end is closed: it was done
            break
        if not block:
            break
        said += block.decode("utf-8", "replace")
    process.terminate()
    process.wait()
    os.close(main_end)
    return said


def refused(code, part, *arguments, **more):
    """Exit status `code`, nothing on stdout, `part` in the message."""
    done = run(*arguments, **more)
    expect(done.returncode == code, "exit status %d, expected %d" % (done.returncode, code), done)
    expect(done.stdout == "", "something on stdout beside the error", done)
    expect(part in done.stderr, "'%s' is not in the message" % part, done)


def path(name):
    return os.path.join(WORK, name)


def write(name, text):
    with open(path(name), "w", encoding="utf-8") as handle:
        handle.write(text)
    return name


def read(name):
    with open(path(name), encoding="utf-8") as handle:
        return handle.read()


def table(text):
    """Column names and rows of a force or particle file."""
    lines = text.splitlines()
    expect(lines[0].startswith("# "), "the first line does not name the columns: " + lines[0][:80])
    return lines[0][2:].split(), [line.split() for line in lines[1:] if not line.startswith("#")]


def need_device():
    done = run("devices", "--json")
    if done.returncode != OK:
        raise Skipped("no OpenCL device on this machine")


def wrong_kernels():
    """The folder of a copy of the kernels whose accelerations by direct summation are off by a thousandth."""
    shutil.copytree(os.path.join(TOP, "kernels"), path("kernels"), dirs_exist_ok=True)
    source = path(os.path.join("kernels", "direct", "interact.h"))
    text = read(source)
    changed = text.replace("mass * rinv", "mass * rinv * (gv_real)(1.001)", 1)
    expect(changed != text, "nothing to break in interact.h")
    write(source, changed)
    return path("kernels")


def cluster(n):
    name = "plummer%d.txt" % n
    if not os.path.exists(path(name)):
        good("ic", "plummer", "-n", str(n), "--seed", "5", "-o", name)
    return name

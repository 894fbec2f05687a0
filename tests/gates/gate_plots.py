#!/usr/bin/env python3
"""`gravel plot energy ... image`: pictures of a run's folder and of snapshots, names that would be commands, what is missing."""
import os
import re
import shutil
import sys
import xml.dom.minidom

import gatelib
from clilib import FAILURE, OK, USAGE, WORK, expect, good, path, refused, run, write
from gatelib import Skipped

NAMES = ["time", "steps", "kinetic", "potential", "energy", "energy_error", "core_radius", "core_density"] + \
        ["r%02d" % k for k in (1, 2, 5, 10, 20, 30, 50, 70, 90)]
HOSTILE = "`touch OBEYED`$(touch OBEYED)'\"; set print 'OBEYED'; print 1\nsystem 'touch OBEYED'\r\x1b[2J"


def diagnostics(rows, names=None, kpc=False, bodies=512, more=None):
    """A table with fewer columns than `gravel run` writes; `more`: values that stay the same."""
    names = names or NAMES
    head = "# gravel diagnostics 1\n# in cgs: length %s\n# bodies: %d\n# %s\n" % (
        "3.0856775814913673e21 mass 1.98841e33 velocity 1e5" if kpc else "0 mass 0 velocity 0", bodies, " ".join(names))

    def value(name, t):
        known = {"time": t, "energy_error": -1e-9 * t, "kinetic": 0.25, "potential": -0.5, "energy": -0.25, **(more or {})}
        return known.get(name, 1 + t)

    return head + "".join(" ".join("%.17g" % value(n, 0.5 * k) for n in names) + "\n" for k in range(rows))


def blocks(lines="0 5 5 0\n7 1 130 0\n-6 0 0 135\n"):
    return "# gravel blocks 1\n# power blocks moved steps\n" + lines


def make_run(name="run", end="txt", snapshots=3):
    """A folder as `gravel run` leaves it."""
    os.makedirs(path(name), exist_ok=True)
    write(os.path.join(name, "diagnostics.txt"), diagnostics(20))
    write(os.path.join(name, "blocks.txt"), blocks())
    for k in range(snapshots):
        good("ic", "uniform", "-n", "600", "--seed", str(k), "-o", os.path.join(name, "snapshot_%04d.%s" % (k, end)))
    return name


def picture(*arguments, out="p.svg"):
    """The text in an SVG that was drawn without a word."""
    if os.path.exists(path(out)):
        os.unlink(path(out))
    done = good("plot", *arguments, "-o", out)
    expect(done.stdout == done.stderr == "", "words beside the picture", done)
    def text(node):
        return node.data if node.nodeType == node.TEXT_NODE else "".join(text(child) for child in node.childNodes)

    tree = xml.dom.minidom.parse(path(out))
    return " ".join(" ".join(text(item).split()) for item in tree.getElementsByTagName("text"))


def says(text, *parts):
    for part in parts:
        expect(part in text, "'%s' is not in the picture: %s" % (part, text[:600]))


def every_kind():
    gatelib.need_tool("gnuplot")
    make_run()
    says(picture("energy", "run"), "kinetic", "potential", "total", "time [N-body units]", "512 bodies", "10")
    says(picture("lagrange", "run"), "90 %", "1 %", "core", "radius that holds")
    says(picture("core", "run"), "core density", "core radius")
    says(picture("blocks", "run"), "of the block steps", "time-step")
    says(picture("profile", "run"), "density", "velocity dispersion", "t = 0")
    says(picture("rotation", "run"), "circular speed", "radius in the plane")
    says(picture("image", "run"), "mass per area", "x [N-body units]", "y [N-body units]")
    says(picture("image", "run", "--view", "both", "--snapshot", "0", "--ids", "10:100,300:50"), "z [N-body units]")
    for k, start in (("png", b"\x89PNG\r\n"), ("pdf", b"%PDF-1")):
        for kind in ("energy", "image"):
            good("plot", kind, "run", "-o", "p." + k)
            with open(path("p." + k), "rb") as handle:
                expect(handle.read(len(start)) == start, "no %s" % k)


def several_runs_and_files():
    gatelib.need_tool("gnuplot")
    make_run("one")
    make_run("two")
    says(picture("energy", "one", "two"), "one", "two", "|E - E")
    says(picture("energy", "one", "two", "--labels", "4th order, ds;6th order"), "4th order, ds", "6th order")
    refused(USAGE, "names 1, there are 2 runs", "plot", "energy", "one", "two", "--labels", "a", "-o", "p.svg")
    says(picture("core", "one", "two", "--scaled-time"), "212.75 t ln(0.11 N) / N")
    says(picture("energy", "one/diagnostics.txt"), "kinetic")
    calm = write("calm.txt", diagnostics(5, more={"core_radius": 0.41, "core_density": 0.72}))
    says(picture("core", calm), "0.6 0.7 0.8", "0.35 0.4 0.45")  # axes of less than a decade have tics, too
    says(picture("blocks", "one/blocks.txt"), "share")
    says(picture("profile", "one/snapshot_0001.txt", "two"), "one/snapshot_0001.txt", "two")
    says(picture("image", "one/snapshot_0001.txt", "--width", "1", "--pixels", "32"), "mass per area")
    good("ic", "galaxy", "-n", "1200", "-o", "g.txt", "--units", "kpc", "--unit-mass", "5e10", "--unit-length", "3")
    says(picture("rotation", "g.txt", "--units", "kpc", "--ids", "0:200"), "speed [km/s]", "radius in the plane [kpc]")
    says(picture("image", "g.txt", "--units", "kpc"), "x [kpc]", "t = 0.0 Myr")
    os.makedirs(path("kpc"), exist_ok=True)
    write("kpc/diagnostics.txt", diagnostics(5, kpc=True))
    says(picture("energy", "kpc"), "time [Myr]", "(km/s)")
    refused(USAGE, "in other units", "plot", "energy", "one", "kpc", "-o", "p.svg")
    refused(USAGE, "N-body units", "plot", "core", "kpc", "--scaled-time", "-o", "p.svg")


def hdf5_snapshots():
    gatelib.need_tool("gnuplot")
    if run("ic", "twobody", "-o", "probe.hdf5").returncode != OK:
        raise Skipped("built without HDF5")
    make_run("h", "hdf5")
    for kind in ("profile", "rotation", "image"):
        picture(kind, "h")
        picture(kind, "h/snapshot_0002.hdf5")


def animations():
    gatelib.need_tool("gnuplot")
    make_run("film", snapshots=4)
    done = good("plot", "image", "film", "--movie", "--pixels", "50", "-o", "m.gif")
    expect(done.stdout == done.stderr == "", "words beside the animation", done)
    with open(path("m.gif"), "rb") as handle:
        data = handle.read()
    # a graphic control extension before each picture, with the delay of a tenth of a second
    expect(data.startswith(b"GIF89a") and b"NETSCAPE2.0" in data, "no animation")
    expect(len(re.findall(rb"\x21\xf9\x04.\x0a\x00", data)) == 4, "not four pictures")
    refused(USAGE, "an animation is a .gif file", "plot", "image", "film", "--movie", "-o", "m.png")
    refused(USAGE, "for --movie", "plot", "image", "film", "-o", "m.gif")
    refused(USAGE, "one snapshot", "plot", "image", "film/snapshot_0000.txt", "--movie", "-o", "m.gif")


def names_are_no_commands():
    gatelib.need_tool("gnuplot")
    name = HOSTILE.replace("/", "")
    make_run(name, snapshots=2)
    for kind in ("energy", "lagrange", "core", "blocks", "profile", "rotation", "image"):
        picture(kind, name)
        expect(not os.path.exists(path("OBEYED")), "%s: the name was run as a command" % kind)
    picture("energy", name, "./" + name)
    picture("profile", name, "./" + name)
    expect(not os.path.exists(path("OBEYED")), "a name was run as a command")
    done = run("plot", "energy", name + "x", "-o", "p.svg")
    expect(done.returncode == USAGE and "\x1b" not in done.stderr, "control characters reach the terminal", done)


def what_is_missing():
    gatelib.need_tool("gnuplot")
    for kind in ("energy", "lagrange", "core", "blocks"):
        refused(USAGE, "cannot read nowhere", "plot", kind, "nowhere", "-o", "p.svg")
    os.makedirs(path("empty"), exist_ok=True)
    for kind, part in (("energy", "no empty/diagnostics.txt"), ("core", "no empty/diagnostics.txt"),
                       ("blocks", "no empty/blocks.txt"), ("image", "no snapshot_NNNN"), ("profile", "no snapshot_NNNN"),
                       ("slice", "no snapshot_NNNN")):
        refused(USAGE, part, "plot", kind, "empty", "-o", "p.svg")
    one = write("one.txt", diagnostics(1))
    refused(USAGE, "one diagnostic time", "plot", "energy", one, "-o", "p.svg")
    refused(USAGE, "no diagnostic time", "plot", "core", write("none.txt", diagnostics(0)), "-o", "p.svg")
    times = write("times.txt", diagnostics(3, ["time", "steps"]))
    for kind, part in (("energy", "no energies"), ("lagrange", "no Lagrangian radii"), ("core", "no core")):
        refused(USAGE, part, "plot", kind, times, "-o", "p.svg")
    refused(USAGE, "not a table of diagnostics", "plot", "energy", write("o.txt", "0 1 2 3\n"), "-o", "p.svg")
    refused(USAGE, "not a table of blocks", "plot", "blocks", "o.txt", "-o", "p.svg")
    refused(USAGE, "no block steps", "plot", "blocks", write("b.txt", blocks("")), "-o", "p.svg")
    rest = write("rest.txt", "".join("%d 1 %d 0 0\n" % (k, k * k) for k in range(40)))
    refused(USAGE, "no velocities", "plot", "rotation", rest, "-o", "p.svg")
    says(picture("profile", rest), "density")
    expect("dispersion" not in picture("profile", rest), "a dispersion without velocities")
    refused(USAGE, "too few", "plot", "profile", write("few.txt", "0 1 0 0 0\n1 1 1 0 0\n"), "-o", "p.svg")
    refused(USAGE, "at one place", "plot", "image", write("same.txt", "0 1 0 0 0\n"), "-o", "p.svg")
    refused(USAGE, "no mass within", "plot", "image", "few.txt", "--width", "0.1", "-o", "p.svg")
    refused(USAGE, "no body of the 2", "plot", "image", "few.txt", "--ids", "7:", "-o", "p.svg")
    refused(USAGE, "not FIRST:COUNT", "plot", "image", "few.txt", "--ids", "7", "-o", "p.svg")
    make_run("r")
    refused(USAGE, "counted from 0", "plot", "image", "r", "--snapshot", "3", "-o", "p.svg")
    refused(USAGE, ".png, .svg or .pdf", "plot", "image", "r", "-o", "p.jpg")
    refused(FAILURE, "cannot write", "plot", "energy", "r", "-o", "no/such/p.svg")
    # an error of 0 throughout has no logarithm
    flat = diagnostics(4).replace("-5", "-0")
    picture("energy", write("flat.txt", re.sub(r"-[0-9.]+e-[0-9]+", "0", flat)))


def main():
    try:
        return gatelib.main([every_kind, several_runs_and_files, hdf5_snapshots, animations, names_are_no_commands,
                             what_is_missing])
    finally:
        shutil.rmtree(WORK, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())

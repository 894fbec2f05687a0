#!/usr/bin/env python3
"""Particle files from outside: `gravel ic`, `info`, `convert` and `force` on text and HDF5, as h5py sees and makes them."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import gatelib
from gate_mpi import mpirun, need_mpirun
from gatelib import BUILD, Failed, Skipped

try:
    import h5py
    import numpy
except ImportError:
    # The tests may run under a Python of the user's own, the package is the system's.
    system = "/usr/bin/python3"
    if os.path.realpath(sys.executable) != os.path.realpath(system) and os.path.exists(system) and \
            subprocess.call([system, "-c", "import h5py"], stderr=subprocess.DEVNULL) == 0:
        os.execv(system, [system] + sys.argv)
    h5py = numpy = None

PROGRAM = os.environ.get("GRAVEL_PROGRAM") or os.path.join(BUILD, "bin", "gravel")
WORK = tempfile.mkdtemp(prefix="gravel-snapshots-")
OK, FAILURE, USAGE = 0, 1, 2


def run(*arguments, stdin=None):
    done = subprocess.run([PROGRAM, *arguments], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          cwd=WORK, check=False)
    print("$ gravel %s -> %d" % (" ".join(arguments), done.returncode))
    return done


def expect(condition, what, done=None):
    if not condition:
        raise Failed(what + ("\nstdout: %s\nstderr: %s" % (done.stdout[:2000], done.stderr[:2000]) if done else ""))


def good(*arguments, **more):
    done = run(*arguments, **more)
    expect(done.returncode == OK and done.stderr == "", "exit status %d" % done.returncode, done)
    return done


def refused(code, part, *arguments, **more):
    """Exit status `code`, nothing on stdout, one line with `part` on stderr: HDF5's own messages are not shown."""
    done = run(*arguments, **more)
    expect(done.returncode == code, "exit status %d, expected %d" % (done.returncode, code), done)
    expect(done.stdout == "", "something on stdout beside the error", done)
    expect(part in done.stderr, "'%s' is not in the message" % part, done)
    expect(len(done.stderr.splitlines()) <= 2 and "HDF5-DIAG" not in done.stderr, "too many words", done)


def path(name):
    return os.path.join(WORK, name)


def read(name):
    with open(path(name), encoding="utf-8") as handle:
        return handle.read()


def info(name, *more):
    return json.loads(good("info", name, "--json", *more).stdout)


def need_hdf5():
    done = run("ic", "twobody", "-o", "probe.hdf5")
    if done.returncode == USAGE and "without HDF5" in done.stderr:
        raise Skipped("built without HDF5")
    if h5py is None:
        raise Skipped("no h5py (package python3-h5py)")


# --------------------------------------------------------------------- models


def every_model():
    for model in ("plummer", "king", "hernquist", "uniform"):
        for more in ([], ["--masses", "salpeter"], ["--black-hole", "1e6"]):
            good("ic", model, "-n", "300", *more, "-o", "m.txt")
            facts = info("m.txt")
            # M = 1, E = -1/4 from sums over 300 bodies; printed with 17 digits
            expect(abs(facts["mass"] - 1) < 1e-13 and abs(facts["energy"] + 0.25) < 1e-9,
                   "%s %s: mass %g, energy %g" % (model, more, facts["mass"], facts["energy"]))
            expect(abs(facts["virial_ratio"] - 0.5) < 1e-8, "%s: virial ratio" % model)
    good("ic", "merger", "-n", "600", "-o", "m.txt")
    expect(info("m.txt")["particles"] == 600, "merger")
    good("ic", "figure8", "-o", "m.txt")
    facts = info("m.txt")
    expect(facts["particles"] == 3 and abs(facts["energy"] + 1.2871) < 1e-4, "figure8: energy %g" % facts["energy"])
    good("ic", "twobody", "--eccentricity", "0.9", "-o", "m.txt")
    pair = info("m.txt")["binaries"][0]
    expect(abs(pair["eccentricity"] - 0.9) < 1e-12 and abs(pair["semi_major_axis"] - 1) < 1e-12, "twobody")
    refused(USAGE, "separation 40", "ic", "merger", "-n", "600", "--eccentricity", "0.1")
    refused(USAGE, "mass-ratio", "ic", "merger", "-n", "600", "--mass-ratio", "2")


def real_units():
    """A sphere of 1e5 Msun and scale 2 pc: the same orbit times in every unit."""
    good("ic", "plummer", "-n", "100", "--units", "pc", "--unit-mass", "1e5", "--unit-length", "2", "-o", "pc.txt")
    facts = info("pc.txt", "--units", "pc")
    expect(abs(facts["mass"] / 1e5 - 1) < 1e-12 and abs(facts["virial_ratio"] - 0.5) < 1e-9, "pc")
    gravity = 4.300917e-3  # pc (km/s)^2 / Msun
    expect(abs(facts["energy"] / (-0.25 * gravity * 1e10 / 2) - 1) < 1e-5, "energy %g" % facts["energy"])
    good("convert", "-i", "pc.txt", "--units", "pc", "-o", "n.txt", "--to-units", "nbody")
    expect(abs(info("n.txt")["virial_ratio"] - 0.5) < 1e-9, "masses times G")
    good("ic", "king", "-n", "100", "--masses", "kroupa", "--units", "pc", "--unit-length", "1", "-o", "k.txt")
    expect(20 < info("k.txt", "--units", "pc")["mass"] < 500, "solar masses of a hundred stars")
    refused(USAGE, "are the ends of a mass function", "ic", "plummer", "-n", "10", "--mass-low", "1")
    refused(USAGE, "--unit-mass", "ic", "plummer", "-n", "10", "--units", "kpc", "--unit-length", "1")
    refused(USAGE, "need --units kpc or pc", "ic", "plummer", "-n", "10", "--unit-mass", "1", "--unit-length", "1")
    refused(USAGE, "need --to-units", "convert", "-i", "pc.txt", "-o", "-", "--unit-mass", "1")
    refused(USAGE, "these have others", "convert", "-i", "pc.txt", "--units", "pc", "-o", "-", "--to-units", "kpc",
            "--unit-mass", "1", "--unit-length", "1")


def forces_in_units_of_the_file():
    """Two bodies of 1e10 Msun, 1 kpc apart: acc = 43009 (km/s)^2 / kpc."""
    done = good("force", "-i", "-", "-m", "reference", "--units", "kpc", stdin="0 1e10 0 0 0\n1 1e10 1 0 0\n")
    row = done.stdout.splitlines()[1].split()
    expect(abs(float(row[1]) / 43009.17 - 1) < 1e-6 and abs(float(row[4]) / -43009.17 - 1) < 1e-6, " ".join(row))


# ----------------------------------------------------------------------- HDF5


def text_and_hdf5_are_the_same():
    need_hdf5()
    good("ic", "plummer", "-n", "1000", "--seed", "3", "-o", "p.txt")
    good("ic", "plummer", "-n", "1000", "--seed", "3", "-o", "direct.hdf5")
    time.sleep(1.1)  # HDF5 would store the second of writing
    good("convert", "-i", "p.txt", "-o", "p.hdf5")
    good("convert", "-i", "p.hdf5", "-o", "back.txt")
    expect(read("back.txt") == read("p.txt"), "text, HDF5, text")
    with open(path("direct.hdf5"), "rb") as one, open(path("p.hdf5"), "rb") as other:
        expect(one.read() == other.read(), "the same particles give other bytes")
    for command in (("force", "-m", "reference", "--order", "4", "-i"), ("info",)):
        expect(good(*command, "p.txt").stdout == good(*command, "p.hdf5").stdout, "%s on both files" % command[0])
    with h5py.File(path("p.hdf5"), "r") as f:
        rows = numpy.loadtxt(path("p.txt"))
        p = f["PartType1"]
        expect((p["Coordinates"][:] == rows[:, 2:5]).all() and (p["Velocities"][:] == rows[:, 5:8]).all() and
               (p["Masses"][:] == rows[:, 1]).all() and (p["ParticleIDs"][:] == rows[:, 0] + 1).all(), "values")
        h = f["Header"].attrs
        expect(list(h["NumPart_ThisFile"]) == [0, 1000, 0, 0, 0, 0] and list(h["NumPart_Total_HighWord"]) == [0] * 6 and
               h["NumFilesPerSnapshot"] == 1 and list(h["MassTable"]) == [0] * 6 and h["HubbleParam"] == 1, "header")


def attributes_that_readers_need():
    """What yt 4.4 and pynbody 2.8 read (both dump the file without some of these); without them they would take h = 0.677,
    a universe, comoving lengths, or a time in other units."""
    need_hdf5()
    good("ic", "plummer", "-n", "10", "--units", "kpc", "--unit-mass", "1e9", "--unit-length", "2", "-o", "u.hdf5")
    with h5py.File(path("u.hdf5"), "r+") as f:
        f["Header"].attrs.modify("Time", 0.25)
    good("convert", "-i", "u.hdf5", "-o", "w.hdf5")
    with h5py.File(path("w.hdf5"), "r") as f:
        header, parameters, units = f["Header"].attrs, f["Parameters"].attrs, f["Units"].attrs
        for name, value in (("Time", 0.25), ("Redshift", 0), ("BoxSize", 0), ("Omega0", 0), ("OmegaLambda", 0),
                            ("HubbleParam", 1), ("NumFilesPerSnapshot", 1), ("Flag_Sfr", 0), ("Flag_Cooling", 0)):
            expect(header[name] == value, "%s is %s" % (name, header[name]))
        for name, value in (("UnitLength_in_cm", 3.0856775814913673e21), ("UnitMass_in_g", 1.98841e43),
                            ("UnitVelocity_in_cm_per_s", 1e5)):
            expect(parameters[name] == units[name] and abs(units[name] / value - 1) < 1e-15, name)
        expect(parameters["HubbleParam"] == 1 and parameters["Omega0"] == 0, "cosmology of Parameters")
        expect(abs(parameters["Time_GYR"] / (0.25 * 3.0856775814913673e16 / 3.15576e16) - 1) < 1e-14, "Time_GYR")
        for key in ("NumPart_ThisFile", "NumPart_Total"):
            expect(header[key].shape == (6,) and list(header[key]) == [0, 10, 0, 0, 0, 0], key)
        p = f["PartType1"]
        expect(abs(p["Masses"][:].sum() - 0.1) < 1e-15 and p["ParticleIDs"][:].min() == 1 and
               p["Coordinates"].shape == p["Velocities"].shape == (10, 3), "1e9 Msun in units of 1e10")
        for name, powers in (("Coordinates", (1, 0, 0)), ("Masses", (0, 1, 0)), ("Velocities", (0, 0, 1))):
            a = p[name].attrs
            expect((a["length_scaling"], a["mass_scaling"], a["velocity_scaling"]) == powers and
                   a["a_scaling"] == a["h_scaling"] == 0, "scaling of " + name)


def forces_as_hdf5():
    need_hdf5()
    good("ic", "plummer", "-n", "200", "--units", "pc", "--unit-mass", "1e5", "--unit-length", "1", "-o", "k.hdf5")
    common = ("force", "-i", "k.hdf5", "-m", "reference", "--order", "6", "--sinks", "10:50")
    good(*common, "-o", "forces.hdf5")
    good(*common, "-o", "forces.txt")
    rows = numpy.loadtxt(path("forces.txt"))
    with h5py.File(path("forces.hdf5"), "r") as f, h5py.File(path("k.hdf5"), "r") as whole:
        p, q = f["PartType1"], whole["PartType1"]
        for name, first, last in (("Acceleration", 1, 4), ("Potential", 4, 5), ("Jerks", 5, 8), ("Snaps", 8, 11)):
            expect((p[name][:].reshape(50, -1) == rows[:, first:last]).all(), name)
        expect((p["Coordinates"][:] == q["Coordinates"][10:60]).all() and (p["ParticleIDs"][:] == rows[:, 0] + 1).all(),
               "sinks")
        # times G and over G: two roundings
        expect(abs(p["Masses"][:] / q["Masses"][10:60] - 1).max() < 3e-16, "masses")
    expect(info("forces.hdf5")["accelerations"], "a snapshot with accelerations")
    refused(USAGE, "as text only", "force", "-i", "k.hdf5", "-m", "reference", "-o", "n.hdf5", "--nearest")
    refused(FAILURE, "cannot write", "force", "-i", "k.hdf5", "-m", "reference", "-o", "no/such/n.hdf5")


def boxes_stay_boxes():
    """A universe in Mpc/h, and a box of N-body units, after convert and force."""
    need_hdf5()
    good("ic", "cosmo", "-n", "8", "--box", "64", "--seed", "3", "-o", "box.hdf5")
    shutil.copy(path("box.hdf5"), path("mpc.hdf5"))
    with h5py.File(path("mpc.hdf5"), "r+") as f:
        f["PartType1/Coordinates"][:] /= 1000
        for group in ("Header", "Parameters"):
            f[group].attrs.modify("BoxSize", 64.0)
        for group in ("Parameters", "Units"):
            f[group].attrs.modify("UnitLength_in_cm", f[group].attrs["UnitLength_in_cm"] * 1000)
    good("convert", "mpc.hdf5", "-o", "again.hdf5")
    with h5py.File(path("again.hdf5"), "r") as got, h5py.File(path("box.hdf5"), "r") as wanted:
        for group in ("Header", "Parameters"):
            for name in wanted[group].attrs:
                there, here = wanted[group].attrs[name], got[group].attrs[name]
                expect(numpy.allclose(here, there, rtol=1e-12, atol=0), "%s of %s: %s, not %s" % (name, group, here, there))
        for name in ("Coordinates", "Velocities", "Masses"):
            a, b = got["PartType1"][name][:], wanted["PartType1"][name][:]
            expect(abs(a / b - 1).max() < 1e-12, name)
    good("convert", "box.hdf5", "-o", "parts.hdf5", "--files", "2")
    # an older file of the whole name would be read for the parts
    refused(USAGE, "exists, and who reads that name", "convert", "box.hdf5", "-o", "mpc.hdf5", "--files", "2")
    expect(not os.path.exists(path("mpc.0.hdf5")), "parts beside an older file")
    with h5py.File(path("parts.1.hdf5"), "r") as f:
        expect(f["Header"].attrs["BoxSize"] == 64000 and f["Header"].attrs["Time"] == 0.02, "a box in parts")
    reference = ("--periodic", "file", "-m", "reference", "--sinks", "0:2")
    # physical: 64 Mpc times 0.02 / h
    good("force", "mpc.hdf5", *reference, "-o", "forces.hdf5")
    good("convert", "forces.hdf5", "-o", "forces_again.hdf5")
    side = info("box.hdf5")["box"]
    for name in ("forces.hdf5", "forces_again.hdf5"):
        with h5py.File(path(name), "r") as f:
            h = f["Header"].attrs
            expect(abs(h["BoxSize"] / side - 1) < 1e-12 and h["Time"] == 0.02 and abs(h["Redshift"] - 49) < 1e-9 and
                   h["OmegaLambda"] == 0 and h["HubbleParam"] == 1, "%s: %s" % (name, dict(h)))
    good("convert", "box.hdf5", "-o", "n.hdf5", "--to-units", "nbody")
    expect(info("n.hdf5")["time"] == 0.02 and info("n.hdf5")["box"] == side, "in N-body units")
    with open(path("two.txt"), "w", encoding="utf-8") as handle:
        handle.write("0 1 1 1 1\n1 1 2 2 2\n")
    good("force", "two.txt", "--periodic", "10", *reference[2:], "-o", "two.hdf5")
    good("convert", "two.hdf5", "-o", "two_again.hdf5")
    good("force", "two_again.hdf5", *reference, "-o", "two_forces.hdf5")
    expect(info("two_forces.hdf5")["box"] == 10, "the box of N-body units")


def write_gadget(name, counts, change=None, table=(0,) * 6, **header):
    """A snapshot as other programs make it: float, several types."""
    random = numpy.random.default_rng(1)
    with h5py.File(path(name), "w") as f:
        h = f.create_group("Header").attrs
        h["NumPart_ThisFile"] = numpy.array(counts, "i4")
        h["MassTable"] = numpy.array(table, "f8")
        h["NumFilesPerSnapshot"] = 1
        h["Time"] = 0.5
        for key, value in header.items():
            h[key] = value
        first = 1
        for t, n in enumerate(counts):
            if n:
                g = f.create_group("PartType%d" % t)
                g["Coordinates"] = random.random((n, 3), "f4")
                g["Velocities"] = random.random((n, 3), "f4")
                g["ParticleIDs"] = numpy.arange(first, first + n, dtype="u4")
                if not table[t]:
                    g["Masses"] = random.random(n, "f4")
                first += n
        if change:
            change(f)
    return name


def files_of_others():
    need_hdf5()
    write_gadget("g.hdf5", (2, 0, 3, 0, 4, 0), table=(0, 0, 0.25, 0, 0, 0))
    facts = info("g.hdf5")
    expect(facts["particles"] == 9 and facts["units"]["name"] == "kpc, 1e10 Msun, km/s" and facts["time"] == 0.5,
           "joined types: %s" % facts)
    good("convert", "-i", "g.hdf5", "-o", "g.txt")
    rows = numpy.loadtxt(path("g.txt"))
    with h5py.File(path("g.hdf5"), "r") as f:
        whole = numpy.concatenate([f["PartType%d/Coordinates" % t][:] for t in (0, 2, 4)])
        expect((rows[:, 2:5] == whole).all() and list(rows[:, 0]) == list(range(1, 10)), "places and ids")
        good("convert", "-i", "g.hdf5", "-o", "again.hdf5")
        with h5py.File(path("again.hdf5"), "r") as again:
            expect(list(again["PartType1/ParticleIDs"]) == list(range(1, 10)), "ids of others stay")
        expect((rows[2:5, 1] == 0.25).all() and (rows[5:, 1] == f["PartType4/Masses"][:]).all(), "masses")
    # a = 0.5: comoving over h, masses over h, velocities over sqrt(a)
    write_gadget("c.hdf5", (0, 5, 0, 0, 0, 0), OmegaLambda=0.7, Omega0=0.3, HubbleParam=0.7, Redshift=1.0)
    good("convert", "-i", "c.hdf5", "-o", "c.txt")
    rows = numpy.loadtxt(path("c.txt"))
    with h5py.File(path("c.hdf5"), "r") as f:
        p = f["PartType1"]
        for got, stored, factor in ((rows[:, 2:5], "Coordinates", 0.5 / 0.7), (rows[:, 5:8], "Velocities", 0.5 ** 0.5),
                                    (rows[:, 1], "Masses", 1 / 0.7)):
            expect(abs(got / (p[stored][:].astype("f8") * factor) - 1).max() < 1e-15, "cosmological " + stored)
    # without a constant: by ComovingIntegrationOn, or a redshift; without both a time is a time
    write_gadget("side.hdf5", (0, 5, 0, 0, 0, 0), BoxSize=numpy.array([3.0, 3.0, 3.0]), NumPart_Total=numpy.zeros(6, "u4"))
    expect(info("side.hdf5")["box"] == 3, "three equal sides")
    flat = {"OmegaLambda": 0.0, "Omega0": 1.0, "HubbleParam": 0.7, "BoxSize": 2.0}
    for time, more, wanted in ((0.5, {"Redshift": 1.0}, 0.5 / 0.7), (1.0, {"ComovingIntegrationOn": 1}, 1 / 0.7), (1.0, {}, 1),
                               (1.0, {"OmegaLambda": 0.7, "ComovingIntegrationOn": 0}, 1)):
        write_gadget("e.hdf5", (0, 5, 0, 0, 0, 0), **{**flat, "Time": time, "Redshift": 0.0, **more})
        expect(abs(info("e.hdf5")["box"] / (2 * wanted) - 1) < 1e-12, "%s: %s" % (more, info("e.hdf5")["box"]))
    refused(USAGE, "ComovingIntegrationOn is 0", "analyse", "e.hdf5")  # it took physical lengths for comoving ones
    for constant in ("0", "1e-9"):
        good("ic", "cosmo", "-n", "8", "--box", "64", "--omega-m", "1", "--omega-l", constant, "-o", "e.hdf5")
        facts = info("e.hdf5")
        expect(abs(facts["box"] / 1889.58 - 1) < 1e-4 and abs(facts["mass"] / 10740265 - 1) < 1e-4, "physical: %s" % facts)
    write_gadget("u.hdf5", (0, 5, 0, 0, 0, 0), UnitLength_in_cm=3.0857e18, UnitMass_in_g=1.989e33,
                 UnitVelocity_in_cm_per_s=1e5)
    expect(info("u.hdf5")["units"]["name"] == "pc, Msun, km/s", "named units")

    def without(name):
        def change(f):
            del f["PartType1/" + name]
        return change

    expect(not info(write_gadget("v.hdf5", (0, 5, 0, 0, 0, 0), without("Velocities")))["velocities"], "no velocities")
    info(write_gadget("v.hdf5", (0, 5, 0, 0, 0, 0), without("ParticleIDs")))


def bad_files():
    need_hdf5()

    def put(name, value):
        def change(f):
            if name in f:
                del f[name]
            f[name] = value
        return change

    def poke(name, at, value):
        def change(f):
            f[name][at] = value
        return change

    def attribute(name, value):
        def change(f):
            f["Header"].attrs[name] = value
        return change

    def delete(name):
        def change(f):
            del f[name]
        return change

    def declare(f):
        del f["PartType1/Masses"]
        f.create_dataset("PartType1/Masses", (5,), "f8")

    def packed(f):
        """By a filter that h5py has and other programs do not."""
        del f["PartType1/Masses"]
        f.create_dataset("PartType1/Masses", data=numpy.ones(5), compression="lzf")

    one = "PartType1/"
    cases = [
        ("no group Header", delete("Header")), ("no Coordinates", delete(one + "Coordinates")),
        ("no such group", delete("PartType1")), ("neither Masses", delete(one + "Masses")),
        ("not finite", poke(one + "Coordinates", (3, 1), numpy.nan)),
        ("not finite", poke(one + "Velocities", (3, 1), numpy.inf)), ("below zero", poke(one + "Masses", 2, -1)),
        ("occurs more than once", poke(one + "ParticleIDs", 2, 1)),
        ("4 x 3 values", put(one + "Coordinates", numpy.zeros((4, 3)))),
        ("5 x 2 values", put(one + "Coordinates", numpy.zeros((5, 2)))),
        ("5 x 1 values", put(one + "Coordinates", numpy.zeros(5))),
        ("0 x 1 values", put(one + "Coordinates", numpy.zeros((5, 3, 2)))),
        ("not of a type", put(one + "Coordinates", numpy.array([[b"a"] * 3] * 5))),
        ("not of a type", put(one + "ParticleIDs", numpy.zeros(5))),
        ("does not fit 32 bits", put(one + "ParticleIDs", numpy.arange(5, dtype="u8") + 2 ** 63)),
        ("does not fit 32 bits", put(one + "ParticleIDs", numpy.arange(5, dtype="u8") + 2 ** 31)),
        ("nothing was ever written", declare),
        ("not a list of whole numbers", attribute("NumPart_ThisFile", "five")),
        ("below zero", attribute("NumPart_ThisFile", numpy.array([0, -5, 0, 0, 0, 0]))),
        ("no particles", attribute("NumPart_ThisFile", numpy.zeros(6, "i4"))),
        ("6 particles", attribute("NumPart_ThisFile", numpy.array([0, 6, 0, 0, 0, 0]))),
        ("at most", attribute("NumPart_ThisFile", numpy.array([0, 2 ** 62, 0, 0, 0, 0]))),
        ("below zero", attribute("MassTable", numpy.array([0, -1.0, 0, 0, 0, 0]))),
        ("one of 8 files", attribute("NumFilesPerSnapshot", 8)), ("Time", attribute("Time", numpy.nan)),
        ("Time is not a number", attribute("Time", "now")), ("Redshift is not a number", attribute("Redshift", "2")),
        ("7 particles of type 1, and this file 5", attribute("NumPart_Total", numpy.array([0, 7, 0, 0, 0, 0], "u4"))),
        ("4294967301 particles", lambda f: f["Header"].attrs.update(
            NumPart_Total=numpy.array([0, 5, 0, 0, 0, 0], "u4"), NumPart_Total_HighWord=numpy.array([0, 1, 0, 0, 0, 0], "u4"))),
        ("10 in one direction and 20 in another", attribute("BoxSize", numpy.array([10.0, 10.0, 20.0]))),
        ("compression is not in this HDF5", packed),
    ]
    for part, change in cases:
        write_gadget("bad.hdf5", (0, 5, 0, 0, 0, 0), change)
        for command in (("info", "bad.hdf5"), ("convert", "-i", "bad.hdf5", "-o", "never.txt")):
            refused(USAGE, part, *command)
    some = write_gadget("bad.hdf5", (2, 0, 3, 0, 0, 0), lambda f: f["PartType2"].__delitem__("Velocities"))
    refused(USAGE, "PartType0 has Velocities and PartType2 has none", "convert", "-i", some, "-o", "never.txt")
    units = {"UnitLength_in_cm": 0.0, "UnitMass_in_g": 1.0, "UnitVelocity_in_cm_per_s": 1e5}
    refused(USAGE, "wrong units", "info", write_gadget("bad.hdf5", (0, 5, 0, 0, 0, 0), **units))
    refused(USAGE, "HubbleParam", "info", write_gadget("bad.hdf5", (0, 5, 0, 0, 0, 0), OmegaLambda=0.7, HubbleParam=0.0,
                                                       Redshift=1.0))
    expect(not os.path.exists(path("never.txt")), "something was written")
    big = write_gadget("big.hdf5", (0, 5, 0, 0, 0, 0), put(one + "ParticleIDs", numpy.arange(5, dtype="u8") + 2 ** 63))
    expect(info(big, "--renumber")["particles"] == 5, "--renumber")
    refused(USAGE, "cannot read", "info", "missing.hdf5")


def diagnostics_as_hdf5():
    need_hdf5()
    with open(path("d.txt"), "w", encoding="utf-8") as handle:
        handle.write("# gravel diagnostics 1\n# in cgs: length 3.0856775814913673e21 mass 1.98841e33 velocity 1e5\n"
                     "# bodies: 77\n# time energy r50\n0 -0.25 0.1\n0.30000000000000004 -0.5 nan\n")
    good("convert", "-i", "d.txt", "-o", "d.hdf5")
    with h5py.File(path("d.hdf5"), "r") as f:
        d = f["Diagnostics"]
        expect(d.attrs["Bodies"][0] == 77 and d.attrs["Units"] == b"kpc, Msun, km/s", "what the table says of itself")
        expect(list(d["time"][:]) == [0, 0.30000000000000004] and list(d["energy"][:]) == [-0.25, -0.5] and
               d["r50"][0] == 0.1 and numpy.isnan(d["r50"][1]) and numpy.isnan(d["kinetic"][:]).all(), "values")
        expect(d["energy"].attrs["Unit"] == b"Msun (km/s)^2" and d["time"].attrs["Meaning"] == b"time", "attributes")
    refused(USAGE, "as it is", "convert", "-i", "d.txt", "-o", "e.hdf5", "--to-units", "pc")
    refused(FAILURE, "cannot write", "convert", "-i", "d.txt", "-o", "no/such/d.hdf5")
    refused(USAGE, "3 columns", "convert", "-i", "d.txt", "-o", "e.txt")


def nothing_is_lost():
    need_hdf5()
    good("ic", "plummer", "-n", "100", "-o", "old.hdf5")
    with open(path("old.hdf5"), "rb") as handle:
        before = handle.read()
    refused(USAGE, "is the input", "convert", "-i", "old.hdf5", "-o", "./old.hdf5")
    refused(FAILURE, "cannot write", "ic", "plummer", "-n", "10", "-o", "no/such/f.hdf5")
    if os.path.exists("/dev/full"):
        os.symlink("/dev/full", path("full.hdf5"))
        refused(FAILURE, "regular files", "ic", "plummer", "-n", "10", "-o", "full.hdf5")
    with open(path("no.txt"), "w", encoding="utf-8") as handle:
        handle.write("0 1 0 0 0\n0 1 1 0 0\n")
    refused(USAGE, "occurs more than once", "convert", "-i", "no.txt", "-o", "old.hdf5")
    with open(path("no.txt"), "w", encoding="utf-8") as handle:
        handle.write("-1 1 0 0 0\n1 1 1 0 0\n")
    refused(USAGE, "the id -1 stands for no body", "convert", "-i", "no.txt", "-o", "old.hdf5")
    refused(USAGE, "the id -1 stands for no body", "info", "no.txt")
    expect(abs(info("no.txt", "--renumber")["potential_energy"] + 1) < 1e-15, "a pair that was renumbered")
    with open(path("old.hdf5"), "rb") as handle:
        expect(handle.read() == before, "the old file was touched")
    expect(not [f for f in os.listdir(WORK) if f.startswith("old.hdf5.")], "a temporary file is left")


# --------------------------------------------------------------------- ranks


def over(ranks, *command, code=OK):
    words = [path(word) if word.startswith("ranks") else word for word in command]
    done = mpirun(ranks, PROGRAM, *words, "-d", "cpu:1")
    expect(done.returncode == code, "exit status %d of %s over %d ranks" % (done.returncode, command, ranks), done)
    return done


def same_bodies(one, parts):
    """Values of a file and of several, one after another: what h5py reads, and what gravel does."""
    with h5py.File(path(one), "r") as f:
        several = [h5py.File(path(name), "r") for name in parts]
        h = f["Header"].attrs
        expect(h["NumFilesPerSnapshot"] == 1 and list(h["NumPart_ThisFile"]) == list(h["NumPart_Total"]) and
               h["Time"] == several[0]["Header"].attrs["Time"], "header of " + one)
        expect(set(f["PartType1"]) == set(several[0]["PartType1"]), "quantities of " + one)
        for name in f["PartType1"]:
            whole = numpy.concatenate([part["PartType1/" + name][:] for part in several])
            here = f["PartType1/" + name]
            expect(here.dtype == whole.dtype and here.shape == whole.shape and here[:].tobytes() == whole.tobytes(),
                   "%s of %s" % (name, one))
            for key, value in several[0]["PartType1/" + name].attrs.items():
                expect((here.attrs[key] == value).all(), "%s of %s" % (key, name))
    good("convert", "-i", one, "-o", "one.txt")
    good("convert", "-i", parts[0], "-o", "parts.txt")
    expect(read("one.txt") == read("parts.txt"), "%s and %s differ" % (one, parts[0]))


def one_file_of_all_ranks():
    need_hdf5()
    need_mpirun()
    good("ic", "plummer", "-n", "50", "--seed", "4", "-o", "ranks_ic.hdf5")
    what = ("run", "-i", "ranks_ic.hdf5", "--eps", "0.01", "--until", "0.03125", "-o")
    for more in (("--snapshot-format", "text"), ("--snapshot-files", "2")):
        done = over(2, *what, "ranks_no", "--snapshot-writers", "all", *more, code=USAGE)
        expect("one file in HDF5" in done.stderr and not os.path.exists(path("ranks_no")), "refused", done)
    if subprocess.call(["grep", "-q", "libhdf5_openmpi\\|libhdf5_mpich", PROGRAM]) != 0:
        done = over(2, *what, "ranks_no", "--snapshot-writers", "all", code=USAGE)
        expect("libhdf5-openmpi-dev" in done.stderr and not os.path.exists(path("ranks_no")), "what to install", done)
        return
    expect("libhdf5_serial" not in gatelib.call(["ldd", PROGRAM]), "two HDF5 libraries in one program")
    over(3, *what, "ranks_one", "--snapshot-writers", "all")
    over(3, *what, "ranks_parts", "--snapshot-files", "3")
    for number in (0, 1):
        same_bodies("ranks_one/snapshot_000%d.hdf5" % number,
                    ["ranks_parts/snapshot_000%d.%d.hdf5" % (number, k) for k in range(3)])
    for copy in ("ranks_one", "ranks_parts"):  # on another number of ranks, with the other form
        over(2, "run", "--resume", copy, "--until", "0.0625")
    same_bodies("ranks_one/snapshot_0002.hdf5", ["ranks_parts/snapshot_0002.%d.hdf5" % k for k in range(3)])
    tree = ("force", "ranks_one/snapshot_0002.hdf5", "-m", "tree", "--eps", "0.1", "--sinks", "10:33", "-o")
    over(3, *tree, "ranks_all.hdf5", "--writers", "all")
    over(3, *tree, "ranks_first.hdf5")
    same_bodies("ranks_all.hdf5", ["ranks_first.hdf5"])
    over(5, "force", "ranks_one/snapshot_0002.hdf5", "--sinks", "0:2", "-o", "ranks_few.hdf5", "--writers", "all")
    with h5py.File(path("ranks_few.hdf5"), "r") as few, h5py.File(path("ranks_one/snapshot_0002.hdf5"), "r") as f:
        expect((few["PartType1/Coordinates"][:] == f["PartType1/Coordinates"][:2]).all(), "ranks without bodies")
    done = over(2, *tree, "ranks.txt", "--writers", "all", code=USAGE)
    expect("a name in .hdf5" in done.stderr, "text by all ranks", done)
    left = [name for name in os.listdir(WORK) + os.listdir(path("ranks_one")) if ".hdf5." in name]
    expect(not left, "temporary files are left: %s" % left)


if __name__ == "__main__":
    try:
        outcome = gatelib.main([every_model, real_units, forces_in_units_of_the_file, text_and_hdf5_are_the_same,
                                attributes_that_readers_need, forces_as_hdf5, boxes_stay_boxes, files_of_others, bad_files,
                                diagnostics_as_hdf5, nothing_is_lost, one_file_of_all_ranks])
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
    sys.exit(outcome)

#!/usr/bin/env python3
"""Every direct variant, the tree and the mesh compile for three generations of AMD GPUs, and their default configurations
spill nothing.

The work is in amd_registers.py; a case here is one variant, with all its features, on one target.  `scons amd` makes the
table of everything.
"""
import sys

import amd_registers
import gatelib
from gatelib import BUILD, Failed, LONG, QUICK

VARIANTS = ["%s%d" % (precision, order) for precision in ("sp", "ds", "dp") for order in (2, 4, 6)]
VARIANTS += ["tree-sp", "tree-ds", "tree-dp", "mesh-sp", "mesh-dp", "tasks-sp", "tasks-ds", "tasks-dp"]


# Of the generation of gfx906 and with twice its registers: what spills nothing there spills nothing here, so that the
# configurations for the most sinks are enough to see that the compiler takes the kernels for this target.  Where CI's
# time is not there it is left out, and the others compile these alone, too; they hold the most registers.
ALIKE = "gfx90a"


class Target:
    """Compiles once, for the first case."""

    def __init__(self, name):
        self.name, self.rows, self.errors = name, None, []

    def measured(self):
        if self.rows is None:
            self.rows = []
            self.rows, self.errors = amd_registers.measure(self.name, BUILD, QUICK or not LONG or self.name == ALIKE)
        return self

    def case(self, variant):
        def check():
            amd_registers.tools(self.name)
            self.measured()
            mine = [r for r in self.rows if r["variant"].split("+")[0] == variant]
            wrong = [e for e in self.errors if e.split()[1].rstrip(":").split("+")[0] == variant]
            wrong += ["%(variant)s, %(sinks)d sinks, %(kernel)s: %(spills)d spills, %(scratch)d bytes of scratch (%(options)s)"
                      % r for r in mine if amd_registers.spilled(r)]
            if not mine and not wrong:
                raise Failed("nothing was compiled")
            if wrong:
                raise Failed("\n".join(wrong))
        return "%s/%s" % (self.name, variant), check


if __name__ == "__main__":
    targets = [Target(name) for name in amd_registers.TARGETS if LONG or name != ALIKE]
    status = gatelib.main([target.case(variant) for target in targets for variant in VARIANTS])
    amd_registers.write([row for target in targets for row in target.rows or []], BUILD)
    sys.exit(status)

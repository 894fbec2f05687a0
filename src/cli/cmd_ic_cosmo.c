/* gravel ic cosmo, gravel ic pancake: bodies in a box of an expanding universe. */
#include "cli/cmd_ic_cosmo.h"

#include <math.h>

#include "cli/cli.h"
#include "sim/snapshot.h"

#define AT(member) .offset = offsetof(gv_ic_cosmo_command, member)
#define REAL(option, at, shown, text, usual, least, most)                                                              \
    {                                                                                                                  \
        .name = option, .kind = GV_OPT_REAL, AT(at), .value = shown, .help = text, .fallback = usual, .low = least,    \
        .high = most                                                                                                   \
    }
#define GRID_OPTIONS                                                                                                   \
    {.name = "grid",                                                                                                   \
     .letter = 'n',                                                                                                    \
     .kind = GV_OPT_INT,                                                                                               \
     AT(grid),                                                                                                         \
     .value = "N",                                                                                                     \
     .help = "N^3 bodies",                                                                                             \
     .low = 2,                                                                                                         \
     .high = 1024,                                                                                                     \
     .required = 1},                                                                                                   \
        REAL("box", box, "L", "side of the box, Mpc/h", "100", -INFINITY, INFINITY),                                   \
        REAL("redshift", redshift, "Z", "where the bodies begin", "49", -INFINITY, INFINITY),                          \
    {                                                                                                                  \
        .name = "output", .letter = 'o', .kind = GV_OPT_OUT, AT(out), .value = "FILE",                                 \
        .help = "where to: a name in .hdf5 or .h5", .required = 1                                                      \
    }
#define UNIVERSE_OPTIONS                                                                                               \
    REAL("h", h, "H", "Hubble's constant over 100 km/s/Mpc", "0.6774", -INFINITY, INFINITY),                           \
        REAL("omega-m", omega_m, "O", "matter", "0.3089", -INFINITY, INFINITY),                                        \
        REAL("omega-l", omega_l, "O", "cosmological constant; curvature is the rest", "0.6911", -INFINITY, INFINITY),  \
        REAL("omega-b", omega_b, "O", "baryons, of the matter", "0.0486", -INFINITY, INFINITY)

const gv_opt gv_ic_cosmo_opts[] = {
    GRID_OPTIONS,
    {.name = "seed",
     .letter = 's',
     .kind = GV_OPT_SEED,
     AT(seed),
     .value = "S",
     .help = "of the waves; the same seed gives the same large waves\nwith any number of bodies",
     .fallback = "1"},
    UNIVERSE_OPTIONS,
    REAL("sigma-8", sigma_8, "S", "of the linear density today; 0: as --table has it", "0.8159", 0, 100),
    REAL("n-s", n_s, "N", "index of the primordial spectrum", "0.9667", -4, 4),
    {.name = "transfer",
     .kind = GV_OPT_CHOICE,
     AT(transfer),
     .value = "eh|no-wiggle",
     .help = "Eisenstein and Hu 1998, with acoustic oscillations or\nwithout",
     .fallback = "eh"},
    {.name = "table",
     .kind = GV_OPT_IN,
     AT(table),
     .value = "FILE",
     .help = "the linear spectrum at redshift 0 from CAMB or CLASS:\nlines of k (h/Mpc) and P (Mpc/h)^3"},
    {.name = "order",
     .kind = GV_OPT_CHOICE,
     AT(order),
     .value = "zeldovich|2lpt",
     .help = "of the displacements",
     .fallback = "2lpt"},
    {.name = "fixed",
     .kind = GV_OPT_FLAG,
     AT(fixed),
     .help = "amplitudes of all waves are those of the spectrum, only\nphases are drawn"},
    {.name = "paired", .kind = GV_OPT_FLAG, AT(paired), .help = "all phases turned by pi"},
    {.name = NULL},
};

const gv_opt gv_ic_pancake_opts[] = {
    GRID_OPTIONS,
    UNIVERSE_OPTIONS,
    REAL("crossing", crossing, "Z", "redshift where bodies meet in the plane", "1", -INFINITY, INFINITY),
    {.name = NULL},
};

static gv_cosmology universe(const gv_ic_cosmo_command *o)
{
    return (gv_cosmology){.h = o->h,
                          .omega_m = o->omega_m,
                          .omega_l = o->omega_l,
                          .omega_b = o->omega_b,
                          .n_s = o->n_s,
                          .sigma_8 = o->sigma_8,
                          .transfer = o->transfer};
}

static gv_ic_cosmo_options options(const gv_ic_cosmo_command *o)
{
    return (gv_ic_cosmo_options){.side = o->box,
                                 .redshift = o->redshift,
                                 .order = o->order + 1,
                                 .fixed = o->fixed,
                                 .paired = o->paired,
                                 .crossing = o->crossing};
}

/* Bodies are made only where they can be written. */
static int check_name(const char *command, const char *out)
{
    if (!gv_snapshot_has_hdf5())
        gv_say(command, "this gravel was built without HDF5, which a box with its cosmology needs");
    else if (!gv_snapshot_is_hdf5_name(out))
        gv_say(command, "--output %s: a box with its cosmology needs HDF5, a name in .hdf5 or .h5", out);
    else
        return 0;
    return -1;
}

static int finish(const char *command, gravel_status status, gv_particles *p, const char *out)
{
    int writing = 0;
    if (!status) {
        status = gv_snapshot_write(p, out);
        writing = 1;
    }
    gv_particles_free(p);
    return !status ? GV_EXIT_OK : writing ? gv_cli_fail_writing(command, status) : gv_cli_fail(command, status);
}

int gv_ic_run_cosmo(const void *values, const gv_operands *operands)
{
    static const char command[] = "gravel ic cosmo";
    const gv_ic_cosmo_command *o = values;
    const gv_cosmology c = universe(o);
    const gv_ic_cosmo_options how = options(o);
    gv_power power;
    gv_particles p = GV_PARTICLES_INIT;
    (void)operands;
    if (check_name(command, o->out) != 0)
        return GV_EXIT_USAGE;
    gv_signals_catch(0.7, "gravel ic: stopped; nothing was written, an earlier file is kept\n");
    gravel_status status = gv_power_create(&power, &c, o->table);
    if (!status) {
        status = gv_ic_cosmo(o->grid, o->seed, &power, &how, &p);
        gv_power_free(&power);
    }
    return finish(command, status, &p, o->out);
}

int gv_ic_run_pancake(const void *values, const gv_operands *operands)
{
    static const char command[] = "gravel ic pancake";
    const gv_ic_cosmo_command *o = values;
    const gv_cosmology c = universe(o);
    const gv_ic_cosmo_options how = options(o);
    gv_particles p = GV_PARTICLES_INIT;
    (void)operands;
    if (check_name(command, o->out) != 0)
        return GV_EXIT_USAGE;
    return finish(command, gv_ic_pancake(o->grid, &c, &how, &p), &p, o->out);
}

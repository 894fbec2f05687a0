#include "sim/units.h"

#include <math.h>
#include <stdio.h>

int gv_units_are_nbody(const gv_units *units)
{
    return !(units->length_cm > 0.0);
}

double gv_units_gravity(const gv_units *u)
{
    if (gv_units_are_nbody(u))
        return 1.0;
    return GV_G_CGS * u->mass_g / (u->length_cm * u->velocity_cm_s * u->velocity_cm_s);
}

double gv_units_length_factor(const gv_units *from, const gv_units *to)
{
    return from->length_cm == to->length_cm ? 1.0 : from->length_cm / to->length_cm;
}

double gv_units_mass_factor(const gv_units *from, const gv_units *to)
{
    return from->mass_g == to->mass_g ? 1.0 : from->mass_g / to->mass_g;
}

double gv_units_velocity_factor(const gv_units *from, const gv_units *to)
{
    return from->velocity_cm_s == to->velocity_cm_s ? 1.0 : from->velocity_cm_s / to->velocity_cm_s;
}

static int near(double value, double expected)
{
    return fabs(value / expected - 1.0) < 2e-3; /* codes round the solar mass and the parsec differently */
}

const char *gv_units_text(const gv_units *u, char text[GV_UNITS_TEXT])
{
    const char *length = near(u->length_cm, GV_CM_PER_KPC)         ? "kpc"
                         : near(u->length_cm, GV_CM_PER_PC)        ? "pc"
                         : near(u->length_cm, 1e3 * GV_CM_PER_KPC) ? "Mpc"
                                                                   : NULL;
    const char *mass = near(u->mass_g, GV_G_PER_MSUN)          ? "Msun"
                       : near(u->mass_g, 1e10 * GV_G_PER_MSUN) ? "1e10 Msun"
                                                               : NULL;
    if (gv_units_are_nbody(u))
        snprintf(text, GV_UNITS_TEXT, "N-body (G = 1)");
    else if (length && mass && near(u->velocity_cm_s, GV_CM_S_PER_KM_S))
        snprintf(text, GV_UNITS_TEXT, "%s, %s, km/s", length, mass);
    else
        snprintf(text, GV_UNITS_TEXT, "%g cm, %g g, %g cm/s", u->length_cm, u->mass_g, u->velocity_cm_s);
    return text;
}

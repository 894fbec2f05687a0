#include "sim/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

static const char *length_name(const gv_units *u)
{
    return near(u->length_cm, GV_CM_PER_KPC)         ? "kpc"
           : near(u->length_cm, GV_CM_PER_PC)        ? "pc"
           : near(u->length_cm, 1e3 * GV_CM_PER_KPC) ? "Mpc"
                                                     : NULL;
}

static const char *mass_name(const gv_units *u)
{
    return near(u->mass_g, GV_G_PER_MSUN) ? "Msun" : near(u->mass_g, 1e10 * GV_G_PER_MSUN) ? "1e10 Msun" : NULL;
}

static const char *velocity_name(const gv_units *u)
{
    return near(u->velocity_cm_s, GV_CM_S_PER_KM_S) ? "km/s" : NULL;
}

const char *gv_units_text(const gv_units *u, char text[GV_UNITS_TEXT])
{
    const char *length = length_name(u), *mass = mass_name(u), *velocity = velocity_name(u);
    if (gv_units_are_nbody(u))
        snprintf(text, GV_UNITS_TEXT, "N-body (G = 1)");
    else if (length && mass && velocity)
        snprintf(text, GV_UNITS_TEXT, "%s, %s, %s", length, mass, velocity);
    else
        snprintf(text, GV_UNITS_TEXT, "%g cm, %g g, %g cm/s", u->length_cm, u->mass_g, u->velocity_cm_s);
    return text;
}

const char *gv_unit_text(const gv_units *u, int length, int mass, int velocity, char text[GV_UNITS_TEXT])
{
    const struct {
        const char *name, *in_cgs;
        double size;
        int power;
    } part[] = {{mass_name(u), "g", u->mass_g, mass},
                {length_name(u), "cm", u->length_cm, length},
                {velocity_name(u), "cm/s", u->velocity_cm_s, velocity}};
    int used = snprintf(text, GV_UNITS_TEXT, "%s", length == 0 && mass == 0 && velocity == 0 ? "1" : "");
    if (used == 0 && gv_units_are_nbody(u))
        used = snprintf(text, GV_UNITS_TEXT, "N-body");
    for (int k = 0; k < 3 && !gv_units_are_nbody(u); k++) {
        char name[32], power[16] = "";
        if (part[k].power == 0)
            continue;
        if (part[k].name)
            snprintf(name, sizeof name, "%s", part[k].name);
        else
            snprintf(name, sizeof name, "%g %s", part[k].size, part[k].in_cgs);
        if (part[k].power != 1)
            snprintf(power, sizeof power, "^%d", part[k].power);
        const int plain = part[k].power == 1 || !strpbrk(name, " /");
        used += snprintf(text + used, (size_t)(GV_UNITS_TEXT - used), "%s%s%s%s%s", used ? " " : "", plain ? "" : "(",
                         name, plain ? "" : ")", power);
    }
    return text;
}

/* Units of a set of particles.
 *
 * N-body units are pure numbers with G = 1.  All others are given by their length, mass and velocity in cgs; the unit
 * of time is length / velocity, and G follows.
 */
#ifndef GV_UNITS_H
#define GV_UNITS_H

#define GV_CM_PER_KPC 3.0856775814913673e21
#define GV_CM_PER_PC 3.0856775814913673e18
#define GV_G_PER_MSUN 1.98841e33 /* G m = 1.32712e26 cm^3 / s^2 (IAU 2015) over G */
#define GV_CM_S_PER_KM_S 1e5
#define GV_G_CGS 6.6743e-8 /* cm^3 / g s^2 (CODATA 2018) */

typedef struct gv_units {
    double length_cm, mass_g, velocity_cm_s; /* all 0: N-body units */
} gv_units;

#define GV_UNITS_NBODY                                                                                                 \
    {                                                                                                                  \
        0.0, 0.0, 0.0                                                                                                  \
    }
#define GV_UNITS_KPC                                                                                                   \
    {                                                                                                                  \
        GV_CM_PER_KPC, GV_G_PER_MSUN, GV_CM_S_PER_KM_S                                                                 \
    }
#define GV_UNITS_PC                                                                                                    \
    {                                                                                                                  \
        GV_CM_PER_PC, GV_G_PER_MSUN, GV_CM_S_PER_KM_S                                                                  \
    }
/* GADGET's: kpc, 1e10 solar masses, km/s */
#define GV_UNITS_GADGET                                                                                                \
    {                                                                                                                  \
        GV_CM_PER_KPC, 1e10 * GV_G_PER_MSUN, GV_CM_S_PER_KM_S                                                          \
    }

int gv_units_are_nbody(const gv_units *units);
/* G in these units; 1 for N-body units. */
double gv_units_gravity(const gv_units *units);
/* Units of one set expressed in those of another: value in `to` = value in `from` times the factor. */
double gv_units_length_factor(const gv_units *from, const gv_units *to);
double gv_units_mass_factor(const gv_units *from, const gv_units *to);
double gv_units_velocity_factor(const gv_units *from, const gv_units *to);
/* "N-body (G = 1)", "kpc, Msun, km/s" or the numbers in cgs; returns `text`. */
enum { GV_UNITS_TEXT = 96 };
const char *gv_units_text(const gv_units *units, char text[GV_UNITS_TEXT]);
/* The unit of a quantity with these powers of length, mass and velocity: "Msun (km/s)^2"; "N-body" in N-body units, "1"
 * for pure numbers; returns `text`. */
const char *gv_unit_text(const gv_units *units, int length, int mass, int velocity, char text[GV_UNITS_TEXT]);

#endif

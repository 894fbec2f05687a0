/* Forces that are not Plummer's: cut-off functions of GRAPE-5, tables of Phantom-GRAPE. */
#include "compat/g5/g5.h"

#include <math.h>
#include <stddef.h>

static struct {
    pthread_mutex_t lock;    /* of the table */
    pthread_mutex_t calling; /* callers' functions are called by one thread at a time */
    gv_g5_table table;
    int versions;
} now = {.lock = PTHREAD_MUTEX_INITIALIZER, .calling = PTHREAD_MUTEX_INITIALIZER};

/* Force over distance between two spheres of diameter a whose density falls linearly to zero (S2 of Hockney and
 * Eastwood, Computer Simulation Using Particles, chapter 8), with x = 2 r / a. */
static double s2(double a, double r)
{
    const double x = 2 * r / a, unit = 2 / (35 * a * a * a);
    if (x < 1)
        return unit * (224 + x * x * (-224 + x * (70 + x * (48 - 21 * x))));
    if (x < 2)
        return unit / x * (12 / (x * x) - 224 + x * (896 + x * (-840 + x * (224 + x * (70 + x * (-48 + 7 * x))))));
    return 1 / (r * r * r);
}

static double force(double u, void *user)
{
    const gv_g5_table *t = user;
    if (t->mesh > 0)
        return s2(t->soft, u) - s2(t->mesh, u);
    if (u >= t->force_end)
        return 0;
    return t->force_factor * (t->force ? t->force(u) : t->force_fortran(&u));
}

static double potential(double u, void *user)
{
    const gv_g5_table *t = user;
    if (u >= t->potential_end)
        return 0;
    return t->potential_factor * (t->potential ? t->potential(u) : t->potential_fortran(&u));
}

static int has_potential(const gv_g5_table *t)
{
    return t->potential || t->potential_fortran;
}

void gv_g5_get_table(gv_g5_table *table)
{
    pthread_mutex_lock(&now.lock);
    *table = now.table;
    pthread_mutex_unlock(&now.lock);
}

static int set_table(const char *function, const gv_g5_table *table)
{
    const double end = table->mesh > 0 ? table->mesh : table->force_end;
    if (!(end > 0) || isinf(end) ||
        (has_potential(table) && (!(table->potential_end > 0) || isinf(table->potential_end))))
        return gv_compat_fail(function, "a table must end at a positive number");
    if (table->mesh > 0 && !(table->soft > 0 && table->soft <= table->mesh))
        return gv_compat_fail(function, "softening lengths %g of pairs and %g of the mesh", table->soft, table->mesh);
    pthread_mutex_lock(&now.lock);
    const double length = now.table.length;
    now.table = *table;
    now.table.length = table->length > 0 ? table->length : length;
    now.table.version = ++now.versions;
    pthread_mutex_unlock(&now.lock);
    return 0;
}

int gv_g5_set_length(const char *function, double eta)
{
    if (!(eta > 0) || isinf(eta))
        return gv_compat_fail(function, "eta is %g", eta);
    pthread_mutex_lock(&now.lock);
    now.table.length = eta;
    if (now.table.version)
        now.table.version = ++now.versions;
    pthread_mutex_unlock(&now.lock);
    return 0;
}

int gv_g5_no_table(void)
{
    pthread_mutex_lock(&now.lock);
    now.table = (gv_g5_table){.version = 0, .length = now.table.length};
    pthread_mutex_unlock(&now.lock);
    return 0;
}

int gv_g5_cut_off(const char *function, const gv_g5_table *functions)
{
    gv_g5_table table = *functions;
    if (!table.force && !table.force_fortran)
        return gv_g5_no_table();
    table.kind = GRAVEL_TABLE_FACTORS;
    return set_table(function, &table);
}

int gv_g5_forces(const char *function, const gv_g5_table *functions)
{
    gv_g5_table table = *functions;
    table.kind = GRAVEL_TABLE_FORCES;
    table.force_factor = 1;
    if (!table.force && !table.force_fortran && !(table.mesh > 0))
        return gv_compat_fail(function, "no function");
    return set_table(function, &table);
}

int gv_g5_need_table(const char *function, const gv_g5_table *table, gv_g5_memory *memory)
{
    gravel_table made = GRAVEL_TABLE_INIT;
    gv_g5_table copy = *table;
    if (memory->table == table->version)
        return 0;
    made.kind = table->kind;
    made.force = force;
    made.potential = has_potential(table) ? potential : NULL;
    made.user = &copy;
    made.cut = table->mesh > 0 ? table->mesh : table->force_end;
    if (has_potential(table) && table->potential_end > made.cut)
        made.cut = table->potential_end;
    if (table->kind == GRAVEL_TABLE_FACTORS) {
        made.even = 1;
        made.length = table->length;
        if (!(made.length > 0))
            return gv_compat_fail(function, "a cut-off table without g5_set_eta");
    }
    pthread_mutex_lock(&now.calling);
    const gravel_status status = gravel_several_set_table(memory->several, &made);
    pthread_mutex_unlock(&now.calling);
    if (gv_compat_failed(function, status) != 0)
        return -1;
    memory->table = table->version;
    return 0;
}

double gv_g5_table_potential(const gv_g5_table *table, double s)
{
    gv_g5_table copy = *table;
    if (!has_potential(table))
        return 0;
    pthread_mutex_lock(&now.calling);
    const double p = table->kind == GRAVEL_TABLE_FORCES ? potential(0, &copy)
                     : s > 0                            ? potential(s / table->length, &copy) / s
                                                        : 0;
    pthread_mutex_unlock(&now.calling);
    return p;
}

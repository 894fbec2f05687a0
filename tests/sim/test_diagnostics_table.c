/* The table of diagnostics and of blocks: bits that come back, resuming, damaged files, HDF5. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/base/files.h"
#include "sim/blocks_table.h"
#include "sim/diagnose.h"
#include "sim/diagnostics_table.h"
#include "sim/ic.h"
#include "sim/snapshot.h"

static char folder[200], path[256], other[256];

static int make_folder(void **state)
{
    const char *base = getenv("TMPDIR");
    (void)state;
    snprintf(folder, sizeof folder, "%.150s/gravel-XXXXXX", base && strlen(base) < 150 ? base : "/tmp");
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/diagnostics.txt", folder);
    snprintf(other, sizeof other, "%s/diagnostics.hdf5", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    unlink(other);
    return rmdir(folder);
}

/* Numbers whose bits are easily lost. */
static gv_diagnostics made_up(double time)
{
    gv_diagnostics d;
    double *value = (double *)&d;
    for (int k = 0; k < GV_DIAGNOSTIC_COLUMNS; k++)
        value[k] = (k % 3 == 2 ? -1.0 : 1.0) * (k + time) / 3.0 * pow(10.0, 7 * (k % 5) - 14);
    d.time = time;
    d.core_density = NAN;
    d.nearest_distance = 5e-324;
    return d;
}

static void write_lines(gv_diagnostics_file *file, double first, int count, gv_diagnostics *all)
{
    for (int k = 0; k < count; k++) {
        all[k] = made_up(first + k);
        assert_int_equal(gv_diagnostics_append(file, &all[k]), GRAVEL_OK);
    }
}

static void assert_same(const gv_diagnostics *a, const gv_diagnostics *b)
{
    const double *x = (const double *)a, *y = (const double *)b;
    for (int k = 0; k < GV_DIAGNOSTIC_COLUMNS; k++)
        if (isnan(x[k]) ? !isnan(y[k]) : memcmp(&x[k], &y[k], sizeof x[k]) != 0)
            fail_msg("%s: %.17g is not %.17g", gv_diagnostic_column_at[k].name, x[k], y[k]);
}

static void text_is(const char *file, const char *text, size_t size)
{
    assert_int_equal(gv_file_write(file, text, size), GRAVEL_OK);
}

static void bits_come_back(void **state)
{
    (void)state;
    enum { N = 5 };
    gv_diagnostics all[N];
    gv_diagnostics_file file;
    gv_diagnostics_table table;
    const gv_units units = GV_UNITS_PC;
    assert_int_equal(gv_diagnostics_create(&file, path, &units, 1234), GRAVEL_OK);
    assert_true(file.rows == 0 && isnan(file.last));
    write_lines(&file, 0.1, N, all);
    assert_true(file.rows == N && file.last == all[N - 1].time && file.first == all[0].energy);
    assert_true(all[0].energy_error == 0.0);
    assert_true(all[2].energy_error == (all[2].energy - all[0].energy) / fabs(all[0].energy));
    assert_int_equal(gv_diagnostics_sync(&file), GRAVEL_OK);
    gv_diagnostics_close(&file);
    gv_diagnostics_close(&file);
    assert_int_equal(gv_diagnostics_read(&table, path), GRAVEL_OK);
    assert_true(table.rows == N && table.bodies == 1234 && !table.torn);
    assert_memory_equal(&table.units, &units, sizeof units);
    for (int k = 0; k < N; k++)
        assert_same(&table.row[k], &all[k]);
    gv_diagnostics_free(&table);
}

/* Stopped after line 3 of 5, in the middle of line 6; the run goes on from line 2 and ends with the same bytes. */
static void resumed_is_uninterrupted(void **state)
{
    (void)state;
    gv_diagnostics all[6];
    gv_diagnostics_file file;
    gv_diagnostics_table table;
    const gv_units units = GV_UNITS_NBODY;
    char *whole, *again;
    size_t size, size_again;
    assert_int_equal(gv_diagnostics_create(&file, path, &units, 7), GRAVEL_OK);
    write_lines(&file, 0.0, 5, all);
    gv_diagnostics_close(&file);
    assert_int_equal(gv_file_read(path, 1 << 20, &whole, &size), GRAVEL_OK);
    text_is(path, whole, size - 100);
    assert_int_equal(gv_diagnostics_read(&table, path), GRAVEL_OK);
    assert_true(table.torn && table.rows == 4);
    gv_diagnostics_free(&table);
    assert_int_equal(gv_diagnostics_resume(&file, path, 2.5), GRAVEL_OK);
    assert_true(file.rows == 3 && file.last == 2.0 && file.first == all[0].energy);
    write_lines(&file, 3.0, 2, all + 3);
    gv_diagnostics_close(&file);
    assert_int_equal(gv_file_read(path, 1 << 20, &again, &size_again), GRAVEL_OK);
    assert_int_equal(size_again, size);
    assert_memory_equal(again, whole, size);
    free(again);
    /* from before the first line: the header stays */
    assert_int_equal(gv_diagnostics_resume(&file, path, -1.0), GRAVEL_OK);
    assert_true(file.rows == 0 && isnan(file.first));
    write_lines(&file, 0.0, 5, all);
    gv_diagnostics_close(&file);
    assert_int_equal(gv_file_read(path, 1 << 20, &again, &size_again), GRAVEL_OK);
    assert_int_equal(size_again, size);
    assert_memory_equal(again, whole, size);
    free(again);
    free(whole);
}

/* A table of fewer columns, of others, and in another order, as another version may write it. */
static void columns_go_by_name(void **state)
{
    (void)state;
    static const char text[] = "# gravel diagnostics 1\n# new: anything\n# weather  energy time\n"
                               " 17 -0.25 0\n# a remark would be no number\n";
    static const char good[] = "# gravel diagnostics 1\n# weather  energy time\n 17 -0.25 0\n1\t-0.5 1 \r\n0 0 2";
    gv_diagnostics_table table;
    gv_diagnostics_file file;
    text_is(path, text, strlen(text));
    assert_int_equal(gv_diagnostics_read(&table, path), GRAVEL_ERR_FORMAT);
    assert_non_null(strstr(gravel_error_message(), "line 5"));
    assert_true(table.rows == 0 && !table.row);
    assert_true(gv_diagnostics_is_table(path));
    text_is(path, good, strlen(good));
    assert_int_equal(gv_diagnostics_read(&table, path), GRAVEL_OK);
    assert_true(table.rows == 2 && table.torn && table.row[1].time == 1.0 && table.row[1].energy == -0.5);
    assert_true(isnan(table.row[0].kinetic) && gv_units_are_nbody(&table.units));
    gv_diagnostics_free(&table);
    assert_int_equal(gv_diagnostics_resume(&file, path, 1.0), GRAVEL_ERR_FORMAT);
    assert_non_null(strstr(gravel_error_message(), "another version"));
    assert_int_equal(file.fd, -1);
}

static void refuses_what_is_none(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "not a table"},
        {"# gravel diagnostics 1", "not a table"},
        {"hello\n", "not a table"},
        {"# gravel diagnostics 1\n", "time among them"},
        {"# gravel diagnostics 1\n# steps\n1\n", "time among them"},
        {"# gravel diagnostics 1\n# time steps\n1 2 3\n", "more numbers"},
        {"# gravel diagnostics 1\n# time steps\n1\n", "fewer numbers"},
        {"# gravel diagnostics 1\n# time steps\n1 two\n", "line 3: not a number"},
        {"# gravel diagnostics 1\n# time steps\n1 2,5\n", "not a number"},
    };
    gv_diagnostics_table table;
    gv_diagnostics_file file;
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        text_is(path, bad[k].text, strlen(bad[k].text));
        assert_int_equal(gv_diagnostics_is_table(path), k > 2);
        assert_int_equal(gv_diagnostics_read(&table, path), GRAVEL_ERR_FORMAT);
        assert_non_null(strstr(gravel_error_message(), bad[k].says));
        assert_int_not_equal(gv_diagnostics_resume(&file, path, 1.0), GRAVEL_OK);
    }
    unlink(path);
    assert_int_equal(gv_diagnostics_read(&table, path), GRAVEL_ERR_FILE);
    assert_int_equal(gv_diagnostics_resume(&file, path, 1.0), GRAVEL_ERR_FILE);
    const gv_units units = GV_UNITS_NBODY;
    assert_int_equal(gv_diagnostics_create(&file, "/nowhere/diagnostics.txt", &units, 1), GRAVEL_ERR_FILE);
    gv_diagnostics_close(&file);
}

static gravel_status fill(const gv_particles *particles, const double *potential, gv_diagnostics *record)
{
    gv_diagnostics_fill_sums(particles, potential, record);
    return gv_diagnostics_fill_shape(particles, record);
}

/* The record holds what the parts give; without velocities or potentials what needs them is NaN. */
static void filled_from_particles(void **state)
{
    (void)state;
    enum { N = 500 };
    gv_particles p;
    gv_diagnostics d;
    gv_surroundings around;
    gv_core core;
    double potential[N], half;
    const double share = 0.5;
    assert_int_equal(gv_ic_plummer(N, 3, NULL, &p), GRAVEL_OK);
    for (size_t i = 0; i < N; i++)
        potential[i] = -1.0; /* mass 1: a potential energy of -1/2, as standard units have */
    p.time = 2.5;
    assert_int_equal(fill(&p, potential, &d), GRAVEL_OK);
    assert_int_equal(gv_surroundings_find(&p, &around), GRAVEL_OK);
    gv_diagnose_core(&p, &around, &core);
    assert_int_equal(gv_diagnose_lagrange(&p, core.centre, &share, 1, &half), GRAVEL_OK);
    assert_true(d.time == 2.5 && isnan(d.steps) && isnan(d.active_share) && isnan(d.energy_error));
    assert_true(d.core_radius == core.radius && d.core_density == core.density && d.lagrange[6] == half);
    assert_memory_equal(d.density_centre, core.centre, sizeof core.centre);
    assert_true(fabs(d.energy + 0.25) < 1e-12 && fabs(d.virial_ratio - 0.5) < 1e-12 && fabs(d.mass - 1.0) < 1e-12);
    assert_true(d.nearest_distance > 0.0 && d.nearest_a != d.nearest_b);
    assert_true(d.binary[0].semi_major_axis <= d.binary[1].semi_major_axis && d.binary[0].eccentricity < 1.0);
    assert_int_equal(fill(&p, NULL, &d), GRAVEL_OK);
    assert_true(isnan(d.potential) && isnan(d.energy) && d.core_radius == core.radius);
    free(p.vx);
    free(p.vy);
    free(p.vz);
    p.vx = p.vy = p.vz = NULL;
    assert_int_equal(fill(&p, potential, &d), GRAVEL_OK);
    assert_true(fabs(d.potential + 0.5) < 1e-12 && isnan(d.kinetic) && isnan(d.energy) && isnan(d.velocity[1]) &&
                isnan(d.binary[0].period));
    gv_surroundings_free(&around);
    gv_particles_free(&p);
}

static void units_have_names(void **state)
{
    (void)state;
    char text[GV_UNITS_TEXT];
    const gv_units kpc = GV_UNITS_KPC, nbody = GV_UNITS_NBODY, cgs = {1.0, 1.0, 1.0};
    assert_string_equal(gv_unit_text(&kpc, 1, 0, -1, text), "kpc (km/s)^-1");
    assert_string_equal(gv_unit_text(&kpc, 1, 1, 1, text), "Msun kpc km/s");
    assert_string_equal(gv_unit_text(&kpc, 0, 1, 2, text), "Msun (km/s)^2");
    assert_string_equal(gv_unit_text(&nbody, -3, 1, 0, text), "N-body");
    assert_string_equal(gv_unit_text(&nbody, 0, 0, 0, text), "1");
    assert_string_equal(gv_unit_text(&cgs, -3, 1, 0, text), "1 g (1 cm)^-3");
}

static void in_hdf5(void **state)
{
    (void)state;
    gv_diagnostics all[3];
    gv_diagnostics_file file;
    gv_diagnostics_table table;
    struct stat info;
    const gv_units units = GV_UNITS_KPC;
    assert_int_equal(gv_diagnostics_create(&file, path, &units, 7), GRAVEL_OK);
    write_lines(&file, 0.0, 3, all);
    gv_diagnostics_close(&file);
    assert_int_equal(gv_diagnostics_read(&table, path), GRAVEL_OK);
    const gravel_status expected = gv_snapshot_has_hdf5() ? GRAVEL_OK : GRAVEL_ERR_UNSUPPORTED;
    assert_int_equal(gv_diagnostics_write_hdf5(&table, other), expected); /* gate_snapshots reads it with h5py */
    assert_int_equal(stat(other, &info), expected ? -1 : 0);
    assert_int_equal(gv_diagnostics_write_hdf5(&table, "/nowhere/a.hdf5"),
                     expected ? GRAVEL_ERR_UNSUPPORTED : GRAVEL_ERR_FILE);
    table.rows = 0;
    assert_int_equal(gv_diagnostics_write_hdf5(&table, other), expected);
    gv_diagnostics_free(&table);
}

static void blocks(void **state)
{
    (void)state;
    gv_blocks b = {0}, back;
    const gv_units units = GV_UNITS_NBODY;
    gv_blocks_add(&b, 1);
    gv_blocks_add(&b, 4);
    gv_blocks_add(&b, 7);
    gv_blocks_add(&b, 8);
    gv_blocks_add_steps(&b, ldexp(1.0, -5), 3);
    gv_blocks_add_steps(&b, ldexp(1.5, -5), 2);
    gv_blocks_add_steps(&b, ldexp(1.0, -80), 1);
    assert_true(b.at[0 - GV_BLOCKS_LOWEST].blocks == 1.0 && b.at[2 - GV_BLOCKS_LOWEST].blocks == 2.0);
    assert_true(b.at[2 - GV_BLOCKS_LOWEST].moved == 11.0 && b.at[3 - GV_BLOCKS_LOWEST].moved == 8.0);
    assert_true(b.at[-5 - GV_BLOCKS_LOWEST].steps == 5.0 && b.at[0].steps == 1.0);
    assert_int_equal(gv_blocks_write(&b, path, &units), GRAVEL_OK);
    assert_int_equal(gv_blocks_read(&back, path), GRAVEL_OK);
    assert_memory_equal(&back, &b, sizeof b);
    static const char *const bad[] = {"",
                                      "# gravel blocks 1\n1 2 3",
                                      "# gravel blocks 1\n1 2 3\n",
                                      "1 2 3 4\n",
                                      "# gravel blocks 1\n1 2 3 -4\n",
                                      "# gravel blocks 1\n99 2 3 4\n",
                                      "# gravel blocks 1\n1.5 2 3 4\n",
                                      "# gravel blocks 1\n1 2 3 4 5\n",
                                      "# gravel blocks 1\n1 2 3 nan\n"};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        text_is(path, bad[k], strlen(bad[k]));
        assert_int_equal(gv_blocks_read(&back, path), GRAVEL_ERR_FORMAT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_come_back),
        cmocka_unit_test(resumed_is_uninterrupted),
        cmocka_unit_test(columns_go_by_name),
        cmocka_unit_test(refuses_what_is_none),
        cmocka_unit_test(filled_from_particles),
        cmocka_unit_test(units_have_names),
        cmocka_unit_test(in_hdf5),
        cmocka_unit_test(blocks),
    };
    return cmocka_run_group_tests_name("diagnostics_table", tests, make_folder, remove_folder);
}

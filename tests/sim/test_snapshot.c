/* Snapshots: round trips through HDF5 and text, units, and files that are not what they should be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/ic.h"
#include "sim/ic_random.h"
#include "sim/snapshot.h"

static char folder[200];

static const char *in_folder(const char *name)
{
    static char path[4][256];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void assert_message(const char *part)
{
    if (!strstr(gravel_error_message(), part))
        fail_msg("'%s' is not in: %s", part, gravel_error_message());
}

static void need_hdf5(void)
{
    if (gv_snapshot_has_hdf5())
        return;
    print_message("built without HDF5\n");
    skip();
}

static void same_column(const double *a, const double *b, size_t n)
{
    assert_int_equal(!a, !b);
    if (a)
        assert_memory_equal(a, b, n * sizeof *a);
}

static void same_particles(const gv_particles *a, const gv_particles *b)
{
    const double *const x[] = {a->m, a->x, a->y, a->z, a->vx, a->vy, a->vz, a->ax, a->ay, a->az};
    const double *const y[] = {b->m, b->x, b->y, b->z, b->vx, b->vy, b->vz, b->ax, b->ay, b->az};
    assert_true(a->count == b->count);
    assert_memory_equal(a->id, b->id, a->count * sizeof *a->id);
    for (size_t c = 0; c < sizeof x / sizeof x[0]; c++)
        same_column(x[c], y[c], a->count);
    assert_true(a->time == b->time);
    assert_memory_equal(&a->units, &b->units, sizeof a->units);
}

static gv_particles make(size_t n, int derivatives)
{
    gv_particles p;
    gv_random random;
    gv_random_seed(&random, n);
    assert_int_equal(gv_particles_create(&p, n, derivatives), GRAVEL_OK);
    double *const column[] = {p.m, p.x, p.y, p.z, p.vx, p.vy, p.vz, p.ax, p.ay, p.az};
    for (size_t i = 0; i < n; i++) {
        for (int c = 0; c < 4 + 3 * derivatives; c++)
            column[c][i] = (c ? 2.0 * gv_random_unit(&random) - 1.0 : gv_random_unit(&random)) * pow(10.0, c);
        p.id[i] = (int32_t)(n - i) - 3; /* some below zero */
    }
    return p;
}

/* N-body and GADGET's units keep every bit; more bodies than pass the host at once. */
static void round_trips(void **state)
{
    (void)state;
    need_hdf5();
    const size_t sizes[] = {1, 2, 1000, (1 << 17) + 5};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        for (int derivatives = 0; derivatives <= 2; derivatives++) {
            gv_particles p = make(sizes[k], derivatives), back;
            const char *path = in_folder("a.hdf5");
            p.time = 0.1;
            if (derivatives == 1)
                p.units = (gv_units)GV_UNITS_GADGET;
            assert_int_equal(gv_snapshot_write(&p, path), GRAVEL_OK);
            assert_int_equal(gv_snapshot_read(&back, path, NULL), GRAVEL_OK);
            same_particles(&p, &back);
            gv_particles_free(&back);
            gv_particles_free(&p);
        }
}

static void content_decides_on_reading(void **state)
{
    (void)state;
    need_hdf5();
    gv_particles p = make(10, 1), back;
    const char *h5 = in_folder("b.h5"), *odd = in_folder("b.dat"), *text = in_folder("b.txt");
    assert_int_equal(gv_snapshot_write(&p, h5), GRAVEL_OK);
    assert_int_equal(rename(h5, odd), 0);
    assert_int_equal(gv_snapshot_read(&back, odd, NULL), GRAVEL_OK);
    same_particles(&p, &back);
    assert_int_equal(gv_snapshot_write(&back, text), GRAVEL_OK);
    gv_particles_free(&back);
    assert_int_equal(gv_snapshot_read(&back, text, NULL), GRAVEL_OK);
    same_particles(&p, &back);
    gv_particles_free(&back);
    assert_int_equal(rename(text, h5), 0);
    assert_int_equal(gv_snapshot_read(&back, h5, NULL), GRAVEL_ERR_FORMAT);
    assert_message("not an HDF5 file");
    gv_particles_free(&p);
}

/* To the file's units and back: two roundings of each number. */
static void units_on_the_way(void **state)
{
    (void)state;
    need_hdf5();
    gv_particles p = make(50, 2), back;
    const gv_units pc = GV_UNITS_PC;
    const char *path = in_folder("c.hdf5");
    p.units = pc;
    p.time = 3.0;
    assert_int_equal(gv_snapshot_write(&p, path), GRAVEL_OK);
    assert_int_equal(gv_snapshot_read(&back, path, NULL), GRAVEL_OK);
    char text[GV_UNITS_TEXT];
    assert_string_equal(gv_units_text(&back.units, text), "kpc, 1e10 Msun, km/s");
    assert_true(fabs(back.x[3] / (p.x[3] * 1e-3) - 1.0) < 4e-16);
    assert_true(fabs(back.m[3] / (p.m[3] * 1e-10) - 1.0) < 4e-16);
    assert_true(back.vx[3] == p.vx[3]);
    gv_particles_convert(&back, &pc);
    const double *const a[] = {p.m, p.x, p.z, p.vy, p.ax, &p.time}, *const b[] = {back.m,  back.x,  back.z,
                                                                                  back.vy, back.ax, &back.time};
    for (int c = 0; c < 6; c++)
        assert_true(fabs(b[c][0] / a[c][0] - 1.0) < 1e-15);
    gv_particles_free(&back);
    gv_particles_free(&p);
}

/* G in kpc (km/s)^2 / Msun is 4.30092e-6 (CODATA 2018 and the nominal solar mass give 4.300917e-6). */
static void gravity(void **state)
{
    (void)state;
    const gv_units kpc = GV_UNITS_KPC, gadget = GV_UNITS_GADGET, nbody = GV_UNITS_NBODY;
    assert_true(fabs(gv_units_gravity(&kpc) / 4.300917e-6 - 1.0) < 1e-6);
    assert_true(fabs(gv_units_gravity(&gadget) / 43009.17 - 1.0) < 1e-6);
    assert_true(gv_units_gravity(&nbody) == 1.0);
    gv_particles p;
    assert_int_equal(gv_ic_twobody(NULL, &p), GRAVEL_OK);
    gv_particles_give_size(&p, 1e6 * GV_G_PER_MSUN, 2.0 * GV_CM_PER_PC);
    assert_true(fabs(gv_units_gravity(&p.units) - 1.0) < 1e-15);
    gv_particles_convert(&p, &kpc);
    /* the orbit is still the same: v^2 r / G M at the apocentre is 1 - e */
    const double r = hypot(p.x[1] - p.x[0], p.y[1] - p.y[0]), v = hypot(p.vx[1] - p.vx[0], p.vy[1] - p.vy[0]);
    assert_true(fabs(r / 3e-3 - 1.0) < 1e-14);
    assert_true(fabs(v * v * r / (gv_units_gravity(&kpc) * 1e6) - 0.5) < 1e-14);
    gv_particles_free(&p);
}

static void checks(void **state)
{
    (void)state;
    gv_particles p = make(10, 1);
    assert_int_equal(gv_particles_check(&p, "f"), GRAVEL_ERR_INPUT);
    assert_message("particle 8: the id -1 stands for no body");
    p.id[8] = 8;
    assert_int_equal(gv_particles_check(&p, "f"), GRAVEL_OK);
    p.vy[4] = NAN;
    assert_int_equal(gv_particles_check(&p, "f"), GRAVEL_ERR_INPUT);
    assert_message("f: particle 4: vy is not finite");
    p.vy[4] = 0.0;
    p.m[9] = -1e-300;
    assert_int_equal(gv_particles_check(&p, "f"), GRAVEL_ERR_INPUT);
    assert_message("particle 9: the mass");
    p.m[9] = 0.0;
    p.id[7] = p.id[2];
    assert_int_equal(gv_particles_check(&p, "f"), GRAVEL_ERR_INPUT);
    assert_message("occurs more than once");
    gv_particles_free(&p);
}

static void *load(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    *size = (size_t)ftell(f);
    rewind(f);
    void *all = malloc(*size);
    assert_non_null(all);
    assert_int_equal(fread(all, 1, *size, f), *size);
    fclose(f);
    return all;
}

static void store(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

/* A file cut anywhere is refused, by a message, and nothing is left behind. */
static void truncated(void **state)
{
    (void)state;
    need_hdf5();
    gv_particles p = make(100, 1), back;
    const char *path = in_folder("t.hdf5");
    size_t size;
    assert_int_equal(gv_snapshot_write(&p, path), GRAVEL_OK);
    char *all = load(path, &size);
    for (size_t cut = 0; cut < size; cut += cut < 4096 ? 97 : 997) {
        store(path, all, cut);
        const gravel_status status = gv_snapshot_read(&back, path, NULL);
        assert_true(status == GRAVEL_ERR_FORMAT || status == GRAVEL_ERR_FILE);
        assert_true(back.count == 0 && !back.x);
        assert_message("t.hdf5");
    }
    free(all);
    gv_particles_free(&p);
}

/* Wrong bytes anywhere: refused, or read as the numbers that they then are; never a crash. */
static void damaged(void **state)
{
    (void)state;
    need_hdf5();
    gv_particles p = make(20, 1), back;
    gv_random random;
    const char *path = in_folder("t.hdf5");
    size_t size, refused = 0;
    gv_random_seed(&random, 5);
    assert_int_equal(gv_snapshot_write(&p, path), GRAVEL_OK);
    char *all = load(path, &size);
    for (int trial = 0; trial < 400; trial++) {
        const size_t at = (size_t)(gv_random_bits(&random) % size);
        const char old = all[at];
        all[at] = (char)(trial % 3 ? gv_random_bits(&random) : 255);
        store(path, all, size);
        all[at] = old;
        refused += gv_snapshot_read(&back, path, NULL) != GRAVEL_OK;
        assert_true(!back.count || back.x);
        gv_particles_free(&back);
    }
    assert_true(refused > 100); /* headers, which have checksums, are more than half of this file */
    free(all);
    gv_particles_free(&p);
}

static void not_readable(void **state)
{
    (void)state;
    gv_particles p;
    assert_int_equal(gv_snapshot_read(&p, in_folder("missing.hdf5"), NULL), GRAVEL_ERR_FILE);
    assert_message("No such file");
    assert_int_equal(gv_snapshot_read(&p, in_folder("missing.txt"), NULL), GRAVEL_ERR_FILE);
    assert_int_equal(gv_snapshot_read(&p, folder, NULL), GRAVEL_ERR_FILE);
    store(in_folder("empty.h5"), "", 0);
    assert_int_equal(gv_snapshot_read(&p, in_folder("empty.h5"), NULL), GRAVEL_ERR_FORMAT);
}

/* A write that fails returns a message and leaves the old file. */
static void not_writable(void **state)
{
    (void)state;
    need_hdf5();
    gv_particles p = make(10, 1), none = GV_PARTICLES_INIT, back;
    char path[256], below[300];
    snprintf(path, sizeof path, "%s/old.hdf5", folder);
    assert_int_equal(gv_snapshot_write(&p, in_folder("no/such/f.hdf5")), GRAVEL_ERR_FILE);
    assert_message("No such file");
    assert_int_equal(gv_snapshot_write(&p, path), GRAVEL_OK);
    assert_int_equal(gv_snapshot_write(&none, path), GRAVEL_ERR_INPUT);
    assert_int_equal(mkdir(in_folder("d.hdf5"), 0700), 0);
    assert_int_equal(gv_snapshot_write(&p, in_folder("d.hdf5")), GRAVEL_ERR_FILE);
    assert_int_equal(rmdir(in_folder("d.hdf5")), 0);
    snprintf(below, sizeof below, "%s/x.hdf5", path); /* a file as folder */
    assert_int_equal(gv_snapshot_write(&p, below), GRAVEL_ERR_FILE);
    assert_int_equal(gv_snapshot_read(&back, path, NULL), GRAVEL_OK);
    same_particles(&p, &back);
    gv_particles_free(&back);
    gv_particles_free(&p);
}

/* A limit of the process stands for the full disk.  What was there stays, and when there is room writing works. */
static void no_room(void **state)
{
    (void)state;
    need_hdf5();
    gv_particles p = make(5000, 1), small = make(10, 1), back;
    struct rlimit before, limit;
    char path[256];
    snprintf(path, sizeof path, "%s/old.hdf5", folder);
    assert_int_equal(gv_snapshot_write(&small, path), GRAVEL_OK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    const rlim_t sizes[] = {0, 1000, 50000, 300000};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        limit = before;
        limit.rlim_cur = sizes[k];
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        const gravel_status status = gv_snapshot_write(&p, path);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(status, GRAVEL_ERR_FILE);
        assert_message("File too large");
    }
    assert_int_equal(gv_snapshot_read(&back, path, NULL), GRAVEL_OK);
    same_particles(&small, &back);
    gv_particles_free(&back);
    assert_int_equal(gv_snapshot_write(&p, path), GRAVEL_OK);
    assert_int_equal(gv_snapshot_read(&back, path, NULL), GRAVEL_OK);
    same_particles(&p, &back);
    gv_particles_free(&back);
    gv_particles_free(&small);
    gv_particles_free(&p);
    signal(SIGXFSZ, SIG_DFL);
}

static void without_hdf5(void **state)
{
    (void)state;
    gv_particles p = make(3, 1), back;
    assert_int_equal(gv_snapshot_write(&p, in_folder("x.hdf5")), GRAVEL_ERR_UNSUPPORTED);
    assert_message("libhdf5-dev");
    store(in_folder("y.hdf5"), "\211HDF\r\n\032\n", 8);
    assert_int_equal(gv_snapshot_read(&back, in_folder("y.hdf5"), NULL), GRAVEL_ERR_UNSUPPORTED);
    gv_particles_free(&p);
}

static int make_folder(void **state)
{
    const char *base = getenv("TMPDIR");
    (void)state;
    snprintf(folder, sizeof folder, "%.150s/gravel-XXXXXX", base && strlen(base) < 150 ? base : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

/* Several files: every name of them reads all, whatever is wrong with one of them names it. */
static void parts(void **state)
{
    gv_particles p, back;
    const gv_read_options renumbered = {GV_UNITS_NBODY, 0, 1};
    (void)state;
    need_hdf5();
    assert_int_equal(gv_ic_plummer(100, 1, NULL, &p), GRAVEL_OK);
    assert_int_equal(gv_snapshot_write_parts(&p, in_folder("p.hdf5"), 3), GRAVEL_OK);
    assert_int_equal(access(in_folder("p.hdf5"), F_OK), -1);
    static const char *const name[] = {"p.hdf5", "p.0.hdf5", "p.2.hdf5"};
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(gv_snapshot_read(&back, in_folder(name[k]), NULL), GRAVEL_OK);
        same_particles(&p, &back);
        gv_particles_free(&back);
    }
    assert_int_equal(gv_snapshot_read(&back, in_folder("p.1.hdf5"), &renumbered), GRAVEL_OK);
    assert_int_equal(back.id[99], 99);
    gv_particles_free(&back);
    p.id_offset = 0; /* ids 0 to 99 of another program, which no two files may have */
    assert_int_equal(gv_snapshot_write_parts(&p, in_folder("p.hdf5"), 3), GRAVEL_OK);
    for (int k = 0, files; k < 3; k++) {
        const gv_read_options plain = GV_READ_OPTIONS_INIT;
        char *part = gv_snapshot_part_name(in_folder("p.hdf5"), k);
        assert_int_equal(gv_hdf5_read_part(&back, part, &plain, &files), GRAVEL_OK);
        assert_int_equal(back.id[0] + back.id_offset, 1 + (100 * k) / 3);
        gv_particles_free(&back);
        free(part);
    }
    p.time = 1; /* one file of another time */
    assert_int_equal(gv_snapshot_write_parts(&p, in_folder("c.hdf5"), 3), GRAVEL_OK);
    assert_int_equal(rename(in_folder("c.1.hdf5"), in_folder("p.1.hdf5")), 0);
    assert_int_equal(gv_snapshot_read(&back, in_folder("p.0.hdf5"), NULL), GRAVEL_ERR_FORMAT);
    assert_message("p.1.hdf5: of another time");
    assert_int_equal(gv_snapshot_read(&back, in_folder("c.0.hdf5"), NULL), GRAVEL_ERR_FILE);
    assert_message("c.1.hdf5: one of 3 files");
    assert_int_equal(gv_snapshot_write_parts(&p, in_folder("c.hdf5"), 2), GRAVEL_OK);
    assert_int_equal(rename(in_folder("c.1.hdf5"), in_folder("p.0.hdf5")), 0);
    assert_int_equal(gv_snapshot_read(&back, in_folder("p.0.hdf5"), NULL), GRAVEL_ERR_FORMAT);
    assert_message("of 3 files, another says 2");
    assert_int_equal(rename(in_folder("c.0.hdf5"), in_folder("a.hdf5")), 0);
    assert_int_equal(gv_snapshot_read(&back, in_folder("a.hdf5"), NULL), GRAVEL_ERR_FORMAT);
    assert_message("should end like .0.hdf5");
    assert_int_equal(gv_snapshot_write_parts(&p, in_folder("c.hdf5"), 101), GRAVEL_ERR_ARGUMENT);
    assert_int_equal(gv_snapshot_write_parts(&p, in_folder("b.txt"), 2), GRAVEL_ERR_ARGUMENT);
    gv_particles_free(&p);
}

static int remove_folder(void **state)
{
    static const char *const name[] = {"a.hdf5",   "b.h5",     "b.dat",    "b.txt",    "c.hdf5",   "t.hdf5",  "y.hdf5",
                                       "empty.h5", "old.hdf5", "p.0.hdf5", "p.1.hdf5", "p.2.hdf5", "c.2.hdf5"};
    (void)state;
    for (size_t k = 0; k < sizeof name / sizeof name[0]; k++)
        unlink(in_folder(name[k]));
    return rmdir(folder); /* fails if anything else was left there */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),
        cmocka_unit_test(content_decides_on_reading),
        cmocka_unit_test(units_on_the_way),
        cmocka_unit_test(gravity),
        cmocka_unit_test(checks),
        cmocka_unit_test(truncated),
        cmocka_unit_test(damaged),
        cmocka_unit_test(not_readable),
        cmocka_unit_test(not_writable),
        cmocka_unit_test(no_room),
        cmocka_unit_test(parts),
    };
    const struct CMUnitTest without[] = {cmocka_unit_test(without_hdf5)};
    const int failed = cmocka_run_group_tests_name("snapshot", tests, make_folder, remove_folder);
    if (gv_snapshot_has_hdf5())
        return failed;
    return failed + cmocka_run_group_tests_name("without_hdf5", without, make_folder, remove_folder);
}

/* A program as they are written against Sapporo2: its header by its old name, names of std without std, get_time of its
 * own, kernel files that are not there.  Results are compared with plain sums in double; exit status 1 if one is wrong. */
#include "sapporohostclass.h"

double get_time()
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return (double)now.tv_sec + 1e-6 * (double)now.tv_usec;
}

static int failures = 0;

static void expect(bool right, const char *what)
{
    if (!right) {
        cerr << "wrong: " << what << endl;
        failures++;
    }
}

static const int n = 300;
static double mass[n], pos[n][3], vel[n][3], acc_of[n][3], jrk_of[n][3];
static int id[n];
static double h2[n], acc[n][3], jrk[n][3], snp[n][3], crk[n][3], pot[n], ds2[n];
static int nnb[n];

static void make_bodies()
{
    for (int i = 0; i < n; i++) {
        for (int c = 0; c < 3; c++) {
            pos[i][c] = drand48();
            vel[i][c] = drand48() - 0.5;
            acc_of[i][c] = drand48() - 0.5;
            jrk_of[i][c] = drand48() - 0.5;
        }
        mass[i] = (1 + drand48()) / n;
        id[i] = i + 1;
        h2[i] = 0.02;
    }
}

/* acc, jerk, snap and pot of body i by the formulas in the manual of gravel; `self`: it acts on itself, too */
struct sums {
    double acc[3], jrk[3], snp[3], pot, near2;
    int near, neighbours;
};

static sums reference(int i, double eps2, bool self)
{
    sums s = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 0, 1e300, 0, 0};
    for (int j = 0; j < n; j++) {
        if (j == i && !self)
            continue;
        double d[3], v[3], w[3], r2 = 0, rv = 0, vv = 0, rw = 0;
        for (int c = 0; c < 3; c++) {
            d[c] = pos[j][c] - pos[i][c];
            v[c] = vel[j][c] - vel[i][c];
            w[c] = acc_of[j][c] - acc_of[i][c];
            r2 += d[c] * d[c];
            rv += d[c] * v[c];
            vv += v[c] * v[c];
            rw += d[c] * w[c];
        }
        const double s2 = r2 + eps2, m3 = mass[j] / (s2 * sqrt(s2)), alpha = rv / s2,
                     beta = (vv + rw) / s2 + alpha * alpha;
        s.pot -= mass[j] / sqrt(s2);
        for (int c = 0; c < 3; c++) {
            const double a = m3 * d[c], jerk = m3 * v[c] - 3 * alpha * a;
            s.acc[c] += a;
            s.jrk[c] += jerk;
            s.snp[c] += m3 * w[c] - 6 * alpha * jerk - 3 * beta * a;
        }
        if (r2 < s.near2 && j != i) {
            s.near2 = r2;
            s.near = id[j];
        }
        s.neighbours += r2 <= h2[i] && j != i;
    }
    return s;
}

static double error(const double *got, const double *want)
{
    double d = 0, w = 0;
    for (int c = 0; c < 3; c++) {
        d += (got[c] - want[c]) * (got[c] - want[c]);
        w += want[c] * want[c];
    }
    return sqrt(d / w);
}

/* Forces of all on all, as many at a time as there are pipes. */
static void forces(sapporo &grav, double eps2, bool ngb)
{
    const int ipmax = min(n, grav.get_n_pipes());
    for (int i = 0; i < n; i += ipmax) {
        const int npart = min(n - i, ipmax);
        grav.startGravCalc(n, npart, id + i, pos + i, vel + i, acc_of + i, jrk + i, pot + i, eps2, h2 + i, NULL);
        expect(grav.getGravResults(n, npart, id + i, pos + i, vel + i, eps2, h2 + i, acc + i, jrk + i, snp + i, crk + i,
                                   pot + i, ngb ? nnb + i : NULL, ngb ? ds2 + i : NULL, ngb) == 0,
               "getGravResults");
    }
}

static void one_order(const char *file, int order, int precision, double tolerance)
{
    sapporo grav;
    const double eps2 = 1e-3;
    double null3[3] = {0, 0, 0};
    int devices[] = {0, 1, 2, 3};
    expect(grav.open(file, devices, 1, order, precision) == 0, "open");
    for (int i = 0; i < n; i++)
        grav.set_j_particle(i, id[i], 0.5, 0, mass[i], null3, jrk_of[i], acc_of[i], vel[i], pos[i], null3, null3, 0.25);
    grav.set_time(0.5);
    for (int turn = 0; turn < 2; turn++)
        forces(grav, eps2, order != GRAPE5);
    for (int i = 0; i < n; i++) {
        const sums want = reference(i, eps2, order == GRAPE5);
        expect(error(acc[i], want.acc) < tolerance, "acc");
        expect(fabs(pot[i] / want.pot - 1) < tolerance, "pot");
        if (order > GRAPE5) {
            expect(error(jrk[i], want.jrk) < 10 * tolerance, "jerk");
            expect(nnb[i] == want.near && fabs(ds2[i] / want.near2 - 1) < 1e-5, "nearest");
        }
        if (order == SIXTH)
            expect(error(snp[i], want.snp) < 100 * tolerance && crk[i][0] == 0, "snap");
    }
    if (order == FOURTH) {
        int list[n], count;
        expect(grav.read_ngb_list(0) == 0, "read_ngb_list");
        for (int i = 0; i < n; i++) {
            expect(grav.get_ngb_list(0, i, n, count, list) == 0 && count == reference(i, eps2, false).neighbours,
                   "get_ngb_list");
            expect(is_sorted(list, list + count), "lists ascend");
        }
        double m, number, e, x[3], v[3], a[3], j[3], px[3], pv[3], pa[3];
        grav.set_time(0.75);
        grav.forcePrediction(n);
        grav.retrieve_j_particle_state(7, m, number, e, x, v, a, j, px, pv, pa);
        const double dt = 0.25;
        for (int c = 0; c < 3; c++) {
            const double want = pos[7][c] + dt * (vel[7][c] + dt / 2 * (acc_of[7][c] + dt / 3 * jrk_of[7][c]));
            expect(x[c] == pos[7][c] && j[c] == jrk_of[7][c] && fabs(px[c] - want) < 1e-14, "a source read back");
        }
        expect(m == mass[7] && number == 8 && e == 0.25, "mass, id, softening");
    }
    grav.close();
}

/* Where Sapporo2 ends the process. */
static void bad_use()
{
    sapporo grav;
    int devices[] = {99};
    cerr << "seven lines that begin with sapporo: error are in order here" << endl;
    expect(grav.set_j_particle(0, 1, 0, 0, 1, NULL, NULL, NULL, vel[0], pos[0], NULL, NULL, 0) == -1, "not open");
    expect(grav.open("", devices, 1, EIGHT) == -1, "order 8");
    expect(grav.open("", devices) == -1, "no such device");
    expect(grav.open("", NULL, 0) == 0, "all devices");
    expect(grav.getGravResults(n, 1, id, pos, vel, 0, h2, acc, jrk, NULL, NULL, pot, NULL, NULL, false) == -1 &&
               pot[0] != pot[0],
           "results without a start");
    expect(grav.set_j_particle(-1, 1, 0, 0, 1, NULL, NULL, NULL, vel[0], pos[0], NULL, NULL, 0) == -1, "address");
    grav.startGravCalc(n, grav.get_n_pipes() + 1, id, pos, vel, acc, jrk, pot, 0, h2, NULL);
    expect(grav.getGravResults(n, 1, id, pos, vel, 0, h2, acc, jrk, NULL, NULL, pot, NULL, NULL, false) == -1,
           "more than pipes");
    int count, list[1];
    expect(grav.get_ngb_list(0, 0, 1, count, list) == -1 && count == 0, "no list");
}

int main()
{
    const double begin = get_time();
    make_bodies();
    /* errors of ds: 1e-7 of each pair, which add up to less than 1e-5 of the sum unless this nearly vanishes; of float
     * positions 3e-8 / 2e-3, the distance of close pairs */
    one_order("CUDA/kernels.ptx", FOURTH, DOUBLESINGLE, 2e-5);
    one_order("OpenCL/kernels6th.cl", SIXTH, DOUBLE, 1e-9);
    one_order("OpenCL/kernelsG5SP.cl", GRAPE5, FLOAT, 5e-4);
    bad_use();
    cout << failures << " wrong, " << get_time() - begin << " s" << endl;
    return failures != 0;
}

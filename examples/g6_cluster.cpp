/* A star cluster through the interface of GRAPE-6, in C++.
 *
 *     g++ -std=c++17 g6_cluster.cpp $(pkg-config --cflags --libs gravel_g6) -o g6_cluster
 *     ./g6_cluster [stars]
 *
 * Hermite scheme of fourth order with block time-steps, as in g6_cluster.c, and with the nearest neighbour of each star
 * that was due: the last half of the second kind (g6calc_lasthalf2) brings its index.  Prints the closest pair that was
 * met, and the error of the energy after one time unit; exit status 1 if that is above 1e-6.
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include <gravel/g6.h>

namespace
{

struct Vec {
    double c[3];
};

Vec operator+(Vec p, const Vec &q)
{
    for (int k = 0; k < 3; k++)
        p.c[k] += q.c[k];
    return p;
}

Vec operator*(double f, Vec p)
{
    for (double &c : p.c)
        c *= f;
    return p;
}

Vec operator-(const Vec &p, const Vec &q)
{
    return p + -1.0 * q;
}

double dot(const Vec &p, const Vec &q)
{
    return p.c[0] * q.c[0] + p.c[1] * q.c[1] + p.c[2] * q.c[2];
}

double length(const Vec &p)
{
    return std::sqrt(dot(p, p));
}

/* What the interface calls double[][3]. */
auto rows(std::vector<Vec> &of, size_t first = 0)
{
    return &of[first].c;
}

struct Star {
    Vec x, v, a, j;
    double t, step;
};

class Cluster
{
  public:
    explicit Cluster(size_t n) : mass(1.0 / (double)n), stars(n)
    {
        make();
        if (g6_open(id) != 0)
            throw std::runtime_error("the library cannot be opened");
    }
    ~Cluster()
    {
        g6_close(id);
    }
    Cluster(const Cluster &) = delete;
    Cluster &operator=(const Cluster &) = delete;

    void begin()
    {
        for (size_t k = 0; k < stars.size(); k++)
            send(k);
        due.resize(stars.size());
        for (size_t k = 0; k < due.size(); k++)
            due[k] = (int)k;
        forces();
        for (size_t k = 0; k < stars.size(); k++) {
            Star &s = stars[k];
            s.a = acc[k];
            s.j = jerk[k];
            s.step = next_step(0.25 * accuracy * length(s.a) / length(s.j), largest_step);
            send(k);
        }
    }

    double time() const
    {
        return now;
    }

    void round()
    {
        now = std::numeric_limits<double>::infinity();
        for (const Star &s : stars)
            now = std::min(now, s.t + s.step);
        due.clear();
        for (size_t k = 0; k < stars.size(); k++)
            if (stars[k].t + stars[k].step == now)
                due.push_back((int)k);
        forces();
        for (size_t i = 0; i < due.size(); i++) {
            const size_t k = (size_t)due[i];
            correct(stars[k], acc[i], jerk[i]);
            send(k);
            const Vec d = stars[(size_t)nearest[i]].x - stars[k].x;
            closest = std::min(closest, length(d)); /* the neighbour at its own time: near enough for a figure */
        }
    }

    double energy() const
    {
        double sum = 0;
        for (size_t k = 0; k < stars.size(); k++) {
            sum += 0.5 * mass * dot(stars[k].v, stars[k].v);
            for (size_t i = 0; i < k; i++) {
                const Vec d = stars[k].x - stars[i].x;
                sum -= mass * mass / std::sqrt(dot(d, d) + eps2);
            }
        }
        return sum;
    }

    double closest = std::numeric_limits<double>::infinity();

  private:
    static constexpr int id = 0;
    static constexpr double eps2 = 1.0 / 4096, largest_step = 1.0 / 16, smallest_step = 1.0 / (1 << 20),
                            accuracy = 0.01;
    double mass, now = 0;
    std::vector<Star> stars;
    std::vector<int> due, nearest;
    std::vector<Vec> xi, vi, acc, jerk;
    std::vector<double> pot, h2;

    /* A Plummer sphere in standard units (M = G = 1, E = -1/4): Aarseth, Henon and Wielen 1974. */
    void make()
    {
        std::mt19937_64 random(1);
        std::uniform_real_distribution<double> uniform(0, 1);
        const double pi = 3.14159265358979323846, scale = 3 * pi / 16;
        auto point = [&](double distance) {
            const double z = 2 * uniform(random) - 1, phi = 2 * pi * uniform(random), s = std::sqrt(1 - z * z);
            return distance * Vec{{s * std::cos(phi), s * std::sin(phi), z}};
        };
        for (Star &star : stars) {
            const double r = 1 / std::sqrt(std::pow(0.999 * uniform(random) + 1e-6, -2.0 / 3) - 1);
            double q, g;
            do {
                q = uniform(random);
                g = 0.1 * uniform(random);
            } while (g > q * q * std::pow(1 - q * q, 3.5));
            star = {};
            star.x = point(r * scale);
            star.v = point(q * std::sqrt(2.0) * std::pow(1 + r * r, -0.25) / std::sqrt(scale));
        }
    }

    static void check(int status)
    {
        if (status != 0)
            throw std::runtime_error("the library failed, see above");
    }

    /* Addresses and indices are the numbers of the stars. */
    void send(size_t k)
    {
        Star &s = stars[k];
        Vec j6 = 1.0 / 6 * s.j, a2 = 0.5 * s.a, k18 = {};
        check(g6_set_j_particle(id, (int)k, (int)k, s.t, s.step, mass, k18.c, j6.c, a2.c, s.v.c, s.x.c));
    }

    /* Forces on the stars that are due, predicted to `now`, as many at a time as there are pipes. */
    void forces()
    {
        const size_t n = due.size(), pipes = (size_t)g6_npipes();
        xi.resize(n), vi.resize(n), acc.resize(n), jerk.resize(n), pot.resize(n), h2.resize(n), nearest.resize(n);
        for (size_t i = 0; i < n; i++) {
            const Star &s = stars[(size_t)due[i]];
            const double h = now - s.t;
            xi[i] = s.x + h * (s.v + h / 2 * (s.a + h / 3 * s.j));
            vi[i] = s.v + h * (s.a + h / 2 * s.j);
        }
        check(g6_set_ti(id, now));
        for (size_t i = 0; i < n; i += pipes) {
            const int nj = (int)stars.size(), ni = (int)std::min(pipes, n - i);
            g6calc_firsthalf(id, nj, ni, &due[i], rows(xi, i), rows(vi, i), rows(acc, i), rows(jerk, i), &pot[i], eps2,
                             &h2[i]);
            check(g6calc_lasthalf2(id, nj, ni, &due[i], rows(xi, i), rows(vi, i), eps2, &h2[i], rows(acc, i),
                                   rows(jerk, i), &pot[i], &nearest[i]));
        }
    }

    /* The largest power of two not above the wanted step by which `now` can be divided, at most twice the last. */
    double next_step(double wish, double last) const
    {
        double dt = std::min(2 * last, largest_step);
        while (dt > smallest_step && (dt > wish || std::fmod(now, dt) != 0))
            dt /= 2;
        return dt;
    }

    /* From the star's own time to `now`, with forces and jerks at both ends: Makino and Aarseth 1992. */
    void correct(Star &s, const Vec &a, const Vec &j) const
    {
        const double h = now - s.t;
        const Vec a3 = 1 / (h * h * h) * (12.0 * (s.a - a) + 6 * h * (s.j + j));
        const Vec a2 = -1 / (h * h) * (6.0 * (s.a - a) + h * (4.0 * s.j + 2.0 * j)) + h * a3;
        const Vec old = s.v;
        s.v = old + h / 2 * (s.a + a) + h * h / 12 * (s.j - j);
        s.x = s.x + h / 2 * (old + s.v) + h * h / 12 * (s.a - a);
        s.a = a;
        s.j = j;
        s.t = now;
        const double wish = accuracy * (length(a) * length(a2) + dot(j, j)) / (length(j) * length(a3) + dot(a2, a2));
        s.step = next_step(std::sqrt(wish), s.step);
    }
};

} // namespace

int main(int argc, char **argv)
try {
    const int n = argc > 1 ? std::atoi(argv[1]) : 1024;
    if (n < 2)
        throw std::runtime_error("at least two stars");
    Cluster cluster((size_t)n);
    cluster.begin();
    const double before = cluster.energy();
    long rounds = 0;
    for (; cluster.time() < 1; rounds++)
        cluster.round();
    const double error = std::fabs(cluster.energy() / before - 1);
    std::printf("%d stars to t = %g in %ld rounds; the closest pair was at %.1e; energy is off by %.1e\n", n,
                cluster.time(), rounds, cluster.closest, error);
    return error < 1e-6 ? 0 : 1;
} catch (const std::exception &failure) {
    std::fprintf(stderr, "g6_cluster: %s\n", failure.what());
    return 2;
}

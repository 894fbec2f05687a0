/* A star cluster through AMUSE's Octgrav class, in C++.
 *
 *     g++ -std=c++11 octgrav_cluster.cpp $(pkg-config --cflags --libs gravel) -o octgrav_cluster
 *     ./octgrav_cluster [stars]
 *
 * Leapfrog with forces from the tree, an octgrav made anew for every step as AMUSE's worker does it.  Prints the error of
 * the first forces beside direct sums, and the change of the energy over a tenth of a time unit; exit status 1 if either
 * is above 1 in 100, 1 in 1000.
 */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include <gravel/octgrav.hpp>

static double energy(const std::vector<float4> &pos, const std::vector<float4> &vel, const std::vector<float4> &grav)
{
    double e = 0;
    for (std::size_t k = 0; k < pos.size(); k++) {
        const double v2 = double(vel[k].x) * vel[k].x + double(vel[k].y) * vel[k].y + double(vel[k].z) * vel[k].z;
        e += 0.5 * pos[k].w * (v2 + grav[k].w);
    }
    return e;
}

static void add(std::vector<float4> &to, const std::vector<float4> &from, float factor)
{
    for (std::size_t k = 0; k < to.size(); k++) {
        to[k].x += factor * from[k].x;
        to[k].y += factor * from[k].y;
        to[k].z += factor * from[k].z;
    }
}

static double forces(std::vector<float4> &pos, std::vector<float4> &grav)
{
    octgrav system;
    system.set_softening(0.02f);
    system.set_opening_angle(0.6f);
    return system.evaluate_gravity(pos, grav);
}

/* The root mean square over every 64th body, relative. */
static double error_of(const std::vector<float4> &pos, const std::vector<float4> &grav)
{
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < pos.size(); i += 64, count++) {
        double f[3] = {0, 0, 0};
        for (std::size_t j = 0; j < pos.size(); j++) {
            const double d[3] = {double(pos[j].x) - pos[i].x, double(pos[j].y) - pos[i].y, double(pos[j].z) - pos[i].z};
            const double s = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.02 * 0.02);
            for (int c = 0; c < 3; c++)
                f[c] += pos[j].w * d[c] / (s * s * s);
        }
        const double e[3] = {grav[i].x - f[0], grav[i].y - f[1], grav[i].z - f[2]};
        sum += (e[0] * e[0] + e[1] * e[1] + e[2] * e[2]) / (f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
    }
    return std::sqrt(sum / double(count));
}

int main(int argc, char **argv)
{
    const std::size_t n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 4096;
    const int steps = 10;
    const float dt = 0.01f;
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::normal_distribution<float> normal(0, 0.4f);
    std::vector<float4> pos(n), vel(n), grav;
    for (std::size_t k = 0; k < n; k++) { /* Plummer's sphere within ten lengths */
        const double r = 0.59 / std::sqrt(std::pow(0.985 * uniform(random) + 1e-6, -2.0 / 3) - 1);
        const double z = 2 * uniform(random) - 1, phi = 6.283185307179586 * uniform(random), h = std::sqrt(1 - z * z);
        pos[k] = float4{float(r * h * std::cos(phi)), float(r * h * std::sin(phi)), float(r * z), 1.0f / float(n)};
        vel[k] = float4{normal(random), normal(random), normal(random), 0};
    }
    forces(pos, grav);
    const double error = error_of(pos, grav);
    const double before = energy(pos, vel, grav);
    for (int step = 0; step < steps; step++) {
        add(vel, grav, dt / 2);
        add(pos, vel, dt);
        forces(pos, grav);
        add(vel, grav, dt / 2);
    }
    const double change = std::fabs((energy(pos, vel, grav) - before) / before);
    std::printf("%zu stars: error of forces %.1e; %d steps: energy %.4f, changed by %.1e\n", n, error, steps, before,
                change);
    return !(error < 1e-2) || !(change < 1e-3);
}

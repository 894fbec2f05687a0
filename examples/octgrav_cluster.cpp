/* A star cluster through AMUSE's Octgrav class, in C++.
 *
 *     g++ -std=c++11 octgrav_cluster.cpp $(pkg-config --cflags --libs gravel) -o octgrav_cluster
 *     ./octgrav_cluster [stars]
 *
 * Leapfrog with forces from the tree, an octgrav made anew for every step as AMUSE's worker does it.  Prints the change
 * of the energy over a tenth of a time unit; exit status 1 if it is above 1 in 1000.
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
    const double before = energy(pos, vel, grav);
    for (int step = 0; step < steps; step++) {
        add(vel, grav, dt / 2);
        add(pos, vel, dt);
        forces(pos, grav);
        add(vel, grav, dt / 2);
    }
    const double change = std::fabs((energy(pos, vel, grav) - before) / before);
    std::printf("%zu stars, %d steps: energy %.4f, changed by %.1e\n", n, steps, before, change);
    return !(change < 1e-3);
}

/* A star cluster in C++: bodies on the device, fourth-order forces, leapfrog by hand.
 *
 *     g++ -std=c++17 cluster.cpp $(pkg-config --cflags --libs gravel) -o cluster
 *     ./cluster [device]
 *
 * The wrapper (gravel/gravel.hpp) releases what it owns and turns failures into exceptions whose text says what to do.
 * Bodies stay on the device; only what is printed is read.  Prints the energy at both ends of a short run.
 */
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include <gravel/gravel.hpp>

namespace
{

struct Cluster {
    std::vector<double> mass, position, velocity; /* vectors as x, y, z of one body after the other */
};

/* A Plummer sphere in standard units (M = G = 1, E = -1/4): Aarseth, Henon and Wielen 1974. */
Cluster plummer(size_t n)
{
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(0, 1);
    const double pi = 3.14159265358979323846, scale = 3 * pi / 16;
    Cluster c;
    auto direction = [&](double length, std::vector<double> &to) {
        const double z = 2 * uniform(random) - 1, phi = 2 * pi * uniform(random), s = std::sqrt(1 - z * z);
        to.insert(to.end(), {length * s * std::cos(phi), length * s * std::sin(phi), length * z});
    };
    for (size_t k = 0; k < n; k++) {
        const double r = 1 / std::sqrt(std::pow(0.999 * uniform(random) + 1e-6, -2.0 / 3) - 1);
        double q, g;
        do {
            q = uniform(random);
            g = 0.1 * uniform(random);
        } while (g > q * q * std::pow(1 - q * q, 3.5));
        c.mass.push_back(1.0 / (double)n);
        direction(r * scale, c.position);
        direction(q * std::sqrt(2.0) * std::pow(1 + r * r, -0.25) / std::sqrt(scale), c.velocity);
    }
    return c;
}

double energy(const gravel::Bodies &bodies, const Cluster &c)
{
    const size_t n = c.mass.size();
    std::vector<double> pot(n);
    double sum = 0;
    bodies.read(GRAVEL_POTENTIAL, n, gravel::scalars_out(pot.data()));
    for (size_t k = 0; k < n; k++) {
        const double *v = &c.velocity[3 * k];
        sum += 0.5 * c.mass[k] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + pot[k]);
    }
    return sum;
}

} // namespace

int main(int argc, char **argv)
try {
    const size_t n = 512;
    const double dt = 1.0 / 128, eps = 0.05;
    const int steps = 32;
    Cluster c = plummer(n);
    std::vector<double> acc(3 * n);

    gravel::Context context(argc > 1 ? argv[1] : "");
    gravel::Bodies bodies(context, GRAVEL_DS);
    gravel::Direct direct(context, 2, GRAVEL_DS);
    std::printf("%zu bodies on %s\n", n, context.device().name);

    bodies.write(GRAVEL_POSITION, n, gravel::vectors(c.position.data()));
    bodies.write(GRAVEL_MASS, n, gravel::scalars(c.mass.data()));
    gravel_direct_call call = direct.call(bodies.all(), bodies.all());
    call.eps = eps;
    call.into = GRAVEL_INTO_PLANES;

    auto forces = [&] {
        direct.start(call);
        bodies.read(GRAVEL_ACCELERATION, n, gravel::vectors_out(acc.data()));
    };
    auto kick = [&](double time) {
        for (size_t k = 0; k < 3 * n; k++)
            c.velocity[k] += time * acc[k];
    };
    forces();
    const double before = energy(bodies, c);
    for (int step = 0; step < steps; step++) {
        kick(dt / 2);
        for (size_t k = 0; k < 3 * n; k++)
            c.position[k] += dt * c.velocity[k];
        bodies.write(GRAVEL_POSITION, n, gravel::vectors(c.position.data()));
        forces();
        kick(dt / 2);
    }
    const double error = std::fabs(energy(bodies, c) / before - 1);
    std::printf("energy %.6f, relative error %.1e after %g time units\n", before, error, steps * dt);
    return error < 1e-3 ? 0 : 1; /* leapfrog with 128 steps a time unit keeps it well below */
} catch (const gravel::Error &failure) {
    std::fprintf(stderr, "gravel: %s\n", failure.what());
    return 2;
}

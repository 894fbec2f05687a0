/* gravel: AMUSE's Octgrav class on OpenCL devices.  Header only; link with -lgravel.
 *
 * Programs that were written for the class `octgrav` compile with this header in place of octgrav.h:
 *
 *   octgrav system;
 *   system.set_softening(eps);
 *   system.set_opening_angle(theta);
 *   system.evaluate_gravity(pos, grav);     pos: x y z, w mass;  grav: acceleration, w potential (negative)
 *
 * Objects are cheap: all of them share one device and one tree, which are made at the first call and kept, as such
 * programs make an octgrav for every step.  The device is gravel's choice (GRAVEL_DEVICE).  Several threads may call;
 * they wait for one another.  Bodies do not act on themselves; massless ones feel the others only.
 *
 * A failure is one line on stderr and NaN in `grav`; nothing ends the process.
 *
 * The opening angle is that of gravel's geometric criterion (tree.h), with quadrupoles where Octgrav had octupoles.
 * Octgrav's own device functions exist with memory of the host; host_evaluate_gravity, which takes its tree apart, does
 * not.
 */
#ifndef GRAVEL_OCTGRAV_HPP
#define GRAVEL_OCTGRAV_HPP

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <vector>

#include "gravel/tree.h"

#if !defined(__VECTOR_TYPES_H__) && !defined(GRAVEL_HAVE_FLOAT4)
#define GRAVEL_HAVE_FLOAT4
struct float4 {
    float x, y, z, w;
};
#endif

namespace gravel_octgrav
{

/* What all octgrav objects share; it lives as long as the process. */
struct shared {
    std::mutex lock;
    gravel_context *context = nullptr;
    gravel_tree *tree = nullptr;
    float theta = 0; /* of the tree */
    std::vector<double> number;

    static shared &one()
    {
        static shared *made = new shared;
        return *made;
    }

    gravel_status need(float want)
    {
        gravel_status status = context ? GRAVEL_OK : gravel_context_create(&context, nullptr);
        if (status != GRAVEL_OK || (tree && theta == want))
            return status;
        gravel_tree_release(tree);
        tree = nullptr;
        gravel_tree_options options;
        gravel_tree_options_init(&options);
        options.theta = want;
        options.mac = GRAVEL_TREE_GEOMETRIC;
        theta = want;
        return gravel_tree_create(&tree, context, &options);
    }

    gravel_status forces(const std::vector<float4> &pos, std::vector<float4> &grav, float eps)
    {
        const std::size_t n = pos.size();
        number.resize(4 * n);
        double *const v = number.data();
        for (std::size_t k = 0; k < n; k++) {
            v[4 * k] = pos[k].x;
            v[4 * k + 1] = pos[k].y;
            v[4 * k + 2] = pos[k].z;
            v[4 * k + 3] = pos[k].w;
        }
        std::vector<double> mass(n);
        for (std::size_t k = 0; k < n; k++)
            mass[k] = v[4 * k + 3];
        gravel_sources bodies;
        std::memset(&bodies, 0, sizeof bodies);
        bodies.count = n;
        bodies.mass = mass.data();
        bodies.pos = gravel_vec{v, v + 1, v + 2, 4};
        gravel_status status = gravel_tree_write(tree, &bodies);
        gravel_forces results;
        std::memset(&results, 0, sizeof results);
        results.acc = gravel_vec_out{v, v + 1, v + 2, 4};
        results.pot = mass.data();
        if (status == GRAVEL_OK)
            status = gravel_tree_forces(tree, eps, &results);
        for (std::size_t k = 0; k < n && status == GRAVEL_OK; k++) {
            grav[k].x = static_cast<float>(v[4 * k]);
            grav[k].y = static_cast<float>(v[4 * k + 1]);
            grav[k].z = static_cast<float>(v[4 * k + 2]);
            grav[k].w = static_cast<float>(mass[k]);
        }
        return status;
    }
};

} // namespace gravel_octgrav

extern "C" {
inline void initCUDA()
{
}
inline void allocateCUDAarray(void **array, int bytes)
{
    *array = std::malloc(bytes > 0 ? static_cast<std::size_t>(bytes) : 1);
}
inline void deleteCUDAarray(void *array)
{
    std::free(array);
}
inline void copyArrayToDevice(void *device, const void *host, int bytes)
{
    std::memcpy(device, host, static_cast<std::size_t>(bytes));
}
inline void copyArrayFromDevice(void *host, const void *device, int bytes)
{
    std::memcpy(host, device, static_cast<std::size_t>(bytes));
}
}

class octgrav
{
    float theta_, eps_;

  public:
    explicit octgrav(float theta = 1, float eps = 0.25f) : theta_(theta), eps_(eps)
    {
    }

    void set_opening_angle(float theta)
    {
        theta_ = theta;
    }
    float get_opening_angle() const
    {
        return theta_;
    }
    void set_softening(float eps) /* a length */
    {
        eps_ = eps;
    }
    float get_softening() const
    {
        return eps_;
    }

    /* `grav` gets as many entries as `pos` has.  Returns the seconds it took. */
    double evaluate_gravity(std::vector<float4> &pos, std::vector<float4> &grav)
    {
        const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
        gravel_octgrav::shared &all = gravel_octgrav::shared::one();
        std::lock_guard<std::mutex> hold(all.lock);
        grav.resize(pos.size());
        if (!pos.empty()) {
            gravel_status status = all.need(theta_);
            if (status == GRAVEL_OK)
                status = all.forces(pos, grav, eps_);
            if (status != GRAVEL_OK)
                fail(grav);
        }
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }

  private:
    static void fail(std::vector<float4> &grav)
    {
        const float nan = std::numeric_limits<float>::quiet_NaN();
        const char *why = gravel_error_message();
        std::fprintf(stderr, "octgrav: error: %.*s\n", static_cast<int>(std::strcspn(why, "\n")), why);
        for (float4 &g : grav)
            g = float4{nan, nan, nan, nan};
    }
};

#endif

/* gravel for C++17: objects that release themselves, failures as exceptions, arrays as they are.
 *
 * A thin layer over the C headers, nothing to link beside the library.  Each class owns one C object and converts to its
 * pointer, so that every C function can be called on it; functions that can fail go through gravel::check.
 *
 *   gravel::Context context;                             // the best device
 *   gravel::Bodies bodies(context, GRAVEL_DS);
 *   bodies.write(GRAVEL_POSITION, n, gravel::vectors(&x[0][0]));
 *   bodies.write(GRAVEL_MASS, n, gravel::scalars(m.data()));
 *   gravel::Tree tree(context);
 *   tree.set_sources(bodies.all());
 *   gravel_tree_call call = tree.call(bodies.all());
 *   call.into = GRAVEL_INTO_PLANES;
 *   tree.walk(call);
 */
#ifndef GRAVEL_GRAVEL_HPP
#define GRAVEL_GRAVEL_HPP

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "gravel/bodies.h"
#include "gravel/direct.h"
#include "gravel/gravel.h"
#include "gravel/hermite.h"
#include "gravel/tree.h"

namespace gravel
{

class Error : public std::runtime_error
{
  public:
    Error(gravel_status code, const char *message) : std::runtime_error(message), status(code)
    {
    }
    gravel_status status;
};

inline void check(gravel_status status)
{
    if (status != GRAVEL_OK)
        throw Error(status, gravel_error_message());
}

/* ---------------------------------------------------------------- arrays */

template <class T> constexpr gravel_type type_of()
{
    static_assert(std::is_same_v<T, double> || std::is_same_v<T, float> || std::is_same_v<T, int32_t>,
                  "gravel takes double, float and int32_t");
    return std::is_same_v<T, double> ? GRAVEL_F64 : std::is_same_v<T, float> ? GRAVEL_F32 : GRAVEL_I32;
}

/* one number a body */
template <class T> gravel_array scalars(const T *p, size_t stride = 1)
{
    return {p, nullptr, nullptr, stride, type_of<T>()};
}

template <class T> gravel_array_out scalars_out(T *p, size_t stride = 1)
{
    return {p, nullptr, nullptr, stride, type_of<T>()};
}

/* x, y, z of a body one after the other: double p[n][3] is vectors(&p[0][0]) */
template <class T> gravel_array vectors(const T *p, size_t stride = 3)
{
    return {p, p + 1, p + 2, stride, type_of<T>()};
}

template <class T> gravel_array_out vectors_out(T *p, size_t stride = 3)
{
    return {p, p + 1, p + 2, stride, type_of<T>()};
}

/* three arrays */
template <class T> gravel_array vectors(const T *x, const T *y, const T *z, size_t stride = 1)
{
    return {x, y, z, stride, type_of<T>()};
}

template <class T> gravel_array_out vectors_out(T *x, T *y, T *z, size_t stride = 1)
{
    return {x, y, z, stride, type_of<T>()};
}

/* --------------------------------------------------------------- objects */

/* Owns a C object; moved, not copied. */
template <class C, void (*release)(C *)> class Handle
{
  public:
    operator C *() const
    {
        return object.get();
    }
    C *get() const
    {
        return object.get();
    }

  protected:
    struct Release {
        void operator()(C *p) const
        {
            release(p);
        }
    };
    explicit Handle(C *p = nullptr) : object(p)
    {
    }
    std::unique_ptr<C, Release> object;
};

class Context : public Handle<gravel_context, gravel_context_release>
{
  public:
    /* as gravel_context_options.device: "gpu", "cpu", "H200", "1"; empty: the best device */
    explicit Context(const std::string &device = {})
    {
        gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
        options.device = device.empty() ? nullptr : device.c_str();
        open(options);
    }
    explicit Context(const gravel_context_options &options)
    {
        open(options);
    }
    const gravel_device_info &device(int k = 0) const
    {
        return *gravel_context_get_device(get(), k);
    }

  private:
    void open(const gravel_context_options &options)
    {
        gravel_context *made = nullptr;
        check(gravel_context_create(&made, &options));
        object.reset(made);
    }
};

class List : public Handle<gravel_list, gravel_list_release>
{
  public:
    explicit List(gravel_context *context, int device = 0)
    {
        gravel_list *made = nullptr;
        check(gravel_list_create(&made, context, device));
        object.reset(made);
    }
    void write(const std::vector<uint32_t> &address)
    {
        check(gravel_list_write(get(), address.data(), address.size()));
    }
    size_t count() const
    {
        return gravel_list_get_count(get());
    }
};

class Bodies : public Handle<gravel_bodies, gravel_bodies_release>
{
  public:
    explicit Bodies(gravel_context *context, gravel_precision precision = GRAVEL_DS, size_t capacity = 0)
    {
        gravel_bodies_options options = GRAVEL_BODIES_OPTIONS_INIT;
        gravel_bodies *made = nullptr;
        options.precision = precision;
        options.capacity = capacity;
        check(gravel_bodies_create(&made, context, &options));
        object.reset(made);
    }
    size_t count() const
    {
        return gravel_bodies_get_count(get());
    }
    void resize(size_t count)
    {
        check(gravel_bodies_resize(get(), count));
    }
    void write(gravel_plane plane, size_t count, const gravel_array &from, size_t first = 0)
    {
        check(gravel_bodies_write(get(), plane, first, count, &from));
    }
    void read(gravel_plane plane, size_t count, const gravel_array_out &to, size_t first = 0) const
    {
        check(gravel_bodies_read(get(), plane, first, count, &to));
    }
    gravel_view all() const
    {
        return gravel_view_all(get());
    }
    gravel_view range(size_t first, size_t count) const
    {
        return gravel_view_range(get(), first, count);
    }
    gravel_view list(const gravel_list *addresses) const
    {
        return gravel_view_list(get(), addresses);
    }
};

/* A call in flight. */
class Ticket : public Handle<gravel_ticket, gravel_ticket_release>
{
  public:
    explicit Ticket(gravel_ticket *ticket) : Handle(ticket)
    {
    }
    bool ready() const
    {
        int answer = 0;
        check(gravel_ticket_get_ready(get(), &answer));
        return answer != 0;
    }
    void wait() const
    {
        check(gravel_ticket_wait(get()));
    }
    /* how many sinks have more neighbours than their list holds */
    size_t collect(const gravel_forces &forces)
    {
        size_t overflow = 0;
        check(gravel_ticket_collect(get(), &forces, &overflow));
        return overflow;
    }
};

class Direct : public Handle<gravel_direct, gravel_direct_release>
{
  public:
    explicit Direct(gravel_context *context, int order = 2, gravel_precision precision = GRAVEL_DS)
    {
        gravel_direct_options options = GRAVEL_DIRECT_OPTIONS_INIT;
        options.order = order;
        options.precision = precision;
        open(context, options);
    }
    Direct(gravel_context *context, const gravel_direct_options &options)
    {
        open(context, options);
    }
    static gravel_direct_call call(const gravel_view &sources, const gravel_view &sinks)
    {
        gravel_direct_call made;
        gravel_direct_call_init(&made);
        made.sources = sources;
        made.sinks = sinks;
        return made;
    }
    Ticket start(const gravel_direct_call &call)
    {
        gravel_ticket *ticket = nullptr;
        check(gravel_direct_start(get(), &call, &ticket));
        return Ticket(ticket);
    }

  private:
    void open(gravel_context *context, const gravel_direct_options &options)
    {
        gravel_direct *made = nullptr;
        check(gravel_direct_create(&made, context, &options));
        object.reset(made);
    }
};

class Tree : public Handle<gravel_tree, gravel_tree_release>
{
  public:
    explicit Tree(gravel_context *context, double theta = 0.5, gravel_precision precision = GRAVEL_SP)
    {
        gravel_tree_options options = GRAVEL_TREE_OPTIONS_INIT;
        options.theta = theta;
        options.precision = precision;
        open(context, options);
    }
    Tree(gravel_context *context, const gravel_tree_options &options)
    {
        open(context, options);
    }
    void set_sources(const gravel_view &sources)
    {
        check(gravel_tree_set_sources(get(), &sources));
    }
    static gravel_tree_call call(const gravel_view &sinks, double eps = 0)
    {
        gravel_tree_call made;
        gravel_tree_call_init(&made);
        made.sinks = sinks;
        made.eps = eps;
        return made;
    }
    Ticket walk(const gravel_tree_call &call)
    {
        gravel_ticket *ticket = nullptr;
        check(gravel_tree_walk(get(), &call, &ticket));
        return Ticket(ticket);
    }

  private:
    void open(gravel_context *context, const gravel_tree_options &options)
    {
        gravel_tree *made = nullptr;
        check(gravel_tree_create(&made, context, &options));
        object.reset(made);
    }
};

/* Bodies and solver must live on. */
class Hermite : public Handle<gravel_hermite, gravel_hermite_release>
{
  public:
    Hermite(gravel_bodies *bodies, gravel_direct *direct, const gravel_hermite_options &options)
    {
        gravel_hermite *made = nullptr;
        check(gravel_hermite_create(&made, bodies, direct, &options));
        object.reset(made);
    }
    void start(double time)
    {
        check(gravel_hermite_start(get(), time));
    }
    gravel_hermite_step_info step()
    {
        gravel_hermite_step_info info;
        check(gravel_hermite_step(get(), &info));
        return info;
    }
    double next()
    {
        double time;
        check(gravel_hermite_get_next(get(), &time));
        return time;
    }
    void synchronise(double time)
    {
        check(gravel_hermite_synchronise(get(), time));
    }
    gravel_energies energies()
    {
        gravel_energies found;
        check(gravel_hermite_get_energies(get(), &found));
        return found;
    }
};

} // namespace gravel
#endif

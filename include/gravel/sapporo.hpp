/* gravel: the class `sapporo` of Sapporo2, for programs that were written against it.
 *
 * Header only, C++11 and later, over gravel/several.h; link with -lgravel.  Programs that include "sapporohostclass.h"
 * find one in the folder gravel/compat of these headers.
 *
 *   sapporo grav;
 *   grav.open("any name", devices, n_devices, FOURTH, DOUBLESINGLE);       kernel files are not looked at
 *   grav.set_j_particle(address, id, tj, dtj, mass, k18, jerk, acc, v, x, snap, crackle, eps);
 *   grav.set_time(t);
 *   grav.startGravCalc(nj, ni, id, xi, vi, acc, jerk, pot, eps2, h2, NULL);
 *   grav.getGravResults(nj, ni, id, xi, vi, eps2, h2, acc, jerk, snap, crackle, pot, nearest, distance2, true);
 *
 * As in Sapporo2: jerk and acc of a source are full derivatives, k18 is not looked at; order GRAPE5 leaves nobody out
 * (ids are not looked at) and writes acc and pot only; crackle is written as zero; potentials are negative; distances
 * to the nearest source are squared and without softening, its index is 0 where there is none.
 * Other than there: functions return -1 where that would end the process, with a line on stderr; any number of
 * sources at addresses in any order; a source is predicted to the time that was set last also if it is written after
 * that; lists are whole or cut cleanly, and counts are true; a full list is no overflow.
 * In the environment: GRAVEL_COMPAT_DEVICES (instead of the list), _PIPES, _NEIGHBOURS, _HOST; see doc/dropin.md.
 *
 * An object serves one thread at a time.
 */
#ifndef GRAVEL_SAPPORO_HPP
#define GRAVEL_SAPPORO_HPP

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "gravel/several.h"

enum { GRAPE5 = 0, FOURTH, SIXTH, EIGHT };
enum { FLOAT = 0, DOUBLESINGLE, DOUBLE, DEFAULT = DOUBLESINGLE };

class sapporo
{
  public:
    sapporo() : pipes(from_environment("PIPES", 16384)), capacity(from_environment("NEIGHBOURS", 256))
    {
    }
    ~sapporo()
    {
        close();
    }
    sapporo(const sapporo &) = delete;
    sapporo &operator=(const sapporo &) = delete;

    /* nprocs > 0: these devices, numbered among the GPUs (among all where there is no GPU); 0: all; < 0: the first of
     * them */
    int open(std::string, int *devices, int nprocs = 1, int order = FOURTH, int precision = DOUBLESINGLE)
    {
        static const int orders[] = {2, 4, 6};
        std::string names;
        gravel_several_options options = GRAVEL_SEVERAL_OPTIONS_INIT;
        close();
        if (order < GRAPE5 || order > SIXTH || precision < FLOAT || precision > DOUBLE)
            return fail("open", "there is no such order, or no such precision");
        if (name_devices(devices, nprocs, names) != 0)
            return -1;
        integration_order = order;
        force_order = orders[order];
        options.devices = names.empty() ? nullptr : names.c_str();
        options.precision = precision == FLOAT ? GRAVEL_SP : precision == DOUBLE ? GRAVEL_DP : GRAVEL_DS;
        options.host = host();
        return done("open", gravel_several_create(&several, &options));
    }
    int close()
    {
        gravel_several_release(several);
        several = nullptr;
        stage = idle;
        sources = 0;
        softening2.clear();
        return 0;
    }
    int get_n_pipes()
    {
        return pipes;
    }
    int get_nj_max() const
    {
        const size_t most = gravel_several_get_capacity(several);
        return (int)(std::min)(most, (size_t)(std::numeric_limits<int>::max)());
    }

    int set_time(double time)
    {
        if (integration_order == GRAPE5)
            return 0;
        return done("set_time", gravel_several_set_time(several, time));
    }
    int set_no_time()
    {
        gravel_several_set_no_time(several);
        return 0;
    }

    int set_j_particle(int address, int index, double tj, double, double mass, double *, double j6[3], double a2[3],
                       double v[3], double x[3], double snp[3], double crk[3], double eps)
    {
        gravel_sources one;
        const int32_t id = index;
        const uint32_t at = (uint32_t)address;
        if (!several || address < 0)
            return fail("set_j_particle", several ? "a negative address" : "open was not called, or failed");
        std::memset(&one, 0, sizeof one);
        one.count = 1;
        one.mass = &mass;
        one.id = &id;
        one.time = &tj;
        one.pos = vector_at(x);
        if (integration_order > GRAPE5) {
            one.vel = vector_at(v);
            one.acc = vector_at(a2);
            one.jerk = vector_at(j6);
        }
        if (integration_order > FOURTH) {
            one.snap = vector_at(snp);
            one.crackle = vector_at(crk);
        }
        if (done("set_j_particle", gravel_several_scatter_sources(several, &at, &one)) != 0)
            return -1;
        sources = (std::max)(sources, (size_t)address + 1);
        softening2.resize((std::max)(softening2.size(), (size_t)address + 1));
        softening2[(size_t)address] = eps;
        return 0;
    }

    /* a: the accelerations of the sinks, for SIXTH.  eps2_i: a softening for each sink, or NULL.  h2 may be garbage if
     * no lists are read. */
    void startGravCalc(int nj, int ni, int index[], double xi[][3], double vi[][3], double a[][3], double[][3],
                       double *, double eps2, double h2[], double eps2_i[])
    {
        gravel_sinks sinks;
        gravel_several_call call = GRAVEL_SEVERAL_CALL_INIT;
        stage = failed;
        if (check(nj, ni, eps2) != 0)
            return;
        take_scalars(ni, h2, eps2_i);
        std::memset(&sinks, 0, sizeof sinks);
        sinks.count = (size_t)ni;
        sinks.pos = rows(xi);
        sinks.radius = radius.data();
        if (integration_order > GRAPE5) {
            sinks.id = index;
            sinks.vel = rows(vi);
        }
        if (integration_order > FOURTH)
            sinks.acc = rows(a);
        call.sinks = &sinks;
        call.order = force_order;
        call.eps = std::sqrt(eps2);
        if (eps2_i) {
            call.soften = GRAVEL_SOFTEN_SINKS;
            call.sink_eps = own_eps.data();
        }
        call.nearest = has_nearest = want_nearest;
        call.neighbour_capacity = want_lists ? capacity : 0;
        has_lists = want_lists;
        gravel_status status = gravel_several_set_source_count(several, (std::min)((size_t)nj, sources));
        if (status == GRAVEL_OK)
            status = gravel_several_submit(several, &call);
        if (done("startGravCalc", status) == 0)
            stage = asked;
        sinks_asked = ni;
        lists_are_read = false;
        want_nearest = want_lists = false;
    }

    int getGravResults(int, int ni, int *, double[][3], double[][3], double, double *, double acc[][3],
                       double jerk[][3], double snp[][3], double crk[][3], double pot[], int nnbindex[],
                       double dsmin_i[], bool ngb)
    {
        const bool with_jerk = integration_order > GRAPE5, with_snap = integration_order > FOURTH;
        const bool nearest = ngb && with_jerk && (nnbindex || dsmin_i);
        gravel_forces forces;
        std::memset(&forces, 0, sizeof forces);
        forces.acc = rows_out(acc);
        forces.pot = pot;
        if (with_jerk)
            forces.jerk = rows_out(jerk);
        if (with_snap)
            forces.snap = rows_out(snp);
        nearest_address.resize((size_t)(std::max)(ni, 0));
        if (nearest) {
            forces.nearest_id = nnbindex;
            forces.nearest_address = nearest_address.data();
            forces.nearest_distance = dsmin_i;
        }
        if (is_wrong("getGravResults", ni) || !have("getGravResults", nearest, false) ||
            done("getGravResults", gravel_several_collect(several, &forces, nullptr)) != 0)
            return spoil(ni, acc, with_jerk ? jerk : nullptr, pot);
        for (int i = 0; i < ni; i++) {
            for (int c = 0; c < 3 && with_snap && crk; c++)
                crk[i][c] = 0;
            if (nearest && nnbindex && nearest_address[(size_t)i] == GRAVEL_NONE)
                nnbindex[i] = 0;
            if (nearest && dsmin_i)
                dsmin_i[i] *= dsmin_i[i];
        }
        return 0;
    }

    /* Sources as they are at the time that was set, without forces.  A calculation under way is dropped. */
    void forcePrediction(int)
    {
        gravel_sinks none;
        gravel_several_call call = GRAVEL_SEVERAL_CALL_INIT;
        std::memset(&none, 0, sizeof none);
        call.sinks = &none;
        stage = idle;
        done("forcePrediction", gravel_several_submit(several, &call));
    }
    void retrieve_predicted_j_particle(int addr, double &mass, double &id, double &eps2, double pos[3], double vel[3],
                                       double acc[3])
    {
        int32_t index = 0;
        gravel_sources_out to;
        std::memset(&to, 0, sizeof to);
        to.mass = &mass;
        to.id = &index;
        to.pos = vector_out(pos);
        to.vel = vector_out(vel);
        if (integration_order > FOURTH)
            to.acc = vector_out(acc);
        done("retrieve_predicted_j_particle", gravel_several_read_predicted(several, (size_t)addr, 1, &to));
        id = index;
        eps2 = softening_of(addr);
    }
    void retrieve_j_particle_state(int addr, double &mass, double &id, double &eps2, double pos[3], double vel[3],
                                   double acc[3], double jrk[3], double ppos[3], double pvel[3], double pacc[3])
    {
        gravel_sources_out to;
        std::memset(&to, 0, sizeof to);
        to.pos = vector_out(pos);
        to.vel = vector_out(vel);
        to.acc = vector_out(acc);
        to.jerk = vector_out(jrk);
        done("retrieve_j_particle_state", gravel_several_read_sources(several, (size_t)addr, 1, &to));
        retrieve_predicted_j_particle(addr, mass, id, eps2, ppos, pvel, pacc);
    }

    /* 1: a list is too long for the memory of lists */
    int fetch_ngb_list_from_device(int)
    {
        return read_ngb_list(0);
    }
    int read_ngb_list(int)
    {
        gravel_forces forces;
        size_t overflow = 0, n = (size_t)(stage == asked ? sinks_asked : 0);
        if (is_wrong("read_ngb_list", sinks_asked))
            return -1;
        counts.resize(n);
        lists.resize(n * (size_t)capacity);
        std::memset(&forces, 0, sizeof forces);
        forces.neighbour_count = counts.data();
        forces.neighbour_id = lists.data();
        if (!have("read_ngb_list", false, true) ||
            done("read_ngb_list", gravel_several_collect(several, &forces, &overflow)) != 0)
            return -1;
        lists_are_read = true;
        return overflow > 0;
    }
    /* nblen: the true number; 1: there are more than maxlength, or than there is memory for */
    int get_ngb_list(int, int ipipe, int maxlength, int &nblen, int nbl[])
    {
        nblen = 0;
        if (!lists_are_read || ipipe < 0 || ipipe >= sinks_asked)
            return fail("get_ngb_list", "there is no such list: read_ngb_list was not called, or ipipe is too large");
        const int count = (int)counts[(size_t)ipipe];
        const int given = (std::max)(0, (std::min)((std::min)(count, capacity), maxlength));
        const int *from = lists.data() + (size_t)ipipe * (size_t)capacity;
        std::copy(from, from + given, nbl);
        std::sort(nbl, nbl + given);
        nblen = count;
        return given < count;
    }

  private:
    enum stage_of_call { idle, asked, failed };
    gravel_several *several = nullptr;
    int pipes, capacity, integration_order = FOURTH, force_order = 4, sinks_asked = 0;
    size_t sources = 0; /* the highest address written, + 1 */
    stage_of_call stage = idle;
    bool has_nearest = false, has_lists = false, want_nearest = false, want_lists = false, lists_are_read = false;
    std::vector<double> radius, own_eps, softening2;
    std::vector<uint32_t> nearest_address, counts;
    std::vector<int32_t> lists;

    static int fail(const char *function, const char *why)
    {
        std::fprintf(stderr, "sapporo: error: %s: %.*s\n", function, (int)std::strcspn(why, "\n"), why);
        return -1;
    }
    static int done(const char *function, gravel_status status)
    {
        return status == GRAVEL_OK ? 0 : fail(function, gravel_error_message());
    }
    static int from_environment(const char *name, int otherwise)
    {
        const char *text = std::getenv((std::string("GRAVEL_COMPAT_") + name).c_str());
        const int number = text ? std::atoi(text) : 0;
        return number > 0 ? number : otherwise;
    }
    static gravel_host_answers host()
    {
        const char *text = std::getenv("GRAVEL_COMPAT_HOST");
        const std::string word = text ? text : "";
        return word == "never" ? GRAVEL_HOST_NEVER : word == "always" ? GRAVEL_HOST_ALWAYS : GRAVEL_HOST_WHERE_FASTER;
    }

    static gravel_vec vector_at(const double *p)
    {
        const gravel_vec none = {nullptr, nullptr, nullptr, 0}, v = {p, p + (p ? 1 : 0), p + (p ? 2 : 0), 1};
        return p ? v : none;
    }
    static gravel_vec rows(const double (*p)[3])
    {
        gravel_vec v = vector_at(p ? p[0] : nullptr);
        v.stride = 3;
        return v;
    }
    static gravel_vec_out vector_out(double *p)
    {
        const gravel_vec_out none = {nullptr, nullptr, nullptr, 0}, v = {p, p + (p ? 1 : 0), p + (p ? 2 : 0), 1};
        return p ? v : none;
    }
    static gravel_vec_out rows_out(double (*p)[3])
    {
        gravel_vec_out v = vector_out(p ? p[0] : nullptr);
        v.stride = 3;
        return v;
    }

    static int name_devices(const int *wanted, int nprocs, std::string &names)
    {
        const char *set = std::getenv("GRAVEL_COMPAT_DEVICES");
        gravel_device_info *info;
        std::vector<int> there;
        int count;
        if (set && *set) {
            names = set;
            return 0;
        }
        if (nprocs > 0 && !wanted)
            return fail("open", "no list of devices");
        if (done("open", gravel_device_list(&info, &count)) != 0)
            return -1;
        for (int k = 0; k < count; k++)
            if (info[k].type == GRAVEL_DEVICE_GPU)
                there.push_back(info[k].index);
        for (int k = 0; k < count && (int)there.size() == k; k++)
            there.push_back(info[k].index);
        gravel_device_list_free(info);
        const int most = (int)there.size(), n = nprocs > 0 ? nprocs : nprocs == 0 ? most : (std::min)(-nprocs, most);
        for (int k = 0; k < n; k++) {
            const int at = nprocs > 0 ? wanted[k] : k;
            if (at < 0 || at >= most)
                return fail("open", ("there is no device " + std::to_string(at)).c_str());
            names += (k ? "," : "") + std::to_string(there[(size_t)at]);
        }
        return 0;
    }

    int check(int nj, int ni, double eps2) const
    {
        if (!several)
            return fail("startGravCalc", "open was not called, or failed");
        if (ni > pipes)
            return fail("startGravCalc", "more sinks than pipes (get_n_pipes, GRAVEL_COMPAT_PIPES)");
        if (ni < 0 || nj < 0 || !(eps2 >= 0))
            return fail("startGravCalc", "ni, nj or eps2 is negative");
        return 0;
    }
    void take_scalars(int ni, const double *h2, const double *eps2_i)
    {
        radius.resize((size_t)ni);
        own_eps.resize(eps2_i ? (size_t)ni : 0);
        for (int i = 0; i < ni; i++) {
            radius[(size_t)i] = h2 && h2[i] > 0 && std::isfinite(h2[i]) ? std::sqrt(h2[i]) : 0;
            if (eps2_i)
                own_eps[(size_t)i] = std::sqrt(eps2_i[i]);
        }
    }
    bool is_wrong(const char *function, int ni) const
    {
        if (stage == idle || (stage == asked && ni != sinks_asked))
            fail(function, stage == idle ? "there was no startGravCalc" : "not as many sinks as in startGravCalc");
        return stage != asked || ni != sinks_asked;
    }
    /* What was not computed with the call is computed now. */
    bool have(const char *function, bool nearest, bool with_lists)
    {
        want_nearest = want_nearest || nearest;
        want_lists = want_lists || with_lists;
        if (has_nearest >= nearest && has_lists >= with_lists)
            return true;
        has_nearest = has_nearest || nearest;
        has_lists = has_lists || with_lists;
        if (done(function, gravel_several_again(several, force_order, has_nearest, has_lists ? capacity : 0)) == 0)
            return true;
        stage = failed;
        return false;
    }
    /* Callers hardly look at return values: these are no forces. */
    static int spoil(int ni, double (*acc)[3], double (*jerk)[3], double *pot)
    {
        const double nan = std::numeric_limits<double>::quiet_NaN();
        for (int i = 0; i < ni; i++) {
            for (int c = 0; c < 3; c++) {
                if (acc)
                    acc[i][c] = nan;
                if (jerk)
                    jerk[i][c] = nan;
            }
            if (pot)
                pot[i] = nan;
        }
        return -1;
    }
    double softening_of(int addr) const
    {
        return addr >= 0 && (size_t)addr < softening2.size() ? softening2[(size_t)addr] : 0;
    }
};

#endif

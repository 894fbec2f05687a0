/* Messages: latency and bytes over rate, on a machine and between machines. */
#include <math.h>

#include "model/model.h"

static double steps_of(int ranks)
{
    return ranks > 1 ? ceil(log2(ranks)) : 0;
}

static int ranks_of_node(const gv_machine *m, int ranks)
{
    return ranks < m->node_ranks ? ranks : m->node_ranks;
}

static int nodes(const gv_machine *m, int ranks)
{
    return (ranks + m->node_ranks - 1) / m->node_ranks;
}

double gv_model_agree(const gv_machine *m, int ranks)
{
    return steps_of(ranks_of_node(m, ranks)) * m->node.latency_s + steps_of(nodes(m, ranks)) * m->network.latency_s;
}

/* Machines exchange what their ranks have, each rank's card its part; the ranks of a machine share the memory to which
 * it comes. */
double gv_model_gather(const gv_machine *m, int ranks, double bytes)
{
    const double in = ranks_of_node(m, ranks), out = nodes(m, ranks);
    return out > 1 ? gv_model_agree(m, ranks) + (1 - 1 / out) * bytes / in / m->network.bytes_per_s : 0;
}

double gv_model_pass(const gv_machine *m, int ranks, double bytes)
{
    return nodes(m, ranks) > 1 ? m->network.latency_s + bytes / m->network.bytes_per_s : 0;
}

/* Three or four planes, one after the other. */
double gv_model_copy(const gv_machine *m, double bytes)
{
    return 2 * m->transfer.latency_s + bytes / m->transfer.bytes_per_s;
}

/* Latencies overlap in part: sixteen messages are on their way at once. */
double gv_model_all_to_all(const gv_machine *m, int ranks, double bytes)
{
    const double in = ranks_of_node(m, ranks), all = ranks;
    if (ranks < 2)
        return 0;
    const double outside = (all - in) / (all - 1), inside = (in - 1) / (all - 1);
    return ceil((all - 1) / 16) * (all > in ? m->network.latency_s : m->node.latency_s) +
           outside * bytes / m->network.bytes_per_s + inside * bytes / m->tree_rate;
}

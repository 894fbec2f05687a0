/* The inside of gravel_exchange. */
#ifndef GV_EXCHANGE_H
#define GV_EXCHANGE_H

#include "gravel/exchange.h"
#include "host/bodies/bodies.h"
#include "host/bodies/slots.h"
#include "host/program/sort.h"

enum { GV_EXCHANGE_SIZES = 4 }; /* bytes of an entry: 4, 8, 16, 32 */

struct gravel_exchange {
    gravel_bodies *bodies;
    gv_worker worker; /* where the bodies are, which may be released before */
    int parts, mine;
    gv_sort sort;
    uint64_t order_version, moved_version; /* of the bodies, as they were sorted */
    cl_kernel keys, sample, find, pack[GV_EXCHANGE_SIZES];
    gv_buffer bounds, block_key, block_sum, split, begin_device, staying, found_box;
    cl_uint *begin; /* of each part among the sorted bodies */
    size_t *arrives;
    gv_slots slots;
    gv_slot *sent, *room;
};

#endif

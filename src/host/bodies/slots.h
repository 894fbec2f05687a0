/* Staging: areas of host memory with as many bytes on the device, one for each block in flight.  On devices
 * with memory of their own the host side is pinned, which lets the copy engine read it. */
#ifndef GV_SLOTS_H
#define GV_SLOTS_H

#include "host/program/launch.h"

typedef struct gv_slot {
    gv_buffer device;
    cl_mem pinned; /* NULL: host is plain memory */
    void *host;
    size_t size;
    cl_event busy; /* the last command that uses the slot; NULL: none */
    int held;      /* holds numbers that the host has yet to take */
} gv_slot;

enum { GV_MOST_SLOTS = 16, GV_LEAST_SLOTS = 4 };

typedef struct gv_slots {
    gv_slot slot[GV_MOST_SLOTS];
    int count, next;
} gv_slots;

/* One slot by itself: room for `size` bytes on both sides, or on the host alone.  If it was too small its contents are
 * lost, and nothing may use it then. */
gravel_status gv_slot_reserve(const gv_worker *worker, gv_slot *slot, size_t size);
gravel_status gv_slot_reserve_host(const gv_worker *worker, gv_slot *slot, size_t size);
/* Waits for its event first. */
void gv_slot_release(const gv_worker *worker, gv_slot *slot);

/* A slot of at least `size` bytes that nothing uses; a new one where all are busy, up to GV_MOST_SLOTS or what 64 MB
 * hold, else the wait is for the oldest.  The caller sets `busy`, and holds at most GV_LEAST_SLOTS - 1. */
gravel_status gv_slots_take(const gv_worker *worker, gv_slots *slots, size_t size, gv_slot **slot);
/* Waits for the slot's event. */
gravel_status gv_slot_wait(const gv_worker *worker, gv_slot *slot);
/* Waits for all of them first. */
void gv_slots_release(const gv_worker *worker, gv_slots *slots);

#endif

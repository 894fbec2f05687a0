/* The inside of gravel_several_share.  share.c: life, direct sums; stage.c, copies.c, moved.c: copies of bodies on the
 * other devices; trial.c: who works on a block; state.c: what decides the bits, as text; walk.c: trees. */
#ifndef GV_SHARE_H
#define GV_SHARE_H

#include "host/several/object.h"
#include "host/several/stretch.h"
#include "kernels/several/layout.h"

typedef enum gv_share_kernel {
    GV_SHARE_COUNT,
    GV_SHARE_SCAN,
    GV_SHARE_LIST,
    GV_SHARE_TAKE,
    GV_SHARE_PUT,
    GV_SHARE_FOUND_TAKE,
    GV_SHARE_FOUND_PUT,
    GV_SHARE_KERNELS
} gv_share_kernel;

/* What one device has of a set of bodies. */
typedef struct gv_copy {
    gravel_bodies *bodies;
    int is_fresh;               /* they are those of the set, but for bodies that moved at `since` or later */
    double since;               /* time of the call before which bodies were sent last */
    uint64_t order, id, soften; /* versions of the set's order and planes then */
    uint64_t mass;
    gravel_tree *tree; /* NULL: not made yet */
    uint64_t build;    /* of the first device's tree, when this one was built; 0: never */
} gv_copy;

/* A set of bodies of the first device, and the copies. */
typedef struct gv_set {
    gravel_bodies *of; /* NULL: none */
    uint64_t turn;     /* when it was used last */
    gv_copy copy[GV_MOST_MEMBERS];
} gv_set;
enum { GV_SHARE_SETS = 2 }; /* bodies, and those that are looked at between blocks */

/* Of the tree that is walked. */
typedef struct gv_share_walk {
    const gravel_tree *tree; /* `order` is that of its build number `build` */
    uint64_t build;
    uint32_t *order; /* addresses in key order */
    uint32_t *mark;  /* of sinks */
    size_t bodies;   /* that they have room for */
    gv_stretch stretch[GV_MOST_MEMBERS];
    int has_speeds;
    double least; /* sinks of a walk that is shared; 0: not known yet */
} gv_share_walk;

/* Host memory that drivers reach fast. */
typedef struct gv_stage_memory {
    cl_mem pinned;
    unsigned char *host;
    size_t size, used;
} gv_stage_memory;

struct gravel_several_share {
    gravel_several *several;  /* devices, solvers, and how fast they are */
    gravel_tree_options tree; /* those of the tree, without its configuration */
    char *configuration;      /* that, or NULL */
    int all_devices;
    gv_worker worker[GV_MOST_MEMBERS];
    cl_kernel kernel[GV_MOST_MEMBERS][GV_SHARE_KERNELS]; /* NULL: not made yet */
    int precision;                                       /* of the bodies that they are for */
    gv_set set[GV_SHARE_SETS];
    uint64_t turn;
    gv_share_walk walk;
    gravel_bodies *sinks[GV_MOST_MEMBERS]; /* copies of the bodies of a block */
    gravel_list *list[GV_MOST_MEMBERS];
    gv_buffer count, total, moved, records[GV_MOST_MEMBERS], address[GV_MOST_MEMBERS];
    gv_stage_memory stage;
    uint32_t *listed; /* sinks of a call in the order in which they are dealt out */
    size_t listed_room;
    gravel_several_share_counts counts;
};

/* Sinks that a device has in a call: numbers `first` ... of those that are dealt out. */
typedef struct gv_deal_part {
    int member;
    size_t first, count;
} gv_deal_part;

/* stage.c.  Staging of so many bytes; what was there is lost. */
gravel_status gv_stage_reserve(gravel_several_share *s, size_t bytes);
void *gv_stage_take(gravel_several_share *s, size_t bytes);
void gv_stage_release(gravel_several_share *s);
/* All queues are empty. */
void gv_share_finish(gravel_several_share *s);
/* copies.c */
gravel_status gv_share_kernel_need(gravel_several_share *s, int member, gv_share_kernel kernel, cl_kernel *made);
/* Of kernels that scan: work-items of a group, bodies of a work-item. */
size_t gv_share_group(const gravel_several_share *s);
size_t gv_share_items(const gravel_several_share *s);
/* The set of these bodies. */
gv_set *gv_share_find_set(gravel_several_share *s, gravel_bodies *bodies);
void gv_set_release(gv_set *set);
/* Kernels are those for bodies of this precision; the ones of found forces are made on all devices. */
gravel_status gv_share_use(gravel_several_share *s, gravel_precision precision);
/* Words of bodies to the host, and from there to a copy. */
size_t gv_words_size(const gravel_bodies *bodies, const gv_word *word, int words);
gravel_status gv_words_read(gravel_bodies *from, const gv_word *word, int words, size_t first, size_t count, void *to);
/* The same, does not wait; `mem`: what to read in place of the words, or NULL. */
gravel_status gv_words_fetch(gravel_bodies *from, const gv_word *word, const cl_mem *mem, int words, size_t first,
                             size_t count, void *to);
gravel_status gv_words_write(const gravel_bodies *of, gravel_bodies *to, const gv_word *word, int words, size_t first,
                             size_t count, const void *from);
/* Planes of `to` that have some of these words and that `of` has were written. */
void gv_words_changed(const gravel_bodies *of, gravel_bodies *to, const gv_word *word, int words);
/* A set like these bodies, of at least so many, on a member. */
gravel_status gv_copy_make(gravel_several_share *s, int member, const gravel_bodies *like, size_t count,
                           gravel_bodies **copy);
/* As many bodies as there are in the set. */
gravel_status gv_copy_fit(gravel_several_share *s, int member, const gravel_bodies *of, gv_copy *copy);
/* What goes to the copies of a set before a call. */
enum { GV_SENT_WORDS = 12 };
typedef struct gv_sending {
    gv_set *set;
    int predict, near[GV_MOST_MEMBERS]; /* near: to this device only what has moved */
    double time;
    gv_word word[GV_SENT_WORDS]; /* of all bodies */
    cl_mem mem[GV_SENT_WORDS];
    int words;
    int is_predicted; /* as the first device has predicted them: gv_direct_start_predicted */
    void *planes, *address, *record;
    size_t moved;
} gv_sending;
/* Copies of the set are to be the bodies as the call sees them, on the members of `part`: read from the first device,
 * not waited for.  Bytes of staging beside these that the call wants: `more`. */
gravel_status gv_set_read(gravel_several_share *s, gravel_direct *direct, const gravel_direct_call *call,
                          const gv_deal_part *part, int parts, size_t more, gv_sending *sending);
/* ... and written to one of them, by any thread. */
gravel_status gv_set_write(gravel_several_share *s, int member, const gv_sending *sending);
/* moved.c.  Bodies whose time is `since` or later, into s->moved; waits for their number. */
gravel_status gv_moved_list(gravel_several_share *s, gravel_bodies *bodies, double since, size_t *moved);
size_t gv_moved_size(const gravel_bodies *bodies); /* bytes of a record */
/* Their addresses and records to the host; waits. */
gravel_status gv_moved_take(gravel_several_share *s, gravel_bodies *bodies, size_t moved, void *address, void *record);
/* ... and into the copy on a member. */
gravel_status gv_moved_put(gravel_several_share *s, int member, const gravel_bodies *of, gravel_bodies *to,
                           size_t moved, const void *address, const void *record);
/* Accelerations and potentials of the listed bodies of a copy on their way to the host; and from there into the planes
 * of the first device. */
gravel_status gv_found_read(gravel_several_share *s, int member, gravel_bodies *copy, const gravel_list *list,
                            size_t count, void *to);
gravel_status gv_found_write(gravel_several_share *s, gravel_bodies *to, const uint32_t *address, size_t count,
                             const void *from);

/* trial.c: the team that is fastest for such a call, by times of blocks that are measured once and kept. */
gravel_status gv_share_choose(gravel_several_share *s, int order, size_t sinks, size_t sources, int *team);

/* share.c.  All but the devices. */
void gv_share_drop(gravel_several_share *s);
gravel_status gv_share_need_listed(gravel_several_share *s, size_t count);
gravel_status gv_share_need_list(gravel_several_share *s, int member);
/* Addresses of a view's list. */
gravel_status gv_share_read_list(const gravel_list *list, uint32_t *address);

#endif

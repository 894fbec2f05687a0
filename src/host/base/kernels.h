/* Text files that the build puts into the library (site_scons/embed.py): kernels and shipped profiles. */
#ifndef GV_KERNELS_H
#define GV_KERNELS_H

#include <stddef.h>

typedef struct gv_kernel_file {
    const char *name; /* below kernels/ or tuning_db/: "direct/force.cl" */
    const char *text; /* ends with a zero byte that `size` does not count */
    size_t size;
} gv_kernel_file;

/* in the order of their names; the entry after the last has name 0 */
extern const gv_kernel_file gv_kernel_files[];
extern const int gv_kernel_file_count;
extern const gv_kernel_file gv_profile_files[];
extern const int gv_profile_file_count;

#endif

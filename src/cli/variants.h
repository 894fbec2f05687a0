/* Which variants a subcommand works on. */
#ifndef GV_VARIANTS_H
#define GV_VARIANTS_H

#include "cli/cli.h"
#include "host/profile/space.h"

enum { GV_VARIANTS = 9 };

/* "sp2,ds4", or all nine for NULL; those that the device cannot do are left out.  Returns an exit
 * code: GV_EXIT_USAGE for an unknown name and where none is left. */
int gv_variants_choose(const char *command, const char *list, const gravel_device_info *device,
                       gv_variant variant[GV_VARIANTS], int *count);

#endif

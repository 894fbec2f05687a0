/* gravel: what programs for Phantom-GRAPE (FDPS's samples) include; see gravel/g5.h.
 *
 *     gcc -I/usr/local/include/gravel/compat program.c -lgravel_g5 */
#ifndef GRAVEL_COMPAT_GP5UTIL_H
#define GRAVEL_COMPAT_GP5UTIL_H

#include "../g5.h"

#endif

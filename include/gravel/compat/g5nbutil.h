/* gravel: what programs for GRAPE-7 (REBOUND) include; see gravel/g5.h.
 *
 *     gcc -I/usr/local/include/gravel/compat program.c -lgravel_g5 */
#ifndef GRAVEL_COMPAT_G5NBUTIL_H
#define GRAVEL_COMPAT_G5NBUTIL_H

#include "../g5.h"

#endif

#ifndef GV_PROFILES_DIFF_H
#define GV_PROFILES_DIFF_H

#include "gravel/gravel.h"

/* Prints how the second file's configurations and times differ from the first one's; `all`: those that agree, too. */
gravel_status gv_profiles_diff(const char *first, const char *second, int all);

#endif

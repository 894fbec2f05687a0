#include "host/base/memory.h"

#include <stdio.h>
#include <unistd.h>

double gv_memory_free(void)
{
    double kib = 0;
    char line[128];
    FILE *info = fopen("/proc/meminfo", "r");
    while (info && kib == 0 && fgets(line, sizeof line, info))
        if (sscanf(line, "MemAvailable: %lf kB", &kib) != 1)
            kib = 0;
    if (info)
        fclose(info);
    return kib > 0 ? 1024 * kib : (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

gravel_status gv_memory_holds(double count, double each, const char *what)
{
    const double small = 1 << 28; /* not worth a look */
    const double there = count * each < small ? 0 : gv_memory_free();
    if (!(there > 0) || count * each <= there)
        return GRAVEL_OK;
    return gv_fail(GRAVEL_ERR_MEMORY, "%.0f %s need %.1f GB of memory, %.1f GB are free: %.2g would fit", count, what,
                   1e-9 * count * each, 1e-9 * there, 0.99 * there / each);
}

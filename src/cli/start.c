#include "cli/start.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/say.h"
#include "host/base/files.h"

void gv_streams_open(void)
{
    static const int wrong_way[3] = {O_WRONLY, O_RDONLY, O_RDONLY};

    /* open() returns the lowest free descriptor, which is the missing one */
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", wrong_way[fd]) != fd)
            return;
}

/* The folder, or what is there of the path to it; nothing is made for a command that may need no device. */
static int may_be_made(const char *folder)
{
    struct stat about;
    char *part = gv_format("%s", folder);
    int good;

    for (char *end = part ? strrchr(part, '/') : NULL; end && end != part && stat(part, &about) != 0;
         end = strrchr(part, '/'))
        *end = '\0';
    good = part && stat(part, &about) == 0 && S_ISDIR(about.st_mode) && access(part, W_OK | X_OK) == 0;
    free(part);
    return good;
}

void gv_pocl_folder(int tell)
{
    const char *xdg = gv_env("XDG_CACHE_HOME"), *home = gv_env("HOME"), *tmp = gv_env("TMPDIR");
    char *usual = xdg ? gv_format("%s/pocl", xdg) : home ? gv_format("%s/.cache/pocl", home) : NULL, *ours = NULL;
    struct stat about;

    if (gv_env("POCL_CACHE_DIR") == NULL)
        unsetenv("POCL_CACHE_DIR"); /* PoCL ends the process where it is empty */
    if (getenv("POCL_CACHE_DIR") == NULL && usual && !may_be_made(usual)) {
        ours = gv_format("%s/gravel-pocl-%ld", tmp ? tmp : "/tmp", (long)geteuid());
        if (ours && gv_folder_make(ours) == GRAVEL_OK && lstat(ours, &about) == 0 && S_ISDIR(about.st_mode) &&
            !gv_not_own(&about)) {
            setenv("POCL_CACHE_DIR", ours, 1);
            if (tell)
                gv_say("gravel", "warning: %s cannot be written; PoCL keeps its kernels in %s", usual, ours);
        }
    }
    free(usual);
    free(ours);
}

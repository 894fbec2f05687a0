/* The cache directory: results that cost time and can be made again.  Nothing here fails: what is not there, damaged,
 * cut short or from another version is not found, what cannot be written is not kept. */
#ifndef GV_CACHE_H
#define GV_CACHE_H

#include "host/base/digest.h"
#include "host/device/context.h"

enum { GV_CACHE_HEADER = 96 }; /* bytes before the data of an entry */

/* The folder may hold this many bytes before the oldest entries go. */
#define GV_CACHE_LIMIT ((uint64_t)256 << 20)

int gv_cache_has_folder(const gravel_context *context); /* 0: nothing is found, nothing kept */

/* The data stored as <cache_dir>/<kind>-<key in hex>; 1 if found, then malloc'd with a zero byte behind.  `key` is the
 * digest of everything that the data depends on. */
int gv_cache_load(gravel_context *context, const char *kind, const gv_digest *key, unsigned char **data, size_t *size);
void gv_cache_store(gravel_context *context, const char *kind, const gv_digest *key, const void *data, size_t size);
/* For what is measured: the first of several processes decides, so that all go on alike.  Keeps `data`, or replaces it
 * by what another has kept in the meantime. */
void gv_cache_agree(gravel_context *context, const char *kind, const gv_digest *key, void *data, size_t size);
/* Waits for others that make what belongs to this key; gv_file_unlock ends it.  -1: nobody is waited for: there is no
 * folder, or it knows no locks. */
int gv_cache_lock(gravel_context *context, const gv_digest *key);
/* Removes the oldest entries until `limit` bytes or less remain, and temporary files that were left unfinished. */
void gv_cache_prune(const char *folder, uint64_t limit);

#endif

/* Proofs: a configuration is tried on a known problem before its first use on a device, and the verdict is kept in the
 * cache directory, under the device, the driver, the kernel's text and the configuration. */
#ifndef GV_PROOF_H
#define GV_PROOF_H

#include "host/profile/profile.h"

/* The configuration that is chosen is used if it is right; else, with a warning, the built-in one, else a plain one of
 * the space.  ERR_UNSUPPORTED: none is right.  Without a proof (a space without one, kernels from a folder, programs
 * for once) everything is. */
gravel_status gv_proof_settle(gravel_context *context, int device, const gv_space *space, const gv_variant *variant,
                              size_t sinks, size_t sources, gv_config *config, gravel_origin *origin);
/* Whether this program with a configuration that is in use already, of another program, is right.  ERR_UNSUPPORTED: its
 * forces are not; without a proof everything is. */
gravel_status gv_proof_require(gravel_context *context, int device, const gv_space *space, const gv_variant *variant,
                               const gv_config *config);
void gv_proof_release(gravel_context *context);

#endif

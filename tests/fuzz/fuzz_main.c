/* libFuzzer's entry; GV_FUZZ_TARGET is the number of the target (scons fuzz=1). */
#include "fuzz/targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gv_fuzz_target_of[GV_FUZZ_TARGET].run(data, size);
    return 0;
}

/* Order between work-groups.
 *
 *   gv_device_fence()  a work-group that reads what this work-item writes after the fence also reads all that it wrote
 *                      before; reads after the fence get what others wrote before theirs.  OpenCL 1.2 has no such
 *                      fence: defined where one is reached through inline assembly only (GV_PTX_ASM).
 */
#ifdef GV_PTX_ASM
#define gv_device_fence() __asm volatile("membar.gl;" : : : "memory")
#endif

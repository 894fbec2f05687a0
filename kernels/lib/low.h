/* Low words of planes, which exist in ds only: reading and writing one without asking for the precision. */
#if GV_PRECISION == GV_DS
#define gv_low(word, k) (word)[k]
#define gv_put_low(word, k, value) ((word)[k] = (value))
#else
#define gv_low(word, k) 0
#define gv_put_low(word, k, value)
#endif

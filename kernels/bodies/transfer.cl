/* Copies numbers of some bodies between planes and a batch, the buffer that goes to or comes from the host.
 *
 *   GV_NUMBER_SIZE  4 or 8: bytes of a stored number
 *   GV_FIELDS       words that one launch serves at most: 2, 8 or 24
 *   GV_INLINE       numbers of a batch that is small enough to be an argument of its own
 *
 * A batch is `head` numbers that hold the addresses (32 bits each; head 0: there are none, entry k is body first + k),
 * then columns of `count` numbers, a component each, in the order of the fields.  A field is some components of a word,
 * in 8 bits, four fields a uint:
 *
 *   bits 0, 1  first component      bits 2, 3  number of components; 0: the field is not used
 *   bit 4      the word has four numbers an entry, else one
 *   bit 5      the word has 4 bytes a number though others have 8 (ids)
 *
 * Numbers are moved as bits, whatever their type. */
#if GV_NUMBER_SIZE == 4
typedef uint gv_number;
#elif GV_NUMBER_SIZE == 8
typedef ulong gv_number;
#else
#error "GV_NUMBER_SIZE must be 4 or 8: bytes of a stored number"
#endif

#define GV_EACH_2(x) x(0) x(1)
#define GV_EACH_8(x) GV_EACH_2(x) x(2) x(3) x(4) x(5) x(6) x(7)
#define GV_EACH_24(x)                                                                                                  \
    GV_EACH_8(x)                                                                                                       \
    x(8) x(9) x(10) x(11) x(12) x(13) x(14) x(15) x(16) x(17) x(18) x(19) x(20) x(21) x(22) x(23)
#if GV_FIELDS == 2
#define GV_EACH GV_EACH_2
#elif GV_FIELDS == 8
#define GV_EACH GV_EACH_8
#elif GV_FIELDS == 24
#define GV_EACH GV_EACH_24
#else
#error "GV_FIELDS must be 2, 8 or 24: words that one launch serves"
#endif
#ifndef GV_INLINE
#error "GV_INLINE must be set: numbers of a batch that is passed by value"
#endif
#define GV_WORD_ARGUMENT(k) , global gv_number *word_##k

/* marks an entry that is skipped: a later one of the same batch has the same address */
#define GV_NO_BODY 0xffffffffu

static inline uint gv_field(const uint *fields, uint k)
{
    return fields[k / 4] >> (8 * (k % 4)) & 0xff;
}

static inline uint gv_components(uint field)
{
    return field >> 2 & 3;
}

static inline size_t gv_place(uint field, size_t body)
{
    return (field & 16 ? 4 * body : body) + (field & 3);
}

static inline void gv_put(uint field, global gv_number *word, size_t body, uint c, gv_number number)
{
    const size_t at = gv_place(field, body) + c;
    if (field & 32)
        ((global uint *)word)[at] = (uint)number;
    else
        word[at] = number;
}

static inline void gv_get(uint field, global gv_number *column, uint count, global const gv_number *word, size_t body)
{
    const size_t at = gv_place(field, body);
    for (uint c = 0; c < gv_components(field); c++)
        column[(size_t)c * count] = field & 32 ? ((global const uint *)word)[at + c] : word[at + c];
}

/* from the batch into planes */
kernel void gv_bodies_put(global const gv_number *batch, uint head, uint first, uint count,
                          uint8 fields GV_EACH(GV_WORD_ARGUMENT))
{
    const uint k = get_global_id(0);
    if (k >= count)
        return;
    const uint body = head > 0 ? ((global const uint *)batch)[k] : first + k;
    if (body == GV_NO_BODY)
        return;
    uint field[8];
    vstore8(fields, 0, field);
    global const gv_number *column = batch + head + k;
#define GV_PUT(n)                                                                                                      \
    for (uint c = 0; c < gv_components(gv_field(field, n)); c++, column += count)                                      \
        gv_put(gv_field(field, n), word_##n, body, c, *column);
    GV_EACH(GV_PUT)
}

typedef struct gv_inline_batch {
    gv_number number[GV_INLINE];
} gv_inline_batch;

/* the same for a batch that is a kernel argument; addresses are numbers here, whatever their size */
kernel void gv_bodies_put_inline(gv_inline_batch batch, uint head, uint first, uint count,
                                 uint8 fields GV_EACH(GV_WORD_ARGUMENT))
{
    const uint k = get_global_id(0);
    if (k >= count)
        return;
    const uint body = head > 0 ? (uint)batch.number[k] : first + k;
    if (body == GV_NO_BODY)
        return;
    uint field[8];
    vstore8(fields, 0, field);
    uint at = head + k;
#define GV_PUT_INLINE(n)                                                                                               \
    for (uint c = 0; c < gv_components(gv_field(field, n)); c++, at += count)                                          \
        gv_put(gv_field(field, n), word_##n, body, c, batch.number[at]);
    GV_EACH(GV_PUT_INLINE)
}

/* from planes into the batch */
kernel void gv_bodies_get(global gv_number *batch, uint head, uint first, uint count,
                          uint8 fields GV_EACH(GV_WORD_ARGUMENT))
{
    const uint k = get_global_id(0);
    if (k >= count)
        return;
    const uint body = head > 0 ? ((global const uint *)batch)[k] : first + k;
    uint field[8];
    vstore8(fields, 0, field);
    global gv_number *column = batch + head + k;
#define GV_GET(n)                                                                                                      \
    gv_get(gv_field(field, n), column, count, word_##n, body);                                                         \
    column += (size_t)gv_components(gv_field(field, n)) * count;
    GV_EACH(GV_GET)
}

/* one number into a field of bodies first ... first + count - 1 */
kernel void gv_bodies_fill(ulong number, uint field, uint first, uint count, global gv_number *word)
{
    const uint k = get_global_id(0);
    if (k >= count)
        return;
    const size_t at = gv_place(field, (size_t)first + k);
    for (uint c = 0; c < gv_components(field); c++)
        if (field & 32)
            ((global uint *)word)[at + c] = (uint)number;
        else
            word[at + c] = (gv_number)number;
}

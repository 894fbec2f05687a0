#include "sim/decimal.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide;

enum { MAX_POWER = 27 };

static const uint64_t five[MAX_POWER + 1] = {
    UINT64_C(1),
    UINT64_C(5),
    UINT64_C(25),
    UINT64_C(125),
    UINT64_C(625),
    UINT64_C(3125),
    UINT64_C(15625),
    UINT64_C(78125),
    UINT64_C(390625),
    UINT64_C(1953125),
    UINT64_C(9765625),
    UINT64_C(48828125),
    UINT64_C(244140625),
    UINT64_C(1220703125),
    UINT64_C(6103515625),
    UINT64_C(30517578125),
    UINT64_C(152587890625),
    UINT64_C(762939453125),
    UINT64_C(3814697265625),
    UINT64_C(19073486328125),
    UINT64_C(95367431640625),
    UINT64_C(476837158203125),
    UINT64_C(2384185791015625),
    UINT64_C(11920928955078125),
    UINT64_C(59604644775390625),
    UINT64_C(298023223876953125),
    UINT64_C(1490116119384765625),
    UINT64_C(7450580596923828125),
};

static int bit_length(wide x)
{
    const uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;
    return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

/* x / 2^shift to the nearest, ties to even; `sticky`: x stands for a little more than x. */
static wide shift_rounded(wide x, int shift, int sticky)
{
    const wide quotient = x >> shift, rest = x & (((wide)1 << shift) - 1), half = (wide)1 << (shift - 1);
    return quotient + (rest > half || (rest == half && (sticky || (quotient & 1))));
}

/* x 2^exponent for results far from overflow and underflow */
static double to_double(wide x, int exponent, int sticky)
{
    const int length = bit_length(x);
    uint64_t bits;
    double value;
    if (length <= 53) { /* exact; sticky comes with long x only */
        x <<= 53 - length;
        exponent -= 53 - length;
    } else {
        x = shift_rounded(x, length - 53, sticky);
        exponent += length - 53;
    }
    /* Adding instead of masking off the leading one: a carry to 2^53 goes into the exponent as it should. */
    bits = ((uint64_t)(exponent + 52 + 1023) << 52) + ((uint64_t)x - (UINT64_C(1) << 52));
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* digits 10^power */
static double compose(uint64_t digits, int power)
{
    if (power >= 0)
        return to_double((wide)digits * five[power], power, 0);
    const int shift = __builtin_clzll(digits) + 63; /* the quotient then has at least 64 bits */
    const wide numerator = (wide)digits << shift;
    const uint64_t divisor = five[-power];
    const wide quotient = numerator / divisor;
    return to_double(quotient, power - shift, quotient * divisor != numerator);
}
#else
enum { MAX_POWER = -1 };
#endif

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

const char *gv_decimal_read(const char *text, double *value)
{
    const char *p = text + (*text == '-' || *text == '+');
    uint64_t digits = 0;
    int significant = 0, power = 0, any = 0;
    for (int fraction = 0;; p++) {
        if (is_digit(*p)) {
            any = 1;
            significant += significant > 0 || *p != '0';
            digits = digits * 10 + (uint64_t)(*p - '0'); /* wraps from 20 digits on; not used then */
            power -= fraction;
        } else if (*p == '.' && !fraction) {
            fraction = 1;
        } else {
            break;
        }
    }
    if (!any)
        return NULL;
    if (*p == 'e' || *p == 'E') {
        const char *e = p + 1 + (p[1] == '-' || p[1] == '+');
        int exponent = 0;
        if (!is_digit(*e))
            return NULL;
        for (; is_digit(*e); e++)
            exponent = exponent < 100000 ? exponent * 10 + (*e - '0') : exponent;
        power += p[1] == '-' ? -exponent : exponent;
        p = e;
    }
#ifdef __SIZEOF_INT128__
    if (significant <= 19 && power >= -MAX_POWER && power <= MAX_POWER) {
        const double magnitude = digits ? compose(digits, power) : 0.0;
        *value = *text == '-' ? -magnitude : magnitude;
        return p;
    }
#endif
    *value = strtod(text, NULL);
    return p;
}

#ifdef __SIZEOF_INT128__
static const uint64_t ten16 = UINT64_C(10000000000000000);

/* round(mantissa 2^exponent / 10^(decimal - 16)): 17 digits if `decimal` is right.  0: out of the exact range. */
static uint64_t seventeen_digits(uint64_t mantissa, int exponent, int decimal)
{
    const int power = 16 - decimal;
    if (power >= 0 && power <= MAX_POWER) {
        const wide product = (wide)mantissa * five[power];
        const int shift = -(exponent + power);
        if (shift >= 120 || shift <= -64)
            return 0;
        return (uint64_t)(shift > 0 ? shift_rounded(product, shift, 0) : product << -shift);
    }
    /* mantissa 2^(exponent + power) / 5^-power with room for one more bit, so that the last rounding sees halves */
    if (power < 0 && power >= -MAX_POWER && exponent + power >= 0 && exponent + power <= 73) {
        const wide numerator = (wide)mantissa << (exponent + power + 1);
        const wide quotient = numerator / five[-power];
        return (uint64_t)shift_rounded(quotient, 1, quotient * five[-power] != numerator);
    }
    return 0;
}

static char *write_two(char *out, unsigned value)
{
    out[0] = (char)('0' + value / 10);
    out[1] = (char)('0' + value % 10);
    return out + 2;
}

static char *write_digits(char *out, uint64_t digits, int decimal)
{
    *out++ = (char)('0' + digits / ten16);
    *out++ = '.';
    digits %= ten16;
    const uint64_t halves[2] = {digits / 100000000, digits % 100000000};
    for (int h = 0; h < 2; h++) {
        unsigned eight = (unsigned)halves[h];
        out = write_two(out, eight / 1000000);
        out = write_two(out, eight / 10000 % 100);
        out = write_two(out, eight / 100 % 100);
        out = write_two(out, eight % 100);
    }
    *out++ = 'e';
    *out++ = decimal < 0 ? '-' : '+';
    return write_two(out, (unsigned)(decimal < 0 ? -decimal : decimal));
}

static char *write_exact(char *out, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const int field = (int)(bits >> 52 & 0x7ff);
    const uint64_t mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    if (field == 0 && value != 0) /* subnormal */
        return NULL;
    const int exponent = field - 1075;
    if (bits >> 63)
        *out++ = '-';
    if (value == 0)
        return write_digits(out, 0, 0);
    /* floor(log10 2^(exponent+52)): right or one too low; 1233/4096 = 0.30103 */
    int decimal = (exponent + 52) * 1233 >> 12;
    for (int attempt = 0; attempt < 3; attempt++) {
        const uint64_t digits = seventeen_digits(mantissa, exponent, decimal);
        if (digits == 0)
            return NULL;
        if (digits >= ten16 && digits < 10 * ten16)
            return write_digits(out, digits, decimal);
        decimal += digits < ten16 ? -1 : 1;
    }
    return NULL;
}
#endif

char *gv_decimal_write(char *out, double value)
{
#ifdef __SIZEOF_INT128__
    char *end = write_exact(out, value);
    if (end != NULL)
        return end;
#endif
    char text[40];
    const int n = snprintf(text, sizeof text, "%.16e", value);
    memcpy(out, text, (size_t)n);
    return out + n;
}

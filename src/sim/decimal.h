/* Numbers as text, both ways correctly rounded and several times faster than the C library for the values that N-body
 * files hold.  Integer arithmetic is exact while the power of five fits 63 bits (10^-27 ... 10^27 beside the digits);
 * beyond that the C library is used. */
#ifndef GV_DECIMAL_H
#define GV_DECIMAL_H

/* Reads a decimal number; returns the first character behind it, or NULL if none begins at `text`.  The text must end
 * with a character that is no part of a number (a newline does).  Too large for a double gives infinity; nan, inf and
 * hexadecimal are not numbers here. */
const char *gv_decimal_read(const char *text, double *value);

/* Writes a finite number with 17 significant digits, "-1.2345678901234567e-01", without a terminating zero; returns the
 * end.  Takes at most GV_DECIMAL_SIZE characters. */
enum { GV_DECIMAL_SIZE = 25 };
char *gv_decimal_write(char *out, double value);

#endif

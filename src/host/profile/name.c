/* Names of devices: one normaliser for everything that stores or compares them. */
#include <ctype.h>
#include <string.h>

#include "host/profile/store.h"

/* Length of the valid UTF-8 sequence at s, 0 if there is none.  Overlong forms and surrogates are not valid. */
static size_t utf8_length(const unsigned char *s)
{
    size_t n;
    unsigned long code;

    if (s[0] < 0x80)
        return 1;
    n = s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 0;
    if (s[0] >= 0xf5 || n == 0)
        return 0;
    code = s[0] & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (s[i] & 0x3fu);
    }
    if ((n == 3 && (code < 0x800 || (code >= 0xd800 && code < 0xe000))) ||
        (n == 4 && (code < 0x10000 || code > 0x10ffff))) {
        return 0;
    }
    return n;
}

void gv_name_clean(const char *name, char clean[GRAVEL_NAME_SIZE])
{
    const unsigned char *s = (const unsigned char *)name;
    size_t out = 0;
    int blank = 0;

    while (*s != '\0') {
        size_t n = utf8_length(s);

        if (n == 1 && (*s <= ' ' || *s == 0x7f)) {
            blank = out > 0;
            s++;
            continue;
        }
        if (out + (size_t)blank + (n == 0 ? 1 : n) >= GRAVEL_NAME_SIZE)
            break;
        if (blank) {
            clean[out++] = ' ';
            blank = 0;
        }
        if (n == 0) {
            clean[out++] = '?';
            s++;
        } else {
            memcpy(clean + out, s, n);
            out += n;
            s += n;
        }
    }
    clean[out] = '\0';
}

/* Bytes of a mark like "(R)" at s, 0 if there is none. */
static size_t mark_length(const char *s)
{
    static const char *const mark[] = {"(r)", "(tm)", "(c)"};

    for (size_t m = 0; m < sizeof mark / sizeof mark[0]; m++) {
        size_t i = 0;

        while (mark[m][i] != '\0' && tolower((unsigned char)s[i]) == mark[m][i])
            i++;
        if (mark[m][i] == '\0')
            return i;
    }
    return 0;
}

void gv_name_key(const char *name, char key[GRAVEL_NAME_SIZE])
{
    char clean[GRAVEL_NAME_SIZE];
    size_t out = 0, mark;
    int blank = 0;

    gv_name_clean(name, clean);
    for (const char *s = clean; *s != '\0'; s++) {
        unsigned char c = (unsigned char)*s;

        if ((mark = mark_length(s)) > 0) {
            blank = out > 0;
            s += mark - 1;
        } else if (c < 0x80 && isalnum(c)) {
            if (blank) {
                key[out++] = ' ';
                blank = 0;
            }
            key[out++] = (char)tolower(c);
        } else {
            blank = out > 0;
        }
    }
    key[out] = '\0';
}

int gv_name_same(const char *a, const char *b)
{
    char key_a[GRAVEL_NAME_SIZE], key_b[GRAVEL_NAME_SIZE];

    if (strcmp(a, b) == 0)
        return 1;
    gv_name_key(a, key_a);
    gv_name_key(b, key_b);
    return strcmp(key_a, key_b) == 0;
}

void gv_name_family(const char *name, char family[GRAVEL_NAME_SIZE])
{
    char *s, *word;
    size_t digits;

    gv_name_key(name, family);
    for (s = family; *s != '\0' && !isdigit((unsigned char)*s); s++) {
    }
    if (*s == '\0')
        return;
    for (word = s; word > family && word[-1] != ' '; word--) {
    }
    for (digits = 0; isdigit((unsigned char)s[digits]); digits++) {
    }
    /* "gfx90a", "gfx1100": the last two digits are the chip and its stepping; "4090", "2080": the first two are the
     * generation; "h100", "v100": the letter is. */
    if (strncmp(word, "gfx", 3) == 0) {
        size_t n = strcspn(word, " ");

        word[n > 5 ? n - 2 : n] = '\0';
    } else {
        s[digits >= 4 ? digits - 2 : 0] = '\0';
    }
    for (size_t n = strlen(family); n > 0 && family[n - 1] == ' '; n--)
        family[n - 1] = '\0';
}

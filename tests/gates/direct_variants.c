/* Lists what the library would compile for every direct variant in its default configurations on a GPU that is not
 * here: one line "<variant> <sinks> <options>" for each distinct set of options.
 *
 *   direct_variants COMPUTE_UNITS MAX_GROUP LOCAL_MEMORY
 */
#include "host/direct/plan.h"
#include "target.h"

enum { MAX_SEEN = 64, TEXT = 1024 };

static const size_t sinks[] = {1, 8, 32, 48, 128, 512, 4096, 131072};
static const size_t sources[] = {1024, 20000, 131072, 1048576};

static void name_variant(const gv_variant *variant, char *text, size_t size)
{
    snprintf(text, size, "%s%s%s%s%s", variant->name, variant->features & GV_DIRECT_NEAREST ? "+nearest" : "",
             variant->features & GV_DIRECT_LISTS ? "+lists" : "",
             variant->features & GV_DIRECT_LEAVE_OUT ? "+left_out" : "",
             variant->features & GV_DIRECT_UNSOFTENED ? "+unsoftened" : "");
}

static int list_variant(const gv_variant *variant, const gv_limits *limits)
{
    static char seen[MAX_SEEN][TEXT];
    int n_seen = 0;
    char name[64];
    name_variant(variant, name, sizeof name);
    for (size_t i = 0; i < sizeof sinks / sizeof sinks[0]; i++)
        for (size_t j = 0; j < sizeof sources / sizeof sources[0]; j++) {
            gv_config config;
            char options[TEXT];
            gv_direct_space.built_in(&config, variant, limits, sinks[i], sources[j]);
            const char *broken = gv_space_can_run(&gv_direct_space, &config, variant, limits);
            if (broken != NULL) {
                fprintf(stderr, "%s, %zu sinks: the default configuration breaks a constraint: %s\n", name, sinks[i],
                        broken);
                return 1;
            }
            gv_direct_program_options(variant, GRAVEL_SOFTEN_EPS, &config, options, sizeof options);
            int known = 0;
            for (int k = 0; k < n_seen; k++)
                known = known || strcmp(seen[k], options) == 0;
            if (known || n_seen == MAX_SEEN)
                continue;
            strcpy(seen[n_seen++], options);
            printf("%s %zu %s\n", name, sinks[i], options);
        }
    return 0;
}

static void print_shape(const gv_variant *variant, const gv_config *config, const char *name, const char *macros)
{
    char options[TEXT];
    gv_direct_program_options(variant, GRAVEL_SOFTEN_EPS, config, options, sizeof options);
    printf("%s+%s 131072 %s %s\n", variant->name, name, options, macros);
}

/* What calls of order 2 may ask for beside features, in the configuration for many sinks. */
static void list_shapes(gravel_precision precision, const gv_limits *limits)
{
    gv_variant variant;
    gv_config config;
    gv_variant_set(&variant, 2, precision, 0);
    gv_direct_space.built_in(&config, &variant, limits, 131072, 131072);
    if (precision != GRAVEL_DS) /* which calls erfc so often that it stays a function */
        print_shape(&variant, &config, "truncated", "-DGV_SHAPE=2");
    print_shape(&variant, &config, "even_table", "-DGV_SHAPE=3 -DGV_TABLE_OF=0 -DGV_TABLE_LEVEL=3 -DGV_TABLE_BITS=0");
    print_shape(&variant, &config, "table", "-DGV_SHAPE=3 -DGV_TABLE_OF=1 -DGV_TABLE_LEVEL=3 -DGV_TABLE_BITS=5");
    gv_direct_fit_quadrupoles(&config, &variant, GRAVEL_SOFTEN_EPS, limits->info.local_memory);
    print_shape(&variant, &config, "quadrupoles", "-DGV_QUADRUPOLE=1");
}

int main(int argc, char **argv)
{
    gv_limits limits;
    if (!gv_target(argc, argv, &limits))
        return 2;
    static const unsigned features[] = {0, GV_DIRECT_NEAREST, GV_DIRECT_LISTS, GV_DIRECT_NEAREST | GV_DIRECT_LISTS};
    for (int unsoftened = 0; unsoftened <= 1; unsoftened++)
        for (int order = 2; order <= 6; order += 2)
            for (int precision = GRAVEL_SP; precision <= GRAVEL_DP; precision++)
                for (size_t f = 0; f < sizeof features / sizeof features[0]; f++) {
                    gv_variant variant;
                    gv_variant_set(&variant, order, (gravel_precision)precision,
                                   features[f] | (unsoftened ? GV_DIRECT_UNSOFTENED : 0));
                    if (list_variant(&variant, &limits))
                        return 1;
                }
    /* the regular force of a neighbour scheme: lists by the rule that takes most */
    for (int precision = GRAVEL_SP; precision <= GRAVEL_DP; precision++) {
        gv_variant variant;
        gv_variant_set(&variant, 4, (gravel_precision)precision,
                       GV_DIRECT_LISTS | GV_DIRECT_SPHERE_MASS | GV_DIRECT_AHEAD | GV_DIRECT_LEAVE_OUT |
                           GV_DIRECT_UNSOFTENED);
        if (list_variant(&variant, &limits))
            return 1;
        list_shapes((gravel_precision)precision, &limits);
    }
    return 0;
}

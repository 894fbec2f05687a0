/* Devices without double precision: what is refused, what runs, and that sp and ds name no double in a kernel. */
#include "host/program/program.h"
#include "problem.h"

/* Without double: dp is refused, sp and ds run in every order with every feature, and no program was built with
 * GV_HAVE_FP64. */
static void without_fp64(void **state)
{
    gravel_context_options options = GRAVEL_CONTEXT_OPTIONS_INIT;
    gravel_direct_options o = GRAVEL_DIRECT_OPTIONS_INIT;
    gravel_context *context;
    gravel_direct *d;
    (void)state;
    SKIP_WITHOUT_DEVICE();
    options.no_fp64 = 1;
    assert_ok(gravel_context_create(&context, &options));
    context->for_once = 1;
    assert_int_equal(gravel_context_get_device(context, 0)->has_fp64, 0);
    assert_null(strstr(context->device[0].feature_options, "FP64"));
    o.precision = GRAVEL_DP;
    assert_int_equal(gravel_direct_create(&d, context, &o), GRAVEL_ERR_UNSUPPORTED);
    assert_contains(gravel_error_message(), "no double precision");
    bodies b = bodies_new(100, 7);
    double radius[100];
    for (size_t i = 0; i < 100; i++)
        radius[i] = 0.5;
    const gv_ref_particles v = view_of(&b, 0, 100);
    const gravel_sinks in = sinks_of(&b, 0, 100, radius);
    for (int p = GRAVEL_SP; p <= GRAVEL_DS; p++)
        for (int order = 2; order <= 6; order += 2) {
            d = direct_new(
                context,
                (direct_want){
                    .order = order, .precision = (gravel_precision)p, .nearest = 1, .capacity = 30, .prediction = 1});
            direct_write(d, &b, 0, 100);
            results got = direct_run(d, &in, 0.1, 30), want = reference_run(order, &v, &v, 0.1, radius, 30);
            assert_forces(&got, &want, order, (gravel_precision)p, &v, &v, 0.1, "without fp64");
            assert_nearest(&got, &want, (gravel_precision)p, &v, &v, "without fp64");
            assert_lists(&got, (gravel_precision)p, &v, &v, radius, "without fp64");
            results_free(&got);
            results_free(&want);
            gravel_direct_release(d);
        }
    bodies_free(&b);
    gravel_context_release(context);
}

/* The text that the compiler gets for sp and ds mentions double only behind the macros of dp: with every
 * conditional block of them removed no such word is left.  Comments are removed first. */
static void strip_comments(char *text)
{
    for (char *c = text; *c; c++) {
        const char *end = c[0] == '/' && c[1] == '*' ? strstr(c + 2, "*/") : NULL;
        if (!end && c[0] == '/' && c[1] == '/')
            end = strchr(c, '\n') ? strchr(c, '\n') - 2 : NULL;
        for (; end && c < end + 2; c++)
            *c = *c == '\n' ? '\n' : ' ';
        if (!*c)
            break;
    }
}

/* Is this conditional line one that only dp takes? */
static int only_for_dp(const char *line)
{
    return (strstr(line, "GV_PRECISION == GV_DP") || strstr(line, "GV_OTHER == GV_DP")) && !strstr(line, "||") &&
           !strstr(line, "!");
}

static void no_double_outside_dp(void **state)
{
    (void)state;
    static const char *const file[] = {"direct/force.cl", "direct/reduce.cl", "direct/take.cl", "direct/lists.cl"};
    for (size_t k = 0; k < 4; k++) {
        char *text;
        int depth = 0, dp_from = 0; /* dp_from: depth of the dp block we are in */
        assert_ok(gv_source_flatten(NULL, file[k], &text));
        strip_comments(text);
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
            while (*line == ' ')
                line++;
            if (strncmp(line, "#if", 3) == 0) {
                depth++;
                dp_from = !dp_from && only_for_dp(line) ? depth : dp_from;
            } else if (strncmp(line, "#el", 3) == 0) {
                dp_from = dp_from == depth ? 0 : dp_from;
                dp_from = !dp_from && only_for_dp(line) ? depth : dp_from;
            } else if (strncmp(line, "#endif", 6) == 0) {
                dp_from = dp_from == depth ? 0 : dp_from;
                --depth;
            } else if (!dp_from && line[0] != '#' && (strstr(line, "double") || strstr(line, "fp64")))
                fail_msg("kernels/%s, outside dp: %s", file[k], line);
        }
        assert_int_equal(depth, 0);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_fp64),
        cmocka_unit_test(no_double_outside_dp),
    };
    return cmocka_run_group_tests_name("direct_no_fp64", tests, NULL, NULL);
}

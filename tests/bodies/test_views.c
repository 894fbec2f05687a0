/* Lists, views and tickets. */
#include "host/bodies/bodies.h"
#include "host/bodies/slots.h"
#include "host/bodies/ticket.h"
#include "host_test.h"

static gravel_context *context;
static gravel_bodies *bodies;
static gravel_list *list;

enum { N = 100 };

static int open_all(void **state)
{
    (void)state;
    if (gravel_context_create(&context, NULL) || gravel_bodies_create(&bodies, context, NULL) ||
        gravel_list_create(&list, context, 0))
        return -1;
    return gravel_bodies_resize(bodies, N) == GRAVEL_OK ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    gravel_list_release(list);
    gravel_bodies_release(bodies);
    gravel_context_release(context);
    return 0;
}

static void lists(void **state)
{
    (void)state;
    static uint32_t address[70000], back[70000];
    for (uint32_t k = 0; k < 70000; k++)
        address[k] = 7 * k % 70001;
    for (size_t count = 0; count <= 70000; count = count == 0 ? 3 : count + 69997) {
        assert_ok(gravel_list_write(list, address, count));
        assert_int_equal(gravel_list_get_count(list), count);
        memset(back, 0xff, sizeof back);
        assert_ok(gravel_list_read(list, back));
        assert_memory_equal(back, address, count * sizeof *back);
    }
    assert_int_equal(gravel_list_write(list, NULL, 3), GRAVEL_ERR_ARGUMENT);
    assert_int_equal(gravel_list_get_count(list), 70000); /* a refused call changes nothing */
}

/* What fits is taken, though not with room to grow; what does not is refused, and the list means what it did. */
static void list_too_large(void **state)
{
    (void)state;
    enum { LONG = 5000, SHORT = 50 };
    static uint32_t many[LONG], back[SHORT];
    uint32_t address[SHORT];
    gv_selection s;
    gravel_device_info *info = &context->device[0].info;
    const uint64_t most = info->max_allocation;
    gravel_list_release(list);
    assert_ok(gravel_list_create(&list, context, 0));
    for (uint32_t k = 0; k < SHORT; k++)
        address[k] = N - 1 - k;
    const gravel_view view = gravel_view_list(bodies, list);
    info->max_allocation = SHORT * sizeof *many;
    const gravel_status fits = gravel_list_write(list, address, SHORT);
    info->max_allocation = LONG * sizeof *many - 4;
    const gravel_status status = gravel_list_write(list, many, LONG);
    info->max_allocation = most;
    assert_int_equal(fits, GRAVEL_OK);
    assert_int_equal(status, GRAVEL_ERR_DEVICE_MEMORY);
    assert_ok(gv_view_resolve(&view, "sinks", &s));
    assert_true(s.count == SHORT && s.list);
    assert_ok(gravel_list_read(list, back));
    assert_memory_equal(back, address, sizeof address);
}

static void views(void **state)
{
    (void)state;
    const uint32_t address[3] = {N - 1, 0, 5}, beyond[1] = {N};
    gv_selection s;
    gravel_view view = gravel_view_all(bodies);
    assert_ok(gv_view_resolve(&view, "sinks", &s));
    assert_true(s.bodies == bodies && s.first == 0 && s.count == N && !s.list);
    view = gravel_view_range(bodies, 90, 10);
    assert_ok(gv_view_resolve(&view, "sinks", &s));
    assert_true(s.first == 90 && s.count == 10 && gravel_view_get_count(&view) == 10);
    view = gravel_view_range(bodies, 90, 11);
    assert_int_equal(gv_view_resolve(&view, "sinks", &s), GRAVEL_ERR_ARGUMENT);
    assert_contains(gravel_error_message(), "sinks: bodies 90");
    view = gravel_view_range(bodies, 2, SIZE_MAX);
    assert_int_equal(gv_view_resolve(&view, "sinks", &s), GRAVEL_ERR_ARGUMENT);
    view = gravel_view_list(bodies, list);
    assert_ok(gravel_list_write(list, address, 3));
    assert_ok(gv_view_resolve(&view, "sinks", &s));
    assert_true(s.count == 3 && s.list);
    assert_ok(gravel_list_write(list, beyond, 1));
    assert_int_equal(gv_view_resolve(&view, "sinks", &s), GRAVEL_ERR_ARGUMENT);
    assert_contains(gravel_error_message(), "names body 100; there are 100");
    assert_ok(gravel_list_write(list, NULL, 0));
    assert_ok(gv_view_resolve(&view, "sinks", &s));
    assert_int_equal(s.count, 0);
    view = gravel_view_list(bodies, NULL);
    assert_int_equal(gv_view_resolve(&view, "sinks", &s), GRAVEL_ERR_ARGUMENT);
    view = gravel_view_all(NULL);
    assert_int_equal(gv_view_resolve(&view, "sinks", &s), GRAVEL_ERR_ARGUMENT);
}

/* Staging has room to spare, but not more than the device allows. */
static void staging(void **state)
{
    (void)state;
    gv_worker worker = {.context = context};
    gravel_device_info *info = &context->device[0].info;
    const uint64_t most = info->max_allocation;
    gv_slot slot = {.size = 0};
    assert_ok(gv_slot_reserve(&worker, &slot, 70000));
    assert_int_equal(slot.size, 131072);
    gv_slot_release(&worker, &slot);
    info->max_allocation = 100000;
    const gravel_status fits = gv_slot_reserve(&worker, &slot, 70000);
    const size_t size = slot.size;
    const gravel_status too_large = gv_slot_reserve(&worker, &slot, 100001);
    info->max_allocation = most;
    gv_slot_release(&worker, &slot);
    assert_int_equal(fits, GRAVEL_OK);
    assert_int_equal(size, 100000);
    assert_int_equal(too_large, GRAVEL_ERR_DEVICE_MEMORY);
}

/* A ticket without a solver, which records the calls made on it. */
typedef struct test_ticket {
    gravel_ticket base;
    int collected, released, refuse;
} test_ticket;

static gravel_status collect_test(gravel_ticket *ticket, const gravel_forces *forces, size_t *overflow)
{
    test_ticket *t = (test_ticket *)ticket;
    (void)forces;
    if (overflow)
        *overflow = 0;
    if (t->refuse)
        return gv_fail(GRAVEL_ERR_ARGUMENT, "jerk was not computed");
    t->collected++;
    return GRAVEL_OK;
}

static void release_test(gravel_ticket *ticket)
{
    ((test_ticket *)ticket)->released++;
}

static void tickets(void **state)
{
    (void)state;
    static const gv_ticket_ops ops = {collect_test, release_test};
    test_ticket t = {{.ops = &ops}, 0, 0, 1};
    gravel_forces forces;
    int ready = 0;
    memset(&forces, 0, sizeof forces);
    t.base.done = clCreateUserEvent(context->cl, NULL);
    assert_ok(gravel_ticket_get_ready(&t.base, &ready));
    assert_false(ready);
    assert_int_equal(clSetUserEventStatus(t.base.done, CL_COMPLETE), CL_SUCCESS);
    assert_ok(gravel_ticket_get_ready(&t.base, &ready));
    assert_true(ready);
    assert_ok(gravel_ticket_wait(&t.base));
    assert_int_equal(gravel_ticket_collect(&t.base, &forces, NULL), GRAVEL_ERR_ARGUMENT);
    t.refuse = 0; /* a refused collect may be repeated, a successful one may not */
    assert_ok(gravel_ticket_collect(&t.base, &forces, NULL));
    assert_int_equal(gravel_ticket_collect(&t.base, &forces, NULL), GRAVEL_ERR_STATE);
    assert_int_equal(t.collected, 1);
    clReleaseEvent(t.base.done);
    t.base.done = NULL; /* no work */
    assert_ok(gravel_ticket_get_ready(&t.base, &ready));
    assert_true(ready);
    gravel_ticket_release(&t.base);
    gravel_ticket_release(NULL);
    assert_int_equal(t.released, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists),   cmocka_unit_test(list_too_large), cmocka_unit_test(views),
        cmocka_unit_test(staging), cmocka_unit_test(tickets),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}

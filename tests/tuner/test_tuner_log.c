/* The tuning log and the worker protocol without a device: workers here are shell scripts. */
#include "host_test.h"

#include <math.h>
#include <signal.h>
#include <time.h>

#include "tuner/run.h"
#include "tuner/worker.h"

static void make_header(gv_tlog_header *header)
{
    memset(header, 0, sizeof *header);
    strcpy(header->device.name, "Fake \"Device\"");
    strcpy(header->device.vendor, "v");
    strcpy(header->device.platform, "p");
    header->device.type = GRAVEL_DEVICE_GPU;
    header->device.compute_units = 4;
    strcpy(header->driver, "1");
    strcpy(header->kernel, "direct");
    strcpy(header->kernel_version, "0123456789abcdef");
}

static void make_record(gv_tlog_record *record, int number)
{
    memset(record, 0, sizeof *record);
    strcpy(record->task.kernel, "direct");
    assert_true(gv_variant_parse("ds4", &record->task.variant));
    record->task.sinks = 1;
    record->task.sources = 131072;
    strcpy(record->stage, "search");
    sprintf(record->configuration, "threads=%d split=1", number);
    record->outcome.status = GV_OUTCOME_OK;
    record->outcome.time_s = 1e-6 * number;
    record->outcome.cost_s = 0.5;
}

static void test_log_resumes(void **state)
{
    char *folder = make_folder(), *path = gv_path_join(folder, "log.jsonl");
    gv_tlog_header header;
    gv_tlog_record record;
    const gv_tlog_record *found;
    gv_tlog log;

    (void)state;
    make_header(&header);
    assert_ok(gv_tlog_open(path, &header, 0, &log));
    for (int k = 1; k <= 1000; k++) {
        make_record(&record, k);
        assert_ok(gv_tlog_append(&log, &record));
    }
    gv_tlog_close(&log);
    assert_ok(gv_tlog_open(path, &header, 1, &log));
    assert_int_equal(log.n, 1000);
    for (int k = 1; k <= 1000; k++) {
        make_record(&record, k);
        found = gv_tlog_find(&log, &record.task, "search", 0, record.configuration);
        assert_non_null(found);
        assert_true(found->outcome.time_s == record.outcome.time_s); /* the same bits: the same decisions */
    }
    make_record(&record, 5);
    assert_null(gv_tlog_find(&log, &record.task, "final", 0, record.configuration));
    assert_null(gv_tlog_find(&log, &record.task, "search", 1, record.configuration));
    record.task.sinks = 2;
    assert_null(gv_tlog_find(&log, &record.task, "search", 0, record.configuration));
    gv_tlog_close(&log);
    /* without resume the old one is kept aside */
    assert_ok(gv_tlog_open(path, &header, 0, &log));
    assert_int_equal(log.n, 0);
    gv_tlog_close(&log);
    assert_int_equal(count_files(folder, "log.jsonl.old", NULL), 1);
    remove_folder(folder);
    free(path);
    free(folder);
}

/* A kill in the middle of a write leaves any prefix of the file. */
static void test_log_survives_any_cut(void **state)
{
    char *folder = make_folder(), *path = gv_path_join(folder, "log.jsonl"), *text;
    gv_tlog_header header;
    gv_tlog_record record;
    gv_tlog log;
    size_t size, first;

    (void)state;
    make_header(&header);
    assert_ok(gv_tlog_open(path, &header, 0, &log));
    for (int k = 1; k <= 3; k++) {
        make_record(&record, k);
        assert_ok(gv_tlog_append(&log, &record));
    }
    gv_tlog_close(&log);
    assert_ok(gv_file_read(path, 1 << 20, &text, &size));
    first = strcspn(text, "\n") + 1;
    for (size_t cut = first; cut <= size; cut++) {
        size_t whole = 0;

        for (size_t k = first; k < cut; k++) {
            whole +=
                text[k] == '\n' || (k + 1 == cut && k + 1 < size && text[k + 1] == '\n'); /* only its end is missing */
        }
        assert_ok(gv_file_write(path, text, cut));
        assert_ok(gv_tlog_open(path, &header, 1, &log));
        assert_int_equal(log.n, whole);
        make_record(&record, 99);
        assert_ok(gv_tlog_append(&log, &record));
        gv_tlog_close(&log);
        /* the half line was not joined with the new one */
        assert_ok(gv_tlog_read(path, &log));
        assert_int_equal(log.n, whole + 1);
        assert_string_equal(log.record[whole].configuration, "threads=99 split=1");
        gv_tlog_close(&log);
    }
    free(text);
    remove_folder(folder);
    free(path);
    free(folder);
}

/* Damage in the middle costs the lines it is in, and they are counted; numbers beyond the range of int are refused. */
static void test_bad_lines_are_counted(void **state)
{
    static const char nul[] = "{\"kernel\":\"di\0rect\"}\n{\"log\":\n[]\n";
    char *folder = make_folder(), *path = gv_path_join(folder, "log.jsonl");
    gv_tlog_header header;
    gv_tlog_record record;
    gv_tlog log;

    (void)state;
    make_header(&header);
    assert_ok(gv_tlog_open(path, &header, 0, &log));
    make_record(&record, 1);
    assert_ok(gv_tlog_append(&log, &record));
    assert_int_equal(write(log.fd, nul, sizeof nul - 1), sizeof nul - 1);
    make_record(&record, 2);
    assert_ok(gv_tlog_append(&log, &record));
    gv_tlog_close(&log);
    write_text(
        folder, "numbers.jsonl",
        "{\"log\":\"gravel-tune\",\"name\":\"n\",\"type\":\"gpu\",\"compute_units\":1e300,\"fp64\":-1e300}\n"
        "{\"kernel\":\"direct\",\"variant\":\"sp2\",\"features\":-1e300,\"sinks\":1,\"sources\":2,\"stage\":\"search\","
        "\"round\":1e300,\"configuration\":\"\",\"status\":\"ok\",\"samples\":1e300,\"stopped\":-1e300}\n");
    assert_ok(gv_tlog_read(path, &log));
    assert_int_equal(log.n, 2);
    assert_int_equal(log.n_bad, 3);
    assert_int_equal(log.first_bad, 3);
    gv_tlog_close(&log);
    free(path);
    path = gv_path_join(folder, "numbers.jsonl");
    assert_ok(gv_tlog_read(path, &log));
    assert_int_equal(log.header.device.compute_units, 0);
    assert_int_equal(log.n, 1);
    assert_int_equal(log.record[0].round + log.record[0].outcome.samples + log.record[0].outcome.stopped, 0);
    assert_int_equal(log.record[0].task.variant.features, 0);
    gv_tlog_close(&log);
    write_text(folder, "numbers.jsonl", "{\"log\":\"gravel-tune\",\"schema\":2,\"name\":\"n\",\"type\":\"gpu\"}\n");
    assert_int_equal(gv_tlog_read(path, &log), GRAVEL_ERR_UNSUPPORTED);
    remove_folder(folder);
    free(path);
    free(folder);
}

/* Two tuners on one log: the second is refused and the file keeps its name. */
static void test_log_is_locked(void **state)
{
    char *folder = make_folder(), *path = gv_path_join(folder, "log.jsonl");
    gv_tlog_header header;
    gv_tlog log, second;

    (void)state;
    make_header(&header);
    assert_ok(gv_tlog_open(path, &header, 0, &log));
    for (int resume = 0; resume < 2; resume++) {
        assert_int_equal(gv_tlog_open(path, &header, resume, &second), GRAVEL_ERR_STATE);
        assert_contains(gravel_error_message(), "another `gravel tune`");
    }
    assert_int_equal(count_files(folder, "", NULL), 1);
    gv_tlog_close(&log);
    assert_ok(gv_tlog_open(path, &header, 1, &second));
    gv_tlog_close(&second);
    remove_folder(folder);
    free(path);
    free(folder);
}

static void test_log_of_another_device_is_refused(void **state)
{
    char *folder = make_folder(), *path = gv_path_join(folder, "log.jsonl");
    gv_tlog_header header, other;
    gv_tlog log;

    (void)state;
    make_header(&header);
    assert_ok(gv_tlog_open(path, &header, 0, &log));
    gv_tlog_close(&log);
    other = header;
    other.device.compute_units = 5;
    assert_int_equal(gv_tlog_open(path, &other, 1, &log), GRAVEL_ERR_STATE);
    assert_contains(gravel_error_message(), "another device");
    other = header;
    strcpy(other.driver, "2");
    assert_int_equal(gv_tlog_open(path, &other, 1, &log), GRAVEL_ERR_STATE);
    other = header;
    strcpy(other.kernel_version, "fedcba9876543210");
    assert_int_equal(gv_tlog_open(path, &other, 1, &log), GRAVEL_ERR_STATE);
    assert_contains(gravel_error_message(), "version of the kernel");
    write_text(folder, "other", "{\"some\": \"json\"}\n");
    free(path);
    path = gv_path_join(folder, "other");
    assert_int_equal(gv_tlog_read(path, &log), GRAVEL_ERR_FORMAT);
    remove_folder(folder);
    free(path);
    free(folder);
}

/* ----------------------------------------------------------------- workers */

/* Serves requests; what it does is set by the configuration. */
static char script[] = "echo ready >&3\n"
                       "while read -r line; do\n"
                       "  echo 'phase build' >&3\n"
                       "  case \"$line\" in\n"
                       "  *crash-build*) echo 'LLVM ERROR: cannot select' >&2; kill -SEGV $$;;\n"
                       "  *crash-run*) echo 'phase time' >&3; kill -ABRT $$;;\n"
                       "  *leave*) echo 'phase time' >&3; exit 3;;\n"
                       "  *hang*) echo 'phase time' >&3; sleep 1000;;\n"
                       "  *noise*) echo 'no protocol at all' >&3; echo '{\"status\":\"ok\",\"time_s\":0.25}' >&3;;\n"
                       "  *launch*) echo '{\"status\":\"launch\",\"reason\":\"out of resources\"}' >&3; exit 0;;\n"
                       "  *) echo '{\"status\":\"ok\",\"time_s\":0.5}' >&3;;\n"
                       "  esac\n"
                       "done\n";
static char shell[] = "sh", dash_c[] = "-c";
enum { LONG_S = 300 }; /* for what takes milliseconds, however busy the machine is */
static char *const worker_argv[] = {shell, dash_c, script, NULL};
static const gv_tune_worker_options options = {.argv = worker_argv, .start_s = LONG_S};

static void ask(gv_tune_worker *worker, const char *what, double limit_s, gv_outcome *outcome)
{
    gv_request request;

    memset(&request, 0, sizeof request);
    strcpy(request.task.kernel, "direct");
    assert_true(gv_variant_parse("sp2", &request.task.variant));
    request.task.sinks = request.task.sources = 10;
    strcpy(request.configuration, what);
    assert_ok(gv_tune_worker_ask(worker, &request, limit_s, outcome));
}

static void test_every_death_costs_one_candidate(void **state)
{
    gv_tune_worker worker;
    gv_outcome outcome;

    (void)state;
    gv_tune_worker_init(&worker, &options);
    ask(&worker, "good", LONG_S, &outcome);
    assert_int_equal(outcome.status, GV_OUTCOME_OK);
    assert_true(outcome.time_s == 0.5);
    assert_int_equal(worker.starts, 1);
    ask(&worker, "crash-build", LONG_S, &outcome);
    assert_int_equal(outcome.status, GV_OUTCOME_COMPILE);
    assert_contains(outcome.reason, "signal 11");
    assert_contains(outcome.reason, "LLVM ERROR");
    ask(&worker, "crash-run", LONG_S, &outcome);
    assert_int_equal(outcome.status, GV_OUTCOME_LAUNCH);
    assert_contains(outcome.reason, "signal 6");
    assert_null(strstr(outcome.reason, "LLVM")); /* said by the one before */
    ask(&worker, "leave", LONG_S, &outcome);
    assert_int_equal(outcome.status, GV_OUTCOME_LAUNCH);
    assert_contains(outcome.reason, "exit 3");
    ask(&worker, "launch", LONG_S, &outcome);
    assert_int_equal(outcome.status, GV_OUTCOME_LAUNCH);
    ask(&worker, "hang", 0.3, &outcome);
    assert_int_equal(outcome.status, GV_OUTCOME_TIMEOUT);
    assert_contains(outcome.reason, "not finished after 0.3 s");
    ask(&worker, "noise", LONG_S, &outcome);
    assert_int_equal(outcome.status, GV_OUTCOME_OK);
    assert_int_equal(worker.starts, 6);
    gv_tune_worker_stop(&worker);
}

/* Several builders share a batch; one that dies loses its own queue only, and the next batch finds it alive again. */
static void test_builders_share_a_batch(void **state)
{
    enum { REQUESTS = 20 };
    gv_request request[REQUESTS];
    gv_builders builders;
    int known = 0;

    (void)state;
    gv_builders_init(&builders, 3, &options);
    for (int batch = 0; batch < 2; batch++) {
        for (int i = 0; i < REQUESTS; i++) {
            memset(&request[i], 0, sizeof request[i]);
            strcpy(request[i].task.kernel, "direct");
            assert_true(gv_variant_parse("sp2", &request[i].task.variant));
            request[i].task.sinks = request[i].task.sources = 10;
            strcpy(request[i].configuration, batch == 0 && i == 4 ? "crash-build" : "good");
        }
        gv_builders_start(&builders, request, REQUESTS);
        for (int i = REQUESTS - 1; i >= 0; i--) {
            gv_outcome outcome;
            int told = gv_builders_wait(&builders, i, LONG_S, &outcome);

            known += told;
            /* request 4 is the second of builder 1: those after it in that queue are lost */
            assert_int_equal(told, batch == 1 || i % 3 != 1 || i <= 4);
            if (told)
                assert_int_equal(outcome.status, batch == 0 && i == 4 ? GV_OUTCOME_COMPILE : GV_OUTCOME_OK);
        }
        gv_builders_finish(&builders, LONG_S);
    }
    assert_int_equal(known, 2 * REQUESTS - 5);
    gv_builders_stop(&builders);
}

/* A process that dies while more is sent gets no successor for these: its answers stay in their order. */
static void test_a_queue_dies_with_its_process(void **state)
{
    static const struct timespec moment = {0, 300000000}; /* for it to die */
    gv_tune_worker worker;
    gv_request request;
    gv_outcome outcome;

    (void)state;
    gv_tune_worker_init(&worker, &options);
    memset(&request, 0, sizeof request);
    strcpy(request.task.kernel, "direct");
    assert_true(gv_variant_parse("sp2", &request.task.variant));
    request.task.sinks = request.task.sources = 10;
    strcpy(request.configuration, "good");
    assert_ok(gv_tune_worker_send(&worker, &request));
    strcpy(request.configuration, "crash-build");
    assert_true(gv_tune_worker_send_more(&worker, &request));
    nanosleep(&moment, NULL);
    strcpy(request.configuration, "good");
    for (int k = 0; k < 3; k++)
        gv_tune_worker_send_more(&worker, &request);
    assert_int_equal(worker.starts, 1);
    gv_tune_worker_receive(&worker, LONG_S, &outcome);
    assert_int_equal(outcome.status, GV_OUTCOME_OK);
    gv_tune_worker_receive(&worker, LONG_S, &outcome);
    assert_int_equal(outcome.status, GV_OUTCOME_COMPILE);
    assert_contains(outcome.reason, "signal 11");
    assert_int_equal(worker.pid, 0);
    assert_false(gv_tune_worker_send_more(&worker, &request));
    gv_tune_worker_stop(&worker);
}

static void test_worker_that_cannot_start(void **state)
{
    static char missing[] = "/nonexistent/program", leaves[] = "exit 1", sleeps[] = "sleep 1000";
    static char *const argv[][4] = {{missing, NULL}, {shell, dash_c, leaves, NULL}, {shell, dash_c, sleeps, NULL}};
    static const char *const why[] = {"cannot be run", "ended while starting", "did not start"};

    (void)state;
    for (int k = 0; k < 3; k++) {
        const gv_tune_worker_options bad = {.argv = argv[k], .start_s = k == 2 ? 0.2 : LONG_S};
        gv_request request;
        gv_tune_worker worker;
        gv_outcome outcome;

        memset(&request, 0, sizeof request);
        gv_tune_worker_init(&worker, &bad);
        assert_int_equal(gv_tune_worker_ask(&worker, &request, 1, &outcome), GRAVEL_ERR_STATE);
        assert_contains(gravel_error_message(), why[k]);
        gv_tune_worker_stop(&worker);
    }
}

static int while_timing(void *worker)
{
    return strcmp(((const gv_tune_worker *)worker)->phase, "time") == 0;
}

/* The worker would sleep for a quarter of an hour. */
static void test_interrupt_ends_a_candidate(void **state)
{
    gv_tune_worker worker;
    gv_tune_worker_options patient = {
        .argv = worker_argv, .start_s = LONG_S, .interrupted = while_timing, .user = &worker};
    gv_request request;
    gv_outcome outcome;

    (void)state;
    gv_tune_worker_init(&worker, &patient);
    ask(&worker, "hang", 900, &outcome);
    assert_int_equal(outcome.status, GV_OUTCOME_TIMEOUT);
    assert_int_equal(worker.pid, 0);
    memset(&request, 0, sizeof request);
    assert_int_equal(gv_tune_worker_ask(&worker, &request, 900, &outcome),
                     GRAVEL_ERR_CANCELLED); /* while it starts: the phase is that of before */
    assert_int_equal(worker.pid, 0);
    gv_tune_worker_stop(&worker);
}

/* What parent and child write to each other is read back unchanged. */
static void test_messages_round_trip(void **state)
{
    gv_request request, back;
    gv_outcome outcome, read;
    char *text;

    (void)state;
    memset(&request, 0, sizeof request);
    strcpy(request.task.kernel, "direct");
    assert_true(gv_variant_parse("dp6", &request.task.variant));
    request.task.variant.features = 3;
    request.task.sinks = 16777216;
    request.task.sources = 123456789;
    strcpy(request.configuration, "threads=128 split=2");
    request.seed = 0xfedcba987654u;
    request.turn = 12;
    request.effort = (gv_effort){3, 9, 0.001, 1.5, 1e30};
    text = gv_request_print(&request);
    assert_non_null(text);
    assert_true(gv_request_parse(text, &back));
    free(text);
    assert_true(gv_task_same(&request.task, &back.task));
    assert_string_equal(request.configuration, back.configuration);
    assert_true(request.seed == back.seed);
    assert_int_equal(request.turn, back.turn);
    assert_memory_equal(&request.effort, &back.effort, sizeof back.effort);
    memset(&outcome, 0, sizeof outcome);
    outcome.status = GV_OUTCOME_WRONG;
    outcome.error = 0.1 + 0.2;
    outcome.cost_s = 1.0 / 3;
    strcpy(outcome.reason, "acc is \"wrong\"");
    text = gv_outcome_print(&outcome);
    assert_true(gv_outcome_read(text, &read));
    free(text);
    assert_int_equal(read.status, GV_OUTCOME_WRONG);
    assert_true(read.error == outcome.error && read.cost_s == outcome.cost_s);
    assert_string_equal(read.reason, outcome.reason);
    assert_false(gv_request_parse("{\"kernel\":\"direct\"}", &back));
    assert_false(gv_request_parse("not JSON", &back));
    assert_false(gv_outcome_read("{\"status\":\"splendid\"}", &read));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_resumes),
        cmocka_unit_test(test_log_survives_any_cut),
        cmocka_unit_test(test_bad_lines_are_counted),
        cmocka_unit_test(test_log_is_locked),
        cmocka_unit_test(test_log_of_another_device_is_refused),
        cmocka_unit_test(test_every_death_costs_one_candidate),
        cmocka_unit_test(test_builders_share_a_batch),
        cmocka_unit_test(test_a_queue_dies_with_its_process),
        cmocka_unit_test(test_worker_that_cannot_start),
        cmocka_unit_test(test_interrupt_ends_a_candidate),
        cmocka_unit_test(test_messages_round_trip),
    };

    /* a worker that died must not end the test by SIGPIPE; the tuner does the same */
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

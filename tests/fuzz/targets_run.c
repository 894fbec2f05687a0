/* Readers of what runs and `gravel model` take. */
#include "fuzz/targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd_cosmo.h"
#include "cli/cmd_run.h"
#include "model/model.h"
#include "sim/checkpoint.h"
#include "sim/checksum.h"
#include "sim/cosmo_power.h"

/* For readers that take text; free() it. */
static char *as_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

void gv_fuzz_run_file(const uint8_t *data, size_t size)
{
    gv_run_options options = {0};
    gv_cosmo_options of_box = {0};
    char *path = gv_fuzz_file(data, size);
    gv_run_read_file(&gv_run_of_bodies, path, &options);
    gv_run_read_file(&gv_run_of_box, path, &of_box);
}

/* run.json, which is in checkpoints, too. */
void gv_fuzz_record(const uint8_t *data, size_t size)
{
    gv_run_options options = {0};
    gv_cosmo_options of_box = {0};
    cJSON *record = NULL;
    char *text = as_text(data, size);
    if (gv_run_read_record(&gv_run_of_bodies, "fuzz", text, &options, &record) == 0)
        cJSON_Delete(record);
    if (gv_run_read_record(&gv_run_of_box, "fuzz", text, &of_box, &record) == 0)
        cJSON_Delete(record);
    free(text);
}

/* Spectra of CAMB and CLASS. */
void gv_fuzz_power(const uint8_t *data, size_t size)
{
    gv_cosmology cosmology = GV_COSMOLOGY_INIT;
    gv_power power;
    cosmology.sigma_8 = 0; /* the table is left as it is */
    cosmology.transfer = GV_TRANSFER_TABLE;
    if (gv_power_create(&power, &cosmology, gv_fuzz_file(data, size)) != GRAVEL_OK)
        return;
    for (double k = 1e-4; k < 1e3; k *= 30)
        if (!(gv_power_at(&power, k) >= 0))
            abort();
    gv_power_free(&power);
}

/* A machine of `gravel model`, and measurements. */
void gv_fuzz_machine(const uint8_t *data, size_t size)
{
    gv_machine machine;
    gv_points points = {0};
    char *text = as_text(data, size);
    if (gv_machine_parse(&machine, text, "fuzz") == GRAVEL_OK) {
        for (int scheme = GV_MODEL_TREE; scheme <= GV_MODEL_PROGRAM; scheme += GV_MODEL_PROGRAM - GV_MODEL_TREE) {
            const gv_question q = {.n = 1e6, .ranks = 6, .order = 4, .scheme = scheme, .theta = 0.5};
            gv_prediction answer;
            gv_model_predict(&machine, &q, &answer);
        }
        cJSON_Delete(gv_machine_json(&machine));
    }
    if (gv_points_read(&points, text, "fuzz") == GRAVEL_OK) {
        gv_machine_example(&machine);
        gv_machine_fit(&machine, &points);
    }
    gv_points_free(&points);
    free(text);
}

/* A checkpoint of three bodies, written once. */
static uint8_t *good_checkpoint(size_t *size)
{
    static uint8_t whole[1 << 16];
    static size_t length;
    double number[3] = {1, 2, 3};
    int32_t id[3] = {1, 2, 3};
    char record[] = "{}", choices[] = "sp2", bodies[200] = {0}, path[300];
    const char *base = getenv("TMPDIR");
    gv_checkpoint again, c = {.record = record, .bodies = bodies, .bodies_size = sizeof bodies, .choices = choices};
    if (length == 0) {
        snprintf(path, sizeof path, "%.200s/gravel-fuzz-XXXXXX", base ? base : "/tmp");
        const int fd = mkstemp(path);
        c.particles = (gv_particles)GV_PARTICLES_INIT;
        c.particles.count = 3;
        c.particles.id = id;
        c.particles.m = c.particles.x = c.particles.y = c.particles.z = number;
        c.particles.vx = c.particles.vy = c.particles.vz = number;
        if (fd < 0 || close(fd) != 0 || gv_checkpoint_write(&c, path) != GRAVEL_OK ||
            gv_checkpoint_read(&again, path) != GRAVEL_OK)
            abort();
        gv_checkpoint_free(&again);
        FILE *file = fopen(path, "rb");
        length = file ? fread(whole, 1, sizeof whole, file) : 0;
        if (length <= sizeof(gv_checksum_value) || fclose(file) != 0 || unlink(path) != 0)
            abort();
    }
    *size = length;
    return whole;
}

/* Where (two bytes) a checkpoint has another byte; then its sum is right, so that nothing but the reader is in the way.
 * A last odd byte cuts it. */
void gv_fuzz_checkpoint(const uint8_t *data, size_t size)
{
    static uint8_t changed[1 << 16];
    size_t length;
    const uint8_t *good = good_checkpoint(&length);
    gv_checksum sum;
    gv_checkpoint c;
    memcpy(changed, good, length);
    length -= size % 3 ? data[size - 1] % (length - sizeof(gv_checksum_value)) : 0;
    const size_t end = length - sizeof(gv_checksum_value);
    for (size_t k = 0; k + 3 <= size; k += 3)
        changed[(size_t)(data[k] << 8 | data[k + 1]) % end] = data[k + 2];
    gv_checksum_start(&sum);
    gv_checksum_add(&sum, changed, end);
    const gv_checksum_value value = gv_checksum_end(&sum);
    memcpy(changed + end, &value, sizeof value);
    if (gv_checkpoint_read(&c, gv_fuzz_file(changed, length)) == GRAVEL_OK)
        gv_checkpoint_free(&c);
}

/* A blaze library for tests: the toy world of toy_lane.py behind the functions of SPEC 12, both ABIs.
 *
 * Compile-time choices: OLDER_ABI (two-argument create, no set_success_item), NO_EMIT (a missing function),
 * MISCOMPILED (positions are not rounded to float32).
 * A snapshot is a text file of words: `toy SEED [hang-at TICK] [torch-at TICK] [dead-at TICK] [edge-at TICK]
 * [fail-at TICK] [fail-load]`.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <unistd.h>

#define WIDTH 64
#define HEIGHT 36
#define PIXELS (WIDTH * HEIGHT)

#pragma pack(push, 1)
typedef struct {
    uint32_t magic;
    int64_t tick;
    double xyz[3];
    float yaw, pitch;
    int32_t dead, hotbar_ids[9], hotbar_counts[9], hotbar_sel, container, inv_counts[9];
    int32_t blocks[256][4], logs[64][3], coal[32][3];
    uint16_t cam[PIXELS];
    uint8_t depth[PIXELS], edge[PIXELS];
} Record;
#pragma pack(pop)

typedef struct {
    int seed, success_item, done;
    long hang_at, torch_at, dead_at, edge_at, fail_at;
    int64_t tick;
    double x, y, z;
    float yaw, pitch;
    int attacks, planks, dead;
} World;

typedef struct { World start, now; } Handle;

#ifdef OLDER_ABI
void *blaze_create(int device, int n) {
#else
void *blaze_create(int device, int n, const void *options) {
    if (options) return NULL;
#endif
    if (n != 1 || device > 7) return NULL;
    return calloc(1, sizeof(Handle));
}

int blaze_load_snapshots(void *h, const char **paths, int count, char *err, int cap) {
    World *world = &((Handle *)h)->start;
    char word[64];
    FILE *file = count == 1 ? fopen(paths[0], "r") : NULL;
    if (!file) { snprintf(err, cap, "cannot open"); return -1; }
    *world = (World){.hang_at = -1, .torch_at = -1, .dead_at = -1, .edge_at = -1, .fail_at = -1, .success_item = 50,
                     .x = 8.5, .y = 64.0, .z = 8.5, .yaw = 180.0f};
    if (fscanf(file, "toy %d", &world->seed) != 1) { snprintf(err, cap, "not a toy snapshot"); fclose(file); return -2; }
    while (fscanf(file, "%63s", word) == 1) {
        long *at = !strcmp(word, "hang-at") ? &world->hang_at : !strcmp(word, "torch-at") ? &world->torch_at
                 : !strcmp(word, "dead-at") ? &world->dead_at : !strcmp(word, "edge-at") ? &world->edge_at
                 : !strcmp(word, "fail-at") ? &world->fail_at : NULL;
        if (!at || fscanf(file, "%ld", at) != 1) { snprintf(err, cap, "bad word %s", word); fclose(file); return -3; }
    }
    fclose(file);
    return 0;
}

int blaze_assign(void *h, const int *index) { (void)h; return index[0] == 0 ? 0 : -1; }

int blaze_reset(void *h, const uint8_t *mask) {
    Handle *handle = h;
    if (!mask || mask[0]) handle->now = handle->start;
    return 0;
}

static int logs(const World *w) { return w->attacks / 16; }
static int torches(const World *w) { return w->torch_at >= 0 && w->tick >= w->torch_at; }
static int reached(long at, int64_t tick) { return at >= 0 && tick >= at; }

static void pixels(const World *w, uint16_t *cam, uint8_t *depth, uint8_t *edge) {
    int shift = (int)(w->tick % 64);
    for (int i = 0; i < PIXELS; i++) {
        cam[i] = (uint16_t)((((i + shift) * 31 + w->seed) % 64 + 64) % 64);
        depth[i] = (uint8_t)((i + shift) * 17);
        edge[i] = 0;
    }
}

static void tick(World *w, const double *act, int first) {
    if (w->dead) return;
    if (w->hang_at >= 0 && w->tick + 1 == w->hang_at) for (;;) sleep(3600);
    w->yaw += first ? (float)act[2] : 0.0f;
    w->pitch += first ? (float)act[3] : 0.0f;
    w->pitch = w->pitch > 89.0f ? 89.0f : w->pitch < -89.0f ? -89.0f : w->pitch;
    w->x += act[0] * 0.125;
    w->z += act[1] * 0.125;
    w->attacks += (int)act[7] != 0;
    if (first && (int)act[10] == 0 && logs(w) > 0) { w->attacks -= 16; w->planks += 4; }
    w->tick++;
    w->dead = reached(w->dead_at, w->tick);
}

int blaze_step_full(void *h, const double *act, int repeat, uint16_t *cam, uint8_t *depth, uint8_t *edge, float *scal,
                    float *rew, uint8_t *done, float *pose, int *status) {
    World *w = &((Handle *)h)->now;
    if (reached(w->fail_at, w->tick + repeat)) return -7;
    for (int i = 0; i < repeat && !w->done; i++) {  /* like the real one: a lane that is done is not stepped on */
        tick(w, act, i == 0);
        int success = w->success_item == 50 ? torches(w) : w->success_item == 17 ? logs(w) > 0 : 0;
        w->done = success ? 1 : w->dead ? 2 : reached(w->edge_at, w->tick) ? 3 : 0;
    }
    pixels(w, cam, depth, edge);
    memset(scal, 0, 6 * sizeof *scal);
    scal[0] = 0.5f;  /* not what the record says: the policy must see the step's own outputs */
    *rew = 0.0f;
    *done = (uint8_t)w->done;
    float where[5] = {(float)w->x, (float)w->y, (float)w->z, w->yaw, w->pitch};
    memcpy(pose, where, sizeof where);
    memset(status, 0, 17 * sizeof *status);
    status[0] = logs(w);
    status[1] = w->planks;
    status[8] = torches(w);
    status[10] = status[0] ? 17 : 0;
    return 0;
}

#ifndef NO_EMIT
int blaze_emit(void *h, int env, int want_cam, void *out) {
    const World *w = &((Handle *)h)->now;
    Record *record = out;
    if (env != 0 || !want_cam) return -1;
    memset(record, 0, sizeof *record);
    record->magic = 0x524c4f42;
    record->tick = w->tick;
    record->xyz[0] = (float)w->x;
    record->xyz[1] = (float)w->y;
    record->xyz[2] = (float)w->z;
#ifdef MISCOMPILED
    record->xyz[0] = w->x + 1e-9;
#endif
    record->yaw = w->yaw;
    record->pitch = w->pitch;
    record->dead = w->dead;
    record->hotbar_ids[0] = logs(w) ? 17 : 0;
    record->hotbar_ids[1] = w->planks ? 5 : 0;
    record->hotbar_counts[0] = record->inv_counts[0] = logs(w);
    record->hotbar_counts[1] = record->inv_counts[1] = w->planks;
    record->inv_counts[8] = torches(w);
    record->coal[0][0] = 12; record->coal[0][1] = 60; record->coal[0][2] = 12;
    pixels(w, record->cam, record->depth, record->edge);
    return 0;
}
#endif

#ifndef OLDER_ABI
int blaze_set_success_item(void *h, int item) {
    ((Handle *)h)->start.success_item = item;
    ((Handle *)h)->now.success_item = item;
    return 0;
}
#endif

void blaze_destroy(void *h) { free(h); }

/* SPDX-License-Identifier: MIT */
/*
 * The calls of device.h: checks what every kind of device would check, and
 * hands on to the kind's own function.
 */
#include "device/device.h"

#include <assert.h>
#include <string.h>

#include "base/os/os.h"
#include "device/backend.h"
#include "device/build_process.h"
#include "device/plain.h"
#include "device/order.h"
#include "device/cache/cache.h"

enum { CORES_A_LANE = 4 }; /* for each process that compiles beside others */

/* -------------------------------------------------------------- close -- */

void device_close(struct device *device)
{
    struct device_times ignored = { 0 };

    if (device == NULL)
        return;
    builder_collect(device, true, &ignored);
    known_finish(&device->known);
    device->backend->close(device);
}

const struct device_facts *device_facts(const struct device *device)
{
    return &device->facts;
}

enum vdbq_status device_check_build(const struct device *device,
                                    enum device_build build,
                                    struct error *error)
{
    if (build == BUILD_INTERPRETED || device->facts.kind->specialises)
        return VDBQ_OK;
    error_set(error, VDBQ_DEVICE,
              "the %s has no specialised build of the machine",
              device->facts.kind->name);
    return error_hint(error, "choose build interpreted or auto, or another "
                             "device");
}

/* -------------------------------------------------------------- times -- */

enum vdbq_status device_times_hold(struct device *device, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    if (device->times_holds == 0)
        status = device->backend->times_keep(device, true, error);
    device->times_holds += status == VDBQ_OK;
    return status;
}

void device_times_add(struct device_times *to, const struct device_times *from)
{
    to->kernel_ns += from->kernel_ns;
    to->transfer_ns += from->transfer_ns;
    to->compile_ns += from->compile_ns;
    to->bytes_in += from->bytes_in;
    to->bytes_out += from->bytes_out;
    to->launches += from->launches;
    to->builds += from->builds;
    to->builds_cached += from->builds_cached;
}

void device_times_release(struct device *device)
{
    struct error ignored;

    assert(device->times_holds > 0);
    if (--device->times_holds == 0)
        device->backend->times_keep(device, false, &ignored);
}

/* ------------------------------------------------------------- memory -- */

/* What is kept of each place at most: a share of the device's memory, and no
 * more than a ring of launches over full tablets of a dozen columns takes; of
 * the device's own, what tables of groups take. */
#define KEPT_PINNED_MAX (4ull << 30)
#define KEPT_DEVICE_MAX (8ull << 30)
enum { KEPT_SHARE = 16, KEPT_DEVICE_SHARE = 8, KEPT_SMALL = 64 << 10 };

static uint64_t kept_most(const struct device *device, enum memory_place place)
{
    bool own = place == MEMORY_DEVICE && !device->facts.shares_memory;
    uint64_t share = own ? KEPT_DEVICE_SHARE : KEPT_SHARE;
    uint64_t most = own ? KEPT_DEVICE_MAX : KEPT_PINNED_MAX;
    return device->facts.memory_bytes / share < most
               ? device->facts.memory_bytes / share
               : most;
}

/* Destroys the oldest of the memories of a place that are kept, until `bytes`
 * are left: those of the other place, which take long to make again, stay. */
static void kept_limit(struct device *device, enum memory_place place,
                       uint64_t bytes)
{
    struct device_memory **kept =
        VECTOR_ITEMS(&device->kept, struct device_memory *);
    size_t left = 0;

    for (size_t i = 0; i < device->kept.count; i++) {
        if (kept[i]->place != place || device->kept_bytes[place] <= bytes) {
            kept[left++] = kept[i];
            continue;
        }
        device->kept_bytes[place] -= kept[i]->size_bytes;
        device->backend->memory_destroy(kept[i]);
    }
    device->kept.count = left;
}

/* Destroys all that is kept. */
static void kept_clear(struct device *device)
{
    for (unsigned place = 0; place < MEMORY_PLACES; place++)
        kept_limit(device, (enum memory_place)place, 0);
}

void device_kept_finish(struct device *device)
{
    kept_clear(device);
    vector_finish(&device->kept);
}

void device_memory_release(struct device_memory *memory)
{
    if (memory == NULL)
        return;
    struct device *device = memory->device;
    enum memory_place place = memory->place;
    uint64_t most = kept_most(device, place);

    if (place == MEMORY_PLAIN || memory->size_bytes > most
        || !vector_append(&device->kept, &memory, 1)) {
        device_memory_destroy(memory);
        return;
    }
    device->kept_bytes[place] += memory->size_bytes;
    kept_limit(device, place, most);
}

/* Whether a memory serves for `size` bytes without wasting much. */
static bool is_about(const struct device_memory *memory, uint64_t size)
{
    return memory->size_bytes >= size
           && (memory->size_bytes <= KEPT_SMALL
               || memory->size_bytes - size <= size / 4);
}

/* Takes a kept memory of about that size, the smallest; false: none is. */
static bool kept_find(struct device *device, enum memory_place place,
                      uint64_t size, struct device_memory **memory,
                      struct error *error)
{
    struct device_memory **kept =
        VECTOR_ITEMS(&device->kept, struct device_memory *);
    struct device_times ignored = { 0 };
    size_t best = SIZE_MAX;

    for (size_t i = 0; i < device->kept.count; i++)
        if (kept[i]->place == place && is_about(kept[i], size)
            && (best == SIZE_MAX
                || kept[i]->size_bytes <= kept[best]->size_bytes))
            best = i;
    if (best == SIZE_MAX)
        return false;
    *memory = kept[best];
    device->kept_bytes[place] -= (*memory)->size_bytes;
    memmove(kept + best, kept + best + 1,
            (--device->kept.count - best) * sizeof *kept);
    if (place == MEMORY_DEVICE
        || device_memory_take(*memory, &ignored, error) == VDBQ_OK)
        return true;
    device_memory_destroy(*memory);
    *memory = NULL;
    return false;
}

/* Says the device's limit. */
static enum vdbq_status too_large(const struct device *device,
                                  uint64_t size_bytes, struct error *error)
{
    error_set(error, VDBQ_DEVICE,
              "a buffer of %llu bytes is needed, but "
              "device '%s' gives at most %llu for one",
              (unsigned long long)size_bytes, device->facts.name,
              (unsigned long long)device->facts.buffer_max_bytes);
    return error_hint(error, "lower the memory option (VDBQ_MEMORY), or "
                             "choose another device");
}

enum vdbq_status device_memory_create(struct device *device,
                                      enum memory_place place,
                                      uint64_t size_bytes,
                                      struct device_memory **memory,
                                      struct error *error)
{
    assert(size_bytes > 0);
    *memory = NULL;
    if (place == MEMORY_PLAIN)
        return plain_memory_create(device, size_bytes, memory, error);
    if (size_bytes > device->facts.buffer_max_bytes)
        return too_large(device, size_bytes, error);
    if (kept_find(device, place, size_bytes, memory, error))
        return VDBQ_OK;
    if (device->backend->memory_create(device, place, size_bytes, memory, error)
        == VDBQ_OK)
        return VDBQ_OK;
    if (device->kept.count == 0)
        return error->status;
    kept_clear(device);
    return device->backend->memory_create(device, place, size_bytes, memory,
                                          error);
}

bool device_zero_copies(struct device *device)
{
    return device->backend->zero_copies != NULL && device->times_holds == 0
           && device->backend->zero_copies(device);
}

enum vdbq_status device_memory_wrap(struct device *device, const void *bytes,
                                    uint64_t size_bytes,
                                    struct device_memory **memory,
                                    struct error *error)
{
    assert(size_bytes > 0 && device->facts.shares_memory);
    *memory = NULL;
    if (size_bytes > device->facts.buffer_max_bytes)
        return too_large(device, size_bytes, error);
    return device->backend->memory_wrap(device, bytes, size_bytes, memory,
                                        error);
}

enum vdbq_status device_memory_move(struct device *device,
                                    struct device_memory **memory,
                                    struct error *error)
{
    struct device_memory *under = *memory, *over;
    uint64_t size_bytes = under->size_bytes;
    enum vdbq_status status;

    assert(device->facts.shares_memory && under->host != NULL);
    assert(device->backend->memory_over != NULL && under->device != device);
    if (size_bytes > device->facts.buffer_max_bytes)
        return too_large(device, size_bytes, error);
    status = device->backend->memory_over(device, under->host, size_bytes,
                                          &over, error);
    if (status == VDBQ_OK) {
        over->under = under;
        *memory = over;
    }
    return status;
}

void device_memory_destroy(struct device_memory *memory)
{
    while (memory != NULL) {
        struct device_memory *under = memory->under;
        if (memory->place == MEMORY_PLAIN)
            plain_memory_destroy(memory);
        else
            memory->device->backend->memory_destroy(memory);
        memory = under;
    }
}

bool device_memory_is_reached(const struct device_memory *memory)
{
    return memory->place != MEMORY_PLAIN;
}

uint64_t device_memory_size(const struct device_memory *memory)
{
    return memory->size_bytes;
}

void *device_memory_host(const struct device_memory *memory)
{
    return memory->host;
}

enum vdbq_status device_memory_give(struct device_memory *memory,
                                    struct device_times *times,
                                    struct error *error)
{
    assert(memory->place != MEMORY_PLAIN);
    if (memory->host == NULL)
        return VDBQ_OK;
    return memory->device->backend->memory_give(memory, times, error);
}

enum vdbq_status device_memory_take(struct device_memory *memory,
                                    struct device_times *times,
                                    struct error *error)
{
    assert(memory->place != MEMORY_DEVICE);
    if (memory->host != NULL)
        return VDBQ_OK;
    return memory->device->backend->memory_take(memory, times, error);
}

/* Whether `size` bytes from `offset` on lie in the memory. */
__attribute__((unused)) /* without asserts */
static bool
in_memory(const struct device_memory *memory, uint64_t offset, uint64_t size)
{
    return offset <= memory->size_bytes && size <= memory->size_bytes - offset;
}

enum vdbq_status device_write(struct device_memory *memory, uint64_t offset,
                              const void *bytes, uint64_t size,
                              struct device_times *times, struct error *error)
{
    assert(in_memory(memory, offset, size));
    if (size == 0)
        return VDBQ_OK;
    if (memory->host != NULL) {
        memcpy((char *)memory->host + offset, bytes, size);
        return VDBQ_OK;
    }
    return memory->device->backend->write(memory, offset, bytes, size, times,
                                          error);
}

enum vdbq_status device_read(struct device_memory *memory, uint64_t offset,
                             void *bytes, uint64_t size,
                             struct device_times *times, struct error *error)
{
    assert(in_memory(memory, offset, size));
    if (size == 0)
        return VDBQ_OK;
    if (memory->host != NULL) {
        memcpy(bytes, (char *)memory->host + offset, size);
        return VDBQ_OK;
    }
    return memory->device->backend->read(memory, offset, bytes, size, times,
                                         error);
}

/* ------------------------------------------------------------ machine -- */

void device_count_build(const struct device_machine *machine,
                        const struct device_machine_params *params,
                        uint64_t build_ns, struct device_times *times)
{
    const char *body = params->body != NULL ? params->body : machine->name;

    times->builds++;
    times->builds_cached +=
        known_build(machine->device, body, params->body != NULL ? build_ns : 0);
}

enum vdbq_status device_machine(struct device *device,
                                const struct device_machine_params *params,
                                struct device_machine **machine,
                                struct device_times *times, struct error *error)
{
    uint64_t start = os_time_ns();
    enum vdbq_status status;

    *machine = device_machine_find(device, params, times);
    if (*machine != NULL)
        return VDBQ_OK;
    status = device->backend->machine_build(device, params, machine, error);
    if (status == VDBQ_OK)
        status = device->backend->machine_keep(*machine, error);
    times->compile_ns += os_time_ns() - start;
    if (status != VDBQ_OK)
        *machine = NULL;
    else
        device_count_build(*machine, params, 0, times);
    return status;
}

struct device_machine *
device_machine_find(struct device *device,
                    const struct device_machine_params *params,
                    struct device_times *times)
{
    assert((params->build == BUILD_SPECIALISED) == (params->body != NULL));
    builder_collect(device, false, times);
    return device->backend->machine_find(device, params);
}

bool device_machine_is_kept(struct device *device,
                            const struct device_machine_params *params)
{
    struct device_times ignored = { 0 };

    return device_machine_find(device, params, &ignored) != NULL
           || device->backend->machine_is_kept(device, params);
}

bool device_machine_is_far(struct device *device,
                           const struct device_machine_params *interpreted)
{
    const struct device_params opened = { .choice = device->choice,
                                          .cores = device->cores };

    if (!device->facts.kind->interpreted_is_far || device->choice[0] == '\0'
        || device->known.key[0] == '\0'
        || device_machine_is_kept(device, interpreted))
        return false;
    known_refresh(&device->known);
    return !device_machine_is_kept(device, interpreted)
           && build_process_start(&opened, interpreted, false);
}

bool device_none_is_kept(void)
{
    return cache_is_empty();
}

unsigned device_build_lanes(void)
{
    unsigned lanes = os_cores() / CORES_A_LANE;

    lanes = lanes < DEVICE_LANES_MAX ? lanes : DEVICE_LANES_MAX;
    return lanes > 0 ? lanes : 1;
}

int device_builds_lock(bool any, unsigned *lane)
{
    const unsigned lanes = any ? device_build_lanes() : 0;
    int lock = -1;

    for (*lane = 0; *lane < lanes; ++*lane)
        if ((lock = cache_lock(*lane, false)) >= 0)
            return lock;
    *lane = 0;
    return cache_lock(*lane, true);
}

bool device_build_lane_is_free(void)
{
    int lock = -1;

    for (unsigned lane = 1; lane < device_build_lanes() && lock < 0; lane++)
        lock = cache_lock(lane, false);
    cache_unlock(lock);
    return lock >= 0;
}

void device_builds_unlock(int lock)
{
    cache_unlock(lock);
}

bool device_machine_behind(struct device *device,
                           const struct device_machine_params *params)
{
    struct device_times ignored = { 0 };

    assert(params->build == BUILD_SPECIALISED);
    builder_collect(device, false, &ignored);
    known_refresh(&device->known);
    bool ordered = !device->backend->machine_is_kept(device, params)
                   && order_place(device, params);
    return builder_start(device, params, ordered);
}

enum vdbq_status device_build_time(struct device *device,
                                   const struct device_machine_params *params,
                                   uint64_t *time_ns, struct error *error)
{
    struct device_machine *machine;
    uint64_t start = os_time_ns();
    enum vdbq_status status =
        device->backend->machine_build(device, params, &machine, error);

    struct device_times ignored = { 0 };

    *time_ns = os_time_ns() - start;
    /* The cache frees it when the device closes. */
    if (status == VDBQ_OK)
        status = device->backend->machine_keep(machine, error);
    if (status == VDBQ_OK)
        device_count_build(machine, params, 0, &ignored);
    return status;
}

struct machine_shape device_machine_shape(const struct device_machine *machine)
{
    return machine->shape;
}

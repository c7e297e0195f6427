/* SPDX-License-Identifier: MIT */
/*
 * Writes orders, and takes them: see order.h. One is removed before it is built,
 * so that a compiler that crashes does not meet it again.
 */
#include "device/order.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/memory.h"
#include "base/os/os.h"
#include "base/os/wake.h"
#include "device/backend.h"
#include "device/build_process.h"
#include "device/builder.h"
#include "device/cache/environment.h"

enum { ORDER_BYTES_MAX = 1 << 20, NAME_BYTES = 64 };

/* How often one whose threads build looks for more orders. */
static const uint64_t looked_every_ns = 10000000;

static const char folder[] = "orders";

/* An order that was read. */
struct order {
    struct device_machine_params params; /* its body is in `bytes` */
    char *bytes;                         /* owned; NULL: there is none */
};

/* ---------------------------------------------------------------- place -- */

static void name_of(const struct device *device,
                    const struct device_machine_params *params,
                    char name[NAME_BYTES])
{
    uint64_t hash = XXH3_64bits(params->body, strlen(params->body));

    snprintf(name, NAME_BYTES, "%s-%016" PRIx64, device->known.key, hash);
}

/* Whether it lies in the folder already. */
static bool is_placed(const char *name)
{
    struct text path = { 0 };
    bool is = environment_cache_look(folder, &path);

    text_print(&path, "/%s", name);
    is = is && !path.failed && access(path.bytes, F_OK) == 0;
    text_finish(&path);
    return is;
}

static bool write_order(const struct device_machine_params *params,
                        const char *name)
{
    struct text bytes = { 0 }, path = { 0 };
    struct error ignored;

    text_print(&bytes, "%u %u %u\n", params->registers, params->axes,
               params->groups);
    text_add(&bytes, params->body, strlen(params->body));
    bool done =
        bytes.length <= ORDER_BYTES_MAX
        && environment_cache_write(folder, name, &bytes, &path, &ignored)
               == VDBQ_OK;
    text_finish(&path);
    text_finish(&bytes);
    return done;
}

bool order_place(struct device *device,
                 const struct device_machine_params *params)
{
    const struct device_params opened = { .choice = device->choice,
                                          .cores = device->cores };
    char name[NAME_BYTES];

    assert(params->build == BUILD_SPECIALISED && params->body != NULL);
    if (device->choice[0] == '\0' || device->known.key[0] == '\0')
        return false;
    name_of(device, params, name);
    if (!is_placed(name)) {
        struct device_shape *shape = device_shape(device, params->body);
        if (shape == NULL || shape->ordered)
            return shape != NULL; /* it was taken: it is being built */
        shape->ordered = write_order(params, name);
        if (!shape->ordered)
            return false;
    }
    return build_process_start(&opened, params,
                               device->facts.kind->interpreted_is_far);
}

/* ----------------------------------------------------------------- take -- */

/* Reads a whole file, with a NUL behind it; NULL: it cannot be, or is none of
 * ours. */
static char *read_file(const char *path)
{
    struct stat about;
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    char *bytes = NULL;

    if (file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode)
        && about.st_size <= ORDER_BYTES_MAX)
        bytes = memory_zeroed(1, (size_t)about.st_size + 1);
    if (bytes != NULL
        && read(file, bytes, (size_t)about.st_size) != about.st_size) {
        memory_release(bytes);
        bytes = NULL;
    }
    if (file >= 0)
        close(file);
    return bytes;
}

/* Reads an order; false: it is none. */
static bool parse(char *bytes, struct device_machine_params *params)
{
    unsigned groups = 0;
    int length = 0;

    *params = (struct device_machine_params){ .build = BUILD_SPECIALISED };
    if (bytes == NULL
        || sscanf(bytes, "%4u %4u %1u%n", &params->registers, &params->axes,
                  &groups, &length)
               != 3
        || bytes[length] != '\n' || params->registers > VDBQ_REGISTERS_MAX
        || params->axes > VDBQ_AXES_MAX)
        return false;
    params->groups = groups != 0;
    params->body = bytes + length + 1;
    return true;
}

/* Adds the path of the first order for the device; false: there is none. */
static bool find_order(const struct device *device, struct text *path)
{
    DIR *entries =
        environment_cache_look(folder, path) ? opendir(path->bytes) : NULL;
    const struct dirent *entry = NULL;
    size_t length = strlen(device->known.key);

    while (entries != NULL && (entry = readdir(entries)) != NULL)
        if (strncmp(entry->d_name, device->known.key, length) == 0
            && strlen(entry->d_name) == length + 17)
            break;
    if (entry != NULL)
        text_print(path, "/%s", entry->d_name);
    if (entries != NULL)
        closedir(entries);
    return entry != NULL && !path->failed;
}

/* Takes an order out of the folder; false: there is none, or it stays there. */
static bool take(const struct device *device, struct order *order)
{
    struct text path = { 0 };
    bool is_taken = false;

    if (find_order(device, &path)) {
        order->bytes = read_file(path.bytes);
        is_taken = unlink(path.bytes) == 0;
    }
    text_finish(&path);
    return is_taken;
}

/* Builds it; on a thread beside others where that is not what the cores are
 * wanted for. */
static enum vdbq_status build(struct device *device,
                              const struct device_machine_params *params,
                              struct error *error)
{
    uint64_t time_ns;

    if (device->backend->machine_is_kept(device, params)
        || (device->facts.kind->interpreted_is_far
            && builder_start(device, params, false)))
        return VDBQ_OK;
    return device_build_time(device, params, &time_ns, error);
}

/* Builds what lies there now, or begins to; false: nothing does, or that is all
 * that cores are for. */
static bool build_ordered(struct device *device)
{
    struct order order = { 0 };
    struct error ignored;
    bool some = false;

    while (!builders_are_enough(device) && take(device, &order)) {
        some = true;
        if (parse(order.bytes, &order.params))
            build(device, &order.params, &ignored);
        memory_release(order.bytes);
        order.bytes = NULL;
    }
    memory_release(order.bytes);
    return some;
}

/* Builds what is ordered, and what is within some time behind `last`, or behind the
 * last order; 0: there was none yet. */
static void build_orders(struct device *device, uint64_t last)
{
    struct device_times times = { 0 };
    bool goes_on = true;

    while (goes_on) {
        if (build_ordered(device))
            last = os_time_ns();
        else
            goes_on = device->builders != NULL
                      || (last > 0
                          && os_time_ns() - last
                                 < device->facts.kind->more_orders_ns);
        if (goes_on)
            wake_sleep(looked_every_ns);
        builder_collect(device, false, &times);
    }
}

enum vdbq_status order_build_all(struct device *device,
                                 const struct device_machine_params *wanted,
                                 struct error *error)
{
    uint64_t time_ns;
    enum vdbq_status status = build(device, wanted, error);

    if (status == VDBQ_OK)
        build_orders(device, 0);
    /* A thread keeps to itself why it failed. */
    if (status == VDBQ_OK && device->facts.kind->interpreted_is_far
        && !device->backend->machine_is_kept(device, wanted))
        status = device_build_time(device, wanted, &time_ns, error);
    return status;
}

void order_build_beside(struct device *device)
{
    if (device->facts.kind->interpreted_is_far)
        build_orders(device, os_time_ns());
}

/* SPDX-License-Identifier: MIT */
/*
 * Several devices: choices joined by '+', of which each may be KIND:all or a
 * list KIND:N,M,... as well. Only KIND:all looks what there is.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "device/opencl/find.h"
#include "device/several.h"

/* One of the choices, as it is written. */
struct item {
    const char *text;
    int length;
    const char *numbers;          /* behind "KIND:"; NULL: it is one choice */
    const struct device_kind *of; /* likewise                               */
    bool all;                     /* likewise: it is KIND:all               */
};

/* Reads the item at `text`. */
static struct item item_at(const char *text)
{
    struct item item = { .text = text, .length = (int)strcspn(text, "+") };
    int colon = (int)strcspn(text, ":+");
    char kind[16];

    if (colon == item.length || colon >= (int)sizeof kind)
        return item;
    snprintf(kind, sizeof kind, "%.*s", colon, text);
    item.of = kind_of_choice(kind);
    if (item.of == NULL || item.of->opencl_type == 0)
        return item;
    const char *numbers = text + colon + 1;
    int left = item.length - colon - 1;
    item.all = left == 3 && strncasecmp(numbers, "all", 3) == 0;
    if (item.all || (left > 0 && (int)strspn(numbers, "0123456789,") == left))
        item.numbers = numbers;
    return item;
}

bool device_choice_is_several(const char *text)
{
    struct item item = item_at(text);
    return text[item.length] == '+' || item.all
           || (item.numbers != NULL
               && memchr(item.text, ',', (size_t)item.length) != NULL);
}

void device_choice_first(const char *text, char first[SETTING_BYTES_MAX])
{
    first[0] = '\0';
    if (text[0] == '\0') /* for any query where nobody asked for a device */
        return;
    struct item item = item_at(text);
    int digits = item.numbers != NULL ? (int)strcspn(item.numbers, ",+") : 0;

    if (item.all)
        snprintf(first, SETTING_BYTES_MAX, "%s:0", item.of->name);
    else if (item.numbers != NULL)
        snprintf(first, SETTING_BYTES_MAX, "%s:%.*s", item.of->name, digits,
                 item.numbers);
    else if (item.length > 0)
        snprintf(first, SETTING_BYTES_MAX, "%.*s", item.length, text);
    else
        snprintf(first, SETTING_BYTES_MAX, "%s", text); /* which is none */
}

/* --------------------------------------------------------------- read -- */

/* Adds a choice, which is no other one's. */
static enum vdbq_status add(struct device_choices *choices, const char *of,
                            const char *text, struct error *error)
{
    if (text[0] == '\0')
        return error_set(error, VDBQ_DEVICE,
                         "device '%s': a device is missing in the list", of);
    for (unsigned i = 0; i < choices->count; i++)
        if (strcasecmp(choices->texts[i], text) == 0)
            return error_set(error, VDBQ_DEVICE, "device '%s' names '%s' twice",
                             of, text);
    if (choices->count == DEVICES_MAX)
        return error_set(error, VDBQ_DEVICE,
                         "device '%s' names more than %d devices", of,
                         (int)DEVICES_MAX);
    snprintf(choices->texts[choices->count++], SETTING_BYTES_MAX, "%s", text);
    return VDBQ_OK;
}

/* Adds all devices of a kind that can run queries; the first number where there
 * are none, so that who opens it says what there is. */
static enum vdbq_status add_all(struct device_choices *choices, const char *of,
                                const struct device_kind *kind,
                                struct error *error)
{
    struct found found;
    const struct found_device *device;
    char text[SETTING_BYTES_MAX];
    unsigned number = 0, added = choices->count;
    enum vdbq_status status = found_fill(&found, error);

    for (size_t i = 0; status == VDBQ_OK && (device = found_at(&found, i));
         i++) {
        if (device->kind != kind)
            continue;
        snprintf(text, sizeof text, "%s:%u", kind->name, number++);
        if (device->unfit[0] == '\0')
            status = add(choices, of, text, error);
    }
    found_finish(&found);
    snprintf(text, sizeof text, "%s:0", kind->name);
    return status == VDBQ_OK && choices->count == added
               ? add(choices, of, text, error)
               : status;
}

/* Adds each number of a list. */
static enum vdbq_status add_numbers(struct device_choices *choices,
                                    const char *of, const struct item *item,
                                    struct error *error)
{
    const char *at = item->numbers, *end = item->text + item->length;
    char text[SETTING_BYTES_MAX];
    enum vdbq_status status = VDBQ_OK;

    assert(at <= end);
    while (status == VDBQ_OK && at <= end) {
        int length = (int)strcspn(at, ",+");
        snprintf(text, sizeof text, "%s:%.*s", item->of->name, length, at);
        status = add(choices, of, length > 0 ? text : "", error);
        at += length + 1;
    }
    return status;
}

static enum vdbq_status add_item(struct device_choices *choices, const char *of,
                                 const struct item *item, struct error *error)
{
    char text[SETTING_BYTES_MAX];

    if (item->all)
        return add_all(choices, of, item->of, error);
    if (item->numbers != NULL)
        return add_numbers(choices, of, item, error);
    snprintf(text, sizeof text, "%.*s", item->length, item->text);
    return add(choices, of, text, error);
}

enum vdbq_status device_choices_read(const char *text,
                                     struct device_choices *choices,
                                     struct error *error)
{
    struct item item = item_at(text);
    enum vdbq_status status;

    choices->count = 0;
    status = add_item(choices, text, &item, error);
    while (status == VDBQ_OK && item.text[item.length] == '+') {
        item = item_at(item.text + item.length + 1);
        status = add_item(choices, text, &item, error);
    }
    return status;
}

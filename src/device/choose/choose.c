/* SPDX-License-Identifier: MIT */
/*
 * The choice of a device: cpu, gpu, gpu:N, auto, P:D, or a part of a name. One
 * device must come out of it; where none or several do, we say what there is
 * and never guess.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "device/opencl/find.h"

/* What a choice means. */
enum choice_kind {
    CHOICE_KIND,   /* a device of that kind ...       */
    CHOICE_NUMBER, /* ... which has that number there */
    CHOICE_AUTO,
    CHOICE_ID,
    CHOICE_NAME
};

struct choice {
    const char *text;      /* as it was given */
    enum choice_kind kind; /* what the text asks for */
    const struct device_kind
        *of;           /* of CHOICE_KIND and CHOICE_NUMBER; else NULL */
    unsigned platform; /* of CHOICE_ID */
    unsigned device;   /* by number, where it does so */
};

static struct choice choice_read(const char *text);
static const struct found_device *choice_pick(const struct found *found,
                                              const struct choice *choice,
                                              unsigned *matches);
static enum vdbq_status not_one(const struct found *found,
                                const struct choice *choice, unsigned matches,
                                struct error *error);
static enum vdbq_status none_at_all(const struct found *found, const char *text,
                                    struct error *error);
static void hint_with_list(const struct found *found, struct error *error);
static void hint_with_text(const struct text *text, struct error *error);

enum vdbq_status found_choose(const struct found *found, const char *choice,
                              const struct found_device **chosen,
                              struct error *error)
{
    struct choice wanted = choice_read(choice);
    unsigned matches = 0;

    if (found->devices.count == 0)
        return none_at_all(found, choice, error);
    *chosen = choice_pick(found, &wanted, &matches);
    if (matches != 1)
        return not_one(found, &wanted, matches, error);
    if ((*chosen)->unfit[0] == '\0')
        return VDBQ_OK;
    error_set(error, VDBQ_DEVICE, "device '%s' (%s) cannot run queries: %s",
              choice, (*chosen)->name, (*chosen)->unfit);
    hint_with_list(found, error);
    return VDBQ_DEVICE;
}

/* The kind of `KIND:N`, and N; NULL: it is none. */
static const struct device_kind *kind_of_number(const char *text,
                                                unsigned *number)
{
    char kind[16];
    int end = 0;

    if (sscanf(text, "%15[A-Za-z]:%5u%n", kind, number, &end) != 2
        || text[end] != '\0')
        return NULL;
    const struct device_kind *of = kind_of_choice(kind);
    return of != NULL && of->opencl_type != 0 ? of : NULL;
}

/* Reads what a user may give: a word, numbers or a part of a name. */
static struct choice choice_read(const char *text)
{
    struct choice choice = { .text = text,
                             .kind = CHOICE_NAME,
                             .of = kind_of_choice(text) };
    int end = 0;

    if (choice.of != NULL)
        choice.kind = CHOICE_KIND;
    else if (strcasecmp(text, "auto") == 0)
        choice.kind = CHOICE_AUTO;
    else if ((choice.of = kind_of_number(text, &choice.device)) != NULL)
        choice.kind = CHOICE_NUMBER;
    else if (strspn(text, "0123456789:") == strlen(text)
             && sscanf(text, "%5u:%5u%n", &choice.platform, &choice.device,
                       &end)
                    == 2
             && text[end] == '\0')
        choice.kind = CHOICE_ID;
    return choice;
}

/* Whether `text` contains `part`; ASCII letters compare without case. */
static bool contains(const char *text, const char *part)
{
    size_t length = strlen(part);

    for (; *text != '\0'; text++) {
        if (strncasecmp(text, part, length) == 0)
            return true;
    }
    return false;
}

/* Whether this device is what was asked for. */
static bool matches_choice(const struct found_device *device,
                           const struct choice *choice)
{
    switch (choice->kind) {
    case CHOICE_KIND:
    case CHOICE_NUMBER:
        return device->kind == choice->of;
    case CHOICE_AUTO:
        return device->unfit[0] == '\0';
    case CHOICE_ID:
        return device->platform_number == choice->platform
               && device->device_number == choice->device;
    case CHOICE_NAME:
        return contains(device->name, choice->text)
               || contains(device->platform_name, choice->text);
    }
    return false;
}

/* Whether `a` is better than `b` where the first of several is meant: one
 * that is fit; for auto, one of the best kind. */
static bool better(const struct found_device *a, const struct found_device *b,
                   enum choice_kind kind)
{
    bool a_fit = a->unfit[0] == '\0', b_fit = b->unfit[0] == '\0';

    if (a_fit != b_fit)
        return a_fit;
    return kind == CHOICE_AUTO && a->kind->is_best && !b->kind->is_best;
}

/* The device that was chosen, and how many match. `cpu` is the first of the
 * CPUs and `auto` the best device: they count as one. */
static const struct found_device *choice_pick(const struct found *found,
                                              const struct choice *choice,
                                              unsigned *matches)
{
    const struct found_device *device, *best = NULL;
    unsigned seen = 0;

    for (size_t i = 0; (device = found_at(found, i)) != NULL; i++) {
        if (!matches_choice(device, choice)
            || (choice->kind == CHOICE_NUMBER && seen++ != choice->device))
            continue;
        *matches += 1;
        if (best == NULL || better(device, best, choice->kind))
            best = device;
    }
    if (best != NULL
        && (choice->kind == CHOICE_AUTO
            || (choice->of != NULL && choice->of->first_is_meant)))
        *matches = 1;
    return best;
}

/* Says why there is no device, or more than one. */
static enum vdbq_status not_one(const struct found *found,
                                const struct choice *choice, unsigned matches,
                                struct error *error)
{
    if (matches > 1)
        error_set(error, VDBQ_DEVICE, "device '%s' matches %u devices",
                  choice->text, matches);
    else if (choice->kind == CHOICE_AUTO)
        error_set(error, VDBQ_DEVICE, "no device here can run queries");
    else
        error_set(error, VDBQ_DEVICE,
                  "device '%s' matches none of the "
                  "devices here",
                  choice->text);
    hint_with_list(found, error);
    return VDBQ_DEVICE;
}

/* The message where OpenCL has no device. */
static enum vdbq_status none_at_all(const struct found *found, const char *text,
                                    struct error *error)
{
    struct text why = { 0 };

    found_diagnosis(found, &why);
    error_set(error, VDBQ_DEVICE,
              "device '%s': this machine has no OpenCL device", text);
    hint_with_text(&why, error);
    text_finish(&why);
    return VDBQ_DEVICE;
}

/* Shows what there is to choose from. */
static void hint_with_list(const struct found *found, struct error *error)
{
    struct text list = { 0 };

    found_list(found, &list);
    hint_with_text(&list, error);
    text_finish(&list);
}

/* Makes the text the hint, without its last line end. */
static void hint_with_text(const struct text *text, struct error *error)
{
    if (!text->failed && text->length > 0)
        error_hint(error, "%.*s", (int)text->length - 1, text->bytes);
}

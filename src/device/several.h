/* SPDX-License-Identifier: MIT */
/*
 * Choices of several devices: "gpu:all", "gpu:0,2", "cpu+gpu". Each device is
 * then opened by a choice of its own.
 */
#ifndef VDBQ_DEVICE_SEVERAL_H
#define VDBQ_DEVICE_SEVERAL_H

#include "device/device.h"

enum { DEVICES_MAX = 64 };

/* The choices of one device each, as device_open() takes them, at least one. */
struct device_choices {
    unsigned count;
    char texts[DEVICES_MAX][SETTING_BYTES_MAX];
};

/* Whether a choice (at most SETTING_BYTES_MAX bytes, as all here) may name
 * several; nobody looks what there is. */
bool device_choice_is_several(const char *text);
/* The first device that a choice names; nobody looks what there is. */
void device_choice_first(const char *text, char first[SETTING_BYTES_MAX]);
/* All that it names. Fails with DEVICE: one is missing or named twice, there are
 * too many; and as a driver that refuses to answer. */
enum vdbq_status device_choices_read(const char *text,
                                     struct device_choices *choices,
                                     struct error *error);

#endif

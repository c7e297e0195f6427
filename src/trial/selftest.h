/* SPDX-License-Identifier: MIT */
/*
 * The self-test: every opcode on a device against the host build of the
 * machine, in every mode and build, bit by bit.
 */
#ifndef VDBQ_EXEC_SELFTEST_H
#define VDBQ_EXEC_SELFTEST_H

#include "exec/launch/launcher.h"

/* Runs it on `device`; `report` gets a line for each group of opcodes. Fails
 * with DEVICE and the first difference. */
enum vdbq_status selftest(struct device *device, struct device *host,
                          vdbq_report report, void *context,
                          struct error *error);

#endif

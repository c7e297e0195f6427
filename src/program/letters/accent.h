/* SPDX-License-Identifier: MIT */
/*
 * Characters without their accents, by the version of Unicode that
 * accent_table.h names: what canonical decomposition leaves but for marks.
 */
#ifndef VDBQ_PROGRAM_ACCENT_H
#define VDBQ_PROGRAM_ACCENT_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a character is a mark, which stands on the one before it. */
bool accent_is_mark(uint32_t character);
/* What is left of a character without its marks; itself, if it has none. */
uint32_t accent_base(uint32_t character);

#endif

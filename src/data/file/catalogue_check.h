/* SPDX-License-Identifier: MIT */
/*
 * What must differ within a catalogue: names, places of blocks, identities of
 * tablets.
 */
#ifndef VDBQ_DATA_FILE_CATALOGUE_CHECK_H
#define VDBQ_DATA_FILE_CATALOGUE_CHECK_H

#include "data/file/decoder.h"

/* Proves it of the catalogue of a decoder that has not failed; else it fails. */
void catalogue_check(struct decoder *decoder);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Tablets that are built on threads of their own while the next rows come, of rows
 * or of tablets and their edits. The bytes that are built are the same as on the
 * caller's thread.
 */
#ifndef VDBQ_DATA_TABLET_BUILD_H
#define VDBQ_DATA_TABLET_BUILD_H

#include <pthread.h>

#include "base/threads/stop.h"
#include "data/database/rows_block.h"

/* One tablet. Until it is waited for, its thread alone touches it. */
struct tablet_build {
    struct rows rows;         /* it is made of, or ...                      */
    struct tablet_ref edited; /* ... if this one has an edit, held: of ...  */
    struct tablet_ref base;   /* ... this one, which is read from ...       */
    const struct database *database;
    const struct table *table; /* stays as it is until it is waited for      */
    struct rows_form form;
    struct column_facts *facts; /* of the table's columns; the caller's      */
    uint64_t features;          /* that the tablet needs                     */
    struct block block;         /* the tablet; without bytes: no memory, or  */
    struct error error;         /* ... what reading fails with               */
    struct stop *stop;          /* of who starts it */
    pthread_t thread;
    bool started; /* there is a thread that was not waited for */
};

/* How many rows it has. */
uint32_t tablet_build_rows(const struct tablet_build *build);
/* About how many bytes what it is made of takes; of a base, and what it becomes. */
uint64_t tablet_build_bytes(const struct tablet_build *build);
/* Builds it. */
void tablet_build_run(struct tablet_build *build);
/* Begins to; where no thread can be had, the caller's does it now. */
void tablet_build_start(struct tablet_build *build);
/* Waits until it is built. May be called again. */
void tablet_build_wait(struct tablet_build *build);
/* Frees what it has, but for the facts; accepts a zeroed one. */
void tablet_build_finish(struct tablet_build *build);

#endif

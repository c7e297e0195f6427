/* SPDX-License-Identifier: MIT */
/*
 * The database file as two heads and blocks: reading, writing, locks, and
 * the commit. What the blocks hold is database.c's and transaction.c's. The
 * rules that all three keep are in file.c.
 */
#ifndef VDBQ_DATA_FILE_H
#define VDBQ_DATA_FILE_H

#include "base/error.h"
#include "base/os/os.h"
#include "base/vector.h"
#include "data/tablet/block.h"
#include "data/catalogue/identity.h"
#include "data/file/params.h"

enum {
    FILE_FORMAT_FIRST = 1,
    FILE_FORMAT = 2,                      /* that is written              */
    FILE_HEADS = 2,                       /* pages 0 and 1                */
    FILE_FIRST = FILE_HEADS * PAGE_BYTES, /* behind them                  */
    FILE_COPIES = FILE_FIRST,             /* where a new file's are       */
    FILE_NEW_BYTES = FILE_COPIES + FILE_FIRST + PAGE_BYTES
};

/* Features of a head that may be ignored: samples.h. */
#define FILE_SAMPLES UINT64_C(1)
/* ... and run_list.h. */
#define FILE_RUNS (UINT64_C(1) << 1)

/* ... the states that were read when the head was written: states.h. */
#define FILE_STATES UINT64_C(4)

/* Features that must be known to write: readers set marks (rule 7), ... */
#define FILE_MARKS UINT64_C(1)
/* ... and the next writer follows a head that is not written yet (rule 16). */
#define FILE_AHEAD (UINT64_C(1) << 1)

/* Versions of vdbq as a head has them. */
#define FILE_VERSION(major, minor) ((uint32_t)(major) << 16 | (minor))

/* A head; its layout is drawn in file.c. */
struct file_head {
    uint8_t magic[8];            /* says that this is a vdbq database */
    uint32_t format;             /* of the file, from FILE_FORMAT_FIRST on */
    uint32_t page_bytes;         /* PAGE_BYTES */
    uint64_t generation;         /* one more with every commit */
    uint64_t catalogue;          /* byte offset */
    uint64_t catalogue_size;     /* in bytes */
    uint64_t catalogue_checksum; /* of its bytes */
    uint64_t end;                /* of what is used, a multiple of PAGE_BYTES */
    uint64_t copies;   /* byte offset of the second pair of heads; 0: none */
    uint64_t checksum; /* of all bytes before it */
    uint64_t features; /* that may be ignored                */
    uint64_t features_read;  /* that must be known to read         */
    uint64_t features_write; /* that must be known to write        */
    uint32_t version_read;   /* FILE_VERSION() that knows the first */
    uint32_t version_write;  /* ... and the second                  */
    uint64_t reserved;       /* 0 */
    uint64_t checksum_all;   /* of all bytes before it */
};
/* Bytes of a head of format 1. */
#define FILE_HEAD_FIRST offsetof(struct file_head, features)

enum head_state {
    HEAD_VALID,
    HEAD_NONE,  /* another magic, or nothing             */
    HEAD_NEWER, /* whole, of a format that came later    */
    HEAD_DAMAGED,
    HEAD_SHORT /* whole, but the file ends before `end` */
};

struct file {
    const struct os_file_calls *calls; /* how the system is asked */
    struct os_file *os;                /* the open file */
    struct waiting *waiting; /* blocks to be written: file_blocks.c     */
    char *path;              /* for messages                            */
    bool read_only;          /* opened so, or the system allows no more */
    bool no_sync;            /* the caller trusts the system not to fail */
    bool older;              /* VDBQ_OPEN_OLDER: may be used            */
    bool uses_older;         /* ... and is; set by database.c           */
    bool poisoned;           /* rule 9                                  */
    bool settled;            /* rule 8: the heads below are durable     */
    bool alike;              /* of both, both copies were whole, and the same */
    bool known;              /* heads have been read                    */
    struct file_head first[FILE_HEADS]; /* first copies, as last read     */
    struct file_head heads[FILE_HEADS]; /* of each, the copy that counts  */
    enum head_state states[FILE_HEADS]; /* of these                       */
    struct file_head unconfirmed; /* of a commit that is not durable yet   */
    bool follows;                 /* rule 16: `heads` has one that another
                                  connection has announced                */
    bool unfounded;               /* ... and the transaction that failed last
                                  did since that head never came         */
    uint64_t copies;              /* where second copies are; 0: there are
                                  none yet                                */
    unsigned current;             /* the head whose state is being used; set
                                  by database.c                           */
    uint64_t size_bytes;          /* when the heads were read                */
    uint64_t drawn;     /* of its next transaction's identities; 0: none
                                  is yet                                  */
    bool introduced;    /* `tag` was drawn, and its process told   */
    uint64_t tag;       /* of this connection's marks              */
    unsigned marks;     /* of states, that it has set              */
    unsigned durable;   /* its marks of heads that are, or were        */
    uint64_t since_ms;  /* when the first of these was set, since 1970 */
    uint64_t writer_ms; /* when it last became the writer, likewise    */
    bool undisturbed;   /* it is the writer, and has been since a moment at
                        which nobody else had any other byte locked      */
    const struct settings *settings; /* of the params                       */
    struct error warning;            /* what the user is to know of the heads;
                                  status OK: nothing                      */
};

/* Opens the file; no head has been read yet. */
enum vdbq_status file_open(const struct database_params *params,
                           struct file *file, struct error *error);
void file_close(struct file *file);

enum vdbq_status file_read(const struct file *file, void *bytes, size_t size,
                           uint64_t offset, struct error *error);
enum vdbq_status file_size(const struct file *file, uint64_t *size_bytes,
                           struct error *error);
/* Shows a block where it lies in the file (rule 12), until file_unmap(); only
 * of a file that has such a place. */
bool file_maps(const struct file *file);
enum vdbq_status file_map(const struct file *file, uint64_t offset,
                          uint64_t size, const void **bytes,
                          struct error *error);
void file_unmap(const struct file *file, const void *bytes, uint64_t size);
/* A source of identities for the next transaction (identity rule 1). */
enum vdbq_status file_draw_identities(struct file *file,
                                      struct identity_source *identities,
                                      struct error *error);

/* File rule 8: before anything is written on top of the current head. */
enum vdbq_status file_settle(struct file *file, struct error *error);
/* Whether heads have no second copies yet: file_upgrade() comes first then. */
bool file_is_first_format(const struct file *file);
/* Makes a file of format 1 one of this format, in the same state (rule 13).
 * `copies`: free space for second copies of the heads. */
enum vdbq_status file_upgrade(struct file *file, uint64_t copies,
                              struct error *error);
/* A commit: writes all blocks, and completes the head, which is written by the
 * steps that follow, in this order. Whichever fails is the last. */
enum vdbq_status file_commit(struct file *file, struct file_head *head,
                             struct error *error);
/* Makes the blocks durable, then writes the head: from then on another may. */
enum vdbq_status file_write_head(struct file *file, struct error *error);
/* Makes that head durable, and then the current one. */
enum vdbq_status file_confirm(struct file *file, struct error *error);
/* Has both heads lead to the current state, so that the file may be cut where
 * that ends. */
enum vdbq_status file_double_head(struct file *file, struct error *error);
/* Cuts the file off behind `size_bytes`; may fail. */
void file_cut(struct file *file, uint64_t size_bytes);

/* Places that are never free, as part files have them (part_files.h): adds them to
 * extents that are in use (false: no memory), and where the last one ends. */
bool file_reserve(const struct file *file, struct vector *extents);
uint64_t file_reserved_end(const struct file *file);

enum vdbq_status file_sync(struct file *file, struct error *error);
enum vdbq_status file_write(struct file *file, const void *bytes, size_t size,
                            uint64_t offset, struct error *error);

/* ----------------------------------------------- blocks (file_blocks.c) -- */

/* Writes a block, whole pages, to free space, at the latest with the commit. Keeps
 * one that it does not write now, and leaves none then. */
enum vdbq_status file_write_block(struct file *file, struct block *block,
                                  uint64_t offset, struct error *error);
/* Writes all blocks that wait for that. */
enum vdbq_status file_write_waiting(struct file *file, struct error *error);
/* What was to be written there, or anywhere, need not be any more. */
void file_forget_block(struct file *file, uint64_t offset, uint64_t size);
void file_forget_blocks(struct file *file);
/* Whether the block of that place waits, and is nowhere in the file. */
bool file_block_waits(const struct file *file, uint64_t offset);
/* Reads of one that waits; false: none does there. */
bool file_read_waiting(const struct file *file, void *bytes, size_t size,
                       uint64_t offset);
/* For file_open() and file_close(). */
enum vdbq_status file_waiting_create(struct file *file, struct error *error);
void file_waiting_destroy(struct file *file);

/* ------------------------------------------------- heads (file_head.c) -- */

/* Reads the heads where they are not those that were read last. */
enum vdbq_status file_read_heads(struct file *file, bool *changed,
                                 struct error *error);
/* What the bytes of a head are, in a file of that size. */
enum head_state file_judge(const struct file_head *head, uint64_t size_bytes);
/* Whether the heads are those that were read last. */
enum vdbq_status file_heads_stay(const struct file *file, bool *stay,
                                 struct error *error);
/* The head of the newest state. Fails with CORRUPT: says why none will do. */
enum vdbq_status file_newest(const struct file *file, unsigned *newest,
                             struct error *error);
/* Whether that head can be used. Fails with CORRUPT. */
enum vdbq_status file_check_head(const struct file *file, unsigned which,
                                 struct error *error);
/* Whether what such a head leads to may be in the file, and is known to this
 * vdbq, whoever told of the head. */
bool file_knows(const struct file *file, const struct file_head *head);
/* Whether the other head than that has an older state. */
bool file_has_older(const struct file *file, unsigned newest);
/* Whether what a head leads to may be changed; READ_ONLY: not by this vdbq. */
enum vdbq_status file_check_writable(const struct file *file,
                                     struct error *error);
/* The generation that comes after all there are. */
uint64_t file_next_generation(const struct file *file);
/* Fills in what is the same in all heads of that format, and checksums. */
void file_seal_head(struct file_head *head, uint32_t format);
/* The same head in other bytes than there ever were, if it is whole. */
struct file_head file_other_bytes(const struct file *file, unsigned which);

/* ------------------------------------ announced heads (file_ahead.c) -- */

/* Whether a head may be announced; and does it: from then on another connection
 * may become the writer, if it is let to (rule 16). */
bool file_may_announce(const struct file *file);
enum vdbq_status file_announce(struct file *file, struct error *error);
/* Whether it was opened for writing; says what is to be done where it was not. */
enum vdbq_status file_check_open(const struct file *file, struct error *error);
/* For the writer: file_read_heads(), and the head that the one before him has
 * announced. */
enum vdbq_status file_read_ahead(struct file *file, bool *changed,
                                 struct error *error);

/* --------------------------------------------- a new file (file_new.c) -- */

/* Whether the file is what a creation that was cut short leaves. */
enum vdbq_status file_is_unfinished(const struct file *file, bool *unfinished,
                                    struct error *error);
/* Writes an empty database, durably. */
enum vdbq_status file_write_new(struct file *file, struct error *error);

/* ------------------------------------------------- locks (file_lock.c) -- */

/* The writer's place, in turn; BUSY, with who has it, where it is not free in
 * time, CANCELLED. */
enum vdbq_status file_lock_writer(struct file *file, struct error *error);
/* Likewise, of a file that may be being created at this moment. */
enum vdbq_status file_lock_creator(struct file *file, struct error *error);
void file_unlock_writer(struct file *file);
/* For a writer who soon lets it go, unless he has to wait for the commit before:
 * wakes the next one, which takes the system a while. */
void file_call_next(const struct file *file);
/* File rule 5: for the writer whose head is not durable yet. */
enum vdbq_status file_lock_unconfirmed(struct file *file, struct error *error);
void file_unlock_unconfirmed(struct file *file);
/* Whether another connection has that lock; and waits until none has. Fails with
 * CANCELLED. */
bool file_is_unconfirmed(const struct file *file);
enum vdbq_status file_await_confirmed(const struct file *file,
                                      struct error *error);
/* Keeps whatever there is readable. */
enum vdbq_status file_lock_reader(struct file *file, struct error *error);
void file_unlock_reader(struct file *file);
/* Whether no other connection has that lock at this moment. */
bool file_alone(const struct file *file);

/* ------------------------------------- who reads what (file_marks.c) -- */

/* What a state is marked by: see file_marks.c. Of its generation it has so many
 * bits, above those of a checksum. */
enum { FILE_KEY_GENERATION_BITS = 24, FILE_KEY_SUM_BITS = 14 };
uint64_t file_state_key(const struct file_head *head);
/* Marks the state that a head leads to as read by this connection, which has
 * not marked it yet; and takes that back. */
enum vdbq_status file_mark(struct file *file, const struct file_head *head,
                           struct error *error);
void file_unmark(struct file *file, const struct file_head *head);
/* Adds the keys of all states that other connections have marked, each once,
 * to a vector of uint64_t. */
enum vdbq_status file_marked_keys(struct file *file, struct vector *keys,
                                  struct error *error);

/* File rule 8: tells other connections that all copies of both heads are durable,
 * in place of what was told before; and whether another one tells so of these. */
void file_tell_durable(struct file *file);
bool file_are_durable(const struct file *file);

/* What another connection does with the file: it writes, or reads a state. */
struct file_use {
    struct os_holder who; /* process 0: it is not known; since when          */
    bool writes;          /* else it reads the state ...                     */
    uint64_t key;         /* ... of this key                                 */
};
/* Adds what others do at this moment to a vector of struct file_use. */
enum vdbq_status file_uses(struct file *file, struct vector *uses,
                           struct error *error);
#endif

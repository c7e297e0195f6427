/* SPDX-License-Identifier: MIT */
/*
 * A device that OpenCL drives: what its files share. Each of its queues runs
 * its commands in order; every call here waits for what it starts, but
 * for those of jobs.
 */
#ifndef VDBQ_DEVICE_OPENCL_H
#define VDBQ_DEVICE_OPENCL_H

#include "base/hostile.h"
#include "base/vector.h"
#include "device/backend.h"
#include "device/opencl/find.h"

/* Texts of kernels beside the machine. */
enum opencl_text {
    TEXT_GROUP,
    TEXT_GROUP_LOCAL,
    TEXT_SORT,
    TEXT_KEEP,
    TEXT_WINDOW,
    TEXT_JOIN,
    TEXT_JUDGED,
    TEXT_INDEX,
    TEXT_PROBE,
    TEXT_SEARCH,
    TEXT_WORDS,
    TEXT_SEND,
    OPENCL_TEXTS
};

/* The arguments that a kernel has: a call sets those that differ. */
struct opencl_set {
    bool all; /* they were set, and no memory was freed since */
    cl_mem memories[CALL_MEMORIES_MAX];
    uint64_t numbers[CALL_NUMBERS_MAX];
};

/* Queues that keep times, or that do not. Zeroed: not open. */
struct opencl_queues {
    cl_command_queue run;    /* kernels, and all that is waited for      */
    cl_command_queue beside; /* a GPU's: every other kernel of jobs that
                                may run beside one another               */
    cl_command_queue in;     /* what jobs copy to the device ...         */
    cl_command_queue out;    /* ... and what they copy from it           */
};

/* Pinned memory through which many bytes go to the device: see opencl_relay.c. */
enum {
    RELAY_PARTS = 4,
    RELAY_PART_BYTES = HOSTILE(1 << 12, 2 << 20),
    RELAY_LEAST = HOSTILE(1, 16 << 10), /* bytes that go that way        */
    RELAY_AFTER = HOSTILE(0, 16 << 20)  /* bytes that go the driver's    */
};

struct opencl_relay {
    struct device_memory *memory; /* pinned; NULL: none yet                */
    bool lacks;                   /* the device has none for it            */
    uint64_t asked;               /* bytes that might have gone that way   */
    unsigned next;                /* the part to be filled                 */
    cl_event sent[RELAY_PARTS];   /* of each; NULL: it may be filled       */
};

/* Whether kernels reach the host's memory. */
enum zero_copies { ZERO_COPIES_UNTRIED, ZERO_COPIES_NOT, ZERO_COPIES_DO };

enum { OPENCL_OPTIONS_MAX = 256 };

struct opencl {
    struct device head;        /* first */
    struct found_device found; /* as it was chosen                       */
    cl_device_id id;           /* the device, or the part of it in use   */
    cl_context context;        /* of this device alone */
    char options[OPENCL_OPTIONS_MAX]; /* of every build for the device     */
    size_t options_plain;             /* their length without what the probe
                                         asked for                         */
    struct opencl_queues queues;      /* in use                               */
    struct opencl_queues others;      /* idle, opened when first needed       */
    bool keeps_times;                 /* those in use do                      */
    bool besides;                     /* kernels went beside that no call
                                         follows yet                       */
    bool turn;                        /* the next kernel of jobs that may run
                                  beside one another goes beside         */
    uint64_t busy_until;            /* the device's clock when the last of them
                                  that was waited for had ended          */
    struct vector machines;         /* struct opencl_machine *, see there     */
    struct vector apart;            /* struct apart *: builds under way or left,
                                       opencl_apart.c                         */
    cl_program texts[OPENCL_TEXTS]; /* NULL: not built yet               */
    cl_kernel kernels[KERNELS];     /* ... of them                       */
    struct opencl_set sets[KERNELS]; /* ... and their arguments           */
    bool launched[OPENCL_TEXTS]; /* for the first time, since the last wait */
    struct vector calls; /* struct opencl_call: those since the last wait  */
    bool started;        /* ... and others, of which no time is kept       */
    cl_event marker; /* behind calls that nobody waited for: where kernels of
                        the other queue wait for them; NULL: there is none    */
    bool unmarked;   /* there are such calls behind it                        */
    struct device_memory *staging; /* zero-copy, or pinned: few bytes are read
                                      through it; NULL: none were          */
    enum zero_copies zero_copies;  /* whether the device has such memory   */
    struct device_memory *put;     /* zero-copy: bytes on their way to calls */
    uint64_t put_bytes;            /* ... since the last wait for them     */
    struct opencl_relay relay;     /* many are written through it          */
};

/* A command whose time is kept. An event takes the host time, and so do questions
 * to it: without times there is none. */
struct opencl_call {
    cl_event event;
    bool moves; /* bytes; else it computes */
};

/* Opens a device, or as many of its compute units as the parameters say; they
 * may leave out one that was never tried, see there. */
enum vdbq_status opencl_open(const struct found_device *found,
                             const struct device_params *params,
                             struct device **device, struct error *error);

/* Gives the part of a device that has `cores` of its compute units. Fails with
 * DEVICE where it cannot be divided so, NO_MEMORY. */
enum vdbq_status opencl_part(const struct found_device *found, unsigned cores,
                             cl_device_id *id, struct error *error);

/* opencl_event.c */

/* Checks `code`, the result of the enqueueing `call` that gave `event`; then
 * waits for the event, adds its time on the device to `*time_ns`, and lets
 * it go. */
enum vdbq_status opencl_wait(cl_int code, const char *call, cl_event event,
                             uint64_t *time_ns, struct error *error);

/* Starts what is in the queue, asks `event` for its command's end again and again,
 * which tells it sooner than any call that waits, and lets it go. What a copy of
 * the command has brought is there then. After a while it waits. `call` is the
 * name of what gave the event. After a failure the queue is empty. */
enum vdbq_status opencl_poll(cl_command_queue queue, cl_event event,
                             const char *call, struct error *error);

/* Adds what the device took from the start of one event to the end of a
 * later one of its queue, or of the same. Both have ended. Nothing is added
 * where their queue keeps no times. */
enum vdbq_status opencl_span(cl_event first, cl_event last, uint64_t *time_ns,
                             struct error *error);
/* Adds that time of an event in which none of those before it ran that were
 * counted like this. */
enum vdbq_status opencl_beside(struct opencl *opencl, cl_event event,
                               uint64_t *time_ns, struct error *error);

/* ------------------------------------------------------------- queues -- */

/* Opens a set of queues; after a failure none is open. */
enum vdbq_status opencl_queues_open(struct opencl *opencl, bool keeps_times,
                                    struct opencl_queues *queues,
                                    struct error *error);
/* Waits for them and closes them; accepts queues that are not open. */
void opencl_queues_close(struct opencl_queues *queues);
/* Waits for all that was put into them. */
void opencl_queues_wait(const struct opencl_queues *queues);
/* Waits for all that was started, and goes on with the other queues. */
enum vdbq_status opencl_times_keep(struct device *device, bool keep,
                                   struct error *error);

/* ------------------------------------------------------------- memory -- */

struct opencl_memory {
    struct device_memory head; /* first */
    cl_mem buffer;             /* of the device */
};

enum vdbq_status opencl_memory_create(struct device *device,
                                      enum memory_place place,
                                      uint64_t size_bytes,
                                      struct device_memory **memory,
                                      struct error *error);
enum vdbq_status opencl_memory_wrap(struct device *device, const void *bytes,
                                    uint64_t size_bytes,
                                    struct device_memory **memory,
                                    struct error *error);
enum vdbq_status opencl_memory_over(struct device *device, void *bytes,
                                    uint64_t size_bytes,
                                    struct device_memory **memory,
                                    struct error *error);
void opencl_memory_destroy(struct device_memory *memory);
/* Puts the filling of some bytes into the queue, OPENCL_FILL_BYTES at most: a
 * driver that was asked for 2.4 GB at once worked for 83 seconds and then failed
 * (NVIDIA: -9999), as it did behind 8 GB of a buffer. */
enum { OPENCL_FILL_BYTES = HOSTILE(1 << 16, 1 << 30) };
cl_int opencl_fill_part(struct device_memory *memory, uint64_t at,
                        uint64_t size, uint8_t byte, cl_event *event);
enum vdbq_status opencl_memory_give(struct device_memory *memory,
                                    struct device_times *times,
                                    struct error *error);
enum vdbq_status opencl_memory_take(struct device_memory *memory,
                                    struct device_times *times,
                                    struct error *error);
enum vdbq_status opencl_write(struct device_memory *memory, uint64_t offset,
                              const void *bytes, uint64_t size,
                              struct device_times *times, struct error *error);
enum vdbq_status opencl_read(struct device_memory *memory, uint64_t offset,
                             void *bytes, uint64_t size,
                             struct device_times *times, struct error *error);

/* opencl_zero_copy.c */

/* Whether kernels reach the host's memory, where this is not their own anyway; tries
 * it the first time. */
bool opencl_zero_copies(struct device *device);
/* A buffer in the host's memory, of a driver that makes such; NULL: `*code` says why
 * there is none. */
cl_mem opencl_zero_copy_buffer(struct opencl *opencl, uint64_t size,
                               cl_int *code);
/* Bytes on their way from a memory to another: of the device's own, or zero-copy. A
 * kernel copies words; those at the ends have all their bytes copied. */
enum { SENT_BYTES = 64 << 10, SENT_WORD = 8 };
struct opencl_sending {
    struct device_memory *from, *to;
    uint64_t from_at, to_at; /* offsets in them, alike in a word */
    uint64_t size;           /* SENT_BYTES at most, not 0        */
};
/* Puts that into a queue. `*event`: NULL: it is not asked for. */
enum vdbq_status opencl_send(struct opencl *opencl, cl_command_queue queue,
                             const struct opencl_sending *sending,
                             cl_event *event, struct device_times *times,
                             struct error *error);
/* Whether bytes that lie in a memory (NULL: it is not known) are sent sooner than
 * they are copied. */
bool opencl_is_sent(const struct device_memory *in, uint64_t size);
/* Puts bytes for the start of a memory into the queue of calls; false: they had better
 * be copied. */
bool opencl_put_sent(struct device_memory *memory, const void *bytes,
                     uint64_t size, struct device_times *times);

/* opencl_relay.c */

/* Whether so many bytes that no driver pinned had better go through the relay. */
bool opencl_relays(struct opencl *opencl, uint64_t size);
/* The part of a copy that follows so many of its bytes. */
struct device_copy opencl_relay_part(const struct device_copy *copy,
                                     uint64_t behind);
/* Copies such a part, and has it sent: its bytes are the
 * caller's again. Waits for an earlier part. `*event`: of the command, the
 * caller's; NULL: it is not asked for. */
enum vdbq_status opencl_relay(struct opencl *opencl, cl_command_queue queue,
                              const struct device_copy *part, cl_event *event,
                              struct error *error);
/* Waits for all parts and lets the memory go. */
void opencl_relay_finish(struct opencl *opencl);

/* ------------------------------------------------------------ machine -- */

/* What a build is made for. */
struct variant {
    enum device_build build; /* interpreted or specialised */
    unsigned registers;      /* room for so many */
    unsigned axes;           /* of the program */
    unsigned group;          /* work-items of a group */
    unsigned tile;           /* rows of a work-item at once */
};

struct opencl_machine {
    struct device_machine head; /* first */
    struct variant variant;     /* what it was built for */
    char *body;                 /* of a specialised build, else NULL */
    uint64_t hash;              /* of the body                       */
    cl_program program;         /* of OpenCL */
    cl_kernel run;              /* vdbq_machine                      */
    uint64_t groups_least;      /* that it is launched with          */
};

struct device_machine *
opencl_machine_find(struct device *device,
                    const struct device_machine_params *params);
enum vdbq_status
opencl_machine_build(struct device *device,
                     const struct device_machine_params *params,
                     struct device_machine **machine, struct error *error);
bool opencl_machine_is_kept(struct device *device,
                            const struct device_machine_params *params);
enum vdbq_status opencl_machine_keep(struct device_machine *machine,
                                     struct error *error);
/* Fills `known`; the facts are there. */
void opencl_tuning_init(struct opencl *opencl);
/* Frees the machines of a device that closes. */
void opencl_machines_finish(struct opencl *opencl);

/* What opencl_build_apart() builds. */
struct opencl_building {
    /* On any thread: touches nothing but `made` and what does not change while
     * the device is open. */
    enum vdbq_status (*build)(struct opencl *opencl, void *made,
                              struct error *error);
    bool (*is_same)(const void *made, const void *other);
    void (*drop)(void *made); /* built or not */
};

/* Has `*made` built, on another thread where the caller works for a statement,
 * which may stop meanwhile: CANCELLED, and the build goes on. `*made` is the
 * callee's; on success it is the caller's again, or another one that is the same
 * and was left before; on failure it is NULL. The device's thread, or one that
 * works for no statement. */
enum vdbq_status opencl_build_apart(struct opencl *opencl,
                                    const struct opencl_building *building,
                                    void **made, struct error *error);
/* Waits for what was left, and drops it. */
void opencl_apart_finish(struct opencl *opencl);

/* Builds the program whose text is `count` strings. A driver that keeps no
 * binaries of its own gets ours; see cache.h and keep.h. */
enum vdbq_status opencl_build(struct opencl *opencl, const char **strings,
                              unsigned count, const char *options,
                              cl_program *program, struct error *error);
/* Whether the driver keeps what it compiled, where nobody can look. */
bool opencl_keeps_itself(const struct opencl *opencl);
/* Whether that would ask no compiler; see device_machine_is_kept(). */
bool opencl_is_kept(struct opencl *opencl, const char **strings, unsigned count,
                    const char *options);
/* Adds all that such a build depends on, each part ended by a NUL. */
void opencl_key(const struct opencl *opencl, const char **strings,
                unsigned count, const char *options, struct text *key);
void opencl_program_release(cl_program program); /* accepts NULL */

/* ------------------------------------------------------------- launch -- */

/* The kernel's first arguments: control, result, inner and the morsels. Then
 * comes where in control the progress is. */
enum { MACHINE_BUFFERS = 3 + LAUNCH_MORSELS };

/* Sets the kernel's arguments. */
enum vdbq_status opencl_arguments(struct opencl_machine *machine,
                                  const cl_mem buffers[MACHINE_BUFFERS],
                                  uint64_t progress_at, struct error *error);

/* Events that a command waits for. */
struct opencl_after {
    cl_event events[2];
    cl_uint count;
};
/* Puts a launch into a queue, behind some events. */
enum vdbq_status
opencl_launch_start(struct opencl_machine *machine,
                    const struct device_launch *params, cl_command_queue queue,
                    const struct opencl_after *after, cl_event *event,
                    struct device_times *times, struct error *error);

enum vdbq_status opencl_sweep(struct device_memory *memory, unsigned runs,
                              uint64_t *best_ns, struct error *error);
enum vdbq_status opencl_exchange(struct device_memory *memory, void *bytes,
                                 uint64_t size, uint64_t *time_ns,
                                 struct error *error);

/* Notes that all calls have ended, of which no time is kept. */
void opencl_calls_ended(struct opencl *opencl);
/* Marks the calls that nobody waited for: opencl->marker comes behind them. */
enum vdbq_status opencl_calls_mark(struct opencl *opencl, struct error *error);

/* --------------------------------------------------------------- jobs -- */

enum vdbq_status opencl_job_create(struct device *device,
                                   struct device_job **job,
                                   struct error *error);
void opencl_job_destroy(struct device_job *job);
enum vdbq_status opencl_job_start(struct device_job *job,
                                  const struct device_job_params *params,
                                  struct error *error);
bool opencl_job_has_run(struct device_job *job);
enum vdbq_status opencl_job_run(struct device_job *job, struct error *error);
enum vdbq_status opencl_job_collect(struct device_job *job,
                                    const struct device_copy *copies,
                                    size_t count, struct error *error);
enum vdbq_status opencl_job_wait(struct device_job *job, struct error *error);

/* ------------------------------------------------------------ kernels -- */

enum vdbq_status opencl_call(struct device *device,
                             const struct device_call *call,
                             struct device_times *times, struct error *error);
/* Puts one into a queue, of which nobody is told but by its event; NULL: nor by it. */
enum vdbq_status opencl_call_start(struct opencl *opencl,
                                   cl_command_queue queue,
                                   const struct device_call *call,
                                   cl_event *event, struct device_times *times,
                                   struct error *error);
enum vdbq_status opencl_put(struct device_memory *memory, const void *bytes,
                            uint64_t size, struct device_times *times,
                            struct error *error);
enum vdbq_status opencl_fill(struct device_memory *memory, uint64_t size,
                             uint8_t byte, struct error *error);
enum vdbq_status opencl_calls_follow(struct device *device,
                                     struct error *error);
enum vdbq_status opencl_calls_wait(struct device *device,
                                   struct device_times *times,
                                   struct error *error);
/* The next calls set all arguments: a buffer that is made may have the name of one
 * that is gone. */
void opencl_sets_forget(struct opencl *opencl);
/* Frees a text's program and kernels, of which no call is under way: the next
 * call builds them anew. */
void opencl_text_drop(struct opencl *opencl, enum opencl_text text);
/* Waits for calls, and frees what they were built from. */
void opencl_kernels_finish(struct opencl *opencl);

/* -------------------------------------------------------------- probe -- */

/* Tries whether the device computes as the host does, once for a device and
 * driver, and adds options for what it does otherwise to those of all builds.
 * Fails with DEVICE where it lacks something that no option makes good. */
enum vdbq_status opencl_probe(struct opencl *opencl, struct error *error);
/* Whether it was tried before, by any process. */
bool opencl_is_tried(struct opencl *opencl);

#endif

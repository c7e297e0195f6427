/* SPDX-License-Identifier: MIT */
/*
 * Jobs of an OpenCL device. In-order queues: one copies to the device, one
 * runs kernels, one copies from it; an event joins a job's part in one queue
 * to its part in the next. On a GPU jobs that may run beside one another take
 * turns between two queues for kernels: the groups of one start while the last
 * of the other still run (H200, one of the ten queries over 16 times 8M rows:
 * 33 us each, else 42). Few bytes in zero-copy memory are sent by kernels, beside the
 * job's own (opencl_zero_copy.c). No call here blocks but the two waits, and bytes that
 * are relayed (opencl_relay.c).
 */
#include "base/memory.h"
#include "device/opencl/opencl.h"

/* The first and the last command of a row of them in one queue. */
struct span {
    cl_event first; /* event; NULL: nothing was queued */
    cl_event last;  /* NULL: there is one command only */
};

struct opencl_job {
    struct device_job head; /* first */
    struct span in;         /* copies to the device */
    cl_event run;           /* of the kernel; NULL: there was no step */
    cl_event ran;           /* `progress` is there                    */
    bool has_run;           /* ... as the host has seen               */
    bool beside;            /* the kernel may run beside others       */
    struct span out;        /* copies to the host */
};

static enum vdbq_status copies_in(struct opencl_job *job,
                                  const struct device_job_params *params,
                                  struct error *error);
static enum vdbq_status run(struct opencl_job *job,
                            const struct device_job_params *params,
                            struct error *error);
static enum vdbq_status give_up(struct opencl_job *job,
                                enum vdbq_status status);
static void forget(struct opencl_job *job);

/* The device that runs the job. */
static struct opencl *opencl_of(const struct opencl_job *job)
{
    return (struct opencl *)job->head.device;
}

/* NULL where there is no memory. */
static cl_mem buffer_of(const struct device_memory *memory)
{
    return ((const struct opencl_memory *)memory)->buffer;
}

/* The last of a row's commands. */
static cl_event span_end(const struct span *span)
{
    return span->last != NULL ? span->last : span->first;
}

/* Where the event of the next command of a row goes, the last of those known;
 * NULL: it needs none. */
static cl_event *span_event(struct span *span, bool last)
{
    if (span->first == NULL)
        return &span->first;
    if (!last)
        return NULL;
    if (span->last != NULL)
        opencl_calls.ReleaseEvent(span->last);
    span->last = NULL;
    return &span->last;
}

enum vdbq_status opencl_job_create(struct device *device,
                                   struct device_job **job, struct error *error)
{
    struct opencl_job *made = memory_zeroed(1, sizeof *made);

    if (made == NULL)
        return error_no_memory(error);
    made->head.device = device;
    *job = &made->head;
    return VDBQ_OK;
}

void opencl_job_destroy(struct device_job *job)
{
    struct opencl_job *opened = (struct opencl_job *)job;

    if (opened->in.first != NULL || opened->run != NULL || opened->ran != NULL)
        give_up(opened, VDBQ_OK);
    memory_release(opened);
}

/* -------------------------------------------------------------- start -- */

enum vdbq_status opencl_job_start(struct device_job *job,
                                  const struct device_job_params *params,
                                  struct error *error)
{
    struct opencl_job *opened = (struct opencl_job *)job;
    enum vdbq_status status = copies_in(opened, params, error);

    opened->has_run = false;
    if (status == VDBQ_OK)
        status = run(opened, params, error);
    return status == VDBQ_OK ? status : give_up(opened, status);
}

/* Puts a copy, `last` the job's last one, into the queue. */
static enum vdbq_status copy_in(struct opencl_job *job,
                                const struct device_copy *copy, bool last,
                                struct error *error)
{
    struct opencl *opencl = opencl_of(job);
    cl_command_queue queue = opencl->queues.in;
    bool relayed = copy->plain && opencl_relays(opencl, copy->size);
    enum vdbq_status status = VDBQ_OK;

    for (uint64_t at = 0; at < copy->size && status == VDBQ_OK;) {
        struct device_copy part = relayed ? opencl_relay_part(copy, at) : *copy;
        cl_event *event =
            span_event(&job->in, last && at + part.size == copy->size);
        at += part.size;
        status = relayed ? opencl_relay(opencl, queue, &part, event, error)
                         : opencl_check(opencl_calls.EnqueueWriteBuffer(
                                            queue, buffer_of(part.memory),
                                            CL_FALSE, part.offset, part.size,
                                            part.bytes, 0, NULL, event),
                                        "clEnqueueWriteBuffer", error);
    }
    job->head.times.bytes_in += copy->size;
    return status;
}

/* Whether a kernel copies the bytes, in the queue of the job's own kernel. */
static bool is_sent(const struct device_copy *copy)
{
    return opencl_is_sent(copy->from, copy->size);
}

/* Where bytes lie in a memory that the host reaches. */
static uint64_t place_in(const struct device_memory *memory, const void *bytes)
{
    return (uint64_t)((const uint8_t *)bytes - (const uint8_t *)memory->host);
}

/* Sends one. */
static enum vdbq_status send_copy(struct opencl_job *job,
                                  const struct device_copy *copy,
                                  cl_command_queue queue, struct error *error)
{
    const struct opencl_sending sending = {
        .from = copy->from,
        .from_at = place_in(copy->from, copy->bytes),
        .to = copy->memory,
        .to_at = copy->offset,
        .size = copy->size,
    };

    job->head.times.bytes_in += copy->size;
    return opencl_send(opencl_of(job), queue, &sending, NULL, &job->head.times,
                       error);
}

/* Sends those that are sent. */
static enum vdbq_status send_in(struct opencl_job *job,
                                const struct device_job_params *params,
                                cl_command_queue queue, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < params->in_count && status == VDBQ_OK; i++)
        if (is_sent(&params->in[i]))
            status = send_copy(job, &params->in[i], queue, error);
    return status;
}

/* What one queue waits for in another must be on its way: hence the flush. */
static enum vdbq_status copies_in(struct opencl_job *job,
                                  const struct device_job_params *params,
                                  struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    size_t end = params->in_count;

    while (end > 0 && is_sent(&params->in[end - 1]))
        end--;
    for (size_t i = 0; i < end && status == VDBQ_OK; i++)
        if (!is_sent(&params->in[i]))
            status = copy_in(job, &params->in[i], i == end - 1, error);
    if (status != VDBQ_OK || end == 0)
        return status;
    return opencl_check(opencl_calls.Flush(opencl_of(job)->queues.in),
                        "clFlush", error);
}

/* Where the job's kernel goes: behind calls, where it need not wait for a marker. */
static cl_command_queue kernel_queue(struct opencl_job *job, bool beside)
{
    struct opencl *opencl = opencl_of(job);

    job->beside = beside && opencl->queues.beside != NULL;
    if (!job->beside)
        return opencl->queues.run;
    opencl->turn = !opencl->turn && !opencl->unmarked;
    opencl->besides |= opencl->turn;
    return opencl->turn ? opencl->queues.beside : opencl->queues.run;
}

/* What a job's kernel comes behind: its copies and, in the other queue than theirs,
 * the calls that were made before. */
static enum vdbq_status kernel_after(struct opencl_job *job,
                                     cl_command_queue queue,
                                     struct opencl_after *after,
                                     struct error *error)
{
    struct opencl *opencl = opencl_of(job);
    cl_event in = span_end(&job->in);
    enum vdbq_status status = VDBQ_OK;

    *after = (struct opencl_after){ 0 };
    if (in != NULL)
        after->events[after->count++] = in;
    if (job->beside)
        status = opencl_calls_mark(opencl, error);
    if (queue != opencl->queues.run && opencl->marker != NULL)
        after->events[after->count++] = opencl->marker;
    return status;
}

/* Has the progress sent to the host behind the kernel. */
static enum vdbq_status send_progress(struct opencl_job *job,
                                      const struct device_job_params *params,
                                      cl_command_queue queue,
                                      struct error *error)
{
    const struct opencl_sending sending = {
        .from = params->launch.control,
        .from_at = params->launch.progress_at,
        .to = params->progress_in,
        .to_at = place_in(params->progress_in, params->progress),
        .size = params->progress_size,
    };

    return opencl_send(opencl_of(job), queue, &sending, &job->ran,
                       &job->head.times, error);
}

/* Has it copied, behind some events. */
static enum vdbq_status copy_progress(struct opencl_job *job,
                                      const struct device_job_params *params,
                                      cl_command_queue queue,
                                      const struct opencl_after *after,
                                      struct error *error)
{
    return opencl_check(opencl_calls.EnqueueReadBuffer(
                            queue, buffer_of(params->launch.control), CL_FALSE,
                            params->launch.progress_at, params->progress_size,
                            params->progress, after->count,
                            after->count > 0 ? after->events : NULL, &job->ran),
                        "clEnqueueReadBuffer", error);
}

/* Puts the kernel, and the way of how far it came, behind the copies. */
static enum vdbq_status run(struct opencl_job *job,
                            const struct device_job_params *params,
                            struct error *error)
{
    cl_command_queue queue = kernel_queue(job, params->beside);
    struct opencl_after after;
    bool any = params->launch.launch->steps > 0;
    bool sent =
        any && opencl_is_sent(params->progress_in, params->progress_size);
    bool told = sent && !opencl_of(job)->keeps_times; /* by `ran` alone */
    enum vdbq_status status = kernel_after(job, queue, &after, error);

    if (status == VDBQ_OK)
        status = send_in(job, params, queue, error);
    if (status == VDBQ_OK && any)
        status = opencl_launch_start(
            (struct opencl_machine *)params->machine, &params->launch, queue,
            &after, told ? NULL : &job->run, &job->head.times, error);
    if (any)
        after.count = 0;
    if (status == VDBQ_OK)
        status = sent ? send_progress(job, params, queue, error)
                      : copy_progress(job, params, queue, &after, error);
    job->head.times.bytes_out += params->progress_size;
    return status == VDBQ_OK
               ? opencl_check(opencl_calls.Flush(queue), "clFlush", error)
               : status;
}

/* ---------------------------------------------------------------- end -- */

bool opencl_job_has_run(struct device_job *job)
{
    struct opencl_job *opened = (struct opencl_job *)job;
    cl_int state = CL_QUEUED;

    if (opened->has_run)
        return true;
    opencl_calls.GetEventInfo(opened->ran, CL_EVENT_COMMAND_EXECUTION_STATUS,
                              sizeof state, &state, NULL);
    opened->has_run = state == CL_COMPLETE;
    return state <= CL_COMPLETE;
}

enum vdbq_status opencl_job_run(struct device_job *job, struct error *error)
{
    struct opencl_job *opened = (struct opencl_job *)job;
    enum vdbq_status status = opencl_check(
        opencl_calls.WaitForEvents(1, &opened->ran), "clWaitForEvents", error);

    opened->has_run = status == VDBQ_OK;
    return status == VDBQ_OK ? status : give_up(opened, status);
}

/* The bytes from a copy to the next: on the device, and on the host. */
struct pitch {
    uint64_t from; /* bytes between lines on the device */
    uint64_t to;   /* bytes between lines on the host */
};

/* How a copy of lines lies on both sides. */
static struct pitch pitch_of(const struct device_copy *copy)
{
    return (struct pitch){ .from = copy[1].offset - copy[0].offset,
                           .to = (uint64_t)((uint8_t *)copy[1].bytes
                                            - (uint8_t *)copy[0].bytes) };
}

/* Whether a copy goes to the next as the first one does to the second. What
 * lies closer on the host than on the device lies in one memory there. */
static bool continues(const struct device_copy *first,
                      const struct device_copy *copy)
{
    struct pitch pitch = pitch_of(first), here = pitch_of(copy);

    return copy[1].memory == first->memory && copy[1].size == first->size
           && pitch.from >= first->size && pitch.to >= first->size
           && pitch.to <= pitch.from && pitch.from == here.from
           && pitch.to == here.to;
}

/* Whether so many lines lie in the device's memory as long as they are far
 * apart: NVIDIA's driver refuses a rectangle whose last line, were it as long,
 * would leave the memory. */
static bool lies_within(const struct device_copy *first, size_t lines)
{
    return first->offset + lines * pitch_of(first).from
           <= device_memory_size(first->memory);
}

/* How many of the first copies are the lines of a rectangle, on both sides. */
static size_t lines_of(const struct device_copy *copies, size_t count)
{
    size_t lines = 1;

    while (lines < count && continues(copies, &copies[lines - 1])
           && lies_within(copies, lines + 1))
        lines++;
    return lines;
}

/* What copies from the device wait for: nothing, once the host has seen that
 * the machine ran. */
static cl_event ran_event(struct opencl_job *job)
{
    if (opencl_job_has_run(&job->head))
        return NULL;
    return job->run != NULL ? job->run : job->ran;
}

/* Reads `lines` copies from the device in one command, behind the event `after`
 * (may be NULL): the fewer there are, the sooner the host is done with them
 * (H200: 2 to 8 us each). */
static enum vdbq_status read_lines(struct opencl_job *job,
                                   const struct device_copy *copies,
                                   size_t lines, cl_event after,
                                   cl_event *event, struct error *error)
{
    const cl_event *list = after != NULL ? &after : NULL;
    cl_uint waits = list != NULL;
    cl_command_queue queue = opencl_of(job)->queues.out;
    cl_mem buffer = buffer_of(copies->memory);
    size_t from[3] = { copies->offset, 0, 0 }, to[3] = { 0, 0, 0 };
    size_t region[3] = { copies->size, lines, 1 };
    struct pitch pitch;

    if (lines == 1)
        return opencl_check(
            opencl_calls.EnqueueReadBuffer(queue, buffer, CL_FALSE,
                                           copies->offset, copies->size,
                                           copies->bytes, waits, list, event),
            "clEnqueueReadBuffer", error);
    pitch = pitch_of(copies);
    return opencl_check(
        opencl_calls.EnqueueReadBufferRect(queue, buffer, CL_FALSE, from, to,
                                           region, pitch.from, 0, pitch.to, 0,
                                           copies->bytes, waits, list, event),
        "clEnqueueReadBufferRect", error);
}

enum vdbq_status opencl_job_collect(struct device_job *job,
                                    const struct device_copy *copies,
                                    size_t count, struct error *error)
{
    struct opencl_job *opened = (struct opencl_job *)job;
    cl_event after = ran_event(opened);
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0, lines; i < count && status == VDBQ_OK; i += lines) {
        lines = lines_of(copies + i, count - i);
        status =
            read_lines(opened, copies + i, lines, after,
                       span_event(&opened->out, i + lines == count), error);
        job->times.bytes_out += lines * copies[i].size;
    }
    if (status == VDBQ_OK && count > 0)
        status = opencl_check(opencl_calls.Flush(opencl_of(opened)->queues.out),
                              "clFlush", error);
    return status == VDBQ_OK ? status : give_up(opened, status);
}

/* Adds the time of one event or of a row of them, if there are any. */
static enum vdbq_status add_time(enum vdbq_status status, cl_event first,
                                 cl_event last, uint64_t *time_ns,
                                 struct error *error)
{
    if (status != VDBQ_OK || first == NULL)
        return status;
    return opencl_span(first, last, time_ns, error);
}

/* Adds the time of the kernel, if it ran; if others ran beside it, what it
 * adds to theirs. */
static enum vdbq_status add_kernel_time(enum vdbq_status status,
                                        struct opencl_job *job,
                                        struct error *error)
{
    uint64_t *time_ns = &job->head.times.kernel_ns;

    if (status != VDBQ_OK || job->run == NULL || !job->beside)
        return add_time(status, job->run, job->run, time_ns, error);
    return opencl_beside(opencl_of(job), job->run, time_ns, error);
}

enum vdbq_status opencl_job_wait(struct device_job *job, struct error *error)
{
    struct opencl_job *opened = (struct opencl_job *)job;
    struct device_times *times = &job->times;
    cl_event last = span_end(&opened->out);
    enum vdbq_status status = VDBQ_OK;

    if (opened->ran == NULL)
        return VDBQ_OK;
    if (last == NULL && !opened->has_run)
        last = opened->ran;
    if (last != NULL)
        status = opencl_check(opencl_calls.WaitForEvents(1, &last),
                              "clWaitForEvents", error);
    if (status != VDBQ_OK)
        return give_up(opened, status);
    status = add_time(status, opened->in.first, span_end(&opened->in),
                      &times->transfer_ns, error);
    status = add_kernel_time(status, opened, error);
    status = add_time(status, opened->out.first, span_end(&opened->out),
                      &times->transfer_ns, error);
    forget(opened);
    return status;
}

/* After a failure nothing of the job may be in flight: its memory is about to
 * be let go. Returns `status`. */
static enum vdbq_status give_up(struct opencl_job *job, enum vdbq_status status)
{
    opencl_queues_wait(&opencl_of(job)->queues);
    forget(job);
    return status;
}

/* Lets the events go. */
static void forget(struct opencl_job *job)
{
    cl_event *const events[] = {
        &job->in.first, &job->in.last,   &job->run,
        &job->ran,      &job->out.first, &job->out.last
    };

    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        if (*events[i] != NULL)
            opencl_calls.ReleaseEvent(*events[i]);
        *events[i] = NULL;
    }
}

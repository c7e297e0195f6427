/* SPDX-License-Identifier: MIT */
/*
 * Builds a program from its text, or from the binary that an earlier process
 * kept. A failed build hands the start of the compiler's log to the user.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "device/cache/cache.h"
#include "device/cache/keep.h"
#include "device/opencl/opencl.h"
#include "device/opencl/quirks.h"
#include "device/cache/scratch.h"

enum { LOG_LINES = 40 };

static enum vdbq_status build_source(struct opencl *opencl,
                                     const char **strings, unsigned count,
                                     const char *options, cl_program *program,
                                     struct error *error);
static enum vdbq_status build_failed(struct opencl *opencl, cl_program program,
                                     cl_int code, struct error *error);
static cl_program binary_load(struct opencl *opencl, const struct text *key,
                              const char *options);
static cl_program binary_build(struct opencl *opencl, const struct text *binary,
                               const char *options);
static void binary_save(cl_program program, const struct text *key);

/* From its binary where there is one, else from its text: then the binary is
 * kept. */
static enum vdbq_status build_or_load(struct opencl *opencl,
                                      const char **strings, unsigned count,
                                      const char *options,
                                      const struct text *key,
                                      cl_program *program, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    if (!key->failed)
        *program = binary_load(opencl, key, options);
    if (*program != NULL)
        return VDBQ_OK;
    status = build_source(opencl, strings, count, options, program, error);
    if (status == VDBQ_OK && !key->failed)
        binary_save(*program, key);
    return status;
}

/* ------------------------------------------------------- POCL's files -- */

/*
 * To find its files POCL has its front end read the text, behind a header of 17,000
 * lines: a third of what opening the device takes. What is made of bitcode it finds by
 * that alone. So programs are made of the bitcode that the front end left. What is new
 * to it POCL links with its own functions, which are in there, and crashes on the
 * result: that is replaced before any kernel is compiled.
 */

/* NULL, and the program is released, unless it is good. */
static cl_program only_if(bool good, cl_program program)
{
    if (good || program == NULL)
        return program;
    opencl_calls.ReleaseProgram(program);
    return NULL;
}

/* Whether POCL has left the bitcode as it was put there. */
static bool is_left(const struct text *bitcode)
{
    struct text now = { 0 };
    bool same = keep_bitcode(&now) && now.length == bitcode->length
                && memcmp(now.bytes, bitcode->bytes, now.length) == 0;

    text_finish(&now);
    return same;
}

/* POCL has linked what was to stay as it is: nothing is made of bitcode any more. The
 * lock of builds guards it (keep.h). */
static bool links_again;

/* Whether this POCL is one of which that is known: what others do was not seen. */
static bool finds_by_bitcode(const struct opencl *opencl)
{
    const char *begin = quirks_of(opencl->found.platform_name)->bitcode;

    return begin != NULL
           && strncmp(opencl->found.driver, begin, strlen(begin)) == 0;
}

/* The program, of bitcode that POCL has just seen for the first time; NULL: it cannot be
 * had. */
static cl_program bitcode_settle(struct opencl *opencl,
                                 const struct text *bitcode,
                                 const char *options)
{
    cl_program program = NULL;
    bool good = keep_replace(bitcode);

    if (good)
        program = binary_build(opencl, bitcode, options);
    good = good && !keep_moved() && is_left(bitcode);
    links_again = !good;
    return only_if(good, program);
}

/* The program from the bitcode at hand. `is_there`: with the files that POCL makes
 * for bitcode, which may have been another POCL. NULL: it cannot be had. */
static cl_program bitcode_build(struct opencl *opencl, bool is_there,
                                const char *options)
{
    struct text bitcode = { 0 };
    cl_program program = NULL;
    bool moved;

    if (!links_again && finds_by_bitcode(opencl) && keep_bitcode(&bitcode))
        program = binary_build(opencl, &bitcode, options);
    moved = program != NULL && keep_moved();
    program = only_if(is_there && !moved, program);
    if (moved)
        program = bitcode_settle(opencl, &bitcode, options);
    text_finish(&bitcode);
    return program;
}

/* From the files that were kept, else from its text. */
static enum vdbq_status
build_with_files(struct opencl *opencl, const char **strings, unsigned count,
                 const char *options, cl_program *program, struct error *error)
{
    enum vdbq_status status = scratch_check_room(error);
    cl_program made = NULL;

    keep_mark();
    if (status == VDBQ_OK)
        *program = bitcode_build(opencl, true, options);
    if (status != VDBQ_OK || *program != NULL)
        return status;
    keep_return();
    status = build_source(opencl, strings, count, options, program, error);
    if (status == VDBQ_OK && keep_moved()) {
        keep_mark();
        made = bitcode_build(opencl, false, options);
    }
    if (made == NULL) {
        keep_return();
        return status;
    }
    opencl_calls.ReleaseProgram(*program);
    *program = made;
    return VDBQ_OK;
}

enum vdbq_status opencl_build(struct opencl *opencl, const char **strings,
                              unsigned count, const char *options,
                              cl_program *program, struct error *error)
{
    const struct quirks *quirks = quirks_of(opencl->found.platform_name);
    bool has_files = quirks->keeps_files && keep_is_on();
    struct text key = { 0 };
    enum vdbq_status status;

    *program = NULL;
    if (quirks->keeps_binaries && !has_files)
        return build_source(opencl, strings, count, options, program, error);
    opencl_key(opencl, strings, count, options, &key);
    if (has_files) {
        keep_before(&key);
        status =
            build_with_files(opencl, strings, count, options, program, error);
        keep_after(&key, *program);
    } else {
        status = build_or_load(opencl, strings, count, options, &key, program,
                               error);
    }
    text_finish(&key);
    return status;
}

bool opencl_keeps_itself(const struct opencl *opencl)
{
    const struct quirks *quirks = quirks_of(opencl->found.platform_name);

    return quirks->keeps_binaries && !(quirks->keeps_files && keep_is_on());
}

bool opencl_is_kept(struct opencl *opencl, const char **strings, unsigned count,
                    const char *options)
{
    struct text key = { 0 }, entry = { 0 };

    assert(!opencl_keeps_itself(opencl));
    opencl_key(opencl, strings, count, options, &key);
    bool kept = !key.failed && cache_load(&key, &entry);
    text_finish(&entry);
    text_finish(&key);
    return kept;
}

void opencl_program_release(cl_program program)
{
    if (program == NULL)
        return;
    keep_forget(program);
    opencl_calls.ReleaseProgram(program);
}

/* Compiles, and keeps the driver's log for the message. */
static enum vdbq_status build_source(struct opencl *opencl,
                                     const char **strings, unsigned count,
                                     const char *options, cl_program *program,
                                     struct error *error)
{
    cl_int code;
    enum vdbq_status status;

    *program = opencl_calls.CreateProgramWithSource(opencl->context, count,
                                                    strings, NULL, &code);
    status = opencl_check(code, "clCreateProgramWithSource", error);
    if (status != VDBQ_OK)
        return status;
    code = opencl_calls.BuildProgram(*program, 1, &opencl->id, options, NULL,
                                     NULL);
    if (code == CL_SUCCESS)
        return VDBQ_OK;
    status = build_failed(opencl, *program, code, error);
    opencl_calls.ReleaseProgram(*program);
    *program = NULL;
    return status;
}

/* Ends the log after LOG_LINES lines, without blanks before and after. */
static const char *log_cut(char *log)
{
    char *at = log;
    size_t end;

    for (unsigned line = 0; line < LOG_LINES && at != NULL; line++)
        at = strchr(line > 0 ? at + 1 : at, '\n');
    if (at != NULL)
        *at = '\0';
    log += strspn(log, " \n");
    for (end = strlen(log); end > 0 && strchr(" \n", log[end - 1]) != NULL;)
        log[--end] = '\0';
    return log;
}

/* Reads the build's log; NULL where there is none. The caller frees it. */
static char *log_read(struct opencl *opencl, cl_program program)
{
    size_t size = 0;
    char *log;

    if (opencl_calls.GetProgramBuildInfo(program, opencl->id,
                                         CL_PROGRAM_BUILD_LOG, 0, NULL, &size)
            != CL_SUCCESS
        || size == 0)
        return NULL;
    log = memory_zeroed(1, size + 1);
    if (log != NULL
        && opencl_calls.GetProgramBuildInfo(
               program, opencl->id, CL_PROGRAM_BUILD_LOG, size, log, NULL)
               != CL_SUCCESS)
        log[0] = '\0';
    return log;
}

/* The first lines of the driver's log are the message. */
static enum vdbq_status build_failed(struct opencl *opencl, cl_program program,
                                     cl_int code, struct error *error)
{
    char *log = log_read(opencl, program);
    const char *shown = log != NULL ? log_cut(log) : "";
    const char *folder = getenv("POCL_CACHE_DIR");
    enum vdbq_status status = opencl_check(code, "clBuildProgram", error);

    if (shown[0] != '\0')
        error_hint(error, "the log of the build for '%s' starts with:\n%s",
                   opencl->found.name, shown);
    else
        error_hint(error,
                   "the driver of '%s' gives no reason; is there room "
                   "in '%s'?",
                   opencl->found.name,
                   folder != NULL ? folder : "its cache folder");
    memory_release(log);
    return status;
}

/* -------------------------------------------------------------- cache -- */

/* Adds a part with the NUL that ends it. */
static void key_part(struct text *key, const char *part)
{
    text_add(key, part, strlen(part) + 1);
}

void opencl_key(const struct opencl *opencl, const char **strings,
                unsigned count, const char *options, struct text *key)
{
    const struct found_device *found = &opencl->found;

    key_part(key, found->platform_name);
    key_part(key, found->platform_version);
    key_part(key, found->name);
    key_part(key, found->driver);
    key_part(key, options);
    for (unsigned i = 0; i < count; i++)
        key_part(key, strings[i]);
}

/* The program from its binary; NULL where there is none that works. */
static cl_program binary_load(struct opencl *opencl, const struct text *key,
                              const char *options)
{
    struct text binary = { 0 };
    cl_program program = NULL;

    if (cache_load(key, &binary))
        program = binary_build(opencl, &binary, options);
    text_finish(&binary);
    return program;
}

/* NULL where the driver does not take it. */
static cl_program binary_build(struct opencl *opencl, const struct text *binary,
                               const char *options)
{
    const unsigned char *bytes = (const unsigned char *)binary->bytes;
    cl_int code = CL_SUCCESS, sound = CL_SUCCESS;
    cl_program program = opencl_calls.CreateProgramWithBinary(
        opencl->context, 1, &opencl->id, &binary->length, &bytes, &sound,
        &code);

    if (code == CL_SUCCESS)
        code = opencl_calls.BuildProgram(program, 1, &opencl->id, options, NULL,
                                         NULL);
    if (code == CL_SUCCESS)
        return program;
    if (program != NULL)
        opencl_calls.ReleaseProgram(program);
    return NULL;
}

/* A failure is none: the next process compiles again. */
static void binary_save(cl_program program, const struct text *key)
{
    size_t size = 0;
    unsigned char *bytes;

    if (opencl_calls.GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES,
                                    sizeof size, &size, NULL)
            != CL_SUCCESS
        || size == 0)
        return;
    bytes = memory_zeroed(1, size);
    if (bytes != NULL
        && opencl_calls.GetProgramInfo(program, CL_PROGRAM_BINARIES,
                                       sizeof bytes, &bytes, NULL)
               == CL_SUCCESS)
        cache_save(key, bytes, size);
    memory_release(bytes);
}

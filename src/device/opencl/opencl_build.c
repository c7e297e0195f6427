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
        status = scratch_check_room(error);
        if (status == VDBQ_OK)
            status =
                build_source(opencl, strings, count, options, program, error);
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
    cl_int code = CL_SUCCESS, sound = CL_SUCCESS;

    if (cache_load(key, &binary)) {
        const unsigned char *bytes = (const unsigned char *)binary.bytes;
        program = opencl_calls.CreateProgramWithBinary(
            opencl->context, 1, &opencl->id, &binary.length, &bytes, &sound,
            &code);
        if (code == CL_SUCCESS)
            code = opencl_calls.BuildProgram(program, 1, &opencl->id, options,
                                             NULL, NULL);
        if (code != CL_SUCCESS && program != NULL) {
            opencl_calls.ReleaseProgram(program);
            program = NULL;
        }
    }
    text_finish(&binary);
    return program;
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

/* SPDX-License-Identifier: MIT */
/*
 * Where the thread's stack ends is asked for once a thread. Of a stack that is
 * not the thread's own (a coroutine's) nothing is known: it never is short.
 */
#include "base/os/stack.h"

#include <pthread.h>
#include <stdint.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

enum {
    /* For sorting by digits, which takes the most, and all that calls it. */
    RESERVE_BYTES = (IS_SANITIZED ? 128 : 88) * 1024,
    /* Of a function that visits, and of the one that hands operands to it. */
    LEVEL_BYTES = IS_SANITIZED ? 768 : 192
};

struct bounds {
    uintptr_t low, high;  /* equal: they are not known */
    size_t reserve_bytes; /* of a small stack at most the half */
    bool asked;
};

static _Thread_local struct bounds bounds;

static void ask_bounds(void)
{
    pthread_attr_t attributes;
    size_t size = 0, guard = 0;
    void *low;

    bounds.asked = true;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &low, &size) == 0
        && pthread_attr_getguardsize(&attributes, &guard) == 0
        && size > guard) {
        bounds.low = (uintptr_t)low + guard;
        bounds.high = (uintptr_t)low + size;
        bounds.reserve_bytes =
            size / 2 < RESERVE_BYTES ? size / 2 : RESERVE_BYTES;
    }
    pthread_attr_destroy(&attributes);
}

/* Whether the stack below this function has so many bytes and the reserve. */
static bool has_bytes(size_t bytes)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);

    if (!bounds.asked)
        ask_bounds();
    if (here < bounds.low || here >= bounds.high)
        return true;
    return here - bounds.low >= bounds.reserve_bytes
           && here - bounds.low - bounds.reserve_bytes >= bytes;
}

bool stack_is_short(void)
{
    return !has_bytes(0);
}

bool stack_holds(size_t levels)
{
    return has_bytes(levels * LEVEL_BYTES);
}

enum vdbq_status stack_refuse(struct error *error, struct position at)
{
    error_at(error, VDBQ_LIMIT, at,
             "this is nested too deeply for the stack of the thread, which "
             "has %zu KiB",
             (size_t)(bounds.high - bounds.low) / 1024);
    return error_hint(error, "a thread with a larger stack can run it");
}

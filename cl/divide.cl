/* SPDX-License-Identifier: MIT */
/*
 * Quotients of reals, each correctly rounded. OpenCL C promises that of
 * doubles; of floats it is a device's own promise. Where there is none, or
 * where the probe (cl/probe.cl) found it broken, the host sets
 * VDBQ_WIDE_DIVIDE: then floats are divided as doubles, and the quotient is
 * rounded once more. That gives the float nearest to the exact quotient: two
 * roundings of a quotient of 24-bit numbers do what one does where the first
 * keeps 2 * 24 + 2 bits or more (Figueroa 1995), and a double has 53. A
 * denormal float has fewer bits, which makes it no worse.
 */
#ifndef VDBQ_CL_DIVIDE
#define VDBQ_CL_DIVIDE

#include "types.h"

static f32 quotient_F32(f32 x, f32 y)
{
#ifdef VDBQ_WIDE_DIVIDE
    return (f32)((f64)x / (f64)y);
#else
    return x / y;
#endif
}

static f64 quotient_F64(f64 x, f64 y)
{
    return x / y;
}

#endif

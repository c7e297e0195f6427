/* SPDX-License-Identifier: MIT */
/*
 * Decodes a column of runs (cl/tablet.h). Part of cl/column.cl.
 *
 * Where a tile is whole groups of RUN_ROWS rows, as on a CPU, all rows of a
 * group get the value of the run that goes on, then those from each start on
 * that of the next: the loops over rows have no condition but a comparison, so
 * that they become vectors. Else every row counts the starts up to it.
 */
#if VDBQ_TILE % RUN_ROWS == 0
#define FILL_RUNS(T)                                                         \
    static void fill_runs_##T(T *restrict to, GLOBAL const T *values,        \
                              u32 starts, u32 run, u32 runs)                 \
    {                                                                        \
        T value = values[run_clamp(run + (starts & 1) - 1, runs)];           \
        run += starts & 1;                                                   \
        VECTORS for (i32 i = 0; i < RUN_ROWS; i++)                           \
            to[i] = value;                                                   \
        for (starts &= ~1u; starts != 0; starts &= starts - 1) {             \
            i32 first = (i32)bits_count((starts & (0u - starts)) - 1);       \
            value = values[run_clamp(run++, runs)];                          \
            VECTORS for (i32 i = 0; i < RUN_ROWS; i++)                       \
                to[i] = i >= first ? value : to[i];                          \
        }                                                                    \
    }
#define RUNS_TILE(T)                                                         \
    for (i32 t = 0, rows = m->rows; t < rows; t += RUN_ROWS) {               \
        GLOBAL const struct run_head *head = heads + (row + t) / RUN_ROWS;   \
        fill_runs_##T(m->r[a].T + t, values, head->starts, head->before,     \
                      runs);                                                 \
    }
#else
#define FILL_RUNS(T)
#if RUN_ROWS % VDBQ_TILE == 0
#define RUN_HEAD heads[row / RUN_ROWS] /* one for the whole tile */
#else
#define RUN_HEAD heads[(row + t) / RUN_ROWS]
#endif
#define RUNS_TILE(T)                                                         \
    EACH_EXISTING A(T) = values[run_of(RUN_HEAD.starts, RUN_HEAD.before,     \
                                       (row + t) % RUN_ROWS, runs)];
#endif

#define RUNS(T)                                                              \
    FILL_RUNS(T)                                                             \
    static void runs_##T(struct machine *restrict m, i32 a,                  \
                         GLOBAL const struct column_input *input)            \
    {                                                                        \
        u32 runs = (u32)input->base, row = input->row + (u32)m->row;         \
        GLOBAL const u8 *area = m->data + input->values;                     \
        GLOBAL const T *values = (GLOBAL const T *)area;                     \
        GLOBAL const struct run_head *heads =                                \
            (GLOBAL const struct run_head *)(area +                          \
                                             RUNS_VALUES(runs, sizeof(T)));  \
        RUNS_TILE(T)                                                         \
    }

RUNS(I32)
RUNS(I64)
/* Floats never are. */
#define runs_F32(m, a, input) UNUSED(m)
#define runs_F64(m, a, input) UNUSED(m)

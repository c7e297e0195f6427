/* SPDX-License-Identifier: MIT */
/*
 * Columns of the axes of a grid. Its cells are counted in the order of the
 * left rows, then of the rows of the next axis, then of the last one's, so
 * that a tile of neighbouring cells has neighbouring rows of the last axis
 * and mostly one row of each other. Part of cl/ops.cl.
 */
#if VDBQ_AXES > 1

/* Cells for which an axis stays at one row, and how many of these the tile's
 * first cell has behind it. */
static u64 axis_cells(const struct machine *m, i32 axis)
{
    u64 cells = 1;
    for (i32 i = axis + 1; i < AXES; i++)
        cells *= m->axis_rows[i];
    return cells;
}

static u64 axis_behind(const struct machine *m, i32 axis)
{
    u64 cells = 0;
    for (i32 i = axis + 1; i < AXES; i++)
        cells = cells * m->axis_rows[i] + m->axis[i];
    return cells;
}

/* Row `row` of the left column: plain, or numbered. */
#define LEFT(T)                                                              \
    static T left_##T(const struct machine *m,                               \
                      GLOBAL const struct column_input *input, u32 row)      \
    {                                                                        \
        GLOBAL const T *values = (GLOBAL const T *)(m->data + input->values); \
        return input->encoding == ENCODING_PLAIN ? values[row]               \
                                                : (T)(input->base + row);    \
    }

LEFT(I32)
LEFT(I64)
LEFT(F32)
LEFT(F64)

/* Whether row `row` of the left column, or of an inner one, is NULL. */
static i32 left_null(const struct machine *m, u64 nulls, u32 row)
{
    return m->data[nulls + row / 8] >> row % 8 & 1;
}

/* Writes to r[a] what READ gives of each cell's `row` of an axis. A CPU goes
 * from run to run of cells, as its compiler makes vectors of loops without
 * conditions; a GPU from cell to cell, so that the loop unrolls. */
#if VDBQ_GROUP > 1
#define AXIS_ROWS(T, READ)                                                   \
    u64 same = axis_cells(m, c), run = same - axis_behind(m, c);             \
    u32 row = m->axis[c], rows = m->axis_rows[c];                            \
    if (run >= VDBQ_TILE) {                                                  \
        T value = m->rows > 0 ? READ : 0;                                    \
        EACH A(T) = value;                                                   \
    } else {                                                                 \
        EACH {                                                               \
            A(T) = t < m->rows ? READ : 0;                                   \
            run--;                                                           \
            row += run == 0;                                                 \
            row = row == rows ? 0 : row;                                     \
            run = run == 0 ? same : run;                                     \
        }                                                                    \
    }
#else
#define AXIS_ROWS(T, READ)                                                   \
    u64 same = axis_cells(m, c), run = same - axis_behind(m, c);             \
    u32 row = m->axis[c], rows = m->axis_rows[c];                            \
    for (i32 first = 0; first < m->rows;) {                                  \
        i32 end = m->rows;                                                   \
        T value = READ;                                                      \
        if ((u64)(end - first) > run)                                        \
            end = first + (i32)run;                                          \
        for (i32 t = first; t < end; t++)                                    \
            A(T) = value;                                                    \
        first = end;                                                         \
        row = row + 1 == rows ? 0 : row + 1;                                 \
        run = same;                                                          \
    }
#endif

/* The same of the last axis' rows, which follow one another. */
#if VDBQ_GROUP > 1
#define LAST_AXIS(T, values)                                                 \
    u32 row = m->axis[c], rows = m->axis_rows[c];                            \
    EACH {                                                                   \
        A(T) = t < m->rows ? values[row] : 0;                                \
        row = row + 1 == rows ? 0 : row + 1;                                 \
    }
#else
#define LAST_AXIS(T, values)                                                 \
    u32 row = m->axis[c], rows = m->axis_rows[c];                            \
    for (i32 first = 0; first < m->rows;) {                                  \
        i32 end = m->rows;                                                   \
        if ((u32)(end - first) > rows - row)                                 \
            end = first + (i32)(rows - row);                                 \
        for (i32 t = first; t < end; t++)                                    \
            A(T) = (values + row)[t - first];                           \
        first = end;                                                         \
        row = 0;                                                             \
    }
#endif

/* Column b of axis c, which the code numbers as an input or an inner one. */
#define AXIS(T)                                                              \
    static void axis_left_##T(struct machine *m, i32 a, i32 b)               \
    {                                                                        \
        i32 c = 0;                                                           \
        AXIS_ROWS(T, left_##T(m, m->inputs + b, row))                        \
    }                                                                        \
    static void axis_build_##T(struct machine *m, i32 a, i32 b, i32 c)       \
    {                                                                        \
        GLOBAL const T *values =                                             \
            (GLOBAL const T *)(m->build_side + m->build_inputs[b].values);   \
        if (c == AXES - 1) {                                                 \
            LAST_AXIS(T, values)                                             \
        } else {                                                             \
            AXIS_ROWS(T, values[row])                                        \
        }                                                                    \
    }                                                                        \
    static void axis_##T(struct machine *m, i32 k, i32 a, i32 b, i32 c)      \
    {                                                                        \
        if (!some_live(m, k))                                                \
            return;                                                          \
        if (c == 0)                                                          \
            axis_left_##T(m, a, b);                                          \
        else                                                                 \
            axis_build_##T(m, a, b, c);                                      \
    }

AXIS(I32)
AXIS(I64)
AXIS(F32)
AXIS(F64)

static void axis_word(struct machine *m, i32 k, i32 a, i32 b, i32 c)
{
    u64 order_codes = c == 0 ? m->inputs[b].order_codes
                             : m->build_inputs[b].order_codes;
    axis_I32(m, k, a, b, c);
    if (order_codes != 0 && some_live(m, k))
        number_words(m, k, a, order_codes);
}

static void axis_left_null(struct machine *m, i32 a, u64 nulls)
{
    i32 c = 0;
    AXIS_ROWS(I32, left_null(m, nulls, row))
}

static void axis_build_null(struct machine *m, i32 a, i32 c, u64 nulls)
{
    GLOBAL const u8 *flags = m->build_side + nulls;
    if (c == AXES - 1) {
        LAST_AXIS(I32, flags)
    } else {
        AXIS_ROWS(I32, flags[row])
    }
}

static void axis_null(struct machine *m, i32 k, i32 a, i32 b, i32 c)
{
    u64 nulls = c == 0 ? m->inputs[b].nulls : m->build_inputs[b].nulls;
    if (nulls == 0) {
        EACH A(I32) = 0;
    } else if (!some_live(m, k)) {
        return;
    } else if (c == 0) {
        axis_left_null(m, a, nulls);
    } else {
        axis_build_null(m, a, c, nulls);
    }
}

#endif

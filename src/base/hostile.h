/* SPDX-License-Identifier: MIT */
/*
 * A hostile build (meson's option hostile) makes small what is roomy: tablets
 * of 3 rows, a pool of 2 tablets, a tile of 1 row, arrays and arenas without
 * room to spare. Answers are the same; a fault at an edge shows at once, and
 * each array that grows moves. For tests alone: files stay readable by others.
 */
#ifndef VDBQ_BASE_HOSTILE_H
#define VDBQ_BASE_HOSTILE_H

#ifdef VDBQ_HOSTILE
enum { BUILD_IS_HOSTILE = 1 };
#else
enum { BUILD_IS_HOSTILE = 0 };
#endif

/* The size of something in a hostile build, and else. */
#define HOSTILE(small, usual) (BUILD_IS_HOSTILE ? (small) : (usual))

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading all blocks of a program takes memory, some tens of bytes per block, and in a container it
 * counts against the program's limit. When memory runs out there, the kernel kills the largest
 * process, which would be the program. So heaptop offers itself first meanwhile. Any thread.
 */
#ifndef SRC_UTIL_OOM_SCORE_H
#define SRC_UTIL_OOM_SCORE_H

/* Call them in pairs, which may overlap. A sandbox may make them ineffective. */
void oom_score_raise(void);
void oom_score_restore(void);
/* Call them around the start of a process, which would inherit the score; call none of these
 * functions in between. */
void oom_score_spawn_begin(void);
void oom_score_spawn_end(void);

#endif

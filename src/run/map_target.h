/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What maps of resident memory are made of: a process, its core file, or an agent's answers. Main
 * thread. */
#ifndef SRC_RUN_MAP_TARGET_H
#define SRC_RUN_MAP_TARGET_H

#include "src/memory/map_reader.h"
#include "src/run/run.h"

/* For the process that a session of the run observes. */
struct map_reader_of map_target_of(const struct run *r, const struct session *s);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What maps are made of (map_target.h). */
#include "src/run/map_target.h"

#include "src/run/core_target.h"
#include "src/run/far_run.h"

struct map_reader_of map_target_of(const struct run *r, const struct session *s)
{
	return (struct map_reader_of){ .path = session_path(s),
		.pid = session_pid(s),
		.core = core_target_core(run_options(r)),
		.inherited = session_inherited(s),
		.far = far_run_order(run_far(r), FAR_MAP, session_far(s)) };
}

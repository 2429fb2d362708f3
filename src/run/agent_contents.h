/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contents of blocks for a desk, if --serve=steer allows it. Main thread. */
#ifndef SRC_RUN_AGENT_CONTENTS_H
#define SRC_RUN_AGENT_CONTENTS_H

#include "src/far/worker.h"

struct agent_contents {
	struct far_worker worker;
	struct bytes found;
};

void agent_contents_init(struct agent_contents *a);
void agent_contents_free(struct agent_contents *a);

#endif

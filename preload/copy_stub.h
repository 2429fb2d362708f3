/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a viewer needs to have this process copied (shm/copy.h). */
#ifndef PRELOAD_COPY_STUB_H
#define PRELOAD_COPY_STUB_H

#include <stdint.h>

/* Makes it ready; where it is, or 0: this machine has no stub. Before there are threads. */
uint64_t copy_stub_publish(void);

#endif

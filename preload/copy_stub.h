/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stubs by which a viewer makes a stopped process fork a copy of itself (shm/copy.h). */
#ifndef PRELOAD_COPY_STUB_H
#define PRELOAD_COPY_STUB_H

#include <stdint.h>

/* Fills in the addresses and returns where they are; 0: not supported on this architecture. Before
 * there are threads. */
uint64_t copy_stub_publish(void);

#endif

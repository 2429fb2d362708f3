/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Debug files from the network. The client library is loaded on first use, so that only users who
 * enabled it have it in the process. Worker thread of the symboliser; may take seconds.
 */
#ifndef SRC_SYM_DEBUGINFOD_H
#define SRC_SYM_DEBUGINFOD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* A descriptor of the debug file for this build-id; -ENOSYS without the library, or -errno. */
int debuginfod_fetch(const uint8_t *id, size_t len, const atomic_bool *stop);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads by the program's library (lent_memory.h). */
#include "src/leak/access/lent_memory.h"

ssize_t leak_lent_memory_read(struct read_coop *coop, enum ht_coop_server server,
	enum ht_coop_command command, uint64_t addr, void *out, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t got = read_coop_request(
			coop, server, command, addr + done, (char *)out + done, bytes - done);

		if (got <= 0)
			return done > 0 ? (ssize_t)done : got;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading the module table of a segment (read.h). Main thread. */
#include <errno.h>
#include <string.h>

#include "src/read/segment.h"

int read_module(struct read_segment *s, uint32_t module, struct read_module *out)
{
	struct ht_module m;
	int rc = read_elements(s, HT_REGION_MODULES, module, 1, sizeof(m), &m);

	if (rc != 0)
		return rc;
	if (!(m.flags & HT_MODULE_READY))
		return -EAGAIN;
	if (m.path_bytes >= HT_PATH_MAX || m.build_id_bytes > HT_BUILD_ID_MAX)
		return -EINVAL;
	out->start = m.start;
	out->end = m.end;
	out->bias = m.bias;
	out->build_id_bytes = m.build_id_bytes;
	memcpy(out->build_id, m.build_id, m.build_id_bytes);
	rc = read_elements(s, HT_REGION_STRINGS, m.path, m.path_bytes, 1, out->path);
	out->path[rc == 0 ? m.path_bytes : 0] = '\0';
	return rc;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Maps on another machine (map_far.h). */
#include "src/memory/map_far.h"

#include <errno.h>

#include "src/memory/map_bytes.h"
#include "src/memory/map_texts.h"
#include "src/util/clock.h"

int map_far_begin(const struct far_order *f)
{
	static const struct bytes nothing;

	return f->begin(f->ctx, &nothing);
}

/* Its age is by our clock. */
static struct map *answer_take(struct bytes_cursor *answer)
{
	struct map *m = map_bytes_get(answer);

	if (!m)
		return map_texts_empty(MAP_TEXT_NO_ANSWER);
	m->account.read_realtime_ns = clock_realtime_ns();
	return m;
}

bool map_far_take(const struct far_order *f, int timeout_ms, struct map **map)
{
	struct far_working said;
	struct bytes_cursor answer;
	const char *why;
	int rc = f->take(f->ctx, timeout_ms, &said, &answer, &why);

	if (rc == 0)
		return false;
	if (rc > 0)
		*map = answer_take(&answer);
	else
		*map = map_texts_empty(rc == -ETIMEDOUT ? MAP_TEXT_SILENT : MAP_TEXT_LOST);
	return true;
}

struct map *map_far_read(const struct far_order *f)
{
	struct map *m = NULL;

	if (map_far_begin(f) != 0)
		return map_texts_empty(MAP_TEXT_LOST);
	while (!map_far_take(f, FAR_ORDER_WAIT_MS, &m))
		;
	return m;
}

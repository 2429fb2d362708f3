/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that a copy lacks (uncopied.h). Source: madvise(2), proc(5) on smaps. */
#include "src/leak/access/uncopied.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/proc/proc.h"
#include "src/util/array.h"

#define WORD	  sizeof(uint64_t)
#define KEPT_MAX  (UINT64_C(256) << 20) /* read while the process stands still */
#define KEEP_STEP (UINT64_C(16) << 20) /* read between two checks of the limit */

struct keeping {
	struct leak_space *space;
	uint64_t most;
	int rc;
};

static void words_keep(void *ctx, uint64_t addr, const uint64_t *words, size_t count)
{
	struct keeping *k = ctx;
	struct leak_space *s = k->space;
	struct leak_piece *p;

	if (k->rc != 0)
		return;
	if (s->kept_bytes + count * WORD > k->most) {
		k->rc = -E2BIG;
		return;
	}
	p = array_grow(s->piece, s->pieces, &s->piece_capacity, sizeof(*p));
	if (p) {
		s->piece = p;
		p += s->pieces;
		*p = (struct leak_piece){ addr, addr + count * WORD, malloc(count * WORD) };
	}
	if (!p || !p->words) {
		k->rc = -ENOMEM;
		return;
	}
	memcpy(p->words, words, count * WORD);
	s->pieces++;
	s->kept_bytes += count * WORD;
}

int leak_uncopied_find(struct leak_uncopied *u, pid_t pid)
{
	char path[64];
	struct proc_smap m;
	size_t len = 0, pos = 0, capacity = 0;
	char *text;
	int rc;

	*u = (struct leak_uncopied){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/smaps", (int)proc_memory_tid(pid));
	text = proc_file_read_all(path, &len);
	if (!text)
		return -errno;
	while ((rc = proc_parse_smap(text, len, &pos, &m)) != 0) {
		uint64_t *p;

		if (rc < 0)
			continue;
		if (m.huge && m.map.perms[3] != 's')
			u->unfit = "it has private huge pages (hugetlbfs)";
		if (m.watched)
			u->unfit = "its page faults are handled elsewhere (userfaultfd)";
		if (!m.wiped)
			continue;
		p = array_grow(u->start, u->count, &capacity, sizeof(*p));
		if (!p)
			break;
		u->start = p;
		u->start[u->count++] = m.map.start;
	}
	free(text);
	return rc == 0 ? 0 : -ENOMEM;
}

void leak_uncopied_free(struct leak_uncopied *u)
{
	free(u->start);
	*u = (struct leak_uncopied){ 0 };
}

static bool is_wiped(const struct leak_uncopied *u, const struct leak_map *m)
{
	for (size_t i = 0; i < u->count; i++)
		if (u->start[i] >= m->start && u->start[i] < m->end)
			return true;
	return false;
}

/* The process is read in place after all, from the start. */
static void keep_forget(struct leak_space *s, uint64_t scanned, uint64_t unread, uint64_t absent)
{
	for (size_t i = 0; i < s->maps; i++)
		s->map[i].kept = false;
	s->scanned_bytes = scanned;
	s->unread_bytes = unread;
	s->absent_bytes = absent;
	s->file.read_bytes = 0;
}

int leak_uncopied_keep(struct leak_space *s, const struct leak_space *copy,
	const struct leak_uncopied_request *request)
{
	struct keeping k = { .space = s, .most = request->most };
	uint64_t scanned = s->scanned_bytes, unread = s->unread_bytes, absent = s->absent_bytes;

	for (size_t i = 0; i < s->maps; i++) {
		struct leak_map *m = &s->map[i];

		if (!request->wanted(m) || (!m->shared && leak_space_map(copy, m->start) &&
						   !is_wiped(request->uncopied, m)))
			continue;
		for (uint64_t at = m->start; at < m->end && k.rc == 0; at += KEEP_STEP)
			leak_space_stream(s, at, at + KEEP_STEP < m->end ? at + KEEP_STEP : m->end,
				words_keep, &k);
		m->kept = true;
		if (k.rc != 0)
			break;
	}
	if (k.rc != 0)
		keep_forget(s, scanned, unread, absent);
	return k.rc;
}

int leak_uncopied_adopt(struct leak_space *s, pid_t copy, bool (*wanted)(const struct leak_map *m),
	const struct leak_uncopied *uncopied)
{
	const struct leak_uncopied_request request = { wanted, uncopied, KEPT_MAX };
	struct leak_space of;
	int rc = leak_space_open(&of, copy);

	if (rc == 0)
		rc = leak_uncopied_keep(s, &of, &request);
	if (rc == 0)
		leak_space_become(s, &of);
	leak_space_close(&of);
	return rc;
}

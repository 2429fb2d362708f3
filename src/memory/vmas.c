/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names mappings by what smaps and program headers say of them (vmas.h). */
#include "src/memory/vmas.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/core.h"
#include "src/proc/proc.h"
#include "src/util/array.h"
#include "src/util/sorted.h"

#define HEADERS_MOST 64u /* program headers of an object that are read; it has about ten */

/* ---- names ---- */

static bool begins(const char *text, size_t len, const char *with)
{
	return len >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

static bool name_begins(const struct proc_map *m, const char *with)
{
	const char *slash = m->path_len ? memrchr(m->path, '/', m->path_len) : NULL;
	const char *name = slash ? slash + 1 : m->path;

	return m->path_len && begins(name, (size_t)(m->path + m->path_len - name), with);
}

static bool path_begins(const struct proc_map *m, const char *with)
{
	return m->path_len && begins(m->path, m->path_len, with);
}

static bool is_library(const struct proc_map *m)
{
	return name_begins(m, "libheaptop.so");
}

static bool is_own(const struct proc_map *m)
{
	return is_library(m) || path_begins(m, "[anon:heaptop]") ||
	       (m->perms[3] == 's' && name_begins(m, "heaptop-"));
}

/* Private and anonymous, without a name or with one that says so. */
static bool is_plain(const struct proc_map *m)
{
	return m->inode == 0 && m->perms[3] == 'p' && (m->path_len == 0 || path_begins(m, "[anon"));
}

static bool is_shared(const struct proc_map *m)
{
	return m->perms[3] == 's' &&
	       (m->path_len == 0 || path_begins(m, "/dev/shm/") || path_begins(m, "/dev/zero") ||
		       path_begins(m, "/SYSV") || path_begins(m, "/memfd:"));
}

static enum map_kind kind_of(const struct proc_map *m)
{
	if (path_begins(m, "[heap]"))
		return MAP_BRK;
	if (path_begins(m, "[stack"))
		return MAP_STACK;
	if (is_own(m))
		return MAP_OWN;
	if (is_shared(m) || (m->perms[3] == 's' && m->inode == 0))
		return MAP_SHARED;
	return is_plain(m) ? MAP_OTHER : MAP_FILE;
}

static bool is_other_allocator(const struct proc_map *m)
{
	static const char *const names[] = { "libjemalloc", "libtcmalloc", "libmimalloc",
		"libhoard", "librpmalloc", "libsnmalloc", "libtbbmalloc_proxy" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (name_begins(m, names[i]))
			return true;
	return false;
}

/* ---- reading ---- */

/* The mappings so far. */
struct walk {
	struct vmas *v;
	size_t room, tail_room;
	struct proc_map before;
	struct vmas_tail image; /* that `before` is of; its address is 0: of none */
};

static int vma_add(struct walk *w, const struct proc_smap *s)
{
	void *grown = array_grow(w->v->vma, w->v->count, &w->room, sizeof(*w->v->vma));

	if (!grown)
		return -ENOMEM;
	w->v->vma = grown;
	w->v->vma[w->v->count++] = (struct map_vma){ .start = s->map.start,
		.end = s->map.end,
		.kind = kind_of(&s->map),
		.plain = is_plain(&s->map),
		.rss_bytes = s->rss_bytes,
		.swap_bytes = s->swap_bytes };
	return 0;
}

static int tail_add(struct walk *w)
{
	void *grown = array_grow(w->v->tail, w->v->tails, &w->tail_room, sizeof(*w->v->tail));

	if (!grown)
		return -ENOMEM;
	w->v->tail = grown;
	w->image.vma = w->v->count - 1;
	w->v->tail[w->v->tails++] = w->image;
	return 0;
}

/* Which image the mapping continues; 0 in image.image: none. Where pages are large, a small file's
 * code and data are in its first page, and both are mapped from its begin on. */
static void image_follow(struct walk *w, const struct proc_map *m)
{
	const struct proc_map *b = &w->before;
	bool same = m->inode == b->inode && m->device == b->device;

	if (m->inode != 0 && m->offset == 0 && !(same && w->image.image && b->end == m->start))
		w->image = (struct vmas_tail){ .image = m->start, .is_own = is_library(m) };
	else if (is_plain(m) ? b->end != m->start : m->inode == 0 || !same)
		w->image.image = 0;
}

static int walk_step(struct walk *w, const struct proc_smap *s)
{
	int rc = vma_add(w, s);

	image_follow(w, &s->map);
	if (rc == 0 && is_plain(&s->map) && w->image.image)
		rc = tail_add(w);
	w->v->is_foreign = w->v->is_foreign || is_other_allocator(&s->map);
	w->before = s->map;
	return rc;
}

int vmas_parse(struct vmas *v, const char *smaps, size_t len)
{
	struct walk w = { .v = v };
	struct proc_smap s;
	size_t pos = 0;
	int rc, failed = 0;

	while (failed == 0 && (rc = proc_parse_smap(smaps, len, &pos, &s)) != 0)
		if (rc > 0)
			failed = walk_step(&w, &s);
	if (failed != 0)
		return failed;
	return v->count > 0 ? 0 : -ESRCH; /* an exiting process has no mappings */
}

int vmas_read(struct vmas *v, pid_t pid)
{
	char path[64], *smaps;
	size_t len;
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/smaps", (int)proc_memory_tid(pid));
	smaps = proc_file_read_all(path, &len);
	if (!smaps)
		return -errno;
	rc = vmas_parse(v, smaps, len);
	free(smaps);
	return rc;
}

void vmas_free(struct vmas *v)
{
	free(v->vma);
	free(v->tail);
	*v = (struct vmas){ 0 };
}

/* ---- program headers ---- */

static bool header_read(struct leak_space *space, uint64_t at, Elf64_Ehdr *h)
{
	return leak_space_read(space, at, h, sizeof(*h), false) == sizeof(*h) &&
	       memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 && h->e_ident[EI_CLASS] == ELFCLASS64 &&
	       h->e_phentsize == sizeof(Elf64_Phdr) && h->e_phnum > 0 && h->e_phnum <= HEADERS_MOST;
}

/* The end of the object's memory, whose first byte is at `image`; 0: it is no object. */
static uint64_t image_end(struct leak_space *space, uint64_t image)
{
	Elf64_Phdr p[HEADERS_MOST];
	Elf64_Ehdr h;
	uint64_t first = UINT64_MAX, end = 0;
	uint64_t page = space->core ? space->core->page : proc_machine_page();
	ssize_t bytes;

	if (!header_read(space, image, &h))
		return 0;
	bytes = (ssize_t)(h.e_phnum * sizeof(*p));
	if (leak_space_read(space, image + h.e_phoff, p, (size_t)bytes, false) != bytes)
		return 0;
	for (unsigned i = 0; i < h.e_phnum; i++) {
		if (p[i].p_type != PT_LOAD)
			continue;
		first = p[i].p_vaddr < first ? p[i].p_vaddr : first;
		end = p[i].p_vaddr + p[i].p_memsz > end ? p[i].p_vaddr + p[i].p_memsz : end;
	}
	end = (end + page - 1) & ~(page - 1);
	return first < end ? image + end - (first & ~(page - 1)) : 0;
}

uint64_t vmas_bss_end(const struct vmas *v, size_t vma, struct leak_space *space, bool *is_own)
{
	const struct map_vma *m = &v->vma[vma];
	size_t i = sorted_before(SORTED_BY(v->tail, v->tails, vma), vma);
	uint64_t end;

	if (i == v->tails || v->tail[i].vma != vma)
		return m->start;
	*is_own = v->tail[i].is_own;
	end = image_end(space, v->tail[i].image);
	if (end <= m->start)
		return m->start;
	return end < m->end ? end : m->end;
}

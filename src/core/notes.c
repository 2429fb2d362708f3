/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The notes of a core file (notes.h). Sources: elf(5); fill_note_info in fs/binfmt_elf.c. */
#include "src/core/notes.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <unistd.h>

#define NAME_MAX_BYTES	16u
#define FILES_MOST	65536u /* as vm.max_map_count allows */
#define FILE_NOTE_MOST	(UINT64_C(64) << 20)
#define VECTORS_MOST	65536u /* XSAVE's area: 2.7 KB with AVX-512, 11 KB with AMX */
#define THREADS_MOST	65536u
#define AUXV_NOTE_MOST	4096u
#define PAGE_LEAST	4096u
#define PAGE_MOST	(UINT64_C(1) << 21) /* kernels have 64 KB at most */
#define NOTE_ALIGNED(n) (((n) + UINT64_C(3)) & ~UINT64_C(3))

struct note {
	char name[NAME_MAX_BYTES + 1];
	uint32_t type;
	uint64_t offset, bytes; /* of what it says */
};

static bool bytes_read(const struct core *c, uint64_t offset, void *out, size_t bytes)
{
	return pread(c->fd, out, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* Memory that lives as long as the core. */
static void *block_new(struct core *c, size_t bytes)
{
	void **blocks = realloc(c->blocks, (c->nblocks + 1) * sizeof(*blocks));
	void *p;

	if (!blocks)
		return NULL;
	c->blocks = blocks;
	p = malloc(bytes + 1);
	if (p)
		c->blocks[c->nblocks++] = p;
	return p;
}

/* ---- threads ---- */

static int thread_take(struct core *c, const struct note *n)
{
	struct elf_prstatus s;
	struct core_thread *t;

	if (n->bytes < sizeof(s) || c->threads == THREADS_MOST ||
		!bytes_read(c, n->offset, &s, sizeof(s)))
		return 0;
	if ((c->threads & (c->threads - 1)) == 0) {
		t = realloc(c->thread, (c->threads ? 2 * c->threads : 1) * sizeof(*t));
		if (!t)
			return -ENOMEM;
		c->thread = t;
	}
	t = &c->thread[c->threads++];
	*t = (struct core_thread){ .tid = s.pr_pid, .signal = s.pr_cursig };
	memcpy(&t->regs, &s.pr_reg, sizeof(t->regs));
#ifdef __x86_64__
	t->pointer = t->regs.fs_base;
#endif
	if (c->threads == 1)
		c->signal = s.pr_cursig;
	return 0;
}

/* Where it is no general register, as on aarch64. */
static int pointer_take(struct core *c, const struct note *n)
{
	struct core_thread *t = c->threads ? &c->thread[c->threads - 1] : NULL;

	if (t && n->bytes >= sizeof(t->pointer))
		(void)bytes_read(c, n->offset, &t->pointer, sizeof(t->pointer));
	return 0;
}

/* XSAVE's area replaces the shorter FXSAVE's, with which it begins. */
static int vectors_take(struct core *c, const struct note *n)
{
	struct core_thread *t = c->threads ? &c->thread[c->threads - 1] : NULL;
	size_t bytes = n->bytes / sizeof(uint64_t) * sizeof(uint64_t);
	void *p;

	if (!t || n->bytes > VECTORS_MOST || bytes <= t->vector_bytes)
		return 0;
	p = block_new(c, bytes);
	if (!p)
		return -ENOMEM;
	if (!bytes_read(c, n->offset, p, bytes))
		return 0;
	t->vectors = p;
	t->vector_bytes = bytes;
	return 0;
}

/* ---- the process ---- */

static int process_take(struct core *c, const struct note *n)
{
	struct elf_prpsinfo p;

	if (n->bytes < sizeof(p) || !bytes_read(c, n->offset, &p, sizeof(p)))
		return 0;
	c->pid = p.pr_pid;
	c->by_debugger = c->threads == 0; /* the kernel writes a thread first */
	memcpy(c->command, p.pr_fname, sizeof(p.pr_fname));
	c->command[sizeof(p.pr_fname)] = '\0';
	return 0;
}

static int auxv_take(struct core *c, const struct note *n)
{
	const size_t most = sizeof(c->auxv) / sizeof(c->auxv[0]);
	Elf64_auxv_t v[AUXV_NOTE_MOST / sizeof(Elf64_auxv_t)];
	size_t bytes = n->bytes < sizeof(v) ? n->bytes : sizeof(v);

	if (!bytes_read(c, n->offset, v, bytes))
		return 0;
	for (size_t i = 0; i < bytes / sizeof(*v) && v[i].a_type != AT_NULL; i++)
		if (v[i].a_type < most)
			c->auxv[v[i].a_type] = v[i].a_un.a_val;
	return 0;
}

/* ---- files ---- */

/* NT_FILE: a count and the page size, {start, end, offset in pages} for each, then the paths. */
static void files_parse(struct core *c, const uint64_t *words, uint64_t bytes)
{
	uint64_t count = words[0], page = words[1], head = (2 + 3 * count) * sizeof(*words);
	const char *path = (const char *)words + head, *end = (const char *)words + bytes;

	for (uint64_t i = 0; i < count; i++) {
		const uint64_t *w = words + 2 + 3 * i;
		const char *next = path < end ? memchr(path, '\0', (size_t)(end - path)) : NULL;

		if (!next)
			break;
		if (w[0] < w[1] && w[2] <= INT64_MAX / page)
			c->file[c->files++] = (struct core_file){
				.start = w[0], .end = w[1], .offset = w[2] * page, .path = path
			};
		path = next + 1;
	}
	c->page = page;
}

static int files_take(struct core *c, const struct note *n)
{
	uint64_t *words;

	if (c->file || n->bytes < 2 * sizeof(*words) || n->bytes > FILE_NOTE_MOST)
		return 0;
	words = block_new(c, n->bytes);
	if (!words)
		return -ENOMEM;
	if (!bytes_read(c, n->offset, words, n->bytes) || words[0] > FILES_MOST || words[1] == 0 ||
		(2 + 3 * words[0]) * sizeof(*words) > n->bytes)
		return 0;
	c->file = calloc(words[0] + 1, sizeof(*c->file));
	if (!c->file)
		return -ENOMEM;
	files_parse(c, words, n->bytes);
	return 0;
}

static bool is_page(uint64_t bytes)
{
	return bytes >= PAGE_LEAST && bytes <= PAGE_MOST && (bytes & (bytes - 1)) == 0;
}

/* NT_FILE has whatever unit its writer has chosen. */
void core_notes_page(struct core *c)
{
	if (is_page(c->auxv[AT_PAGESZ]))
		c->page = c->auxv[AT_PAGESZ];
	else if (!is_page(c->page))
		c->page = PAGE_LEAST;
}

/* ---- all ---- */

static int own_take(struct core *c, const struct note *n)
{
	struct core_own own = { n->offset, n->bytes };

	if (n->type == CORE_NOTE_MAPS)
		c->maps = own;
	else if (n->type == CORE_NOTE_ACCOUNT)
		c->account = own;
	return 0;
}

static const struct {
	const char *name;
	uint32_t type;
	int (*take)(struct core *c, const struct note *n);
} takers[] = {
	{ "CORE", NT_PRSTATUS, thread_take },
	{ "CORE", NT_FPREGSET, vectors_take },
	{ "LINUX", NT_X86_XSTATE, vectors_take },
	{ "LINUX", NT_ARM_TLS, pointer_take },
	{ "CORE", NT_PRPSINFO, process_take },
	{ "CORE", NT_AUXV, auxv_take },
	{ "CORE", NT_FILE, files_take },
	{ CORE_NOTE_NAME, CORE_NOTE_MAPS, own_take },
	{ CORE_NOTE_NAME, CORE_NOTE_ACCOUNT, own_take },
};

static int note_take(struct core *c, const struct note *n)
{
	for (size_t i = 0; i < sizeof(takers) / sizeof(takers[0]); i++)
		if (takers[i].type == n->type && strcmp(takers[i].name, n->name) == 0)
			return takers[i].take(c, n);
	return 0;
}

int core_notes_read(struct core *c, uint64_t offset, uint64_t bytes)
{
	uint64_t end = bytes < c->file_bytes - offset ? offset + bytes : c->file_bytes;
	Elf64_Nhdr h;
	int rc = 0;

	while (rc == 0 && offset < end && end - offset >= sizeof(h) &&
		bytes_read(c, offset, &h, sizeof(h))) {
		uint64_t at = offset + sizeof(h);
		struct note n = { .type = h.n_type,
			.offset = at + NOTE_ALIGNED(h.n_namesz),
			.bytes = h.n_descsz };

		if (n.offset > end || n.bytes > end - n.offset)
			break;
		if (h.n_namesz > 0 && h.n_namesz <= NAME_MAX_BYTES &&
			bytes_read(c, at, n.name, h.n_namesz))
			rc = note_take(c, &n);
		offset = n.offset + NOTE_ALIGNED(n.bytes);
	}
	return rc;
}

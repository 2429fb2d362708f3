/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Modules in another process's memory (image.h). The loader has relocated the addresses in a
 * dynamic section, but not in the vdso's; those below the bias are relative.
 */
#include "src/trace/image.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/proc/proc.h"
#include "src/util/array.h"

#define SEGMENTS_MAX 64u /* program headers that are read */
#define DYNAMIC_MAX  256u /* entries of a dynamic section */
#define CHAIN_MAX    4096u /* symbols with one hash bucket */
#define NAME_BYTES   128u

/* ---- mappings ---- */

static void map_take(struct trace_map *to, const struct proc_map *from)
{
	size_t n = from->path_len < TRACE_PATH_MAX ? from->path_len : TRACE_PATH_MAX - 1;

	*to = (struct trace_map){ .start = from->start,
		.end = from->end,
		.offset = from->offset,
		.reads = from->perms[0] == 'r',
		.writes = from->perms[1] == 'w',
		.executes = from->perms[2] == 'x',
		.inode = from->inode };
	memcpy(to->path, from->path, n);
	to->path[n] = '\0';
}

static int maps_read(struct trace_image *i, pid_t pid)
{
	char path[32], *text;
	size_t len, pos = 0, capacity = 0;
	struct proc_map m;
	int rc = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)proc_memory_tid(pid));
	text = proc_file_read_all(path, &len);
	if (!text)
		return -errno;
	while (rc == 0 && (rc = proc_parse_map(text, len, &pos, &m)) != 0) {
		struct trace_map *grown;

		if (rc < 0) {
			rc = 0;
			continue;
		}
		grown = array_grow(i->map, i->maps, &capacity, sizeof(*grown));
		rc = grown ? 0 : -ENOMEM;
		if (grown) {
			i->map = grown;
			map_take(&i->map[i->maps++], &m);
		}
	}
	free(text);
	return rc;
}

const struct trace_map *trace_image_map(const struct trace_image *i, uint64_t at)
{
	size_t low = 0, high = i->maps;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (at < i->map[middle].start)
			high = middle;
		else if (at >= i->map[middle].end)
			low = middle + 1;
		else
			return &i->map[middle];
	}
	return NULL;
}

const char *trace_image_name(const struct trace_map *m)
{
	const char *slash = strrchr(m->path, '/');

	return slash ? slash + 1 : m->path;
}

/* ---- modules ---- */

static bool get(const struct trace_image *i, uint64_t at, void *to, size_t bytes)
{
	return trace_memory_read(i->memory, at, to, bytes);
}

static void dynamic_read(const struct trace_image *i, struct trace_module *m, uint64_t at)
{
	Elf64_Dyn d[DYNAMIC_MAX];
	size_t n = trace_memory_some(i->memory, at, d, sizeof(d)) / sizeof(*d);

	for (size_t e = 0; e < n && d[e].d_tag != DT_NULL; e++) {
		uint64_t to = d[e].d_un.d_ptr;

		to += to < m->bias ? m->bias : 0;
		if (d[e].d_tag == DT_SYMTAB)
			m->symbols = to;
		else if (d[e].d_tag == DT_STRTAB)
			m->strings = to;
		else if (d[e].d_tag == DT_GNU_HASH)
			m->hash = to;
	}
}

/* Whether there is code: not of a file that was mapped only to be read, as by a program that looks
 * into others, or by our library. Some programs move their code to memory without a file. */
static bool is_code(const struct trace_image *i, const struct trace_module *m, uint64_t at)
{
	const struct trace_map *map = trace_image_map(i, at);

	return map && map->executes && (map->inode == 0 || map->inode == m->map->inode);
}

/* The module whose ELF header is at the start of a mapping. */
static bool module_read(
	const struct trace_image *i, const struct trace_map *map, struct trace_module *m)
{
	Elf64_Phdr segment[SEGMENTS_MAX];
	uint64_t dynamic = 0, low = UINT64_MAX, high = 0, code = 0;
	Elf64_Ehdr head;
	size_t n;

	*m = (struct trace_module){ .map = map };
	if (!get(i, map->start, &head, sizeof(head)) ||
		memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
		head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(*segment))
		return false;
	n = head.e_phnum < SEGMENTS_MAX ? head.e_phnum : SEGMENTS_MAX;
	if (!get(i, map->start + head.e_phoff, segment, n * sizeof(*segment)))
		return false;
	for (size_t s = 0; s < n; s++) {
		const Elf64_Phdr *p = &segment[s];

		if (p->p_type == PT_LOAD && p->p_offset == 0)
			m->bias = map->start - (p->p_vaddr & ~(proc_machine_page() - 1));
		if (p->p_type == PT_LOAD && p->p_vaddr < low)
			low = p->p_vaddr;
		if (p->p_type == PT_LOAD && p->p_vaddr + p->p_memsz > high)
			high = p->p_vaddr + p->p_memsz;
		if (p->p_type == PT_LOAD && (p->p_flags & PF_X) != 0 && p->p_filesz > 0)
			code = p->p_vaddr + p->p_filesz;
		if (p->p_type == PT_GNU_EH_FRAME)
			m->frames = p->p_vaddr;
		if (p->p_type == PT_DYNAMIC)
			dynamic = p->p_vaddr;
	}
	if (low >= high || (code != 0 && !is_code(i, m, m->bias + code - 1)))
		return false;
	m->start = m->bias + (low & ~(proc_machine_page() - 1));
	m->end = m->bias + high;
	m->frames += m->frames ? m->bias : 0;
	if (dynamic)
		dynamic_read(i, m, m->bias + dynamic);
	return m->start <= map->start && m->end > map->start;
}

static int modules_read(struct trace_image *i)
{
	size_t capacity = 0;

	for (size_t n = 0; n < i->maps; n++) {
		const struct trace_map *map = &i->map[n];
		struct trace_module m, *grown;

		if (!map->reads || map->offset != 0 ||
			(map->inode == 0 && strcmp(map->path, "[vdso]") != 0) ||
			(i->modules > 0 && map->start < i->module[i->modules - 1].end) ||
			!module_read(i, map, &m))
			continue;
		/* The same for one without code. */
		if (trace_image_map(i, m.end - 1) == NULL)
			continue;
		grown = array_grow(i->module, i->modules, &capacity, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		i->module = grown;
		i->module[i->modules++] = m;
	}
	return 0;
}

int trace_image_read(struct trace_image *i, pid_t pid, const struct trace_memory *m)
{
	int rc;

	*i = (struct trace_image){ .memory = m };
	rc = maps_read(i, pid);
	if (rc == 0)
		rc = modules_read(i);
	if (rc != 0)
		trace_image_free(i);
	return rc;
}

void trace_image_free(struct trace_image *i)
{
	free(i->map);
	free(i->module);
	*i = (struct trace_image){ 0 };
}

const struct trace_module *trace_image_module(const struct trace_image *i, uint64_t at)
{
	for (size_t n = 0; n < i->modules; n++)
		if (at >= i->module[n].start && at < i->module[n].end)
			return &i->module[n];
	return NULL;
}

/* ---- lists of the loader ---- */

#define LISTED_MAX 16384u

struct link {
	uint64_t bias, name, dynamic, next;
};

static struct trace_module *module_at(struct trace_image *i, uint64_t at)
{
	for (size_t n = 0; n < i->modules; n++)
		if (at >= i->module[n].start && at < i->module[n].end)
			return &i->module[n];
	return NULL;
}

/* In an incomplete list no module is apart, or all would seem to be. */
void trace_image_set_apart(struct trace_image *i, const struct trace_module *loader)
{
	struct trace_symbol debug;
	struct trace_module *m;
	struct link link;
	unsigned listed = 0;
	uint64_t at;

	if (!trace_image_symbol(i, loader, "_r_debug", &debug) || !get(i, debug.at + 8, &at, 8) ||
		at == 0)
		return;
	for (size_t n = 0; n < i->modules; n++)
		i->module[n].apart = true;
	for (; at != 0 && listed < LISTED_MAX && get(i, at, &link, sizeof(link)); listed++) {
		m = module_at(i, link.dynamic);
		if (m)
			m->apart = false;
		at = link.next;
	}
	for (size_t n = 0; n < i->modules && at != 0; n++)
		i->module[n].apart = false;
}

/* ---- symbols ---- */

static uint32_t gnu_hash(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

static bool is_named(const struct trace_image *i, const struct trace_module *m, const Elf64_Sym *s,
	const char *name)
{
	char got[NAME_BYTES];
	size_t n = strlen(name) + 1;

	return n <= sizeof(got) && get(i, m->strings + s->st_name, got, n) &&
	       memcmp(got, name, n) == 0;
}

/* Defined, and callable or readable as it is. */
static bool is_defined(const Elf64_Sym *s)
{
	unsigned type = ELF64_ST_TYPE(s->st_info);

	return s->st_shndx != SHN_UNDEF && s->st_value != 0 &&
	       (type == STT_FUNC || type == STT_OBJECT || type == STT_NOTYPE);
}

/* DT_GNU_HASH: {buckets, first symbol, bloom words, shift}, bloom, buckets, then one hash per
 * symbol with its lowest bit set at the end of a chain. */
bool trace_image_version(const struct trace_image *i, const struct trace_module *m,
	const char *name, unsigned skip, struct trace_symbol *out)
{
	uint32_t head[4], hash = gnu_hash(name), index, entry;
	uint64_t buckets, chains;
	Elf64_Sym s;

	if (!m->hash || !m->symbols || !m->strings || !get(i, m->hash, head, sizeof(head)) ||
		head[0] == 0)
		return false;
	buckets = m->hash + sizeof(head) + (uint64_t)head[2] * 8;
	chains = buckets + (uint64_t)head[0] * 4;
	if (!get(i, buckets + (uint64_t)(hash % head[0]) * 4, &index, 4) || index < head[1])
		return false;
	for (unsigned step = 0; step < CHAIN_MAX; step++, index++) {
		if (!get(i, chains + (uint64_t)(index - head[1]) * 4, &entry, 4))
			return false;
		if ((entry | 1) == (hash | 1) &&
			get(i, m->symbols + (uint64_t)index * sizeof(s), &s, sizeof(s)) &&
			is_defined(&s) && is_named(i, m, &s, name) && skip-- == 0) {
			*out = (struct trace_symbol){ m->bias + s.st_value, s.st_size, m };
			return true;
		}
		if (entry & 1)
			return false;
	}
	return false;
}

bool trace_image_symbol(const struct trace_image *i, const struct trace_module *m, const char *name,
	struct trace_symbol *out)
{
	return trace_image_version(i, m, name, 0, out);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The mappings of another process, and the symbols that its modules export. Everything is read
 * from its memory, so it does not matter if files are not visible from here or were replaced.
 * Nothing in it is trusted. Any thread that may read it. Source: System V ABI (ELF), gABI's
 * GNU_HASH.
 */
#ifndef SRC_TRACE_IMAGE_H
#define SRC_TRACE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/trace/memory.h"

#define TRACE_PATH_MAX 256

struct trace_map {
	uint64_t start, end, offset;
	bool reads, writes, executes;
	uint64_t inode;
	char path[TRACE_PATH_MAX]; /* cut; "" for anonymous memory */
};

struct trace_module {
	uint64_t start, end; /* of its segments */
	uint64_t bias; /* what is added to the addresses in its file */
	uint64_t symbols, strings, hash; /* addresses; 0: it has none */
	uint64_t frames; /* .eh_frame_hdr; 0: none */
	bool apart; /* see trace_image_set_apart */
	const struct trace_map *map; /* the first */
};

struct trace_image {
	const struct trace_memory *memory;
	struct trace_map *map; /* by address */
	size_t maps;
	struct trace_module *module; /* by address */
	size_t modules;
};

struct trace_symbol {
	uint64_t at, bytes;
	const struct trace_module *module;
};

/* 0 or -errno. `m` must stay as long as the image. */
int trace_image_read(struct trace_image *i, pid_t pid, const struct trace_memory *m);
void trace_image_free(struct trace_image *i);
/* NULL: nothing is mapped there, or no module. */
const struct trace_map *trace_image_map(const struct trace_image *i, uint64_t at);
const struct trace_module *trace_image_module(const struct trace_image *i, uint64_t at);
/* The function or object of this name, that the module defines. An indirect function is not one. */
bool trace_image_symbol(const struct trace_image *i, const struct trace_module *m, const char *name,
	struct trace_symbol *out);
/* The same, after the first `skip` of this name: symbols have versions. */
bool trace_image_version(const struct trace_image *i, const struct trace_module *m,
	const char *name, unsigned skip, struct trace_symbol *out);
/*
 * Marks the modules that the loader has listed apart from the program (dlmopen, LD_AUDIT), with a
 * libc of their own: those that are not in the list of its _r_debug. Source: link.h.
 */
void trace_image_set_apart(struct trace_image *i, const struct trace_module *loader);
/* The last part of a path. */
const char *trace_image_name(const struct trace_map *m);

#endif

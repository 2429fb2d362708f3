/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the memory in a core file (core.h). */
#include "src/core/core.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "src/util/sorted.h"

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- memory ---- */

const struct core_load *core_load_at(const struct core *c, uint64_t addr)
{
	size_t i = sorted_through(SORTED_BY(c->load, c->loads, end), addr);

	return i < c->loads && c->load[i].start <= addr ? &c->load[i] : NULL;
}

const struct core_file *core_file_at(const struct core *c, uint64_t addr)
{
	size_t i = sorted_through(SORTED_BY(c->file, c->files, end), addr);

	return i < c->files && c->file[i].start <= addr ? &c->file[i] : NULL;
}

ssize_t core_read_own(const struct core *c, uint64_t addr, void *buf, size_t bytes)
{
	const struct core_load *l = core_load_at(c, addr);
	uint64_t at = l ? addr - l->start : 0;

	if (!l || at >= l->bytes)
		return -1;
	return pread(c->fd, buf, least(bytes, l->bytes - at), (off_t)(l->offset + at));
}

/* What lies behind the bytes that the core has of `l`, or in no load at all. */
static ssize_t outside_read(const struct core *c, const struct core_load *l, uint64_t addr,
	uint64_t end, void *buf, size_t bytes)
{
	const struct core_file *f = core_file_at(c, addr);

	bytes = least(bytes, end - addr);
	if (f) {
		int fd = c->object[f->object].fd;

		bytes = least(bytes, f->end - addr);
		return fd < 0 ? -1 : pread(fd, buf, bytes, (off_t)(addr - f->start + f->offset));
	}
	if (!l || l->cut > 0)
		return -1;
	memset(buf, 0, bytes);
	return (ssize_t)bytes;
}

/* Without crossing from one source to another. */
static ssize_t part_read(const struct core *c, uint64_t addr, void *buf, size_t bytes)
{
	size_t i = sorted_through(SORTED_BY(c->load, c->loads, end), addr);
	const struct core_load *l = i < c->loads ? &c->load[i] : NULL;

	if (l && l->start > addr)
		return outside_read(c, NULL, addr, l->start, buf, bytes);
	if (l && addr - l->start < l->bytes)
		return core_read_own(c, addr, buf, bytes);
	return outside_read(c, l, addr, l ? l->end : UINT64_MAX, buf, bytes);
}

ssize_t core_read(const struct core *c, uint64_t addr, void *buf, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t got = part_read(c, addr + done, (char *)buf + done, bytes - done);

		if (got <= 0)
			return done > 0 ? (ssize_t)done : -1;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

/* ---- what there is ---- */

/* The first data of a load in [addr, end): a core of heaptop's has holes. */
static bool data_next(const struct core *c, const struct core_load *l, uint64_t addr, uint64_t end,
	struct core_range *out)
{
	uint64_t shift = l->offset - l->start, have = least(l->start + l->bytes, end);
	off_t data, hole;

	if (addr >= have)
		return false;
	data = lseek(c->fd, (off_t)(addr + shift), SEEK_DATA);
	if (data < 0 && errno == ENXIO)
		return false;
	if (data >= 0 && (uint64_t)data - shift > addr)
		addr = (uint64_t)data - shift;
	if (addr >= have)
		return false;
	hole = data < 0 ? -1 : lseek(c->fd, data, SEEK_HOLE);
	*out = (struct core_range){ addr, hole > 0 ? least((uint64_t)hole - shift, have) : have,
		true, true };
	return out->end > out->start;
}

/* What the core should have of a load behind what it has, in [addr, end). */
static bool rest_next(const struct core *c, const struct core_load *l, uint64_t addr, uint64_t end,
	struct core_range *out)
{
	const struct core_file *f = l->file ? &c->file[l->file - 1] : NULL;
	uint64_t from = l->start + l->bytes, to = least(l->end, end);

	if (!f)
		to = least(to, from + l->cut);
	from = from > addr ? from : addr;
	if (from >= to)
		return false;
	*out = (struct core_range){ from, to, f && c->object[f->object].fd >= 0, false };
	return true;
}

bool core_next(const struct core *c, uint64_t addr, uint64_t end, struct core_range *out)
{
	size_t i = sorted_through(SORTED_BY(c->load, c->loads, end), addr);

	for (; i < c->loads && c->load[i].start < end; i++) {
		const struct core_load *l = &c->load[i];
		uint64_t from = l->start > addr ? l->start : addr;

		if (data_next(c, l, from, end, out) || rest_next(c, l, from, end, out))
			return true;
	}
	return false;
}

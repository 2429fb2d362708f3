/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of modules (agent_file.h). */
#include "src/far/agent_file.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/proc/proc.h"

void far_file_close(struct far_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

static bool is_elf(int fd)
{
	char head[SELFMAG];

	return pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	       memcmp(head, ELFMAG, SELFMAG) == 0;
}

/* The program wrote the path: that it has the file mapped shows that it may read it. Devices and
 * pipes are not even opened, which can have effects. */
static int mapped_open(pid_t pid, const char *module)
{
	char path[PATH_MAX], self[64];
	struct stat st;
	int fd, file = -1;

	if (module[0] != '/' || snprintf(path, sizeof(path), "/proc/%d/root%s",
					(int)proc_memory_tid(pid), module) >= (int)sizeof(path))
		return -1;
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -1;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && proc_maps_file(pid, self) == 1)
		file = open(self, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	close(fd);
	if (file < 0 || is_elf(file))
		return file;
	close(file);
	return -1;
}

void far_file_open(struct far_file *f, struct read_segment *s, pid_t pid, struct far_piece *p)
{
	struct read_module m;
	struct stat st;

	p->bytes = 0;
	if (f->fd >= 0 && f->module == p->module) {
		p->bytes = f->bytes;
		return;
	}
	far_file_close(f);
	if (pid == 0 || p->module > UINT32_MAX || read_module(s, (uint32_t)p->module, &m) != 0)
		return;
	f->fd = mapped_open(pid, m.path);
	if (f->fd < 0)
		return;
	if (fstat(f->fd, &st) != 0 || !S_ISREG(st.st_mode) ||
		(uint64_t)st.st_size > FAR_FILE_MOST) {
		far_file_close(f);
		return;
	}
	f->module = p->module;
	p->bytes = f->bytes = (uint64_t)st.st_size;
}

void far_file_read(struct far_file *f, uint64_t offset, uint64_t most, struct bytes *out)
{
	size_t room = most < FAR_PIECE_MAX ? (size_t)most : FAR_PIECE_MAX;
	ssize_t n;

	if (f->fd < 0 || offset >= f->bytes || !bytes_room(out, room))
		return;
	n = pread(f->fd, out->data + out->len, room, (off_t)offset);
	if (n > 0)
		out->len += (size_t)n;
}

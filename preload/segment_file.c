/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Segment files (segment_file.h). Plain system calls. */
#include "preload/segment_file.h"
#include "shm/kernel.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/environment.h"
#include "shm/segment.h"

bool segment_file_is_ours(int fd)
{
	struct stat st;

	return syscall(KERNEL_FSTAT, fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       st.st_uid == geteuid() && (st.st_mode & 077) == 0;
}

/* By now the name may belong to another file: even a FIFO, whose other end nobody will open. */
void segment_file_remove(const char *path)
{
	long fd = syscall(SYS_openat, AT_FDCWD, path,
		O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_LARGEFILE);

	if (fd < 0)
		return;
	if (segment_file_is_ours((int)fd) && syscall(SYS_flock, fd, LOCK_EX | LOCK_NB) == 0)
		syscall(SYS_unlinkat, AT_FDCWD, path, 0);
	syscall(SYS_close, fd);
}

void segment_file_dump(struct segment *s, int fd)
{
	const char *choice = environment_variable("HEAPTOP_CORE");

	if (choice && choice[0] == '1' && choice[1] == '\0')
		(void)segment_dump(s, fd);
}

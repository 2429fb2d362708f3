/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Judges a file's set-id bits and capabilities as the kernel does at exec. Called by the check
 * before a launch and by the explanation why a process cannot be attached to. Main thread.
 */
#include "src/target/privilege.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>

/* Whether the mount (nosuid) or our process (no_new_privs) rules out a gain. */
static bool privilege_off(int fd)
{
	struct statvfs mount;

	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
	       (!fstatvfs(fd, &mount) && (mount.f_flag & ST_NOSUID));
}

const char *privilege_gained(int fd, uid_t uid, gid_t gid)
{
	struct stat st;

	if (fstat(fd, &st) || privilege_off(fd))
		return NULL;
	if ((st.st_mode & S_ISUID) && st.st_uid != uid)
		return "setuid";
	/* Without the group's x bit, setgid once meant mandatory locking; exec ignores it. */
	if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != gid)
		return "setgid";
	if (uid != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return "given file capabilities";
	return NULL;
}

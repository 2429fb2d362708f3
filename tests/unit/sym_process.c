/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of a program whose file is no longer at its path: rebuilt while it runs, or in a root
 * folder of its own. The process leads to it; a file with another build-id is never taken. */
#include "tests/check.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "src/sym/object_file.h"

static char folder[] = "/tmp/heaptop-sym-process-XXXXXX", path[64];
static uint8_t build_id[64];
static size_t build_id_len;

static void file_copy(const char *from, const char *to, const char *more)
{
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0700);
	char data[65536];
	ssize_t n;

	CHECK(in >= 0 && out >= 0);
	while ((n = read(in, data, sizeof(data))) > 0)
		CHECK_INT(write(out, data, (size_t)n), n);
	CHECK_INT(write(out, more, strlen(more)), strlen(more));
	close(in);
	close(out);
}

static void id_read(const char *file)
{
	struct elffile f;
	const uint8_t *id;

	CHECK_INT(elffile_open(&f, file), 0);
	build_id_len = elffile_build_id(&f, &id);
	CHECK(build_id_len > 0 && build_id_len <= sizeof(build_id));
	memcpy(build_id, id, build_id_len);
	elffile_close(&f);
}

/* Runs the program at `file`, in a root folder of its own if that is not NULL. Returns once it is
 * that program; 0: it may not have such a root. */
static pid_t program_start(const char *root, const char *file)
{
	int ready[2], go[2];
	char byte = 0;
	pid_t pid;

	CHECK(pipe(ready) == 0 && pipe(go) == 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		dup2(go[0], 0);
		dup2(ready[1], 1);
		if (root && chroot(root) != 0 && (unshare(CLONE_NEWUSER) != 0 || chroot(root) != 0))
			_exit(2);
		execl(file, file, "--wait", NULL);
		_exit(1);
	}
	close(go[0]);
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1) {
		waitpid(pid, NULL, 0);
		pid = 0;
	}
	close(ready[0]);
	/* Its end of go[1] stays open as long as this process. */
	return pid;
}

static void program_end(pid_t pid)
{
	kill(pid, SIGKILL);
	CHECK_INT(waitpid(pid, NULL, 0), pid);
}

static enum sym_quality quality(const char *at, pid_t pid, bool other_id)
{
	static const atomic_bool stop;
	const struct debugfile_dirs dirs = { .root = "", .debug_dir = "/nowhere", .stop = &stop };
	uint8_t id[sizeof(build_id)];
	struct sym_module m = {
		.path = at, .build_id = id, .build_id_len = build_id_len, .pid = pid
	};
	struct object_file *o;
	enum sym_quality found;

	memcpy(id, build_id, build_id_len);
	id[0] ^= other_id;
	o = object_file_open(&m, &dirs);
	CHECK(o != NULL);
	found = object_file_quality(o);
	object_file_close(o);
	return found;
}

TEST(a_rebuilt_program_keeps_its_names)
{
	pid_t pid;

	file_copy("/proc/self/exe", path, "");
	CHECK(quality(path, 0, false) != SYM_NONE);
	pid = program_start(NULL, path);
	CHECK(pid > 0);
	CHECK_INT(unlink(path), 0);
	CHECK_INT(quality(path, 0, false), SYM_NONE);
	CHECK(quality(path, pid, false) != SYM_NONE);
	file_copy("/bin/true", path, ""); /* what the rebuild made */
	CHECK_INT(quality(path, 0, false), SYM_NONE);
	CHECK(quality(path, pid, false) != SYM_NONE);
	CHECK_INT(quality(path, pid, true), SYM_NONE); /* a library, say: no other file is taken */
	program_end(pid);
	CHECK_INT(quality(path, pid, false), SYM_NONE);
	CHECK_INT(unlink(path), 0);
}

/* The loader and the libraries that this program needs, where it looks for them. */
static bool root_make(const char *root)
{
	char command[512];

	snprintf(command, sizeof(command),
		"ldd /proc/%d/exe | grep -o '/[^ ]*' | while read -r f; do mkdir -p \"%s$(dirname "
		"\"$f\")\" && cp -L \"$f\" \"%s$f\" || exit 1; done",
		(int)getpid(), root, root);
	return system(command) == 0;
}

TEST(a_program_in_a_root_of_its_own_has_names)
{
	char root[64], inside[128], command[128];
	Dl_info libelf;
	pid_t pid;

	snprintf(root, sizeof(root), "%s/root", folder);
	snprintf(inside, sizeof(inside), "%s/program", root);
	CHECK_INT(mkdir(root, 0700), 0);
	CHECK(root_make(root));
	file_copy("/proc/self/exe", inside, "");
	snprintf(inside, sizeof(inside), "%s/library", root);
	CHECK(dladdr((const void *)elf_version, &libelf) != 0);
	file_copy(libelf.dli_fname, inside, "");
	pid = program_start(root, "/program");
	if (pid > 0) {
		CHECK_INT(quality("/program", 0, false), SYM_NONE);
		CHECK(quality("/program", pid, false) != SYM_NONE);
		id_read(libelf.dli_fname); /* a library is not the executable */
		CHECK_INT(quality("/library", 0, false), SYM_NONE);
		CHECK(quality("/library", pid, false) != SYM_NONE);
		CHECK_INT(quality("/library", pid, true), SYM_NONE);
		program_end(pid);
	}
	snprintf(command, sizeof(command), "rm -rf %s", root);
	CHECK_INT(system(command), 0);
	if (pid == 0)
		SKIP("no permission for a root folder");
}

int main(int argc, char *argv[])
{
	if (argc > 1 && strcmp(argv[1], "--wait") == 0) {
		char byte;

		return write(1, "", 1) == 1 && read(0, &byte, 1) == 1;
	}
	CHECK(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/program", folder);
	id_read("/proc/self/exe");
	RUN(a_rebuilt_program_keeps_its_names);
	RUN(a_program_in_a_root_of_its_own_has_names);
	rmdir(folder);
	return check_end();
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs a command and makes one of its system calls fail, without being its tracer: a seccomp filter
 * hands the calls in question to us (seccomp_unotify(2)), and we say which go on. So it works on
 * the very library that users preload, and on the viewer.
 *
 *	inject [-m OBJECT] [-c CALL] [-n N] [-k] [-e ERRNO | -x LINE] [-o COUNT] COMMAND [ARG]...
 *
 * Counted are CALLs (all kinds of the table below, if none is named) that come from OBJECT, the end
 * of a path as in /proc/PID/maps; without one, those of the command's own process that its loader
 * does not make. The Nth of them fails, and with -k all after it; 0, the default: none. With -x it
 * goes on, but waits until a shell has run LINE: something happens elsewhere at just that moment.
 * How many there were goes to the file COUNT. Ends as the command does.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_WORDS                                                                                \
	32u /* searched for a return address: more than any wrapper of libc's pushes               \
	     */

static const struct call {
	const char *name;
	int number, error;
} calls[] = {
	{ "mmap", SYS_mmap, ENOMEM },
	{ "openat", SYS_openat, EMFILE },
	{ "ftruncate", SYS_ftruncate, EIO },
	{ "fallocate", SYS_fallocate, ENOSPC },
	{ "memfd_create", SYS_memfd_create, EMFILE },
	{ "madvise", SYS_madvise, ENOMEM },
	{ "mprotect", SYS_mprotect, ENOMEM },
	{ "pwrite64", SYS_pwrite64, EIO },
	{ "pread64", SYS_pread64, EIO },
	{ "read", SYS_read, EIO },
	{ "getdents64", SYS_getdents64, EIO },
	{ "newfstatat", SYS_newfstatat, EIO },
	{ "prlimit64", SYS_prlimit64, EPERM },
	{ "unlinkat", SYS_unlinkat, EPERM },
	{ "flock", SYS_flock, ENOLCK },
#ifdef SYS_readlink /* not on aarch64 */
	{ "readlink", SYS_readlink, EACCES },
#endif
	{ "clone3", SYS_clone3, EAGAIN },
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

static struct {
	const char *object, *call, *count, *line;
	unsigned long nth;
	bool keep_on;
	int error;
	pid_t child;
	unsigned long seen;
} run;

static _Noreturn void give_up(const char *what)
{
	perror(what);
	exit(99);
}

static bool is_wanted(const struct call *c)
{
	return !run.call || strcmp(run.call, c->name) == 0;
}

/* Hands the calls over; everything else goes on. */
static int filter_install(void)
{
	struct sock_filter code[4 + 2 * CALLS] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = { .len = 1, .filter = code };

	for (size_t i = 0; i < CALLS; i++) {
		if (!is_wanted(&calls[i]))
			continue;
		code[program.len++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i].number, 0, 1);
		code[program.len++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	}
	code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		give_up("no_new_privs");
	return (int)syscall(
		SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

/* One descriptor through a socket; negative `fd`: receives it. */
static int pass(int socket, int fd)
{
	char byte = 0;
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec io = { &byte, 1 };
	struct msghdr m = { .msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control) };

	if (fd < 0) {
		if (recvmsg(socket, &m, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&m))
			return -1;
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
		return fd;
	}
	control.head = (struct cmsghdr){
		.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS
	};
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	return sendmsg(socket, &m, 0) == 1 ? 0 : -1;
}

static _Noreturn void child_run(int socket, char **command)
{
	int listener = filter_install();

	if (listener < 0 || pass(socket, listener) != 0)
		give_up("seccomp");
	close(listener);
	close(socket);
	execvp(command[0], command);
	_exit(127);
}

/* ---- whose call it is ---- */

#define MAPS_MAX 4096u

/* What is mapped and executable in the process at hand. */
static struct {
	uint64_t start, end;
	char object[96]; /* the end of its path */
} maps[MAPS_MAX];
static size_t map_count;

static void maps_read(pid_t tid)
{
	char path[64], line[4400];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", tid);
	f = fopen(path, "re");
	map_count = 0;
	while (f && map_count < MAPS_MAX && fgets(line, sizeof(line), f)) {
		size_t length = strcspn(line, "\n");
		size_t from =
			length < sizeof(maps[0].object) ? 0 : length - sizeof(maps[0].object) + 1;
		char x;

		line[length] = '\0';
		if (sscanf(line, "%lx-%lx %*c%*c%c", &maps[map_count].start, &maps[map_count].end,
			    &x) == 3 &&
			x == 'x')
			strcpy(maps[map_count++].object, line + from);
	}
	if (f)
		fclose(f);
}

/* The end of its line, or NULL. */
static const char *object_at(uint64_t at)
{
	for (size_t i = 0; i < map_count; i++)
		if (at >= maps[i].start && at < maps[i].end)
			return maps[i].object;
	return NULL;
}

static bool stack_pointer(pid_t tid, uint64_t *sp)
{
	char path[64], text[256];
	FILE *f;
	bool ok;

	snprintf(path, sizeof(path), "/proc/%d/syscall", tid);
	f = fopen(path, "re");
	ok = f && fgets(text, sizeof(text), f) &&
	     sscanf(text, "%*s %*s %*s %*s %*s %*s %*s %lx", sp) == 1;
	if (f)
		fclose(f);
	return ok;
}

/* The object that called the wrapper in libc: the first return address on the stack. */
static const char *caller_of(pid_t tid)
{
	uint64_t words[STACK_WORDS], sp;
	const char *object = NULL;
	char path[64];
	ssize_t got;
	int fd;

	if (!stack_pointer(tid, &sp))
		return NULL;
	snprintf(path, sizeof(path), "/proc/%d/mem", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : pread(fd, words, sizeof(words), (off_t)sp);
	if (fd >= 0)
		close(fd);
	for (ssize_t i = 0; !object && i < got / (ssize_t)sizeof(words[0]); i++)
		object = object_at(words[i]);
	return object;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

static bool is_counted(const struct seccomp_notif *n)
{
	const char *object;
	char path[64];

	if (!run.object) {
		snprintf(path, sizeof(path), "/proc/%d/task/%u", run.child, n->pid);
		if (access(path, F_OK) != 0)
			return false;
	}
	maps_read((pid_t)n->pid);
	object = run.object ? caller_of((pid_t)n->pid) : object_at(n->data.instruction_pointer);
	if (!object)
		return false;
	return run.object ? ends_with(object, run.object) : !strstr(object, "/ld-");
}

/* ---- serving ---- */

static int error_of(int number)
{
	for (size_t i = 0; i < CALLS; i++)
		if (calls[i].number == number)
			return run.error ? run.error : calls[i].error;
	return EIO;
}

static void answer(int listener, const struct seccomp_notif *n)
{
	struct seccomp_notif_resp r = { .id = n->id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
	bool counted = is_counted(n);

	run.seen += counted;
	if (counted && run.nth && (run.keep_on ? run.seen >= run.nth : run.seen == run.nth)) {
		if (run.line) {
			if (system(run.line) != 0)
				give_up(run.line);
		} else {
			r.flags = 0;
			r.error = -error_of(n->data.nr);
		}
	}
	/* ENOENT: it was killed meanwhile. */
	(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &r);
}

/* Until the last process that has the filter is gone. */
static void serve(int listener)
{
	struct pollfd p = { .fd = listener, .events = POLLIN };

	while (poll(&p, 1, -1) >= 0 || errno == EINTR) {
		struct seccomp_notif n = { 0 };

		if (p.revents & POLLIN && ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n) == 0)
			answer(listener, &n);
		else if (p.revents & POLLHUP)
			break;
	}
}

static void options_take(int argc, char **argv)
{
	int o;

	while ((o = getopt(argc, argv, "+m:c:n:ke:x:o:")) != -1) {
		switch (o) {
		case 'm':
			run.object = optarg;
			break;
		case 'c':
			run.call = optarg;
			break;
		case 'n':
			run.nth = strtoul(optarg, NULL, 10);
			break;
		case 'k':
			run.keep_on = true;
			break;
		case 'e':
			run.error = atoi(optarg);
			break;
		case 'x':
			run.line = optarg;
			break;
		case 'o':
			run.count = optarg;
			break;
		default:
			exit(99);
		}
	}
	if (optind >= argc)
		exit(99);
}

int main(int argc, char **argv)
{
	int ends[2], listener, status;
	FILE *f;

	options_take(argc, argv);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		give_up("socketpair");
	run.child = fork();
	if (run.child == 0)
		child_run(ends[1], argv + optind);
	close(ends[1]);
	listener = pass(ends[0], -1);
	if (listener < 0)
		give_up("listener");
	serve(listener);
	if (waitpid(run.child, &status, 0) != run.child)
		give_up("waitpid");
	f = run.count ? fopen(run.count, "we") : NULL;
	if (f) {
		fprintf(f, "%lu\n", run.seen);
		fclose(f);
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

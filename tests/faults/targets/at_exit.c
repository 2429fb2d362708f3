// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * at_exit FILE FD COMMAND...: runs COMMAND, and stops it and each of its descendants at the moment
 * of its exit_group, to write down from outside how it then stands: signals caught, ignored and
 * blocked, threads, descriptors. FD is open for as long as one of them is alive, and closed when
 * FILE is complete.
 *
 * How: a seccomp filter makes the kernel ask a supervisor about that one system call, which is let
 * go when all is written. No tracer, no signal, nothing that the program could see but the filter's
 * own line in its status. COMMAND keeps the pid, so that signals and the exit status are its own;
 * the supervisor is an orphan in a session of its own.
 */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The listener, or -1. Root needs no promise to gain no privileges, which would change what it
 * runs. */
static int filter_install(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };
	long fd = syscall(
		SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);

	if (fd < 0 && errno == EACCES && !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			&program);
	return (int)fd;
}

/* Sends (fd >= 0) or receives a descriptor. */
static int fd_pass(int socket, int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	char byte = 0;
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	if (fd < 0) {
		if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&message))
			return -1;
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
		return fd;
	}
	*head = (struct cmsghdr){ CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	return sendmsg(socket, &message, 0) == 1 ? 0 : -1;
}

/* The value of a line of a file under /proc, without blanks; "" when there is none. */
static void field_read(const char *path, const char *name, char value[64])
{
	char line[256];
	FILE *f = fopen(path, "re");

	*value = '\0';
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ':')
			sscanf(line + strlen(name) + 1, "%63s", value);
	if (f)
		fclose(f);
}

static void link_print(FILE *out, const char *path)
{
	char text[PATH_MAX];
	ssize_t n = readlink(path, text, sizeof(text) - 1);

	text[n < 0 ? 0 : n] = '\0';
	fprintf(out, "\t%s", text);
}

static void descriptors_print(FILE *out, int pid)
{
	char path[PATH_MAX], flags[64];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (*entry->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", pid, entry->d_name);
		field_read(path, "flags", flags);
		fprintf(out, "fd\t%s\t%s", entry->d_name, flags);
		snprintf(path, sizeof(path), "/proc/%d/fd/%s", pid, entry->d_name);
		link_print(out, path);
		putc('\n', out);
	}
	if (dir)
		closedir(dir);
}

static void process_print(FILE *out, int pid, int exit_status)
{
	static const char *const fields[] = { "Tgid", "SigCgt", "SigIgn", "SigBlk", "Threads",
		NULL };
	char path[128], value[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	fputs("process", out);
	link_print(out, path);
	fprintf(out, "\t%d", exit_status & 0xff);
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	for (int i = 0; fields[i]; i++) {
		field_read(path, fields[i], value);
		fprintf(out, "\t%s", value);
	}
	putc('\n', out);
	descriptors_print(out, pid);
	fflush(out);
}

static void supervise(int listener, FILE *out)
{
	struct pollfd p = { listener, POLLIN, 0 };

	while (poll(&p, 1, -1) > 0 && !(p.revents & POLLHUP)) {
		struct seccomp_notif asked = { 0 };
		struct seccomp_notif_resp answer = { 0 };

		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked))
			continue; /* it was killed meanwhile */
		process_print(out, (int)asked.pid, (int)asked.data.args[0]);
		answer = (struct seccomp_notif_resp){ .id = asked.id,
			.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
}

/* An orphan, so that COMMAND has no child it does not know. */
static void supervisor_start(int sockets[2], const char *path)
{
	pid_t pid = fork();
	FILE *out;

	if (pid < 0)
		err(125, "fork");
	if (pid) {
		waitpid(pid, NULL, 0);
		return;
	}
	if (fork())
		_exit(0);
	setsid();
	close(sockets[0]);
	out = fopen(path, "we");
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	if (out)
		supervise(fd_pass(sockets[1], -1), out);
	_exit(0);
}

int main(int argc, char *argv[])
{
	int sockets[2], listener;

	if (argc < 4)
		errx(125, "usage: at_exit FILE FD COMMAND...");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		err(125, "socketpair");
	supervisor_start(sockets, argv[1]);
	close(atoi(argv[2])); /* the supervisor's alone */
	listener = filter_install();
	if (listener < 0 || fd_pass(sockets[0], listener))
		err(125, "seccomp");
	close(listener);
	close(sockets[0]);
	close(sockets[1]);
	execvp(argv[3], &argv[3]);
	err(127, "%s", argv[3]);
}

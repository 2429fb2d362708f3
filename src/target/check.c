/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Checks before a launch which file will run, and whether a preloaded library can work in it: one
 * line now is better than an empty screen. Called by src/run on the main thread.
 */
#include "src/target/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "src/target/executable.h"
#include "src/target/privilege.h"
#include "src/util/text.h"

#define EXIT_CANNOT_TRACE 125
#define EXIT_CANNOT_RUN	  126
#define EXIT_NOT_FOUND	  127
#define SCRIPTS_MAX	  4 /* a script may be run by a script; the kernel follows as many */
#define DEFAULT_PATH	  "/bin:/usr/bin" /* execvp's, when PATH is unset */

/* 0 when `path` is a file that we may run, else the errno with which exec would fail. */
static int file_runnable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) ? errno : 0;
}

/* Searches PATH; the first file that may be run wins, and one that may not is remembered. */
static int command_search(const char *name, char *path, size_t cap)
{
	const char *dir = getenv("PATH");
	int seen = ENOENT;
	size_t n;

	for (dir = dir ? dir : DEFAULT_PATH;; dir += n + 1) {
		int err;

		n = strcspn(dir, ":");
		if (snprintf(path, cap, "%.*s%s%s", (int)n, dir, n ? "/" : "", name) < (int)cap) {
			err = file_runnable(path);
			if (!err)
				return 0;
			if (err == EACCES)
				seen = err;
		}
		if (!dir[n])
			return seen;
	}
}

static int command_resolve(const char *command, char *path, size_t cap)
{
	if (!*command)
		return ENOENT;
	if (!strchr(command, '/'))
		return command_search(command, path, cap);
	if (snprintf(path, cap, "%s", command) >= (int)cap)
		return ENAMETOOLONG;
	return file_runnable(path);
}

__attribute__((format(printf, 4, 5))) static int refuse(
	int status, const char *command, char *message, const char *fmt, ...)
{
	char clean[TARGET_MESSAGE_MAX / 4];
	va_list ap;
	int n;

	text_clean(clean, sizeof(clean), command, strlen(command));
	n = snprintf(message, TARGET_MESSAGE_MAX,
		"cannot %s %s: ", status == EXIT_CANNOT_TRACE ? "watch" : "run",
		*clean ? clean : "\"\"");
	va_start(ap, fmt);
	vsnprintf(message + n, (size_t)(TARGET_MESSAGE_MAX - n), fmt, ap);
	va_end(ap);
	return status;
}

static int refuse_unrunnable(int err, const char *command, char *message)
{
	if (err == ENOENT && !strchr(command, '/'))
		return refuse(EXIT_NOT_FOUND, command, message, "no such command in PATH");
	return refuse(err == ENOENT || err == ENOTDIR ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN, command,
		message, "%s", strerror(err));
}

/* Judges the ELF program behind `fd`. 0 or the exit status. */
static int program_judge(int fd, const struct executable *image, const char *command, char *message)
{
	const char *refusal = executable_refusal(image, target_library_narrow()), *gained;
	/* The kernel refuses a program of another machine; one of the other class it may run. */
	int status = image->native || image->bits != sizeof(void *) * 8 ? EXIT_CANNOT_TRACE
									: EXIT_CANNOT_RUN;

	if (refusal)
		return refuse(status, command, message, "it %s", refusal);
	gained = privilege_gained(fd, getuid(), getgid());
	if (gained)
		return refuse(EXIT_CANNOT_TRACE, command, message,
			"it is %s, so the loader ignores LD_PRELOAD; "
			"run a copy without, or run heaptop as that user",
			gained);
	return 0;
}

static int interpreter_open(const char *interpreter, const char *command, char *message)
{
	char clean[TARGET_MESSAGE_MAX / 4];
	int err = *interpreter ? file_runnable(interpreter) : ENOEXEC;

	text_clean(clean, sizeof(clean), interpreter, strlen(interpreter));
	if (err) {
		refuse(EXIT_CANNOT_RUN, command, message, "its interpreter %s: %s",
			*clean ? clean : "\"\"", strerror(err));
		return -1;
	}
	return open(interpreter, O_RDONLY | O_CLOEXEC);
}

/* Follows scripts to the program that runs them. 0 or the exit status. Takes `fd`. */
static int chain_judge(int fd, const char *command, char *message)
{
	struct executable image;
	int status = 0;

	for (int scripts = 0; !executable_read(fd, &image); scripts++) {
		if (image.kind == EXECUTABLE_OTHER)
			status = refuse(EXIT_CANNOT_RUN, command, message, "%s", strerror(ENOEXEC));
		else if (image.kind == EXECUTABLE_ELF)
			status = program_judge(fd, &image, command, message);
		if (image.kind == EXECUTABLE_OTHER || image.kind == EXECUTABLE_ELF)
			break;
		if (scripts == SCRIPTS_MAX) {
			status = refuse(EXIT_CANNOT_RUN, command, message, "%s", strerror(ELOOP));
			break;
		}
		close(fd);
		message[0] = '\0';
		fd = interpreter_open(image.kind == EXECUTABLE_TEXT ? "/bin/sh" : image.interpreter,
			command, message);
		if (fd < 0)
			return message[0] ? EXIT_CANNOT_RUN : 0;
	}
	close(fd);
	return status;
}

int target_check(const char *command, char *path, size_t cap, char *message)
{
	int err = command_resolve(command, path, cap), fd;

	if (err)
		return refuse_unrunnable(err, command, message);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0; /* may be run but not read: unknown, and it may well work */
	return chain_judge(fd, command, message);
}

bool target_check_narrow(const char *path)
{
	struct executable image = { .kind = EXECUTABLE_OTHER };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	for (int scripts = 0; fd >= 0 && scripts <= SCRIPTS_MAX; scripts++) {
		int rc = executable_read(fd, &image);

		close(fd);
		fd = rc == 0 && image.kind == EXECUTABLE_SCRIPT
			     ? open(image.interpreter, O_RDONLY | O_CLOEXEC)
			     : -1;
	}
	if (fd >= 0)
		close(fd);
	return image.kind == EXECUTABLE_ELF && image.narrow;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The user's editor (editor.h). Called by loop.c after the terminal was released. */
#include "tui/editor.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/util/oom_score.h"

#define LIBRARY "libheaptop.so"

extern char **environ;

const char *editor_name(void)
{
	const char *visual = getenv("VISUAL"), *editor = getenv("EDITOR");

	if (visual && *visual)
		return visual;
	return editor && *editor ? editor : NULL;
}

static bool is_ours(const char *path, size_t len)
{
	size_t own = sizeof(LIBRARY) - 1;

	return len >= own && !memcmp(path + len - own, LIBRARY, own) &&
	       (len == own || path[len - own - 1] == '/');
}

/* "LD_PRELOAD=" and `value` without our library. The caller frees. */
static char *preload_without_ours(const char *value)
{
	char *made = malloc(strlen(value) + sizeof("LD_PRELOAD="));
	char *end = made ? stpcpy(made, "LD_PRELOAD=") : NULL, *first = end;

	while (made && *value) {
		size_t len = strcspn(value, ": ");

		if (len && !is_ours(value, len)) {
			if (end != first)
				*end++ = ':';
			end = mempcpy(end, value, len);
			*end = '\0';
		}
		value += len + (value[len] != '\0');
	}
	return made;
}

/* Our environment without the library and its variables. *made: a string of it for the caller to
 * free. */
static char **environment(char **made)
{
	size_t n = 0, kept = 0;
	char **out;

	while (environ[n])
		n++;
	out = calloc(n + 1, sizeof(*out));
	*made = NULL;
	for (size_t i = 0; out && i < n; i++) {
		if (!strncmp(environ[i], "HEAPTOP_", 8))
			continue;
		out[kept] = environ[i];
		if (!strncmp(environ[i], "LD_PRELOAD=", 11) && !*made)
			out[kept] = *made = preload_without_ours(environ[i] + 11);
		kept += out[kept] != NULL;
	}
	return out;
}

static int spawn(pid_t *pid, char *const argv[], char *const env[], int in, int out)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t back;
	int rc = posix_spawn_file_actions_init(&files);

	if (rc != 0)
		return rc;
	posix_spawnattr_init(&attr);
	/* Signals that we ignore are not ignored in the editor. */
	sigemptyset(&back);
	sigaddset(&back, SIGXFSZ);
	sigaddset(&back, SIGPIPE);
	posix_spawnattr_setsigdefault(&attr, &back);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	rc = posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(&files, out, STDERR_FILENO);
	oom_score_spawn_begin();
	if (rc == 0)
		rc = posix_spawn(pid, "/bin/sh", &files, &attr, argv, env);
	oom_score_spawn_end();
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return rc;
}

pid_t editor_start(const char *editor, const char *path, uint32_t line, int in, int out)
{
	char at[16], *command = NULL, *whole = NULL, *made = NULL;
	char **env = environment(&made);
	pid_t pid = 0;
	int rc = ENOMEM;

	snprintf(at, sizeof(at), "+%" PRIu32, line);
	/* ^C goes to the editor; the shell waits for it whatever it does. */
	if (asprintf(&command, "trap : INT QUIT; %s \"$@\"", editor) < 0)
		command = NULL;
	/* A name that begins with a dash must not be taken as an option. */
	if (asprintf(&whole, "%s%s", path[0] == '/' ? "" : "./", path) < 0)
		whole = NULL;
	if (env && command && whole) {
		char *argv[] = { (char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c", command,
			(char *)(uintptr_t) "sh", at, whole, NULL };

		rc = spawn(&pid, argv, env, in, out);
	}
	free(made);
	free(env);
	free(command);
	free(whole);
	return rc == 0 ? pid : -rc;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The hook of execve in a program to which a viewer has attached: libc's other exec functions go
 * through it. A launched program has the variables that make the library follow an exec in its
 * environment; here the hook adds them to the environment that is passed on. It may run in a
 * vfork child, in the parent's memory, and on a small stack: it takes the memory that it needs
 * from the stack, and leaves longer environments unchanged.
 */
#include "preload/hooks_exec.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/environment.h"
#include "preload/jumps.h"
#include "preload/next_allocator.h"

#define VARIABLES_MAX 512u /* 4 KB of pointers */
#define TEXT_MAX      3072u /* of the values that are put together */

/* Beside the library: links to it and to that for 32-bit programs, by the loader's own names. */
#define BY_CLASS	 "/by-class"
#define BY_CLASS_LIBRARY BY_CLASS "/$LIB/libheaptop.so"
#define PRELOAD_MAX	 (HT_ATTACHED_PATH + sizeof(BY_CLASS_LIBRARY))

/* What is set; and what is put before a value that is there, with ':' between. */
struct variable {
	const char *name, *value;
	bool adds;
};

#define MADE 7u
static void variables_list(struct variable out[MADE], const char *preload)
{
	const struct ht_attached *a = &heaptop_attached;

	out[0] = (struct variable){ "LD_PRELOAD=", preload, true };
	/* As for what is launched: gcc's runtime wants to be the first library. */
	out[1] = (struct variable){ "ASAN_OPTIONS=", "verify_asan_link_order=0", true };
	out[2] = (struct variable){ "HEAPTOP_SEGMENT=", a->segment, false };
	out[3] = (struct variable){ "HEAPTOP_ALLOCATORS=", a->allocators, false };
	out[4] = (struct variable){ "HEAPTOP_FOLLOW=", a->follow ? "" : "0", false };
	out[5] = (struct variable){ "HEAPTOP_FREES=", a->free_stacks ? "1" : "", false };
	out[6] = (struct variable){ "HEAPTOP_ATTACHED=", "1", false };
}

static bool begins(const char *text, const char *name)
{
	return strncmp(text, name, strlen(name)) == 0;
}

/* The variable's value in the list, "": none. */
static const char *value_of(char *const *envp, const char *name)
{
	for (; envp && *envp; envp++)
		if (begins(*envp, name))
			return *envp + strlen(name);
	return "";
}

/* Whether `path` is one of a list of paths. */
static bool has_path(const char *list, const char *path)
{
	size_t bytes = strlen(path);

	for (; *list; list++) {
		if (strncmp(list, path, bytes) == 0 &&
			(list[bytes] == '\0' || list[bytes] == ':' || list[bytes] == ' '))
			return true;
		while (list[1] && *list != ':' && *list != ' ')
			list++;
	}
	return false;
}

static size_t length(char *const *envp)
{
	size_t n = 0;

	while (envp && envp[n])
		n++;
	return n;
}

static bool is_readable(const char *path)
{
	int saved = errno;
	bool is_there = syscall(SYS_faccessat, AT_FDCWD, path, R_OK) == 0;

	errno = saved;
	return is_there;
}

/*
 * What LD_PRELOAD is to name: the library, or beside it, where the recorder for 32-bit programs is
 * installed, too, the path that the loader completes by the program's class (as
 * target_library_preload).
 */
static void preload_name(char out[PRELOAD_MAX])
{
	const char *library = heaptop_attached.library, *slash = strrchr(library, '/');
	size_t folder = slash ? (size_t)(slash - library) : 0;

	memcpy(out, library, folder);
	memcpy(out + folder, BY_CLASS, sizeof(BY_CLASS));
	if (slash && is_readable(out))
		memcpy(out + folder, BY_CLASS_LIBRARY, sizeof(BY_CLASS_LIBRARY));
	else
		memcpy(out, library, strlen(library) + 1);
}

/* Whether what is executed can be followed: it sees the library, and is not followed already. */
static bool is_followed(char *const *envp)
{
	const char *library = heaptop_attached.library;

	return heaptop_attached.state == HT_ATTACHED_PREPARED && environment_is_given() &&
	       library[0] && !has_path(value_of(envp, "LD_PRELOAD="), library) &&
	       is_readable(library);
}

/* Bytes of the text of variable `v`, its end included; 0: it is not set. */
static size_t bytes_of(const struct variable *v, char *const *envp)
{
	const char *old = v->adds ? value_of(envp, v->name) : "";

	if (!v->value[0])
		return 0;
	return strlen(v->name) + strlen(v->value) + (old[0] ? 1 + strlen(old) : 0) + 1;
}

static char *put(char *at, const char *text)
{
	size_t bytes = strlen(text);

	memcpy(at, text, bytes + 1);
	return at + bytes;
}

/* Writes the variable to `at`, and returns where the next one goes. */
static char *variable_put(char *at, const struct variable *v, char *const *envp)
{
	const char *old = v->adds ? value_of(envp, v->name) : "";

	at = put(put(at, v->name), v->value);
	if (old[0])
		at = put(put(at, ":"), old);
	return at + 1;
}

static bool is_replaced(const char *text, const struct variable v[MADE])
{
	for (unsigned i = 0; i < MADE; i++)
		if (begins(text, v[i].name))
			return true;
	return false;
}

/* `count` variables in `envp`; `bytes` of text. */
static __attribute__((noinline)) int exec_followed(const char *path, char *const *argv,
	char *const *envp, const struct variable v[MADE], size_t count, size_t bytes)
{
	char **out = __builtin_alloca((count + MADE + 1) * sizeof(*out));
	char *text = __builtin_alloca(bytes);
	size_t used = 0;

	for (size_t i = 0; i < count; i++)
		if (!is_replaced(envp[i], v))
			out[used++] = envp[i];
	for (unsigned i = 0; i < MADE; i++)
		if (v[i].value[0]) {
			out[used++] = text;
			text = variable_put(text, &v[i], envp);
		}
	out[used] = NULL;
	return next.execve(path, argv, out);
}

int hook_execve(const char *path, char *const *argv, char *const *envp)
{
	size_t count = length(envp), bytes = 0;
	struct variable v[MADE];
	char preload[PRELOAD_MAX];

	if (!is_followed(envp) || count > VARIABLES_MAX)
		return next.execve(path, argv, envp);
	preload_name(preload);
	if (has_path(value_of(envp, "LD_PRELOAD="), preload))
		return next.execve(path, argv, envp);
	variables_list(v, preload);
	for (unsigned i = 0; i < MADE; i++)
		bytes += bytes_of(&v[i], envp);
	if (bytes > TEXT_MAX)
		return next.execve(path, argv, envp);
	return exec_followed(path, argv, envp, v, count, bytes);
}

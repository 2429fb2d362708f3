/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The list of allocators' functions (inner_list.h): our own, from inner_list.txt, as constants that
 * cost a process nothing but a look; then those of the user's file.
 */
#include "preload/inner_list.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/bulk.h"
#include "preload/call.h"
#include "shm/kernel.h"
#include "shm/private.h"

/* One of our own. */
struct own_name {
	uint32_t hash;
	uint16_t at; /* of its line in own_text */
	uint8_t line_bytes, name_bytes; /* the line begins with the name */
};

/* Made by inner_list.awk: own_text, own_names, and own_slots, which have 1 + a number by hash. */
#include "preload/inner_names.h"

#define NAMES_MAX 1024u /* ours included */
#define SLOTS	  2048u /* power of two, at least twice that */
#define FILE_MAX  (1u << 20) /* bytes of the user's file */

/* Ours are filled in when they are asked for, unless the user has other rules for them. */
static BULK struct inner_name names[NAMES_MAX];
static uint32_t count;
static BULK uint16_t slots[SLOTS]; /* of the user's: 1 + the number in names[]; 0: free */

static uint32_t hash_of(const char *name, size_t bytes)
{
	uint32_t h = 5381;

	for (size_t i = 0; i < bytes; i++)
		h = h * 33 + (unsigned char)name[i];
	return h;
}

static bool is_named(const struct inner_name *n, const char *text, size_t bytes)
{
	return n->name_bytes == bytes && __builtin_memcmp(n->name, text, bytes) == 0;
}

/* Our own name's number; OWN_NAMES: it is none. */
static uint32_t own_find(const char *text, size_t bytes, uint32_t hash)
{
	for (uint32_t at = hash % OWN_SLOTS; own_slots[at] != 0; at = (at + 1) % OWN_SLOTS) {
		const struct own_name *n = &own_names[own_slots[at] - 1];

		if (n->hash == hash && n->name_bytes == bytes &&
			__builtin_memcmp(own_text + n->at, text, bytes) == 0)
			return own_slots[at] - 1u;
	}
	return OWN_NAMES;
}

/* The slot of another name, or the free one where it belongs. */
static uint16_t *slot_of(const char *text, size_t bytes, uint32_t hash)
{
	uint32_t at = hash % SLOTS;

	while (slots[at] != 0 && !is_named(&names[slots[at] - 1], text, bytes))
		at = (at + 1) % SLOTS;
	return &slots[at];
}

/* A user's rule. One for a name that is known to us replaces ours. */
static void add(const char *line, size_t line_bytes, const char *name, size_t bytes)
{
	uint32_t hash = hash_of(name, bytes), number = own_find(name, bytes, hash);
	uint16_t *slot = slot_of(name, bytes, hash);

	if (number == OWN_NAMES && *slot == 0) {
		if (count == NAMES_MAX)
			return;
		*slot = (uint16_t)++count;
	}
	if (number == OWN_NAMES)
		number = *slot - 1u;
	names[number] = (struct inner_name){ .line = line,
		.line_bytes = (uint32_t)line_bytes,
		.hash = hash,
		.name = name,
		.name_bytes = (uint8_t)bytes,
		.is_plain = number < OWN_PLAIN };
}

/* The file's text, which stays mapped; NULL: unavailable. */
static const char *file_text(const char *file, size_t *bytes)
{
	char *text = NULL;
#ifdef CALL_EXISTS
	struct stat st = { 0 };
	long fd = call(SYS_openat, AT_FDCWD, call_pointer(file), O_RDONLY | O_CLOEXEC, 0, 0), got;

	if (fd < 0)
		return NULL;
	if (call(KERNEL_FSTAT, fd, call_pointer(&st), 0, 0, 0) == 0 && st.st_size <= FILE_MAX &&
		S_ISREG(st.st_mode))
		text = private_map((size_t)st.st_size + 1);
	got = text ? call(SYS_pread64, fd, call_pointer(text), st.st_size, 0, 0) : 0;
	*bytes = got > 0 ? (size_t)got : 0;
	call(SYS_close, fd, 0, 0, 0, 0);
#endif
	return text;
}

static void add_users(const char *file, void (*wrong)(unsigned, const char *))
{
	size_t bytes = 0, length;
	const char *text = file_text(file, &bytes), *why;
	struct allocator_rule rule;

	if (!text)
		wrong(0, "the file cannot be read");
	for (unsigned line = 1; text && bytes > 0; line++) {
		const char *end = __builtin_memchr(text, '\n', bytes);

		length = end ? (size_t)(end - text) : bytes;
		why = allocator_rule_read(text, length, &rule);
		if (why)
			wrong(line, why);
		else if (rule.name_bytes > 0)
			add(text, length, rule.name, rule.name_bytes);
		length += end ? 1 : 0;
		text += length;
		bytes -= length;
	}
}

void inner_list_start(const char *file, void (*wrong)(unsigned line, const char *why))
{
	static bool has_users;

	if (has_users) {
		__builtin_memset(names, 0, sizeof(names));
		__builtin_memset(slots, 0, sizeof(slots));
	}
	count = OWN_NAMES;
	has_users = file != NULL;
	if (file)
		add_users(file, wrong);
}

uint32_t inner_list_count(void)
{
	return count;
}

uint32_t inner_list_plain(void)
{
	return OWN_PLAIN;
}

uint32_t inner_list_hash(uint32_t number)
{
	return number < OWN_NAMES ? own_names[number].hash : names[number].hash;
}

const struct inner_name *inner_list_at(uint32_t number)
{
	struct inner_name *n = &names[number];
	const struct own_name *own = &own_names[number];

	if (!n->name)
		*n = (struct inner_name){ .line = own_text + own->at,
			.line_bytes = own->line_bytes,
			.hash = own->hash,
			.name = own_text + own->at,
			.name_bytes = own->name_bytes,
			.is_plain = number < OWN_PLAIN };
	return n;
}

const struct inner_name *inner_list_find(const char *text)
{
	size_t bytes = __builtin_strlen(text);
	uint32_t hash = hash_of(text, bytes), number = own_find(text, bytes, hash);
	uint16_t slot;

	if (number != OWN_NAMES)
		return inner_list_at(number);
	slot = count > OWN_NAMES ? *slot_of(text, bytes, hash) : 0;
	return slot ? &names[slot - 1] : NULL;
}

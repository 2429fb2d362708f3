/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzzing of names from object files: a small object (sym_base.cc, beside this program) with some
 * of its bytes changed, or a file of the fuzzer's own, asked for addresses all over it. An input
 * that begins as ELF files do is one; any other is a list of changes of 10 bytes: where (16 bits,
 * the uppermost two for how many bytes) and what.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/sym/resolve.h"
#include "src/util/text.h"

#define BASE_MAX  (1u << 18)
#define CHANGE	  10u
#define ADDRESSES 0x1400u

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static uint8_t base[BASE_MAX], image[BASE_MAX];
static size_t base_bytes;
static char path[64];
static int fd;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char place[4096];
	FILE *f;

	(void)argc;
	snprintf(place, sizeof(place), "%s_base", (*argv)[0]);
	f = fopen(place, "re");
	if (!f) {
		perror(place);
		exit(1);
	}
	base_bytes = fread(base, 1, sizeof(base), f);
	fclose(f);
	snprintf(path, sizeof(path), "%s/heaptop-fuzz.XXXXXX",
		access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		exit(1);
	unlink(path); /* whatever way we end */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return 0;
}

static size_t image_make(const uint8_t *data, size_t bytes)
{
	if (bytes >= 4 && memcmp(data, "\177ELF", 4) == 0) {
		memcpy(image, data, bytes < BASE_MAX ? bytes : BASE_MAX);
		return bytes < BASE_MAX ? bytes : BASE_MAX;
	}
	memcpy(image, base, base_bytes);
	for (; bytes >= CHANGE; data += CHANGE, bytes -= CHANGE) {
		size_t where = (size_t)(data[0] | (data[1] & 0x3f) << 8) * 2 % (base_bytes - 8);

		memcpy(image + where, data + 2, (size_t)1 << (data[1] >> 6));
	}
	return base_bytes;
}

static void must_be_clean(const char *text)
{
	char copy[8192];

	if (text && strlen(text) < sizeof(copy) &&
		(text_clean(copy, sizeof(copy), text, strlen(text)) != strlen(text) ||
			strcmp(copy, text) != 0))
		abort();
}

static void ask(struct resolve *r, struct resolve_module *m)
{
	for (uint64_t at = 0xf00; at < ADDRESSES; at += 13) {
		uint32_t n = 0;
		const struct sym_frame *frames = resolve_address(r, m, at, &n);

		for (uint32_t i = 0; frames && i < n; i++) {
			must_be_clean(frames[i].function);
			must_be_clean(frames[i].file);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const atomic_bool stop;
	const struct debugfile_dirs dirs = {
		.root = "", .debug_dir = "/nonexistent", .stop = &stop
	};
	const struct sym_module info = { .id = 1, .path = path };
	struct resolve *r = resolve_new(&dirs);
	struct resolve_module *m = resolve_module_new(&info);
	size_t size = image_make(data, bytes);

	if (ftruncate(fd, (off_t)size) != 0 || pwrite(fd, image, size, 0) != (ssize_t)size)
		abort();
	if (r && m)
		ask(r, m);
	resolve_module_unref(m);
	resolve_free(r);
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words of a stack that point to code (words.h). Source: Intel SDM, CALL. */
#include "src/attach/words.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST (256u << 10) /* bytes of a stack: deeper ones are given up */
#define CALL_MOST  7u /* bytes of an indirect call with a far operand, without a prefix */

/* e8 and four bytes, or ff /2 with its operand. */
static bool is_behind_call(const struct trace_image *i, uint64_t pc)
{
	uint8_t code[CALL_MOST];

	if (!trace_memory_read(i->memory, pc - sizeof(code), code, sizeof(code)))
		return false;
	if (code[sizeof(code) - 5] == 0xe8)
		return true;
	for (size_t n = 0; n + 1 < sizeof(code); n++)
		if (code[n] == 0xff && (code[n + 1] >> 3 & 7) == 2)
			return true;
	return false;
}

/* SYS_rt_sigreturn into rax, and syscall: unwinders know a handler's frame by it, too. */
static bool is_restorer(const struct trace_image *i, uint64_t pc)
{
	static const uint8_t wide[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t narrow[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	uint8_t code[sizeof(wide)];

	return trace_memory_read(i->memory, pc, code, sizeof(code)) &&
	       (memcmp(code, wide, sizeof(wide)) == 0 || memcmp(code, narrow, sizeof(narrow)) == 0);
}

static bool is_code(const struct trace_image *i, uint64_t pc)
{
	const struct trace_map *m = trace_image_map(i, pc);

	return m && m->executes;
}

size_t attach_words(const struct trace_image *i, uint64_t from, uint64_t end,
	struct attach_word *out, size_t most)
{
	size_t bytes = end > from ? (size_t)(end - from) : 0, count = 0;
	uint64_t *words = bytes <= DEPTH_MOST ? malloc(bytes + 1) : NULL;

	if (!words || !trace_memory_read(i->memory, from, words, bytes))
		count = most + 1;
	for (size_t n = 0; count <= most && n < bytes / sizeof(*words); n++) {
		if (!is_code(i, words[n]))
			continue;
		if (count < most)
			out[count] = (struct attach_word){ words[n], is_behind_call(i, words[n]),
				is_restorer(i, words[n]) };
		count++;
	}
	free(words);
	return count;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Patched entries (entry.h). Pure but for what the given memory does. */
#include "preload/patch/entry.h"

#include <errno.h>

#define WORD 8u /* bytes that one aligned store writes */

static unsigned put_pushes(uint8_t *pad, int32_t number)
{
	pad[0] = 0x55; /* push rbp */
	pad[1] = 0x68; /* push imm32 */
	__builtin_memcpy(pad + 2, &number, sizeof(number));
	return 2 + sizeof(number);
}

static unsigned put_head(uint8_t *pad, struct entry_recorder r)
{
	static const uint8_t jump_word[] = { 0xff, 0x25, 0, 0, 0, 0 };
	unsigned at = r.is_hook ? 0 : put_pushes(pad, r.number);

	__builtin_memcpy(pad + at, jump_word, sizeof(jump_word));
	at += sizeof(jump_word);
	__builtin_memcpy(pad + at, &r.at, sizeof(r.at));
	at += sizeof(r.at);
	while (at % ENTRY_ALIGN != 0)
		pad[at++] = 0xcc; /* int3 */
	return at;
}

enum relocate_why entry_make(struct entry *e, const uint8_t *code, size_t bytes, size_t readable,
	uint64_t at, uint8_t *pad, uint64_t pad_at, struct entry_recorder recorder, unsigned *used)
{
	unsigned head = put_head(pad, recorder);
	struct relocated r;
	enum relocate_why why;

	why = relocate_make(code, readable, at, pad + head, pad_at + head, &r);
	if (why != RELOCATE_DONE)
		return why;
	if (r.own > bytes)
		return RELOCATE_SHORT;
	why = relocate_search(code, bytes, r.displaced);
	if (why != RELOCATE_DONE)
		return why;
	*e = (struct entry){
		.at = at, .pad = pad_at, .original = pad_at + head, .displaced = r.displaced
	};
	__builtin_memcpy(e->before, code, sizeof(e->before));
	__builtin_memcpy(e->moved, r.moved, sizeof(e->moved));
	if (!relocate_jump(e->jump, at, pad_at))
		return RELOCATE_FAR;
	*used = head + r.bytes;
	while (*used % ENTRY_ALIGN != 0)
		pad[(*used)++] = 0xcc;
	return RELOCATE_DONE;
}

/* Replaces RELOCATE_JUMP bytes, in one aligned word where they lie in one. */
static int replace(
	const struct entry_memory *m, uint64_t at, const uint8_t *old, const uint8_t *new)
{
	uint8_t bytes[2 * WORD];
	unsigned skip = (unsigned)(at % WORD);
	size_t whole = skip + RELOCATE_JUMP <= WORD ? WORD : 2 * WORD;
	int rc = m->read(m->of, at - skip, bytes, whole);

	if (rc != 0)
		return rc;
	if (__builtin_memcmp(bytes + skip, old, RELOCATE_JUMP) != 0)
		return -EBUSY;
	__builtin_memcpy(bytes + skip, new, RELOCATE_JUMP);
	return whole == WORD ? m->write(m->of, at - skip, bytes, WORD)
			     : m->write(m->of, at, new, RELOCATE_JUMP);
}

int entry_set(const struct entry *e, const struct entry_memory *m)
{
	return replace(m, e->at, e->before, e->jump);
}

int entry_clear(const struct entry *e, const struct entry_memory *m)
{
	return replace(m, e->at, e->jump, e->before);
}

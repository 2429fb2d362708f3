/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Relocation of instructions (relocate.h). Pure; in the program or outside.
 *
 * A call becomes a push of the return address that it would have at its old place, and a jump. So
 * the callee returns to code that call frame information covers, and never to the new place.
 */
#include "preload/patch/relocate.h"

struct writer {
	uint8_t *out;
	uint64_t to; /* address of out[0] */
	unsigned bytes;
};

static void put(struct writer *w, const void *from, unsigned bytes)
{
	__builtin_memcpy(w->out + w->bytes, from, bytes);
	w->bytes += bytes;
}

static void put_byte(struct writer *w, unsigned byte)
{
	w->out[w->bytes++] = (uint8_t)byte;
}

static void put_word(struct writer *w, uint64_t word)
{
	put(w, &word, sizeof(word));
}

/* Whether a 32-bit displacement, whose instruction ends at `end`, reaches `target`. */
static bool reaches(uint64_t end, uint64_t target, int32_t *distance)
{
	int64_t d = (int64_t)(target - end);

	*distance = (int32_t)d;
	return *distance == d;
}

bool relocate_jump(uint8_t *out, uint64_t from, uint64_t to)
{
	int32_t distance;

	if (!reaches(from + RELOCATE_JUMP, to, &distance))
		return false;
	out[0] = 0xe9;
	__builtin_memcpy(out + 1, &distance, sizeof(distance));
	return true;
}

/* jmp rel32 where that reaches, else jmp through a word that follows. */
static void put_jump(struct writer *w, uint64_t target)
{
	static const uint8_t indirect[] = { 0xff, 0x25, 0, 0, 0, 0 };

	if (relocate_jump(w->out + w->bytes, w->to + w->bytes, target)) {
		w->bytes += RELOCATE_JUMP;
		return;
	}
	put(w, indirect, sizeof(indirect));
	put_word(w, target);
}

/* The opposite condition jumps over a jump, which reaches everything. */
static void put_jump_if(struct writer *w, unsigned condition, uint64_t target)
{
	unsigned skip;

	put_byte(w, 0x70 | (condition ^ 1));
	skip = w->bytes;
	put_byte(w, 0);
	put_jump(w, target);
	w->out[skip] = (uint8_t)(w->bytes - skip - 1);
}

/* The same instruction jumps to a jump; otherwise another jumps over that. */
static void put_loop(struct writer *w, const uint8_t *code, const struct decode *d, uint64_t target)
{
	unsigned skip;

	put(w, code, d->relative_at);
	put_byte(w, 2);
	put_byte(w, 0xeb);
	skip = w->bytes;
	put_byte(w, 0);
	put_jump(w, target);
	w->out[skip] = (uint8_t)(w->bytes - skip - 1);
}

/* push of the word that follows this: jumps over it. */
static void put_push(struct writer *w, uint64_t word)
{
	static const uint8_t push_word[] = { 0xff, 0x35, 2, 0, 0, 0, 0xeb, 8 };

	put(w, push_word, sizeof(push_word));
	put_word(w, word);
}

/* Copies an instruction whose operand may be relative to rip. */
static enum relocate_why put_copy(
	struct writer *w, const uint8_t *code, const struct decode *d, uint64_t at)
{
	int32_t distance;
	uint64_t target;

	if (d->rip_at != 0) {
		if (d->small_address)
			return RELOCATE_ODD;
		__builtin_memcpy(&distance, code + d->rip_at, sizeof(distance));
		target = at + d->length + (uint64_t)(int64_t)distance;
		if (!reaches(w->to + w->bytes + d->length, target, &distance))
			return RELOCATE_FAR;
		put(w, code, d->length);
		__builtin_memcpy(
			w->out + w->bytes - d->length + d->rip_at, &distance, sizeof(distance));
		return RELOCATE_DONE;
	}
	put(w, code, d->length);
	return RELOCATE_DONE;
}

/* Whether an operand is computed from rsp, which a push changes. */
static bool uses_stack_pointer(const uint8_t *code, const struct decode *d)
{
	uint8_t modrm = code[d->modrm_at];
	bool rex_b = d->opcode_at > 0 && (code[d->opcode_at - 1] & 0xf1) == 0x41;

	if (modrm >> 6 == 3)
		return (modrm & 7) == 4 && !rex_b;
	return (modrm & 7) == 4 && (code[d->modrm_at + 1] & 7) == 4 && !rex_b;
}

/* A call through an operand: pushes, and jumps through that operand. */
static enum relocate_why put_call_indirect(
	struct writer *w, const uint8_t *code, const struct decode *d, uint64_t at)
{
	enum relocate_why why;
	unsigned modrm_at;

	if ((code[d->modrm_at] >> 3 & 7) != 2 || uses_stack_pointer(code, d))
		return RELOCATE_ODD;
	put_push(w, at + d->length);
	modrm_at = w->bytes + d->modrm_at;
	why = put_copy(w, code, d, at);
	w->out[modrm_at] = (uint8_t)((w->out[modrm_at] & ~0x38) | 4 << 3);
	return why;
}

/* One instruction at address `at`, to the new place. */
static enum relocate_why put_moved(
	struct writer *w, const uint8_t *code, const struct decode *d, uint64_t at)
{
	switch ((enum decode_kind)d->kind) {
	case DECODE_PLAIN:
	case DECODE_END:
		return put_copy(w, code, d, at);
	case DECODE_JUMP:
		put_jump(w, decode_target(code, d, at));
		return RELOCATE_DONE;
	case DECODE_JUMP_IF:
		put_jump_if(w, code[d->opcode_at] & 15, decode_target(code, d, at));
		return RELOCATE_DONE;
	case DECODE_LOOP:
		put_loop(w, code, d, decode_target(code, d, at));
		return RELOCATE_DONE;
	case DECODE_CALL:
		put_push(w, at + d->length);
		put_jump(w, decode_target(code, d, at));
		return RELOCATE_DONE;
	case DECODE_CALL_INDIRECT:
		return put_call_indirect(w, code, d, at);
	case DECODE_TRAP:
		return RELOCATE_TRAP;
	case DECODE_BEGIN:
		break;
	}
	return RELOCATE_ODD;
}

static bool is_call(const struct decode *d)
{
	return d->kind == DECODE_CALL || d->kind == DECODE_CALL_INDIRECT;
}

/* After the end of the function: whether only filler follows up to where the jump ends, and no
 * other function begins before that. */
static bool rest_is_filler(const uint8_t *code, size_t bytes, uint64_t from, struct relocated *r)
{
	uint64_t end = (from + r->own + RELOCATE_ALIGN - 1) & ~(uint64_t)(RELOCATE_ALIGN - 1);
	struct decode d;

	if (from + RELOCATE_JUMP > end)
		return false;
	while (r->displaced < RELOCATE_JUMP) {
		if (!decode_at(code + r->displaced, bytes - r->displaced, &d) ||
			!decode_is_filler(code + r->displaced, &d))
			return false;
		r->displaced = (uint8_t)(r->displaced + d.length);
	}
	return true;
}

/* Moves one instruction. *ended: none of the following is reached from it. */
static enum relocate_why move_next(struct writer *w, const uint8_t *code, size_t bytes,
	uint64_t from, struct relocated *r, bool *ended)
{
	unsigned at = r->displaced;
	enum relocate_why why;
	struct decode d;

	if (!decode_at(code + at, bytes - at, &d))
		return RELOCATE_UNKNOWN;
	r->moved[at] = (uint8_t)w->bytes;
	why = put_moved(w, code + at, &d, from + at);
	if (why != RELOCATE_DONE)
		return why;
	r->displaced = r->own = (uint8_t)(at + d.length);
	*ended = d.kind == DECODE_END || d.kind == DECODE_JUMP || is_call(&d);
	return is_call(&d) && r->displaced < RELOCATE_JUMP ? RELOCATE_CALLS : RELOCATE_DONE;
}

enum relocate_why relocate_make(const uint8_t *code, size_t bytes, uint64_t from, uint8_t *out,
	uint64_t to, struct relocated *r)
{
	struct writer w = { .out = out, .to = to };
	enum relocate_why why;
	bool ended = false;

	*r = (struct relocated){ 0 };
	__builtin_memset(r->moved, RELOCATE_NOWHERE, sizeof(r->moved));
	while (r->displaced < RELOCATE_JUMP && !ended) {
		why = move_next(&w, code, bytes, from, r, &ended);
		if (why != RELOCATE_DONE)
			return why;
	}
	if (r->displaced < RELOCATE_JUMP && !rest_is_filler(code, bytes, from, r))
		return RELOCATE_SHORT;
	if (!ended)
		put_jump(&w, from + r->displaced);
	r->bytes = (uint16_t)w.bytes;
	return RELOCATE_DONE;
}

enum relocate_why relocate_search(const uint8_t *code, size_t bytes, unsigned displaced)
{
	struct decode d;
	uint64_t target;

	if (bytes > RELOCATE_SCAN)
		return RELOCATE_LONG;
	for (size_t at = 0; at < bytes; at += d.length) {
		if (!decode_at(code + at, bytes - at, &d))
			return RELOCATE_UNKNOWN;
		if (d.relative_at == 0)
			continue;
		target = decode_target(code + at, &d, at);
		if (target > 0 && target < displaced)
			return RELOCATE_BRANCHED;
	}
	return RELOCATE_DONE;
}

const char *relocate_why_word(enum relocate_why why)
{
	switch (why) {
	case RELOCATE_DONE:
		return "done";
	case RELOCATE_SHORT:
		return "it is too short for a jump";
	case RELOCATE_UNKNOWN:
		return "it has instructions that are not known";
	case RELOCATE_BRANCHED:
		return "a branch goes back into its first instructions";
	case RELOCATE_CALLS:
		return "its first instructions are a call";
	case RELOCATE_TRAP:
		return "a debugger has a breakpoint there";
	case RELOCATE_FAR:
		return "its first instructions use data that is too far away";
	case RELOCATE_ODD:
		return "its first instructions cannot be moved";
	case RELOCATE_LONG:
		return "it is too large to be searched for branches";
	}
	return "?";
}

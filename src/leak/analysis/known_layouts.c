/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Structures that prove themselves (known_layouts.h). */
#include "src/leak/analysis/known_layouts.h"

#define WORD	    sizeof(uint64_t)
#define TYPE_WORDS  24u /* words read of GLib's TypeNode and TypeData, which have some 10 to 20 */
#define NODE_WORDS  16u /* larger nodes of trees are not searched for the pointer */
#define MARKS	    (LEAK_KNOWN_LAYOUTS_MARKS - 1)
#define SLOT_LEAST  2u /* words of a slot: its header, and its contents */
#define SLAB_HEADER 8u /* words before the first slot, at most; perl 5.36 has 5 */

/* Reads up to `most` words from `addr` on, within its block. Returns how many. */
static unsigned words_read(const struct leak_memory *m, const struct leak_block *b, uint64_t addr,
	struct leak_word *w, unsigned most)
{
	uint64_t left = (b->addr + b->size - addr) / WORD;
	unsigned n = left < most ? (unsigned)left : most;

	for (unsigned i = 0; i < n; i++)
		w[i] = (struct leak_word){ .addr = addr + i * WORD };
	m->read(m->ctx, w, n);
	return n;
}

static bool words_have(const struct leak_word *w, unsigned n, uint64_t value)
{
	for (unsigned i = 0; i < n; i++)
		if (w[i].ok && w[i].value == value)
			return true;
	return false;
}

/* The block that begins at `addr`; NULL: none does. */
static const struct leak_block *block_at(const struct leak_graph *g, uint64_t addr)
{
	uint32_t i = leak_blocks_find(g->blocks, addr);

	return i != LEAK_NONE && g->blocks->block[i].addr == addr ? &g->blocks->block[i] : NULL;
}

/* ---- instances of GLib's types ---- */

/* Whether a type's node has data that point to `class`. */
static bool type_has_class(const struct leak_graph *g, const struct leak_memory *m,
	const struct leak_word *node, unsigned n, uint64_t class)
{
	struct leak_word data[TYPE_WORDS];

	for (unsigned i = 0; i < n; i++) {
		const struct leak_block *b = node[i].ok ? block_at(g, node[i].value) : NULL;

		if (b && b->addr != class &&
			words_have(data, words_read(m, b, b->addr, data, TYPE_WORDS), class))
			return true;
	}
	return false;
}

/* A class begins with its type: a node that lists itself first among its ancestors. */
static bool class_check(const struct leak_graph *g, const struct leak_memory *m, uint64_t class)
{
	const struct leak_block *b = block_at(g, class), *type;
	struct leak_word first, node[TYPE_WORDS];
	unsigned n;

	if (!b || words_read(m, b, class, &first, 1) == 0 || !first.ok || first.value == class)
		return false;
	type = block_at(g, first.value);
	n = type ? words_read(m, type, type->addr, node, TYPE_WORDS) : 0;
	return words_have(node, n, first.value) && type_has_class(g, m, node, n, class);
}

bool leak_known_layouts_is_instance(struct leak_known_layouts *s, const struct leak_graph *g,
	const struct leak_memory *m, uint64_t first)
{
	size_t slot = first / WORD / 2 % LEAK_KNOWN_LAYOUTS_CLASSES;

	if (first == 0 || !block_at(g, first))
		return false;
	if (s->class[slot] != first) {
		s->is_class[slot] = class_check(g, m, first);
		s->class[slot] = first;
	}
	return s->is_class[slot];
}

/* ---- closures of GLib ---- */

#define CLOSURE_HEAD  4u /* words of GRealClosure before GClosure: three functions, and data */
#define CLOSURE_COUNT 0x7fffu /* reference count, in the low bits of its first word */
#define CLOSURE_FLAGS (UINT64_C(1) << 32)

static bool is_function_or_none(const struct leak_memory *m, const struct leak_word *w)
{
	return w->ok && (w->value == 0 || m->is_function(m->ctx, w->value));
}

/* A closure that C and its own kind can call has a marshaller before it and one inside. */
bool leak_known_layouts_is_closure(const struct leak_block *block, const struct leak_memory *m,
	uint64_t pointer, uint64_t first, uint64_t second)
{
	struct leak_word head[CLOSURE_HEAD];

	if (pointer - block->addr != sizeof(uint64_t) * CLOSURE_HEAD ||
		(first & CLOSURE_COUNT) == 0 || first >= CLOSURE_FLAGS ||
		!m->is_function(m->ctx, second))
		return false;
	return words_read(m, block, block->addr, head, CLOSURE_HEAD) == CLOSURE_HEAD &&
	       is_function_or_none(m, &head[0]) && is_function_or_none(m, &head[2]) &&
	       head[3].value != 0 && is_function_or_none(m, &head[3]);
}

/* ---- slots ---- */

static uint64_t slot_words(uint64_t head)
{
	return head & 0xffff;
}

static uint64_t slot_position(uint64_t head)
{
	return head >> 16 & 0xffff;
}

/* The position counts from the slab or from its first slot. Another slot follows, or the end. */
bool leak_known_layouts_is_slot(const struct leak_block *block, const struct leak_memory *m,
	uint64_t pointer, uint64_t before)
{
	uint64_t at = (pointer - block->addr) / WORD - 1, end = block->size / WORD;
	uint64_t next = at + slot_words(before);
	struct leak_word head = { .addr = block->addr + next * WORD };

	if (slot_words(before) < SLOT_LEAST || slot_position(before) > at ||
		at - slot_position(before) > SLAB_HEADER || next > end)
		return false;
	if (next == end)
		return slot_position(before) > 0;
	m->read(m->ctx, &head, 1);
	return head.ok && slot_words(head.value) >= SLOT_LEAST &&
	       slot_position(head.value) == slot_position(before) + slot_words(before) &&
	       next + slot_words(head.value) <= end;
}

/* ---- marked pointers ---- */

/* The word of a node at the link's offset: empty, or a link to a node of its kind. */
static bool is_link(const struct leak_graph *g, uint64_t value, uint64_t size)
{
	const struct leak_block *b = block_at(g, value & ~(uint64_t)MARKS);

	return (value & ~(uint64_t)MARKS) == 0 || (b && b->size == size);
}

bool leak_known_layouts_is_marked(
	const struct leak_graph *g, const struct leak_memory *m, uint32_t owner, uint64_t pointer)
{
	const struct leak_block *from = &g->blocks->block[owner];
	const struct leak_block *to = block_at(g, pointer & ~(uint64_t)MARKS);
	struct leak_word words[NODE_WORDS], link;
	unsigned n;

	if (!to || to == from || to->size != from->size ||
		from->size > sizeof(uint64_t) * NODE_WORDS)
		return false;
	n = words_read(m, from, from->addr, words, NODE_WORDS);
	for (unsigned i = 0; i < n; i++) {
		if (!words[i].ok || words[i].value != pointer)
			continue;
		link = (struct leak_word){ .addr = to->addr + i * WORD };
		m->read(m->ctx, &link, 1);
		if (link.ok && is_link(g, link.value, to->size))
			return true;
	}
	return false;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads .eh_frame into rules (cfi.h). The loader provides an object's .eh_frame_hdr, whose sorted
 * table leads to the frame description entry (FDE) of a pc. The instructions of its common entry
 * (CIE) and its own are run up to the pc. The objects are mapped and were accepted by the loader,
 * and the C++ runtime trusts the same bytes; still, every read is bounded by the entry's own
 * length.
 */
#include "preload/cfi.h"

#include <stddef.h>

#include "preload/cfi_cache.h"
#include "preload/modules.h"

#define STATES_MAX 4u /* remembered states; compilers nest one */
#define DW_REG_RBP CFI_RULE_REG_RBP
#define DW_REG_RSP CFI_RULE_REG_RSP
#define DW_REG_RA  CFI_RULE_REG_RA

/* ---- reading ---- */

struct reader {
	const uint8_t *at, *end;
	bool bad; /* ran over the end: the values read are invalid */
};

static uint64_t read_bytes(struct reader *r, unsigned bytes)
{
	uint64_t v = 0;

	if ((size_t)(r->end - r->at) < bytes) {
		r->bad = true;
		return 0;
	}
	__builtin_memcpy(&v, r->at, bytes);
	r->at += bytes;
	return v;
}

/* LEB128; *bits: how many the number has, *last: its last byte. */
static uint64_t read_leb(struct reader *r, unsigned *bits, uint8_t *last)
{
	uint64_t v = 0;

	*bits = 0;
	do {
		*last = (uint8_t)read_bytes(r, 1);
		if (*bits < 64)
			v |= (uint64_t)(*last & 0x7f) << *bits;
		*bits += 7;
	} while (*last & 0x80 && !r->bad);
	return v;
}

static uint64_t read_uleb(struct reader *r)
{
	unsigned bits;
	uint8_t last;

	return read_leb(r, &bits, &last);
}

static int64_t read_sleb(struct reader *r)
{
	unsigned bits;
	uint8_t last;
	uint64_t v = read_leb(r, &bits, &last);

	if (last & 0x40 && bits < 64)
		v |= ~0ull << bits;
	return (int64_t)v;
}

static void skip(struct reader *r, uint64_t bytes)
{
	if (bytes > (uint64_t)(r->end - r->at))
		r->bad = true;
	else
		r->at += bytes;
}

#define ENC_PCREL   0x10
#define ENC_DATAREL 0x30
#define ENC_OMIT    0xff

/* An encoded pointer; `data` is the base of DATAREL. Indirect ones (personalities) are not
 * followed. */
static uint64_t read_encoded(struct reader *r, uint8_t encoding, uint64_t data)
{
	uint64_t base = (encoding & 0x70) == ENC_PCREL	   ? (uint64_t)(uintptr_t)r->at
			: (encoding & 0x70) == ENC_DATAREL ? data
							   : 0;

	switch (encoding & 0x0f) {
	case 0x00:
		return base + read_bytes(r, CFI_RULE_WORD);
	case 0x04:
	case 0x0c:
		return base + read_bytes(r, 8);
	case 0x01:
		return base + read_uleb(r);
	case 0x02:
		return base + read_bytes(r, 2);
	case 0x03:
		return base + read_bytes(r, 4);
	case 0x09:
		return base + (uint64_t)read_sleb(r);
	case 0x0a:
		return base + (uint64_t)(int64_t)(int16_t)read_bytes(r, 2);
	case 0x0b:
		return base + (uint64_t)(int64_t)(int32_t)read_bytes(r, 4);
	default:
		r->bad = true;
		return 0;
	}
}

/* ---- from a pc to its entry ---- */

struct entry {
	struct reader cie, fde; /* their instructions */
	uint64_t start, size; /* code covered */
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding;
	bool signal;
};

/* Searches the sorted table of an .eh_frame_hdr: the FDE that begins last at or before pc. */
static const uint8_t *table_search(const uint8_t *hdr, uint64_t pc)
{
	struct reader r = { hdr + 4, hdr + 32, false };
	uint64_t base = (uint64_t)(uintptr_t)hdr, count, low = 0, high;
	const int32_t *table;

	/* Version 1; the table's encoding that every linker writes: 4 bytes, relative to the
	 * header. */
	if (hdr[0] != 1 || hdr[2] == ENC_OMIT || hdr[3] != (ENC_DATAREL | 0x0b))
		return NULL;
	read_encoded(&r, hdr[1], base);
	count = read_encoded(&r, hdr[2], base);
	if (r.bad || count == 0)
		return NULL;
	table = (const int32_t *)(const void *)r.at;
	for (high = count; low < high;) {
		uint64_t mid = (low + high) / 2;

		if (base + (uint64_t)(int64_t)table[2 * mid] <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	return low == 0 ? NULL : hdr + table[2 * (low - 1) + 1];
}

/* The body of an entry in .eh_frame that begins with its length. */
static struct reader entry_body(const uint8_t *p)
{
	uint32_t length;

	__builtin_memcpy(&length, p, sizeof(length));
	/* 64-bit lengths do not occur in .eh_frame of any linker; 0 ends the section. */
	if (length == 0 || length == UINT32_MAX)
		return (struct reader){ p, p, true };
	return (struct reader){ p + 4, p + 4 + length, false };
}

/* The augmentation's data, as "zRSPL" announces it. Unknown letters are skipped by their length. */
static bool cie_augmentation(struct entry *e, const char *text)
{
	uint64_t length;
	const uint8_t *end;

	if (text[0] == '\0')
		return true;
	if (text[0] != 'z')
		return false;
	length = read_uleb(&e->cie);
	end = e->cie.at + length;
	for (const char *c = text + 1; *c; c++) {
		if (*c == 'R')
			e->encoding = (uint8_t)read_bytes(&e->cie, 1);
		else if (*c == 'S')
			e->signal = true;
		else if (*c == 'L')
			read_bytes(&e->cie, 1);
		else if (*c == 'P')
			read_encoded(&e->cie, (uint8_t)read_bytes(&e->cie, 1) & 0x7f, 0);
		else
			break;
	}
	if (e->cie.bad || end > e->cie.end)
		return false;
	e->cie.at = end;
	return true;
}

static bool cie_parse(struct entry *e, const uint8_t *p)
{
	const char *augmentation;
	uint8_t version;
	uint64_t ra;

	e->cie = entry_body(p);
	if (read_bytes(&e->cie, 4) != 0 || e->cie.bad)
		return false; /* not a CIE */
	version = (uint8_t)read_bytes(&e->cie, 1);
	augmentation = (const char *)e->cie.at;
	while (read_bytes(&e->cie, 1) != 0 && !e->cie.bad)
		;
	if (version != 1 && version != 3)
		return false;
	e->code_align = read_uleb(&e->cie);
	e->data_align = read_sleb(&e->cie);
	ra = version == 1 ? read_bytes(&e->cie, 1) : read_uleb(&e->cie);
	return !e->cie.bad && ra == DW_REG_RA && cie_augmentation(e, augmentation);
}

/* Parses the FDE at `p`; false when it does not cover pc. */
static bool fde_parse(struct entry *e, const uint8_t *p, uint64_t pc)
{
	uint32_t back;

	e->fde = entry_body(p);
	if (e->fde.bad)
		return false;
	__builtin_memcpy(&back, e->fde.at, sizeof(back));
	if (back == 0 || !cie_parse(e, e->fde.at - back))
		return false;
	skip(&e->fde, 4);
	e->start = read_encoded(&e->fde, e->encoding, 0);
	e->size = read_encoded(&e->fde, e->encoding & 0x0f, 0);
	skip(&e->fde, read_uleb(&e->fde)); /* augmentation data: the language's own */
	return !e->fde.bad && pc - e->start < e->size;
}

/* ---- running the instructions ---- */

enum where { SAME, AT_CFA, BY_EXPRESSION, UNDEFINED, ELSEWHERE };

struct block {
	const uint8_t *at;
	uint32_t bytes;
};

struct location {
	struct block expression;
	uint32_t where; /* enum where */
	int64_t offset;
};

/* Small: several are on a stack that may be small. */
struct row {
	uint64_t cfa_reg;
	int64_t cfa_offset;
	struct block cfa_expression; /* at != NULL: the CFA is computed */
	struct location rbp, ra;
};

struct machine {
	const struct entry *e;
	struct row row, initial;
	struct row saved[STATES_MAX];
	unsigned saved_count;
	uint64_t location;
};

static struct location *location_of(struct row *row, uint64_t reg)
{
	return reg == DW_REG_RBP ? &row->rbp : reg == DW_REG_RA ? &row->ra : NULL;
}

static void set(struct machine *m, uint64_t reg, enum where where, int64_t offset)
{
	struct location *l = location_of(&m->row, reg);

	if (l)
		*l = (struct location){ .where = where, .offset = offset };
}

static void restore(struct machine *m, uint64_t reg)
{
	struct location *l = location_of(&m->row, reg);

	if (l)
		*l = *location_of(&m->initial, reg);
}

static struct block read_block(struct reader *r)
{
	uint64_t length = read_uleb(r);
	struct block block = { r->at, (uint32_t)length };

	skip(r, length);
	return block;
}

static void define_cfa(struct machine *m, uint64_t reg, int64_t offset)
{
	m->row.cfa_reg = reg;
	m->row.cfa_offset = offset;
	m->row.cfa_expression.at = NULL;
}

/* DW_CFA_* with their operands. False: an unknown instruction. */
static bool extended(struct machine *m, struct reader *r, uint8_t op)
{
	int64_t align = m->e->data_align;
	struct location *l;
	uint64_t reg;

	switch (op) {
	case 0x00: /* nop */
		return true;
	case 0x01: /* set_loc */
		m->location = read_encoded(r, m->e->encoding, 0);
		return true;
	case 0x02: /* advance_loc1, 2, 4 */
	case 0x03:
	case 0x04:
		m->location += read_bytes(r, 1u << (op - 2)) * m->e->code_align;
		return true;
	case 0x05: /* offset_extended */
		reg = read_uleb(r);
		set(m, reg, AT_CFA, (int64_t)read_uleb(r) * align);
		return true;
	case 0x06: /* restore_extended */
		restore(m, read_uleb(r));
		return true;
	case 0x07: /* undefined */
		set(m, read_uleb(r), UNDEFINED, 0);
		return true;
	case 0x08: /* same_value */
		set(m, read_uleb(r), SAME, 0);
		return true;
	case 0x09: /* register */
		set(m, read_uleb(r), ELSEWHERE, 0);
		read_uleb(r);
		return true;
	case 0x0a: /* remember_state */
		if (m->saved_count == STATES_MAX)
			return false;
		m->saved[m->saved_count++] = m->row;
		return true;
	case 0x0b: /* restore_state */
		if (m->saved_count == 0)
			return false;
		m->row = m->saved[--m->saved_count];
		return true;
	case 0x0c: /* def_cfa */
		reg = read_uleb(r);
		define_cfa(m, reg, (int64_t)read_uleb(r));
		return true;
	case 0x0d: /* def_cfa_register */
		define_cfa(m, read_uleb(r), m->row.cfa_offset);
		return true;
	case 0x0e: /* def_cfa_offset */
		m->row.cfa_offset = (int64_t)read_uleb(r);
		return true;
	case 0x0f: /* def_cfa_expression */
		m->row.cfa_expression = read_block(r);
		return true;
	case 0x10: /* expression */
		reg = read_uleb(r);
		set(m, reg, BY_EXPRESSION, 0);
		l = location_of(&m->row, reg);
		if (l)
			l->expression = read_block(r);
		else
			read_block(r);
		return true;
	case 0x11: /* offset_extended_sf */
		reg = read_uleb(r);
		set(m, reg, AT_CFA, read_sleb(r) * align);
		return true;
	case 0x12: /* def_cfa_sf */
		reg = read_uleb(r);
		define_cfa(m, reg, read_sleb(r) * align);
		return true;
	case 0x13: /* def_cfa_offset_sf */
		m->row.cfa_offset = read_sleb(r) * align;
		return true;
	case 0x14: /* val_offset, val_offset_sf: a value, not a place */
	case 0x15:
		set(m, read_uleb(r), ELSEWHERE, 0);
		read_uleb(r);
		return true;
	case 0x16: /* val_expression */
		set(m, read_uleb(r), ELSEWHERE, 0);
		read_block(r);
		return true;
	case 0x2e: /* GNU_args_size */
		read_uleb(r);
		return true;
	case 0x2f: /* GNU_negative_offset_extended */
		reg = read_uleb(r);
		set(m, reg, AT_CFA, -(int64_t)read_uleb(r) * align);
		return true;
	default:
		return CFI_RULE_IS_NOP(op);
	}
}

/* Runs instructions until the row for `pc` is complete. */
static bool run(struct machine *m, struct reader r, uint64_t pc)
{
	while (r.at < r.end && !r.bad) {
		uint8_t op = (uint8_t)read_bytes(&r, 1), low = op & 0x3f;

		if (op >> 6 == 1)
			m->location += low * m->e->code_align;
		else if (op >> 6 == 2)
			set(m, low, AT_CFA, (int64_t)read_uleb(&r) * m->e->data_align);
		else if (op >> 6 == 3)
			restore(m, low);
		else if (!extended(m, &r, op))
			return false;
		if (m->location > pc)
			return true; /* this advance is past it: nothing changed yet */
	}
	return !r.bad;
}

/* ---- from a row to a rule ---- */

#define DW_OP_BREG_RBP (0x70 + DW_REG_RBP)
#define DW_OP_BREG_RSP (0x70 + DW_REG_RSP)
#define DW_OP_DEREF    0x06

/* "breg6 N" and, with `deref`, "breg6 N; deref". */
static bool is_rbp_expression(struct block b, bool deref, int64_t *offset)
{
	struct reader e = { b.at, b.at + b.bytes, false };

	if (read_bytes(&e, 1) != DW_OP_BREG_RBP)
		return false;
	*offset = read_sleb(&e);
	if (deref && read_bytes(&e, 1) != DW_OP_DEREF)
		return false;
	return !e.bad && e.at == e.end;
}

/* The expression that linkers write for a PLT: the entry has pushed once more from `offset` on. */
static bool is_plt_expression(struct block b, int64_t *offset)
{
	static const uint8_t head[] = { DW_OP_BREG_RSP, CFI_RULE_WORD, 0x70 + DW_REG_RA, 0, 0x3f,
		0x1a };
	static const uint8_t tail[] = { 0x2a, 0x30 + CFI_RULE_WORD_LOG2, 0x24, 0x22 };

	if (b.bytes != sizeof(head) + 1 + sizeof(tail) ||
		__builtin_memcmp(b.at, head, sizeof(head)) != 0 ||
		__builtin_memcmp(b.at + sizeof(head) + 1, tail, sizeof(tail)) != 0)
		return false;
	*offset = b.at[sizeof(head)] - 0x30; /* DW_OP_lit0 + n */
	return *offset >= 0 && *offset < 16;
}

static enum cfi_type cfa_type(const struct row *row, int64_t *offset)
{
	*offset = row->cfa_offset;
	if (row->cfa_expression.at)
		return is_rbp_expression(row->cfa_expression, true, offset) ? CFI_DEREF
		       : is_plt_expression(row->cfa_expression, offset)	    ? CFI_PLT
									    : CFI_STOP;
	return row->cfa_reg == DW_REG_RSP   ? CFI_RSP
	       : row->cfa_reg == DW_REG_RBP ? CFI_RBP
					    : CFI_STOP;
}

static enum cfi_rbp rbp_kind(const struct row *row, int64_t *offset)
{
	*offset = row->rbp.offset;
	if (row->rbp.where == SAME)
		return CFI_RBP_SAME;
	if (row->rbp.where == AT_CFA)
		return CFI_RBP_AT_CFA;
	if (row->rbp.where == BY_EXPRESSION &&
		is_rbp_expression(row->rbp.expression, false, offset))
		return CFI_RBP_AT_RBP;
	return CFI_RBP_LOST;
}

static struct cfi_rule rule_of(const struct row *row)
{
	struct cfi_rule_parts p = { 0 };
	struct cfi_rule rule;

	if (row->ra.where == UNDEFINED)
		return (struct cfi_rule){ .type = CFI_END };
	if (row->ra.where != AT_CFA && row->ra.where != SAME)
		return (struct cfi_rule){ .type = CFI_STOP };
	p.ra_offset = row->ra.where == SAME ? CFI_RULE_IN_REGISTER : row->ra.offset;
	p.type = (uint8_t)cfa_type(row, &p.offset);
	p.rbp = (uint8_t)rbp_kind(row, &p.rbp_offset);
	p.rbp_at_cfa = p.rbp == CFI_RBP_AT_CFA;
	if (cfi_rule_make(&p, &rule))
		return rule;
	/* Perhaps only the distance of the saved rbp is too large. */
	p.rbp = CFI_RBP_LOST;
	p.rbp_offset = 0;
	p.rbp_at_cfa = false;
	return cfi_rule_make(&p, &rule) ? rule : (struct cfi_rule){ .type = CFI_STOP };
}

/* Reads the rule at `pc` from the object's own tables. */
static struct cfi_rule rule_read(uint64_t pc)
{
	const uint8_t *hdr = modules_eh_frame_hdr(pc), *fde = hdr ? table_search(hdr, pc) : NULL;
	struct entry e = { .encoding = 0 };
	struct machine m = { .e = &e };

	if (!fde || !fde_parse(&e, fde, pc))
		return (struct cfi_rule){ .type = CFI_NONE };
	if (e.signal)
		return (struct cfi_rule){ .type = CFI_SIGNAL };
	if (!run(&m, e.cie, UINT64_MAX))
		return (struct cfi_rule){ .type = CFI_STOP };
	m.initial = m.row;
	m.location = e.start;
	if (!run(&m, e.fde, pc))
		return (struct cfi_rule){ .type = CFI_STOP };
	return rule_of(&m.row);
}

static bool function_begins(uint64_t pc)
{
	const uint8_t *hdr = modules_eh_frame_hdr(pc), *fde = hdr ? table_search(hdr, pc) : NULL;
	struct entry e = { .encoding = 0 };

	return fde && fde_parse(&e, fde, pc) && e.start == pc;
}

/* The rule of a call, by its return address. A return address where a function begins, without
 * information before it, was put there by makecontext and not by a call: it is the outermost
 * frame's. */
static struct cfi_rule rule_of_call(uint64_t pc)
{
	struct cfi_rule rule = rule_read(pc - 1);

	if (rule.type == CFI_NONE && function_begins(pc))
		rule.type = CFI_END;
	return rule;
}

/* ---- the cache ---- */

void cfi_start(void)
{
	cfi_cache_start();
}

struct cfi_rule cfi_read(uint64_t pc, bool exact, uint64_t key)
{
	struct cfi_cache_place place;
	uint64_t word = cfi_cache_search(key, &place);
	struct cfi_rule rule;

	if (word == 0) {
		rule = exact ? rule_read(pc) : rule_of_call(pc);
		__builtin_memcpy(&word, &rule, sizeof(word));
		cfi_cache_put(&place, key, word);
	}
	__builtin_memcpy(&rule, &word, sizeof(rule));
	return rule;
}

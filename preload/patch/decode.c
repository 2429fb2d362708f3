/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The instruction decoder (decode.h). Pure; any thread, in the program or outside. */
#include "preload/patch/decode.h"

/*
 * What follows an opcode, one letter each:
 *   .  nothing                      m  ModRM                 x  not in 64-bit mode, or unknown
 *   b  1 byte                       M  ModRM and 1 byte      p  a prefix or an escape
 *   w  2 bytes                      e  3 bytes (enter)       o  an address (mov to or from al, rax)
 *   z  4 bytes, 2 with prefix 66    Z  ModRM and that        v  the same, 8 with REX.W
 *   s  a relative address, 1 byte   l  the same, 4 bytes     g, G  ModRM; test has an immediate
 */
static const char one_byte[] = "mmmmbzxxmmmmbzxp" /* 00 */
			       "mmmmbzxxmmmmbzxx" /* 10 */
			       "mmmmbzpxmmmmbzpx" /* 20 */
			       "mmmmbzpxmmmmbzpx" /* 30 */
			       "pppppppppppppppp" /* 40: REX */
			       "................" /* 50 */
			       "xxpmppppzZbM...." /* 60 */
			       "ssssssssssssssss" /* 70 */
			       "MZxMmmmmmmmmmmmm" /* 80 */
			       "..........x....." /* 90 */
			       "oooo....bz......" /* a0 */
			       "bbbbbbbbvvvvvvvv" /* b0 */
			       "MMw.ppMZe.w..bx." /* c0 */
			       "mmmmxxx.mmmmmmmm" /* d0 */
			       "ssssbbbbllxs...." /* e0 */
			       "p.pp..gG......mm"; /* f0 */

static const char two_byte[] = "mmmmx.....x.xm.M" /* 0f 00 */
			       "mmmmmmmmmmmmmmmm" /* 10 */
			       "mmmmxxxxmmmmmmmm" /* 20 */
			       "......x.pxpxxxxx" /* 30 */
			       "mmmmmmmmmmmmmmmm" /* 40 */
			       "mmmmmmmmmmmmmmmm" /* 50 */
			       "mmmmmmmmmmmmmmmm" /* 60 */
			       "MMMMmmm.mmxxmmmm" /* 70 */
			       "llllllllllllllll" /* 80 */
			       "mmmmmmmmmmmmmmmm" /* 90 */
			       "...mMmmm...mMmmm" /* a0 */
			       "mmmmmmmmmmMmmmmm" /* b0 */
			       "mmMmMMMm........" /* c0 */
			       "mmmmmmmmmmmmmmmm" /* d0 */
			       "mmmmmmmmmmmmmmmm" /* e0 */
			       "mmmmmmmmmmmmmmmm"; /* f0 */

/* Opcode maps, as VEX, EVEX and XOP number them. */
enum map { MAP_ONE = 0, MAP_0F = 1, MAP_0F38 = 2, MAP_0F3A = 3, MAP_XOP_8 = 8, MAP_XOP_A = 10 };

struct cursor {
	const uint8_t *code;
	size_t bytes, at;
	bool short_operand, repne, rex_w, small_address;
	bool encoded; /* by VEX, EVEX or XOP */
	bool evex;
	unsigned map;
};

static bool take(struct cursor *c, uint8_t *out)
{
	if (c->at >= c->bytes || c->at >= DECODE_MAX)
		return false;
	*out = c->code[c->at++];
	return true;
}

static bool is_legacy_prefix(uint8_t b)
{
	return b == 0x66 || b == 0x67 || b == 0xf0 || b == 0xf2 || b == 0xf3 || b == 0x2e ||
	       b == 0x36 || b == 0x3e || b == 0x26 || b == 0x64 || b == 0x65;
}

/* Takes the prefixes and the first byte after them. A REX counts only right before the opcode. */
static bool take_prefixes(struct cursor *c, uint8_t *opcode)
{
	for (;;) {
		if (!take(c, opcode))
			return false;
		if (is_legacy_prefix(*opcode)) {
			c->short_operand |= *opcode == 0x66;
			c->small_address |= *opcode == 0x67;
			c->repne |= *opcode == 0xf2;
			c->rex_w = false;
		} else if ((*opcode & 0xf0) == 0x40) {
			c->rex_w = (*opcode & 8) != 0;
		} else {
			return true;
		}
	}
}

/* C5, C4, 62, or 8F where it is XOP: the bytes up to the opcode. */
static bool take_encoding(struct cursor *c, uint8_t first, uint8_t *opcode)
{
	unsigned rest = first == 0xc5 ? 0 : first == 0x62 ? 2 : 1;
	uint8_t b;

	c->encoded = true;
	c->evex = first == 0x62;
	c->map = MAP_0F;
	if (!take(c, &b))
		return false;
	if (first == 0x62)
		c->map = b & 7;
	else if (first != 0xc5)
		c->map = b & 0x1f;
	for (; rest > 0; rest--)
		if (!take(c, &b))
			return false;
	return take(c, opcode);
}

/* The opcode, by which escape or encoding ever. */
static bool take_opcode(struct cursor *c, uint8_t *opcode)
{
	if (!take_prefixes(c, opcode))
		return false;
	if (*opcode == 0xc4 || *opcode == 0xc5 || *opcode == 0x62)
		return take_encoding(c, *opcode, opcode);
	if (*opcode == 0x8f && c->at < c->bytes && (c->code[c->at] & 0x1f) >= MAP_XOP_8)
		return take_encoding(c, *opcode, opcode);
	if (*opcode != 0x0f)
		return true;
	c->map = MAP_0F;
	if (!take(c, opcode))
		return false;
	if (*opcode != 0x38 && *opcode != 0x3a)
		return true;
	c->map = *opcode == 0x38 ? MAP_0F38 : MAP_0F3A;
	return take(c, opcode);
}

static char encoded_shape(const struct cursor *c, uint8_t opcode)
{
	switch (c->map) {
	case MAP_0F:
		if (opcode == 0x77 && !c->evex)
			return '.'; /* vzeroupper, vzeroall */
		return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
				       (opcode >= 0xc4 && opcode <= 0xc6)
			       ? 'M'
			       : 'm';
	case MAP_0F3A:
	case MAP_XOP_8:
		return 'M';
	case MAP_XOP_A:
		return 'Z';
	case MAP_0F38:
	case 5: /* EVEX: half precision */
	case 6:
	case 9: /* XOP */
		return 'm';
	default:
		return 'x';
	}
}

/* The letter of the tables above. */
static char shape_of(const struct cursor *c, uint8_t opcode)
{
	if (c->encoded)
		return encoded_shape(c, opcode);
	if (c->map == MAP_0F38)
		return 'm';
	if (c->map == MAP_0F3A)
		return 'M';
	if (c->map == MAP_0F)
		return two_byte[opcode];
	return one_byte[opcode];
}

/* ModRM, SIB and displacement. */
static bool take_modrm(struct cursor *c, struct decode *out, uint8_t *modrm)
{
	unsigned mod, rm, bytes;
	uint8_t sib;

	out->modrm_at = (uint8_t)c->at;
	if (!take(c, modrm))
		return false;
	mod = *modrm >> 6;
	rm = *modrm & 7;
	if (mod == 3)
		return true;
	bytes = mod == 1 ? 1 : mod == 2 ? 4 : 0;
	if (rm == 4) {
		if (!take(c, &sib))
			return false;
		if (mod == 0 && (sib & 7) == 5)
			bytes = 4;
	} else if (mod == 0 && rm == 5) {
		bytes = 4;
		out->rip_at = (uint8_t)c->at;
	}
	c->at += bytes;
	return true;
}

static unsigned operand_bytes(const struct cursor *c)
{
	return c->short_operand && !c->rex_w ? 2 : 4;
}

/* How many bytes follow ModRM and displacement. */
static unsigned immediate_bytes(const struct cursor *c, char shape, uint8_t opcode, uint8_t modrm)
{
	bool is_test = (modrm >> 3 & 7) < 2;

	/* extrq and insertq of SSE4a */
	if (c->map == MAP_0F && !c->encoded && opcode == 0x78 && (c->short_operand || c->repne))
		return 2;
	switch (shape) {
	case 'b':
	case 'M':
	case 's':
		return 1;
	case 'w':
		return 2;
	case 'e':
		return 3;
	case 'l':
		return 4;
	case 'z':
		return operand_bytes(c);
	case 'Z':
		return c->encoded ? 4 : operand_bytes(c);
	case 'v':
		return c->rex_w ? 8 : operand_bytes(c);
	case 'o':
		return c->small_address ? 4 : 8;
	case 'g':
		return is_test ? 1 : 0;
	case 'G':
		return is_test ? operand_bytes(c) : 0;
	default:
		return 0;
	}
}

static enum decode_kind one_byte_kind(uint8_t opcode, uint8_t modrm)
{
	unsigned group = modrm >> 3 & 7;

	if ((opcode & 0xf0) == 0x70)
		return DECODE_JUMP_IF;
	if (opcode >= 0xe0 && opcode <= 0xe3)
		return DECODE_LOOP;
	switch (opcode) {
	case 0xe8:
		return DECODE_CALL;
	case 0xe9:
	case 0xeb:
		return DECODE_JUMP;
	case 0xc2:
	case 0xc3:
	case 0xca:
	case 0xcb:
	case 0xcf:
	case 0xf4:
		return DECODE_END;
	case 0xcc:
	case 0xf1:
		return DECODE_TRAP;
	case 0xc7:
		return modrm == 0xf8 ? DECODE_BEGIN : DECODE_PLAIN;
	case 0xff:
		return group == 2 || group == 3	  ? DECODE_CALL_INDIRECT
		       : group == 4 || group == 5 ? DECODE_END
						  : DECODE_PLAIN;
	default:
		return DECODE_PLAIN;
	}
}

static enum decode_kind kind_of(const struct cursor *c, uint8_t opcode, uint8_t modrm)
{
	if (c->encoded || c->map > MAP_0F)
		return DECODE_PLAIN;
	if (c->map == MAP_ONE)
		return one_byte_kind(opcode, modrm);
	if ((opcode & 0xf0) == 0x80)
		return DECODE_JUMP_IF;
	return opcode == 0x0b || opcode == 0xff || opcode == 0xb9 ? DECODE_END : DECODE_PLAIN;
}

static bool is_relative(enum decode_kind kind)
{
	return kind == DECODE_JUMP || kind == DECODE_JUMP_IF || kind == DECODE_LOOP ||
	       kind == DECODE_CALL || kind == DECODE_BEGIN;
}

bool decode_at(const uint8_t *code, size_t bytes, struct decode *out)
{
	struct cursor c = { .code = code, .bytes = bytes };
	uint8_t opcode, modrm = 0;
	unsigned immediate;
	char shape;

	*out = (struct decode){ 0 };
	if (!take_opcode(&c, &opcode))
		return false;
	out->opcode_at = (uint8_t)(c.at - 1);
	shape = shape_of(&c, opcode);
	if (shape == 'x' || shape == 'p')
		return false;
	if (__builtin_strchr("mMZgG", shape) && !take_modrm(&c, out, &modrm))
		return false;
	immediate = immediate_bytes(&c, shape, opcode, modrm);
	out->kind = (uint8_t)kind_of(&c, opcode, modrm);
	/* A short relative address: processors differ in what it means. */
	if (is_relative(out->kind) && operand_bytes(&c) == 2)
		return false;
	if (is_relative(out->kind))
		out->relative_at = (uint8_t)c.at;
	c.at += immediate;
	if (c.at > bytes || c.at > DECODE_MAX)
		return false;
	out->length = (uint8_t)c.at;
	out->small_address = c.small_address;
	return true;
}

uint64_t decode_target(const uint8_t *code, const struct decode *d, uint64_t at)
{
	int32_t distance;

	if (d->length - d->relative_at == 1)
		distance = (int8_t)code[d->relative_at];
	else
		__builtin_memcpy(&distance, code + d->relative_at, sizeof(distance));
	return at + d->length + (uint64_t)(int64_t)distance;
}

bool decode_is_filler(const uint8_t *code, const struct decode *d)
{
	uint8_t opcode = code[d->opcode_at];

	if (d->opcode_at > 0 && code[d->opcode_at - 1] == 0x0f && opcode == 0x1f)
		return true;
	/* With REX.B it exchanges registers; F3 makes it pause, which does no harm here. */
	return (opcode == 0xcc && d->length == 1) ||
	       (opcode == 0x90 && d->modrm_at == 0 &&
		       (d->opcode_at == 0 || (code[d->opcode_at - 1] & 0xf1) != 0x41));
}

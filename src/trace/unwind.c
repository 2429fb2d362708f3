/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Unwinding another process (unwind.h) by libunwind, which reads memory and registers through the
 * functions here. The search table of .eh_frame_hdr is read where it is mapped.
 */
#include "src/trace/unwind.h"

#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__
#include <libunwind.h>

/* Exported by libunwind for programs like this one, and in none of its headers. */
#define search_unwind_table UNW_OBJ(dwarf_search_unwind_table)
extern int search_unwind_table(unw_addr_space_t space, unw_word_t ip, unw_dyn_info_t *info,
	unw_proc_info_t *out, int need_unwind_info, void *arg);

#define PAGES 16u /* kept: a stack, and tables of a few modules */
#define PAGE  4096u
#define HEAD  12u /* bytes of .eh_frame_hdr before its table, in the one form that linkers write */
#define HEAD_IS                                                                                    \
	{                                                                                          \
		1, 0x1b, 0x03, 0x3b                                                                \
	}

struct page {
	uint64_t at; /* 0: none */
	uint8_t bytes[PAGE];
};

struct unwinding {
	const struct trace_image *image;
	const struct user_regs_struct *regs;
	bool unknown; /* a frame had no information */
	struct page page[PAGES];
};

static int find_proc_info(
	unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *out, int need, void *arg)
{
	static const uint8_t expected[] = HEAD_IS;
	struct unwinding *u = arg;
	const struct trace_module *m = trace_image_module(u->image, ip);
	uint8_t head[HEAD];
	uint32_t count;
	unw_dyn_info_t info = { 0 };
	int rc = -UNW_ENOINFO;

	if (m && m->frames && trace_memory_read(u->image->memory, m->frames, head, HEAD) &&
		memcmp(head, expected, sizeof(expected)) == 0) {
		memcpy(&count, head + 8, sizeof(count));
		info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
		info.start_ip = m->start;
		info.end_ip = m->end;
		info.u.rti.segbase = m->frames;
		info.u.rti.table_data = m->frames + HEAD;
		info.u.rti.table_len = (unw_word_t)count * 8 / sizeof(unw_word_t);
		rc = search_unwind_table(space, ip, &info, out, need, arg);
	}
	u->unknown |= rc != 0;
	return rc;
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *arg)
{
}

static int get_dyn_info_list(unw_addr_space_t space, unw_word_t *at, void *arg)
{
	return -UNW_ENOINFO;
}

static int access_mem(
	unw_addr_space_t space, unw_word_t at, unw_word_t *value, int write, void *arg)
{
	struct unwinding *u = arg;
	uint64_t start = at & ~(uint64_t)(PAGE - 1);
	struct page *p = &u->page[start / PAGE % PAGES];

	if (write)
		return -UNW_EINVAL;
	if (at % PAGE > PAGE - sizeof(*value))
		return trace_memory_read(u->image->memory, at, value, sizeof(*value)) ? 0
										      : -UNW_EINVAL;
	if (p->at != start) {
		p->at = 0;
		if (!trace_memory_read(u->image->memory, start, p->bytes, PAGE))
			return -UNW_EINVAL;
		p->at = start;
	}
	memcpy(value, p->bytes + at % PAGE, sizeof(*value));
	return 0;
}

static int access_reg(
	unw_addr_space_t space, unw_regnum_t number, unw_word_t *value, int write, void *arg)
{
	const struct user_regs_struct *r = ((struct unwinding *)arg)->regs;
	const unsigned long long of[] = { [UNW_X86_64_RAX] = r->rax,
		[UNW_X86_64_RDX] = r->rdx,
		[UNW_X86_64_RCX] = r->rcx,
		[UNW_X86_64_RBX] = r->rbx,
		[UNW_X86_64_RSI] = r->rsi,
		[UNW_X86_64_RDI] = r->rdi,
		[UNW_X86_64_RBP] = r->rbp,
		[UNW_X86_64_RSP] = r->rsp,
		[UNW_X86_64_R8] = r->r8,
		[UNW_X86_64_R9] = r->r9,
		[UNW_X86_64_R10] = r->r10,
		[UNW_X86_64_R11] = r->r11,
		[UNW_X86_64_R12] = r->r12,
		[UNW_X86_64_R13] = r->r13,
		[UNW_X86_64_R14] = r->r14,
		[UNW_X86_64_R15] = r->r15,
		[UNW_X86_64_RIP] = r->rip };

	if (write || number < 0 || (size_t)number >= sizeof(of) / sizeof(of[0]))
		return -UNW_EBADREG;
	*value = of[number];
	return 0;
}

static int access_fpreg(
	unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value, int write, void *arg)
{
	return -UNW_EBADREG;
}

static int resume(unw_addr_space_t space, unw_cursor_t *cursor, void *arg)
{
	return -UNW_EINVAL;
}

static int get_proc_name(unw_addr_space_t space, unw_word_t at, char *name, size_t bytes,
	unw_word_t *offset, void *arg)
{
	return -UNW_ENOINFO;
}

static bool frame_read(unw_cursor_t *cursor, struct trace_frame *f)
{
	unw_word_t pc, sp;

	if (unw_get_reg(cursor, UNW_REG_IP, &pc) != 0 || unw_get_reg(cursor, UNW_REG_SP, &sp) != 0)
		return false;
	*f = (struct trace_frame){ pc, sp, unw_is_signal_frame(cursor) > 0 };
	return pc != 0;
}

/* libunwind says of the interrupted frame that the one before it is the kernel's. */
static void signal_move(struct trace_frame *frame, size_t n)
{
	if (n == 0 || !frame[n].signal)
		return;
	frame[n].signal = false;
	frame[n - 1].signal = true;
}

static void frames_take(struct trace_unwound *out, struct unwinding *u, unw_addr_space_t space,
	struct trace_frame *frame, size_t most)
{
	unw_cursor_t cursor;
	int more = 1;

	if (unw_init_remote(&cursor, space, u) != 0)
		return;
	while (more > 0 && out->count < most && frame_read(&cursor, &frame[out->count])) {
		signal_move(frame, out->count++);
		more = unw_step(&cursor);
		if (u->unknown)
			return;
	}
	out->whole = more == 0;
}

void trace_unwind(struct trace_unwound *u, const struct trace_image *i,
	const struct user_regs_struct *regs, struct trace_frame *frame, size_t most)
{
	static unw_accessors_t accessors = { .find_proc_info = find_proc_info,
		.put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = get_dyn_info_list,
		.access_mem = access_mem,
		.access_reg = access_reg,
		.access_fpreg = access_fpreg,
		.resume = resume,
		.get_proc_name = get_proc_name };
	unw_addr_space_t space = unw_create_addr_space(&accessors, 0);
	struct unwinding *w = calloc(1, sizeof(*w));

	*u = (struct trace_unwound){ 0 };
	if (space && w) {
		w->image = i;
		w->regs = regs;
		frames_take(u, w, space, frame, most);
	}
	free(w);
	if (space)
		unw_destroy_addr_space(space);
}
#else
void trace_unwind(struct trace_unwound *u, const struct trace_image *i,
	const struct user_regs_struct *regs, struct trace_frame *frame, size_t most)
{
	*u = (struct trace_unwound){ 0 };
}
#endif

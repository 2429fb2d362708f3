/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A character set, as iconv loads and unloads it by libc's own dlopen and dlclose: its conversion
 * allocates a block, and gives up.
 */
#include <gconv.h>
#include <stdlib.h>

int gconv_init(struct __gconv_step *step);
int gconv(struct __gconv_step *step, struct __gconv_step_data *data, const unsigned char **in,
	const unsigned char *in_end, unsigned char **out, size_t *lost, int flush, int incomplete);

int gconv_init(struct __gconv_step *step)
{
	step->__min_needed_from = step->__max_needed_from = 1;
	step->__min_needed_to = step->__max_needed_to = 4;
	step->__stateful = 0;
	return __GCONV_OK;
}

int gconv(struct __gconv_step *step, struct __gconv_step_data *data, const unsigned char **in,
	const unsigned char *in_end, unsigned char **out, size_t *lost, int flush, int incomplete)
{
	void *block = malloc(24);

	__asm__ volatile("" : : "r"(block) : "memory");
	free(block);
	(void)step, (void)data, (void)in, (void)in_end, (void)out, (void)lost, (void)flush;
	(void)incomplete;
	return __GCONV_ILLEGAL_INPUT;
}

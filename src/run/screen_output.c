/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The output of a run's program for the screen (screen_output.h). Main thread. */
#include "src/run/screen_output.h"

#include "src/run/screen_source.h"
#include "src/target/output.h"

size_t screen_output_lines(void *screen)
{
	return output_lines(screen_source_output(screen));
}

uint64_t screen_output_dropped(void *screen)
{
	return output_dropped(screen_source_output(screen));
}

void screen_output_line(void *screen, size_t i, struct term_line *out)
{
	output_line(screen_source_output(screen), i, out);
}

bool screen_output_cursor(void *screen, size_t *line, unsigned *cell)
{
	return output_cursor(screen_source_output(screen), line, cell);
}

void screen_output_type(void *screen, const char *bytes, size_t n)
{
	output_type(screen_source_output(screen), bytes, n);
}

void screen_output_press(void *screen, enum term_press key)
{
	output_press(screen_source_output(screen), key);
}

void screen_output_resize(void *screen, int rows, int cols)
{
	output_resize(screen_source_output(screen), rows, cols);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What resident memory consists of, in one sum (map_account.h). Main thread. */
#include "tui/map_account.h"

#include <stdio.h>
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/draw.h"

#define ONE_LINE 220 /* from this width of the screen on, the sum takes one line */

/* Draws texts one after another, on the next line if one does not fit; with no lines, only finds
 * out how many they take. */
struct flow {
	int y, x, lines, width;
	int taken;
};

static void flow_put(struct flow *f, enum draw_style style, const char *text)
{
	int cells = (int)text_cells(text);

	if (f->x > 1 && f->x + cells > f->width - 1) {
		if (f->taken++ == f->lines) /* a part of the sum without room */
			draw_text(f->y + f->lines - 1,
				f->x < f->width - 2 ? f->x + 1 : f->width - 1, 1, STYLE_DIM,
				draw_glyph(GLYPH_ELLIPSIS_1));
		f->x = 7;
	}
	if (f->taken <= f->lines)
		draw_text(f->y + f->taken - 1, f->x,
			(unsigned)(f->width > f->x ? f->width - f->x : 0), style, text);
	f->x += cells;
}

/* The parts that blocks and the allocator take come first. */
static bool is_heap(unsigned part)
{
	return part <= MAP_PART_FREE;
}

/* "RSS 24M = heap 20M (live 15M + ... + free 2M) + ... + files 3M"; `sums`: with the heap's. */
static int account_put(const struct ui *ui, int y, int lines, bool sums)
{
	const struct map_account *a = &ui->map.map->account;
	struct flow f = { y, 1, lines, ui->layout.width, 1 };
	char text[96], bytes[UNITS_MAX], heap[UNITS_MAX];
	uint64_t sum = 0;
	unsigned parts = 0, put = 0;

	for (unsigned i = 0; is_heap(i); i++) {
		sum += a->part[i];
		parts += a->part[i] > 0;
	}
	snprintf(text, sizeof(text), "RSS %s", units_bytes(bytes, a->rss_bytes));
	flow_put(&f, STYLE_BOLD, text);
	for (unsigned i = 0; i < MAP_PARTS; i++) {
		bool in_sum = sums && parts > 1 && is_heap(i);

		if (!a->part[i])
			continue;
		if (in_sum && put == 0) {
			snprintf(text, sizeof(text), " = heap %s", units_bytes(heap, sum));
			flow_put(&f, STYLE_BOLD, text);
		}
		put++;
		snprintf(text, sizeof(text), "%s%s %s%s",
			put > 1	 ? " + "
			: in_sum ? " ("
				 : " = ",
			map_part_name(i), units_bytes(bytes, a->part[i]),
			in_sum && put == parts ? ")" : "");
		flow_put(&f, i == MAP_PART_FREE ? STYLE_BOLD : STYLE_PLAIN, text);
	}
	return f.taken;
}

int map_account_lines(const struct ui *ui, int most)
{
	bool known = ui->map.map && ui->map.map->account.known;
	int lines = known ? account_put(ui, 0, 0, false) : 2;

	if (ui->layout.width >= ONE_LINE)
		return 1;
	return lines < 2 ? 2 : lines < most ? lines : most;
}

void map_account_draw(const struct ui *ui, int y, int lines)
{
	bool sums = account_put(ui, 0, 0, true) <= lines;

	account_put(ui, y, lines, sums);
}

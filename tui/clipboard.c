/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clipboard (clipboard.h). Called by the site detail on the main thread. */
#include "tui/clipboard.h"

#include <inttypes.h>
#include <string.h>
#include "src/util/text.h"

/* GNU screen accepts strings up to its MAXSTR of 768 bytes and shows the rest as text. */
#define SCREEN_STRING 512

enum clipboard_target clipboard_target(const char *term, const char *tmux)
{
	if (tmux)
		return CLIPBOARD_TMUX;
	return term && !strncmp(term, "screen", 6) ? CLIPBOARD_SCREEN : CLIPBOARD_TERMINAL;
}

const char *clipboard_unsupported(const char *term)
{
	/* The kernel's console, and terminals that print unknown sequences. */
	static const char *const cannot[] = { "linux", "dumb", "vt", "cons", "ansi", "sun", "hurd",
		"cygwin", "unknown", "eterm" };

	if (!term || !*term)
		return "TERM is not set";
	for (size_t i = 0; i < sizeof(cannot) / sizeof(cannot[0]); i++)
		if (!strncmp(term, cannot[i], strlen(cannot[i])))
			return "this terminal type (TERM) has no clipboard (OSC 52)";
	return NULL;
}

static void frame_put(struct strbuf *out, const struct frame *f, uint32_t number)
{
	strbuf_printf(out, "#%-3" PRIu32 " ", number);
	if (f->function)
		strbuf_puts(out, f->function);
	else
		strbuf_printf(out, "?? %s+0x%" PRIx64, f->module->name, f->offset);
	if (f->inlined)
		strbuf_puts(out, " (inlined)");
	if (f->file && f->line)
		strbuf_printf(out, " at %s:%" PRIu32, f->file, f->line);
	else if (f->module->path[0])
		strbuf_printf(out, " in %s", f->module->path);
	strbuf_putc(out, '\n');
}

struct clipboard_result clipboard_text(struct strbuf *out, const struct snap_site *site)
{
	struct clipboard_result r = { 0 };
	struct strbuf line = STRBUF_INIT;
	size_t start = out->len;

	strbuf_printf(out, "site %" PRIu32 ": %s, %" PRIu64 " bytes live in %" PRIu64 " blocks\n",
		site->id, site->alloc_function, site->live_bytes, site->live_blocks);
	for (uint32_t i = 0; i < site->stack->nframes; i++) {
		strbuf_reset(&line);
		frame_put(&line, snapshot_frame(site->stack, i), i);
		if (out->len - start + line.len > CLIPBOARD_BYTES_MAX)
			break;
		strbuf_add(out, line.data, line.len);
		r.frames++;
	}
	out->failed |= line.failed;
	strbuf_free(&line);
	r.bytes = out->len - start;
	return r;
}

static void base64_put(struct strbuf *out, const char *text, size_t len)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *in = (const unsigned char *)text;

	for (size_t i = 0; i < len; i += 3) {
		uint32_t bits = (uint32_t)in[i] << 16;

		bits |= i + 1 < len ? (uint32_t)in[i + 1] << 8 : 0;
		bits |= i + 2 < len ? in[i + 2] : 0;
		strbuf_putc(out, digit[bits >> 18]);
		strbuf_putc(out, digit[bits >> 12 & 63]);
		strbuf_putc(out, i + 1 < len ? digit[bits >> 6 & 63] : '=');
		strbuf_putc(out, i + 2 < len ? digit[bits & 63] : '=');
	}
}

static void sequence_put(struct strbuf *out, const struct strbuf *text)
{
	strbuf_puts(out, "]52;c;");
	base64_put(out, text->data, text->len);
	strbuf_puts(out, "\a");
}

/* Depending on its settings, tmux takes the sequence itself or passes on the wrapped copy. */
static void tmux_put(struct strbuf *out, const struct strbuf *text)
{
	strbuf_puts(out, "\033");
	sequence_put(out, text);
	strbuf_puts(out, "\033Ptmux;\033\033");
	sequence_put(out, text);
	strbuf_puts(out, "\033\\");
}

/* Screen passes device control strings on unchanged, one after another (screen(1), "ESC P"). */
static void screen_put(struct strbuf *out, const struct strbuf *text)
{
	struct strbuf whole = STRBUF_INIT;

	strbuf_puts(&whole, "\033");
	sequence_put(&whole, text);
	for (size_t at = 0, n; at < whole.len; at += n) {
		n = whole.len - at < SCREEN_STRING ? whole.len - at : SCREEN_STRING;
		strbuf_puts(out, "\033P");
		strbuf_add(out, whole.data + at, n);
		strbuf_puts(out, "\033\\");
	}
	out->failed |= whole.failed;
	strbuf_free(&whole);
}

struct clipboard_result clipboard_encode(
	struct strbuf *out, const struct snap_site *site, enum clipboard_target way)
{
	struct strbuf text = STRBUF_INIT;
	struct clipboard_result r = clipboard_text(&text, site);

	if (way == CLIPBOARD_TMUX) {
		tmux_put(out, &text);
	} else if (way == CLIPBOARD_SCREEN) {
		screen_put(out, &text);
	} else {
		strbuf_puts(out, "\033");
		sequence_put(out, &text);
	}
	out->failed |= text.failed;
	strbuf_free(&text);
	return r;
}

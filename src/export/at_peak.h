/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text report on what was live at the program's peak. Main thread. */
#ifndef SRC_EXPORT_AT_PEAK_H
#define SRC_EXPORT_AT_PEAK_H

#include "src/export/export.h"

/* The sites that had most at the peak, one a line; nothing if that is not known. */
void at_peak_text(struct strbuf *out, const struct snapshot *s, const struct export_options *o);
/* A line about one of the sites. */
void at_peak_text_site(struct strbuf *out, const struct snapshot *s, const struct snap_site *site);

#endif

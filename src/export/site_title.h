/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A call site in a line of a report. Pure. */
#ifndef SRC_EXPORT_SITE_TITLE_H
#define SRC_EXPORT_SITE_TITLE_H

#include "src/export/export.h"
#include "src/model/columns.h"

/* How the options have names written, without a limit of width. */
struct row_style site_title_style(const struct export_options *o);
/* Ends a line with the site's name and, unless that is unknown or in the name, its place. */
void site_title(struct strbuf *out, const struct snap_site *site, const struct row_style *style);

#endif

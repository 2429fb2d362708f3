/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tags before modules and sites in a block of kind EVENT_FILE_SITES. */
#ifndef SRC_RECORD_EVENT_TAGS_H
#define SRC_RECORD_EVENT_TAGS_H

enum event_tag { EVENT_TAG_MODULE = 1, EVENT_TAG_SITE = 2 };

#define EVENT_SITES_MAX	  (1u << 22) /* = HT_SITES_MAX */
#define EVENT_MODULES_MAX (1u << 20)
#define EVENT_FRAMES_MAX  1024u /* = HT_DEPTH_MAX */
#define EVENT_INLINES_MAX 256u
#define EVENT_TEXT_MAX	  (1u << 16)

#endif

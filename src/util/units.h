/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Formats numbers for people, the same way on screen, in batch mode and in reports. All functions
 * write at most UNITS_MAX bytes with the NUL into `buf`, never depend on the locale, and return
 * `buf`.
 */
#ifndef SRC_UTIL_UNITS_H
#define SRC_UTIL_UNITS_H

#include <stdint.h>

#define UNITS_MAX 24

/* Bytes, powers of 1024, at most 6 cells: "0", "998", "96.4M", "131.0M", "4.0k", "1.2G". */
char *units_bytes(char buf[UNITS_MAX], uint64_t bytes);
/* Counts, powers of 1000, at most 6 cells: "0", "10,498", "101.2k", "1.24M". */
char *units_count(char buf[UNITS_MAX], uint64_t count);
/* A signed value by one of the two above: "+1.2M", "-96", "0". At most UNITS_MAX + 1 bytes. */
char *units_signed(char *buf, int64_t value, char *(*units)(char buf[UNITS_MAX], uint64_t value));
/* Signed bytes per second: "+1.1M/s", "-96k/s", "0". At most 9 cells. */
char *units_rate(char buf[UNITS_MAX], double bytes_per_s);
/* Events per second, unsigned: "184k/s", "0/s". */
char *units_freq(char buf[UNITS_MAX], double per_s);
/* A duration, at most two units: "210ms", "41s", "12m41s", "3h05m", "2d04h". */
char *units_duration(char buf[UNITS_MAX], uint64_t ns);
/* A percentage of `part` in `whole`, "0" to "100", one decimal below 100: "23.4". */
char *units_percent(char buf[UNITS_MAX], uint64_t part, uint64_t whole);
/* Time as a clock shows it: "12:41", "1:02:03", "2d 03:04:05". */
char *units_uptime(char buf[UNITS_MAX], uint64_t ns);
/* An exact integer with thousands separators: "1,048,576". */
char *units_exact(char buf[UNITS_MAX + 8], uint64_t value);
/* What follows a noun that is counted: "s", or "" for 1. Static. */
const char *units_plural(uint64_t count);
/* Reads "500ms", "2", "0.5", "1s", "2m" as nanoseconds. 0 or -EINVAL. */
int units_parse_duration(const char *text, uint64_t *ns);
/* Reads "4096", "512K", "64m", "2G" as bytes. 0 or -EINVAL. */
int units_parse_bytes(const char *text, uint64_t *bytes);

#endif

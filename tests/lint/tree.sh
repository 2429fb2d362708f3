#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The top level has these entries and no others, besides names with a dot in front.
set -u
cd "$(dirname "$0")/../.." || exit 2

expected="COPYING Makefile README.md man preload shm src tests tui"
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
	# A file that is deleted and not yet committed is still in the index.
	there=$(git ls-files -co --exclude-standard | while read -r f; do [ -e "$f" ] && echo "${f%%/*}"; done)
else
	there=$(for f in *; do [ "$f" = build ] || [ "$f" = "${B:-build}" ] || echo "$f"; done)
fi
there=$(echo "$there" | grep -v '^\.' | LC_ALL=C sort -u | xargs)
if [ "$there" = "$expected" ]; then
	echo "ok - lint_top_level"
else
	echo "not ok - lint_top_level: it has $there; it should have $expected"
fi

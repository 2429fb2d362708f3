#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Both compilers build everything without a warning (warnings are errors in this build).
set -u
cd "$(dirname "$0")/../.." || exit 2
b=${B:-build}

for cc in gcc clang; do
	if ! command -v $cc >/dev/null; then
		echo "skip - lint_$cc: $cc is not installed (make deps)"
	elif out=$(make -s CC=$cc B="$b/$cc" all 2>&1); then
		echo "ok - lint_$cc"
	else
		echo "$out" >&2
		echo "not ok - lint_$cc: $(echo "$out" | grep -m1 -E 'error|warning')"
	fi
done

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# clang-format decides; shellcheck reads the scripts; mandoc the manual pages. LINT_CHANGED: only what
# differs from the last commit.
set -u
cd "$(dirname "$0")/../.." || exit 2

verdict() {
	if [ "$2" -eq 0 ]; then echo "ok - lint_$1"; else echo "not ok - lint_$1: $3"; fi
}

files() { # PATTERN...
	if [ -n "${LINT_CHANGED:-}" ]; then
		git diff --name-only --diff-filter=d HEAD -- "$@"
		git ls-files -o --exclude-standard "$@"
	else
		git ls-files -co --exclude-standard "$@"
	fi
}

if command -v clang-format >/dev/null; then
	bad=$(files '*.c' '*.h' | xargs -r clang-format --dry-run -Werror 2>&1 |
		sed -n 's/^\([^ :]*\):[0-9].*/\1/p' | sort -u | head -5 | tr '\n' ' ')
	[ -z "$bad" ]
	verdict format $? "run clang-format -i on: $bad"
else
	echo "skip - lint_format: clang-format is not installed (make deps)"
fi

if command -v shellcheck >/dev/null; then
	bad=$(files '*.sh' .ci/run | xargs -r shellcheck -S warning -f gcc 2>&1 | head -3)
	[ -z "$bad" ]
	verdict shellcheck $? "$bad"
else
	echo "skip - lint_shellcheck: shellcheck is not installed (make deps)"
fi

if command -v mandoc >/dev/null; then
	# What it says on stderr is apart, since that may come in the middle of a line of stdout.
	bad=$({ mandoc -Tlint -W style man/*.[0-9] 2>/dev/null
		mandoc -Tlint -W style man/*.[0-9] 2>&1 >/dev/null; } | grep -v 'referenced manual not found\|outdated mandoc.db\|^([0-9]* times)$' | head -3)
	[ -z "$bad" ]
	verdict manual $? "$bad"
else
	echo "skip - lint_manual: mandoc is not installed (make deps)"
fi

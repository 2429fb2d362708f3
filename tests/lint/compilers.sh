#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Both compilers build everything without a warning (warnings are errors in this build), and clang
# reads the tests without one. BUILT_BY: the compiler whose build make has just completed so, which
# need not build again. The objects of clang's build serve uncalled.py, too.
# Hangs after 1500 s: three builds of everything, beside the other tests.
set -u
cd "$(dirname "$0")/../.." || exit 2
b=${B:-build}/lint

# No optimisation and no debug information: clang warns of the same without them. gcc warns of some
# things only where it optimises.
flags() {
	if [ "$1" = clang ]; then echo "-O0 -g0 -ffunction-sections"; else echo "-g0"; fi
}

said() { # NAME STATUS OUTPUT
	if [ "$2" -eq 0 ]; then
		echo "ok - lint_$1"
	else
		echo "$3" >&2
		echo "not ok - lint_$1: $(echo "$3" | grep -m1 -E 'error|warning')"
	fi
}

for cc in gcc clang; do
	if [ "${BUILT_BY:-}" = $cc ] && [ $cc = gcc ]; then
		echo "ok - lint_$cc"
	elif ! command -v $cc >/dev/null; then
		echo "skip - lint_$cc: $cc is not installed (make deps)"
	else
		out=$(make -s CC=$cc B="$b/$cc" CFLAGS="$(flags $cc)" all 2>&1)
		said $cc $? "$out"
	fi
done

if command -v clang >/dev/null; then
	out=$(make -s CC=clang B="$b/clang" syntax 2>&1)
	said clang_tests $? "$out"
	python3 tests/lint/uncalled.py "$b/clang"
else
	echo "skip - lint_clang_tests: clang is not installed (make deps)"
	echo "skip - lint_uncalled: clang is not installed (make deps)"
fi

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs every test program and script, several at a time, and counts their lines: "ok - ", "not ok - ",
# "skip - ". A program that ends badly without saying why, or says nothing, is itself a failure.
# Usage: tests/run.sh [PATTERN]   only tests whose path matches the pattern
# TESTS: the test programs that were built (what lies in the build folder may be older).
set -u
cd "$(dirname "$0")/.." || exit 2
export B=${B:-build} LC_ALL=C.UTF-8
export XDG_CONFIG_HOME=/dev/null/none # the user's settings do not reach the tests
unset MAKEFLAGS MAKELEVEL # tests that build have jobs of their own
pattern=${1:-}
built=${TESTS:-}
unset TESTS # long: tests of little memory and small stacks have an environment, too
# Twice the processors: half of the time a test waits, for a program to start, to tick, or to end.
jobs=$((2 * $(nproc)))
logs=$B/tests/log
rm -rf "$logs" && mkdir -p "$logs"
# In memory: tests that are killed leave their files there.
TEST_MEMORY=$(mktemp -d /dev/shm/heaptop-tests.XXXXXX 2>/dev/null || mktemp -d) || exit 2
chmod 711 "$TEST_MEMORY" # some tests run as another user
export TEST_MEMORY
trap 'rm -rf "$TEST_MEMORY"' EXIT
trap 'exit 1' HUP INT TERM

# The long ones first, so that none of them runs alone at the end. Everything built by the other compilers takes as
# long as a tenth of all tests: only with a pattern, as in make lint.
list() {
	local t
	for t in tests/faults/group_g.py tests/lint/compilers.sh tests/e2e/cores.py tests/faults/group_b.py tests/e2e/*.sh tests/e2e/*.py tests/faults/group_*.py tests/tui/*.sh tests/tui/*.py tests/lint/*.sh tests/lint/*.py \
		tests/bench/instructions.py tests/bench/smoke.py tests/bench/miss_path.py tests/fuzz/fuzz.py; do
		[ "$t" = tests/lint/compilers.sh ] && [ -z "$pattern" ] && continue
		[ -f "$t" ] && [ -x "$t" ] && echo "$t"
	done
	for t in $built; do
		case $t in "$B"/tests/tui/show/*) ;; "$B"/tests/unit/* | "$B"/tests/tui/* | "$B"/tests/model/* | "$B"/tests/stress/*) echo "$t" ;; esac
	done
}

# Seconds without a word after which a test hangs. One that builds much says so itself: "# Hangs after N s".
limit() {
	local own
	own=$(head -n 12 "$1" | grep -aoE '^# Hangs after [0-9]+ s' | grep -oE '[0-9]+')
	echo "${own:-${TEST_TIMEOUT:-300}}"
}
export -f limit

# Ends test PID, whose lines go to LOG, when no line came for MOST seconds. A slow machine does not end it.
watch() { # PID LOG MOST
	while sleep 5; do
		[ $(($(date +%s) - $(stat -c %Y "$2"))) -le "$3" ] && continue
		echo "not ok - no word for $3 s, and no end" >>"$2"
		kill "$1"
		return
	done
}
export -f watch

one() {
	local t=$1 name log rc start=$EPOCHSECONDS TIMEFORMAT='%U %S' test watcher
	name=${t//\//_}
	log=$2/$name.log
	: >"$log"
	{
		time {
			timeout -k 5 3600 "$t" >>"$log" 2>"$log.err" </dev/null &
			test=$!
			watch $test "$log" "$(limit "$t")" >/dev/null 2>&1 </dev/null &
			watcher=$!
			wait $test
			rc=$?
			kill $watcher 2>/dev/null
			wait $watcher
		}
	} 2>"$log.used"
	if [ $rc -eq 124 ] || [ $rc -eq 137 ]; then
		echo "not ok - $t: no end within an hour" >>"$log"
	elif [ $rc -ne 0 ] && ! grep -q '^not ok - ' "$log"; then
		echo "not ok - $t: ended with status $rc" >>"$log"
	elif ! grep -qE '^(ok|not ok|skip) - ' "$log"; then
		echo "not ok - $t: ran no test" >>"$log"
	fi
	printf '%-44s %4s ok %3s failed %3s skipped %3s s, %3.0f s of processor time\n' "$t" "$(grep -c '^ok - ' "$log")" \
		"$(grep -c '^not ok - ' "$log")" "$(grep -c '^skip - ' "$log")" $((EPOCHSECONDS - start)) \
		"$(awk 'END { print $1 + $2 }' "$log.used")"
	if grep -q '^not ok - ' "$log"; then
		grep '^not ok - ' "$log" | sed 's/^/    /'
		tail -n 15 "$log.err" | sed 's/^/    | /'
	fi
}
export -f one

list | awk '!seen[$0]++' | { [ -n "$pattern" ] && grep -E -- "$pattern" || cat; } |
	xargs -r -P "$jobs" -I{} bash -c 'one "$1" "$2"' _ {} "$logs"

grep -h '^skip - ' "$logs"/*.log 2>/dev/null | sed 's/^/    /'
# Again at the end, a line each: of a long log the end is what people read.
grep -H '^not ok - ' "$logs"/*.log 2>/dev/null | sed "s|^$logs/||; s|\.log:not ok - |: |; s|^|not ok - |" | cut -c1-300
passed=$(cat "$logs"/*.log 2>/dev/null | grep -c '^ok - ')
failed=$(cat "$logs"/*.log 2>/dev/null | grep -c '^not ok - ')
skipped=$(cat "$logs"/*.log 2>/dev/null | grep -c '^skip - ')
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

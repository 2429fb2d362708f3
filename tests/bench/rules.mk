# SPDX-License-Identifier: GPL-3.0-or-later
# make bench: what heaptop costs, measured. It prints and never fails on a time.
BENCH_ROUNDS ?= 5

$(B)/tests/bench/%: tests/bench/%.c Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -I. -D_GNU_SOURCE -std=gnu11 -O2 -g -Wall -Wextra -fno-builtin -fno-optimize-sibling-calls \
		-o $@ $< -lpthread

.PHONY: bench instructions
bench: all $(B)/tests/bench/micro $(B)/tests/targets/many_sites
	$(Q)B='$(B)' tests/bench/bench.py --rounds $(BENCH_ROUNDS) --output '$(B)/bench.json'

# Instructions per pair by callgrind: the same on every machine, for comparing two versions.
instructions: all $(B)/tests/bench/micro
	$(Q)B='$(B)' tests/bench/instructions.py

# SPDX-License-Identifier: GPL-3.0-or-later
# make bench: what heaptop costs, measured. It prints and never fails on a time.
BENCH_ROUNDS ?= 5

BENCH_CC = $(CC) -I. -D_GNU_SOURCE -std=gnu11 -O2 -g -Wall -Wextra
BENCH := $(B)/tests/bench

# As a normal program is built: optimised, without frame pointers.
$(BENCH)/micro: tests/bench/micro.c tests/bench/rules.mk Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(BENCH_CC) -o $@ $< -lpthread

$(BENCH)/micro-new: tests/bench/micro.c tests/bench/rules.mk Makefile
	$(call say,CC,$< (new))
	@mkdir -p $(@D)
	$(Q)$(BENCH_CC) -DBENCH_NEW -o $@ $< -lpthread -lstdc++

$(BENCH)/%.so: tests/bench/%.c tests/bench/rules.mk Makefile
	$(call say,CC.so,$<)
	@mkdir -p $(@D)
	$(Q)$(BENCH_CC) -fPIC -shared -o $@ $<

.PHONY: bench bench-instructions
bench: all $(BENCH)/micro $(B)/tests/targets/many_sites
	$(Q)B='$(B)' tests/bench/bench.py --rounds $(BENCH_ROUNDS) --output '$(B)/bench.json'

# Counted, not timed: the same on every machine. make check compares them with the accepted ones.
BENCH_COUNTED := $(BENCH)/micro $(BENCH)/micro-new $(BENCH)/steady_clock.so
bench-instructions: $(LIB) $(BENCH_COUNTED)
	$(Q)B='$(B)' tests/bench/instructions.py $(if $(filter 1,$(ACCEPT)),--accept,--show) \
		$(if $(filter 1,$(FUNCTIONS)),--functions) \
		$(if $(T),--only '$(T)')
TEST_EXTRA += $(BENCH_COUNTED)

# SPDX-License-Identifier: GPL-3.0-or-later
# make bench: what heaptop costs, measured. It prints and never fails on a time.
BENCH_ROUNDS ?= 5

BENCH := $(B)/tests/bench
BENCH_DEPS := tests/bench/rules.mk Makefile
BENCH_CC = $(CC) -I. -D_GNU_SOURCE -std=gnu11 -O2 -g $(WARN)

# $(call bench_program,name,source,what builds it): built optimised and without frame pointers, as
# programs are, unless it says otherwise.
define bench_program
$(BENCH)/$(1): tests/bench/$(2) $$(BENCH_DEPS)
	$$(call say,CC,$$< > $(1))
	@mkdir -p $$(@D)
	$$(Q)$(3)
BENCH_BUILT += $(BENCH)/$(1)
endef

$(eval $(call bench_program,micro,micro.c,$$(BENCH_CC) -o $$@ $$< -lpthread))
$(eval $(call bench_program,micro-new,micro.c,$$(BENCH_CC) -DBENCH_NEW -o $$@ $$< -lpthread -lstdc++))
$(eval $(call bench_program,micro-own,micro.c,$$(BENCH_CC) -fno-builtin -DBENCH_NEW -DBENCH_OWN_NEW -o $$@ $$< -lpthread))
$(eval $(call bench_program,micro-fp,micro.c,$$(BENCH_CC) -fno-omit-frame-pointer -o $$@ $$< -lpthread))
$(eval $(call bench_program,stacks,stacks.c,$$(BENCH_CC) -o $$@ $$< -lpthread))
$(eval $(call bench_program,control_flow,control_flow.cc,$$(CXX) -std=gnu++17 -O2 -g -Wall -Wextra -o $$@ $$< -ldl))
$(eval $(call bench_program,usage,usage.c,$$(BENCH_CC) -o $$@ $$<))
$(eval $(call bench_program,storm,storm.c,$$(BENCH_CC) -o $$@ $$<))
$(eval $(call bench_program,allocbound,allocbound.cc,$$(CXX) -std=gnu++17 -O2 -g -Wall -Wextra -o $$@ $$<))
$(eval $(call bench_program,attach_pairs,attach_pairs.c,$$(BENCH_CC) -o $$@ $$< -lpthread))
$(eval $(call bench_program,leak_pause,leak_pause.c,$$(BENCH_CC) -o $$@ $$<))
$(eval $(call bench_program,live_table,live_table.c,$$(BENCH_CC) -o $$@ $$< $$(SHM_PLAIN)))
$(eval $(call bench_program,steady_clock.so,steady_clock.c,$$(BENCH_CC) -fPIC -shared -o $$@ $$<))
$(eval $(call bench_program,walker-fp.so,walker.c,$$(BENCH_CC) -fno-omit-frame-pointer -fPIC -shared -o $$@ $$<))
$(eval $(call bench_program,walker-unwind.so,walker.c,$$(BENCH_CC) -DWALKER_LIBUNWIND -fPIC -shared -o $$@ $$< -lunwind))
BENCH_BUILT += $(BENCH)/frame

# The same as stacks, with a thousand functions. It takes ten seconds to build, so only the bench has it.
WIDE_FUNCTIONS := 1000
$(BENCH)/functions.h: tests/bench/functions.py $(BENCH_DEPS)
	$(call say,PYTHON,$@)
	@mkdir -p $(@D)
	$(Q)tests/bench/functions.py $(WIDE_FUNCTIONS) >$@
$(BENCH)/stacks-wide: tests/bench/stacks.c $(BENCH)/functions.h
	$(call say,CC,$< > stacks-wide)
	$(Q)$(BENCH_CC) -O1 -g0 -DFUNCTIONS=$(WIDE_FUNCTIONS)u -DSTACKS_FUNCTIONS='"$(abspath $(BENCH)/functions.h)"' \
		-o $@ $< -lpthread
# The library for counting, whose cycle counter does not depend on the load of the machine.
$(BENCH)/steady/tick.o: preload/tick.c tests/bench/steady_cycles.h $(BENCH_DEPS) $(LIB)
	$(call say,CC.so,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(UNWIND_CFLAGS) $(CFLAGS_ALL) $(PRELOAD_CFLAGS) \
		-include tests/bench/steady_cycles.h -c -o $@ $<
$(BENCH)/steady/libheaptop.so: $(BENCH)/steady/tick.o $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(PRELOAD_LDFLAGS) -o $@ \
		$(patsubst $(B)/so/preload/tick.o,$<,$(PRELOAD_OBJ))
BENCH_BUILT += $(BENCH)/steady/libheaptop.so
$(BENCH)/attach_pairs: tests/faults/targets/attach_page.h
# As the stress tests have them.
SHM_PLAIN := $(SHM_SRC:%.c=$(B)/stress/plain/%.o)
$(BENCH)/live_table: $(SHM_PLAIN)

TEST_EXTRA += $(BENCH_BUILT)

.PHONY: bench bench-programs bench-readme bench-instructions bench-attach bench-against
bench: all $(BENCH_BUILT) $(BENCH)/stacks-wide $(B)/tests/targets/many_sites
	$(Q)B='$(B)' tests/bench/bench.py --rounds $(BENCH_ROUNDS) --output '$(B)/bench.json' \
		$(if $(filter 1,$(QUICK)),--quick) \
		$(if $(filter 1,$(BENCH_PROGRAMS)),--programs) $(if $(T),--only '$(T)')

# The real programs of the fault matrix alone.
bench-programs: all $(BENCH)/usage
	$(Q)B='$(B)' tests/bench/bench.py --rounds $(BENCH_ROUNDS) --output '$(B)/bench-programs.json' \
		--only '^slowdown: .*($(T))'

# The same rows with the library OLD, of another tree, and with this one.
bench-against: all $(BENCH_BUILT) $(BENCH)/stacks-wide
	$(Q)B='$(B)' tests/bench/against.py --rounds $(BENCH_ROUNDS) $(if $(T),--only '$(T)') '$(OLD)'

# What attaching to a running program costs.
bench-attach: all $(BENCH)/attach_pairs $(FAULT_TARGETS)
	$(Q)B='$(B)' tests/bench/attach.py

# The last run's tables, into the places that tests/bench/README.md and README.md have for them; with
# T, those of the last run with T, which measured a part.
bench-readme:
	$(Q)for file in tests/bench/README.md README.md; do \
		B='$(B)' tests/bench/bench.py --readme $$file --output '$(B)/bench.json$(if $(T),.part)' || exit 1; \
	done

# Counted, not timed: the same on every machine. make check compares them with the accepted ones.
bench-instructions: $(BENCH)/steady/libheaptop.so $(BENCH)/micro $(BENCH)/micro-new $(BENCH)/micro-own $(BENCH)/stacks \
		$(BENCH)/steady_clock.so
	$(Q)B='$(B)' tests/bench/instructions.py $(if $(filter 1,$(ACCEPT)),--accept,--show) \
		$(if $(filter 1,$(FUNCTIONS)),--functions) \
		$(if $(T),--only '$(T)')

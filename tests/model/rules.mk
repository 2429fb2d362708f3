# SPDX-License-Identifier: GPL-3.0-or-later
# Model tests: shm/ and the scenarios with the thread sanitizer's instrumentation, linked with the
# checker in place of the sanitizer. Rings, probes, pieces and the history are small, so that they
# wrap, overflow, end and merge at once.

MODEL_PROGRAMS := buffering ring levels direct walk stack ancestor tables peak space mappings start
MODEL_SMALL := -DHT_RING_EVENTS=2u -DHT_PROBE_BUCKETS=2u -DHT_INDEX_SLOTS=2u -DHT_INDEX_PROBE_LINES=2u -DHT_HISTORY_POINTS=4u -DHT_PIECE_SHIFT=16u
MODEL_FLAGS = $(CPPFLAGS_ALL) -std=gnu11 -g $(MODEL_SMALL) $(WARN) $(CFLAGS)
# gcc says that its sanitizer does not follow fences; ours does.
MODEL_SHM_FLAGS = $(MODEL_FLAGS) -O1 -fsanitize=thread \
	$(shell $(CC) -Werror -Wno-tsan -x c -c -o /dev/null /dev/null 2>/dev/null && echo -Wno-tsan)
MODEL_DEPS := $(wildcard tests/model/*.h shm/*.h) preload/state.h tests/model/rules.mk Makefile
MODEL_ENGINE := $(B)/model/search.o $(addprefix $(B)/model/,memory.o future.o segment.o hooks.o)
MODEL_SHM := $(SHM_SRC:%.c=$(B)/model/%.o)

$(MODEL_ENGINE): $(B)/model/%.o: tests/model/%.c $(MODEL_DEPS)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(MODEL_FLAGS) -O2 -c -o $@ $<

$(MODEL_SHM): $(B)/model/%.o: %.c $(MODEL_DEPS)
	$(call say,CC.model,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(MODEL_SHM_FLAGS) -c -o $@ $< && objcopy --redefine-sym memcpy=model_memcpy $@

$(MODEL_PROGRAMS:%=$(B)/model/%.o): $(B)/model/%.o: tests/model/%.c $(MODEL_DEPS)
	$(call say,CC.model,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(MODEL_SHM_FLAGS) -c -o $@ $< && objcopy --redefine-sym memcpy=model_memcpy $@

$(MODEL_PROGRAMS:%=$(B)/tests/model/%): $(B)/tests/model/%: $(B)/model/%.o $(MODEL_SHM) $(MODEL_ENGINE)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -o $@ $^

# In parts, so that the test runner has them beside each other.
MUTANTS := $(foreach part,0 1 2 3,$(B)/tests/model/mutants-$(part))
$(MUTANTS): $(B)/tests/model/mutants-%: tests/model/mutants.sh $(MODEL_PROGRAMS:%=$(B)/tests/model/%)
	$(call say,GEN,$@)
	$(Q)printf '#!/bin/sh\nexport MODEL_CC="%s" MODEL_OBJ="%s"\nexport MODEL_SHM_FLAGS='"'%s'"'\nexec tests/model/mutants.sh $* 4\n' \
		'$(CC)' '$(B)/model' '$(filter-out -Werror -g -DHEAPTOP_VERSION=%,$(MODEL_SHM_FLAGS))' >$@
	$(Q)chmod +x $@

MODEL_TESTS := $(MODEL_PROGRAMS:%=$(B)/tests/model/%)
TEST_EXTRA += $(MODEL_TESTS) $(MUTANTS)

# SPDX-License-Identifier: GPL-3.0-or-later
# Fuzzing, with the address and undefined-behaviour sanitizers. `make fuzz` runs each target under
# libFuzzer (clang) for FUZZ_SECONDS, from the seeds in tests/fuzz/corpus; what it finds on the way is
# kept in $(B)/fuzz/found, and an input that fails in $(B)/fuzz. FUZZ names some of the targets;
# FUZZ_LEDGER a file that sums up many runs.
# `make check` gives each a fixed number of inputs (fuzz.py), from the same seeds and the same dice.
# Without clang, `make fuzz_alone` runs the reader's on FUZZ_COUNT inputs that it makes up itself;
# `read_alone FILE` runs one of your own. `make fuzz_keys` gives the screen KEYS_EVENTS random keys, clicks
# and sizes, which needs no libFuzzer to be worth its time.

FUZZ_SECONDS ?= 60
FUZZ_COUNT   ?= 20000
KEYS_EVENTS  ?= 1000000
FUZZ_ALL     := far read show proc sym demangle text json record events core keys
FUZZ	     ?= $(FUZZ_ALL)
FUZZ_CLANG   ?= clang
FUZZ_SAN     := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FUZZ_CC	     = $(FUZZ_CLANG) -std=gnu11 -O1 -gline-tables-only $(FUZZ_SAN) $(WARN) $(CFLAGS)
# The rooms that the targets link anything of: a third of the viewer is never built so.
FUZZ_ROOMS   := shm tui $(addprefix src/,core export far marks memory model proc read record session sym target util)
FUZZ_OBJ     := $(patsubst %.c,$(B)/fuzz/obj/%.o,$(filter $(FUZZ_ROOMS:%=%/%),$(VIEW_SRC) $(SHM_SRC)))
FUZZ_SRC_read := $(sort $(wildcard src/read/*.c src/util/*.c)) $(SHM_SRC)

$(B)/fuzz/obj/%.o: %.c Makefile tests/fuzz/rules.mk
	$(call say,CC.fuzz,$<)
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(CPPFLAGS_ALL) -DFUZZ_LIBFUZZER -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<

# All that the targets may want of the viewer, made once.
FUZZ_VIEWER := $(B)/fuzz/viewer.a
$(FUZZ_VIEWER): $(FUZZ_OBJ) $(B)/viewer.list
	$(Q)rm -f $@ && $(AR) rcsT $@ $(FUZZ_OBJ)

$(FUZZ_ALL:%=$(B)/fuzz/%): $(B)/fuzz/%: $(B)/fuzz/obj/tests/fuzz/%_fuzz.o $(B)/viewer.list | $(FUZZ_VIEWER)
	$(call link_viewer,$(FUZZ_CC) -fsanitize=fuzzer,$(FUZZ_VIEWER))

# What sym_fuzz changes.
$(B)/fuzz/sym_base: tests/fuzz/sym_base.cc
	@mkdir -p $(@D)
	$(Q)$(CXX) -g -O1 -fPIC -shared -nostdlib -o $@ $<

ifneq ($(shell command -v $(FUZZ_CLANG)),)
TEST_EXTRA += $(FUZZ_ALL:%=$(B)/fuzz/%) $(B)/fuzz/sym_base $(B)/fuzz/keys_alone
endif

$(B)/fuzz/read_alone: tests/fuzz/read_fuzz.c $(FUZZ_SRC_read) Makefile tests/fuzz/rules.mk
	$(call say,CC.fuzz,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) -std=gnu11 -O1 -g $(WARN) $(CFLAGS) $(FUZZ_SAN) -MMD -MP -o $@ $< $(FUZZ_SRC_read)

$(B)/fuzz/keys_alone.o: tests/fuzz/keys_fuzz.c Makefile tests/fuzz/rules.mk
	$(call say,CC.fuzz,$<)
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(CPPFLAGS_ALL) -MMD -MP -c -o $@ $<

$(B)/fuzz/keys_alone: %: %.o $(B)/viewer.list | $(FUZZ_VIEWER)
	$(call link_viewer,$(FUZZ_CC),$(FUZZ_VIEWER))

.PHONY: fuzz fuzz_alone fuzz_keys
fuzz: $(FUZZ:%=$(B)/fuzz/%) $(B)/fuzz/sym_base
	$(Q)B='$(B)' tests/fuzz/fuzz.py --seconds $(FUZZ_SECONDS) $(FUZZ_LEDGER:%=--ledger %) $(FUZZ)

fuzz_alone: $(B)/fuzz/read_alone
	$(B)/fuzz/read_alone $(FUZZ_COUNT)

fuzz_keys: $(B)/fuzz/keys_alone
	$(Q)B='$(B)' tests/fuzz/fuzz.py --events $(KEYS_EVENTS) $(FUZZ_LEDGER:%=--ledger %)

# SPDX-License-Identifier: GPL-3.0-or-later
# Fuzzing, with the address and undefined-behaviour sanitizers. `make fuzz` runs each target under
# libFuzzer (clang) for FUZZ_SECONDS, from the seeds in tests/fuzz/corpus; what it finds on the way is
# kept in $(B)/fuzz/found, and an input that fails in $(B)/fuzz. FUZZ names some of the targets.
# Without clang, `make fuzz_alone` runs the reader's on FUZZ_COUNT inputs that it makes up itself;
# `read_alone FILE` runs one of your own.

FUZZ_SECONDS ?= 60
FUZZ_COUNT   ?= 20000
FUZZ	     ?= read proc text demangle
FUZZ_CLANG   ?= clang
FUZZ_SAN     := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FUZZ_HEADERS := $(wildcard shm/*.h src/*/*.h tests/unit/*.h) Makefile tests/fuzz/rules.mk

FUZZ_SRC_read := $(sort $(wildcard src/read/*.c src/util/*.c)) $(SHM_SRC)
FUZZ_SRC_proc := $(sort $(wildcard src/proc/*.c src/util/*.c))
FUZZ_SRC_text := $(sort $(wildcard src/util/*.c)) src/target/output.c
FUZZ_SRC_demangle := $(sort $(wildcard src/util/*.c)) src/sym/demangle.c
FUZZ_LIBS_demangle := -liberty
FUZZ_ARGS_read := -max_len=768
FUZZ_ARGS_text := -max_len=4096
FUZZ_ARGS_demangle := -max_len=512

# Deep names need the stack that the worker thread has (DEMANGLE_STACK_BYTES).
FUZZ_BEFORE_demangle := ulimit -s 65536 &&

# $(call fuzz_program,NAME)
define fuzz_program
$(B)/fuzz/$(1): tests/fuzz/$(1)_fuzz.c $$(FUZZ_SRC_$(1)) $$(FUZZ_HEADERS)
	$$(call say,FUZZ,$$<)
	@mkdir -p $$(@D)
	$$(Q)$$(FUZZ_CLANG) $$(CPPFLAGS_ALL) -DFUZZ_LIBFUZZER -std=gnu11 -O1 -g $$(WARN) $$(CFLAGS) \
		-fsanitize=fuzzer $$(FUZZ_SAN) -o $$@ $$< $$(FUZZ_SRC_$(1)) $$(FUZZ_LIBS_$(1))

.PHONY: fuzz_$(1)
fuzz_$(1): $(B)/fuzz/$(1)
	@mkdir -p $(B)/fuzz/found/$(1)
	$$(FUZZ_BEFORE_$(1)) $(B)/fuzz/$(1) -max_total_time=$$(FUZZ_SECONDS) -artifact_prefix=$(B)/fuzz/$(1)- \
		-print_final_stats=1 $$(FUZZ_ARGS_$(1)) $(B)/fuzz/found/$(1) tests/fuzz/corpus/$(1)
endef

$(foreach t,read proc text demangle,$(eval $(call fuzz_program,$(t))))

$(B)/fuzz/read_alone: tests/fuzz/read_fuzz.c $(FUZZ_SRC_read) $(FUZZ_HEADERS)
	$(call say,CC.fuzz,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) -std=gnu11 -O1 -g $(WARN) $(CFLAGS) $(FUZZ_SAN) -o $@ $< $(FUZZ_SRC_read)

.PHONY: fuzz fuzz_alone
fuzz: $(addprefix fuzz_,$(FUZZ))

fuzz_alone: $(B)/fuzz/read_alone
	$(B)/fuzz/read_alone $(FUZZ_COUNT)

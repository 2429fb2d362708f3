# SPDX-License-Identifier: GPL-3.0-or-later
# Fuzz drivers, with the address and undefined-behaviour sanitizers. `make fuzz` runs each for
# FUZZ_COUNT made-up inputs; `read_fuzz FILE` runs one of your own.

FUZZ_COUNT ?= 20000
FUZZ_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FUZZ_READ := $(sort $(wildcard src/read/*.c src/util/*.c)) $(SHM_SRC)

$(B)/fuzz/read_fuzz: tests/fuzz/read_fuzz.c $(FUZZ_READ) $(wildcard shm/*.h src/read/*.h tests/unit/*.h) Makefile
	$(call say,CC.fuzz,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) -std=gnu11 -O1 -g $(WARN) $(CFLAGS) $(FUZZ_FLAGS) -o $@ $< $(FUZZ_READ)

.PHONY: fuzz
fuzz: $(B)/fuzz/read_fuzz
	$(B)/fuzz/read_fuzz $(FUZZ_COUNT)

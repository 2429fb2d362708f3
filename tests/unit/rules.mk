# SPDX-License-Identifier: GPL-3.0-or-later
# The tests of preload/ compile the file they test into themselves, with stand-ins for the rest of
# that room; so they must be made again when it changes.
$(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/unit/preload_*.c)): $(PRELOAD_SRC) \
	$(wildcard preload/*.h shm/*.h)
# Looked up by others, and by either hash.
$(B)/tests/unit/preload_symbols: private VIEW_LIBS += -rdynamic -Wl,--hash-style=both

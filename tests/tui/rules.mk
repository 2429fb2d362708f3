# SPDX-License-Identifier: GPL-3.0-or-later
# The screen with canned data, for the tests in a terminal and for looking.
TUI_EXTRA := $(B)/tests/tui/show/show

# A terminal to look at; without libvterm the tests that need it say so (libvterm-dev).
ifneq ($(if $(NEED_LIBS),$(shell $(PKGCONF) --exists vterm 2>/dev/null && echo yes)),)
TUI_EXTRA += $(B)/tests/tui-emulator
endif
TEST_EXTRA += $(TUI_EXTRA)

$(B)/tests/tui-emulator: tests/tui/emulator/emulator.c Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O1 -g $(WARN) $(shell $(PKGCONF) --cflags vterm 2>/dev/null) -o $@ $< -lvterm

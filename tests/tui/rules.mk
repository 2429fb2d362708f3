# SPDX-License-Identifier: GPL-3.0-or-later
# The screen with canned data, for the tests in a terminal and for looking.
TEST_EXTRA += $(B)/tests/tui-show

$(B)/tests/tui-show: tests/tui/show/show.c tests/tui/canned.h $(VIEW_OBJ) Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(VIEW_CFLAGS) $(CFLAGS_ALL) $(VIEW_SAN) -o $@ $< $(VIEW_OBJ) $(VIEW_LIBS) -lpthread

# SPDX-License-Identifier: GPL-3.0-or-later
# Its symbols are looked up by others, and by either hash.
$(B)/tests/unit/preload_symbols: private VIEW_LIBS += -rdynamic -Wl,--hash-style=both

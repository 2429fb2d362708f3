// SPDX-License-Identifier: GPL-3.0-or-later
// Asks every operator new for what it must refuse, and prints how each does, and what the handler
// saw. In a program written in C the C++ runtime comes with this library, or is part of it
// (refused_inside.so).
#include <cstdint>
#include <cstdio>
#include <new>

static volatile std::size_t huge = SIZE_MAX / 4 * 3;
static int handled;

static void handler()
{
	if (++handled % 2 == 0)
		std::set_new_handler(nullptr);
}

template <typename call> static void ask(const char *what, call get)
{
	void *p = nullptr;

	std::set_new_handler(handler);
	try {
		p = get();
		std::printf("%s: %s", what, p ? "memory" : "none");
	} catch (const std::bad_alloc &) {
		std::printf("%s: an exception", what);
	}
	std::printf(", %d calls of the handler\n", handled);
}

static void ask_aligned(std::size_t bytes, std::size_t wanted)
{
	const std::align_val_t align{ wanted };

	std::printf("aligned to %zu\n", wanted);
	ask("new", [=] { return operator new(bytes, align); });
	ask("new[]", [=] { return operator new[](bytes, align); });
	ask("new, nothrow", [=] { return operator new(bytes, align, std::nothrow); });
	ask("new[], nothrow", [=] { return operator new[](bytes, align, std::nothrow); });
}

extern "C" void *plugin_run(void)
{
	volatile std::size_t none = 0, odd = 24;

	ask("new", [] { return operator new(huge); });
	ask("new[]", [] { return operator new[](huge); });
	ask("new, nothrow", [] { return operator new(huge, std::nothrow); });
	ask("new[], nothrow", [] { return operator new[](huge, std::nothrow); });
	ask_aligned(huge, 64);
	ask_aligned(100, none);
	ask_aligned(100, odd);
	std::fflush(stdout);
	return nullptr;
}

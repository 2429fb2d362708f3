// SPDX-License-Identifier: GPL-3.0-or-later
// Leaking programs in C++, to be ended in every way (exit_ways.h). Their classes are memcheck's:
// tests/e2e/exit_matrix.py.
#include "tests/targets/exit_ways.h"

#include <memory>
#include <string>
#include <vector>

namespace
{
	const char *const text = "a text that is longer than what a string keeps in itself";

	using strings = std::vector<std::string>;

	__attribute__((noinline)) strings *strings_make(size_t n)
	{
		auto *made = new strings;

		made->reserve(n);
		for (size_t i = 0; i < n; i++)
			made->emplace_back(text);
		return made;
	}

	void vector_lost()
	{
		strings_make(10);
		finish();
	}

	struct named {
		std::string name = text;
		virtual ~named() = default;
	};
	struct counted {
		long count = 1;
		virtual ~counted() = default;
	};
	struct both : named, counted {
		std::unique_ptr<strings> lines{ strings_make(3) };
	};

	counted *volatile second_base;

	// The program keeps it by its second base: a pointer into it.
	void second_base_held()
	{
		second_base = new both;
		finish();
	}

	// Its destructor, which exit calls, frees one and loses another.
	struct keeper {
		std::unique_ptr<strings> kept;
		strings *lost = nullptr;
		~keeper()
		{
			lost = nullptr;
		}
	};

	keeper at_end;

	void static_held()
	{
		at_end.kept.reset(strings_make(5));
		at_end.lost = strings_make(7);
		finish();
	}

	const exit_case cases[] = {
		{ "vector", vector_lost },
		{ "second_base", second_base_held },
		{ "static", static_held },
		{ nullptr, nullptr },
	};
}

int main(int argc, char **argv)
{
	return argc == 3 ? exit_by_way(cases, argv[1], argv[2]) : 2;
}

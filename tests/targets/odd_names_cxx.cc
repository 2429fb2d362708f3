/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * C++ for the tests of formats: templates, operators, lambdas and inlined functions in the stacks.
 * Ends by SIGKILL, so that its segment stays.
 */
#include <csignal>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

namespace shop {

template <typename Key, typename Value> struct Store {
	std::map<Key, std::vector<Value>> all;

	__attribute__((noinline)) void operator()(const Key &key, int n)
	{
		for (int i = 0; i < n; i++)
			all[key].push_back(Value(static_cast<std::size_t>(40 + i), 'x'));
	}
};

} // namespace shop

int main()
{
	static shop::Store<std::string, std::string> store;
	auto fill = [](int n) __attribute__((noinline)) { store("a key that is not short at all", n); };

	for (int i = 1; i < 30; i++)
		fill(i);
	kill(getpid(), SIGKILL);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// A C++ program that does little but allocate: maps, strings, regular expressions, exceptions,
// functions, shared pointers. One of the real programs of make bench. Usage: allocbound [TURNS]

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace
{

struct node {
	std::string name;
	std::vector<std::shared_ptr<node>> children;
};

unsigned random_next(unsigned &seed)
{
	return (seed = seed * 1103515245u + 12345u) >> 8;
}

std::string word(unsigned n)
{
	return "a word longer than a short string " + std::to_string(n);
}

size_t words(unsigned &seed)
{
	std::map<std::string, std::vector<std::string>> index;
	std::unordered_map<std::string, unsigned> count;
	std::set<unsigned> seen;

	for (unsigned i = 0; i < 4000; i++) {
		unsigned n = random_next(seed);

		index[word(n % 997)].push_back(word(n % 13));
		count[word(n % 499)]++;
		seen.insert(n);
	}
	return index.size() + count.size() + seen.size();
}

size_t matches(unsigned &seed)
{
	static const std::regex pattern("([a-z]+) ([0-9]+)(;|$)");
	std::string text = "one 1;two 22;three " + std::to_string(random_next(seed)) + ";";
	size_t total = 0;

	for (std::sregex_iterator i(text.begin(), text.end(), pattern), end; i != end; ++i)
		total += (*i)[1].str().size() + (*i)[2].str().size();
	return total;
}

std::shared_ptr<node> tree(unsigned depth, unsigned &seed)
{
	auto n = std::make_shared<node>();

	n->name = word(random_next(seed));
	for (unsigned i = 0; depth && i < 4; i++)
		n->children.push_back(tree(depth - 1, seed));
	return n;
}

size_t thrown(unsigned depth, unsigned &seed)
{
	std::string own = word(random_next(seed));

	if (depth == 0)
		throw std::runtime_error(own);
	return thrown(depth - 1, seed) + own.size();
}

size_t caught(unsigned &seed)
{
	try {
		return thrown(8, seed);
	} catch (const std::runtime_error &e) {
		return std::string(e.what()).size();
	}
}

size_t printed(unsigned &seed)
{
	std::ostringstream out;
	std::vector<std::function<void()>> later;

	for (unsigned i = 0; i < 20; i++) {
		std::string text = word(random_next(seed));

		later.push_back([text, &out] { out << text << ' '; });
	}
	for (auto &f : later)
		f();
	return out.str().size();
}

} // namespace

int main(int argc, char **argv)
{
	unsigned seed = 1, turns = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
	size_t total = 0;

	for (unsigned turn = 0; turn < turns; turn++) {
		total += words(seed) + tree(5, seed)->children.size();
		for (unsigned i = 0; i < 200; i++)
			total += matches(seed) + printed(seed);
		for (unsigned i = 0; i < 100; i++)
			total += caught(seed);
	}
	printf("%zu\n", total);
	return 0;
}

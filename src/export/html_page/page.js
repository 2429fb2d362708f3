// SPDX-License-Identifier: GPL-3.0-or-later
// The page of --format html: draws the timeline, the icicle and the table from the JSON in #data. It loads
// nothing, and puts names into the page as text only.
"use strict";
(() => {
	const data = JSON.parse(document.getElementById("data").textContent);
	const sites = data.sites, frames = data.frames;
	const $ = (id) => document.getElementById(id);
	const ROW = 20, LEAST_PX = 2, PAGE = 100, ROOT = 0;
	const state = { value: data.first, inverted: false, hide: false, zoom: ROOT, find: "", sort: data.first, up: false,
		rows: PAGE, process: 0 };

	// ---- text ----

	function scaled(n, unit, letters) {
		let i = 0, size = Math.abs(n);
		// As it is rounded below: 1048570 is 1.0M, not 1024k.
		for (; size >= (i ? 999.5 : unit) && i < letters.length - 1; i++)
			size /= unit;
		return (n < 0 ? "-" : "") + size.toFixed(i && size < 99.95 ? 1 : 0) + letters[i];
	}
	const bytes = (n) => scaled(n, 1024, ["", "k", "M", "G", "T", "P"]);
	const count = (n) => scaled(n, 1000, ["", "k", "M", "G", "T", "P"]);
	const exact = (n) => n.toLocaleString("en-US");
	const weight = (n, v = state.value) => (data.values[v].bytes ? bytes : count)(n);
	const percent = (n, whole) => (whole > 0 ? (100 * n / whole).toFixed(1) : "0") + "%";
	function clock(ms) {
		const s = ms / 1000, m = Math.floor(s / 60), h = Math.floor(m / 60);
		const two = (n) => String(Math.floor(n)).padStart(2, "0");
		return h ? h + ":" + two(m % 60) + ":" + two(s % 60) : m ? m + ":" + two(s % 60) : s.toFixed(s < 10 ? 3 : 1) + " s";
	}

	function make(tag, attributes = {}, ...content) {
		const e = document.createElementNS(tag === "svg" || attributes.svg ? "http://www.w3.org/2000/svg" :
			"http://www.w3.org/1999/xhtml", tag);
		for (const [name, value] of Object.entries(attributes))
			if (name.startsWith("on"))
				e.addEventListener(name.slice(2), value);
			else if (name !== "svg" && value !== null)
				e.setAttribute(name, value);
		e.append(...content);
		return e;
	}

	// ---- the tree ----

	// A site's frames, innermost first.
	function stackOf(site) {
		const path = [];
		for (let n = sites.leaf[site]; n > 0; n = data.nodes.parent[n])
			path.push(data.nodes.frame[n]);
		return path;
	}

	// What the icicle shows of it: with `hide` no library frames, if there are others.
	function shownOf(path) {
		const own = state.hide ? path.filter((f) => !frames.hidden[f]) : path;
		return own.length ? own : path;
	}

	let tree;

	function plant() {
		tree = { frame: [-1], parent: [0], children: [[]], leaf: new Array(sites.id.length), total: [], self: [] };
		const edges = new Map();
		for (let s = 0; s < sites.id.length; s++) {
			const path = shownOf(stackOf(s));
			if (!state.inverted)
				path.reverse();
			let at = ROOT;
			for (const f of path) {
				const key = at * frames.name.length + f;
				let next = edges.get(key);
				if (next === undefined) {
					next = tree.frame.length;
					edges.set(key, next);
					tree.frame.push(f);
					tree.parent.push(at);
					tree.children.push([]);
					tree.children[at].push(next);
				}
				at = next;
			}
			tree.leaf[s] = at;
		}
		state.zoom = ROOT;
		weigh();
	}

	// Sums up the present value. Parents have smaller numbers.
	function weigh() {
		const of = sites.values[state.value], n = tree.frame.length;
		tree.self = new Float64Array(n);
		for (let s = 0; s < sites.id.length; s++)
			tree.self[tree.leaf[s]] += Math.max(of[s], 0);
		tree.total = tree.self.slice();
		for (let i = n - 1; i > 0; i--)
			tree.total[tree.parent[i]] += tree.total[i];
		for (const c of tree.children)
			c.sort((a, b) => tree.total[b] - tree.total[a]);
	}

	const nameOf = (node) => node === ROOT ? "all call sites" : frames.name[tree.frame[node]];
	const isHit = (f) => state.find !== "" && f >= 0 && frames.find[f].includes(state.find);

	function about(node) {
		const whole = tree.total[ROOT], f = tree.frame[node];
		const text = [make("b", {}, nameOf(node)), make("br"), exact(tree.total[node]) + " " + data.values[state.value].title +
			", " + percent(tree.total[node], whole) + " of all"];
		if (tree.self[node] && node !== ROOT)
			text.push("; " + exact(tree.self[node]) + (state.inverted ? " of outermost frames" : " allocated right here"));
		if (f >= 0 && (frames.file[f] || frames.module[f]))
			text.push(make("span", { class: "dim" }, " " + [frames.file[f], frames.module[f]].filter(Boolean).join(" in ")));
		$("about").replaceChildren(...text);
	}

	function hash(text) {
		let h = 7;
		for (const c of text)
			h = (h * 31 + c.codePointAt(0)) % 36000;
		return h;
	}
	// A range of hues for each module, and one in it for each function.
	const hueOf = (f) => hash(frames.module[f]) / 100 + hash(frames.name[f]) % 50;

	// `left` and `share` are parts of the tree's width, which is another on paper; `px` is the width in the window.
	function box(node, left, share, depth, px) {
		const f = tree.frame[node], own = tree.total[node];
		const e = make("div", { role: "treeitem", tabindex: "-1", "aria-level": depth + 1, "data-node": node,
			"aria-label": nameOf(node) + ", " + weight(own) + ", " + percent(own, tree.total[ROOT]),
			class: [f < 0 ? "whole" : "", node !== state.zoom && isAbove(node) ? "over" : "", isHit(f) ? "hit" : ""].join(" ") },
		share * px > 30 ? nameOf(node) + "  " + weight(own) : "");
		if (f >= 0)
			e.style.setProperty("--h", hueOf(f));
		e.style.left = 100 * left + "%";
		e.style.top = depth * ROW + "px";
		e.style.width = 100 * share + "%";
		return e;
	}

	function isAbove(node) {
		for (let n = state.zoom; ; n = tree.parent[n]) {
			if (n === node)
				return true;
			if (n === ROOT)
				return false;
		}
	}

	let drawn; // boxes by node

	// The nodes above the zoomed one in full width, then all below it that are wide enough.
	function drawTree(focus) {
		const px = $("tree").clientWidth, boxes = [], above = [];
		let depth = 0, deepest = 0;
		for (let n = state.zoom; n !== ROOT; n = tree.parent[n])
			above.unshift(tree.parent[n]);
		for (const n of above)
			boxes.push(box(n, 0, 1, depth++, px));
		const todo = [[state.zoom, 0, 1, depth]], whole = tree.total[state.zoom];
		while (todo.length) {
			const [node, left, wide, level] = todo.pop();
			let x = left;
			boxes.push(box(node, left, wide, level, px));
			deepest = Math.max(deepest, level);
			for (const c of tree.children[node]) {
				const w = whole > 0 ? tree.total[c] / whole : 0;
				if (w * px < LEAST_PX)
					break;
				todo.push([c, x, w, level + 1]);
				x += w;
			}
		}
		$("rows").style.height = (deepest + 1) * ROW + "px";
		$("rows").replaceChildren(...boxes);
		drawn = new Map(boxes.map((b) => [Number(b.dataset.node), b]));
		const at = drawn.get(state.zoom);
		at.tabIndex = 0;
		if (focus)
			at.focus();
		about(state.zoom);
		$("out").disabled = state.zoom === ROOT;
	}

	function zoomTo(node, focus) {
		state.zoom = node;
		drawTree(focus);
	}

	const boxOf = (node) => drawn.get(node);

	// Alt and the arrow left go back a page, and others are the browser's, too.
	const isBrowserKey = (event) => event.altKey || event.ctrlKey || event.metaKey;

	function treeKey(event) {
		if (isBrowserKey(event))
			return;
		const node = Number(event.target.dataset.node), siblings = tree.children[tree.parent[node]];
		const beside = (step) => node === ROOT ? null : siblings[siblings.indexOf(node) + step];
		const moves = { ArrowUp: () => node === ROOT ? null : tree.parent[node], ArrowDown: () => tree.children[node].find((c) => drawn.has(c)),
			ArrowLeft: () => beside(-1), ArrowRight: () => beside(1), Home: () => ROOT };
		if (event.key === "Enter" || event.key === " ")
			zoomTo(node, true);
		else if (event.key === "Escape" || event.key === "Backspace")
			zoomTo(tree.parent[state.zoom], true);
		else if (!moves[event.key])
			return;
		else {
			const to = moves[event.key](), e = to === null || to === undefined ? null : boxOf(to);
			if (e) {
				event.target.tabIndex = -1;
				e.tabIndex = 0;
				e.focus();
				e.scrollIntoView({ block: "nearest" });
			}
		}
		event.preventDefault();
	}

	// ---- the timeline ----

	function drawPast() {
		const p = data.processes[state.process], width = 1000, height = 100, last = Math.max(p.uptime_ms, 1,
			p.past.length ? p.past[p.past.length - 1][0] : 0);
		const most = Math.max(1, p.peak_bytes, ...p.past.map((q) => q[1]));
		const x = (ms) => ms / last * width, y = (n) => height - n / most * (height - 4);
		let path = "M0 " + height;
		for (const [ms, n] of p.past)
			path += "H" + x(ms).toFixed(1) + "V" + y(n).toFixed(1);
		path += "H" + width + "V" + height + "Z";
		const line = (ms, kind) => make("line", { svg: 1, class: kind, x1: x(ms), x2: x(ms), y1: 0, y2: height,
			"vector-effect": "non-scaling-stroke" });
		const cursor = line(0, "cursor");
		cursor.style.display = "none";
		const say = (ms) => {
			const at = Math.max(0, p.past.findLastIndex((q) => q[0] <= ms));
			const [when, n] = p.past[at] || [0, 0];
			$("when").textContent = clock(when) + ": " + bytes(n) + " live (" + exact(n) + " bytes)";
			cursor.setAttribute("x1", x(when));
			cursor.setAttribute("x2", x(when));
			cursor.style.display = "";
			return at;
		};
		let at = p.past.length - 1;
		const svg = make("svg", { viewBox: "0 0 1000 100", preserveAspectRatio: "none", tabindex: 0, role: "slider",
			"aria-label": "live bytes over time", "aria-valuemin": 0, "aria-valuemax": last, "aria-valuenow": p.uptime_ms,
			onpointermove: (e) => { at = say((e.clientX - svg.getBoundingClientRect().left) / svg.clientWidth * last); },
			onkeydown: (e) => {
				const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -1e9, End: 1e9 }[e.key];
				if (!step || !p.past.length || isBrowserKey(e))
					return;
				at = Math.min(Math.max(at + step, 0), p.past.length - 1);
				say(p.past[at][0]);
				svg.setAttribute("aria-valuenow", p.past[at][0]);
				svg.setAttribute("aria-valuetext", $("when").textContent);
				e.preventDefault();
			} },
		make("path", { svg: 1, d: path }), line(p.peak_ms, "peak"), line(p.uptime_ms, "moment"), cursor);
		$("graph").replaceChildren(svg);
		$("when").textContent = "peak " + bytes(p.peak_bytes) + " at " + clock(p.peak_ms) + "; shown: " + clock(p.uptime_ms) +
			" of " + clock(last);
	}

	// ---- the table ----

	const isFound = (s) => state.find === "" || stackOf(s).some(isHit) || sites.place[s].toLowerCase().includes(state.find);

	function stackList(s) {
		const list = make("ol", {}, make("li", { class: "dim" }, sites.function[s]));
		for (const f of stackOf(s))
			list.append(make("li", { class: frames.hidden[f] ? "library" : "" }, frames.name[f] +
				(frames.file[f] ? " (" + frames.file[f] + ")" : "")));
		return list;
	}

	function siteRow(s) {
		const row = make("tr", { "data-site": sites.id[s] });
		const name = make("button", { type: "button", "aria-expanded": "false", onclick: () => {
			const open = name.getAttribute("aria-expanded") === "true";
			name.setAttribute("aria-expanded", String(!open));
			if (open)
				name.parentNode.querySelector("ol").remove();
			else
				name.parentNode.append(stackList(s));
		} }, frames.name[sites.title[s]]);
		data.values.forEach((v, i) => row.append(make("td", { class: "num " + v.column, title: exact(sites.values[i][s]) },
			weight(sites.values[i][s], i))));
		row.append(make("td", { class: "site" }, name, make("span", { class: "dim" }, " " + sites.place[s])));
		return row;
	}

	let order = [];

	function drawTable() {
		const by = sites.values[state.sort], sign = state.up ? 1 : -1;
		order = sites.id.map((_, s) => s).filter(isFound);
		order.sort((a, b) => sign * (state.sort < 0 ? frames.name[sites.title[a]].localeCompare(frames.name[sites.title[b]]) :
			by[a] - by[b]) || a - b);
		$("sites").replaceChildren(...order.slice(0, state.rows).map(siteRow));
		document.querySelectorAll("#head th").forEach((th) => {
			const mine = Number(th.dataset.sort) === state.sort;
			th.setAttribute("aria-sort", mine ? (state.up ? "ascending" : "descending") : "none");
		});
		const found = order.reduce((sum, s) => sum + Math.max(sites.values[state.value][s], 0), 0);
		$("found").textContent = state.find ? order.length + " of " + sites.id.length + " call sites, " +
			percent(found, tree.total[ROOT]) + " of " + data.values[state.value].title : sites.id.length + " call sites";
		$("more").hidden = order.length <= state.rows;
	}

	function drawHead() {
		const cell = (text, sort, kind, title) => make("th", { scope: "col", class: kind, "data-sort": sort },
			make("button", { type: "button", title, onclick: () => {
				state.up = state.sort === sort ? !state.up : sort < 0; // names from A on
				state.sort = sort;
				drawTable();
			} }, text));
		$("head").replaceChildren(...data.values.map((v, i) => cell(v.word, i, "num " + v.column, v.title)),
			cell("call site", -1, "site", "function that allocates"));
	}

	// ---- the page ----

	function choose(v) {
		state.value = state.sort = v;
		state.up = false;
		for (const b of document.querySelectorAll("#values button"))
			b.setAttribute("aria-pressed", String(Number(b.dataset.value) === v));
		weigh();
		drawTree();
		drawTable();
	}

	function toggle(id, field) {
		$(id).addEventListener("click", () => {
			state[field] = !state[field];
			$(id).setAttribute("aria-pressed", String(state[field]));
			plant();
			drawTree();
		});
	}

	function facts() {
		const all = data.facts.map(([what, n, isBytes]) => make("li", { title: exact(n) }, make("b", {},
			(isBytes ? bytes : count)(n)), what));
		$("command").textContent = data.command;
		$("state").textContent = data.state;
		$("facts").replaceChildren(...all);
		$("notes").textContent = data.notes.join(" ");
	}

	function start() {
		frames.find = frames.name.map((n, f) => (n + "\n" + frames.file[f] + "\n" + frames.module[f]).toLowerCase());
		facts();
		$("values").replaceChildren(...data.values.flatMap((v, i) => v.sum ? [make("button", { type: "button",
			"data-value": i, onclick: () => choose(i) }, v.title)] : []));
		toggle("inverted", "inverted");
		toggle("hide", "hide");
		$("out").addEventListener("click", () => zoomTo(tree.parent[state.zoom]));
		$("rows").addEventListener("click", (e) => e.target.dataset.node && zoomTo(Number(e.target.dataset.node), true));
		$("rows").addEventListener("keydown", treeKey);
		for (const kind of ["pointerover", "focusin"])
			$("rows").addEventListener(kind, (e) => e.target.dataset.node && about(Number(e.target.dataset.node)));
		$("find").addEventListener("input", () => {
			state.find = $("find").value.trim().toLowerCase();
			state.rows = PAGE;
			drawTree();
			drawTable();
		});
		$("more").addEventListener("click", () => {
			state.rows += 10 * PAGE;
			drawTable();
		});
		$("process").replaceChildren(...data.processes.map((p, i) => make("option", { value: i }, p.name)));
		$("process").hidden = data.processes.length < 2;
		$("process").addEventListener("change", () => {
			state.process = Number($("process").value);
			drawPast();
		});
		window.addEventListener("resize", () => drawTree());
		drawHead();
		plant();
		drawPast();
		choose(state.value);
		document.body.dataset.total = tree.total[ROOT];
	}
	start();
})();

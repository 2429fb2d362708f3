// SPDX-License-Identifier: GPL-3.0-or-later
// A Rust program with jemalloc as its global allocator, which calls it as the crate tikv-jemallocator does: by names with
// _rjem_ before them, with flags for alignments above 16, and with the size of what it frees. It counts what it asks for,
// and writes the account without allocating, as the last thing before it ends: allocations and their bytes, frees and their
// bytes. A realloc is one of each.
use std::alloc::{GlobalAlloc, Layout};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

extern "C" {
    fn _rjem_malloc(bytes: usize) -> *mut u8;
    fn _rjem_calloc(n: usize, bytes: usize) -> *mut u8;
    fn _rjem_realloc(p: *mut u8, bytes: usize) -> *mut u8;
    fn _rjem_mallocx(bytes: usize, flags: i32) -> *mut u8;
    fn _rjem_rallocx(p: *mut u8, bytes: usize, flags: i32) -> *mut u8;
    fn _rjem_sdallocx(p: *mut u8, bytes: usize, flags: i32);
    fn write(fd: i32, p: *const u8, bytes: usize) -> isize;
    fn _exit(status: i32) -> !;
}

const ZERO: i32 = 0x40;

struct Jemalloc;

#[allow(clippy::declare_interior_mutable_const)]
const NONE: AtomicU64 = AtomicU64::new(0);
static COUNTS: [AtomicU64; 4] = [NONE; 4];

fn count(allocs: usize, bytes: usize) {
    COUNTS[allocs].fetch_add(1, Relaxed);
    COUNTS[allocs + 1].fetch_add(bytes as u64, Relaxed);
}

fn flags(layout: Layout) -> i32 {
    if layout.align() <= 16 && layout.align() <= layout.size() { 0 } else { layout.align().trailing_zeros() as i32 }
}

unsafe impl GlobalAlloc for Jemalloc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(0, layout.size());
        match flags(layout) {
            0 => _rjem_malloc(layout.size()),
            some => _rjem_mallocx(layout.size(), some),
        }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(0, layout.size());
        match flags(layout) {
            0 => _rjem_calloc(1, layout.size()),
            some => _rjem_mallocx(layout.size(), some | ZERO),
        }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        count(2, layout.size());
        _rjem_sdallocx(p, layout.size(), flags(layout));
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        count(2, layout.size());
        count(0, bytes);
        match flags(Layout::from_size_align_unchecked(bytes, layout.align())) {
            0 => _rjem_realloc(p, bytes),
            some => _rjem_rallocx(p, bytes, some),
        }
    }
}

#[global_allocator]
static GLOBAL: Jemalloc = Jemalloc;

#[repr(align(64))]
struct Aligned(#[allow(dead_code)] [u8; 64]);

#[inline(never)]
fn site_strings(n: usize) -> Vec<String> {
    (0..n).map(|i| "x".repeat(i % 700 + 1)).collect()
}

#[inline(never)]
fn site_aligned(n: usize) -> Vec<Box<Aligned>> {
    (0..n).map(|i| Box::new(Aligned([i as u8; 64]))).collect()
}

#[inline(never)]
fn site_maps(n: usize) -> usize {
    let tree: BTreeMap<usize, String> = (0..n).map(|i| (i * 7919 % 10007, i.to_string())).collect();
    let table: HashMap<String, Vec<u64>> = tree.values().map(|s| (s.clone(), vec![0; s.len() * 9])).collect();
    tree.len() + table.len()
}

fn account() -> ! {
    let mut text = [b' '; 96];
    let mut at = text.len() - 1;
    text[at] = b'\n';
    for c in COUNTS.iter().rev() {
        let mut n = c.load(Relaxed);
        loop {
            at -= 1;
            text[at] = b'0' + (n % 10) as u8;
            n /= 10;
            if n == 0 {
                break;
            }
        }
        at -= 1;
    }
    unsafe {
        write(1, text[at + 1..].as_ptr(), text.len() - at - 1);
        _exit(0)
    }
}

fn main() {
    let kept = (site_strings(500), site_aligned(300));
    let threads: Vec<_> = (0..4)
        .map(|i| {
            std::thread::spawn(move || {
                let found = site_maps(2000 + i) + site_strings(3000).len();
                drop(site_aligned(1000));
                found
            })
        })
        .collect();
    let found: usize = threads.into_iter().map(|t| t.join().unwrap()).sum();
    if found < 1000 || kept.0.len() + kept.1.len() != 800 {
        std::process::exit(1);
    }
    account()
}

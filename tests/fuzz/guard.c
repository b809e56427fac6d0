/* An allocator to preload that finds reads and writes past the end of memory from the heap: a block of GUARD_LEAST bytes
   or more ends where a page begins that nobody may touch (up to seven bytes before it), and its pages are gone once it is
   freed. It is what an address sanitizer would be for compiled kernels. For the C library of GNU. */

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

enum { PAGE = 4096, SLOTS = 1 << 20, MOST_BLOCKS = 28000, FILLED = 4096 };
static const size_t MOST_BYTES = (size_t)256 << 20;

typedef struct {
    uintptr_t block; /* 0: free; GONE: a block that was freed */
    size_t size;
    void *pages;
    size_t pages_size;
} Entry;

static const uintptr_t GONE = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Entry *entries; /* a hash table with open addresses */
static size_t least, blocks;

static unsigned slot_of(uintptr_t block) { return (unsigned)((block >> 3) * 2654435761u) & (SLOTS - 1); }

static void add(Entry entry) {
    pthread_mutex_lock(&lock);
    if (!entries)
        entries = mmap(0, SLOTS * sizeof(Entry), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    unsigned slot = slot_of(entry.block);
    while (entries[slot].block > GONE)
        slot = (slot + 1) & (SLOTS - 1);
    entries[slot] = entry;
    blocks++;
    pthread_mutex_unlock(&lock);
}

/* Whether a block has a guard, and what is known of it; `forget`: no longer. */
static int find(void *block, Entry *found, int forget) {
    if (!entries || !block)
        return 0;
    pthread_mutex_lock(&lock);
    unsigned slot = slot_of((uintptr_t)block);
    int is_there = 0;
    for (; entries[slot].block; slot = (slot + 1) & (SLOTS - 1)) {
        if (entries[slot].block != (uintptr_t)block)
            continue;
        *found = entries[slot];
        is_there = 1;
        if (forget) {
            entries[slot].block = GONE;
            blocks--;
            if (!entries[(slot + 1) & (SLOTS - 1)].block) /* so that searches stay short */
                for (unsigned at = slot; entries[at].block == GONE; at = (at - 1) & (SLOTS - 1))
                    entries[at].block = 0;
        }
        break;
    }
    pthread_mutex_unlock(&lock);
    return is_there;
}

static int wanted(size_t size) {
    if (!least) {
        char *given = getenv("GUARD_LEAST");
        least = given ? strtoul(given, 0, 10) : 600;
    }
    return size >= least && size <= MOST_BYTES && blocks < MOST_BLOCKS;
}

/* A block with a guard behind it, as zeros; 0 where there is no memory. */
static void *guarded(size_t size, size_t alignment) {
    size_t up_to_guard = (size + alignment - 1) / alignment * alignment;
    size_t length = (up_to_guard + PAGE - 1) / PAGE * PAGE;
    uint8_t *pages = mmap(0, length + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
        return 0;
    mprotect(pages + length, PAGE, PROT_NONE);
    uint8_t *block = pages + length - up_to_guard;
    add((Entry){(uintptr_t)block, size, pages, length + PAGE});
    return block;
}

void *malloc(size_t size) {
    void *block = wanted(size) ? guarded(size, size % 16 ? 8 : 16) : 0;
    return block ? memset(block, 0xA5, size < FILLED ? size : FILLED) : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    size_t all;
    if (__builtin_mul_overflow(count, size, &all))
        return 0;
    void *block = wanted(all) ? guarded(all, all % 16 ? 8 : 16) : 0;
    return block ? block : __libc_calloc(count, size);
}

void free(void *block) {
    Entry entry;
    if (find(block, &entry, 1))
        munmap(entry.pages, entry.pages_size);
    else
        __libc_free(block);
}

void *realloc(void *block, size_t size) {
    Entry entry;
    if (!block)
        return malloc(size);
    if (!find(block, &entry, 0))
        return __libc_realloc(block, size);
    void *other = malloc(size);
    if (other) {
        memcpy(other, block, entry.size < size ? entry.size : size);
        free(block);
    }
    return other;
}

void *memalign(size_t alignment, size_t size) {
    void *block = alignment <= PAGE && wanted(size) ? guarded(size, alignment < 16 ? 16 : alignment) : 0;
    return block ? block : __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    *block = memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

size_t malloc_usable_size(void *block) {
    Entry entry;
    return find(block, &entry, 0) ? entry.size : 0;
}

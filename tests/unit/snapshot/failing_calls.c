/* Makes the n-th call of the operating system fail that opens, reads, writes, syncs, renames, links or makes something
   below one folder (FAIL_BELOW): to be preloaded. fail_at(n, error) arms it, fail_at(0, 0) stops it; calls() is how many
   such calls there were since. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define MOST_FILES 65536
static char is_below[MOST_FILES];
static long seen, failing;
static int with_error;

void fail_at(long n, int error) {
    with_error = error;
    __atomic_store_n(&seen, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&failing, n, __ATOMIC_SEQ_CST);
}

long calls(void) { return __atomic_load_n(&seen, __ATOMIC_SEQ_CST); }

static int fails(void) {
    if (__atomic_add_fetch(&seen, 1, __ATOMIC_SEQ_CST) != __atomic_load_n(&failing, __ATOMIC_SEQ_CST)) return 0;
    errno = with_error;
    return 1;
}

static int path_below(const char *path) {
    const char *folder = getenv("FAIL_BELOW");
    size_t length = folder ? strlen(folder) : 0;
    return length && path && !strncmp(path, folder, length) && (path[length] == '/' || !path[length]);
}

static int file_below(int file) { return file >= 0 && file < MOST_FILES && is_below[file]; }

static int at_below(int folder, const char *path) {
    return path && path[0] == '/' ? path_below(path) : folder != AT_FDCWD && file_below(folder);
}

#define REAL(name) static __typeof__(name) *real; if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

static int opened(int file, int below) {
    if (file >= 0 && file < MOST_FILES) is_below[file] = below;
    return file;
}

#define MODE(flags) mode_t mode = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { va_list list; va_start(list, flags); mode = va_arg(list, int); va_end(list); }

#define OPEN(name) int name(const char *path, int flags, ...) { \
    MODE(flags) REAL(name); int below = path_below(path); \
    return below && fails() ? -1 : opened(real(path, flags, mode), below); }
#define OPENAT(name) int name(int folder, const char *path, int flags, ...) { \
    MODE(flags) REAL(name); int below = at_below(folder, path); \
    return below && fails() ? -1 : opened(real(folder, path, flags, mode), below); }
OPEN(open) OPEN(open64) OPENAT(openat) OPENAT(openat64)

#define OF_FILE(type, name, parameters, arguments) type name parameters { \
    REAL(name); return file_below(file) && fails() ? -1 : real arguments; }
OF_FILE(ssize_t, read, (int file, void *to, size_t size), (file, to, size))
OF_FILE(ssize_t, write, (int file, const void *from, size_t size), (file, from, size))
OF_FILE(ssize_t, pread, (int file, void *to, size_t size, off_t at), (file, to, size, at))
OF_FILE(ssize_t, pread64, (int file, void *to, size_t size, off64_t at), (file, to, size, at))
OF_FILE(ssize_t, pwrite, (int file, const void *from, size_t size, off_t at), (file, from, size, at))
OF_FILE(ssize_t, pwrite64, (int file, const void *from, size_t size, off64_t at), (file, from, size, at))
OF_FILE(int, fsync, (int file), (file))
OF_FILE(int, fdatasync, (int file), (file))

#define OF_PATHS(name, parameters, below, arguments) int name parameters { \
    REAL(name); return (below) && fails() ? -1 : real arguments; }
OF_PATHS(rename, (const char *from, const char *to), path_below(from) || path_below(to), (from, to))
OF_PATHS(renameat, (int a, const char *from, int b, const char *to), at_below(a, from) || at_below(b, to),
         (a, from, b, to))
OF_PATHS(link, (const char *from, const char *to), path_below(from) || path_below(to), (from, to))
OF_PATHS(linkat, (int a, const char *from, int b, const char *to, int flags), at_below(a, from) || at_below(b, to),
         (a, from, b, to, flags))
OF_PATHS(mkdir, (const char *path, mode_t mode), path_below(path), (path, mode))
OF_PATHS(mkdirat, (int folder, const char *path, mode_t mode), at_below(folder, path), (folder, path, mode))

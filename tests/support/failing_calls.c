/* Of the calls of the operating system that are about one folder (FAIL_BELOW) it makes the n-th fail, or kills the
   process before it: to be preloaded.
     fail_at(n, error)  of those that open, read, write, sync, rename, link or make something; fail_at(0, 0) stops it;
                        calls() is how many there were since
     die_at(n)          of those that change something, removals and truncations as well; the last one is named on
                        stderr; die_at(0) stops it; changes() is how many there were since */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define MOST_FILES 65536
static char is_below[MOST_FILES];
static long seen, failing, changed, dying;
static int with_error;

void fail_at(long n, int error) {
    with_error = error;
    __atomic_store_n(&seen, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&failing, n, __ATOMIC_SEQ_CST);
}

long calls(void) { return __atomic_load_n(&seen, __ATOMIC_SEQ_CST); }

void die_at(long n) {
    __atomic_store_n(&changed, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&dying, n, __ATOMIC_SEQ_CST);
}

long changes(void) { return __atomic_load_n(&changed, __ATOMIC_SEQ_CST); }

static int path_below(const char *path) {
    const char *folder = getenv("FAIL_BELOW");
    size_t length = folder ? strlen(folder) : 0;
    return length && path && !strncmp(path, folder, length) && (path[length] == '/' || !path[length]);
}

static void change(const char *call, const char *path, int file) {
    char link[32], found[PATH_MAX] = "";
    if (!path) {  // the number may have become that of another file
        snprintf(link, sizeof link, "/proc/self/fd/%d", file);
        if (readlink(link, found, sizeof found - 1) < 0 || !path_below(path = found)) return;
    }
    if (__atomic_add_fetch(&changed, 1, __ATOMIC_SEQ_CST) != __atomic_load_n(&dying, __ATOMIC_SEQ_CST)) return;
    dprintf(2, "killed at %s %s\n", call, path);
    kill(getpid(), SIGKILL);
}

static int fails(void) {
    if (__atomic_add_fetch(&seen, 1, __ATOMIC_SEQ_CST) != __atomic_load_n(&failing, __ATOMIC_SEQ_CST)) return 0;
    errno = with_error;
    return 1;
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

#define MAY_CHANGE(flags) ((flags) & (O_CREAT | O_TRUNC | O_WRONLY | O_RDWR))
#define OPEN(name) int name(const char *path, int flags, ...) { \
    MODE(flags) REAL(name); int below = path_below(path); \
    if (below && MAY_CHANGE(flags)) change(#name, path, -1); \
    return below && fails() ? -1 : opened(real(path, flags, mode), below); }
#define OPENAT(name) int name(int folder, const char *path, int flags, ...) { \
    MODE(flags) REAL(name); int below = at_below(folder, path); \
    if (below && MAY_CHANGE(flags)) change(#name, path, -1); \
    return below && fails() ? -1 : opened(real(folder, path, flags, mode), below); }
OPEN(open) OPEN(open64) OPENAT(openat) OPENAT(openat64)

#define OF_FILE(type, name, parameters, changes, arguments) type name parameters { \
    REAL(name); if (file_below(file) && (changes)) change(#name, NULL, file); \
    return file_below(file) && fails() ? -1 : real arguments; }
OF_FILE(ssize_t, read, (int file, void *to, size_t size), 0, (file, to, size))
OF_FILE(ssize_t, write, (int file, const void *from, size_t size), 1, (file, from, size))
OF_FILE(ssize_t, pread, (int file, void *to, size_t size, off_t at), 0, (file, to, size, at))
OF_FILE(ssize_t, pread64, (int file, void *to, size_t size, off64_t at), 0, (file, to, size, at))
OF_FILE(ssize_t, pwrite, (int file, const void *from, size_t size, off_t at), 1, (file, from, size, at))
OF_FILE(ssize_t, pwrite64, (int file, const void *from, size_t size, off64_t at), 1, (file, from, size, at))
OF_FILE(int, fsync, (int file), 1, (file))
OF_FILE(int, fdatasync, (int file), 1, (file))

#define OF_PATHS(name, parameters, below, path, arguments) int name parameters { \
    REAL(name); if (below) change(#name, path, -1); return (below) && fails() ? -1 : real arguments; }
OF_PATHS(rename, (const char *from, const char *to), path_below(from) || path_below(to), to, (from, to))
OF_PATHS(renameat, (int a, const char *from, int b, const char *to), at_below(a, from) || at_below(b, to), to,
         (a, from, b, to))
OF_PATHS(link, (const char *from, const char *to), path_below(from) || path_below(to), to, (from, to))
OF_PATHS(linkat, (int a, const char *from, int b, const char *to, int flags), at_below(a, from) || at_below(b, to), to,
         (a, from, b, to, flags))
OF_PATHS(mkdir, (const char *path, mode_t mode), path_below(path), path, (path, mode))
OF_PATHS(mkdirat, (int folder, const char *path, mode_t mode), at_below(folder, path), path, (folder, path, mode))

#define NEVER_FAILS(name, parameters, below, path, file, arguments) int name parameters { \
    REAL(name); if (below) change(#name, path, file); return real arguments; }
NEVER_FAILS(unlink, (const char *path), path_below(path), path, -1, (path))
NEVER_FAILS(unlinkat, (int folder, const char *path, int flags), at_below(folder, path), path, -1,
            (folder, path, flags))
NEVER_FAILS(rmdir, (const char *path), path_below(path), path, -1, (path))
NEVER_FAILS(remove, (const char *path), path_below(path), path, -1, (path))
NEVER_FAILS(ftruncate, (int file, off_t size), file_below(file), NULL, file, (file, size))
NEVER_FAILS(ftruncate64, (int file, off64_t size), file_below(file), NULL, file, (file, size))

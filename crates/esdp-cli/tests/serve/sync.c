/* Makes one sync fail with EIO: the ESDP_SYNC_FAILS-th of those of files whose path ends in ESDP_SYNC_FILE,
 * or of all if that is not set. The path is noted in ESDP_SYNC_NOTE. Loaded by LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int count;

static int fails(int fd) {
    const char *at = getenv("ESDP_SYNC_FAILS"), *file = getenv("ESDP_SYNC_FILE");
    char link[64], path[4096];
    if (!at) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    if (file) {
        size_t end = strlen(file);
        if ((size_t)length < end || strcmp(path + length - end, file) != 0) return 0;
    }
    if (__sync_add_and_fetch(&count, 1) != atoi(at)) return 0;
    const char *note = getenv("ESDP_SYNC_NOTE");
    int out = note ? open(note, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    if (out >= 0) {
        if (write(out, path, (size_t)length) < 0) _exit(99);
        close(out);
    }
    errno = EIO;
    return 1;
}

int fsync(int fd) {
    static int (*real)(int);
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    return fails(fd) ? -1 : real(fd);
}

int fdatasync(int fd) {
    static int (*real)(int);
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    return fails(fd) ? -1 : real(fd);
}

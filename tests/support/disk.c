/* A disk that fails: preloaded, it counts what is done to files below one folder, and at a chosen moment refuses it, or
   kills the process, or writes half of it and kills the process. All that is done can be recorded, to be replayed. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#undef pwrite
#undef ftruncate
#undef open

static char root[PATH_MAX];
static int trace = -1;
static long done, chosen = -1;
static int with, half, lasting;

void disk_watch(const char *folder, int record) { strncpy(root, folder, sizeof root - 1); trace = record; done = 0; chosen = -1; }
/* At the n-th deed: `error` as errno, or 0 to be killed there; `torn`: half of a write is done; `on`: all later ones, too. */
void disk_fail(long n, int error, int torn, int on) { chosen = n; with = error; half = torn; lasting = on; done = 0; }
long disk_count(void) { return done; }

static void put(const void *from, size_t size) { if (size) syscall(SYS_write, trace, from, size); }

static void note(char kind, const char *path, const char *other, long at, const void *data, long size) {
  char head[2 * PATH_MAX];
  if (trace < 0) return;
  int length = snprintf(head, sizeof head, "%c\t%s\t%s\t%ld\t%ld\n", kind, path, other, at, size);
  put(head, length);
  if (data) put(data, size);
}

void disk_mark(const char *text) { note('K', text, "", 0, NULL, 0); }

static int below(const char *path) { return root[0] && !strncmp(path, root, strlen(root)); }

static int watched(int fd, char *path) {
  char link[64];
  if (!root[0]) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, PATH_MAX - 1);
  if (n <= 0) return 0;
  path[n] = 0;
  char *gone = strstr(path, " (deleted)");
  if (gone) *gone = 0;
  return below(path);
}

/* Whether this deed is refused; does not return where the process is to be killed. */
static int refused(int is_write) {
  long now = done++;
  if (chosen < 0 || now < chosen || (now > chosen && !lasting)) return 0;
  if (!with && !(half && is_write)) kill(getpid(), SIGKILL);
  errno = with;
  return 1;
}

static ssize_t write_at(int fd, const void *data, size_t size, long at, int placed) {
  char path[PATH_MAX];
  if (!watched(fd, path)) return placed ? syscall(SYS_pwrite64, fd, data, size, at) : syscall(SYS_write, fd, data, size);
  if (!placed) at = lseek(fd, 0, SEEK_CUR);
  if (refused(1)) {
    if (half) syscall(SYS_pwrite64, fd, data, size / 2, at);
    if (!with) kill(getpid(), SIGKILL);
    errno = with;
    return -1;
  }
  ssize_t n = placed ? syscall(SYS_pwrite64, fd, data, size, at) : syscall(SYS_write, fd, data, size);
  if (n > 0) note('W', path, "", at, data, n);
  return n;
}

ssize_t write(int fd, const void *data, size_t size) { return write_at(fd, data, size, 0, 0); }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) { return write_at(fd, data, size, at, 1); }
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { return write_at(fd, data, size, at, 1); }

static int sync_by(long call, int fd) {
  char path[PATH_MAX];
  int mine = watched(fd, path);
  if (mine && refused(0)) return -1;
  int n = syscall(call, fd);
  if (mine && !n) note('S', path, "", 0, NULL, 0);
  return n;
}

int fsync(int fd) { return sync_by(SYS_fsync, fd); }
int fdatasync(int fd) { return sync_by(SYS_fdatasync, fd); }

int ftruncate64(int fd, off64_t size) {
  char path[PATH_MAX];
  int mine = watched(fd, path);
  if (mine && refused(0)) return -1;
  int n = syscall(SYS_ftruncate, fd, size);
  if (mine && !n) note('T', path, "", size, NULL, 0);
  return n;
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

int unlink(const char *path) {
  if (!below(path)) return syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  if (refused(0)) return -1;
  int n = syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  if (!n) note('U', path, "", 0, NULL, 0);
  return n;
}

int link(const char *from, const char *to) {
  if (below(to) && refused(0)) return -1;
  int n = syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
  if (below(to) && !n) note('L', from, to, 0, NULL, 0);
  return n;
}
int linkat(int a, const char *from, int b, const char *to, int flags) {
  if (below(to) && refused(0)) return -1;
  int n = syscall(SYS_linkat, a, from, b, to, flags);
  if (below(to) && !n) note('L', from, to, 0, NULL, 0);
  return n;
}

int rename(const char *from, const char *to) {
  if (below(to) && refused(0)) return -1;
  int n = syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  if (below(to) && !n) note('R', from, to, 0, NULL, 0);
  return n;
}

static int open_by(const char *path, int flags, int mode) {
  int new = below(path) && (flags & O_CREAT) && syscall(SYS_faccessat, AT_FDCWD, path, F_OK);
  if (new && refused(0)) return -1;
  int fd = syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  if (new && fd >= 0) note('C', path, "", 0, NULL, 0);
  return fd;
}

int open64(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;
  va_end(more);
  return open_by(path, flags, mode);
}
int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;
  va_end(more);
  return open_by(path, flags, mode);
}

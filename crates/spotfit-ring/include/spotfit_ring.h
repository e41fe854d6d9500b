/* A ring of camera frames in shared memory: the writer, for the program of a camera, and the reader of drifts.
 *
 * C11 with atomics and POSIX (Linux, macOS); nothing to link. The layout is that of the crate spotfit-ring, version 1, which
 * documents it: https://docs.rs/spotfit-ring. A whole program:
 *
 *   spotfit_ring ring;
 *   if (spotfit_ring_create(&ring, "camera", 512, 512, SPOTFIT_U16, 64) != 0) { perror("ring"); return 1; }
 *   for (uint64_t number = 0; camera_waits_for_frame(pixels); number++)
 *     spotfit_ring_write(&ring, number, spotfit_ring_now(), pixels);
 *   spotfit_ring_close(&ring);
 *
 * Functions return 0, or -1 with errno. One thread writes a ring. MIT or Apache 2.0, as you like.
 */
#ifndef SPOTFIT_RING_H
#define SPOTFIT_RING_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SPOTFIT_U8 = 1, SPOTFIT_U16 = 2, SPOTFIT_F32 = 3, SPOTFIT_F64 = 4 };
enum { SPOTFIT_RING_HEADER = 256, SPOTFIT_SLOT_HEADER = 64, SPOTFIT_DRIFT_NUMBERS = 11 };

/* The header, as it is in the file. */
typedef struct {
  char magic[8];
  uint32_t order, version, header_size, slot_header, type, width, height, slots;
  uint64_t frame_size, slot_size, generation;
  uint64_t reserved[8];
  _Atomic uint64_t written, state, heartbeat;
  uint64_t more[13];
} spotfit_ring_header;

/* The header of a slot. */
typedef struct {
  _Atomic uint64_t sequence;
  uint64_t number, timestamp, frame_size;
  uint64_t reserved[4];
} spotfit_slot_header;

_Static_assert(sizeof(spotfit_ring_header) == SPOTFIT_RING_HEADER, "the header has 256 bytes");
_Static_assert(sizeof(spotfit_slot_header) == SPOTFIT_SLOT_HEADER, "the header of a slot has 64 bytes");

/* A ring that is open. */
typedef struct {
  spotfit_ring_header *header;
  size_t bytes;
  uint64_t next;
  char path[512];
} spotfit_ring;

/* Nanoseconds of the monotonic clock, which all programs of a machine share. */
static inline uint64_t spotfit_ring_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The path of a ring: a name without a slash is in /dev/shm. */
static inline int spotfit_ring_path(char *path, size_t room, const char *name) {
  int length = snprintf(path, room, "%s%s", strchr(name, '/') ? "" : "/dev/shm/", name);
  if (length < 0 || (size_t)length >= room) {
    errno = ENAMETOOLONG;
    return -1;
  }
  return 0;
}

static inline spotfit_slot_header *spotfit_ring_slot(const spotfit_ring *ring, uint64_t frame) {
  char *first = (char *)ring->header + SPOTFIT_RING_HEADER;
  return (spotfit_slot_header *)(void *)(first + (frame % ring->header->slots) * ring->header->slot_size);
}

/* 0 if a ring may have this path: there is no file, or one that is empty, or a ring that has ended or whose writer has been silent for
   three seconds. Otherwise EEXIST, or EBUSY for the ring of a living program. */
static inline int spotfit_ring_taken(const char *path) {
  struct stat status;
  if (stat(path, &status) != 0) return errno == ENOENT ? 0 : EEXIST;
  if (!S_ISREG(status.st_mode)) return EEXIST;
  spotfit_ring_header header;
  int file = open(path, O_RDONLY);
  if (file < 0) return EEXIST;
  ssize_t length = read(file, &header, sizeof header);
  close(file);
  if (length == 0) return 0;
  if (length < (ssize_t)sizeof header.magic || memcmp(header.magic, "SPOTRING", sizeof header.magic) != 0) return EEXIST;
  if (length < (ssize_t)sizeof header || header.state != 0) return 0;
  uint64_t now = spotfit_ring_now();
  return now >= header.heartbeat && now - header.heartbeat < UINT64_C(3000000000) ? EBUSY : 0;
}

/* Makes a ring, which takes the place of one of this name; another file (EEXIST) and the ring of a living program (EBUSY) stay. Frames have at most 2^30 bytes; there are 2 to 65536 slots. */
static inline int spotfit_ring_create(spotfit_ring *ring, const char *name, uint32_t width, uint32_t height,
                                      uint32_t type, uint32_t slots) {
  const uint64_t sizes[] = {0, 1, 2, 4, 8};
  memset(ring, 0, sizeof *ring);
  uint64_t pixels = (uint64_t)width * height;
  if (type < SPOTFIT_U8 || type > SPOTFIT_F64 || pixels == 0 || pixels > (UINT64_C(1) << 30) / sizes[type] ||
      slots < 2 || slots > 65536) {
    errno = EINVAL;
    return -1;
  }
  uint64_t frame_size = pixels * sizes[type];
  uint64_t slot_size = (SPOTFIT_SLOT_HEADER + frame_size + 63) / 64 * 64;
  char part[sizeof ring->path + 32];
  if (spotfit_ring_path(ring->path, sizeof ring->path, name) != 0) return -1;
  snprintf(part, sizeof part, "%s.%ld.part", ring->path, (long)getpid());
  int taken = spotfit_ring_taken(ring->path);
  if (taken != 0) {
    errno = taken;
    return -1;
  }
  /* Where others may write, it is not their file or link that is opened. */
  unlink(part);
  int file = open(part, O_RDWR | O_CREAT | O_EXCL, 0644);
  if (file < 0) return -1;
  ring->bytes = (size_t)(SPOTFIT_RING_HEADER + slots * slot_size);
  int failed = ftruncate(file, (off_t)ring->bytes) != 0 ? errno : 0;
#ifdef __linux__
  /* Memory that is not there would end the program at the first frame instead. */
  if (failed == 0) failed = posix_fallocate(file, 0, (off_t)ring->bytes);
#endif
  void *memory = failed ? MAP_FAILED : mmap(NULL, ring->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (failed == 0 && memory == MAP_FAILED) failed = errno;
  close(file);
  if (failed == 0) {
    spotfit_ring_header *header = ring->header = (spotfit_ring_header *)memory;
    memcpy(header->magic, "SPOTRING", 8);
    header->order = 0x0A0B0C0D;
    header->version = 1;
    header->header_size = SPOTFIT_RING_HEADER;
    header->slot_header = SPOTFIT_SLOT_HEADER;
    header->type = type;
    header->width = width;
    header->height = height;
    header->slots = slots;
    header->frame_size = frame_size;
    header->slot_size = slot_size;
    header->generation = spotfit_ring_now();
    atomic_store(&header->heartbeat, spotfit_ring_now());
    if (rename(part, ring->path) != 0) {
      failed = errno;
      munmap(memory, ring->bytes);
      ring->header = NULL;
    }
  }
  if (failed != 0) {
    unlink(part);
    errno = failed;
    return -1;
  }
  return 0;
}

/* Where the pixels of the next frame go: a camera may write them here. spotfit_ring_commit completes the frame. */
static inline void *spotfit_ring_begin(spotfit_ring *ring) {
  spotfit_slot_header *slot = spotfit_ring_slot(ring, ring->next);
  atomic_store_explicit(&slot->sequence, 2 * ring->next + 1, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
  return (char *)slot + SPOTFIT_SLOT_HEADER;
}

/* The frame that was begun is whole: the camera's number of it, from 0, and when it was there (spotfit_ring_now). */
static inline void spotfit_ring_commit(spotfit_ring *ring, uint64_t number, uint64_t timestamp) {
  spotfit_slot_header *slot = spotfit_ring_slot(ring, ring->next);
  slot->number = number;
  slot->timestamp = timestamp;
  slot->frame_size = ring->header->frame_size;
  atomic_store_explicit(&slot->sequence, 2 * ring->next + 2, memory_order_release);
  ring->next++;
  atomic_store_explicit(&ring->header->written, ring->next, memory_order_release);
  atomic_store_explicit(&ring->header->heartbeat, spotfit_ring_now(), memory_order_relaxed);
}

/* Copies a frame into the ring. */
static inline void spotfit_ring_write(spotfit_ring *ring, uint64_t number, uint64_t timestamp, const void *pixels) {
  memcpy(spotfit_ring_begin(ring), pixels, (size_t)ring->header->frame_size);
  spotfit_ring_commit(ring, number, timestamp);
}

/* Tells readers that the program is alive although it has no frame: to be called at least every second then. */
static inline void spotfit_ring_alive(spotfit_ring *ring) {
  atomic_store_explicit(&ring->header->heartbeat, spotfit_ring_now(), memory_order_relaxed);
}

/* Ends a ring: its readers read what is in it, and its name is free again. */
static inline void spotfit_ring_close(spotfit_ring *ring) {
  if (ring->header == NULL) return;
  atomic_store(&ring->header->state, 1);
  munmap(ring->header, ring->bytes);
  unlink(ring->path);
  ring->header = NULL;
}

/* What became of a frame. Only a drift that was measured is one: it is held in frames without a bead, and in those in which it is
   not known where the beads are. A program that moves a stage leaves it alone there. */
enum { SPOTFIT_MEASURED = 0, SPOTFIT_HELD = 1, SPOTFIT_LOST = 2, SPOTFIT_WRONG_SIZE = 3 };

/* Drift, as Spotfit writes it into a ring of its own (spotfit track --ring-out NAME). */
typedef struct {
  double frame, time;              /* from 1; in seconds since the first frame */
  double x, y, z;                  /* to be subtracted, in the unit of the table; z is NaN without a calibration */
  double x_error, y_error, z_error; /* standard errors; NaN if not known */
  double beads;                    /* beads that it rests on */
  double latency;                  /* microseconds from the frame to this drift */
  double status;                   /* SPOTFIT_MEASURED and others */
} spotfit_drift;

_Static_assert(sizeof(spotfit_drift) == 8 * SPOTFIT_DRIFT_NUMBERS, "eleven numbers");

/* Opens the ring of drifts. It is read from its newest drift on. */
static inline int spotfit_drifts_open(spotfit_ring *ring, const char *name) {
  memset(ring, 0, sizeof *ring);
  if (spotfit_ring_path(ring->path, sizeof ring->path, name) != 0) return -1;
  int file = open(ring->path, O_RDONLY);
  if (file < 0) return -1;
  struct stat status;
  int failed = fstat(file, &status) != 0 ? errno : 0;
  if (failed == 0 && (uint64_t)status.st_size < SPOTFIT_RING_HEADER) failed = EPROTO;
  void *memory = failed ? MAP_FAILED : mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, file, 0);
  if (failed == 0 && memory == MAP_FAILED) failed = errno;
  close(file);
  if (failed != 0) {
    errno = failed;
    return -1;
  }
  const spotfit_ring_header *header = ring->header = (spotfit_ring_header *)memory;
  ring->bytes = (size_t)status.st_size;
  if (memcmp(header->magic, "SPOTRING", 8) != 0 || header->order != 0x0A0B0C0D || header->version != 1 ||
      header->type != SPOTFIT_F64 || header->width != SPOTFIT_DRIFT_NUMBERS || header->height != 1 ||
      header->slots < 2 || header->slots > 65536 || header->slot_size != 192 ||
      ring->bytes < SPOTFIT_RING_HEADER + header->slots * header->slot_size) {
    munmap(memory, ring->bytes);
    ring->header = NULL;
    errno = EPROTO;
    return -1;
  }
  ring->next = atomic_load_explicit(&ring->header->written, memory_order_acquire);
  return 0;
}

/* The newest drift, if there is one that was not read yet: 1, 0 if there is none, -1 if Spotfit has ended. */
static inline int spotfit_drifts_newest(spotfit_ring *ring, spotfit_drift *drift) {
  for (int attempt = 0; attempt < 4; attempt++) {
    uint64_t written = atomic_load_explicit(&ring->header->written, memory_order_acquire);
    if (written <= ring->next) return atomic_load(&ring->header->state) ? -1 : 0;
    spotfit_slot_header *slot = spotfit_ring_slot(ring, written - 1);
    uint64_t before = atomic_load_explicit(&slot->sequence, memory_order_acquire);
    memcpy(drift, (const char *)slot + SPOTFIT_SLOT_HEADER, sizeof *drift);
    atomic_thread_fence(memory_order_acquire);
    uint64_t after = atomic_load_explicit(&slot->sequence, memory_order_relaxed);
    if (before == 2 * written && after == before) {
      ring->next = written;
      return 1;
    }
  }
  return 0;
}

/* Closes the ring of drifts, which stays. */
static inline void spotfit_drifts_close(spotfit_ring *ring) {
  if (ring->header != NULL) munmap(ring->header, ring->bytes);
  ring->header = NULL;
}

#endif

/* A camera whose frame n has the value n + x everywhere: the program that the tests compile.
 *
 *   camera NAME FRAMES AHEAD [kill]
 *
 * Before every AHEAD frames the reader says, by a line, that it has those before. With `kill` the program
 * ends as if it were killed, in the middle of a frame. */
#include <stdlib.h>

#include "spotfit_ring.h"

int main(int count, char **words) {
  if (count < 4) return 2;
  uint64_t frames = strtoull(words[2], NULL, 10);
  uint64_t ahead = strtoull(words[3], NULL, 10);
  if (ahead == 0) return 2;
  int killed = count > 4 && strcmp(words[4], "kill") == 0;
  spotfit_ring ring;
  if (spotfit_ring_create(&ring, words[1], 32, 24, SPOTFIT_U16, 256) != 0) {
    perror("spotfit_ring_create");
    return 1;
  }
  static uint16_t pixels[32 * 24];
  puts("ready");
  fflush(stdout);
  for (uint64_t number = 0; number < frames; number++) {
    if (number % ahead == 0 && getchar() == EOF) return 3;
    for (size_t k = 0; k < 32 * 24; k++) pixels[k] = (uint16_t)(number + k % 32);
    spotfit_ring_write(&ring, number, spotfit_ring_now(), pixels);
  }
  if (killed) {
    memset(spotfit_ring_begin(&ring), 0xff, 100);
    unlink(ring.path);
    _exit(0);
  }
  spotfit_ring_close(&ring);
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * shmem_barrier_all of an OpenSHMEM library, measured as shmem_host_bench measures ours: CALLS
 * barriers a batch, nanoseconds a barrier, median of 101 batches. Built by bench_shmem.py (oshcc).
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCHES = 101, WARM = 100 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  int calls = argc > 1 ? atoi(argv[1]) : 2000;
  double times[BATCHES];
  shmem_init();
  for (int i = 0; i < WARM; ++i)
    shmem_barrier_all();
  for (int batch = 0; batch < BATCHES; ++batch) {
    double start = now();
    for (int i = 0; i < calls; ++i)
      shmem_barrier_all();
    times[batch] = now() - start;
  }
  if (shmem_my_pe() == 0) {
    qsort(times, BATCHES, sizeof(times[0]), ascending);
    printf("barrier_ns %.1f\n", times[BATCHES / 2] / calls * 1e9);
    fflush(stdout);
  }
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}

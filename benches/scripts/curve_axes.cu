// What sums by axis would save on a GPU: 9x9 Gaussian spots, a thread each, fitted by five rounds of Levenberg and Marquardt without
// any of the library's checks; the sums over the points (docs/models.md, "How it searches") point by point, as formulas have them, and
// by axis, for windows whose width the compiler knows.
//
// nvcc -O3 -arch=sm_90 -o target/curve_axes benches/scripts/curve_axes.cu && target/curve_axes

#include <algorithm>
#include <cstdio>
#include <vector>

constexpr int SIDE = 9, POINTS = SIDE * SIDE, P = 5, THREADS = 64, ROUNDS = 5, FITS = 1'000'000 / THREADS * THREADS;
constexpr int FOUND = 2 * P + 8;
constexpr float LOG2_E = 1.4426950408889634f;

struct Sums {
  float cost, gradient[P], hessian[P * (P + 1) / 2];
};

__device__ constexpr int at(int j, int k) { return j * P - j * (j - 1) / 2 + k - j; }

__device__ float exp2_of(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// The damped step by Cholesky's factors, and the roots of the diagonal of the inverse if they are asked for.
__device__ void solve(const Sums &sums, float damping, float *step, float *errors) {
  float factor[P][P], solved[P];
#pragma unroll
  for (int j = 0; j < P; j++)
#pragma unroll
    for (int k = 0; k <= j; k++) {
      float value = sums.hessian[at(k, j)];
      if (j == k) value *= 1 + damping;
#pragma unroll
      for (int i = 0; i < k; i++) value -= factor[j][i] * factor[k][i];
      factor[j][k] = j == k ? rsqrtf(value) : value * factor[k][k];
    }
  auto down = [&](auto right) {
#pragma unroll
    for (int j = 0; j < P; j++) {
      float value = right(j);
#pragma unroll
      for (int i = 0; i < j; i++) value -= factor[j][i] * solved[i];
      solved[j] = value * factor[j][j];
    }
  };
  down([&](int j) { return sums.gradient[j]; });
#pragma unroll
  for (int j = P - 1; j >= 0; j--) {
    float value = solved[j];
#pragma unroll
    for (int i = j + 1; i < P; i++) value -= factor[i][j] * step[i];
    step[j] = value * factor[j][j];
  }
  if (!errors) return;
#pragma unroll
  for (int column = 0; column < P; column++) {
    down([&](int j) { return j == column ? 1.0f : 0.0f; });
    float sum = 0;
#pragma unroll
    for (int j = 0; j < P; j++) sum += solved[j] * solved[j];
    errors[column] = sqrtf(sum);
  }
}

__device__ Sums by_point(const float *data, const float *places, const float *p) {
  Sums sums = {};
  float width = -0.5f * LOG2_E / (p[3] * p[3]);
  for (int i = 0; i < POINTS; i++) {
    float x = places[i] - p[1], y = places[POINTS + i] - p[2], square = fmaf(y, y, x * x);
    float e = exp2_of(width * square), residual = data[i] - fmaf(p[0], e, p[4]);
    float by[P] = {e, x * e, y * e, square * e, 1};
    sums.cost = fmaf(residual, residual, sums.cost);
#pragma unroll
    for (int j = 0; j < P; j++) {
      sums.gradient[j] = fmaf(by[j], residual, sums.gradient[j]);
#pragma unroll
      for (int k = j; k < P; k++) sums.hessian[at(j, k)] = fmaf(by[j], by[k], sums.hessian[at(j, k)]);
    }
  }
  return sums;
}

// The sums of products of 1, e, xe and x²e along an axis.
struct Moments {
  float of[4][4] = {};
  __device__ void add(const float *values) {
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int k = j; k < 4; k++) of[j][k] = fmaf(values[j], values[k], of[j][k]);
  }
};

__device__ Sums by_axis(const float *data, const float *places, const float *p) {
  Sums sums = {};
  float width = -0.5f * LOG2_E / (p[3] * p[3]);
  float columns[SIDE][4];
  Moments x, y;
#pragma unroll
  for (int i = 0; i < SIDE; i++) {
    float d = places[i] - p[1], e = exp2_of(width * d * d);
    columns[i][0] = 1, columns[i][1] = e, columns[i][2] = d * e, columns[i][3] = d * d * e;
    x.add(columns[i]);
  }
  for (int row = 0; row < SIDE; row++) {
    float d = places[POINTS + row * SIDE] - p[2], e = exp2_of(width * d * d);
    float own[4] = {1, e, d * e, d * d * e}, height = p[0] * e, all[4] = {};
    y.add(own);
#pragma unroll
    for (int i = 0; i < SIDE; i++) {
      float residual = data[row * SIDE + i] - fmaf(height, columns[i][1], p[4]);
      sums.cost = fmaf(residual, residual, sums.cost);
#pragma unroll
      for (int k = 0; k < 4; k++) all[k] = fmaf(residual, columns[i][k], all[k]);
    }
    float by[P] = {e * all[1], e * all[2], own[2] * all[1], fmaf(e, all[3], own[3] * all[1]), all[0]};
#pragma unroll
    for (int j = 0; j < P; j++) sums.gradient[j] += by[j];
  }
  auto both = [&](int j, int k, int l, int m) { return x.of[j][k] * y.of[l][m]; };
  float hessian[] = {
      both(1, 1, 1, 1), both(1, 2, 1, 1), both(1, 1, 1, 2), both(1, 3, 1, 1) + both(1, 1, 1, 3), both(0, 1, 0, 1),
      both(2, 2, 1, 1), both(1, 2, 1, 2), both(2, 3, 1, 1) + both(1, 2, 1, 3), both(0, 2, 0, 1),
      both(1, 1, 2, 2), both(1, 3, 1, 2) + both(1, 1, 2, 3), both(0, 1, 0, 2),
      both(3, 3, 1, 1) + 2 * both(1, 3, 1, 3) + both(1, 1, 3, 3), both(0, 3, 0, 1) + both(0, 1, 0, 3),
      float(POINTS)};
#pragma unroll
  for (int i = 0; i < P * (P + 1) / 2; i++) sums.hessian[i] = hessian[i];
  return sums;
}

template <bool AXES>
__global__ void __launch_bounds__(THREADS) fit(const float *all, const float *places, float *found) {
  __shared__ float rows[THREADS * POINTS];
  size_t first = size_t(blockIdx.x) * THREADS;
  for (int i = threadIdx.x; i < THREADS * POINTS; i += THREADS) rows[i] = all[first * POINTS + i];
  __syncthreads();
  float *data = rows + threadIdx.x * POINTS, most = 0, size = 0;
  for (int i = 0; i < POINTS; i++) most = fmaxf(most, fabsf(data[i]));
  float scale = exp2f(-floorf(log2f(most)));
  for (int i = 0; i < POINTS; i++) {
    data[i] *= scale;
    size = fmaf(data[i], data[i], size);
  }
  float p[P] = {scale * 90, 4.3f, 3.7f, 1.3f, scale * 11}, best[P], step[P], errors[P], damping = 1e-3f;
  Sums kept;
  kept.cost = INFINITY;
  for (int round = 0; round < ROUNDS; round++) {
    Sums sums = AXES ? by_axis(data, places, p) : by_point(data, places, p);
    float slope = p[0] / (p[3] * p[3]), factors[P] = {1, slope, slope, slope / p[3], 1};
#pragma unroll
    for (int j = 0; j < P; j++) {
      sums.gradient[j] *= factors[j];
#pragma unroll
      for (int k = j; k < P; k++) sums.hessian[at(j, k)] *= factors[j] * factors[k];
    }
    bool better = sums.cost <= kept.cost;
    damping *= better ? 0.1f : 10;
    if (better) {
      kept = sums;
#pragma unroll
      for (int j = 0; j < P; j++) best[j] = p[j];
    }
    solve(kept, damping, step, nullptr);
#pragma unroll
    for (int j = 0; j < P; j++) p[j] = best[j] + step[j];
  }
  solve(kept, 0, step, errors);
  float *to = found + (first + threadIdx.x) * FOUND;
  for (int j = 0; j < P; j++) to[j] = best[j], to[P + j] = errors[j];
  for (int j = 2 * P; j < FOUND; j++) to[j] = j == 2 * P ? kept.cost : size;
}

int main() {
  std::vector<float> data(size_t(FITS) * POINTS), places(2 * POINTS);
  unsigned state = 1;
  auto noise = [&] { return ((state = state * 1664525u + 1013904223u) >> 8) / 16777216.0f - 0.5f; };
  for (int i = 0; i < POINTS; i++) places[i] = i % SIDE, places[POINTS + i] = i / SIDE;
  for (int number = 0; number < FITS; number++) {
    float x0 = 4 + noise(), y0 = 4 + noise();
    for (int i = 0; i < POINTS; i++) {
      float x = places[i] - x0, y = places[POINTS + i] - y0;
      data[size_t(number) * POINTS + i] = 100 * expf(-(x * x + y * y) / 2.88f) + 10 + 6 * noise();
    }
  }
  float *on_device, *at_places, *found;
  cudaMalloc(&on_device, data.size() * sizeof(float));
  cudaMalloc(&at_places, places.size() * sizeof(float));
  cudaMalloc(&found, size_t(FITS) * FOUND * sizeof(float));
  cudaMemcpy(on_device, data.data(), data.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(at_places, places.data(), places.size() * sizeof(float), cudaMemcpyHostToDevice);
  for (auto kernel : {fit<false>, fit<true>})
    cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100);
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  for (int turn = 0; turn < 3; turn++)
    for (bool axes : {false, true}) {
      std::vector<float> times;
      for (int run = 0; run < 9; run++) {
        cudaEventRecord(begin);
        (axes ? fit<true> : fit<false>)<<<FITS / THREADS, THREADS>>>(on_device, at_places, found);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float time;
        cudaEventElapsedTime(&time, begin, end);
        times.push_back(time);
      }
      std::sort(times.begin(), times.end());
      float one[FOUND];
      cudaMemcpy(one, found + FOUND * 777, sizeof one, cudaMemcpyDeviceToHost);
      printf("%s: %.0f million fits a second; one: %.5f %.5f %.5f %.5f %.5f; %s\n", axes ? "by axis" : "by point", FITS / times[4] * 1e-3,
             one[0], one[1], one[2], one[3], one[4], cudaGetErrorString(cudaGetLastError()));
    }
}

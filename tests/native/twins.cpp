// What the kernel does, by hand and for one case each: how fast it could be.
//
//   twins CASE JOBS INPUT [OUTPUT]
//
// INPUT holds, in this order: three counts (int64) of parameters, of cumulative probabilities of
// sizes and of words of random streams; then these (double, double, uint64). Prints the CPU seconds
// of the simulation and the bytes that a waiting and a running job take. Into OUTPUT go, job by job
// as they arrive, start, finish and processors taken of each cluster (double).
//
// Jobs are drawn as they come, by the laws and from the streams of the product. To be compiled
// without contraction of floating-point expressions (-ffp-contract=off), for the same bits.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <string>
#include <vector>

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kTie = 1e-9;  // relative tolerance of what links carry
constexpr int kMost = 8;       // clusters

// Random numbers --------------------------------------------------------------------------------

struct Stream {  // xoshiro256++
  uint64_t s[4];

  static uint64_t rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

  double uniform() {
    const uint64_t result = rotate(s[0] + s[3], 23) + s[0], shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate(s[3], 45);
    return static_cast<double>(result >> 11) * (1.0 / 9007199254740992.0);
  }

  double exponential() { return -std::log(1.0 - uniform()); }
};

struct Sizes {
  int minimum = 1;
  std::vector<double> cumulative;
  std::vector<int> first;  // where to look, by the level in 1024ths

  void prepare() {
    first.resize(1024);
    for (int step = 0; step < 1024; ++step)
      first[step] = static_cast<int>(
          std::upper_bound(cumulative.begin(), cumulative.end(), step / 1024.0) -
          cumulative.begin());
  }

  int at(double level) const {
    int index = first[static_cast<int>(level * 1024)];
    while (level >= cumulative[index]) ++index;
    return minimum + index;
  }
};

// Input and output ------------------------------------------------------------------------------

struct Input {
  std::vector<double> parameters;
  Sizes sizes;
  std::vector<Stream> streams;

  explicit Input(const char* path) {
    FILE* file = std::fopen(path, "rb");
    int64_t counts[3];
    if (!file || std::fread(counts, sizeof(int64_t), 3, file) != 3) std::exit(2);
    parameters.resize(counts[0]);
    sizes.cumulative.resize(counts[1]);
    streams.resize(counts[2] / 4);
    bool whole = std::fread(parameters.data(), 8, counts[0], file) == size_t(counts[0]);
    whole &= std::fread(sizes.cumulative.data(), 8, counts[1], file) == size_t(counts[1]);
    whole &= std::fread(streams.data(), 8, counts[2], file) == size_t(counts[2]);
    std::fclose(file);
    if (!whole) std::exit(2);
    sizes.minimum = static_cast<int>(parameters[0]);
    sizes.prepare();
  }
};

struct Output {
  int clusters;
  std::vector<double> rows;  // none unless they are wanted

  Output(bool wanted, long jobs, int clusters) : clusters(clusters) {
    if (wanted) rows.assign(jobs * (2 + clusters), 0.0);
  }

  void start(long job, double at) {
    if (!rows.empty()) rows[job * (2 + clusters)] = at;
  }

  void take(long job, int cluster, int count) {
    if (!rows.empty()) rows[job * (2 + clusters) + 2 + cluster] = count;
  }

  void finish(long job, double at) {
    if (!rows.empty()) rows[job * (2 + clusters) + 1] = at;
  }

  void write(const char* path) const {
    FILE* file = std::fopen(path, "wb");
    if (!file || std::fwrite(rows.data(), 8, rows.size(), file) != rows.size()) std::exit(2);
    std::fclose(file);
  }
};

double wait = 0.0;  // of all jobs, s: what any simulator has to tell

// Running jobs whose ends are known: a binary heap --------------------------------------------------

struct Running {
  double end;
  int32_t size, cluster;
  int64_t number;
  bool operator<(const Running& other) const { return end > other.end; }
};

struct Ends {
  std::vector<Running> heap;

  double next() const { return heap.empty() ? kNever : heap.front().end; }

  void add(const Running& job) {
    heap.push_back(job);
    std::push_heap(heap.begin(), heap.end());
  }

  Running remove() {
    std::pop_heap(heap.begin(), heap.end());
    Running job = heap.back();
    heap.pop_back();
    return job;
  }
};

// One cluster, its jobs first come, first served, or by EASY backfilling ----------------------------

struct Waiting {
  double arrival, runtime;
  int32_t size, home;
  int64_t number;
};

struct Site {
  int free;
  bool easy;
  double now = 0.0;
  Ends ends;
  std::vector<Running> by_end;
  std::vector<Waiting> queue;
  size_t head = 0;
  Output& output;

  Site(int processors, bool easy, Output& output)
      : free(processors), easy(easy), output(output) {}

  void start(const Waiting& job) {
    free -= job.size;
    wait += now - job.arrival;
    ends.add({now + job.runtime, job.size, 0, job.number});
    output.start(job.number, now);
    output.take(job.number, 0, job.size);
  }

  void serve() {
    while (head < queue.size() && queue[head].size <= free) start(queue[head++]);
    if (head == queue.size()) {
      queue.clear();
      head = 0;
    } else if (easy && free > 0 && head + 1 < queue.size()) {
      backfill();
    }
    if (head > 4096 && 2 * head > queue.size()) {
      queue.erase(queue.begin(), queue.begin() + head);
      head = 0;
    }
  }

  void backfill() {
    by_end = ends.heap;
    std::sort(by_end.begin(), by_end.end(), [](const Running& a, const Running& b) {
      return a.end < b.end;
    });
    int there = free;
    double shadow = kNever;
    for (const Running& job : by_end) {
      if (there >= queue[head].size && job.end > shadow) break;
      there += job.size;
      shadow = job.end;
    }
    int extra = there - queue[head].size;
    size_t kept = head + 1;
    for (size_t at = head + 1; at < queue.size(); ++at) {
      const Waiting job = queue[at];
      const bool in_time = now + job.runtime <= shadow;
      if (job.size <= free && (in_time || job.size <= extra)) {
        if (!in_time) extra -= job.size;
        start(job);
      } else {
        queue[kept++] = job;
      }
    }
    queue.resize(kept);
  }

  void run(long jobs, double rate, double mean, Input& input) {
    Stream &arrivals = input.streams[0], &of_sizes = input.streams[1],
           &runtimes = input.streams[2];
    double following = arrivals.exponential() / rate;
    for (long number = 0; number < jobs || !ends.heap.empty();) {
      if (ends.next() <= following) {
        now = ends.next();
        while (ends.next() <= now) {
          const Running job = ends.remove();
          free += job.size;
          output.finish(job.number, job.end);
        }
      } else {
        now = following;
        const int size = input.sizes.at(of_sizes.uniform());
        queue.push_back({now, mean * runtimes.exponential(), size, 0, number});
        following = ++number < jobs ? now + arrivals.exponential() / rate : kNever;
      }
      serve();
    }
  }
};

// Clusters that share one queue: migration-only, First-Fit and B3 of `beosim`, under FPFS -----------

struct Sliding {  // a job on several clusters, whose end moves
  double end, since, computation_left, communication_left, ratio, allotted;
  double demand[kMost];
  int32_t take[kMost];
  int64_t number, turn;
};

enum Policy { kMigrationOnly, kFirstFit, kB3 };

struct Grid {
  Policy policy;
  int clusters, free[kMost];
  double capacity, lslt, chunk, fraction, bandwidth, now = 0.0;
  double demand[kMost] = {};
  bool overloaded = false;
  int64_t turn = 0;
  Ends ends;
  std::vector<Sliding> sliding;
  std::vector<Waiting> queue;
  Output& output;
  size_t first = 0;
  double first_end = kNever;

  Grid(Policy policy, int clusters, int nodes, Output& output)
      : policy(policy), clusters(clusters), output(output) {
    std::fill(free, free + clusters, nodes);
  }

  int usable(int cluster) const {
    return demand[cluster] > lslt * capacity * (1.0 + kTie) ? 0 : free[cluster];
  }

  bool try_start(const Waiting& job) {
    int best = -1;
    if (job.size <= free[job.home]) {
      best = job.home;
    } else {
      for (int cluster = 0; cluster < clusters; ++cluster)
        if (job.size <= free[cluster] && (best < 0 || free[cluster] < free[best])) best = cluster;
    }
    if (best >= 0) {
      free[best] -= job.size;
      ++turn;
      wait += now - job.arrival;
      ends.add({now + job.runtime, job.size, best, job.number});
      output.start(job.number, now);
      output.take(job.number, best, job.size);
      return true;
    }
    return policy != kMigrationOnly && split(job);
  }

  int largest(const int* take) const {
    int best = -1, most = 0;
    for (int cluster = 0; cluster < clusters; ++cluster)
      if (take[cluster] == 0 && usable(cluster) > most) best = cluster, most = usable(cluster);
    return best;
  }

  bool split(const Waiting& job) {
    int total = 0, take[kMost] = {}, left = job.size;
    for (int cluster = 0; cluster < clusters; ++cluster) total += usable(cluster);
    if (total < job.size) return false;
    int cluster = largest(take);
    if (100 * free[cluster] < chunk * job.size) return false;
    while (left > free[cluster]) {
      take[cluster] = free[cluster];
      left -= free[cluster];
      cluster = largest(take);
    }
    take[cluster] = left;
    wait += now - job.arrival;
    output.start(job.number, now);
    Sliding row;
    row.number = job.number;
    row.turn = turn++;
    row.since = now;
    row.ratio = row.allotted = 1.0;
    row.end = kNever;
    row.computation_left = job.runtime * fraction;
    row.communication_left = job.runtime - row.computation_left;
    const double ppbw =
        bandwidth * 4.0 * (job.size - 1.0) / (static_cast<double>(job.size) * job.size);
    for (int each = 0; each < clusters; ++each) {
      row.take[each] = take[each];
      row.demand[each] = take[each] * double(job.size - take[each]) / (job.size - 1.0) * ppbw;
      free[each] -= take[each];
      output.take(job.number, each, take[each]);
    }
    sliding.push_back(row);
    for (int each = 0; each < clusters; ++each) demand[each] += row.demand[each];
    share(true);
    return true;
  }

  void end_first() {
    const Sliding& row = sliding[first];
    for (int cluster = 0; cluster < clusters; ++cluster) free[cluster] += row.take[cluster];
    output.finish(row.number, row.end);
    sliding[first] = sliding.back();
    sliding.pop_back();
    for (int cluster = 0; cluster < clusters; ++cluster) {
      double sum = 0.0;
      for (const Sliding& each : sliding) sum += each.demand[cluster];
      demand[cluster] = sum;
    }
    share(false);
  }

  void find_first() {
    first_end = kNever;
    int64_t of_first = std::numeric_limits<int64_t>::max();
    for (size_t at = 0; at < sliding.size(); ++at) {
      const Sliding& row = sliding[at];
      if (row.end < first_end || (row.end == first_end && row.turn < of_first))
        first = at, first_end = row.end, of_first = row.turn;
    }
  }

  void move_end(Sliding& row) {
    const double left = row.computation_left + row.communication_left;
    const double past = left > 0.0 ? (now - row.since) / left : 0.0;
    row.computation_left -= past * row.computation_left;
    row.communication_left -= past * row.communication_left;
    row.communication_left *= row.ratio / row.allotted;
    row.ratio = row.allotted;
    row.since = now;
    row.end = now + row.computation_left + row.communication_left;
  }

  void share(bool started) {
    int links[kMost], count = 0;
    for (int link = 0; link < clusters; ++link)
      if (capacity < demand[link] * (1.0 - kTie)) links[count++] = link;
    if (count > 0 || overloaded) {
      allot(links, count);
      overloaded = count > 0;
      for (Sliding& row : sliding)
        if (row.allotted != row.ratio || row.end == kNever) move_end(row);
      find_first();
    } else if (started) {
      move_end(sliding.back());
      if (sliding.back().end < first_end) {
        first_end = sliding.back().end;
        first = sliding.size() - 1;
      }
    } else {
      find_first();
    }
  }

  void allot(int* links, int count) {  // the saturation algorithm (section 3.5)
    double available[kMost], required[kMost], level = 0.0;
    for (Sliding& row : sliding) row.allotted = 1.0;
    for (int place = 0; place < count; ++place)
      available[place] = capacity, required[place] = demand[links[place]];
    while (true) {
      double least = kNever;
      for (int place = 0; place < count; ++place)
        least = std::min(least, available[place] / required[place]);
      level = std::max(level, least);
      if (level >= 1.0 - kTie) return;
      int others = 0;
      for (int place = 0; place < count; ++place) {
        const int link = links[place];
        if (available[place] / required[place] > level * (1.0 + kTie)) {
          links[others++] = link;
          continue;
        }
        for (Sliding& row : sliding)
          if (row.allotted == 1.0 && row.demand[link] > 0.0) row.allotted = level;
      }
      count = 0;
      for (int place = 0; place < others; ++place) {
        const int link = links[place];
        double left = capacity, unbound = 0.0;
        for (const Sliding& row : sliding) {
          if (row.allotted == 1.0)
            unbound += row.demand[link];
          else
            left -= row.demand[link] * row.allotted;
        }
        if (unbound > 0.0) {
          links[count] = link;
          available[count] = left;
          required[count++] = unbound;
        }
      }
    }
  }

  int most_that_fits() const {  // no larger job can start: the queue is gone through in its order
    int whole = 0, most = 0, total = 0;
    for (int cluster = 0; cluster < clusters; ++cluster) {
      whole = std::max(whole, free[cluster]);
      most = std::max(most, usable(cluster));
      total += usable(cluster);
    }
    if (policy == kMigrationOnly) return whole;
    if (chunk > 0.0) total = std::min(total, static_cast<int>(100 * most / chunk) + 1);
    return std::max(whole, total);
  }

  void serve() {
    size_t kept = 0, at = 0;
    int most = most_that_fits();
    for (; at < queue.size(); ++at) {
      if (queue[at].size <= most && try_start(queue[at]))
        most = most_that_fits();
      else {
        if (kept != at) queue[kept] = queue[at];
        ++kept;
      }
    }
    queue.resize(kept);
  }

  void run(long jobs, double interarrival, double mean, Input& input) {
    Stream *arrivals = &input.streams[0], *of_sizes = arrivals + clusters,
           *runtimes = of_sizes + clusters;
    double following[kMost], gaps[kMost];
    long left[kMost];
    for (int cluster = 0; cluster < clusters; ++cluster) {
      following[cluster] = arrivals[cluster].exponential() * interarrival;
      left[cluster] = jobs / clusters;
    }
    for (int cluster = 0; cluster < clusters; ++cluster)
      gaps[cluster] = arrivals[cluster].exponential() * interarrival;
    for (long number = 0;;) {
      int home = 0;
      for (int cluster = 1; cluster < clusters; ++cluster)
        if (following[cluster] < following[home]) home = cluster;
      const double time = std::min({following[home], ends.next(), first_end});
      if (time == kNever) return;
      now = time;
      bool ended = false;
      while (ends.next() <= now) {
        const Running job = ends.remove();
        free[job.cluster] += job.size;
        output.finish(job.number, job.end);
        ended = true;
      }
      while (first_end <= now) {
        end_first();
        ended = true;
      }
      if (following[home] > now) {
        serve();
        continue;
      }
      if (ended) serve();
      const int size = input.sizes.at(of_sizes[home].uniform());
      const Waiting job{now, mean * runtimes[home].exponential(), size, home, number++};
      following[home] = --left[home] > 0 ? now + gaps[home] : kNever;
      gaps[home] = arrivals[home].exponential() * interarrival;
      if (!try_start(job)) queue.push_back(job);
    }
  }
};

// Jobs of several components: GS and LS-OR of `queues`, and Worst Fit under constant backlog --------

constexpr int kParts = 4;

struct Unordered {
  double arrival, runtime;
  int64_t number;
  int32_t home, size, parts[kParts];  // processors of each component, the largest first; 0: none
};

struct Departing {
  double end;
  int64_t number;
  int32_t take[kParts];
  bool operator<(const Departing& other) const { return end > other.end; }
};

struct Queues {
  int clusters, free[kMost];
  bool at_home;  // jobs of one component run where they were submitted
  double now = 0.0;
  std::vector<Departing> ends;
  std::vector<Unordered> queue[kMost];
  size_t head[kMost] = {};
  Output& output;

  Queues(int clusters, int nodes, bool at_home, Output& output)
      : clusters(clusters), at_home(at_home), output(output) {
    std::fill(free, free + clusters, nodes);
  }

  bool any(int line) const { return head[line] < queue[line].size(); }

  void leave(int line) {
    if (++head[line] == queue[line].size()) {
      queue[line].clear();
      head[line] = 0;
    } else if (head[line] > 4096 && 2 * head[line] > queue[line].size()) {
      queue[line].erase(queue[line].begin(), queue[line].begin() + head[line]);
      head[line] = 0;
    }
  }

  bool try_start(const Unordered& job) {
    int take[kMost] = {};
    if (at_home && job.parts[1] == 0) {
      if (job.size > free[job.home]) return false;
      take[job.home] = job.size;
    } else {
      for (int part = 0; part < kParts && job.parts[part] > 0; ++part) {
        int best = -1;
        for (int cluster = 0; cluster < clusters; ++cluster)
          if (take[cluster] == 0 && (best < 0 || free[cluster] > free[best])) best = cluster;
        if (best < 0 || free[best] < job.parts[part]) return false;
        take[best] = job.parts[part];
      }
    }
    Departing row{now + job.runtime, job.number, {}};
    wait += now - job.arrival;
    output.start(job.number, now);
    for (int cluster = 0; cluster < clusters; ++cluster) {
      free[cluster] -= row.take[cluster] = take[cluster];
      output.take(job.number, cluster, take[cluster]);
    }
    ends.push_back(row);
    std::push_heap(ends.begin(), ends.end());
    return true;
  }

  void depart() {
    std::pop_heap(ends.begin(), ends.end());
    const Departing& row = ends.back();
    for (int cluster = 0; cluster < clusters; ++cluster) free[cluster] += row.take[cluster];
    output.finish(row.number, row.end);
    ends.pop_back();
  }

  void visit() {  // in rounds, those whose heads fit
    int enabled[kMost], count = 0;
    for (int line = 0; line < clusters; ++line)
      if (any(line)) enabled[count++] = line;
    while (count > 0) {
      int kept = 0;
      for (int place = 0; place < count; ++place) {
        const int line = enabled[place];
        if (!try_start(queue[line][head[line]])) continue;
        leave(line);
        if (any(line)) enabled[kept++] = line;
      }
      count = kept;
    }
  }

  Unordered draw(int64_t number, double mean, const std::vector<double>& given, Input& input) {
    const double level = input.streams[3].uniform();  // of components
    int last = 0;
    while (last < kParts - 1 && level >= given[10 + last]) ++last;
    Unordered job{};
    job.number = number;
    for (int part = 0; part <= last; ++part) {
      const int size = input.sizes.at(input.streams[1].uniform());
      int at = part;
      for (; at > 0 && job.parts[at - 1] < size; --at) job.parts[at] = job.parts[at - 1];
      job.parts[at] = size;
      job.size += size;
    }
    job.runtime = mean * input.streams[2].exponential();
    return job;
  }

  void run(long jobs, double rate, double mean, const std::vector<double>& given, Input& input) {
    Stream& arrivals = input.streams[0];
    double following = arrivals.exponential() / rate;
    for (long number = 0; number < jobs || !ends.empty();) {
      if (!ends.empty() && ends.front().end <= following) {
        now = ends.front().end;
        depart();
        visit();
        continue;
      }
      now = following;
      Unordered job = draw(number, mean, given, input);
      job.arrival = now;
      const double level = input.streams[4].uniform();  // of origins
      while (level >= given[10 + kParts + job.home]) ++job.home;
      const int line = at_home ? job.home : 0;
      if (any(line) || !try_start(job)) queue[line].push_back(job);
      following = ++number < jobs ? now + arrivals.exponential() / rate : kNever;
    }
  }

  void run_backlog(long jobs, double mean, const std::vector<double>& given, Input& input) {
    for (long number = 0; number < jobs; ++number) {
      Unordered job = draw(number, mean, given, input);
      job.arrival = now;
      while (!try_start(job)) {
        now = ends.front().end;
        depart();
      }
    }
    while (!ends.empty()) depart();
  }
};

}  // namespace

int main(int count, char** words) {
  if (count < 4) return 2;
  const std::string name = words[1];
  const long jobs = std::atol(words[2]);
  Input input(words[3]);
  const std::vector<double>& given = input.parameters;
  const bool site = name == "fcfs" || name == "easy";
  const int clusters = site ? 1 : static_cast<int>(given[4]);
  Output output(count > 4, jobs, clusters);
  size_t waiting = sizeof(Waiting), running = sizeof(Running);
  const std::clock_t begin = std::clock();
  if (site) {
    Site(static_cast<int>(given[3]), name == "easy", output).run(jobs, given[1], given[2], input);
  } else if (name == "gs" || name == "ls-or" || name == "wf") {
    waiting = sizeof(Unordered), running = sizeof(Departing);
    Queues queues(clusters, static_cast<int>(given[3]), name == "ls-or", output);
    if (name == "wf")
      queues.run_backlog(jobs, given[2], given, input);
    else
      queues.run(jobs, given[1], given[2], given, input);
  } else {
    const Policy policy =
        name == "b3" ? kB3 : name == "first-fit" ? kFirstFit : kMigrationOnly;
    if (policy != kMigrationOnly) running = sizeof(Sliding);
    Grid grid(policy, clusters, static_cast<int>(given[3]), output);
    grid.fraction = given[5];
    grid.bandwidth = given[6];
    grid.capacity = given[7];
    grid.lslt = given[8];
    grid.chunk = given[9];
    grid.run(jobs, given[1], given[2], input);
  }
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  std::printf("%.17g %.17g %zu %zu\n", seconds, wait / jobs, waiting, running);
  if (count > 4) output.write(words[4]);
  return 0;
}

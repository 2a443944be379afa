#include "runtime/capture/capture.h"

#include <algorithm>
#include <string>

#include "runtime/launcher.h"
#include "view/shape.h"

namespace arraycore::capture {

namespace {

// The largest upload, in bytes, that a block can contain. Larger uploads use memory that is reused,
// so they are issued by themselves each time.
constexpr std::size_t kWordsOfBlock = 1024;

bool is_constant(const Action& action) {
  const auto* const upload = std::get_if<Upload>(&action);
  return upload == nullptr || upload->bytes.size() <= kWordsOfBlock;
}

bool is_launch(const Action& action) {
  return std::holds_alternative<Launch>(action) || std::holds_alternative<GemmLaunch>(action) ||
         std::holds_alternative<RawLaunch>(action) || std::holds_alternative<BatchLaunch>(action);
}

// Returns the index of a parameter among the operation's scalars.
std::size_t scalar_of(const Operation& operation, std::uint32_t parameter) {
  const auto found = std::find(operation.scalars.begin(), operation.scalars.end(), parameter);
  return static_cast<std::size_t>(found - operation.scalars.begin());
}

// Splits a batched launch into one launch for each segment.
std::vector<Command> apart(const Command& command) {
  const auto& batch = *std::get_if<BatchLaunch>(&command.action);
  std::vector<Command> launches;
  for (const BatchSegment& segment : batch.segments) {
    Launch launch;
    launch.kernel = batch.kernel;
    launch.loop = {segment.count};
    auto array = segment.arrays.begin();
    auto scalar = batch.scalars.begin();
    for (std::uint32_t place = 0; place < command.operation->parameters.size(); ++place) {
      const std::vector<std::uint32_t>& scalars = command.operation->scalars;
      if (std::find(scalars.begin(), scalars.end(), place) != scalars.end()) {
        launch.arguments.emplace_back(*scalar++);
        continue;
      }
      View run = contiguous({segment.count}, size_of(command.operation->parameters[place]));
      run.offset = array->view.offset;
      launch.arguments.emplace_back(ArrayArgument{array->storage, run});
      ++array;
    }
    launches.push_back({command.side, command.operation, std::move(launch)});
  }
  return launches;
}

}  // namespace

Result<std::unique_ptr<Capture>> Capture::make(const Backends& backends, Launcher& launcher,
                                               Counters& counters, const Tape& tape,
                                               std::span<const Given> given) {
  std::unique_ptr<Capture> capture(new Capture(backends, launcher, counters));
  capture->commands_ = tape.commands();
  TRY_DONE(capture->place(tape));
  const std::size_t recorded = capture->commands_.size();
  TRY_DONE(capture->carry(tape));
  capture->carried_ = capture->commands_.size() - recorded;
  std::vector<Given> moved(given.begin(), given.end());
  for (Given& each : moved) each.command += static_cast<std::uint32_t>(capture->carried_);
  capture->take_apart(moved);
  capture->cut(moved);
  return capture;
}

Capture::~Capture() {
  for (TapedBackend* const backend : backends_)
    if (backend != nullptr) backend->inner().forget_blocks(this);
  own_.clear();
  for (const auto& [side, storage] : pinned_) backends_[side]->unpin(storage);
}

void Capture::pin(std::size_t side, StorageId storage) {
  backends_[side]->pin(storage);
  pinned_.emplace_back(side, storage);
}

Result<StorageId> Capture::lend(std::size_t side, std::int64_t bytes) {
  TRY_DONE(launcher_.check_budget(bytes, "a captured step"));
  auto storage = std::make_unique<Storage>(*backends_[side], counters_, 0, bytes);
  TRY_DONE(storage->make_memory());
  bytes_ += bytes;
  own_.push_back(std::move(storage));
  return own_.back()->id();
}

// Replaces the tape's names of storages by ids. Temporary storages of the step share the capture's
// own storages: after the last use of one, the next temporary storage of the same size and back end
// uses its memory.
Status Capture::place(const Tape& tape) {
  const auto temporary = [&](Name name) {
    return is_made(name) && !tape.made()[number_of(name)].alive;
  };
  std::vector<std::size_t> last(tape.made().size(), 0);
  for (std::size_t at = 0; at < commands_.size(); ++at)
    for (const StorageId* const name : storages_of(commands_[at].action))
      if (temporary(*name)) last[number_of(*name)] = at;

  std::vector<std::uint32_t> unused;  // storages that are no longer needed
  std::vector<std::uint32_t> ended;
  std::vector<StorageId> places(tape.made().size(), 0);
  std::vector<StorageId> carried(tape.made().size(), 0);
  std::array<std::vector<bool>, kSides> pinned;
  for (std::size_t at = 0; at < commands_.size(); ++at) {
    Command& command = commands_[at];
    const std::size_t side = command.side;
    ended.clear();
    for (StorageId* const storage : storages_of(command.action)) {
      const Name name = *storage;
      const std::uint32_t number = number_of(name);
      if (is_carried(name)) {
        // The storage that the step before made is as large as the one that this step makes,
        // because the same program makes the same storages.
        if (carried[number] == 0) {
          TRY(const auto& lent, lend(side, tape.made()[number].bytes));
          carried[number] = lent;
        }
        *storage = carried[number];
        continue;
      }
      if (!temporary(name)) {
        *storage = is_made(name) ? tape.made()[number].id : name;
        if (!is_made(name) && !tape.outside(side, name).alive)
          return Error{ErrorKind::value, "capture_arrays",
                       command.operation->name + " works on an array that is gone by now."};
        if (pinned[side].size() <= *storage) pinned[side].resize(*storage + 1);
        if (!pinned[side][*storage]) pin(side, *storage);
        pinned[side][*storage] = true;
        continue;
      }
      const Tape::Made& made = tape.made()[number];
      if (places[number] == 0) {
        const auto free = std::find_if(unused.begin(), unused.end(), [&](std::uint32_t other) {
          return tape.made()[other].side == side && tape.made()[other].bytes == made.bytes;
        });
        if (free != unused.end()) {
          places[number] = places[*free];
          unused.erase(free);
        } else {
          TRY(const auto& lent, lend(side, made.bytes));
          places[number] = lent;
        }
      }
      *storage = places[number];
      if (last[number] == at && std::find(ended.begin(), ended.end(), number) == ended.end())
        ended.push_back(number);
    }
    unused.insert(unused.end(), ended.begin(), ended.end());
  }
  return Done{};
}

// Puts copies before all other commands. Each play begins with these copies. They replace the state
// that the last play read by the new state that the last play made.
Status Capture::carry(const Tape& tape) {
  std::vector<Command> copies;
  std::vector<bool> known(tape.made().size(), false);
  for (std::size_t at = 0; at < tape.commands().size(); ++at) {
    Action names = tape.commands()[at].action;
    const std::vector<StorageId*> from = storages_of(names);
    const std::vector<StorageId*> to = storages_of(commands_[at].action);
    const std::size_t side = commands_[at].side;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::uint32_t number = number_of(*from[i]);
      if (!is_carried(*from[i]) || known[number]) continue;
      known[number] = true;
      const Tape::Made& made = tape.made()[number];
      if (!made.alive)
        return Error{ErrorKind::value, "capture_arrays",
                     tape.commands()[at].operation->name +
                         " reads what the step before made, and this step makes no more of."};
      if (made.bytes == 0) continue;
      TRY(auto& copy, backends_[side]->copy(made.id, *to[i], made.bytes));
      pin(side, made.id);
      copies.push_back({side, nullptr, std::move(copy)});
    }
  }
  commands_.insert(commands_.begin(), copies.begin(), copies.end());
  return Done{};
}

// A batched launch needs its arrays in shared buffers. If the capture's own storage is not in one,
// each segment becomes a launch of its own.
void Capture::take_apart(std::vector<Given>& given) {
  std::vector<Command> commands;
  // For each old command: the index of its first new command, and the number of new commands.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places;
  for (Command& command : commands_) {
    const auto first = static_cast<std::uint32_t>(commands.size());
    bool shared = true;
    if (const auto* const batch = std::get_if<BatchLaunch>(&command.action)) {
      const TapedBackend& backend = *backends_[command.side];
      for (const BatchSegment& segment : batch->segments)
        for (std::size_t i = 0; i < segment.arrays.size(); ++i) {
          const std::uint32_t buffer = backend.shared_buffer(segment.arrays[i].storage);
          shared = shared && buffer != 0 &&
                   buffer == backend.shared_buffer(batch->segments[0].arrays[i].storage);
        }
    }
    if (shared)
      commands.push_back(std::move(command));
    else
      for (Command& each : apart(command)) commands.push_back(std::move(each));
    places.emplace_back(first, static_cast<std::uint32_t>(commands.size()) - first);
  }
  commands_ = std::move(commands);
  std::vector<Given> moved;
  for (const Given& each : given) {
    const auto [first, count] = places[each.command];
    for (std::uint32_t i = 0; i < count; ++i)
      moved.push_back({first + i, each.argument, each.value});
  }
  given = std::move(moved);
}

void Capture::cut(std::span<const Given> given) {
  given_.assign(given.begin(), given.end());
  std::vector<bool> is_given(commands_.size(), false);
  for (const Given& each : given_) {
    is_given[each.command] = true;
    values_ = std::max(values_, each.value + 1);
  }
  const std::size_t counted = backends_[1] != nullptr ? 1 : 0;
  for (std::size_t at = 0; at < commands_.size(); ++at) {
    const Command& command = commands_[at];
    launches_ += command.side == counted && is_launch(command.action) ? 1 : 0;
    const bool constant = !is_given[at] && backends_[command.side]->inner().keeps_blocks() &&
                          is_constant(command.action);
    if (runs_.empty() || runs_.back().constant != constant) runs_.push_back({at, 0, constant, {}});
    ++runs_.back().count;
  }
}

bool Capture::keeps(std::optional<DType> dtype, std::uint64_t bits) const {
  const auto is_given = [&](std::size_t command, std::size_t argument) {
    return std::any_of(given_.begin(), given_.end(), [&](const Given& each) {
      return each.command == command && each.argument == argument;
    });
  };
  for (std::size_t at = 0; at < commands_.size(); ++at) {
    const Command& command = commands_[at];
    if (const auto* const raw = std::get_if<RawLaunch>(&command.action)) {
      for (std::size_t i = 0; !dtype && i < raw->uniforms.size(); ++i)
        if (raw->uniforms[i] == bits && !is_given(at, i)) return true;
      continue;
    }
    if (!dtype || command.operation == nullptr) continue;
    const auto* const launch = std::get_if<Launch>(&command.action);
    const auto* const batch = std::get_if<BatchLaunch>(&command.action);
    if (launch == nullptr && batch == nullptr) continue;
    for (std::size_t i = 0; i < command.operation->scalars.size(); ++i) {
      const std::uint32_t place = command.operation->scalars[i];
      const ir::Scalar& scalar = batch != nullptr
                                     ? batch->scalars[i]
                                     : *std::get_if<ir::Scalar>(&launch->arguments[place]);
      if (command.operation->parameters[place] == *dtype && scalar.bits == bits &&
          !is_given(at, place))
        return true;
    }
  }
  return false;
}

Status Capture::play(std::span<const std::uint64_t> values) {
  for (const Given& each : given_) {
    Action& action = commands_[each.command].action;
    const std::uint64_t bits = values[each.value];
    if (auto* const launch = std::get_if<Launch>(&action))
      std::get_if<ir::Scalar>(&launch->arguments[each.argument])->bits = bits;
    else if (auto* const raw = std::get_if<RawLaunch>(&action))
      raw->uniforms[each.argument] = static_cast<std::uint32_t>(bits);
    else if (auto* const batch = std::get_if<BatchLaunch>(&action))
      batch->scalars[scalar_of(*commands_[each.command].operation, each.argument)].bits = bits;
  }
  return resume();
}

Status Capture::resume() {
  for (; run_ < runs_.size(); ++run_, within_ = 0) TRY_DONE(issue(runs_[run_]));
  run_ = 0;
  counters_.dispatches += launches_;
  return Done{};
}

Status Capture::issue(Run& run) {
  Backend& backend = backends_[commands_[run.first].side]->inner();
  if (run.block) return backend.issue_block(this, *run.block, within_);
  // At the first play, the commands are issued as usual and recorded as a block. That needs an
  // uninterrupted play. After an interruption the next play records.
  const bool keep = run.constant && within_ == 0;
  if (keep) backend.begin_block(this);
  Status issued = Done{};
  for (; within_ < run.count; ++within_) {
    issued = issue(commands_[run.first + within_]);
    if (!issued) break;
  }
  if (keep) {
    const std::uint32_t block = backend.end_block(this);
    if (issued) run.block = block;
  }
  return issued;
}

Status Capture::issue(const Command& command) {
  Backend& backend = backends_[command.side]->inner();
  if (const auto* const launch = std::get_if<Launch>(&command.action))
    return backend.launch(*launch);
  if (const auto* const product = std::get_if<GemmLaunch>(&command.action))
    return backend.launch_gemm(*product);
  if (const auto* const raw = std::get_if<RawLaunch>(&command.action))
    return backend.launch_raw(*raw);
  if (const auto* const batch = std::get_if<BatchLaunch>(&command.action))
    return backend.launch_batch(batch->kernel, batch->scalars, batch->segments);
  if (const auto* const zero = std::get_if<Zero>(&command.action))
    return backend.fill_zero(zero->storage);
  const auto& upload = *std::get_if<Upload>(&command.action);
  counters_.bytes_up += static_cast<std::int64_t>(upload.bytes.size());
  return backend.upload(upload.storage, upload.offset, upload.bytes);
}

}  // namespace arraycore::capture

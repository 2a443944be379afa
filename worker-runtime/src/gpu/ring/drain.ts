// Takes commands from the ring and passes them to an Executor. The steps and their order are those of Drain and
// Announcement in array-core/src/ring/state.h. Runs on the gpu thread (run) or, where memory cannot be shared between
// threads, on the python thread (pump).

import { LEAST_WORDS, nameOf } from "./command_names.ts";
import { Control } from "./control.ts";
import {
  type Code,
  CommandError,
  type CommandName,
  type DeviceEvents,
  type Executor,
  type OpenExecutor,
} from "./executor.ts";
import {
  Capability,
  CLOSE_REQUEST,
  ErrorCode,
  HEARTBEAT_MS,
  Opcode,
  SLEEPS_FOR_MESSAGE,
  SLEEPS_ON_WORD,
  State,
  TRACE_WORDS,
  Word,
} from "./layout.ts";
import { ModuleMemory } from "./module_memory.ts";

/** The most commands that are executed between two turns of the event loop, in which results arrive. */
const TURN_COMMANDS = 4096;
/** After this many commands, their space in the ring is freed. */
const PUBLISH_COMMANDS = 256;
/** In Node, a turn of the event loop takes a microsecond, and Dawn polls the device in each turn. */
const hasCheapTurns = typeof setImmediate === "function";
/**
 * The time in ms for which the drain polls for work before it sleeps. In browsers one turn of the event loop takes
 * longer than such a wait. So the drain polls for a shorter time there, and without turns if it expects no answer.
 */
const LINGER_MS = hasCheapTurns ? 1 : 0.3;
/** The time in ms for which the drain polls for an answer before it sleeps. */
const ATTEND_MS = 1.5;
/**
 * Browsers poll their device rarely (Chromium after 2 ms, Firefox after up to 100 ms), and at each submit. So empty
 * submits make them poll: at first with this pause in ms, which then grows by the factor ASK_GROWTH.
 */
const ASK_MS = 0.15;
const ASK_GROWTH = 1.5;
const LONGEST_ASK_MS = 100;
/**
 * The time in ms for which the drain blocks its thread for work before it sleeps by waitAsync, which wakes later
 * because it needs a task. The drain blocks only if it expects nothing from the device. While it blocks, it does not
 * notice a loss of the device.
 */
const BLOCK_MS = 20;
/** The longest time in ms for which the drain sleeps. */
const SLEEP_MS = 10_000;
/** The longest time in ms for which a call of the device may block: for a large upload, or if its queue is full. */
const BUSY_SILENCE_MS = 8_000;
/** Replaces BUSY_SILENCE_MS for a device that is a program on the CPU, where other programs may run too. */
const BUSY_SOFTWARE_SILENCE_MS = 60_000;
/** The longest time in ms for which the compilation of a shader may block the thread. */
const COMPILE_SILENCE_MS = 60_000;

/** The pause in ms between two polls for the end of a batch, for a device that rests after each batch. */
const ASK_RESTING_MS = 2;
const LONGEST_REST_MS = 2_000;

/** Returns how long a device rests after `busyMs` of work, in ms, so that it works only for `share` of the time. */
export function restMs(busyMs: number, share: number): number {
  return Math.min(LONGEST_REST_MS, busyMs * (1 / share - 1));
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export interface DrainOptions {
  readonly memory: WebAssembly.Memory;
  /** The byte address of the control block. */
  readonly controlAddress: number;
  readonly open: OpenExecutor;
  /** Whether to sleep until wake() is called, for engines without `Atomics.waitAsync`. */
  readonly byMessage?: boolean;
  /** Whether submits must poll the device for its answers. */
  readonly asks?: boolean;
  /** The share of time in which the device may work, above 0 and at most 1. It rests after each batch. */
  readonly share?: number;
  /** Pauses for `ms` milliseconds while the device rests. Tests replace this function. */
  readonly rest?: (ms: number) => Promise<void>;
}

export class Drain {
  readonly #memory: ModuleMemory;
  readonly #control: Control;
  readonly #open: OpenExecutor;
  readonly #byMessage: boolean;
  readonly #asks: boolean;
  readonly #rest: (ms: number) => Promise<void>;
  #share: number;
  readonly #ringBase: number;
  readonly #ringMask: number;
  readonly #strict: boolean;
  #executor: Executor | undefined;
  /** Counts devices. Events of an earlier device are ignored. */
  #generation = 0;
  #lost = false;
  #closed = false;
  #position = 0;
  #written = 0;
  #handled = 0;
  #opcode = 0;
  #tag = 0;
  #label = "";
  /** The time of the last command or answer. */
  #activeAt = 0;
  #askedAt = 0;
  #askPauseMs = ASK_MS;
  /** The number of fences that the device has not reached. */
  #openFences = 0;
  #busySilenceMs = BUSY_SILENCE_MS;
  /** Whether the newest command was a fence, whose end will wake the issuer. */
  #newsFollows = false;
  #wake: (() => void) | undefined;

  constructor(options: DrainOptions) {
    this.#memory = new ModuleMemory(options.memory);
    this.#control = new Control(options.memory, options.controlAddress);
    this.#open = options.open;
    this.#byMessage = options.byMessage ?? typeof Atomics.waitAsync !== "function";
    this.#asks = options.asks ?? !hasCheapTurns;
    this.#rest = options.rest ?? pause;
    this.#share = options.share ?? 1;
    this.#ringBase = this.#control.load(Word.ringAddress) / 4;
    this.#ringMask = this.#control.load(Word.ringWords) - 1;
    this.#strict = this.#control.load(Word.strict) !== 0;
  }

  /** Opens the device and takes over the ring. */
  async attach(): Promise<void> {
    // If the ring had an earlier executor, commands in the ring name objects that no longer exist.
    const isSecond = this.#control.load(Word.state) !== State.absent;
    this.#handled = this.#control.load(Word.answered);
    this.#position = this.#control.load(Word.consumed);
    this.#control.store(Word.sleeps, 0);
    this.#lost = isSecond || !(await this.#openDevice());
    // Opening the device may have blocked this thread for long. So the counter `progress` shows waiting issuers that
    // the thread still works.
    this.#control.add(Word.progress, 1);
    this.#promiseNews();
    this.#control.store(Word.state, this.#lost ? State.lost : State.running);
    this.#control.signal();
  }

  /** Attaches to the ring, and serves it until it is closed. Only for a thread that does nothing else. */
  async run(): Promise<void> {
    const heartbeat = setInterval(() => this.#control.add(Word.progress, 1), HEARTBEAT_MS);
    try {
      await this.attach();
      while (!this.#closed) {
        await this.#serve();
        if (!this.#closed) await this.#sleep();
      }
    } finally {
      clearInterval(heartbeat);
    }
  }

  /**
   * Replaces `Atomics.wait` on `signal` if the issuer runs on the same thread. It executes all commands in the ring.
   * Then it waits until `signal` differs from `seen`, or until the time ends.
   */
  async pump(seen: number, timeoutMs: number): Promise<void> {
    if (!this.#closed) await this.#serve();
    const control = this.#control;
    if (control.load(Word.signal) !== seen >>> 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      control.onSignal = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    control.onSignal = undefined;
    control.add(Word.progress, 1);
  }

  /** Wakes the thread, in engines where the issuer cannot wake it by `Atomics.notify`. */
  wake(): void {
    this.#wake?.();
  }

  // ---- the drain's loop -----------------------------------------------------------------------

  async #serve(): Promise<void> {
    for (;;) {
      const request = this.#control.load(Word.request);
      if (request === CLOSE_REQUEST) return this.#close();
      if (request !== this.#handled) {
        this.#handled = request;
        await this.#reset();
        continue;
      }
      this.#written = this.#control.load(Word.written);
      if (this.#written === this.#position) return;
      await this.#turn();
      if (this.#written === this.#position) continue;
      await yieldToEvents();
    }
  }

  /** Sets the device's share of time, from the next batch on. */
  setShare(share: number): void {
    this.#share = share;
  }

  // Executes up to TURN_COMMANDS of the published commands.
  async #turn(): Promise<void> {
    const begunAt = performance.now();
    this.#memory.refresh();
    this.#control.store(Word.silenceMs, this.#busySilenceMs);
    for (let done = 0; done < TURN_COMMANDS && this.#position !== this.#written; ) {
      const waiting = this.#executeOne();
      if (waiting !== undefined) await waiting;
      done += 1;
      if (done % PUBLISH_COMMANDS === 0) this.#publish();
    }
    const full = this.#executor?.submit();
    // In Node, Dawn answers faster than a thread wakes up. So the issuer is woken before the answer comes.
    if (hasCheapTurns && this.#isAwaited()) this.#control.rouse();
    this.#activeAt = performance.now();
    this.#askedAt = this.#activeAt;
    this.#askPauseMs = ASK_MS;
    this.#publish();
    this.#promiseNews();
    if (full !== undefined) await full;
    if (this.#share < 1) await this.#restAfter(begunAt);
  }

  // Tells the issuer how long this thread may make no progress before it counts as gone. The time is longer while the
  // device computes, because asking the device whether it has finished may block the thread.
  #promiseNews(): void {
    this.#control.store(Word.silenceMs, this.#openFences > 0 ? this.#busySilenceMs : 0);
  }

  // Waits until the device has finished the batch, and then pauses, so that the trial uses only its share of the
  // device's time.
  async #restAfter(begunAt: number): Promise<void> {
    let isDone = false;
    this.#executor?.fence(() => {
      isDone = true;
    });
    while (!isDone && !this.#lost && this.#executor !== undefined) {
      this.#executor.nudge();
      await pause(ASK_RESTING_MS);
    }
    await this.#rest(restMs(performance.now() - begunAt, this.#share));
  }

  #publish(): void {
    if (this.#executor !== undefined) this.#control.putCounters(this.#executor.counters);
    this.#control.add(Word.progress, 1);
    this.#control.store(Word.consumed, this.#position);
    if (!this.#isAwaited()) this.#control.signal();
  }

  // Returns whether the newest command is a fence that the issuer waits for.
  #isAwaited(): boolean {
    return this.#newsFollows && this.#openFences > 0 && !this.#lost;
  }

  // Polls before it sleeps. An issuer that just got an answer usually sends its next command soon, and waking this
  // thread would take longer than the command. A sleeping thread would also notice the device's answers later.
  async #linger(): Promise<void> {
    while (this.#hasNothing()) {
      const isOpen = this.#openFences > 0;
      const idleMs = performance.now() - this.#activeAt;
      if (idleMs >= (isOpen ? ATTEND_MS : LINGER_MS)) return;
      if (isOpen) this.#ask();
      if (isOpen || hasCheapTurns) await yieldToEvents();
    }
  }

  // Makes the device poll, unless it did a moment ago.
  #ask(): void {
    if (!this.#asks) return;
    const now = performance.now();
    if (now - this.#askedAt < this.#askPauseMs) return;
    this.#askedAt = now;
    this.#executor?.nudge();
  }

  #hasNothing(): boolean {
    return (
      this.#control.load(Word.written) === this.#position &&
      this.#control.load(Word.request) === this.#handled
    );
  }

  async #sleep(): Promise<void> {
    await this.#linger();
    const asks = this.#asks && this.#openFences > 0;
    if (asks) this.#askPauseMs = Math.min(this.#askPauseMs * ASK_GROWTH, LONGEST_ASK_MS);
    // A timer cannot wait for less than 1 ms.
    const sleepMs = asks ? Math.max(1, this.#askPauseMs) : SLEEP_MS;
    const how = this.#byMessage ? SLEEPS_FOR_MESSAGE : SLEEPS_ON_WORD;
    const woken = this.#byMessage ? this.#nextMessage(sleepMs) : undefined;
    this.#control.store(Word.sleeps, how);
    // An issuer that wrote a command before it could see `sleeps` did not wake this thread. So the ring is checked
    // again.
    if (this.#hasNothing()) {
      this.#control.add(Word.sleepsTaken, 1);
      const mayBlock = !this.#byMessage && this.#openFences === 0;
      if (!mayBlock || !this.#control.blocks(Word.sleeps, how, BLOCK_MS))
        await (woken ?? this.#control.changed(Word.sleeps, how, sleepMs));
    }
    this.#control.store(Word.sleeps, 0);
    if (asks && this.#openFences > 0) this.#ask();
  }

  #nextMessage(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #reset(): Promise<void> {
    // A reset also forgets an error that the issuer has not read yet.
    this.#control.store(Word.errorFull, 0);
    this.#lost = !(await this.#openDevice());
    this.#position = this.#control.load(Word.written);
    this.#control.store(Word.consumed, this.#position);
    this.#control.store(Word.state, this.#lost ? State.lost : State.running);
    this.#control.store(Word.answered, this.#handled);
    this.#control.signal();
  }

  #close(): void {
    this.#generation += 1;
    this.#executor?.destroy();
    this.#executor = undefined;
    this.#closed = true;
    this.#control.store(Word.state, State.closed);
    this.#control.signal();
  }

  async #openDevice(): Promise<boolean> {
    this.#generation += 1;
    this.#openFences = 0;
    this.#executor?.destroy();
    this.#executor = undefined;
    this.#label = "";
    try {
      this.#executor = await this.#open(this.#events(this.#generation));
      this.#control.putCapabilities(this.#executor.capabilities);
      const isSoftware = (this.#executor.capabilities.flags & Capability.fallbackAdapter) !== 0;
      this.#busySilenceMs = isSoftware ? BUSY_SOFTWARE_SILENCE_MS : BUSY_SILENCE_MS;
      this.#control.putCounters(this.#executor.counters);
      return true;
    } catch (error) {
      const code = error instanceof CommandError ? error.code : ErrorCode.noDevice;
      this.#control.putError(code, messageOf(error), undefined);
      return false;
    }
  }

  // ---- events of the device ------------------------------------------------------------------

  #events(generation: number): DeviceEvents {
    const isCurrent = () => generation === this.#generation;
    return {
      current: () => this.#current(),
      failed: (code, message, command) => {
        if (isCurrent()) this.#fail(code, message, command);
      },
      lost: (message) => {
        if (!isCurrent()) return;
        this.#lost = true;
        this.#openFences = 0;
        this.#control.putError(ErrorCode.deviceLost, `The device was lost: ${message}`, undefined);
        this.#control.store(Word.state, State.lost);
        this.#control.signal();
      },
    };
  }

  #current(): CommandName {
    return {
      position: this.#position,
      opcode: this.#opcode,
      tag: this.#tag,
      label: this.#label,
    };
  }

  #fail(code: Code, message: string, command: CommandName | undefined): void {
    const name = command === undefined ? "" : nameOf(command);
    this.#control.putError(code, `${name}${message}`, command);
    this.#control.signal();
  }

  #reach(fence: number, generation: number): void {
    if (generation !== this.#generation || this.#lost) return;
    this.#openFences -= 1;
    this.#promiseNews();
    this.#activeAt = performance.now();
    if (this.#executor !== undefined) this.#control.putCounters(this.#executor.counters);
    this.#control.store(Word.fenceDone, fence);
    this.#control.signal();
  }

  // ---- execution of one command ---------------------------------------------------------------

  // Executes the command at `position` and advances. A returned promise settles when the command has ended.
  #executeOne(): Promise<void> | undefined {
    const at = this.#ringBase + (this.#position & this.#ringMask);
    const header = this.#memory.words[at] ?? 0;
    const words = header >>> 8;
    this.#opcode = header & 0xff;
    this.#newsFollows = false;
    this.#tag = this.#opcode === Opcode.dispatch ? (this.#memory.words[at + 1] ?? 0) : 0;
    const untilEnd = this.#ringMask + 1 - (this.#position & this.#ringMask);
    const published = (this.#written - this.#position) >>> 0;
    if (words === 0 || words > untilEnd || words > published) {
      // After a command without a valid length, the next commands cannot be found. So all written ones are skipped.
      this.#fail(ErrorCode.badCommand, `it has ${words} words`, this.#current());
      this.#position = this.#written;
      return undefined;
    }
    if (this.#lost || this.#opcode === Opcode.pad) {
      this.#position = (this.#position + words) >>> 0;
      return undefined;
    }
    this.#control.add(Word.commands, 1);
    const executor = this.#executor;
    if (executor === undefined) throw new Error("A running ring has an executor.");
    const position = this.#position;
    if (this.#strict) return this.#executeStrictly(executor, at, words, position);
    let waiting: Promise<void> | undefined;
    try {
      waiting = this.#perform(executor, at, words);
    } catch (error) {
      this.#blame(error);
    }
    if (waiting === undefined) {
      this.#position = (position + words) >>> 0;
      return undefined;
    }
    return this.#executeLater(executor, at, words, waiting);
  }

  // Waits for a command's promise. A dispatch or a fill is then executed, because it only waited for its pipeline.
  // Other commands are done.
  async #executeLater(
    executor: Executor,
    at: number,
    words: number,
    waiting: Promise<void>,
  ): Promise<void> {
    const generation = this.#generation;
    const again = this.#opcode === Opcode.dispatch || this.#opcode === Opcode.fill;
    let next: Promise<void> | undefined = waiting;
    try {
      while (next !== undefined) {
        await next;
        if (generation !== this.#generation || this.#lost) break;
        next = again ? this.#perform(executor, at, words) : undefined;
      }
    } catch (error) {
      this.#blame(error);
    }
    this.#position = (this.#position + words) >>> 0;
  }

  async #executeStrictly(
    executor: Executor,
    at: number,
    words: number,
    position: number,
  ): Promise<void> {
    const finish = executor.watch();
    try {
      const waiting = this.#perform(executor, at, words);
      if (waiting !== undefined) await this.#executeLater(executor, at, words, waiting);
    } catch (error) {
      this.#blame(error);
    }
    this.#position = position; // so that the error names this command
    await finish();
    this.#position = (position + words) >>> 0;
  }

  #blame(error: unknown): void {
    const code = error instanceof CommandError ? error.code : ErrorCode.deviceInternal;
    this.#fail(code, messageOf(error), this.#current());
  }

  #perform(executor: Executor, at: number, words: number): Promise<void> | undefined {
    const least = LEAST_WORDS.get(this.#opcode);
    if (least === undefined)
      throw new CommandError(ErrorCode.badCommand, `opcode ${this.#opcode} is unknown`);
    if (words < least) throw new CommandError(ErrorCode.badCommand, `it has ${words} words`);
    const w = (i: number): number => this.#memory.words[at + i] ?? 0;
    switch (this.#opcode) {
      case Opcode.dispatch:
        if (7 + (w(6) & 0xffff) * 3 + (w(6) >>> 16) > words)
          throw new CommandError(ErrorCode.badCommand, "it is shorter than its bindings");
        return executor.dispatch(this.#memory.words, at + 1);
      case Opcode.createBuffer:
        return executor.createBuffer(w(1), w(2), this.#memory.text(w(3), w(4)));
      case Opcode.destroyBuffer:
        return void executor.destroyBuffer(w(1));
      case Opcode.upload:
        return void executor.upload(w(1), w(2), this.#memory.view(w(3), w(4)));
      case Opcode.uploadInline:
        if (4 + Math.ceil(w(3) / 4) > words)
          throw new CommandError(ErrorCode.badCommand, "it is shorter than its bytes");
        return void executor.upload(w(1), w(2), this.#memory.view((at + 4) * 4, w(3)));
      case Opcode.copy:
        return void executor.copy(w(1), w(2), w(3), w(4), w(5));
      case Opcode.fill:
        return executor.fill(w(1), w(2), w(3), w(4));
      case Opcode.createPipeline:
        return this.#createPipeline(executor, at);
      case Opcode.destroyPipeline:
        return void executor.destroyPipeline(w(1));
      case Opcode.read: {
        const [address, bytes] = [w(3), w(4)];
        this.#memory.view(address, bytes);
        return void executor.read(w(1), w(2), bytes, (data) => this.#memory.land(address, data));
      }
      case Opcode.fence: {
        const fence = w(1);
        const generation = this.#generation;
        executor.fence(() => this.#reach(fence, generation));
        this.#openFences += 1;
        this.#newsFollows = true;
        return undefined;
      }
      case Opcode.timestampBegin:
        return void executor.timestampBegin();
      case Opcode.timestampEnd: {
        const address = w(1);
        this.#memory.view(address, 16);
        return void executor.timestampEnd((data) => this.#memory.land(address, data));
      }
      case Opcode.trace: {
        const [address, count] = [w(1), w(2)];
        this.#memory.view(address, count * TRACE_WORDS * 4);
        return void executor.trace(count, (first, data) =>
          this.#memory.land(address + first * TRACE_WORDS * 4, data),
        );
      }
      case Opcode.label:
        this.#label = this.#memory.text(w(1), w(2));
        return undefined;
      default:
        throw new CommandError(ErrorCode.badCommand, `opcode ${this.#opcode} is unknown`);
    }
  }

  #createPipeline(executor: Executor, at: number): undefined {
    const w = (i: number): number => this.#memory.words[at + i] ?? 0;
    const spec = {
      text: this.#memory.text(w(2), w(3)),
      label: this.#memory.text(w(4), w(5)),
      uniformBytes: w(6),
      bindings: w(7),
      readWriteMask: w(8),
    };
    this.#control.store(Word.silenceMs, COMPILE_SILENCE_MS);
    try {
      executor.createPipeline(w(1), spec);
    } finally {
      this.#control.add(Word.progress, 1);
      this.#control.store(Word.silenceMs, this.#busySilenceMs);
    }
    return undefined;
  }
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Lets the event loop handle events. It takes a task, not a microtask. */
const yieldToEvents: () => Promise<void> = makeYield();

function makeYield(): () => Promise<void> {
  if (typeof setImmediate === "function")
    return () => new Promise((resolve) => setImmediate(resolve));
  const { port1, port2 } = new MessageChannel();
  const waiting: (() => void)[] = [];
  port1.onmessage = () => waiting.shift()?.();
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      port2.postMessage(0);
    });
}

// The interface by which the agent answers and interrupts a python thread. answerer.ts implements it with shared
// memory, and posted_answerer.ts with messages in a browser without shared memory. Runs on the agent thread.

/** A measurement of the fixed work that shows how fast the processor is (governor/reference_work.ts). */
export interface Reference {
  /** The number of the measurement in its thread, from 1. */
  readonly number: number;
  readonly us: number;
}

export interface AgentEnd {
  /** The memory that both threads share; null if there is none. */
  readonly memory: SharedArrayBuffer | null;
  /** The counter that grows while Python makes progress, as an unsigned number. */
  readonly progress: number;
  /** The newest measurement of the reference work; null before the first one, and without shared memory. */
  readonly reference: Reference | null;
  /** Answers the open call. */
  answer(sequence: number, text: string): void;
  /** Makes Python raise KeyboardInterrupt as soon as possible. */
  interrupt(): void;
  /** Clears counters and interrupts of the previous attempt. Call it before an attempt starts. */
  reset(): void;
  /** Sets the part of the processor's time that is lent, above 0 and at most 1. It takes effect at once. */
  setLent(share: number): void;
  /** Whether Python is parked: it computes nothing and keeps its memory. */
  readonly isParked: boolean;
  /** Parks Python as soon as it looks, or lets it go on. Without shared memory it cannot be parked. */
  setParked(wanted: boolean): void;
  /** Says whether the device may soon be gone, so that a trial saves what it can. */
  setLeaving(isLeaving: boolean): void;
  /** Sets how many of the attempt's points and rows the server has. */
  setTaken(points: number): void;
}

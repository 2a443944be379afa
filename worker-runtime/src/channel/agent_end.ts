// How the agent acts on a python thread. answerer.ts implements this by shared memory, and posted_answerer.ts by messages
// in a browser without shared memory. Runs on the agent thread.

export interface AgentEnd {
  /** The memory that both threads share; null: none. */
  readonly memory: SharedArrayBuffer | null;
  /** The liveness counter as an unsigned number. */
  readonly progress: number;
  /** Answers the open call. */
  answer(sequence: number, text: string): void;
  /** Makes Python raise KeyboardInterrupt as soon as possible. */
  interrupt(): void;
  /** Clears counters and interrupts of the attempt before. Call it before an attempt starts. */
  reset(): void;
  /** Notes how many of the attempt's points and rows the server has. */
  setTaken(points: number): void;
}

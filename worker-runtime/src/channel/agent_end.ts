// What the agent can do to a python thread besides ending it. Two ways: answerer.ts by shared memory, posted_answerer.ts by
// messages where a browser shares none. Agent thread.

export interface AgentEnd {
  /** What both threads share; null: nothing. */
  readonly memory: SharedArrayBuffer | null;
  /** The liveness counter as an unsigned number. */
  readonly progress: number;
  /** Answers the open call. */
  answer(sequence: number, text: string): void;
  /** Makes Python raise KeyboardInterrupt as soon as it can hear of it. */
  interrupt(): void;
  /** Before an attempt starts: no point is on the way, no interrupt is left over from the one before. */
  reset(): void;
  /** So many of the attempt's points are with the server. */
  setTaken(points: number): void;
}

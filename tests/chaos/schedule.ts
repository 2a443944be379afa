// What goes wrong when, drawn by a seed. Pure.

export type Fault =
  /** A device goes away in the middle of its trial and never comes back. */
  | "tab_kill"
  /** SIGKILL; the server is started again a moment later. */
  | "server_kill"
  /** Every line is cut; devices may come back at once. */
  | "disconnect"
  /** Lines carry a few KB a second for a while. */
  | "slow_link"
  /** Nothing can be written for a while. */
  | "full_disk";

export interface Step {
  readonly fault: Fault;
  /** Pause before it. */
  readonly afterMs: number;
  /** How long it holds, where it does. */
  readonly forMs: number;
}

const FAULTS: readonly Fault[] = [
  "tab_kill",
  "server_kill",
  "disconnect",
  "slow_link",
  "full_disk",
];

/** Numbers in 0..1, the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 15), z | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Each fault once and two more besides, in the seed's order. A second killed tab would soon be a third: poison (R18). */
export function scheduleOf(seed: number): Step[] {
  const random = randomOf(seed);
  const drawn = [...FAULTS];
  const again = FAULTS.filter((fault) => fault !== "tab_kill");
  for (let i = 0; i < 2; i += 1) {
    const fault = again[Math.floor(random() * again.length)];
    if (fault !== undefined) drawn.push(fault);
  }
  for (let i = drawn.length - 1; i > 0; i -= 1) {
    const j = Math.floor(random() * (i + 1));
    [drawn[i], drawn[j]] = [drawn[j] as Fault, drawn[i] as Fault];
  }
  return drawn.map((fault) => ({
    fault,
    afterMs: Math.round(150 + 500 * random()),
    forMs: Math.round(200 + 600 * random()),
  }));
}

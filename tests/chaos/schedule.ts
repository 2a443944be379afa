// Chooses the faults of a run and their times. They depend only on a seed. Pure.

export type Fault =
  /** During their trials, a tab and a device without a browser disappear for ever. */
  | "tab_kill"
  /** The server is killed with SIGKILL and is started again a moment later. */
  | "server_kill"
  /** Every connection is cut. Devices may connect again at once. */
  | "disconnect"
  /** For a while, connections carry only a few KB a second. */
  | "slow_link"
  /** For a while, the server cannot write to its disk. */
  | "full_disk"
  /** A device that sends invented values is banned, and what it has sent is rejected while the next faults happen. */
  | "rejection";

export interface Step {
  readonly fault: Fault;
  /** The pause before the fault. */
  readonly afterMs: number;
  /** The duration of a fault that does not happen at one moment, such as a slow link. */
  readonly forMs: number;
}

const FAULTS: readonly Fault[] = [
  "tab_kill",
  "server_kill",
  "disconnect",
  "slow_link",
  "full_disk",
  "rejection",
];

/** Those that come once: one ends two devices, and there is one device that lies. */
const ONCE: ReadonlySet<Fault> = new Set(["tab_kill", "rejection"]);

/** Returns a source of random numbers in [0, 1) (mulberry32). The same seed gives the same numbers. */
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

/**
 * Returns each fault once, and two of them a second time, in an order that the seed determines. `tab_kill` comes only
 * once, because a trial fails if three devices disappear during it (protocol.md, R18).
 */
export function scheduleOf(seed: number): Step[] {
  const random = randomOf(seed);
  const drawn = [...FAULTS];
  const again = FAULTS.filter((fault) => !ONCE.has(fault));
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

// Describes this browser to the server. The description is as coarse as scheduling allows, because a fingerprint is
// personal data. It is made from `navigator` and, if there is one, the graphics device. Agent thread.

import type { Capabilities } from "../../protocol/index.ts";
import type { Graphics } from "./gpu_probe.ts";

/** The parts of `navigator` that this file reads. Optional fields are missing in some browsers. */
export interface NavigatorFacts {
  readonly userAgent: string;
  readonly hardwareConcurrency?: number;
  readonly deviceMemory?: number;
  readonly userAgentData?: { readonly mobile: boolean };
  /** Missing in workers. */
  readonly maxTouchPoints?: number;
}

/** Returns the capabilities that the device reports to the server. `graphics` is the result of gpu_probe.ts. */
export function capabilitiesOf(facts: NavigatorFacts, graphics?: Graphics): Capabilities {
  return {
    backends: graphics === undefined ? ["cpu"] : [graphics.backend, "cpu"],
    // The value is 0 if the browser does not report its memory.
    memory_mb: Math.round((facts.deviceMemory ?? 0) * 1024),
    cores: Math.max(1, Math.round(facts.hardwareConcurrency ?? 1)),
    engine: engineOf(facts.userAgent),
    class: classOf(facts),
    ...(graphics === undefined ? {} : { gpu: graphics.facts }),
  };
}

const MIB = 1_048_576;
const HEAP_LEAST = 512 * MIB;
/** The smallest limit of Python's heap in bytes, if the browser ended the last visit during a trial. */
const HEAP_LEAST_CAREFUL = 256 * MIB;
/** The largest limit of each class in MiB. A phone's browser ends a tab long before the phone's memory is full. */
const HEAP_MOST = { phone: 1_024, tablet: 1_536, desktop: 2_048, node: 2_048 } as const;
/** The limit in MiB for a device that does not report its memory, as in Firefox and Safari. */
const HEAP_UNKNOWN = { phone: 512, tablet: 768, desktop: 1_024, node: 1_024 } as const;

/**
 * Returns the limit of Python's heap in bytes: half of the device's memory, at least 512 MiB and at most the limit of its
 * class. `careful` halves this limit, because the browser ended the last visit.
 */
export function heapLimitOf(
  device: Pick<Capabilities, "class" | "memory_mb">,
  careful = false,
): number {
  const known = Math.min(HEAP_MOST[device.class] * MIB, Math.floor(device.memory_mb / 2) * MIB);
  const limit =
    device.memory_mb > 0 ? Math.max(HEAP_LEAST, known) : HEAP_UNKNOWN[device.class] * MIB;
  return careful ? Math.max(HEAP_LEAST_CAREFUL, limit / 2) : limit;
}

function engineOf(userAgent: string): string {
  const major = (pattern: RegExp) => userAgent.match(pattern)?.[1];
  const chromium = major(/Chrom(?:e|ium)\/(\d+)/);
  if (chromium !== undefined) return `chromium ${chromium}`;
  const firefox = major(/Firefox\/(\d+)/);
  if (firefox !== undefined) return `firefox ${firefox}`;
  const node = major(/^Node\.js\/(\d+)/);
  if (node !== undefined) return `node ${node}`;
  const webkit = major(/Version\/(\d+).*Safari/) ?? major(/AppleWebKit\/(\d+)/);
  return webkit === undefined ? "other" : `webkit ${webkit}`;
}

/** Returns the kind of device. */
export function classOf(facts: NavigatorFacts): Capabilities["class"] {
  const { userAgent } = facts;
  if (userAgent.startsWith("Node.js/")) return "node";
  // iPadOS calls itself a Mac, but no Mac has a touch screen.
  if (/Macintosh/.test(userAgent) && (facts.maxTouchPoints ?? 0) > 1) return "tablet";
  if (/iPad|Tablet|Android(?!.*Mobile)/.test(userAgent)) return "tablet";
  if (facts.userAgentData?.mobile === true || /Mobi|iPhone/.test(userAgent)) return "phone";
  return "desktop";
}

// What this browser says about itself: as coarse as scheduling allows, because fingerprints are personal data.
// Pure but for reading `navigator`; agent thread.

import type { Capabilities } from "../protocol/index.ts";

/** The parts of `navigator` that are read; some browsers lack some. */
export interface NavigatorFacts {
  readonly userAgent: string;
  readonly hardwareConcurrency?: number;
  readonly deviceMemory?: number;
  readonly userAgentData?: { readonly mobile: boolean };
}

export function capabilitiesOf(facts: NavigatorFacts): Capabilities {
  return {
    backends: ["cpu"],
    // 0: the browser does not say.
    memory_mb: Math.round((facts.deviceMemory ?? 0) * 1024),
    cores: Math.max(1, Math.round(facts.hardwareConcurrency ?? 1)),
    engine: engineOf(facts.userAgent),
    class: classOf(facts),
  };
}

const kMiB = 1_048_576;
const kHeapMost = 2_048 * kMiB;
const kHeapLeast = 512 * kMiB;
/** Of a device that does not say how much memory it has. */
const kHeapUnknown = 1_024 * kMiB;

/** The ceiling of Python's heap in bytes: half of the device's memory, between 512 MiB and 2 GiB. */
export function heapLimitOf(memoryMb: number): number {
  if (memoryMb <= 0) return kHeapUnknown;
  return Math.min(kHeapMost, Math.max(kHeapLeast, Math.floor(memoryMb / 2) * kMiB));
}

function engineOf(userAgent: string): string {
  const major = (pattern: RegExp) => userAgent.match(pattern)?.[1];
  const chromium = major(/Chrom(?:e|ium)\/(\d+)/);
  if (chromium !== undefined) return `chromium ${chromium}`;
  const firefox = major(/Firefox\/(\d+)/);
  if (firefox !== undefined) return `firefox ${firefox}`;
  const webkit = major(/Version\/(\d+).*Safari/) ?? major(/AppleWebKit\/(\d+)/);
  return webkit === undefined ? "other" : `webkit ${webkit}`;
}

function classOf(facts: NavigatorFacts): Capabilities["class"] {
  const { userAgent } = facts;
  if (/iPad|Tablet|Android(?!.*Mobile)/.test(userAgent)) return "tablet";
  if (facts.userAgentData?.mobile === true || /Mobi|iPhone/.test(userAgent)) return "phone";
  return "desktop";
}

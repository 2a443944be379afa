// Tests what browsers report about themselves, with real user-agent texts.

import { expect, test } from "vitest";
import { capabilitiesOf, heapLimitOf } from "./capabilities.ts";

const AGENTS: [userAgent: string, engine: string, deviceClass: string][] = [
  [
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36",
    "chromium 156",
    "desktop",
  ],
  [
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Mobile Safari/537.36",
    "chromium 156",
    "phone",
  ],
  [
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36",
    "chromium 156",
    "tablet",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Mobile/15E148 Safari/604.1",
    "webkit 26",
    "phone",
  ],
  [
    "Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0",
    "firefox 153",
    "desktop",
  ],
  ["curl/8", "other", "desktop"],
];

test.each(AGENTS)("%s", (userAgent, engine, deviceClass) => {
  expect(capabilitiesOf({ userAgent, hardwareConcurrency: 8, deviceMemory: 4 })).toEqual({
    backends: ["cpu"],
    memory_mb: 4096,
    cores: 8,
    engine,
    class: deviceClass,
  });
});

test("What the browser does not say is not made up.", () => {
  expect(capabilitiesOf({ userAgent: "" })).toMatchObject({ memory_mb: 0, cores: 1 });
});

test.each([
  ["desktop", 0, 1_024, 512],
  ["desktop", 512, 512, 256],
  ["desktop", 2_048, 1_024, 512],
  ["desktop", 8_192, 2_048, 1_024],
  ["tablet", 0, 768, 384],
  ["tablet", 8_192, 1_536, 768],
  ["phone", 0, 512, 256],
  ["phone", 2_048, 1_024, 512],
  ["phone", 8_192, 1_024, 512],
] as const)(
  "A %s of %i MiB gives Python %i MiB, and %i after a bad end.",
  (kind, mb, heap, less) => {
    const device = { class: kind, memory_mb: mb };
    expect(heapLimitOf(device)).toBe(heap * 1_048_576);
    expect(heapLimitOf(device, true)).toBe(less * 1_048_576);
  },
);

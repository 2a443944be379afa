// One headless Chromium for a test file. Runs in Node.

import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const kCandidates = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export function launch(): Promise<Browser> {
  const executablePath = process.env.HYPERFLOCK_CHROMIUM ?? kCandidates.find(existsSync);
  if (executablePath === undefined) {
    throw new Error("no Chromium: install it or name it in HYPERFLOCK_CHROMIUM");
  }
  return chromium.launch({
    executablePath,
    args: [
      "--headless=new",
      "--no-sandbox",
      "--disable-quic",
      "--disable-background-networking",
      "--disable-component-update",
      "--no-first-run",
    ],
  });
}

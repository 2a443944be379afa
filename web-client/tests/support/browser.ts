// Starts one headless Chromium for a test file. Runs in Node.

import type { Browser } from "playwright-core";
import { launchChromium } from "../../../worker-runtime/node/chromium.ts";

export const launch = (): Promise<Browser> => launchChromium();

// The script of a thread that examines itself and reports why no trial could run in such a thread. The self-test page starts
// it. Runs on its own thread.

import "../platform/install.ts";
import { type ProbeScope, probeThread } from "../page_contract/probe.ts";

self.postMessage(probeThread(globalThis as unknown as ProbeScope));

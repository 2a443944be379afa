// The script of the page that the researcher's package serves on loopback. It replays a trial, or makes a dry run, in a
// browser. Page thread.

import "@hyperflock/worker-runtime/polyfills";
import { runLocally } from "@hyperflock/worker-runtime/local";

void runLocally();

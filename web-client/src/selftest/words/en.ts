// The English texts of the self-test page. Page thread; pure data.

import type { SelfTestWords } from "./dictionary.ts";

const update = "Update the browser, or try another one.";

export const en: SelfTestWords = {
  tag: "en",
  pageTitle: "Self-test – Hyperflock",
  heading: "What this browser can do",
  lead: "Each line is something that this page needs or can use to compute. Nothing leaves this device unless you send it.",
  verdict: {
    looking: "Looking …",
    good: "This browser can take part.",
    bad: (reason) => `This browser cannot take part. ${reason}`,
  },
  device: (deviceClass, engine) => `Seen as: ${deviceClass}, ${engine}`,
  columns: { check: "Looked at", state: "Result", detail: "Details", remedy: "What helps" },
  caption: "What was found",
  states: {
    ok: "Good",
    limited: "Limited",
    missing: "Missing",
    failed: "Failed",
    skipped: "Not yet",
  },
  checks: {
    isolation: {
      title: "Isolated page",
      remedy:
        "Open the page in the browser itself, not inside an app, by a link that begins with https.",
    },
    basics: {
      title: "WebAssembly, hashes, WebSocket, streams",
      remedy: `${update} Some browsers switch one of them off, as in Lockdown Mode.`,
    },
    thread: {
      title: "All of it in threads, too",
      remedy: "Load the page again. If it fails again, try another browser.",
    },
    shared_memory: {
      title: "Memory shared by threads",
      remedy:
        "Available on an isolated page. Without it, WebAssembly that can wait (below) is enough.",
    },
    wasm_simd: { title: "WebAssembly SIMD", remedy: `${update} Nothing runs without it.` },
    relaxed_simd: {
      title: "WebAssembly relaxed SIMD",
      remedy: "Not needed; large matrix products are slower without it.",
    },
    jspi: {
      title: "WebAssembly that can wait (JSPI)",
      remedy: "Needed only if threads cannot share memory.",
    },
    functions: {
      title: "Newer functions of JavaScript",
      remedy: "Not needed: the page brings its own.",
    },
    webgpu: {
      title: "Graphics processor (WebGPU)",
      remedy:
        "Not needed; without it the processor computes. Update the browser and the graphics driver, and turn graphics acceleration on.",
    },
    webgl2: { title: "WebGL 2", remedy: "Not needed. Turn graphics acceleration on." },
    memory: {
      title: "Memory and cores",
      remedy: "Close other tabs and apps. Where the browser does not say, a careful guess is used.",
    },
    array_memory: {
      title: "Memory for shared arrays",
      remedy: "Close other tabs and apps, then load this page again.",
    },
    storage: {
      title: "Storage",
      remedy: "Free some space, or leave the private window: else each visit fetches all again.",
    },
    wake_lock: {
      title: "Keeping the screen on",
      remedy: "Charge the device or leave low-power mode; else keep the screen on by hand.",
    },
    web_locks: {
      title: "One tab at a time",
      remedy: `${update} Until then, open the join page in one tab only.`,
    },
    clock: { title: "Clock", remedy: "Not needed; times are shown more coarsely." },
    numpy: {
      title: "Python with NumPy",
      remedy:
        "Load the page again. If it fails again, send the report to whoever gave you the link.",
    },
  },
  python: {
    heading: "Compute something",
    text: "Starts Python as a trial would, and checks a result of NumPy. The first time about 8 MB are fetched.",
    button: "Run Python",
    again: "Run Python again",
    runs: "Python starts and computes …",
    bytes: (loaded, total) => `${loaded} of ${total}`,
    done: "Done. The result is in the table.",
  },
  send: {
    heading: "Send it to the operator",
    text: "Sends the table above and the kind of device, nothing else.",
    withoutCode: "To send it, open the join link first and come back here from its page.",
    button: "Send this report",
    sending: "Sending …",
    sent: (number) => `Sent as report ${number}. Thank you.`,
    refused: (code) => `It could not be sent. Try again in a minute. Code: ${code}`,
  },
  join: "To the join page",
};

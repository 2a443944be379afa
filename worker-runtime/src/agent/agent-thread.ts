// The agent thread: a module worker that the page starts after the volunteer taps Start. It talks with the server while
// Python computes on another thread (python/python-thread.ts), which this thread starts and ends.

import "../platform/install.ts";
import type { FromAgent, ToAgent } from "../page_contract/messages.ts";
import { type ProbeScope, probeThread } from "../page_contract/probe.ts";
import { Agent } from "./agent.ts";
import { forgetDevice } from "./files/forget.ts";

declare const self: DedicatedWorkerGlobalScope;

const post = (message: FromAgent) => self.postMessage(message);
let agent: Agent | null = null;

self.addEventListener("message", (event: MessageEvent<ToAgent>) => {
  const message = event.data;
  switch (message.kind) {
    case "start":
      start(message);
      break;
    case "visibility":
      agent?.setVisible(message.visible);
      break;
    case "background":
      agent?.setBackground(message.computes);
      break;
    case "left":
      agent?.leave();
      break;
    case "gpu_share":
      agent?.setGpuShare(message.share);
      break;
    case "processor_share":
      agent?.setProcessorShare(message.share);
      break;
    case "data_limits":
      agent?.setDataLimits(message.limits);
      break;
    case "stop":
      agent?.stop();
      break;
    case "forget":
      void forgetDevice(message.code).then((done) => post({ kind: "forgotten", done }));
      break;
    default:
      message satisfies never;
  }
});

function start(message: Extract<ToAgent, { kind: "start" }>): void {
  const reason = probeThread(globalThis as unknown as ProbeScope);
  if (reason !== null) {
    post({ kind: "unsupported", reason });
    return;
  }
  agent ??= new Agent(message, post);
  agent.start();
}

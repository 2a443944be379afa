// The agent thread: a module worker that the page starts after the volunteer taps Start. It talks with the server while
// Python computes on another thread (python/python-thread.ts), which this thread starts and ends.

import type { FromAgent, ToAgent } from "../page_contract/messages.ts";
import { Agent } from "./agent.ts";
import { forgetDevice } from "./files/forget.ts";

declare const self: DedicatedWorkerGlobalScope;

const post = (message: FromAgent) => self.postMessage(message);
let agent: Agent | null = null;

self.addEventListener("message", (event: MessageEvent<ToAgent>) => {
  const message = event.data;
  switch (message.kind) {
    case "start":
      agent ??= new Agent(message, post);
      agent.start();
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

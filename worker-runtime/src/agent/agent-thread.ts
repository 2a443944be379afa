// The agent thread: a module worker that the page starts after the volunteer taps Start. It talks to the server while
// Python computes on a thread of its own (python/python-thread.ts). The agent thread starts and ends that thread.

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
    case "gpu_share":
      agent?.setGpuShare(message.share);
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

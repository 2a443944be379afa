// The script of the join page, page thread: connects the browser to the store and renders.

import "../ui/base.css";
import "../ui/frame.css";
import "./join.css";
import { createVolunteer, ProjectMemory } from "@hyperflock/worker-runtime/page";
import { languages, listen, local, session, show } from "../ui/browser.ts";
import { clearCode, dropTabCode, takeCode } from "./enrolment_code.ts";
import { rememberedGpuShare, rememberGpuShare } from "./gpu_share.ts";
import { inAppBrowser } from "./in_app.ts";
import { JoinStore } from "./join_store.ts";
import { JoinPage } from "./page.tsx";
import { fetchProject } from "./project_api.ts";
import { isKept, recall } from "./recall.ts";

const address = { location, history, store: session };
const memory = new ProjectMemory(local);
const { code, memories } = await recall(takeCode(address), memory);

const store = new JoinStore({
  code,
  memory: {
    atOpening: memories,
    deviceOf: (one) => memory.deviceOf(one),
    remember: (project) => memory.remember(project),
    forget: async (one) => {
      dropTabCode(address);
      await memory.forget(one);
    },
    isKept: (ask) => isKept(navigator.storage, ask),
    clearAddress: () => clearCode(address),
  },
  createVolunteer,
  fetchProject: (one) => fetchProject(one, (path, init) => fetch(path, init)),
  now: () => performance.timeOrigin + performance.now(),
  every: (ms, tick) => {
    const timer = setInterval(tick, ms);
    return () => clearInterval(timer);
  },
  online: navigator.onLine,
  onOnlineChange: (tell) => {
    const events = ["online", "offline"];
    const stops = events.map((event) => listen(window, event, () => tell(navigator.onLine)));
    return () => {
      for (const stop of stops) stop();
    };
  },
  inApp: inAppBrowser(navigator.userAgent),
  hasGpu: "gpu" in navigator,
  gpuShare: rememberedGpuShare(local),
  rememberGpuShare: (share) => rememberGpuShare(local, share),
  ...languages,
});

// Another join link that is opened in this tab changes only the fragment. So the page starts again with the new code.
addEventListener("hashchange", () => location.reload());

show(<JoinPage store={store} />);
